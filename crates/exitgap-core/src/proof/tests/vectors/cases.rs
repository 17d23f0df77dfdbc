//! The cases: for every layout, for tick ranges, for feeds and for pairs.

use serde_json::{Value, json};

use super::super::states::{SPACING, active, block_of, ranged, state, ticks};
use super::super::tries::Drawn;
use super::{
    Asked, Chain, ID, MANAGER, NOTHING, Parts, Vector, Words, fact, ranges_of, with_items,
    with_line,
};
use crate::ids::{Address, BlockHash, Word};
use crate::pools::{
    ConcentratedLinked, ConcentratedV4, ConstantProduct, Direction, FeeRate, PoolState, Solidly,
    Tick, sqrt_ratio_at_tick,
};
use crate::proof::trie::keccak256;
use crate::proof::{FeedLayout, Layout, ProofParts, ProofSubject, TickRange, code, layout};
use crate::series::Slot;
use crate::snapshot::{OracleRole, OracleSource};
use crate::wide::U256;

/// The number of bits flipped in each proof.
const FLIPS: u64 = 40;

/// The providers' fee of the Uniswap v4 pool, and the protocol's fee for each direction.
const FEES: (u32, [u32; 2]) = (3_000, [1_000, 250]);

const UNUSABLE: &str = "proof_unusable proof_unusable proof_unusable";

/// The cases of every layout.
fn in_every_layout(vector: &mut Vector, oracle: &str) {
    let ok = format!("ok ok {oracle}");
    let file = vector.proofs[0].clone();
    let block = vector.honest.block.hash;
    vector.tampered("honest", &ok, &file);
    for (name, blocks, code) in [
        ("two who have the block", vec![("one", Some(block)), ("other", Some(block))], "ok"),
        (
            "one who has another",
            vec![("one", Some(block)), ("other", Some(BlockHash([9; 32])))],
            "other_block",
        ),
        ("one who did not answer", vec![("one", Some(block)), ("other", None)], "not_answered"),
    ] {
        let asked = Asked { size: None, blocks };
        vector.case(name, [0, 0], &file, &asked, &format!("{ok} {code}"));
    }
    vector.lie("another block", UNUSABLE, |parts| parts.block.hash = BlockHash([1; 32]));
    let header = format!("block_differs ok {oracle}");
    vector.lie("another number", &header, |parts| parts.block.number += 1);
    vector.lie("another time", &header, |parts| parts.block.timestamp -= 1);
    vector.lie("another chain", UNUSABLE, |parts| {
        parts.chain.caip2 = "eip155:31338".parse().unwrap();
    });
    let other = if vector.name == "uniswap_v3" { "slipstream" } else { "uniswap_v3" };
    vector.lie("another layout", UNUSABLE, |parts| parts.facts = vec![fact(other, MANAGER)]);
    vector.lie("no fact", &ok, |parts| parts.facts.clear());
    let Chain { header, nodes, .. } = &vector.chain;
    let (child, instant) = (keccak256(header), Slot::FIRST.unix_s());
    let with_child = |child: &[u8]| vector.subject.file(&ProofParts { header, child, nodes });
    let at_instant = with_child(&block_of(child, [4; 32], 78, instant)).unwrap();
    let alone = with_child(&[]).unwrap();
    vector.proof(
        "a next block at the instant",
        &format!("not_the_last_block ok {oracle}"),
        &NOTHING,
        &at_instant,
    );
    vector.proof("no next block", &ok, &NOTHING, &alone);
    let stranger = block_of([8; 32], [4; 32], 78, instant + 1);
    vector.tampered(
        "a next block of another parent",
        UNUSABLE,
        &with_items(&file, 1, |items| items[1] = stranger),
    );
    let skipped = block_of(child, [4; 32], 79, instant + 1);
    vector.tampered(
        "a next block but one",
        UNUSABLE,
        &with_items(&file, 1, |items| items[1] = skipped),
    );
    vector.tampered("cut", UNUSABLE, &file[..file.len() - 1]);
    vector.tampered("a byte more", UNUSABLE, &[&file[..], &[0x80]].concat());
    vector.tampered(
        "a node twice",
        UNUSABLE,
        &with_items(&file, 3, |items| items.push(items[items.len() - 1].clone())),
    );
    vector.tampered(
        "nodes in another order",
        UNUSABLE,
        &with_items(&file, 2, |items| items.swap(2, 3)),
    );
    vector.tampered(
        "a node left out",
        UNUSABLE,
        &with_items(&file, 2, |items| drop(items.remove(3))),
    );
    vector.tampered("a later version", UNUSABLE, &with_line(&file, |line| line["v"] = json!(2)));
    vector.tampered(
        "a field that is none",
        UNUSABLE,
        &with_line(&file, |line| drop(line.insert("x".to_owned(), json!(1)))),
    );
    vector.tampered(
        "no layout",
        UNUSABLE,
        &with_line(&file, |line| line["layout"] = json!("curve")),
    );
    vector.tampered(
        "a contract that is not there",
        UNUSABLE,
        &with_line(&file, |line| line["address"] = json!(Address([2; 20]).to_string())),
    );
    let spaced = [b" ", &file[..]].concat();
    vector.tampered("another spelling", UNUSABLE, &spaced);
    vector.tampered("without a line", UNUSABLE, b"");
    // The expected result of a flipped bit is that of this build: almost always an unusable proof.
    let mut drawn = Drawn(23);
    for _ in 0..FLIPS {
        let at = usize::try_from(drawn.next()).unwrap() % file.len();
        let mut changed = file.clone();
        changed[at] ^= 1 << (drawn.next() % 8);
        vector.tampered(&format!("byte {at} changed"), "", &changed);
    }
}

/// An honest concentrated-liquidity state of a layout, at a tick and with these ticks.
fn range_state(of: Layout, at: i32, ticks: Vec<Tick>) -> PoolState {
    if of != Layout::UniswapV4 {
        return state(at, ticks);
    }
    let (price, liquidity) = (sqrt_ratio_at_tick(at).unwrap(), active(&ticks, at));
    ConcentratedV4::new(price, at, liquidity, FEES.0, FEES.1, SPACING, ticks).unwrap().into()
}

fn of_ranges(of: Layout, kept: Option<FeedLayout>) -> Vector {
    let id = (of == Layout::UniswapV4).then_some(ID);
    let fees = (of == Layout::UniswapV4).then_some(FEES);
    let words = ranged(of, id, 7, &ticks(), fees);
    let mut vector = Vector::new(of, kept, words, range_state(of, 7, ticks()));
    let oracle = if kept.is_some() { "ok" } else { "reading_unproven" };
    in_every_layout(&mut vector, oracle);
    let lied = format!("ok state_differs {oracle}");
    let mut change = |name: &str, codes: &str, at: i32, change: fn(&mut Vec<Tick>)| {
        let mut ticks = ticks();
        change(&mut ticks);
        vector.lie(name, codes, |parts| parts.state = range_state(of, at, ticks));
    };
    change("another price", &lied, 8, |_| {});
    change("a gross liquidity more", &lied, 7, |ticks| ticks[5].liquidity_gross += 1);
    change("a position larger", &lied, 7, |ticks| {
        ticks[5].liquidity_net += 1;
        ticks[5].liquidity_gross += 1;
        ticks[12].liquidity_net -= 1;
        ticks[12].liquidity_gross += 1;
    });
    change("a position hidden", &lied, 7, |ticks| {
        ticks.remove(12);
        ticks.remove(5);
    });
    let ok = format!("ok ok {oracle}");
    change("outside of what is proven", &ok, 7, |ticks| ticks[0].tick -= SPACING);
    // A dollar is less than a raw unit, which brings nothing: the sale reads what that unit reads.
    vector.lie("a price at which a raw unit brings nothing", &ok, |parts| {
        let reading = &mut parts.readings[1];
        if reading.decimals > 0 {
            reading.decimals = 0;
        } else {
            reading.answer = U256::from(10_u64.pow(18));
        }
    });
    of_a_range(&mut vector, oracle);
    vector
}

/// How far a proof reaches, and which ticks its line may name.
fn of_a_range(vector: &mut Vector, oracle: &str) {
    let (ok, beyond) = (format!("ok ok {oracle}"), format!("ok beyond_proven_range {oracle}"));
    let unsaid = String::new();
    let file = vector.proofs[0].clone();
    for (direction, size, codes) in [
        (Direction::ZeroForOne, "1000", &ok),
        (Direction::OneForZero, "0.01", &ok),
        // If both tokens are worth two dollars, this sale uses up all liquidity; otherwise the expected result is this
        // build's.
        (Direction::ZeroForOne, "1000000000", if oracle == "ok" { &unsaid } else { &beyond }),
        (Direction::OneForZero, "400000", &unsaid),
    ] {
        let asked = Asked { size: Some((direction, size)), blocks: Vec::new() };
        vector.case(&format!("a sale of {size}"), [0, 0], &file, &asked, codes);
    }
    for (low, high, codes) in [(0, 60, &beyond), (-6_000, 60, &beyond), (-887_272, 887_272, &ok)] {
        let ranges = ranges_of(&vector.honest.state, TickRange { low, high });
        let narrow = ProofSubject { ranges, ..vector.subject.clone() };
        let narrow = vector.chain.file(&narrow).unwrap();
        vector.proof(&format!("ticks {low} to {high}"), codes, &NOTHING, &narrow);
    }
    let none = TickRange { low: 485, high: 490 };
    let none =
        ProofSubject { ranges: ranges_of(&vector.honest.state, none), ..vector.subject.clone() };
    let none = vector.chain.file(&none).unwrap();
    let empty = with_line(&none, |line| drop(line.insert("ticks".to_owned(), json!([]))));
    vector.proof("a range without ticks", &beyond, &NOTHING, &none);
    let last = vector.proofs.len() - 1;
    vector.case("an empty list of ticks", [0, last], &empty, &NOTHING, UNUSABLE);
    let id = vector.subject.id;
    let mut line = |name: &str, field: &str, value: Value| {
        let changed = with_line(&file, |line| drop(line.insert(field.to_owned(), value)));
        vector.tampered(name, UNUSABLE, &changed);
    };
    line("no such range", "range", json!([60, 0]));
    line("beyond the lowest tick", "range", json!([-887_273, 6_000]));
    line("another spacing", "tick_spacing", json!(30));
    line("no spacing", "tick_spacing", json!(0));
    line("a tick that is not there", "ticks", json!([-480, -300, 0, 480]));
    line("ticks that do not ascend", "ticks", json!([480, -480]));
    line("a tick off the spacing", "ticks", json!([-480, 7]));
    if id.is_none() {
        line("an id where there is none", "id", json!(ID.to_string()));
    } else {
        vector.tampered("no id", UNUSABLE, &with_line(&file, |line| drop(line.remove("id"))));
        vector.lie("another protocol fee", &format!("ok state_differs {oracle}"), |parts| {
            let (price, liquidity) = (sqrt_ratio_at_tick(7).unwrap(), active(&ticks(), 7));
            let fees = [FEES.1[1], FEES.1[0]];
            let pool = ConcentratedV4::new(price, 7, liquidity, FEES.0, fees, SPACING, ticks());
            parts.state = pool.unwrap().into();
        });
    }
}

/// Feeds compared with other readings.
fn of_feeds(vector: &mut Vector) {
    let file = vector.proofs[0].clone();
    let differs = "ok ok reading_differs";
    let of = |change: fn(&mut crate::snapshot::RoundData)| {
        move |parts: &mut Parts| {
            if let OracleSource::Chainlink(round) = &mut parts.readings[1].source {
                change(round);
            }
        }
    };
    vector.lie("another answer", differs, |parts| parts.readings[1].answer += U256::from(1_u8));
    vector.lie("another round", differs, of(|round| round.round -= 1));
    vector.lie("another phase", differs, of(|round| round.round += 1 << 64));
    vector.lie("another time of a round", differs, of(|round| round.updated_at -= 1));
    let unproven = "ok ok reading_unproven";
    vector.lie("a feed that is not there", unproven, of(|round| round.feed = Address([0x99; 20])));
    vector.lie("a price that is configured", unproven, |parts| {
        parts.readings[1].source = OracleSource::Fixed;
    });
    vector.lie("a sequencer beside them", "ok ok ok", |parts| {
        let mut up = parts.readings[0].clone();
        (up.role, up.answer, up.decimals) = (OracleRole::SequencerUptime, U256::ZERO, 0);
        parts.readings.push(up);
    });
    let mut line = |name: &str, change: fn(&mut Value)| {
        let changed = with_line(&file, |line| change(&mut line["feeds"]));
        vector.tampered(name, UNUSABLE, &changed);
    };
    line("feeds in another order", |feeds| feeds.as_array_mut().unwrap().reverse());
    line("a feed less", |feeds| drop(feeds.as_array_mut().unwrap().pop()));
    line("a round that is not the newest", |feeds| feeds[0]["round"] = json!(70_000));
    line("an aggregator of another proxy", |feeds| {
        feeds[0]["aggregator"] = feeds[1]["aggregator"].clone();
    });
    for other in FeedLayout::ALL {
        if other != vector.subject.feeds[0].layout {
            let changed = with_line(&file, |line| line["feeds"][0]["layout"] = json!(other.code()));
            vector.tampered(&format!("read as {}", other.code()), UNUSABLE, &changed);
        }
    }
}

/// A layout without words for the state's kind, and no fact that names a layout.
fn unsupported() -> Vector {
    let of = Layout::UniswapV3;
    let words = ranged(of, None, 7, &ticks(), None);
    let mut vector = Vector::new(of, None, words, state(7, ticks()));
    vector.name = "unsupported_layout";
    let (price, liquidity) = (sqrt_ratio_at_tick(7).unwrap(), active(&ticks(), 7));
    let linked = ConcentratedLinked::new(price, 7, liquidity, 3_000, SPACING, ticks()).unwrap();
    vector.lie("ticks that are linked", "ok unsupported_layout reading_unproven", |parts| {
        (parts.state, parts.facts) = (linked.into(), Vec::new());
    });
    let last = vector.snapshots.len() - 1;
    let codes = "proof_unusable unsupported_layout proof_unusable";
    vector.case("ticks that are linked, and no proof", [last, 0], b"", &NOTHING, codes);
    vector.lie("a pair", "ok unsupported_layout reading_unproven", |parts| {
        let fee = FeeRate { numerator: 3, denominator: 1_000 };
        parts.state = ConstantProduct::new([5, 7], fee).unwrap().into();
        parts.facts.clear();
    });
    vector
}

const RESERVES: [u128; 2] = [5_000_000, 7_000_000];

fn pair([x, y]: [u128; 2], numerator: u64, denominator: u64) -> PoolState {
    ConstantProduct::new([x, y], FeeRate { numerator, denominator }).unwrap().into()
}

/// The word of a pair of Uniswap v2.
fn pair_words() -> Words {
    let [x, y] = RESERVES;
    let mut both = [9; 32];
    both[18..].copy_from_slice(&x.to_be_bytes()[2..]);
    both[4..18].copy_from_slice(&y.to_be_bytes()[2..]);
    Words::from([(layout::number(8), Word(both))])
}

/// A pair priced by feeds whose aggregators are older.
fn older_feeds() -> Vector {
    let kept = Some(FeedLayout::ChainlinkOcr1At42);
    let mut vector = Vector::new(Layout::UniswapV2, kept, pair_words(), pair(RESERVES, 3, 1_000));
    vector.name = "chainlink_ocr1_42";
    in_every_layout(&mut vector, "ok");
    of_feeds(&mut vector);
    vector
}

/// A pair whose contract runs the published code.
fn known_code() -> Vector {
    let (code_hash, state) = (&code::V2_PAIR, pair(RESERVES, 3, 1_000));
    let mut vector = Vector::running(code_hash, Layout::UniswapV2, None, pair_words(), state);
    vector.name = "known_code";
    let file = vector.proofs[0].clone();
    let block = vector.honest.block.hash;
    vector.tampered("honest", "ok ok reading_unproven ok", &file);
    let asked = Asked { size: None, blocks: vec![("one", Some(block))] };
    vector.case("one who has the block", [0, 0], &file, &asked, "ok ok reading_unproven ok ok");
    vector.lie("the same fee", "ok ok reading_unproven ok", |parts| {
        parts.state = pair(RESERVES, 30, 10_000);
    });
    vector.lie("another fee", "ok ok reading_unproven code_differs", |parts| {
        parts.state = pair(RESERVES, 25, 10_000);
    });
    vector.lie("no fact", "ok ok reading_unproven", |parts| parts.facts.clear());
    vector.lie("another block", UNUSABLE, |parts| parts.block.hash = BlockHash([1; 32]));
    vector
}

/// A pair with code of its own. The evidence names a factory that creates no such code.
fn other_code() -> Vector {
    let state = pair(RESERVES, 3, 1_000);
    let mut vector = Vector::new(Layout::UniswapV2, None, pair_words(), state);
    vector.name = "other_code";
    let factory = "0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f".parse().unwrap();
    vector.subject.chain = "eip155:1".parse().unwrap();
    vector.honest.chain.caip2 = vector.subject.chain;
    vector.honest.facts = vec![fact("uniswap_v2", factory)];
    let file = vector.chain.file(&vector.subject).unwrap();
    (vector.snapshots, vector.proofs) = (vec![vector.honest.snapshot()], vec![file.clone()]);
    vector.tampered("a factory of mainnet", "ok ok reading_unproven code_differs", &file);
    vector.lie("another factory", "ok ok reading_unproven", |parts| {
        parts.facts = vec![fact("uniswap_v2", MANAGER)];
    });
    vector
}

fn pairs() -> [Vector; 2] {
    let [x, y] = RESERVES;
    let (words, pair) = (pair_words(), |x, y| pair([x, y], 3, 1_000));
    let mut v2 = Vector::new(Layout::UniswapV2, Some(FeedLayout::ChainlinkOcr2), words, pair(x, y));
    in_every_layout(&mut v2, "ok");
    of_feeds(&mut v2);
    v2.lie("a reserve more", "ok state_differs ok", |parts| parts.state = pair(x, y + 1));
    v2.lie("reserves exchanged", "ok state_differs ok", |parts| parts.state = pair(y, x));
    let ten_thousandth = FeeRate { numerator: 30, denominator: Solidly::FEE_DENOMINATOR };
    let solidly = |x: u128, y: u128| {
        let pool = Solidly::new(false, [x, y].map(U256::from), [6, 6], ten_thousandth);
        PoolState::from(pool.unwrap())
    };
    let word = |number: u128| {
        let mut word = [0; 32];
        word[16..].copy_from_slice(&number.to_be_bytes());
        Word(word)
    };
    let words = Words::from([(layout::number(19), word(x)), (layout::number(20), word(y))]);
    let mut aerodrome = Vector::new(Layout::AerodromeV2, None, words, solidly(x, y));
    in_every_layout(&mut aerodrome, "reading_unproven");
    aerodrome.lie("a reserve more", "ok state_differs reading_unproven", |parts| {
        parts.state = solidly(x + 1, y);
    });
    let range = with_line(&aerodrome.proofs[0].clone(), |line| {
        line.insert("range".to_owned(), json!([0, 60]));
        line.insert("tick_spacing".to_owned(), json!(60));
    });
    aerodrome.tampered("a pair with a range", UNUSABLE, &range);
    [v2, aerodrome]
}

pub(super) fn all() -> Vec<Vector> {
    let mut all = vec![unsupported()];
    for (of, kept) in [
        (Layout::UniswapV3, Some(FeedLayout::ChainlinkOcr2)),
        (Layout::PancakeV3, Some(FeedLayout::ChainlinkFlux)),
        (Layout::Slipstream, Some(FeedLayout::ChainlinkOcr1)),
        (Layout::UniswapV4, None),
    ] {
        let mut vector = of_ranges(of, kept);
        if kept.is_some() {
            of_feeds(&mut vector);
        }
        all.push(vector);
    }
    all.extend(pairs());
    all.extend([older_feeds(), known_code(), other_code()]);
    all
}
