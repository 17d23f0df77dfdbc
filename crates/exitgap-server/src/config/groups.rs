//! `[[quote_group]]`: tokens that count as equivalent proceeds of a sale, such as dollars.

use std::collections::BTreeSet;

use exitgap_chain::config::ChainConfig;
use exitgap_core::exit::MAX_CASH_TOKENS;
use exitgap_core::ids::{Address, ChainSlug};
use serde::Deserialize;

use crate::ops::QuoteGroup;

/// Maximum number of groups in a configuration, and of tokens in a group.
const MOST: usize = 100;

/// One `[[quote_group]]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuoteGroupConfig {
    /// Slug of its chain.
    pub chain: ChainSlug,
    /// The name used by callers: 1 to 32 characters of a-z, 0-9 and -, starting with a letter. Unique per chain.
    pub name: String,
    /// The addresses of its tokens; 1 to 100.
    pub tokens: Vec<String>,
}

/// Why a group is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuoteGroupError {
    /// Too many groups.
    #[error("{found} [[quote_group]] tables exceed the limit of {MOST}; remove some")]
    TooMany {
        /// How many there are.
        found: usize,
    },
    /// A key has an invalid value.
    #[error("quote_group {name}: {key}: {what}")]
    Value {
        /// The group.
        name: String,
        /// The key.
        key: &'static str,
        /// What is wrong, and what is expected.
        what: String,
    },
}

/// Checks the groups against the configured chains.
pub(super) fn check_groups(
    groups: &[QuoteGroupConfig],
    chains: &[ChainConfig],
) -> Result<Vec<QuoteGroup>, QuoteGroupError> {
    if groups.len() > MOST {
        return Err(QuoteGroupError::TooMany { found: groups.len() });
    }
    let mut known: Vec<QuoteGroup> = Vec::new();
    for group in groups {
        let QuoteGroupConfig { chain, name, tokens } = group;
        let wrong = |key, what: String| {
            let name = name.chars().take(40).collect();
            Err(QuoteGroupError::Value { name, key, what })
        };
        if name.parse::<ChainSlug>().is_err() {
            return wrong("name", "write 1 to 32 of a-z, 0-9 and -, a letter first".to_owned());
        }
        if name == "any" {
            return wrong("name", "any means any token; choose another name".to_owned());
        }
        if !chains.iter().any(|one| one.slug == *chain) {
            return wrong("chain", format!("no [[chain]] has the slug {chain}"));
        }
        if known.iter().any(|one| one.chain == *chain && one.name == *name) {
            return wrong("name", format!("two groups of {chain} have this name; rename one"));
        }
        if !(1..=MOST).contains(&tokens.len()) {
            return wrong("tokens", format!("{} tokens given; give 1 to {MOST}", tokens.len()));
        }
        if name == "cash" && tokens.len() > MAX_CASH_TOKENS {
            let found = tokens.len();
            return wrong(
                "tokens",
                format!("{found} tokens given; a sale ends in at most {MAX_CASH_TOKENS}"),
            );
        }
        let mut addresses = BTreeSet::new();
        for token in tokens {
            let Ok(address) = token.to_ascii_lowercase().parse::<Address>() else {
                let shown: String = token.chars().take(60).collect();
                return wrong("tokens", format!("{shown:?} is not a token address"));
            };
            if !addresses.insert(address) {
                return wrong("tokens", format!("{address} is listed twice"));
            }
        }
        known.push(QuoteGroup { chain: chain.clone(), name: name.clone(), tokens: addresses });
    }
    Ok(known)
}
