//! Why a configuration is rejected.

use std::path::PathBuf;

use exitgap_chain::config::ConfigError as PlanError;

use super::{EnvironmentError, QuoteGroupError, RecorderConfig, RedemptionConfigError};

/// Why a configuration is rejected.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{path}: {source}; write one with `exitgap-server init --config {path}`")]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is not TOML, or contains an unknown key or an invalid value.
    #[error("{path}, line {line}{}: {message}", key.as_ref().map(|key| format!(", {key}")).unwrap_or_default())]
    Parse {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The key on that line with its table, such as `[recorder] seal_after_s`.
        key: Option<String>,
        /// What was found, and what is expected.
        message: String,
    },
    /// `seal_after_s` is out of bounds.
    #[error(
        "{path}: [recorder] seal_after_s is {found}; use {} to {} seconds",
        RecorderConfig::SEAL_AFTER_S.start(), RecorderConfig::SEAL_AFTER_S.end()
    )]
    SealAfter {
        /// The file.
        path: PathBuf,
        /// The number found.
        found: u32,
    },
    /// A key of `[http]`, `[serve]`, `[payments]`, `[alerts]` or `[witness]` has an invalid value.
    #[error("{path}: [{table}] {key}: {message}")]
    Serving {
        /// The file.
        path: PathBuf,
        /// The table.
        table: &'static str,
        /// The key.
        key: &'static str,
        /// What is wrong.
        message: String,
    },
    /// An environment variable has an invalid value.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// There is no pool.
    #[error("{path}: no [[pool]] is configured; add at least one, see `exitgap-server init`")]
    NoPool {
        /// The file.
        path: PathBuf,
    },
    /// A `[[quote_group]]` has an invalid value.
    #[error("{path}: {error}")]
    QuoteGroup {
        /// The file.
        path: PathBuf,
        /// What is wrong, naming the key.
        error: QuoteGroupError,
    },
    /// A `[[redemption]]` has an invalid value, or its file does not contain valid terms.
    #[error("{path}: {error}")]
    Redemption {
        /// The file.
        path: PathBuf,
        /// What is wrong, naming the key.
        error: RedemptionConfigError,
    },
    /// Chains, oracles and pools do not match.
    #[error("{path}: {error}")]
    Plan {
        /// The file.
        path: PathBuf,
        /// What is wrong, naming the key.
        error: PlanError,
    },
}
