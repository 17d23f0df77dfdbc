//! The configuration file: one struct, parsed once; environment variables count more.

#[path = "config_environment.rs"]
mod environment;
#[path = "config_groups.rs"]
mod groups;
#[path = "config_redemption.rs"]
mod redemption;
#[path = "config_shocks.rs"]
mod shocks;

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use exitgap_chain::config::{
    ChainConfig, ChainPlan, Config as Sources, ConfigError as PlanError, EquityConfig, FactConfig,
    OracleConfig, Plan, PoolConfig, TokenConfig,
};
use exitgap_core::analytics::equity::EquityToken;
use exitgap_core::ids::{Address, PoolId};
use exitgap_store::proofs::{Proofs, ProofsError};
use serde::Deserialize;

use crate::alerts::AlertsConfig;
use crate::ops::{Bounds, EquityOfToken, QuoteGroup, ShockOf, TermsOfToken, Urls};
use crate::payments::PaymentsConfig;
use crate::peers::{ObserverConfig, PeerConfig, peers_of};
use crate::witness::WitnessConfig;

pub use environment::EnvironmentError;
pub use groups::{QuoteGroupConfig, QuoteGroupError};
pub use redemption::{RedemptionConfig, RedemptionConfigError};
pub use shocks::ShockConfig;

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
    /// What is held against the chains' own state, and which proofs are kept.
    #[serde(default)]
    pub proofs: ProofsConfig,
    /// Who cosigns the log, and whose logs are cosigned here.
    #[serde(default)]
    pub witness: WitnessConfig,
    /// `[[peer]]` tables: operators whose logs are followed.
    #[serde(default)]
    pub peer: Vec<PeerConfig>,
    /// Who cosigns what peers' logs say.
    #[serde(default)]
    pub observer: ObserverConfig,
    /// How the service is reached.
    #[serde(default)]
    pub http: HttpConfig,
    /// What the service may use.
    #[serde(default)]
    pub serve: ServeConfig,
    /// What is paid for, and how.
    #[serde(default)]
    pub payments: PaymentsConfig,
    /// Which rules are kept for others, and how they are told.
    #[serde(default)]
    pub alerts: AlertsConfig,
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
    /// `[[token]]` tables: whose market is not always open.
    #[serde(default)]
    pub token: Vec<TokenConfig>,
    /// `[[fact]]` tables: what is asked of contracts beside pools.
    #[serde(default)]
    pub fact: Vec<FactConfig>,
    /// `[[equity]]` tables: tokens that stand for shares.
    #[serde(default)]
    pub equity: Vec<EquityConfig>,
    /// `[[quote_group]]` tables: tokens that one is sold for alike.
    #[serde(default)]
    pub quote_group: Vec<QuoteGroupConfig>,
    /// `[[redemption]]` tables: terms by which tokens are redeemed.
    #[serde(default)]
    pub redemption: Vec<RedemptionConfig>,
    /// `[[shock]]` tables: recorded periods that have names.
    #[serde(default)]
    pub shock: Vec<ShockConfig>,
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

/// `[proofs]`. What the chains' own state says of what is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProofsConfig {
    /// Whether each slot's states are held against the chain's own before they are signed: one that it contradicts is not
    /// recorded, one of which its nodes prove nothing is, and is counted. Default: yes.
    pub each_slot: bool,
    /// Whether the proofs are kept, and handed out and made at `/api/v1/proof`: all for 7 days, one an hour for 90, one a day
    /// after that; for ever those that were asked for, those of the lowest depths, and those of whole pools that were drawn,
    /// which are published, too. Default: yes.
    pub keep: bool,
    /// Where they are kept. Relative to the folder of the configuration file. Default `proofs.db`.
    pub database: PathBuf,
    /// Whether each day's anchors are published, `anchors/<chain>/<day>` in the log's folder: which blocks the chain had, as it
    /// follows from a newer one. The chain must keep its blocks' hashes (EIP-2935), and its node must prove states of
    /// `confirmations` blocks before the newest, and one more for each 8,191 blocks of a day. Default: no.
    pub anchors: bool,
}

impl Default for ProofsConfig {
    fn default() -> Self {
        Self { each_slot: true, keep: true, database: "proofs.db".into(), anchors: false }
    }
}

impl ProofsConfig {
    /// The kept proofs; `None` where none are. The file is made where there is none.
    pub fn open(&self) -> Result<Option<Arc<Proofs>>, ProofsError> {
        self.keep.then(|| Proofs::open(&self.database).map(Arc::new)).transpose()
    }
}

/// `[evidence]`. What makes the recorded series checkable by others.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EvidenceConfig {
    /// The key that signs the log of slots, made by `exitgap-server key new`. Relative to the
    /// folder of the configuration file. Default `exitgap.key`.
    pub key_file: PathBuf,
    /// While the log's key is changed, the one that is to go: both sign. Relative to the folder of
    /// the configuration file. Default: none.
    pub retiring_key_file: Option<PathBuf>,
    /// The folder the log is published in: what others audit, and what a lost store is
    /// restored from. Better on another disk than the store. Relative to the folder of the
    /// configuration file. Created with the first slot. Default `exitgap-log`.
    pub folder: PathBuf,
}

impl Default for EvidenceConfig {
    fn default() -> Self {
        Self {
            key_file: "exitgap.key".into(),
            retiring_key_file: None,
            folder: "exitgap-log".into(),
        }
    }
}

/// `[http]`. The service of `exitgap-server serve`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HttpConfig {
    /// The address to listen on. Default `127.0.0.1:8080`.
    pub listen: SocketAddr,
    /// Where the API is reached from outside, such as `https://api.example.org`. Links in
    /// answers begin with it. Default: `http://` and `listen`.
    pub base_url: Option<String>,
    /// Where evidence is reached from outside. Default: `base_url`.
    pub web_url: Option<String>,
    /// Requests per minute and client; 0: as many as it likes. Default 600.
    pub rate_per_minute: u32,
    /// Of these, so many at `/mcp`, the tools for agents; 0: no fewer. Default 30.
    pub tools_per_minute: u32,
    /// The header in which a proxy in front names the client, such as `x-forwarded-for`; its
    /// last address counts. Default: none, the connection's peer is the client.
    pub client_ip_header: Option<String>,
    /// Connections at once; others wait. Default 12000.
    pub max_connections: u32,
    /// Connections at once of one address (an IPv4 address, an IPv6 /64); others are closed. 0: as
    /// many as it likes. Behind a proxy that `client_ip_header` stands for, all connections are the
    /// proxy's, and it is not applied. Default 100.
    pub max_connections_per_address: u32,
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            base_url: None,
            web_url: None,
            rate_per_minute: 600,
            tools_per_minute: 30,
            client_ip_header: None,
            max_connections: 12_000,
            max_connections_per_address: 100,
        }
    }
}

impl HttpConfig {
    /// The addresses that answers point to.
    pub fn urls(&self) -> Urls {
        let base = self.base_url.clone().unwrap_or_else(|| format!("http://{}", self.listen));
        let base = base.trim_end_matches('/').to_owned();
        let web = self
            .web_url
            .as_deref()
            .map_or(base.clone(), |web| web.trim_end_matches('/').to_owned());
        Urls { base, web }
    }

    fn check(&self) -> Result<(), (&'static str, String)> {
        for (key, url) in [("base_url", &self.base_url), ("web_url", &self.web_url)] {
            let Some(url) = url else { continue };
            let fits = ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme))
                && url.len() > 8
                && url
                    .bytes()
                    .all(|byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}?#".contains(&byte));
            if !fits {
                let what = format!("{url:?} is no address such as https://api.example.org");
                return Err((key, what));
            }
        }
        if let Some(name) = &self.client_ip_header
            && name.parse::<axum::http::HeaderName>().is_err()
        {
            return Err(("client_ip_header", format!("{name:?} is no header's name")));
        }
        if self.max_connections == 0 {
            return Err(("max_connections", "0 connections answer nobody".to_owned()));
        }
        Ok(())
    }
}

/// `[serve]`. What the service of `exitgap-server serve` may use, and where operators ask.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServeConfig {
    /// The address at which `/livez`, `/readyz` and `/metrics` are answered, and nothing else, to
    /// as many requests as come: one that only operators reach. Default: none, they are answered
    /// beside all else, within the limits of every client.
    pub operators: Option<SocketAddr>,
    /// Questions that read the store side by side; others wait. From 1 to 1024. Default 4.
    pub readers: u32,
    /// What is kept for the next question, MiB: snapshots with their curves, and proofs. From 1 to
    /// 65536. Default 32.
    pub cache_mib: u32,
}

impl Default for ServeConfig {
    fn default() -> Self {
        let Bounds { readers, cache_bytes } = Bounds::default();
        Self {
            operators: None,
            readers: u32::try_from(readers).unwrap_or(u32::MAX),
            cache_mib: u32::try_from(cache_bytes >> 20).unwrap_or(u32::MAX),
        }
    }
}

impl ServeConfig {
    /// What answering may use.
    pub fn bounds(&self) -> Bounds {
        Bounds { readers: self.readers as usize, cache_bytes: u64::from(self.cache_mib) << 20 }
    }

    fn check(&self) -> Result<(), (&'static str, String)> {
        for (key, found, most) in
            [("readers", self.readers, 1_024), ("cache_mib", self.cache_mib, 65_536)]
        {
            if !(1..=most).contains(&found) {
                return Err((key, format!("{found} is not from 1 to {most}")));
            }
        }
        Ok(())
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
    /// Only what ends the recorder.
    Error,
    /// Also what makes slots incomplete.
    Warn,
    /// Also one line per slot.
    Info,
    /// Also each pool that is missing, and each request.
    Debug,
}

/// A configuration that was checked as far as a file can be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The file as written, with its paths made independent of the working folder.
    pub config: Config,
    /// What is to be read.
    pub plan: Plan,
    /// Tokens that one is sold for alike.
    pub quote_groups: Vec<QuoteGroup>,
    /// Terms by which tokens are redeemed.
    pub redemption: Vec<TermsOfToken>,
    /// Recorded periods that have names.
    pub shocks: Vec<ShockOf>,
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
    /// A key of `[http]`, `[serve]`, `[payments]`, `[alerts]` or `[witness]` holds no acceptable value.
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
    /// An environment variable holds no acceptable value.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// No pool at all.
    #[error("{path}: no [[pool]] is configured; add at least one, see `exitgap-server init`")]
    NoPool {
        /// The file.
        path: PathBuf,
    },
    /// A `[[quote_group]]` holds no acceptable value.
    #[error("{path}: {error}")]
    QuoteGroup {
        /// The file.
        path: PathBuf,
        /// What is wrong, naming the key.
        error: QuoteGroupError,
    },
    /// A `[[redemption]]` holds no acceptable value, or its file is none of terms.
    #[error("{path}: {error}")]
    Redemption {
        /// The file.
        path: PathBuf,
        /// What is wrong, naming the key.
        error: RedemptionConfigError,
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
    /// The tokens that stand for shares.
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
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = fs::read_to_string(path)
            .map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
        Self::parse_with(&text, path, std::env::vars())
    }

    /// Checks `text`, which stands in the file at `path`.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        Self::parse_with(text, path, std::iter::empty())
    }

    /// Checks `text`, which stands in the file at `path`. What environment variables say
    /// counts more.
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
        let groups = groups::checked(&config.quote_group, &config.chain);
        let quote_groups =
            groups.map_err(|error| ConfigError::QuoteGroup { path: path.clone(), error })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let redemption = redemption::checked(&config.redemption, &config.chain, folder)
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
        let shocks = shocks::checked(&config.shock, &config.chain).map_err(wrong("[shock]"))?;
        config.payments.plan(&plan).map_err(wrong("payments"))?;
        config.alerts.plan().map_err(wrong("alerts"))?;
        config.witness.plan().map_err(wrong("witness"))?;
        peers_of(&config.peer).map_err(wrong("[peer]"))?;
        if let Some(folder) = path.parent() {
            let Config { store, evidence, proofs, witness, payments, alerts, observer, .. } =
                &mut config;
            let mut paths = vec![&mut store.path, &mut evidence.key_file, &mut evidence.folder];
            paths.extend([&mut payments.hot_key_file, &mut payments.receipt_key_file]);
            paths.extend([&mut payments.database, &mut alerts.database, &mut alerts.key_file]);
            paths.extend([&mut proofs.database, &mut witness.key_file, &mut witness.database]);
            let optional =
                [&mut evidence.retiring_key_file, &mut witness.log_list, &mut observer.key_file];
            for path in paths.into_iter().chain(optional.into_iter().flatten()) {
                *path = folder.join(&path);
            }
        }
        config.witness.all_logs().map_err(wrong("witness"))?;
        Ok(Self { config, plan, quote_groups, redemption, shocks })
    }
}

/// Says where the file is wrong without showing the line, which may hold a node's key.
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
        format!("expected {expected} (the value may hold a key and is not shown)")
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
