//! The configuration of chains, oracles and pools, written in a TOML file or built in code, and the validated [`Plan`]
//! made from it.
//!
//! The tables are part of a larger file. Its type embeds `Vec<ChainConfig>` and the others under the names used in
//! [`Config`].

mod equity;
mod error;
mod fact;
mod key;
mod known;
mod plan;
mod text;
mod token;

use exitgap_core::ids::{Address, BlockHash, ChainSlug, PoolId, Word};
use exitgap_core::pools::FeeRate;
use serde::Deserialize;

pub use equity::{Equities, EquityConfig};
pub use error::ConfigError;
pub use fact::{FactConfig, FactPlan, Facts};
pub(crate) use key::NOBODY;
pub use key::PoolKey;
pub use known::{KnownChain, KnownFactory, LogsCheck, NumberSource};
pub use plan::{ChainPlan, FeedPlan, OraclePlan, Plan, PoolPlan, SequencerPlan};
pub use text::{RpcUrl, UrlError, parse_address};
pub use token::{Calendars, TokenConfig};

/// All chains, oracles and pools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// `[[chain]]` tables.
    #[serde(default)]
    pub chain: Vec<ChainConfig>,
    /// `[[oracle]]` tables.
    #[serde(default)]
    pub oracle: Vec<OracleConfig>,
    /// `[[pool]]` tables.
    #[serde(default)]
    pub pool: Vec<PoolConfig>,
    /// `[[token]]` tables.
    #[serde(default)]
    pub token: Vec<TokenConfig>,
    /// `[[fact]]` tables.
    #[serde(default)]
    pub fact: Vec<FactConfig>,
    /// `[[equity]]` tables.
    #[serde(default)]
    pub equity: Vec<EquityConfig>,
}

/// One `[[chain]]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChainConfig {
    /// The chain's short name, which is the first part of its pools' ids.
    pub slug: ChainSlug,
    /// EIP-155 chain id. Every node must report it.
    pub chain_id: u64,
    /// Nodes, tried in order with backoff; at most [`Config::MAX_URLS`].
    pub rpc_urls: Vec<RpcUrl>,
    /// A node of another operator, used only for headers and logs, and for what contracts say of themselves. If it
    /// disagrees with the node that is read, the slot or the pool is missing. Default: none.
    #[serde(default)]
    pub second_rpc_url: Option<RpcUrl>,
    /// Hash of block 0. Every node must report it, and it makes the chain live. Not needed if the chain id is known. If
    /// the hash is absent and the id is unknown, the chain is preview, and all nodes must report the same hash as the
    /// first one.
    #[serde(default)]
    pub genesis_hash: Option<BlockHash>,
    /// A block that every node must have that does not keep block 0, until slots are recorded: then it must have the block of
    /// one of those. Default: none, and a node without block 0 is not used before a slot is recorded.
    #[serde(default)]
    pub known_block: Option<KnownBlock>,
    /// Where contracts hear the block's number. Default: as on the known chain of this id, else `block_number`.
    #[serde(default)]
    pub number_source: Option<NumberSource>,
    /// How the logs that nodes give are checked for being complete. Default: [`LogsCheck::Auto`].
    #[serde(default)]
    pub check_logs_by: LogsCheck,
    /// Address of Multicall3. Default: its address on public chains.
    #[serde(default, deserialize_with = "text::optional_address")]
    pub multicall3: Option<Address>,
    /// Address of the Chainlink feed that reports whether a layer-2 chain's sequencer is up. Default: the published one
    /// on Arbitrum One, Base and OP Mainnet, none elsewhere.
    #[serde(default, deserialize_with = "text::optional_address")]
    pub sequencer_uptime_feed: Option<Address>,
    /// Seconds the sequencer must have been up before its chain's oracles are no longer marked
    /// stale. Default: [`Config::SEQUENCER_GRACE_S`].
    #[serde(default)]
    pub sequencer_grace_s: Option<u32>,
    /// The number of blocks after which a slot's block is checked again, and its slot retracted if another block took
    /// its place: from 1 to [`Config::MAX_CONFIRMATIONS`]. Default: about a quarter of an hour on Ethereum, an hour on
    /// the other known chains, otherwise 64 blocks.
    #[serde(default)]
    pub confirmations: Option<u32>,
    /// `[[chain.factory]]`: factories of pools in addition to the known ones on the chain, at most
    /// [`Config::MAX_FACTORIES`]. Default: none.
    #[serde(default)]
    pub factory: Vec<Factory>,
}

/// A block that is known to be of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownBlock {
    /// Its number.
    pub number: u64,
    /// Its hash.
    pub hash: BlockHash,
}

/// One `[[chain.factory]]`: a contract whose pools are read because it confirms that they are its own.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Factory {
    /// The factory's address.
    #[serde(deserialize_with = "text::address")]
    pub address: Address,
    /// The kind of its pools.
    pub kind: FactoryKind,
    /// Contracts that its pools may get their fee from. A pool with a fee from another contract is missing.
    #[serde(default, deserialize_with = "text::addresses")]
    pub fee_modules: Vec<Address>,
}

/// The kind of a factory's pools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FactoryKind {
    /// Uniswap v2 pairs.
    UniswapV2,
    /// Uniswap v3 pools.
    UniswapV3,
    /// `PancakeSwap` v3 pools.
    PancakeV3,
    /// `SushiSwap` v3 pools.
    SushiV3,
    /// Slipstream pools: Aerodrome's concentrated liquidity.
    Slipstream,
    /// Uniswap v4 pools, which are all in one manager contract.
    UniswapV4,
    /// Algebra Integral pools.
    AlgebraIntegral,
    /// Aerodrome v2 and Velodrome v2 pools, volatile and stable.
    AerodromeV2,
    /// Pools of Curve's `StableSwap`-NG factory.
    CurveStableNg,
    /// Curve's 3pool, which has no factory: `address` is the pool's own.
    #[serde(rename = "curve_3pool")]
    Curve3pool,
    /// Curve's pool of hBTC and WBTC: `address` is the pool's own.
    CurveHbtc,
    /// Curve's pool of sUSD and three other dollar tokens: `address` is the pool's own.
    CurveSusd,
    /// Curve's pool of EURS and sEUR: `address` is the pool's own.
    CurveEurs,
    /// Pools of Curve's first factory of plain pools, if their implementation is also known.
    CurvePlain,
    /// The implementation of plain pools of two coins: `address` is its own.
    #[serde(rename = "curve_plain_2_basic")]
    CurvePlain2Basic,
    /// The implementation of plain pools of three coins: `address` is its own.
    #[serde(rename = "curve_plain_3_basic")]
    CurvePlain3Basic,
    /// The implementation of plain pools of four coins: `address` is its own.
    #[serde(rename = "curve_plain_4_basic")]
    CurvePlain4Basic,
    /// Pools of Curve's Twocrypto-NG factory.
    CurveTwocryptoNg,
    /// Pools of Curve's Tricrypto-NG factory.
    CurveTricryptoNg,
    /// Weighted pools of Balancer's second vault.
    BalancerV2Weighted,
    /// Composable stable pools of Balancer's second vault.
    BalancerV2ComposableStable,
    /// Weighted pools of Balancer's third vault.
    BalancerV3Weighted,
    /// Stable pools of Balancer's third vault.
    BalancerV3Stable,
}

impl FactoryKind {
    /// The name of the fact with which such a factory confirms that a pool is its own; `None` if no factory is asked.
    pub(crate) fn fact(self) -> Option<&'static str> {
        match self {
            Self::UniswapV2 => Some("uniswap_v2"),
            Self::UniswapV3 => Some("uniswap_v3"),
            Self::PancakeV3 => Some("pancake_v3"),
            Self::SushiV3 => Some("sushi_v3"),
            Self::Slipstream => Some("slipstream"),
            Self::AlgebraIntegral => Some("algebra_integral"),
            Self::AerodromeV2 => Some("aerodrome_v2"),
            Self::CurveStableNg => Some("curve_stable_ng"),
            Self::UniswapV4
            | Self::Curve3pool
            | Self::CurveHbtc
            | Self::CurveSusd
            | Self::CurveEurs
            | Self::CurvePlain
            | Self::CurvePlain2Basic
            | Self::CurvePlain3Basic
            | Self::CurvePlain4Basic
            | Self::CurveTwocryptoNg
            | Self::CurveTricryptoNg
            | Self::BalancerV2Weighted
            | Self::BalancerV2ComposableStable
            | Self::BalancerV3Weighted
            | Self::BalancerV3Stable => None,
        }
    }
}

/// One `[[oracle]]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "source", rename_all = "snake_case", deny_unknown_fields)]
pub enum OracleConfig {
    /// A Chainlink feed behind its proxy.
    Chainlink {
        /// The name that pools refer to; unique.
        name: String,
        /// Slug of its chain.
        chain: ChainSlug,
        /// The proxy's address.
        #[serde(deserialize_with = "text::address")]
        feed: Address,
        /// Seconds within which the feed promises a new round; above zero.
        heartbeat_s: u32,
        /// Seconds that a new round may take to arrive after that, because the heartbeat only says when a round starts.
        /// The sum of both is recorded as the heartbeat. Default: [`Config::HEARTBEAT_GRACE_S`].
        #[serde(default = "default_heartbeat_grace_s")]
        heartbeat_grace_s: u32,
    },
    /// A constant number. Only on preview chains.
    Fixed {
        /// The name pools refer to; unique.
        name: String,
        /// Slug of the chain whose pools can use it.
        chain: ChainSlug,
        /// A whole number above zero, as integer or decimal digits: the price is
        /// `answer ÷ 10^decimals` USD.
        #[serde(deserialize_with = "text::whole_number")]
        answer: exitgap_core::U256,
        /// The decimals of `answer`, at most 36.
        decimals: u8,
    },
}

fn default_heartbeat_grace_s() -> u32 {
    Config::HEARTBEAT_GRACE_S
}

impl OracleConfig {
    /// The name that pools refer to.
    pub fn name(&self) -> &str {
        match self {
            Self::Chainlink { name, .. } | Self::Fixed { name, .. } => name,
        }
    }

    /// The slug of its chain.
    pub fn chain(&self) -> &ChainSlug {
        match self {
            Self::Chainlink { chain, .. } | Self::Fixed { chain, .. } => chain,
        }
    }
}

/// One `[[pool]]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolConfig {
    /// Slug of its chain.
    pub chain: ChainSlug,
    /// The pool contract's address, or the pool's id in a manager contract.
    #[serde(deserialize_with = "text::place")]
    pub address: PoolPlace,
    /// The two tokens of a contract with three to eight tokens: their indices in the contract, the lower first. They
    /// are token 0 and token 1 below. Refused for a contract with two tokens.
    #[serde(default)]
    pub pair: Option<[u8; 2]>,
    /// The key of a pool in a manager contract. Its hash is the pool's id. Required for such pools, refused for others.
    #[serde(default)]
    pub key: Option<PoolKey>,
    /// The token that is sold by default.
    pub base: BaseToken,
    /// The fee of a v2 pair, which no contract reports. Required for such pairs, refused for other pools.
    #[serde(default)]
    pub fee: Option<FeeConfig>,
    /// Oracles whose product is USD per whole token 0: one or two names.
    pub token0_usd: Vec<String>,
    /// Oracles whose product is USD per whole token 1: one or two names.
    pub token1_usd: Vec<String>,
}

/// The place of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolPlace {
    /// A contract of its own.
    Contract(Address),
    /// A manager contract of many pools, with this id.
    Managed(Word),
}

impl PoolPlace {
    /// The pool's name on this chain.
    pub fn on(self, chain: ChainSlug) -> PoolId {
        match self {
            Self::Contract(address) => PoolId::new(chain, address),
            Self::Managed(id) => PoolId::from_manager_id(chain, id),
        }
    }
}

impl From<Address> for PoolPlace {
    fn from(address: Address) -> Self {
        Self::Contract(address)
    }
}

/// The token sold by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BaseToken {
    /// The token with the lower address.
    Token0,
    /// The token with the higher address.
    Token1,
}

/// The share of the input that is kept as a fee: `numerator ÷ denominator`, below one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeeConfig {
    /// The numerator of the fee.
    pub numerator: u32,
    /// The denominator of the fee; at most 1,000,000.
    pub denominator: u32,
}

impl From<FeeConfig> for FeeRate {
    fn from(fee: FeeConfig) -> Self {
        Self { numerator: fee.numerator.into(), denominator: fee.denominator.into() }
    }
}

impl Config {
    /// The most chains in a configuration.
    pub const MAX_CHAINS: usize = 64;
    /// The most nodes of one chain. A slot is sealed 60 s after its instant, so further nodes would never be reached.
    pub const MAX_URLS: usize = 8;
    /// The most pools of one chain. Measurements cover sealing slots with this many pools, and reading slots with 100.
    pub const MAX_POOLS: usize = 10_000;
    /// The most confirmations. A slot can be retracted for one day, in which the fastest known chain makes three times
    /// as many blocks.
    pub const MAX_CONFIRMATIONS: u32 = 100_000;
    /// One hour, as in Chainlink's own examples.
    pub const SEQUENCER_GRACE_S: u32 = 3_600;
    /// Rounds of healthy feeds were up to 24 s later than their heartbeat.
    pub const HEARTBEAT_GRACE_S: u32 = 120;
    /// The most factories of one chain.
    pub const MAX_FACTORIES: usize = 32;
    /// The most oracles in a configuration.
    pub const MAX_ORACLES: usize = 2_000;
    /// The most tokens with a calendar.
    pub const MAX_TOKENS: usize = 2_000;
    /// The most facts in a configuration.
    pub const MAX_FACTS: usize = 256;
    /// The most facts of one token. The facts of two tokens then leave enough room in a snapshot for the facts about
    /// the pool's factory.
    pub const MAX_FACTS_OF_TOKEN: usize = 8;
    /// The most tokenized stocks in a configuration.
    pub const MAX_EQUITIES: usize = 100;
}

#[cfg(test)]
mod tests;
