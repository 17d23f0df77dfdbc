//! The validated form of a configuration, which readers use.

use std::collections::{BTreeMap, BTreeSet};

use exitgap_core::U256;
use exitgap_core::ids::{Address, BlockHash, Caip2, ChainSlug, Contract, Pair, PoolId, Word};
use exitgap_core::pools::{ConstantProduct, Direction, FeeRate};
use exitgap_core::snapshot::{ChainKind, ChainTag, OracleRole};
use exitgap_core::units::UsdPrice;

use super::equity::{Equities, plan_equities};
use super::fact::{Facts, plan_facts};
use super::token::{Calendars, plan_tokens};
use super::{
    BaseToken, ChainConfig, Config, ConfigError, Factory, KnownBlock, KnownChain, LogsCheck,
    NumberSource, OracleConfig, PoolConfig, PoolKey, PoolPlace, RpcUrl,
};

/// Multicall3's address on every public chain.
const MULTICALL3: Address = Address([
    0xca, 0x11, 0xbd, 0xe0, 0x59, 0x77, 0xb3, 0x63, 0x11, 0x67, 0x02, 0x88, 0x62, 0xbe, 0x2a, 0x17,
    0x39, 0x76, 0xca, 0x11,
]);

/// The number of blocks after which a block of an unknown chain counts as final.
const CONFIRMATIONS: u32 = 64;

/// A validated configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    chains: Vec<ChainPlan>,
}

/// One validated chain with its pools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainPlan {
    slug: ChainSlug,
    chain_id: u64,
    kind: ChainKind,
    genesis: Option<BlockHash>,
    known_block: Option<KnownBlock>,
    urls: Vec<RpcUrl>,
    second_url: Option<RpcUrl>,
    multicall3: Address,
    number_source: NumberSource,
    check_logs_by: LogsCheck,
    sequencer: Option<SequencerPlan>,
    confirmations: u32,
    factories: Vec<Factory>,
    pools: Vec<PoolPlan>,
    calendars: Calendars,
    facts: Facts,
    equities: Equities,
}

/// The feed that reports whether a chain's sequencer is up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequencerPlan {
    /// The proxy's address.
    pub feed: Address,
    /// Seconds during which oracles are marked stale after the sequencer comes back.
    pub grace_s: u32,
}

/// One validated pool with its oracles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolPlan {
    /// The pool.
    pub id: PoolId,
    /// Its key, if it is in a manager contract. Its id is the key's hash.
    pub key: Option<PoolKey>,
    /// The default direction, which sells the default base.
    pub base: Direction,
    /// The fee, if it is configured (v2 pairs).
    pub fee: Option<FeeRate>,
    /// The oracles of token 0, then of token 1, in their configured order.
    pub oracles: Vec<OraclePlan>,
}

/// One oracle with its role for one pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OraclePlan {
    /// Its configured name.
    pub name: String,
    /// The price that its answer is a factor of.
    pub role: OracleRole,
    /// The source of the answer.
    pub feed: FeedPlan,
}

/// The source of an oracle's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedPlan {
    /// A Chainlink proxy.
    Chainlink {
        /// The proxy's address.
        feed: Address,
        /// Seconds after which an answer is stale: the feed's heartbeat plus its grace period. This sum is recorded.
        heartbeat_s: u32,
    },
    /// A configured number: `answer ÷ 10^decimals` USD.
    Fixed {
        /// The number, above zero.
        answer: U256,
        /// Its decimals.
        decimals: u8,
    },
}

impl Plan {
    /// Validates a configuration.
    pub fn new(config: &Config) -> Result<Self, ConfigError> {
        if config.chain.is_empty() {
            return Err(ConfigError::NoChain);
        }
        at_most("chain", config.chain.len(), Config::MAX_CHAINS)?;
        at_most("oracle", config.oracle.len(), Config::MAX_ORACLES)?;
        let mut chains: Vec<ChainPlan> = Vec::new();
        for chain in &config.chain {
            if chains.iter().any(|other| other.slug == chain.slug) {
                return Err(ConfigError::ChainTwice { slug: chain.slug.clone() });
            }
            chains.push(ChainPlan::new(chain)?);
        }
        let oracles = check_oracles(&config.oracle, &chains)?;
        let mut seen = BTreeSet::new();
        let mut siblings: BTreeMap<Contract, Vec<usize>> = BTreeMap::new();
        for pool in &config.pool {
            let id = pool_id_of(pool)?;
            let known = known_slugs(&chains);
            let Some(chain) = chains.iter_mut().find(|chain| chain.slug == pool.chain) else {
                let (key, slug) = ("pool.chain".to_owned(), pool.chain.clone());
                return Err(ConfigError::UnknownChain { key, slug, known });
            };
            if !seen.insert(id.clone()) {
                return Err(ConfigError::PoolTwice { pool: id });
            }
            let plan = PoolPlan::new(id, pool, &oracles)?;
            let others = siblings.entry(plan.id.contract().clone()).or_default();
            check_siblings(others.iter().map(|place| &chain.pools[*place]), &plan)?;
            others.push(chain.pools.len());
            chain.pools.push(plan);
        }
        for chain in &chains {
            at_most(&format!("pool (chain {})", chain.slug), chain.pools.len(), Config::MAX_POOLS)?;
        }
        plan_tokens(config, &mut chains)?;
        plan_facts(config, &mut chains)?;
        plan_equities(config, &mut chains)?;
        Ok(Self { chains })
    }

    /// The chains, in their configured order.
    pub fn chains(&self) -> &[ChainPlan] {
        &self.chains
    }

    /// The chains, for their readers.
    pub fn into_chains(self) -> Vec<ChainPlan> {
        self.chains
    }

    /// The pool with this id.
    pub fn pool(&self, id: &PoolId) -> Option<&PoolPlan> {
        self.chains.iter().flat_map(|chain| &chain.pools).find(|pool| pool.id == *id)
    }
}

impl ChainPlan {
    fn new(config: &ChainConfig) -> Result<Self, ConfigError> {
        let slug = config.slug.clone();
        if config.rpc_urls.is_empty() {
            return Err(ConfigError::NoUrl { slug });
        }
        let key = format!("chain {slug}: rpc_urls");
        at_most(&key, config.rpc_urls.len(), Config::MAX_URLS)?;
        for (index, url) in config.rpc_urls.iter().enumerate() {
            if config.rpc_urls[..index].contains(url) {
                return Err(ConfigError::UrlTwice { slug, url: url.clone() });
            }
        }
        at_most(&format!("chain {slug}: factory"), config.factory.len(), Config::MAX_FACTORIES)?;
        if let Some(url) = config.second_rpc_url.clone().filter(|url| config.rpc_urls.contains(url))
        {
            return Err(ConfigError::SecondIsFirst { slug, url });
        }
        let known = KnownChain::of_id(config.chain_id);
        if let (Some(known), Some(found)) = (known, config.genesis_hash)
            && known.genesis != found
        {
            let (name, expected) = (known.name, known.genesis);
            return Err(ConfigError::GenesisContradicts { slug, name, expected, found });
        }
        let by_default = known.map_or(CONFIRMATIONS, |known| known.confirmations);
        let confirmations = config.confirmations.unwrap_or(by_default);
        if !(1..=Config::MAX_CONFIRMATIONS).contains(&confirmations) {
            return Err(ConfigError::Confirmations { slug, found: confirmations });
        }
        let sequencer_feed =
            config.sequencer_uptime_feed.or(known.and_then(|known| known.sequencer_feed));
        let grace_s = config.sequencer_grace_s.unwrap_or(Config::SEQUENCER_GRACE_S);
        Ok(Self {
            slug,
            chain_id: config.chain_id,
            kind: match (known, config.genesis_hash) {
                (Some(_), _) => ChainKind::Live,
                (None, Some(genesis)) => ChainKind::Configured(genesis),
                (None, None) => ChainKind::Preview,
            },
            genesis: known.map(|known| known.genesis).or(config.genesis_hash),
            known_block: config.known_block,
            urls: config.rpc_urls.clone(),
            second_url: config.second_rpc_url.clone(),
            multicall3: config.multicall3.unwrap_or(MULTICALL3),
            number_source: config
                .number_source
                .or(known.map(|known| known.number_source))
                .unwrap_or(NumberSource::BlockNumber),
            check_logs_by: config.check_logs_by,
            sequencer: sequencer_feed.map(|feed| SequencerPlan { feed, grace_s }),
            confirmations,
            factories: factories_of(config, known),
            pools: Vec::new(),
            calendars: Calendars::new(),
            facts: Facts::new(),
            equities: Equities::new(),
        })
    }

    /// The chain's short name.
    pub fn slug(&self) -> &ChainSlug {
        &self.slug
    }

    /// Its EIP-155 id.
    pub fn chain_id(&self) -> u64 {
        self.chain_id
    }

    /// Its CAIP-2 id, and whether it is live. It is live if its id is known to [`KnownChain`] or its genesis hash is
    /// configured; every node must then report that genesis hash.
    pub fn tag(&self) -> ChainTag {
        ChainTag { caip2: Caip2(self.chain_id), kind: self.kind }
    }

    /// The hash of block 0, if it is known or configured.
    pub fn genesis(&self) -> Option<BlockHash> {
        self.genesis
    }

    /// A block that shows which chain a node serves that does not keep block 0.
    pub fn known_block(&self) -> Option<KnownBlock> {
        self.known_block
    }

    /// Its nodes, in the order in which they are tried.
    pub fn urls(&self) -> &[RpcUrl] {
        &self.urls
    }

    /// The second node, whose headers and logs are compared with the first.
    pub fn second_url(&self) -> Option<&RpcUrl> {
        self.second_url.as_ref()
    }

    /// The address of Multicall3.
    pub fn multicall3(&self) -> Address {
        self.multicall3
    }

    /// How contracts can read the block's number.
    pub fn number_source(&self) -> NumberSource {
        self.number_source
    }

    /// How the logs that its nodes give are checked for being complete.
    pub fn check_logs_by(&self) -> LogsCheck {
        self.check_logs_by
    }

    /// The feed that reports whether its sequencer is up, if there is one.
    pub fn sequencer(&self) -> Option<SequencerPlan> {
        self.sequencer
    }

    /// The number of blocks after which a slot's block is checked again.
    pub fn confirmations(&self) -> u32 {
        self.confirmations
    }

    /// The factories that can confirm that a pool is theirs, so that the pool is read. Configured factories come before
    /// known ones.
    pub fn factories(&self) -> &[Factory] {
        &self.factories
    }

    /// The same chain with only one of its nodes.
    pub(crate) fn with_only(&self, url: RpcUrl) -> Self {
        Self { urls: vec![url], ..self.without_pools() }
    }

    /// The same chain with only these pools.
    #[must_use]
    pub fn with_pools(&self, pools: &[PoolId]) -> Self {
        let pools: BTreeSet<&PoolId> = pools.iter().collect();
        let of = self.pools.iter().filter(|pool| pools.contains(&pool.id)).cloned();
        Self { pools: of.collect(), ..self.without_pools() }
    }

    fn without_pools(&self) -> Self {
        Self {
            slug: self.slug.clone(),
            urls: self.urls.clone(),
            second_url: self.second_url.clone(),
            factories: self.factories.clone(),
            pools: Vec::new(),
            calendars: self.calendars.clone(),
            facts: self.facts.clone(),
            equities: self.equities.clone(),
            ..*self
        }
    }

    /// Its pools, in their configured order.
    pub fn pools(&self) -> &[PoolPlan] {
        &self.pools
    }

    /// The calendars of its tokens. A token without a calendar trades around the clock.
    pub fn calendars(&self) -> &Calendars {
        &self.calendars
    }

    pub(super) fn calendars_mut(&mut self) -> &mut Calendars {
        &mut self.calendars
    }

    /// The tokenized stocks among its tokens.
    pub fn equities(&self) -> &Equities {
        &self.equities
    }

    pub(super) fn equities_mut(&mut self) -> &mut Equities {
        &mut self.equities
    }

    /// The facts to read, by token.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    pub(super) fn facts_mut(&mut self) -> &mut Facts {
        &mut self.facts
    }

    /// Its pools by contract. A contract has several pools only if it has more than two tokens.
    pub(crate) fn contracts(&self) -> BTreeMap<&Contract, Vec<&PoolPlan>> {
        let mut contracts: BTreeMap<&Contract, Vec<&PoolPlan>> = BTreeMap::new();
        for pool in &self.pools {
            contracts.entry(pool.id.contract()).or_default().push(pool);
        }
        contracts
    }
}

/// The pool's id.
fn pool_id_of(config: &PoolConfig) -> Result<PoolId, ConfigError> {
    let contract = config.address.on(config.chain.clone());
    let Some(found @ [lower, higher]) = config.pair else { return Ok(contract) };
    match Pair::new(lower, higher) {
        Some(pair) => Ok(contract.contract().pool(Some(pair))),
        None => Err(ConfigError::Pair { contract, found }),
    }
}

/// Pools of one contract share a snapshot, which contains only one price per token.
fn check_siblings<'a>(
    others: impl Iterator<Item = &'a PoolPlan>,
    plan: &PoolPlan,
) -> Result<(), ConfigError> {
    for other in others {
        for token in (0..Pair::MAX_TOKENS).map(OracleRole::TokenUsd) {
            let of = |pool: &PoolPlan| -> Vec<FeedPlan> {
                let oracles = pool.oracles.iter().filter(|oracle| oracle.role == token);
                oracles.map(|oracle| oracle.feed).collect()
            };
            let (ours, theirs) = (of(plan), of(other));
            if !ours.is_empty() && !theirs.is_empty() && ours != theirs {
                let (first, second) = (other.id.clone(), plan.id.clone());
                let token = token.token().unwrap_or_default();
                return Err(ConfigError::OraclesDiffer { first, second, token });
            }
        }
    }
    Ok(())
}

fn factories_of(config: &ChainConfig, known: Option<&KnownChain>) -> Vec<Factory> {
    let known = known.into_iter().flat_map(|chain| chain.factories).map(|factory| Factory {
        address: factory.address,
        kind: factory.kind,
        fee_modules: factory.fee_modules.to_vec(),
    });
    config.factory.iter().cloned().chain(known).collect()
}

impl PoolPlan {
    fn new(
        id: PoolId,
        config: &PoolConfig,
        oracles: &BTreeMap<&str, &OracleConfig>,
    ) -> Result<Self, ConfigError> {
        if let Some(fee) = config.fee
            && (fee.numerator >= fee.denominator
                || u64::from(fee.denominator) > ConstantProduct::MAX_FEE_DENOMINATOR)
        {
            let (numerator, denominator) = (fee.numerator, fee.denominator);
            return Err(ConfigError::Fee { pool: id, numerator, denominator });
        }
        match (config.address, config.key) {
            (PoolPlace::Contract(_), None) => {}
            (PoolPlace::Contract(_), Some(_)) => {
                return Err(ConfigError::KeyOfContract { pool: id });
            }
            (PoolPlace::Managed(_), None) => return Err(ConfigError::NoKey { pool: id }),
            (PoolPlace::Managed(expected), Some(key)) => check_key(&id, expected, key)?,
        }
        let mut plans = Vec::new();
        let [token0, token1] = config.pair.unwrap_or([0, 1]);
        for (token, key, names) in
            [(token0, "token0_usd", &config.token0_usd), (token1, "token1_usd", &config.token1_usd)]
        {
            if !(1..=UsdPrice::MAX_FACTORS).contains(&names.len()) {
                return Err(ConfigError::OracleCount { pool: id, key, found: names.len() });
            }
            for name in names {
                let feed = find_feed(&id, key, name, oracles)?;
                let role = OracleRole::TokenUsd(token);
                plans.push(OraclePlan { name: name.clone(), role, feed });
            }
        }
        let base = match config.base {
            BaseToken::Token0 => Direction::ZeroForOne,
            BaseToken::Token1 => Direction::OneForZero,
        };
        let (key, fee) = (config.key, config.fee.map(FeeRate::from));
        Ok(Self { id, key, base, fee, oracles: plans })
    }
}

fn check_key(pool: &PoolId, expected: Word, key: PoolKey) -> Result<(), ConfigError> {
    let found = key.id();
    if found == Some(expected) {
        return Ok(());
    }
    Err(ConfigError::OtherKey { pool: pool.clone(), found })
}

fn find_feed(
    pool: &PoolId,
    key: &'static str,
    name: &str,
    oracles: &BTreeMap<&str, &OracleConfig>,
) -> Result<FeedPlan, ConfigError> {
    let Some(oracle) = oracles.get(name) else {
        let known = oracles.keys().copied().collect::<Vec<_>>().join(", ");
        return Err(ConfigError::UnknownOracle {
            pool: pool.clone(),
            key,
            name: name.to_owned(),
            known: if known.is_empty() { "none".to_owned() } else { known },
        });
    };
    if oracle.chain() != pool.chain() {
        return Err(ConfigError::OracleOnOtherChain {
            pool: pool.clone(),
            key,
            name: name.to_owned(),
            found: oracle.chain().clone(),
        });
    }
    Ok(match **oracle {
        // The sum was checked with the oracles.
        OracleConfig::Chainlink { feed, heartbeat_s, heartbeat_grace_s, .. } => {
            let heartbeat_s = heartbeat_s.saturating_add(heartbeat_grace_s);
            FeedPlan::Chainlink { feed, heartbeat_s }
        }
        OracleConfig::Fixed { answer, decimals, .. } => FeedPlan::Fixed { answer, decimals },
    })
}

fn check_oracles<'a>(
    oracles: &'a [OracleConfig],
    chains: &[ChainPlan],
) -> Result<BTreeMap<&'a str, &'a OracleConfig>, ConfigError> {
    let mut by_name = BTreeMap::new();
    for oracle in oracles {
        let name = oracle.name().to_owned();
        let slug = oracle.chain().clone();
        let Some(chain) = chains.iter().find(|chain| chain.slug == slug) else {
            let key = format!("oracle {name:?}: chain");
            return Err(ConfigError::UnknownChain { key, slug, known: known_slugs(chains) });
        };
        match oracle {
            OracleConfig::Fixed { .. } if chain.kind.is_live() => {
                return Err(ConfigError::FixedOnLiveChain { name, slug });
            }
            OracleConfig::Fixed { answer, decimals, .. } => {
                UsdPrice::product(&[(*answer, u32::from(*decimals))])
                    .map_err(|error| ConfigError::FixedAnswer { name: name.clone(), error })?;
            }
            OracleConfig::Chainlink { heartbeat_s: 0, .. } => {
                return Err(ConfigError::NoHeartbeat { name });
            }
            OracleConfig::Chainlink { heartbeat_s, heartbeat_grace_s, .. }
                if heartbeat_s.checked_add(*heartbeat_grace_s).is_none() =>
            {
                return Err(ConfigError::HeartbeatTooLong { name });
            }
            OracleConfig::Chainlink { .. } => {}
        }
        if by_name.insert(oracle.name(), oracle).is_some() {
            return Err(ConfigError::OracleTwice { name });
        }
    }
    Ok(by_name)
}

pub(super) fn at_most(key: &str, found: usize, most: usize) -> Result<(), ConfigError> {
    if found <= most {
        return Ok(());
    }
    Err(ConfigError::TooMany { key: key.to_owned(), found, most })
}

pub(super) fn known_slugs(chains: &[ChainPlan]) -> String {
    chains.iter().map(|chain| chain.slug.as_str()).collect::<Vec<_>>().join(", ")
}
