//! The configuration file: one struct, parsed once; environment variables take precedence.
//!
//! - `checked_config`: the configuration, checked as far as possible without a node; `error`: why it is rejected
//! - `environment`: the environment variables
//! - `groups`, `redemption`, `shocks`: the server's own tables that need more than a type

mod checked_config;
mod environment;
mod error;
mod groups;
mod redemption;
mod shocks;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use exitgap_chain::config::{
    ChainConfig, EquityConfig, FactConfig, OracleConfig, PoolConfig, TokenConfig,
};
use exitgap_core::ids::PoolId;
use exitgap_store::is_server;
use exitgap_store::proofs::{Proofs, ProofsError};
use serde::Deserialize;

use crate::alerts::AlertsConfig;
use crate::bucket::BucketConfig;
use crate::ops::{Bounds, Urls};
use crate::payments::PaymentsConfig;
use crate::peers::{ObserverConfig, PeerConfig};
use crate::witness::WitnessConfig;

pub use checked_config::CheckedConfig;
pub use environment::EnvironmentError;
pub use error::ConfigError;
pub use groups::{QuoteGroupConfig, QuoteGroupError};
pub use redemption::{RedemptionConfig, RedemptionConfigError};
pub use shocks::ShockConfig;

/// The file that `init` writes: every key, explained.
pub const EXAMPLE: &str = include_str!("../../../../examples/mainnet.toml");

/// The file as written. Unknown keys are rejected.
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
    /// Whether recorded states are checked against the chains' own state, and which proofs are kept.
    #[serde(default)]
    pub proofs: ProofsConfig,
    /// Who cosigns this log, and which logs are cosigned here.
    #[serde(default)]
    pub witness: WitnessConfig,
    /// `[[peer]]` tables: operators whose logs are followed.
    #[serde(default)]
    pub peer: Vec<PeerConfig>,
    /// Who cosigns peers' logs.
    #[serde(default)]
    pub observer: ObserverConfig,
    /// The bucket to which the log is uploaded.
    #[serde(default)]
    pub bucket: BucketConfig,
    /// How the service is reached.
    #[serde(default)]
    pub http: HttpConfig,
    /// The resources that the service may use.
    #[serde(default)]
    pub serve: ServeConfig,
    /// What must be paid for, and how.
    #[serde(default)]
    pub payments: PaymentsConfig,
    /// How many rules are stored, and how their events are sent.
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
    /// `[[token]]` tables: tokens whose market is not always open.
    #[serde(default)]
    pub token: Vec<TokenConfig>,
    /// `[[fact]]` tables: values read from contracts in addition to pools.
    #[serde(default)]
    pub fact: Vec<FactConfig>,
    /// `[[equity]]` tables: tokenized stocks.
    #[serde(default)]
    pub equity: Vec<EquityConfig>,
    /// `[[quote_group]]` tables: tokens that count as equivalent proceeds of a sale.
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
    /// The database file, relative to the folder of the configuration file and created at the first start; or a
    /// `PostgreSQL` server's database, `postgresql://<user>@<host>/<database>`, set up by `exitgap-server migrate`.
    pub path: PathBuf,
}

/// `[recorder]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RecorderConfig {
    /// Seconds after a slot's instant at which it is sealed: pools that were not read by then are missing. At least 5,
    /// at most 60. Default 60.
    pub seal_after_s: u32,
    /// Pools that are no longer monitored: the next slot contains their final entry. A pool that is only removed from
    /// the configuration stays in the log, missing with `recorder_down`. Retiring cannot be undone. Default: none.
    pub retire: Vec<PoolId>,
    /// The maximum number of pools that one recorder reads at once, if several recorders of one store on a server share
    /// the reading; all of them must use the same value. From 1 to 1,000; 250 is a good number. Default 0: the recorder
    /// that seals reads all pools.
    pub shard_pools: u32,
}

impl RecorderConfig {
    /// The accepted seconds for `seal_after_s`: less leaves no time for a later block, more is later than the published
    /// method allows.
    pub const SEAL_AFTER_S: std::ops::RangeInclusive<u32> = 5..=60;

    /// The maximum accepted for `shard_pools`.
    pub const MAX_SHARD_POOLS: u32 = 1_000;

    /// Checks the settings for shared reading; the error is the invalid key and a message.
    pub(crate) fn check_sharing(&self, store: &Path) -> Result<(), (&'static str, String)> {
        let most = Self::MAX_SHARD_POOLS;
        let wrong = match self.shard_pools {
            0 => return Ok(()),
            found if found > most => format!("{found} is above the limit of {most}"),
            _ if is_server(store) => return Ok(()),
            _ => "sharing the reading needs a store on a server, but [store] path is a file"
                .to_owned(),
        };
        Err(("shard_pools", wrong))
    }
}

impl Default for RecorderConfig {
    fn default() -> Self {
        Self { seal_after_s: 60, retire: Vec::new(), shard_pools: 0 }
    }
}

/// `[proofs]`. Checks of the recorded states against the chains' own state.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProofsConfig {
    /// Whether each slot's states are checked against the chain's own before they are signed. A state that the chain
    /// contradicts is not recorded; a state that its nodes cannot prove is recorded and counted. Default: yes.
    pub each_slot: bool,
    /// Whether the proofs are kept, and served and created at `/api/v1/proof`: all proofs for 7 days, one per hour for
    /// 90 days, one per day after that. Proofs that callers requested, those of the lowest depths, and those of
    /// randomly drawn whole pools are kept permanently; the drawn ones are also published. Default: yes.
    pub keep: bool,
    /// The database of proofs. Relative to the folder of the configuration file. Default `proofs.db`.
    pub database: PathBuf,
    /// Whether each day's anchors are published, `anchors/<chain>/<day>` in the log's folder: the chain's block hashes,
    /// derived from a newer block. The chain must keep its blocks' hashes (EIP-2935), and its node must prove states of
    /// `confirmations` blocks before the newest, and one more for each 8,191 blocks of a day. Default: no.
    pub anchors: bool,
}

impl Default for ProofsConfig {
    fn default() -> Self {
        Self { each_slot: true, keep: true, database: "proofs.db".into(), anchors: false }
    }
}

impl ProofsConfig {
    /// Opens the database of proofs, and creates the file if needed; `None` if proofs are not kept.
    pub fn open(&self) -> Result<Option<Arc<Proofs>>, ProofsError> {
        self.keep.then(|| Proofs::open(&self.database).map(Arc::new)).transpose()
    }
}

/// `[evidence]`. Settings that allow others to verify the recorded series.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EvidenceConfig {
    /// The key that signs the log of slots, created by `exitgap-server key new`. Relative to the folder of the
    /// configuration file. Default `exitgap.key`.
    pub key_file: PathBuf,
    /// The old key while the log's key is being changed: both sign. Relative to the folder of the configuration file.
    /// Default: none.
    pub retiring_key_file: Option<PathBuf>,
    /// The folder in which the log is published: others audit it, and a lost store is restored from it. Preferably on
    /// another disk than the store. Relative to the folder of the configuration file. Created with the first slot.
    /// Default `exitgap-log`.
    pub folder: PathBuf,
    /// Whether each closed day is written to that folder as Parquet, signed by the key. This needs as much space again
    /// as the log. Default false.
    pub days: bool,
}

impl Default for EvidenceConfig {
    fn default() -> Self {
        Self {
            key_file: "exitgap.key".into(),
            retiring_key_file: None,
            folder: "exitgap-log".into(),
            days: false,
        }
    }
}

/// `[http]`. The service of `exitgap-server serve`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HttpConfig {
    /// The address to listen on. Default `127.0.0.1:8080`.
    pub listen: SocketAddr,
    /// The public URL of the API, such as `https://api.example.org`. Links in answers begin with it. Default: `http://`
    /// and `listen`.
    pub base_url: Option<String>,
    /// The public URL of evidence pages. Default: `base_url`.
    pub web_url: Option<String>,
    /// Requests per minute and client; 0: unlimited. Default 600.
    pub rate_per_minute: u32,
    /// Of these, the maximum at `/mcp`, the tools for agents; 0: no separate limit. Default 30.
    pub tools_per_minute: u32,
    /// The header in which a reverse proxy names the client, such as `x-forwarded-for`; its last address counts.
    /// Default: none, the connection's peer is the client.
    pub client_ip_header: Option<String>,
    /// Maximum number of connections; more have to wait. Default 12000.
    pub max_connections: u32,
    /// Maximum number of connections per address (an IPv4 address, an IPv6 /64); more are closed. 0: unlimited. Not
    /// applied if `client_ip_header` is set, because all connections then come from the proxy. Default 100.
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
    /// The base URLs of links in answers.
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
                let what = format!("{url:?} is not a URL such as https://api.example.org");
                return Err((key, what));
            }
        }
        if let Some(name) = &self.client_ip_header
            && name.parse::<axum::http::HeaderName>().is_err()
        {
            return Err(("client_ip_header", format!("{name:?} is not a valid header name")));
        }
        if self.max_connections == 0 {
            return Err(("max_connections", "0 connections would refuse every client".to_owned()));
        }
        Ok(())
    }
}

/// `[serve]`. Resources that the service of `exitgap-server serve` may use, and the operators' address.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServeConfig {
    /// The address that serves only `/livez`, `/readyz` and `/metrics`, without request limits; only operators should
    /// be able to reach it. Default: none, then the main address serves them within every client's limits.
    pub operators: Option<SocketAddr>,
    /// Maximum number of concurrent requests that read the store; more have to wait. From 1 to 1024. Default 4.
    pub readers: u32,
    /// Cache size, MiB: snapshots with their curves, and proofs. From 1 to 65536. Default 32.
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
    /// The resource limits for answering.
    pub fn bounds(&self) -> Bounds {
        Bounds { readers: self.readers as usize, cache_bytes: u64::from(self.cache_mib) << 20 }
    }

    fn check(&self) -> Result<(), (&'static str, String)> {
        for (key, found, most) in
            [("readers", self.readers, 1_024), ("cache_mib", self.cache_mib, 65_536)]
        {
            if !(1..=most).contains(&found) {
                return Err((key, format!("{found} is outside 1 to {most}")));
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
    /// The lowest level that is logged. Default `info`: a line per slot, and what needs attention.
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

/// The lowest level that is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    /// Only errors that end the recorder.
    Error,
    /// Also errors that make slots incomplete.
    Warn,
    /// Also one line per slot.
    Info,
    /// Also each pool that is missing, and each request.
    Debug,
}

#[cfg(test)]
mod tests;
