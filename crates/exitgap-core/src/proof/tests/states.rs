use std::collections::BTreeMap;

use super::super::trie::keccak256;
use super::super::*;
use super::tries::{Drawn, Trie, encode, string};
use crate::analytics::made_up::{observation_of, pool};
use crate::evidence::Outcome;
use crate::ids::{Address, BlockHash, Word};
use crate::pools::{
    Concentrated, ConstantProduct, Direction, FeeRate, PoolState, Tick, sqrt_ratio_at_tick,
};
use crate::series::Slot;
use crate::snapshot::{BlockRef, Observation, Snapshot};

/// A chain with one contract, whose storage has these words.
struct Chain {
    subject: ProofSubject,
    header: Vec<u8>,
    child: Vec<u8>,
    accounts: Trie,
    storage: Trie,
}

const ADDRESS: Address = Address([0xaa; 20]);
pub const NUMBER: u64 = 77;

pub fn block_of(parent: [u8; 32], state_root: [u8; 32], block: u64, timestamp: u64) -> Vec<u8> {
    let trimmed = |number: u64| {
        let digits: Vec<u8> =
            number.to_be_bytes().into_iter().skip_while(|byte| *byte == 0).collect();
        string(&digits)
    };
    let mut fields = vec![string(&[1; 32]); 16];
    fields[0] = string(&parent);
    fields[3] = string(&state_root);
    fields[6] = string(&[0; 256]);
    fields[8] = trimmed(block);
    fields[11] = trimmed(timestamp);
    encode(&fields)
}

pub fn at() -> Slot {
    Slot::FIRST
}

impl Chain {
    fn new(subject: ProofSubject, words: &BTreeMap<[u8; 32], Word>, child_after: u64) -> Self {
        let storage = words.iter().filter(|(_, word)| word.0 != [0; 32]).map(|(slot, word)| {
            let digits: Vec<u8> = word.0.into_iter().skip_while(|byte| *byte == 0).collect();
            (keccak256(slot), string(&digits))
        });
        let storage = Trie::new(&storage.collect());
        let account = encode(&[string(&[1]), string(&[]), string(&storage.root), string(&[9; 32])]);
        let mut accounts: BTreeMap<[u8; 32], Vec<u8>> =
            (0..50).map(|n| (keccak256(&[n]), vec![0xc1, n])).collect();
        accounts.insert(keccak256(&ADDRESS.0), account);
        let accounts = Trie::new(&accounts);
        let header = block_of([3; 32], accounts.root, NUMBER, at().unix_s() - 12);
        let child = block_of(keccak256(&header), [4; 32], NUMBER + 1, at().unix_s() + child_after);
        Self { subject, header, child, accounts, storage }
    }

    fn file(&self) -> Result<Vec<u8>, ProofError> {
        self.subject.file(&ProofParts {
            header: &self.header,
            child: &self.child,
            nodes: &[&self.accounts.nodes[..], &self.storage.nodes].concat(),
        })
    }

    fn snapshot(&self, state: PoolState) -> Snapshot {
        snapshot_at(BlockHash(keccak256(&self.header)), state)
    }
}

fn snapshot_at(hash: BlockHash, state: PoolState) -> Snapshot {
    let made = observation_of(&pool(), at(), state);
    let block = BlockRef { hash, number: NUMBER, timestamp: at().unix_s() - 12 };
    let (tokens, oracles) = (made.tokens().clone(), made.oracles().to_vec());
    let facts = Vec::new();
    let state = made.state().clone();
    let made = Observation::new(pool(), made.chain(), block, tokens, state, oracles, facts);
    Snapshot::new(at(), made.unwrap()).unwrap()
}

pub const SPACING: i32 = 60;

fn tick(index: i32, net: i128, gross: u128) -> Tick {
    Tick { liquidity_gross: gross, ..Tick::new(index * SPACING, net) }
}

/// Narrow positions around the price, and one over all prices.
pub fn ticks() -> Vec<Tick> {
    let wide = 10_i128.pow(12);
    let mut ticks =
        vec![tick(-1_000, wide, wide.unsigned_abs()), tick(1_000, -wide, wide.unsigned_abs())];
    for n in 1..=8 {
        let net = i128::from(n) * 10_i128.pow(11);
        ticks.push(tick(-n, net, net.unsigned_abs() + 5));
        ticks.push(tick(n, -net, net.unsigned_abs() + 5));
    }
    ticks.sort_by_key(|tick| tick.tick);
    ticks
}

pub fn active(ticks: &[Tick], at: i32) -> u128 {
    let sum: i128 =
        ticks.iter().filter(|tick| tick.tick <= at).map(|tick| tick.liquidity_net).sum();
    sum.unsigned_abs()
}

pub fn state(price_tick: i32, ticks: Vec<Tick>) -> PoolState {
    let price = sqrt_ratio_at_tick(price_tick).unwrap();
    let liquidity = active(&ticks, price_tick);
    Concentrated::new(price, price_tick, liquidity, 3_000, SPACING, ticks).unwrap().into()
}

/// The storage of a concentrated-liquidity pool, with high bits set that no fill reads. `fees` are those of a Uniswap
/// v4 pool.
pub fn ranged(
    layout: Layout,
    id: Option<Word>,
    price_tick: i32,
    ticks: &[Tick],
    fees: Option<(u32, [u32; 2])>,
) -> BTreeMap<[u8; 32], Word> {
    let places = layout.ranges(id).unwrap();
    let mut words = BTreeMap::new();
    let sqrt_price = sqrt_ratio_at_tick(price_tick).unwrap();
    let mut price = [0; 32];
    for (place, limb) in price.rchunks_mut(8).zip(sqrt_price.as_limbs()) {
        place.copy_from_slice(&limb.to_be_bytes());
    }
    // The tick is above the price. Above it are bits that no fill reads, or the fees and then such bits.
    price[..9].copy_from_slice(&[0x12; 9]);
    price[9..12].copy_from_slice(&price_tick.to_be_bytes()[1..]);
    if let Some((providers, [zero, one])) = fees {
        price[3..6].copy_from_slice(&providers.to_be_bytes()[1..]);
        price[6..9].copy_from_slice(&(one << 12 | zero).to_be_bytes()[1..]);
    }
    words.insert(places.price, Word(price));
    let mut liquidity = [0; 32];
    liquidity[16..].copy_from_slice(&active(ticks, price_tick).to_be_bytes());
    words.insert(places.liquidity, Word(liquidity));
    for tick in ticks {
        let mut word = [0; 32];
        word[..16].copy_from_slice(&tick.liquidity_net.to_be_bytes());
        word[16..].copy_from_slice(&tick.liquidity_gross.to_be_bytes());
        words.insert(places.tick(tick.tick), Word(word));
        let compressed = tick.tick.div_euclid(SPACING);
        let bit = usize::try_from(compressed & 255).unwrap();
        let bitmap = words.entry(places.bitmap(compressed >> 8)).or_insert(Word([0; 32]));
        bitmap.0[31 - bit / 8] |= 1 << (bit % 8);
    }
    words
}

/// The storage of a Uniswap v3 pool, and the subject of its proof.
pub fn v3(
    price_tick: i32,
    ticks: &[Tick],
    range: TickRange,
) -> (ProofSubject, BTreeMap<[u8; 32], Word>) {
    let words = ranged(Layout::UniswapV3, None, price_tick, ticks, None);
    let inside =
        ticks.iter().map(|tick| tick.tick).filter(|tick| (range.low..=range.high).contains(tick));
    let ranges = RangeSubject { range, tick_spacing: SPACING, ticks: inside.collect() };
    let subject = ProofSubject {
        chain: "eip155:31337".parse().unwrap(),
        address: ADDRESS,
        id: None,
        layout: Layout::UniswapV3,
        ranges: Some(ranges),
        feeds: Vec::new(),
    };
    (subject, words)
}

pub const WIDE: TickRange = TickRange { low: -6_000, high: 6_000 };

fn outcomes(checks: &[StateCheck; 3]) -> [(Outcome, &'static str); 2] {
    [0, 1].map(|at| (checks[at].outcome, checks[at].code))
}

const PASS: (Outcome, &str) = (Outcome::Pass, "ok");

#[test]
fn a_pool_of_ranges_is_proven_as_far_as_its_figures_read() {
    let ticks = ticks();
    let (subject, words) = v3(7, &ticks, WIDE);
    let chain = Chain::new(subject, &words, 1);
    let file = chain.file().unwrap();
    let proof = StateProof::from_bytes(&file);
    let snapshot = chain.snapshot(state(7, ticks.clone()));
    let size = Some((Direction::ZeroForOne, "1000".parse().unwrap()));
    let checks = check_state(&proof, &snapshot, size);
    assert_eq!(outcomes(&checks), [PASS, PASS], "{checks:?}");
    assert!(checks[1].unproven.contains(&"decimals") && checks[0].unproven.len() == 2);
    // Ticks outside the range are not covered and do not matter.
    let mut far = ticks.clone();
    far[0] = tick(-2_000, far[0].liquidity_net, far[0].liquidity_gross);
    let other = chain.snapshot(state(7, far));
    assert_eq!(outcomes(&check_state(&proof, &other, size)), [PASS, PASS]);
    // A sale beyond the range is not covered, and a proof of a narrow range covers no depth.
    let all = Some((Direction::ZeroForOne, "1000000000".parse().unwrap()));
    let beyond = (Outcome::NotChecked, "beyond_proven_range");
    assert_eq!(outcomes(&check_state(&proof, &snapshot, all)), [PASS, beyond]);
    let (narrow, words) = v3(7, &ticks, TickRange { low: 0, high: 60 });
    let narrow = Chain::new(narrow, &words, 1);
    let narrow_proof = StateProof::from_bytes(&narrow.file().unwrap());
    assert_eq!(outcomes(&check_state(&narrow_proof, &snapshot, None)), [PASS, beyond]);
    let needed = needed_ticks(&snapshot, size).unwrap();
    assert!(needed.low < 0 && needed.high > 60 && WIDE.covers(needed), "{needed:?}");
    // The proof is for another block, or has words with impossible values.
    let elsewhere = snapshot_at(BlockHash([1; 32]), state(7, ticks));
    let unusable = [(Outcome::NotChecked, "proof_unusable"); 2];
    assert_eq!(outcomes(&check_state(&proof, &elsewhere, size)), unusable);
    assert_eq!(outcomes(&check_state(&StateProof::from_bytes(b"{}\n"), &snapshot, size)), unusable);
}

#[test]
fn every_lie_about_a_pool_is_told_from_its_state() {
    let ticks = ticks();
    let (subject, words) = v3(7, &ticks, WIDE);
    let chain = Chain::new(subject, &words, 1);
    let proof = StateProof::from_bytes(&chain.file().unwrap());
    let mut drawn = Drawn(3);
    let mut draw = |below: usize| usize::try_from(drawn.next()).unwrap() % below;
    let (mut lies, mut told) = (0, 0);
    for _ in 0..3_000 {
        let mut lie = ticks.clone();
        let (kind, place) = (draw(4), 1 + draw(8));
        // Both ends of a position change, so that the state is one that a contract can have.
        let (low, high) = (place, 17 - place);
        let by = 1 + i128::try_from(draw(1_000)).unwrap();
        let price_tick = match kind {
            0 => 7 + i32::try_from(draw(40)).unwrap() + 1,
            1 => {
                lie[low].liquidity_net += by;
                lie[high].liquidity_net -= by;
                lie[low].liquidity_gross += by.unsigned_abs();
                lie[high].liquidity_gross += by.unsigned_abs();
                7
            }
            2 => {
                lie[low].liquidity_gross += by.unsigned_abs();
                7
            }
            _ => {
                // A position that the snapshot leaves out.
                lie.remove(high);
                lie.remove(low);
                7
            }
        };
        let snapshot = chain.snapshot(state(price_tick, lie));
        let checks = check_state(&proof, &snapshot, None);
        lies += 1;
        told += u32::from(outcomes(&checks)[1] == (Outcome::Fail, "state_differs"));
        assert_eq!(outcomes(&checks)[0], PASS);
    }
    assert_eq!((lies, told), (3_000, 3_000));
}

#[test]
fn a_block_that_is_not_the_last_before_the_instant_is_told() {
    let ticks = ticks();
    let (subject, words) = v3(7, &ticks, WIDE);
    let chain = Chain::new(subject, &words, 0);
    let snapshot = chain.snapshot(state(7, ticks));
    let proof = StateProof::from_bytes(&chain.file().unwrap());
    let mut checks = check_state(&proof, &snapshot, None);
    // Anyone can write such a header: it is the operator's fault only if a source of the reader's has it.
    let child = proof.as_ref().unwrap().child;
    let open = (Outcome::NotChecked, "not_the_last_block");
    assert_eq!(outcomes(&checks)[0], open);
    let source = |said| [BlockSource { name: "anchors".to_owned(), said }];
    let (block, other) = (snapshot.observation().block().hash, BlockHash([9; 32]));
    for said in [BlockSaid::Next(other), BlockSaid::Both { block, next: other }, BlockSaid::Nothing]
    {
        confirm_next(&mut checks[0], child.as_ref(), &source(said));
        assert_eq!(outcomes(&checks)[0], open);
    }
    confirm_next(&mut checks[0], child.as_ref(), &source(BlockSaid::Next(child.unwrap().hash)));
    assert_eq!(outcomes(&checks)[0], (Outcome::Fail, "not_the_last_block"));
    // The next header does not follow, or is absent.
    let stranger =
        Chain { child: block_of([8; 32], [4; 32], NUMBER + 1, at().unix_s() + 1), ..chain };
    assert!(matches!(stranger.file(), Err(ProofError::Header(_))));
    let alone = Chain { child: Vec::new(), ..stranger };
    let checks = check_state(&StateProof::from_bytes(&alone.file().unwrap()), &snapshot, None);
    assert_eq!((outcomes(&checks)[0], checks[0].unproven.len()), (PASS, 2));
}

#[test]
fn reserves_are_proven_word_by_word() {
    let fee = FeeRate { numerator: 3, denominator: 1_000 };
    let pair = |x, y| PoolState::from(ConstantProduct::new([x, y], fee).unwrap());
    let mut word = [9; 32];
    word[18..].copy_from_slice(&5_000_000_u128.to_be_bytes()[2..]);
    word[4..18].copy_from_slice(&7_000_000_u128.to_be_bytes()[2..]);
    let word = Word(word);
    let subject = ProofSubject {
        chain: "eip155:31337".parse().unwrap(),
        address: ADDRESS,
        id: None,
        layout: Layout::UniswapV2,
        ranges: None,
        feeds: Vec::new(),
    };
    let chain = Chain::new(subject, &BTreeMap::from([(layout::number(8), word)]), 1);
    let proof = StateProof::from_bytes(&chain.file().unwrap());
    let of = |x, y| outcomes(&check_state(&proof, &chain.snapshot(pair(x, y)), None))[1];
    assert_eq!(of(5_000_000, 7_000_000), PASS);
    for (x, y) in [(5_000_001, 7_000_000), (5_000_000, 6_999_999), (7_000_000, 5_000_000)] {
        assert_eq!(of(x, y), (Outcome::Fail, "state_differs"));
    }
    let ranges = chain.snapshot(state(7, ticks()));
    let other = outcomes(&check_state(&proof, &ranges, None))[1];
    assert_eq!(other, (Outcome::NotChecked, "unsupported_layout"));
}

#[test]
fn a_file_that_is_none_is_refused_by_what_is_wrong_with_it() {
    let ticks = ticks();
    let (subject, words) = v3(7, &ticks, WIDE);
    let chain = Chain::new(subject.clone(), &words, 1);
    let file = chain.file().unwrap();
    // A change to any byte is detected.
    for at in 0..file.len() {
        let mut changed = file.clone();
        changed[at] ^= 1 << (at % 8);
        let read = StateProof::from_bytes(&changed);
        let same = |proof: &StateProof| *proof == StateProof::from_bytes(&file).unwrap();
        // The proof verifies only that the next header follows.
        let in_child = read.as_ref().is_ok_and(|proof| {
            proof.child.map(|child| child.parent) == proof.child.map(|_| proof.header.hash)
        });
        assert!(read.is_err() || (!read.as_ref().is_ok_and(same) && in_child), "byte {at}");
    }
    assert!(matches!(StateProof::from_bytes(&file[..file.len() - 1]), Err(ProofError::Shape(_))));
    assert!(matches!(
        StateProof::from_bytes(&[&file[..], &[0x80]].concat()),
        Err(ProofError::Shape(_))
    ));
    assert!(matches!(
        StateProof::from_bytes(&vec![b'x'; MAX_PROOF_BYTES + 1]),
        Err(ProofError::TooLarge { .. })
    ));
    assert!(matches!(StateProof::from_bytes(b"[]\n"), Err(ProofError::Line(_))));
    // Ticks that the bitmap does not have, and a tick of it left out.
    let with = |ticks: Vec<i32>| {
        let ranges = RangeSubject { ticks, ..subject.ranges.clone().unwrap() };
        let subject = ProofSubject { ranges: Some(ranges), ..subject.clone() };
        subject.file(&ProofParts {
            header: &chain.header,
            child: &chain.child,
            nodes: &[&chain.accounts.nodes[..], &chain.storage.nodes].concat(),
        })
    };
    let named = subject.ranges.clone().unwrap().ticks;
    let without: Vec<i32> = named[1..].to_vec();
    assert_eq!(with(without), Err(ProofError::Ticks { tick: named[0] }));
    let last = [&named[..], &[600]].concat();
    assert_eq!(with(last), Err(ProofError::Ticks { tick: 600 }));
    for wrong in [vec![0, 0], vec![60, 0], vec![61], vec![6_060]] {
        assert!(matches!(with(wrong), Err(ProofError::Shape(_))));
    }
    // An account that does not exist.
    let nobody = ProofSubject { address: Address([9; 20]), ..subject };
    assert_eq!(
        Chain { subject: nobody, ..chain }.file(),
        Err(ProofError::NoContract(Address([9; 20])))
    );
}
