//! What to read: chains, oracles and pools, as written in a TOML file or built in code, and the
//! checked [`Plan`] made from them.
//!
//! The tables are parts of a larger file. Its owner embeds `Vec<ChainConfig>` and so on under the
//! names used in [`Config`].

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
pub use known::{KnownChain, KnownFactory, NumberSource};
pub use plan::{ChainPlan, FeedPlan, OraclePlan, Plan, PoolPlan, SequencerPlan};
pub use text::{RpcUrl, UrlError, parse_address};
pub use token::{Calendars, TokenConfig};

/// Everything to read.
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
    /// The chain's short name, first part of its pools' ids.
    pub slug: ChainSlug,
    /// EIP-155 chain id; every node must answer it.
    pub chain_id: u64,
    /// Nodes, tried in order with backoff; at most [`Config::MAX_URLS`].
    pub rpc_urls: Vec<RpcUrl>,
    /// A node of another operator, asked for headers and logs alone: a slot in which it tells
    /// something else than the node that is read is missing. Default: none.
    #[serde(default)]
    pub second_rpc_url: Option<RpcUrl>,
    /// Hash of block 0; every node must answer it, and the chain is live by it. Not needed where the
    /// chain id is known; where it is absent and the id unknown, the chain is preview and the first
    /// node's answer binds the others.
    #[serde(default)]
    pub genesis_hash: Option<BlockHash>,
    /// A block that every node must have that does not keep block 0, until slots are recorded: then it must have the block of
    /// one of those. Default: none, and a node without block 0 is not used before a slot is recorded.
    #[serde(default)]
    pub known_block: Option<KnownBlock>,
    /// Where contracts hear the block's number. Default: as on the known chain of this id, else `block_number`.
    #[serde(default)]
    pub number_source: Option<NumberSource>,
    /// Address of Multicall3. Default: the address it has on public chains.
    #[serde(default, deserialize_with = "text::optional_address")]
    pub multicall3: Option<Address>,
    /// Address of the Chainlink feed that says whether a layer-2 chain's sequencer is up. Default:
    /// the published one on Arbitrum One, Base and OP Mainnet, none elsewhere.
    #[serde(default, deserialize_with = "text::optional_address")]
    pub sequencer_uptime_feed: Option<Address>,
    /// Seconds the sequencer must have been up before its chain's oracles are no longer marked
    /// stale. Default: [`Config::SEQUENCER_GRACE_S`].
    #[serde(default)]
    pub sequencer_grace_s: Option<u32>,
    /// How many blocks later a slot's block is looked at again, and its slot retracted if
    /// another one took its place: from 1 to [`Config::MAX_CONFIRMATIONS`]. Default: some
    /// quarter of an hour on Ethereum, an hour on the other known chains, else 64 blocks.
    #[serde(default)]
    pub confirmations: Option<u32>,
    /// `[[chain.factory]]`: factories of pools beside those that are known on the chain, at most
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

/// One `[[chain.factory]]`: a contract whose pools are read because it says that they are its.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Factory {
    /// The factory's address.
    #[serde(deserialize_with = "text::address")]
    pub address: Address,
    /// What its pools are.
    pub kind: FactoryKind,
    /// Contracts that its pools may take their fee from. A pool whose fee comes from another one is
    /// missing.
    #[serde(default, deserialize_with = "text::addresses")]
    pub fee_modules: Vec<Address>,
}

/// What a factory's pools are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FactoryKind {
    /// Those of Uniswap v2.
    UniswapV2,
    /// Those of Uniswap v3.
    UniswapV3,
    /// Those of `PancakeSwap` v3.
    PancakeV3,
    /// Those of `SushiSwap` v3.
    SushiV3,
    /// Those of Slipstream: Aerodrome's concentrated liquidity.
    Slipstream,
    /// Those of Uniswap v4, whose manager holds them all.
    UniswapV4,
    /// Those of Algebra Integral.
    AlgebraIntegral,
    /// Those of Aerodrome's and Velodrome's second version, volatile and stable.
    AerodromeV2,
    /// Those of Curve's factory of `StableSwap`-NG.
    CurveStableNg,
    /// Curve's 3pool, which no factory made: `address` is the pool's own.
    #[serde(rename = "curve_3pool")]
    Curve3pool,
    /// Curve's pool of hBTC and WBTC: `address` is the pool's own.
    CurveHbtc,
    /// Curve's pool of sUSD beside three dollars: `address` is the pool's own.
    CurveSusd,
    /// Curve's pool of EURS and sEUR: `address` is the pool's own.
    CurveEurs,
    /// Those of Curve's first factory of plain pools, where their implementation is known, too.
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
    /// Those of Curve's factory of Twocrypto-NG.
    CurveTwocryptoNg,
    /// Those of Curve's factory of Tricrypto-NG.
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
    /// The name of the fact that is such a factory's word that a pool is its; `None` where no factory is asked.
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
        /// The name pools refer to; unique.
        name: String,
        /// Slug of the chain it lives on.
        chain: ChainSlug,
        /// The proxy's address.
        #[serde(deserialize_with = "text::address")]
        feed: Address,
        /// Seconds after which the feed promises a new round; above zero.
        heartbeat_s: u32,
        /// Seconds after that until the new round is there: the heartbeat says when a round starts. Both together are
        /// recorded as the heartbeat. Default: [`Config::HEARTBEAT_GRACE_S`].
        #[serde(default = "default_heartbeat_grace_s")]
        heartbeat_grace_s: u32,
    },
    /// A number that never changes. Preview chains only.
    Fixed {
        /// The name pools refer to; unique.
        name: String,
        /// Slug of the chain whose pools may use it.
        chain: ChainSlug,
        /// A whole number above zero, as integer or decimal digits: the price is
        /// `answer ÷ 10^decimals` USD.
        #[serde(deserialize_with = "text::whole_number")]
        answer: exitgap_core::U256,
        /// Decimals of `answer`; at most 36.
        decimals: u8,
    },
}

fn default_heartbeat_grace_s() -> u32 {
    Config::HEARTBEAT_GRACE_S
}

impl OracleConfig {
    /// The name pools refer to.
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
    /// The pool contract's address, or the pool's id where a manager holds it.
    #[serde(deserialize_with = "text::place")]
    pub address: PoolPlace,
    /// Which two tokens of a contract that pools three to eight: their indices there, the lower
    /// first. Token 0 and token 1 below are these. Refused for a contract of two.
    #[serde(default)]
    pub pair: Option<[u8; 2]>,
    /// The key of a pool that a manager holds, whose hash its id is. Required there, refused
    /// elsewhere.
    #[serde(default)]
    pub key: Option<PoolKey>,
    /// The token that is sold unless a caller says otherwise.
    pub base: BaseToken,
    /// The fee of a v2 pair, which no contract tells. Required there, refused elsewhere.
    #[serde(default)]
    pub fee: Option<FeeConfig>,
    /// Oracles whose product is USD per whole token 0: one or two names.
    pub token0_usd: Vec<String>,
    /// Oracles whose product is USD per whole token 1: one or two names.
    pub token1_usd: Vec<String>,
}

/// Where a pool is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolPlace {
    /// In a contract of its own.
    Contract(Address),
    /// With a manager of many pools, under this id.
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

/// A share of the input kept as fee: `numerator ÷ denominator`, below one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeeConfig {
    /// Parts kept …
    pub numerator: u32,
    /// … of this many; at most 1,000,000.
    pub denominator: u32,
}

impl From<FeeConfig> for FeeRate {
    fn from(fee: FeeConfig) -> Self {
        Self { numerator: fee.numerator.into(), denominator: fee.denominator.into() }
    }
}

impl Config {
    /// Most chains of one configuration.
    pub const MAX_CHAINS: usize = 64;
    /// Most nodes of one chain: a slot ends 60 s after its instant, so more are never reached.
    pub const MAX_URLS: usize = 8;
    /// Most pools of one chain: slots of so many are measured when they are sealed, and of 100 when they are read.
    pub const MAX_POOLS: usize = 10_000;
    /// Most confirmations: a slot can be retracted for a day, and the fastest known chain makes
    /// three times as many blocks in one.
    pub const MAX_CONFIRMATIONS: u32 = 100_000;
    /// An hour, as Chainlink's own examples wait.
    pub const SEQUENCER_GRACE_S: u32 = 3_600;
    /// Rounds of healthy feeds were up to 24 s later than their heartbeat.
    pub const HEARTBEAT_GRACE_S: u32 = 120;
    /// Most factories of one chain.
    pub const MAX_FACTORIES: usize = 32;
    /// Most oracles of one configuration.
    pub const MAX_ORACLES: usize = 2_000;
    /// Most tokens with a calendar.
    pub const MAX_TOKENS: usize = 2_000;
    /// Most facts of one configuration.
    pub const MAX_FACTS: usize = 256;
    /// Most facts of one token: those of two tokens leave a snapshot room for what says whose the pool is.
    pub const MAX_FACTS_OF_TOKEN: usize = 8;
    /// Most shares of one configuration.
    pub const MAX_EQUITIES: usize = 100;
}

#[cfg(test)]
mod tests;
