//! A configuration, parsed and checked as far as possible without a node.

use std::fs;
use std::path::Path;

use exitgap_chain::config::{ChainPlan, Config as Sources, Plan};
use exitgap_core::analytics::equity::EquityToken;
use exitgap_core::ids::Address;
use exitgap_store::is_server;

use super::{Config, ConfigError, RecorderConfig, environment, groups, redemption, shocks};
use crate::ops::{EquityOfToken, QuoteGroup, ShockOf, TermsOfToken};
use crate::peers::peers_of;

/// A configuration, checked as far as possible without a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedConfig {
    /// The file as written, with its paths resolved to be independent of the working directory.
    pub config: Config,
    /// What to read from the chains.
    pub plan: Plan,
    /// Groups of tokens that count as equivalent proceeds of a sale.
    pub quote_groups: Vec<QuoteGroup>,
    /// Redemption terms of tokens.
    pub redemption: Vec<TermsOfToken>,
    /// Recorded periods that have names.
    pub shocks: Vec<ShockOf>,
}

impl CheckedConfig {
    /// The configured tokenized stocks.
    pub fn equities(&self) -> Vec<EquityOfToken> {
        let of_chain = |chain: &ChainPlan| -> Vec<EquityOfToken> {
            let equity = |(token, of): (&Address, &EquityToken)| EquityOfToken {
                chain: chain.slug().clone(),
                token: *token,
                of: *of,
            };
            chain.equities().iter().map(equity).collect()
        };
        self.plan.chains().iter().flat_map(of_chain).collect()
    }

    /// Reads and checks the file at `path`.
    pub fn from_file(path: &Path) -> Result<Self, ConfigError> {
        let text = fs::read_to_string(path)
            .map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
        Self::parse_with(&text, path, std::env::vars())
    }

    /// Checks `text`, which stands in the file at `path`.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        Self::parse_with(text, path, std::iter::empty())
    }

    /// Checks `text`, the content of the file at `path`. Environment variables take precedence over it.
    pub fn parse_with(
        text: &str,
        path: &Path,
        variables: impl Iterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let mut config: Config =
            toml::from_str(text).map_err(|error| parse_error(text, path, &error))?;
        environment::apply(&mut config, variables)?;
        for (table, checked) in [("http", config.http.check()), ("serve", config.serve.check())] {
            checked.map_err(|(key, message)| {
                let path = path.to_owned();
                ConfigError::Serving { path, table, key, message }
            })?;
        }
        let path = path.to_owned();
        let found = config.recorder.seal_after_s;
        if !RecorderConfig::SEAL_AFTER_S.contains(&found) {
            return Err(ConfigError::SealAfter { path, found });
        }
        if config.pool.is_empty() {
            return Err(ConfigError::NoPool { path });
        }
        let sources = Sources {
            chain: config.chain.clone(),
            oracle: config.oracle.clone(),
            pool: config.pool.clone(),
            token: config.token.clone(),
            fact: config.fact.clone(),
            equity: config.equity.clone(),
        };
        let plan = match Plan::new(&sources) {
            Ok(plan) => plan,
            Err(error) => return Err(ConfigError::Plan { path, error }),
        };
        let groups = groups::check_groups(&config.quote_group, &config.chain);
        let quote_groups =
            groups.map_err(|error| ConfigError::QuoteGroup { path: path.clone(), error })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let redemption = redemption::check_terms(&config.redemption, &config.chain, folder)
            .map_err(|error| ConfigError::Redemption { path: path.clone(), error })?;
        let wrong = |table: &'static str| {
            let path = path.clone();
            move |(key, message): (&'static str, String)| ConfigError::Serving {
                path,
                table,
                key,
                message,
            }
        };
        let shocks =
            shocks::check_shocks(&config.shock, &config.chain).map_err(wrong("[shock]"))?;
        config.recorder.check_sharing(&config.store.path).map_err(wrong("recorder"))?;
        config.payments.plan(&plan).map_err(wrong("payments"))?;
        config.alerts.plan().map_err(wrong("alerts"))?;
        config.witness.plan().map_err(wrong("witness"))?;
        config.bucket.plan().map_err(wrong("bucket"))?;
        peers_of(&config.peer).map_err(wrong("[peer]"))?;
        if let Some(folder) = path.parent() {
            let Config {
                store, evidence, proofs, witness, payments, alerts, observer, bucket, ..
            } = &mut config;
            let mut paths = vec![&mut evidence.key_file, &mut evidence.folder];
            let databases = [&mut store.path, &mut payments.database, &mut alerts.database];
            paths.extend(databases.into_iter().filter(|place| !is_server(place)));
            paths.extend([&mut payments.hot_key_file, &mut payments.receipt_key_file]);
            paths.push(&mut alerts.key_file);
            paths.extend([&mut proofs.database, &mut witness.key_file, &mut witness.database]);
            let optional = [
                &mut evidence.retiring_key_file,
                &mut witness.log_list,
                &mut observer.key_file,
                &mut bucket.credentials_file,
            ];
            for path in paths.into_iter().chain(optional.into_iter().flatten()) {
                *path = folder.join(&path);
            }
        }
        config.witness.all_logs().map_err(wrong("witness"))?;
        Ok(Self { config, plan, quote_groups, redemption, shocks })
    }
}

/// Describes where the file is wrong without showing the line, which may contain a node's key.
fn parse_error(text: &str, path: &Path, error: &toml::de::Error) -> ConfigError {
    let at = error.span().map_or(0, |span| span.start.min(text.len()));
    let before = text.get(..at).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let name = text.lines().nth(line - 1).and_then(key_of);
    let message = if error.message().contains("://") {
        let expected = match name {
            Some("rpc_urls") => "a list of URLs such as [\"https://host/path\"]",
            _ => "something else",
        };
        format!("expected {expected} (the value may contain a key and is not shown)")
    } else {
        error.message().replace('\n', " ")
    };
    let table = before.lines().rev().map(str::trim).find(|line| line.starts_with('['));
    let table = table.and_then(|table| table.split(']').next()).map(|table| {
        let brackets = table.len() - table.trim_start_matches('[').len();
        format!("{table}{}", "]".repeat(brackets))
    });
    let key = match (table, name) {
        (Some(table), Some(name)) => Some(format!("{table} {name}")),
        (Some(table), None) => Some(table),
        (None, name) => name.map(str::to_owned),
    };
    ConfigError::Parse { path: path.to_owned(), line, key, message }
}

/// The bare key at the start of a line.
fn key_of(line: &str) -> Option<&str> {
    let key = line.split_once('=')?.0.trim();
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    (!key.is_empty() && key.chars().all(bare)).then_some(key)
}
