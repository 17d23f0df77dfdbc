//! `[[redemption]]`: files with the redemption terms of tokens.

use std::path::{Path, PathBuf};

use exitgap_chain::config::ChainConfig;
use exitgap_core::analytics::redemption::{MAX_TERMS_BYTES, RedemptionTermsRead};
use exitgap_core::ids::{Address, ChainSlug};
use serde::Deserialize;

use crate::ops::TermsOfToken;

/// Maximum number of files in a configuration.
const MOST: usize = 100;

/// Maximum number of files per token.
const MOST_OF_TOKEN: usize = 8;

/// One `[[redemption]]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedemptionConfig {
    /// Slug of its chain.
    pub chain: ChainSlug,
    /// The address of the token.
    pub token: String,
    /// The file with the terms, JSON; relative to the configuration.
    pub terms: PathBuf,
}

/// Why a `[[redemption]]` is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("redemption of {token}: {key}: {what}")]
pub struct RedemptionConfigError {
    /// The token, as written.
    pub token: String,
    /// The key.
    pub key: &'static str,
    /// What is wrong, and what is expected.
    pub what: String,
}

/// Reads the terms, and checks them against the configured chains.
pub(super) fn check_terms(
    tables: &[RedemptionConfig],
    chains: &[ChainConfig],
    folder: &Path,
) -> Result<Vec<TermsOfToken>, RedemptionConfigError> {
    let mut known: Vec<TermsOfToken> = Vec::new();
    for table in tables {
        let RedemptionConfig { chain, token, terms } = table;
        let wrong = |key, what: String| {
            let token = token.chars().take(60).collect();
            Err(RedemptionConfigError { token, key, what })
        };
        if known.len() == MOST {
            return wrong("terms", format!("more than {MOST} files; remove some"));
        }
        if !chains.iter().any(|one| one.slug == *chain) {
            return wrong("chain", format!("no [[chain]] has the slug {chain}"));
        }
        let Ok(address) = token.to_ascii_lowercase().parse::<Address>() else {
            return wrong("token", "it is not a token address".to_owned());
        };
        let path = folder.join(terms);
        let shown = path.display();
        let size = match std::fs::metadata(&path) {
            Ok(about) => about.len(),
            Err(error) => return wrong("terms", format!("{shown}: {error}")),
        };
        if size > MAX_TERMS_BYTES as u64 {
            return wrong(
                "terms",
                format!("{shown} is larger than the limit of {MAX_TERMS_BYTES} bytes"),
            );
        }
        let read = std::fs::read(&path).map_err(|error| error.to_string());
        let read = read.and_then(|file| {
            RedemptionTermsRead::from_json(&file).map_err(|error| error.to_string())
        });
        let terms = match read {
            Ok(terms) => terms,
            Err(why) => return wrong("terms", format!("{shown}: {why}")),
        };
        let of_token = known.iter().filter(|one| one.chain == *chain && one.token == address);
        if of_token.count() == MOST_OF_TOKEN {
            return wrong("terms", format!("more than {MOST_OF_TOKEN} files for one token"));
        }
        known.push(TermsOfToken { chain: chain.clone(), token: address, terms });
    }
    Ok(known)
}
