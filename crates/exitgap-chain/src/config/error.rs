//! Why a configuration is refused.

use exitgap_core::ids::{Address, BlockHash, ChainSlug, Code, PoolId, Word};
use exitgap_core::units::PriceError;

use super::RpcUrl;

/// Why a configuration is refused: the key, the value found, and the value to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// No chain is configured.
    #[error("no [[chain]] is configured; add one with slug, chain_id and rpc_urls")]
    NoChain,
    /// Too many entries.
    #[error("{key}: {found} entries; at most {most} are accepted")]
    TooMany {
        /// The key.
        key: String,
        /// Entries found.
        found: usize,
        /// The maximum number of entries.
        most: usize,
    },
    /// Two chains with the same slug.
    #[error("chain.slug: {slug} is used twice; give each chain its own slug")]
    ChainTwice {
        /// The slug.
        slug: ChainSlug,
    },
    /// A chain without nodes.
    #[error("chain {slug}: rpc_urls is empty; add at least one URL")]
    NoUrl {
        /// The chain.
        slug: ChainSlug,
    },
    /// The same node is configured twice.
    #[error("chain {slug}: rpc_urls names {url} twice with the same path; remove one")]
    UrlTwice {
        /// The chain.
        slug: ChainSlug,
        /// The node, without path.
        url: RpcUrl,
    },
    /// A second node that is also a first node, and would be compared with itself.
    #[error(
        "chain {slug}: second_rpc_url {url} is also in rpc_urls, so the node would be compared with itself; name \
         a node of another operator"
    )]
    SecondIsFirst {
        /// The chain.
        slug: ChainSlug,
        /// The node, without path.
        url: RpcUrl,
    },
    /// A known chain with the wrong genesis hash.
    #[error(
        "chain {slug}: genesis_hash {found} is not that of {name} ({expected}); remove genesis_hash, or set the \
         chain_id of the intended chain"
    )]
    GenesisContradicts {
        /// The chain.
        slug: ChainSlug,
        /// The known chain's name.
        name: &'static str,
        /// The known chain's genesis hash.
        expected: BlockHash,
        /// The configured one.
        found: BlockHash,
    },
    /// The number of confirmations is out of bounds.
    #[error(
        "chain {slug}: confirmations is {found}; write a number from 1 to {}",
        super::Config::MAX_CONFIRMATIONS
    )]
    Confirmations {
        /// The chain.
        slug: ChainSlug,
        /// The number found.
        found: u32,
    },
    /// Two oracles with the same name.
    #[error("oracle.name: {name:?} is used twice; give each oracle its own name")]
    OracleTwice {
        /// The name.
        name: String,
    },
    /// The chain is not configured.
    #[error("{key}: no [[chain]] has the slug {slug}; configured: {known}")]
    UnknownChain {
        /// The key.
        key: String,
        /// The slug found.
        slug: ChainSlug,
        /// The configured slugs.
        known: String,
    },
    /// A fixed price on a live chain.
    #[error(
        "oracle {name:?}: source \"fixed\" is allowed only on preview chains, and {slug} is live; \
         use source \"chainlink\""
    )]
    FixedOnLiveChain {
        /// The oracle.
        name: String,
        /// Its chain.
        slug: ChainSlug,
    },
    /// A fixed answer that is not a valid price.
    #[error("oracle {name:?}: answer and decimals: {error}")]
    FixedAnswer {
        /// The oracle.
        name: String,
        /// The cause.
        error: PriceError,
    },
    /// A heartbeat of zero seconds.
    #[error("oracle {name:?}: heartbeat_s is 0; write the feed's published heartbeat in seconds")]
    NoHeartbeat {
        /// The oracle.
        name: String,
    },
    /// Heartbeat and grace period together are too long to be recorded.
    #[error(
        "oracle {name:?}: heartbeat_s and heartbeat_grace_s are together more than {} s; use the feed's published heartbeat and a grace period of minutes",
        u32::MAX
    )]
    HeartbeatTooLong {
        /// The oracle.
        name: String,
    },
    /// The same pool twice.
    #[error("pool.address: {pool} is configured twice; remove one")]
    PoolTwice {
        /// The pool.
        pool: PoolId,
    },
    /// Indices that are not a valid pair.
    #[error(
        "pool {contract}: pair is [{}, {}]; write the indices of two of its tokens, from 0 to 7, the lower index \
         first",
        found[0], found[1]
    )]
    Pair {
        /// The pool's contract.
        contract: PoolId,
        /// The configured pair.
        found: [u8; 2],
    },
    /// Two pools of one contract use different oracles for a token that both have.
    #[error(
        "pools {first} and {second} share one contract and its snapshot, but name different oracles for its token \
         {token}; name the same oracles in both"
    )]
    OraclesDiffer {
        /// The pool that is configured first.
        first: PoolId,
        /// The other pool.
        second: PoolId,
        /// The token's index in the contract.
        token: usize,
    },
    /// Not one or two oracles.
    #[error("pool {pool}: {key} names {found} oracles; name one oracle, or two to be multiplied")]
    OracleCount {
        /// The pool.
        pool: PoolId,
        /// `token0_usd` or `token1_usd`.
        key: &'static str,
        /// Names found.
        found: usize,
    },
    /// The oracle is not configured.
    #[error(
        "pool {pool}: {key} names {name:?}, but no [[oracle]] has that name; configured: {known}"
    )]
    UnknownOracle {
        /// The pool.
        pool: PoolId,
        /// `token0_usd` or `token1_usd`.
        key: &'static str,
        /// The name found.
        name: String,
        /// The configured names.
        known: String,
    },
    /// An oracle on another chain.
    #[error("pool {pool}: {key} names {name:?}, which is on chain {found}; use an oracle on {}", pool.chain())]
    OracleOnOtherChain {
        /// The pool.
        pool: PoolId,
        /// `token0_usd` or `token1_usd`.
        key: &'static str,
        /// The oracle.
        name: String,
        /// The oracle's chain.
        found: ChainSlug,
    },
    /// A fee that is not a fraction below one.
    #[error(
        "pool {pool}: fee {numerator}/{denominator} must be below 1, with a denominator up to 1,000,000; Uniswap \
         v2 has {{ numerator = 3, denominator = 1000 }}"
    )]
    Fee {
        /// The pool.
        pool: PoolId,
        /// Numerator found.
        numerator: u32,
        /// Denominator found.
        denominator: u32,
    },
    /// A pool's id without the pool's key, whose hash is the id.
    #[error(
        "pool {pool}: an id of 32 bytes is the hash of the pool's key; also write the key, as key = {{ currency0 \
         = \"0x…\", currency1 = \"0x…\", fee = 500, tick_spacing = 10 }}"
    )]
    NoKey {
        /// The pool.
        pool: PoolId,
    },
    /// A key for a pool that has an address.
    #[error(
        "pool {pool}: only pools of a pool manager have a key; remove it, or write the id as address"
    )]
    KeyOfContract {
        /// The pool.
        pool: PoolId,
    },
    /// A key whose hash is another id.
    #[error("pool {pool}: key belongs to {}; correct the key or the id", found.map_or_else(|| "no pool, because its fee or tick_spacing has more than 24 bits".to_owned(), |id| id.to_string()))]
    OtherKey {
        /// The pool.
        pool: PoolId,
        /// The id of the key; `None` if the key is invalid.
        found: Option<Word>,
    },
    /// An unknown calendar or unknown hours.
    #[error(
        "token {token}: {key} {found:?} is unknown; use the calendar XNYS and hours regular, extended, 24x5 or \
         continuous"
    )]
    Calendar {
        /// The token.
        token: Address,
        /// `calendar` or `hours`.
        key: &'static str,
        /// The name found.
        found: String,
    },
    /// A token that is configured twice.
    #[error("token {token} of chain {chain} is in two [[token]] tables; remove one")]
    TokenTwice {
        /// Its chain.
        chain: ChainSlug,
        /// The token.
        token: Address,
    },
    /// A fact with an invalid name or call.
    #[error("fact of token {token}: {key} is {found:?}; {remedy}")]
    Fact {
        /// The token.
        token: Address,
        /// `name` or `call`.
        key: &'static str,
        /// The configured value.
        found: String,
        /// What to write instead.
        remedy: &'static str,
    },
    /// A tokenized stock whose settings contradict each other.
    #[error("equity of token {token}: {key} is {found:?}; {remedy}")]
    Equity {
        /// The token.
        token: Address,
        /// The key.
        key: &'static str,
        /// The configured value.
        found: String,
        /// What to write instead.
        remedy: &'static str,
    },
    /// Two facts with the same name and token.
    #[error("fact of token {token}: two [[fact]] tables are named {name}; rename one")]
    FactTwice {
        /// The token.
        token: Address,
        /// The name.
        name: Code,
    },
}
