//! A state as large as a busy pool's on mainnet: 97,000 words, 1,200 ticks, two feeds, built with an independent trie
//! library.

use std::collections::{BTreeMap, HashMap};

use alloy_primitives::{B256, U256, keccak256};
use alloy_rlp::Encodable;
use alloy_trie::proof::ProofRetainer;
use alloy_trie::{HashBuilder, Nibbles, TrieAccount};
use exitgap_core::ids::{Address, BlockHash, PoolId, Word};
use exitgap_core::pools::{Concentrated, PoolState, Tick, sqrt_ratio_at_tick};
use exitgap_core::proof::{
    FeedLayout, FeedSubject, Layout, ProofParts, ProofSubject, RangeSubject, TickRange,
};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{
    BlockRef, ChainKind, ChainTag, Fact, Observation, OracleReading, OracleRole, OracleSource,
    RoundData, Snapshot, Symbol, Token,
};
use exitgap_tests::devchain::Rng;

use crate::BenchError;
use crate::effort::Effort;

const POOL: Address = Address([0xaa; 20]);
const FACTORY: Address = Address([0xfa; 20]);
const NUMBER: u64 = 21_000_000;
const SPACING: i32 = 10;
/// Number of positions, each with two ticks of its own.
const POSITIONS: i32 = 600;
const PHASE: u16 = 7;
const ANSWER: u64 = 100_000_000;
/// Number of words in a pool's storage, estimated for USDC/WETH 0.05% from the fill of its branches.
const WORDS: Effort<usize> = Effort::new(97_000, 2_000);
/// Number of rounds in an aggregator.
const ROUNDS: Effort<u32> = Effort::new(60_000, 1_000);
/// Number of accounts; mainnet has three more levels, of 532 bytes each, for each of five contracts.
pub const ACCOUNTS: usize = 100_000;

/// The state to prove.
pub struct World {
    pub snapshot: Snapshot,
    pub feeds: Vec<FeedSubject>,
    pub header: Vec<u8>,
    pub child: Vec<u8>,
    /// The storage of each contract, and the accounts: keys with their values.
    tries: Vec<BTreeMap<B256, Vec<u8>>>,
    roots: Vec<B256>,
}

fn failed(error: impl std::fmt::Display) -> BenchError {
    BenchError::Evidence(format!("proof: {error}"))
}

/// The root of a trie, and the nodes on the paths to some keys, each once.
pub fn walked(entries: &BTreeMap<B256, Vec<u8>>, keys: &[B256]) -> (B256, Vec<Vec<u8>>) {
    let targets = keys.iter().map(|key| Nibbles::unpack(key)).collect();
    let mut builder = HashBuilder::default().with_proof_retainer(ProofRetainer::new(targets));
    for (key, value) in entries {
        builder.add_leaf(Nibbles::unpack(key), value);
    }
    let root = builder.root();
    let nodes = builder.take_proof_nodes();
    (root, nodes.into_nodes_sorted().into_iter().map(|(_, node)| node.to_vec()).collect())
}

pub fn leaf(word: [u8; 32]) -> Vec<u8> {
    let mut encoded = Vec::new();
    U256::from_be_bytes(word).encode(&mut encoded);
    encoded
}

/// The ticks of positions around a price of 1, and the active liquidity there.
fn ticks(rng: &mut Rng) -> (Vec<Tick>, u128) {
    let mut ticks = Vec::new();
    let mut active = 0;
    for position in 0..POSITIONS {
        let liquidity = i128::from(rng.between(1_000_000, 9_000_000)) * 10_i128.pow(12);
        for (tick, net) in [(position - POSITIONS, liquidity), (position, -liquidity)] {
            let gross = liquidity.unsigned_abs();
            ticks.push(Tick { liquidity_gross: gross, ..Tick::new(tick * SPACING, net) });
        }
        // A position from below the price to above it, excluding its upper end.
        if position > 0 {
            active += liquidity.unsigned_abs();
        }
    }
    ticks.sort_by_key(|tick| tick.tick);
    (ticks, active)
}

impl World {
    pub fn new() -> Result<Self, BenchError> {
        let mut rng = Rng::new(5);
        let (ticks, active) = ticks(&mut rng);
        let price = sqrt_ratio_at_tick(3).ok_or_else(|| failed("no price"))?;
        let state = Concentrated::new(price, 3, active, 500, SPACING, ticks.clone());
        let state = PoolState::from(state.map_err(failed)?);
        let feeds: Vec<FeedSubject> = (1..=2)
            .map(|n| FeedSubject {
                feed: Address([0x10 + n; 20]),
                aggregator: Address([0x20 + n; 20]),
                layout: FeedLayout::ChainlinkOcr2,
                round: ROUNDS.get(),
            })
            .collect();
        let mut tries = vec![pool_words(&ticks, active, &mut rng)?];
        for feed in &feeds {
            tries.push(proxy_words(feed));
            tries.push(aggregator_words(feed, &mut rng));
        }
        let contracts = Self::contracts(&feeds);
        let mut accounts = BTreeMap::new();
        while accounts.len() < ACCOUNTS {
            accounts.insert(drawn(&mut rng), account(drawn(&mut rng)));
        }
        let mut roots = Vec::new();
        for (contract, trie) in contracts.iter().zip(&tries) {
            let (root, _) = walked(trie, &[]);
            accounts.insert(keccak256(contract.0), account(root));
            roots.push(root);
        }
        let (state_root, _) = walked(&accounts, &[]);
        tries.push(accounts);
        let at = Slot::FIRST.unix_s();
        let header = header([3; 32].into(), state_root, NUMBER, at - 8);
        let child = self::header(keccak256(&header), [4; 32].into(), NUMBER + 1, at + 4);
        let snapshot = snapshot(&header, state, &feeds)?;
        Ok(Self { snapshot, feeds, header, child, tries, roots })
    }

    fn contracts(feeds: &[FeedSubject]) -> Vec<Address> {
        let of_feeds = feeds.iter().flat_map(|feed| [feed.feed, feed.aggregator]);
        std::iter::once(POOL).chain(of_feeds).collect()
    }

    /// All ticks of a range, and the feeds.
    pub fn subject(&self, range: TickRange) -> Result<ProofSubject, BenchError> {
        let PoolState::Concentrated(pool) = self.snapshot.observation().state() else {
            return Err(failed("the pool has no ticks"));
        };
        let inside = |tick: &i32| (range.low..=range.high).contains(tick);
        let ticks = pool.ranges().ticks().iter().map(|tick| tick.tick).filter(inside).collect();
        Ok(ProofSubject {
            chain: self.snapshot.observation().chain().caip2,
            address: POOL,
            id: None,
            layout: Layout::UniswapV3,
            ranges: Some(RangeSubject { range, tick_spacing: SPACING, ticks }),
            feeds: self.feeds.clone(),
        })
    }

    /// The words of each contract that a subject needs, as keys of its trie.
    pub fn keys(&self, subject: &ProofSubject) -> Result<Vec<Vec<B256>>, BenchError> {
        let hashed = |slots: Vec<[u8; 32]>| slots.iter().map(keccak256).collect::<Vec<B256>>();
        let mut keys = vec![hashed(subject.slots().map_err(failed)?)];
        for feed in &subject.feeds {
            keys.extend([hashed(vec![FeedSubject::proxy_slot()]), hashed(feed.slots())]);
        }
        keys.push(Self::contracts(&subject.feeds).iter().map(|one| keccak256(one.0)).collect());
        Ok(keys)
    }

    /// An honest node's answer for a subject.
    pub fn nodes(&self, subject: &ProofSubject) -> Result<Vec<Vec<u8>>, BenchError> {
        let keys = self.keys(subject)?;
        let of = |(trie, keys): (&BTreeMap<B256, Vec<u8>>, &Vec<B256>)| walked(trie, keys).1;
        Ok(self.tries.iter().zip(&keys).flat_map(of).collect())
    }

    pub fn parts<'a>(&'a self, nodes: &'a [Vec<u8>]) -> ProofParts<'a> {
        ProofParts { header: &self.header, child: &self.child, nodes }
    }

    /// The input of a verifier that checks one proof per key: root, key, value, and the nodes from the root down.
    pub fn singly(&self, subject: &ProofSubject) -> Result<Vec<Single>, BenchError> {
        let mut roots = self.roots.clone();
        let accounts = self.tries.last().ok_or_else(|| failed("no accounts"))?;
        roots.push(walked(accounts, &[]).0);
        let mut singles = Vec::new();
        for ((trie, keys), root) in self.tries.iter().zip(self.keys(subject)?).zip(roots) {
            let targets = keys.iter().map(|key| Nibbles::unpack(key)).collect();
            let retainer = ProofRetainer::new(targets);
            let mut builder = HashBuilder::default().with_proof_retainer(retainer);
            for (key, value) in trie {
                builder.add_leaf(Nibbles::unpack(key), value);
            }
            builder.root();
            let nodes = builder.take_proof_nodes();
            for key in keys {
                let path = Nibbles::unpack(key);
                let way = nodes.matching_nodes_sorted(&path).into_iter().map(|(_, node)| node);
                singles.push((root, path, trie.get(&key).cloned(), way.collect()));
            }
        }
        Ok(singles)
    }
}

/// Root, key, value, and the nodes from the root down.
pub type Single = (B256, Nibbles, Option<Vec<u8>>, Vec<alloy_primitives::Bytes>);

pub fn drawn(rng: &mut Rng) -> B256 {
    keccak256(rng.next_u64().to_be_bytes())
}

pub fn account(storage_root: B256) -> Vec<u8> {
    let code_hash = keccak256(storage_root);
    let account = TrieAccount { nonce: 1, balance: U256::from(7), storage_root, code_hash };
    alloy_rlp::encode(account)
}

pub fn header(parent: B256, state_root: B256, number: u64, timestamp: u64) -> Vec<u8> {
    let mut fields = vec![alloy_rlp::encode(B256::repeat_byte(1)); 20];
    fields[0] = alloy_rlp::encode(parent);
    fields[3] = alloy_rlp::encode(state_root);
    fields[6] = alloy_rlp::encode([0_u8; 256]);
    fields[8] = alloy_rlp::encode(number);
    fields[11] = alloy_rlp::encode(timestamp);
    let payload_length = fields.iter().map(Vec::len).sum();
    let mut encoded = Vec::new();
    alloy_rlp::Header { list: true, payload_length }.encode(&mut encoded);
    encoded.extend(fields.concat());
    encoded
}

fn pool_words(
    ticks: &[Tick],
    active: u128,
    rng: &mut Rng,
) -> Result<BTreeMap<B256, Vec<u8>>, BenchError> {
    let named = ticks.iter().map(|tick| tick.tick).collect();
    let range = RangeSubject { range: TickRange::ALL, tick_spacing: SPACING, ticks: named };
    let subject = ProofSubject {
        chain: "eip155:1".parse().map_err(failed)?,
        address: POOL,
        id: None,
        layout: Layout::UniswapV3,
        ranges: Some(range),
        feeds: Vec::new(),
    };
    let slots = subject.slots().map_err(failed)?;
    let bitmap: HashMap<[u8; 32], i32> =
        subject.bitmap().map_err(failed)?.into_iter().map(|(word, slot)| (slot, word)).collect();
    let mut price = [0; 32];
    let sqrt_price: [u8; 32] =
        sqrt_ratio_at_tick(3).ok_or_else(|| failed("no price"))?.to_be_bytes();
    price[12..].copy_from_slice(&sqrt_price[12..]);
    price[11] = 3;
    let mut liquidity = [0; 32];
    liquidity[16..].copy_from_slice(&active.to_be_bytes());
    let mut words: Vec<([u8; 32], [u8; 32])> = vec![(slots[0], price), (slots[1], liquidity)];
    let of_ticks = &slots[2 + bitmap.len()..];
    for (tick, slot) in ticks.iter().zip(of_ticks) {
        let mut word = [0; 32];
        word[..16].copy_from_slice(&tick.liquidity_net.to_be_bytes());
        word[16..].copy_from_slice(&tick.liquidity_gross.to_be_bytes());
        words.push((*slot, word));
    }
    for (slot, word) in &bitmap {
        let mut bits = [0; 32];
        for tick in ticks.iter().filter(|tick| (tick.tick / SPACING) >> 8 == *word) {
            let bit = usize::try_from((tick.tick / SPACING) & 255).map_err(failed)?;
            bits[31 - bit / 8] |= 1 << (bit % 8);
        }
        if bits != [0; 32] {
            words.push((*slot, bits));
        }
    }
    let mut trie: BTreeMap<B256, Vec<u8>> =
        words.into_iter().map(|(slot, word)| (keccak256(slot), leaf(word))).collect();
    while trie.len() < WORDS.get() {
        trie.insert(drawn(rng), leaf(drawn(rng).0));
    }
    Ok(trie)
}

fn proxy_words(feed: &FeedSubject) -> BTreeMap<B256, Vec<u8>> {
    let mut word = [0; 32];
    word[10..30].copy_from_slice(&feed.aggregator.0);
    word[30..].copy_from_slice(&PHASE.to_be_bytes());
    let mut trie = BTreeMap::from([(keccak256(FeedSubject::proxy_slot()), leaf(word))]);
    for n in 0..12_u8 {
        trie.insert(keccak256([n; 32]), leaf([n + 1; 32]));
    }
    trie
}

fn updated_at() -> u64 {
    Slot::FIRST.unix_s() - 600
}

fn aggregator_words(feed: &FeedSubject, rng: &mut Rng) -> BTreeMap<B256, Vec<u8>> {
    let slots = feed.slots();
    let mut newest = [0; 32];
    newest[22..26].copy_from_slice(&feed.round.to_be_bytes());
    let mut round = [0; 32];
    round[24..].copy_from_slice(&ANSWER.to_be_bytes());
    round[..4].copy_from_slice(&u32::try_from(updated_at()).unwrap_or_default().to_be_bytes());
    let mut trie =
        BTreeMap::from([(keccak256(slots[0]), leaf(newest)), (keccak256(slots[1]), leaf(round))]);
    while trie.len() < usize::try_from(ROUNDS.get()).unwrap_or(usize::MAX) {
        trie.insert(drawn(rng), leaf(drawn(rng).0));
    }
    trie
}

fn snapshot(
    header: &[u8],
    state: PoolState,
    feeds: &[FeedSubject],
) -> Result<Snapshot, BenchError> {
    let pool = PoolId::new("ethereum".parse().map_err(failed)?, POOL);
    let chain = ChainTag { caip2: "eip155:1".parse().map_err(failed)?, kind: ChainKind::Live };
    let hash = BlockHash(keccak256(header).0);
    let block = BlockRef { hash, number: NUMBER, timestamp: Slot::FIRST.unix_s() - 8 };
    let token = |n: u8| {
        let symbol = Symbol::clean(["AAA", "BBB"][usize::from(n)]);
        Ok::<_, BenchError>(Token { address: Address([n + 1; 20]), decimals: 18, symbol })
    };
    let reading = |(token, feed): (u8, &FeedSubject)| OracleReading {
        role: OracleRole::TokenUsd(token),
        answer: U256::from(ANSWER),
        decimals: 8,
        source: OracleSource::Chainlink(RoundData {
            feed: feed.feed,
            round: u128::from(PHASE) << 64 | u128::from(feed.round),
            updated_at: updated_at(),
            heartbeat_s: 3_600,
        }),
    };
    let readings = (0..).zip(feeds).map(reading).collect();
    let fact = Fact {
        name: "uniswap_v3".parse().map_err(failed)?,
        contract: FACTORY,
        call: "0x1698ee82".to_owned(),
        words: vec![Word([0; 32])],
    };
    let tokens = [token(0)?, token(1)?];
    let made = Observation::new(pool, chain, block, tokens, state, readings, vec![fact]);
    Snapshot::new(Slot::FIRST, made.map_err(failed)?).map_err(failed)
}
