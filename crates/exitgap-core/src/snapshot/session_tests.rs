use super::*;
use crate::Newer;
use crate::hours::{Hours, MarketState, TradingDay, XNYS_1};
use crate::ids::{Address, BlockHash};
use crate::pools::{ConstantProduct, Direction, FeeRate, PoolState};
use crate::series::Slot;
use crate::snapshot::{
    BlockRef, ChainKind, ChainTag, RoundData, Snapshot, SnapshotDocuments, SnapshotError, Symbol,
    Token,
};
use crate::wide::U256;

const HEARTBEAT_S: u32 = 3_600;

fn calendar(hours: Hours) -> Calendar {
    Calendar::for_exchange("XNYS", hours).unwrap()
}

/// A trading day by its date, in days since 1970-01-01.
fn day(date: u64) -> TradingDay {
    XNYS_1.days().find(|row| row.day == date).unwrap()
}

/// A tokenized stock sold for a dollar token, at a block with this timestamp, whose feed answered `age_s` earlier.
fn observation(timestamp: u64, age_s: u64, sessions: Vec<TokenSession>) -> Observation {
    let token = |last: u8| Token {
        address: Address([last; 20]),
        decimals: 6,
        symbol: Symbol::clean("TOK"),
    };
    let feed = |index: u8, age_s: u64| OracleReading {
        role: OracleRole::TokenUsd(index),
        answer: U256::from(100_u64),
        decimals: 2,
        source: OracleSource::Chainlink(RoundData {
            feed: Address([7; 20]),
            round: 1,
            updated_at: timestamp - age_s,
            heartbeat_s: HEARTBEAT_S,
        }),
    };
    let fee = FeeRate { numerator: 3, denominator: 1_000 };
    let state = PoolState::ConstantProduct(ConstantProduct::new([9_000_000; 2], fee).unwrap());
    let observed = Observation::new(
        "anvil:0x00000000000000000000000000000000000000aa".parse().unwrap(),
        ChainTag { caip2: "eip155:31337".parse().unwrap(), kind: ChainKind::Preview },
        BlockRef { hash: BlockHash([3; 32]), number: 40, timestamp },
        [token(1), token(2)],
        state,
        vec![feed(0, age_s), feed(1, 0)],
        vec![],
    );
    observed.unwrap().with_sessions(sessions).unwrap()
}

fn share(hours: Hours) -> Vec<TokenSession> {
    vec![TokenSession { token: 0, calendar: calendar(hours) }]
}

fn snapshot(timestamp: u64, sessions: Vec<TokenSession>) -> Snapshot {
    let slot = Slot::at_or_before(timestamp + 299).unwrap();
    Snapshot::new(slot, observation(timestamp, 0, sessions)).unwrap()
}

/// Reads the snapshot after replacing a text in it.
fn changed(snapshot: &Snapshot, from: &str, to: &str) -> Result<Snapshot, SnapshotError> {
    let SnapshotDocuments { snapshot, state } = snapshot.to_canonical().unwrap();
    let before = String::from_utf8(snapshot).unwrap();
    let after = before.replacen(from, to, 1);
    assert_ne!(after, before, "the change must happen");
    Snapshot::from_canonical(after.as_bytes(), &state)
}

#[test]
fn a_session_follows_from_the_blocks_timestamp_to_the_second() {
    // A summer day, a winter day, and a day with an early close.
    for date in [20_689, 20_759, 20_784] {
        let row = day(date);
        for (at, state, regular, extended, around) in [
            (row.pre_open - 1, MarketState::Overnight, false, false, true),
            (row.pre_open, MarketState::Pre, false, true, true),
            (row.open - 1, MarketState::Pre, false, true, true),
            (row.open, MarketState::Regular, true, true, true),
            (row.open + 1, MarketState::Regular, true, true, true),
            (row.close - 1, MarketState::Regular, true, true, true),
            (row.close, MarketState::After, false, true, true),
            (row.close + 1, MarketState::After, false, true, true),
        ] {
            let note = format!("XNYS@1/{}", state.as_str());
            for (hours, market_open) in [
                (Hours::Regular, regular),
                (Hours::Extended, extended),
                (Hours::TwentyFourFive, around),
                (Hours::Continuous, true),
            ] {
                let snapshot = snapshot(at, share(hours));
                let found = snapshot.observation().session();
                assert_eq!(found, Session { market_open, note: note.clone() }, "{hours:?} {at}");
                let SnapshotDocuments { snapshot: bytes, state } = snapshot.to_canonical().unwrap();
                assert_eq!(Snapshot::from_canonical(&bytes, &state).as_ref(), Ok(&snapshot));
            }
        }
    }
}

#[test]
fn a_pool_is_open_while_both_its_tokens_are() {
    let row = day(20_689);
    let both = vec![
        TokenSession { token: 0, calendar: calendar(Hours::Regular) },
        TokenSession { token: 1, calendar: calendar(Hours::Extended) },
    ];
    for (at, market_open, note) in [
        (row.open - 1, false, "XNYS@1/pre, XNYS@1/pre"),
        (row.open, true, "XNYS@1/regular, XNYS@1/regular"),
        (row.close, false, "XNYS@1/after, XNYS@1/after"),
    ] {
        let session = observation(at, 0, both.clone()).session();
        assert_eq!((session.market_open, session.note.as_str()), (market_open, note));
    }
    let none = observation(row.open, 0, Vec::new()).session();
    assert_eq!(none, Session { market_open: true, note: "continuous".to_owned() });
    let twice = vec![both[0], both[0]];
    let of_none = vec![TokenSession { token: 2, ..both[0] }];
    for wrong in [twice, of_none, vec![both[1], both[0]]] {
        let observed = observation(row.open, 0, Vec::new());
        assert_eq!(observed.with_sessions(wrong), Err(ObservationError::Sessions));
    }
}

#[test]
fn what_contradicts_the_table_is_wrong_and_what_is_of_another_is_newer() {
    let row = day(20_689);
    let right = snapshot(row.open, share(Hours::Regular));
    for (from, to) in [
        ("\"state\":\"regular\"", "\"state\":\"pre\""),
        ("XNYS@1/regular", "XNYS@1/pre"),
        ("XNYS@1/regular", "XNYS@2/regular"),
    ] {
        let refused = changed(&right, from, to).unwrap_err();
        let SnapshotError::Observation(ObservationError::SessionContradicts {
            token: 0,
            timestamp,
            expected,
            found,
        }) = refused
        else {
            panic!("{from}: {refused:?}")
        };
        assert_eq!(timestamp, row.open);
        assert!(from.contains(&expected) && to.contains(&found), "{expected} {found}");
    }
    // One second earlier, the same session is wrong.
    let (now, before) = (row.open.to_string(), (row.open - 1).to_string());
    let stamp = |at: &str| format!("\"timestamp\":{at}");
    let early = changed(&right, &stamp(&now), &stamp(&before)).unwrap_err();
    assert!(matches!(early, SnapshotError::Observation(_)), "{early:?}");

    let calendar = changed(&right, "\"xnys\"", "\"xmoon\"").unwrap_err().newer();
    assert_eq!(calendar, Some(Newer::Calendar("xmoon".parse().unwrap())));
    let table = changed(&right, "0x3a3f0fe7", "0x4a3f0fe7").unwrap_err().newer().unwrap();
    assert!(matches!(table, Newer::Table(_)));
    assert_eq!(table.code(), "unsupported_table");
}

#[test]
fn past_the_end_of_the_table_a_market_is_unknown_and_closed() {
    let end = XNYS_1.ends_at();
    for (at, note) in [(end - 1, "XNYS@1/after"), (end, "XNYS@1/unknown")] {
        let session = snapshot(at, share(Hours::Regular)).observation().session();
        assert_eq!(session, Session { market_open: false, note: note.to_owned() });
    }
}

#[test]
fn a_reading_is_held_over_a_close_where_it_was_fresh_at_the_closing() {
    let friday = day(20_693);
    let monday = day(20_696);
    let heartbeat = u64::from(HEARTBEAT_S);
    let state = |at: u64, updated_at: u64, sessions: Vec<TokenSession>| {
        let observed = observation(at, at - updated_at, sessions);
        assert_eq!(observed.oracle_stale(), observed.oracle_state() != OracleState::Fresh);
        observed.oracle_state()
    };
    let regular = || share(Hours::Regular);
    let last = friday.close - heartbeat;
    assert_eq!(state(friday.close, last, regular()), OracleState::Fresh);
    assert_eq!(state(friday.close + 1, last, regular()), OracleState::HeldOverClose);
    assert_eq!(state(friday.close + 1, last - 1, regular()), OracleState::Stale);
    assert_eq!(state(monday.open - 1, last, regular()), OracleState::HeldOverClose);
    // Once the market is open, a new round is due.
    assert_eq!(state(monday.open, last, regular()), OracleState::Stale);
    // Without a calendar, nothing is held over a close.
    assert_eq!(state(monday.open - 1, last, Vec::new()), OracleState::Stale);
    assert_eq!(state(monday.open - 1, last, share(Hours::Continuous)), OracleState::Stale);
    // The other token's market does not matter for this feed.
    let other = vec![TokenSession { token: 1, calendar: calendar(Hours::Regular) }];
    assert_eq!(state(monday.open - 1, last, other), OracleState::Stale);
    // Outside the table, nothing is held over a close.
    let end = XNYS_1.ends_at();
    assert_eq!(state(end + heartbeat, end - 1, regular()), OracleState::Stale);
}

#[test]
fn a_reopening_is_measured_once_a_feed_has_a_round() {
    use crate::exit::{Exit, ReopeningStatus, check_reopening, reopening_gap};
    use crate::units::{Percent, SizeUsd};
    let monday = day(20_696);
    let closed = observation(monday.open - 300, 300, share(Hours::Regular));
    for (age_s, expected) in [(301, ReopeningStatus::NotYet), (300, ReopeningStatus::Yes)] {
        let open = observation(monday.open + 300, age_s, share(Hours::Regular));
        assert_eq!(check_reopening(&open, monday.open), expected);
    }
    let around = observation(monday.open + 300, 300, Vec::new());
    assert_eq!(check_reopening(&around, monday.open), ReopeningStatus::Never);
    // The oracle price is the same before and after, so the gap is that of the closed slot.
    let open = observation(monday.open + 300, 0, share(Hours::Regular));
    let size = SizeUsd::from_micros(10_000).unwrap();
    let own = Exit::estimate_once(&closed, Direction::ZeroForOne, size).unwrap().gap;
    let gap = reopening_gap(&closed, &open, Direction::ZeroForOne, size).unwrap();
    assert_eq!(gap, Some(own));
    assert!(own > Percent(0));
}
