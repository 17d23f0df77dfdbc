use std::collections::BTreeMap;

use super::super::layout::{mapping_slot, number as word, plus};
use super::super::trie::keccak256;
use super::super::*;
use super::states::{WIDE, block_of, state, ticks, v3};
use super::tries::{Trie, encode, string};
use crate::analytics::made_up::{observation_of, pool};
use crate::evidence::Outcome;
use crate::ids::{Address, BlockHash, Word};
use crate::series::Slot;
use crate::snapshot::{
    BlockRef, Observation, OracleReading, OracleRole, OracleSource, RoundData, Snapshot,
};
use crate::wide::U256;

const PHASE: u16 = 6;
const ROUND: u32 = 70_001;
const ANSWER: u64 = 312_345_678_900;
const SLOTS: BTreeMap<[u8; 32], Word> = BTreeMap::new();

fn updated_at() -> u64 {
    Slot::FIRST.unix_s() - 600
}

/// The storage of a proxy, and that of its aggregator with this layout.
pub fn words_of(subject: &FeedSubject) -> [BTreeMap<[u8; 32], Word>; 2] {
    let mut proxy = [7; 32];
    proxy[10..30].copy_from_slice(&subject.aggregator.0);
    proxy[30..].copy_from_slice(&PHASE.to_be_bytes());
    let (mut newest, mut round) = ([0x55; 32], [0; 32]);
    let mut words = SLOTS;
    let mut key = [0; 32];
    key[28..].copy_from_slice(&subject.round.to_be_bytes());
    round[24..].copy_from_slice(&ANSWER.to_be_bytes());
    // Where each contract has its newest round, counted from the high end.
    let (newest_at, place, rounds) = match subject.layout {
        FeedLayout::ChainlinkFlux => (7, 24, 9),
        FeedLayout::ChainlinkOcr1 => (43, 6, 44),
        FeedLayout::ChainlinkOcr1At42 => (42, 6, 43),
        FeedLayout::ChainlinkOcr2 => (11, 22, 12),
    };
    newest[place..place + 4].copy_from_slice(&subject.round.to_be_bytes());
    let at = mapping_slot(key, &word(rounds));
    match subject.layout {
        FeedLayout::ChainlinkOcr1 | FeedLayout::ChainlinkOcr1At42 => {
            round[..8].copy_from_slice(&updated_at().to_be_bytes());
        }
        FeedLayout::ChainlinkOcr2 => {
            let written = u32::try_from(updated_at()).unwrap();
            round[..4].copy_from_slice(&written.to_be_bytes());
            round[4..8].copy_from_slice(&(written - 9).to_be_bytes());
        }
        FeedLayout::ChainlinkFlux => {
            let mut times = [0; 32];
            times[24..].copy_from_slice(&(updated_at() - 9).to_be_bytes());
            times[16..24].copy_from_slice(&updated_at().to_be_bytes());
            times[12..16].copy_from_slice(&subject.round.to_be_bytes());
            words.insert(plus(at, 1), Word(times));
        }
    }
    words.insert(word(newest_at), Word(newest));
    words.insert(at, Word(round));
    [BTreeMap::from([(word(2), Word(proxy))]), words]
}

/// A state with several contracts: the headers and all trie nodes.
pub struct Chain {
    pub header: Vec<u8>,
    pub child: Vec<u8>,
    pub nodes: Vec<Vec<u8>>,
}

impl Chain {
    pub fn new(contracts: &[(Address, BTreeMap<[u8; 32], Word>)]) -> Self {
        Self::running(&[9; 32], contracts)
    }

    /// The same, where every contract's code has this hash.
    pub fn running(code_hash: &[u8], contracts: &[(Address, BTreeMap<[u8; 32], Word>)]) -> Self {
        let mut nodes = Vec::new();
        let mut accounts: BTreeMap<[u8; 32], Vec<u8>> =
            (0..50).map(|n| (keccak256(&[n]), vec![0xc1, n])).collect();
        for (address, words) in contracts {
            let storage = words.iter().map(|(slot, word)| {
                let digits: Vec<u8> = word.0.into_iter().skip_while(|byte| *byte == 0).collect();
                (keccak256(slot), string(&digits))
            });
            let storage = Trie::new(&storage.collect());
            let fields = [string(&[1]), string(&[]), string(&storage.root), string(code_hash)];
            accounts.insert(keccak256(&address.0), encode(&fields));
            nodes.extend(storage.nodes);
        }
        let accounts = Trie::new(&accounts);
        nodes.extend(accounts.nodes);
        let header = block_of([3; 32], accounts.root, 77, Slot::FIRST.unix_s() - 12);
        let child = block_of(keccak256(&header), [4; 32], 78, Slot::FIRST.unix_s() + 1);
        Self { header, child, nodes }
    }

    pub fn file(&self, subject: &ProofSubject) -> Result<Vec<u8>, ProofError> {
        let Self { header, child, nodes } = self;
        subject.file(&ProofParts { header, child, nodes })
    }
}

pub fn feed(layout: FeedLayout, n: u8) -> FeedSubject {
    let (feed, aggregator) = (Address([0x10 + n; 20]), Address([0x20 + n; 20]));
    FeedSubject { feed, aggregator, layout, round: ROUND }
}

pub fn reading(feed: &FeedSubject, token: u8) -> OracleReading {
    let round = u128::from(PHASE) << 64 | u128::from(feed.round);
    let (updated_at, heartbeat_s) = (updated_at(), 3_600);
    let source = RoundData { feed: feed.feed, round, updated_at, heartbeat_s };
    OracleReading {
        role: OracleRole::TokenUsd(token),
        answer: U256::from(ANSWER),
        decimals: 8,
        source: OracleSource::Chainlink(source),
    }
}

/// A snapshot at a header's block, priced with these readings.
fn snapshot(header: &[u8], readings: Vec<OracleReading>) -> Snapshot {
    let made = observation_of(&pool(), Slot::FIRST, state(7, ticks()));
    let hash = BlockHash(keccak256(header));
    let block = BlockRef { hash, number: 77, timestamp: Slot::FIRST.unix_s() - 12 };
    let (tokens, state) = (made.tokens().clone(), made.state().clone());
    let made = Observation::new(pool(), made.chain(), block, tokens, state, readings, Vec::new());
    Snapshot::new(Slot::FIRST, made.unwrap()).unwrap()
}

/// A pool with two feeds of a layout, and a complete proof of it.
fn scene(layout: FeedLayout) -> (Chain, ProofSubject, [FeedSubject; 2]) {
    let (mut subject, pool_words) = v3(7, &ticks(), WIDE);
    let feeds = [feed(layout, 1), feed(layout, 2)];
    let mut contracts = vec![(subject.address, pool_words)];
    for feed in &feeds {
        let [proxy, aggregator] = words_of(feed);
        contracts.extend([(feed.feed, proxy), (feed.aggregator, aggregator)]);
    }
    subject.feeds = feeds.to_vec();
    (Chain::new(&contracts), subject, feeds)
}

fn oracle(file: &[u8], snapshot: &Snapshot) -> (Outcome, &'static str) {
    let [_, pool, oracle] = check_state(&StateProof::from_bytes(file), snapshot, None);
    assert_eq!(pool.outcome, Outcome::Pass, "{pool:?}");
    (oracle.outcome, oracle.code)
}

#[test]
fn a_feeds_newest_round_is_proven_in_every_layout() {
    for layout in FeedLayout::ALL {
        assert_eq!(FeedLayout::ALL.iter().filter(|one| one.code() == layout.code()).count(), 1);
        let (chain, subject, feeds) = scene(layout);
        let file = chain.file(&subject).unwrap();
        let readings = || vec![reading(&feeds[0], 0), reading(&feeds[1], 1)];
        let honest = snapshot(&chain.header, readings());
        assert_eq!(oracle(&file, &honest), (Outcome::Pass, "ok"), "{layout:?}");
        // A change to any part of a reading is detected.
        let changes: [fn(&mut OracleReading); 4] = [
            |reading| reading.answer += U256::from(1_u8),
            |reading| change(reading, |round| round.round -= 1),
            |reading| change(reading, |round| round.round += 1 << 64),
            |reading| change(reading, |round| round.updated_at -= 1),
        ];
        for change in changes {
            let mut readings = readings();
            change(&mut readings[1]);
            let lie = snapshot(&chain.header, readings);
            assert_eq!(oracle(&file, &lie), (Outcome::Fail, "reading_differs"), "{layout:?}");
        }
        // A feed that the file does not contain, and a configured price.
        let other = FeedSubject { feed: Address([0x99; 20]), ..feeds[1] };
        let unproven = snapshot(&chain.header, vec![reading(&feeds[0], 0), reading(&other, 1)]);
        let absent = (Outcome::NotChecked, "reading_unproven");
        assert_eq!(oracle(&file, &unproven), absent);
        let fixed = OracleReading { source: OracleSource::Fixed, ..reading(&feeds[1], 1) };
        let fixed = snapshot(&chain.header, vec![reading(&feeds[0], 0), fixed]);
        assert_eq!(oracle(&file, &fixed), absent);
        // A round that is not the newest, or an aggregator that is not the proxy's, gives no file.
        let with = |change: fn(&mut FeedSubject)| {
            let mut subject = subject.clone();
            change(&mut subject.feeds[0]);
            chain.file(&subject)
        };
        assert!(matches!(with(|feed| feed.round -= 1), Err(ProofError::Feed(_))));
        let stranger = with(|feed| feed.aggregator = Address([0x22; 20]));
        assert!(matches!(stranger, Err(ProofError::Feed(_))), "{stranger:?}");
        for other in FeedLayout::ALL.into_iter().filter(|other| *other != layout) {
            let mut subject = subject.clone();
            subject.feeds[0].layout = other;
            assert!(chain.file(&subject).is_err(), "{layout:?} read as {other:?}");
        }
    }
}

fn change(reading: &mut OracleReading, change: impl Fn(&mut RoundData)) {
    if let OracleSource::Chainlink(round) = &mut reading.source {
        change(round);
    }
}

#[test]
fn no_byte_of_a_file_with_feeds_may_be_another_and_feeds_have_one_order() {
    let (chain, subject, _) = scene(FeedLayout::ChainlinkOcr2);
    let file = chain.file(&subject).unwrap();
    let whole = StateProof::from_bytes(&file).unwrap();
    assert_eq!(whole.readings.len(), 2);
    for at in 0..file.len() {
        let mut changed = file.clone();
        changed[at] ^= 1 << (at % 8);
        let Ok(mut read) = StateProof::from_bytes(&changed) else { continue };
        assert!(read != whole, "byte {at}");
        // The proof verifies only that the next header follows. The chain's name comes from the snapshot. A different
        // range in the same bitmap words can be equally true.
        (read.child, read.subject.chain) = (whole.child, whole.subject.chain);
        if let (Some(of), Some(own)) = (&mut read.subject.ranges, &whole.subject.ranges) {
            of.range = own.range;
        }
        assert!(read == whole, "byte {at}");
    }
    let mut turned = subject.clone();
    turned.feeds.reverse();
    assert!(matches!(chain.file(&turned), Err(ProofError::Shape(_))));
    let mut twice = subject.clone();
    twice.feeds.push(twice.feeds[1]);
    assert!(matches!(chain.file(&twice), Err(ProofError::Shape(_))));
    let nobody = FeedSubject { feed: Address([0x98; 20]), ..subject.feeds[1] };
    let absent = ProofSubject { feeds: vec![nobody], ..subject };
    assert_eq!(chain.file(&absent), Err(ProofError::NoContract(Address([0x98; 20]))));
}
