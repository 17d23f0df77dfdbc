//! The configuration file: one struct, parsed once.

use std::fs;
use std::path::{Path, PathBuf};

use exitgap_chain::config::{
    ChainConfig, Config as Sources, ConfigError as PlanError, OracleConfig, Plan, PoolConfig,
};
use exitgap_core::ids::PoolId;
use serde::Deserialize;

/// What `init` writes: every key, explained.
pub const EXAMPLE: &str = include_str!("../../../examples/mainnet.toml");

/// The file as written. Unknown keys are refused.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Where the series is kept.
    pub store: StoreConfig,
    /// How slots are recorded.
    #[serde(default)]
    pub recorder: RecorderConfig,
    /// How the log of slots is signed and published.
    #[serde(default)]
    pub evidence: EvidenceConfig,
    /// What is logged.
    #[serde(default)]
    pub log: LogConfig,
    /// `[[chain]]` tables: where nodes are.
    #[serde(default)]
    pub chain: Vec<ChainConfig>,
    /// `[[oracle]]` tables: where prices come from.
    #[serde(default)]
    pub oracle: Vec<OracleConfig>,
    /// `[[pool]]` tables: what is recorded.
    #[serde(default)]
    pub pool: Vec<PoolConfig>,
}

/// `[store]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoreConfig {
    /// The database file. Relative to the folder of the configuration file. Created with
    /// the first start.
    pub path: PathBuf,
}

/// `[recorder]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RecorderConfig {
    /// Seconds after a slot's instant at which it is sealed: what was not read by then is
    /// missing. From 5 to 60. Default 60.
    pub seal_after_s: u32,
    /// Pools that are monitored no longer: the next slot has their final entry. A pool that is
    /// only taken out of the configuration stays, missing with `recorder_down`. Retiring cannot be
    /// taken back. Default: none.
    pub retire: Vec<PoolId>,
}

impl RecorderConfig {
    /// The seconds that are accepted for `seal_after_s`: below them no later block can be
    /// hoped for, above them is later than the published method allows.
    pub const SEAL_AFTER_S: std::ops::RangeInclusive<u32> = 5..=60;
}

impl Default for RecorderConfig {
    fn default() -> Self {
        Self { seal_after_s: 60, retire: Vec::new() }
    }
}

/// `[evidence]`. What makes the recorded series checkable by others.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EvidenceConfig {
    /// The key that signs the log of slots, made by `exitgap-server key new`. Relative to the
    /// folder of the configuration file. Default `exitgap.key`.
    pub key_file: PathBuf,
    /// The folder the log is published in: what others audit, and what a lost store is
    /// restored from. Better on another disk than the store. Relative to the folder of the
    /// configuration file. Created with the first slot. Default `exitgap-log`.
    pub folder: PathBuf,
}

impl Default for EvidenceConfig {
    fn default() -> Self {
        Self { key_file: "exitgap.key".into(), folder: "exitgap-log".into() }
    }
}

/// `[log]`. Log lines go to standard error.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LogConfig {
    /// `text` for people, `json` for programs. Default `text`.
    pub format: LogFormat,
    /// The least level written. Default `info`: a line per slot, and what needs attention.
    pub level: LogLevel,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self { format: LogFormat::Text, level: LogLevel::Info }
    }
}

/// How a log line is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// One line of text.
    Text,
    /// One JSON object per line.
    Json,
}

/// The least level that is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    /// What ends the recorder.
    Error,
    /// And what makes slots incomplete.
    Warn,
    /// And one line per slot.
    Info,
    /// And each pool that is missing.
    Debug,
}

/// A configuration that was checked as far as a file can be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The file as written, with its paths made independent of the working folder.
    pub config: Config,
    /// What is to be read.
    pub plan: Plan,
}

/// Why a configuration is refused.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{path}: {source}; write one with `exitgap-server init --config {path}`")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is not TOML, or holds a key or a value that does not belong there.
    #[error("{path}, line {line}{}: {message}", key.as_ref().map(|key| format!(", {key}")).unwrap_or_default())]
    Parse {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The key of that line under its table, such as `[recorder] seal_after_s`.
        key: Option<String>,
        /// What was found and what belongs there.
        message: String,
    },
    /// `seal_after_s` is out of bounds.
    #[error(
        "{path}: [recorder] seal_after_s is {found}; write from {} to {} seconds",
        RecorderConfig::SEAL_AFTER_S.start(), RecorderConfig::SEAL_AFTER_S.end()
    )]
    SealAfter {
        /// The file.
        path: PathBuf,
        /// The number found.
        found: u32,
    },
    /// No pool at all.
    #[error("{path}: no [[pool]] is configured; add at least one, see `exitgap-server init`")]
    NoPool {
        /// The file.
        path: PathBuf,
    },
    /// Chains, oracles and pools do not go together.
    #[error("{path}: {error}")]
    Plan {
        /// The file.
        path: PathBuf,
        /// What is wrong, naming the key.
        error: PlanError,
    },
}

impl Checked {
    /// Reads and checks the file at `path`.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = fs::read_to_string(path)
            .map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
        Self::parse(&text, path)
    }

    /// Checks `text`, which stands in the file at `path`.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        let mut config: Config =
            toml::from_str(text).map_err(|error| parse_error(text, path, &error))?;
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
        };
        let plan = match Plan::new(&sources) {
            Ok(plan) => plan,
            Err(error) => return Err(ConfigError::Plan { path, error }),
        };
        if let Some(folder) = path.parent() {
            let Config { store, evidence, .. } = &mut config;
            for path in [&mut store.path, &mut evidence.key_file, &mut evidence.folder] {
                *path = folder.join(&path);
            }
        }
        Ok(Self { config, plan })
    }
}

/// Says where the file is wrong without showing the line, which may hold a node's key.
fn parse_error(text: &str, path: &Path, error: &toml::de::Error) -> ConfigError {
    let at = error.span().map_or(0, |span| span.start.min(text.len()));
    let before = text.get(..at).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let name = text.lines().nth(line - 1).and_then(key_of);
    let message = if name == Some("rpc_urls") && error.message().contains("://") {
        "expected a list of URLs such as [\"https://host/path\"] (the value may hold a key and is \
         not shown)"
            .to_owned()
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

/// The bare key that a line begins with.
fn key_of(line: &str) -> Option<&str> {
    let key = line.split_once('=')?.0.trim();
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    (!key.is_empty() && key.chars().all(bare)).then_some(key)
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
