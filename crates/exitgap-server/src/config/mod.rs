//! The configuration file: one struct, parsed once; environment variables count more.
//!
//! - `checked_config`: the same, checked as far as a file can be; `error`: why it is refused
//! - `environment`: what environment variables say
//! - `groups`, `redemption`, `shocks`: tables of the server's own that need more than a type

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

/// What `init` writes: every key, explained.
pub const EXAMPLE: &str = include_str!("../../../../examples/mainnet.toml");

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
    /// The bucket that the log is brought into.
    #[serde(default)]
    pub bucket: BucketConfig,
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
    /// The database file, relative to the folder of the configuration file and created with the first start; or a
    /// `PostgreSQL` server's database, `postgresql://<user>@<host>/<database>`, made by `exitgap-server migrate`.
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
    /// How many pools one recorder reads together at most, where several of one store on a server share the reading: all of them
    /// say the same. From 1 to 1,000; 250 is a good number. Default 0: whoever seals reads all.
    pub shard_pools: u32,
}

impl RecorderConfig {
    /// The seconds that are accepted for `seal_after_s`: below them no later block can be
    /// hoped for, above them is later than the published method allows.
    pub const SEAL_AFTER_S: std::ops::RangeInclusive<u32> = 5..=60;

    /// The most pools that are accepted for `shard_pools`.
    pub const MAX_SHARD_POOLS: u32 = 1_000;

    /// Checks how the reading is shared; what is wrong, by its key.
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
    /// Whether each day that is closed is written into that folder as Parquet, signed by the key. It takes as much room
    /// again as the log. Default false.
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

#[cfg(test)]
mod tests;
