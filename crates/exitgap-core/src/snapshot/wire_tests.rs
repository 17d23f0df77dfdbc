use super::*;
use crate::pools::sqrt_ratio_at_tick;
use crate::snapshot::{ChainKind, Symbol};
use SnapshotError as E;

fn token(last: u8, symbol: &str, decimals: u8) -> Token {
    let mut address = [0; 20];
    address[19] = last;
    Token { address: Address(address), decimals, symbol: Symbol::clean(symbol) }
}

fn feed(role: OracleRole, answer: u64, updated_at: u64) -> OracleReading {
    OracleReading {
        role,
        answer: U256::from(answer),
        decimals: 8,
        source: OracleSource::Chainlink(RoundData {
            feed: Address([7; 20]),
            round: 18_446_744_073_709_551_617,
            updated_at,
            heartbeat_s: 3_600,
        }),
    }
}

fn snapshot() -> Snapshot {
    let timestamp = Slot::FIRST.unix_s() - 12;
    let ticks = vec![
        TickNet { tick: -887_220, liquidity_net: 5_000 },
        TickNet { tick: 887_220, liquidity_net: -5_000 },
    ];
    let price = sqrt_ratio_at_tick(100).unwrap();
    let observation = Observation::new(
        "anvil:0x00000000000000000000000000000000000000aa".parse().unwrap(),
        ChainTag { caip2: "eip155:31337".parse().unwrap(), kind: ChainKind::Preview },
        BlockRef { hash: crate::ids::BlockHash([3; 32]), number: 40, timestamp },
        [token(1, "WETH", 18), token(2, "US\u{202e}DC", 6)],
        PoolState::Concentrated(Concentrated::new(price, 100, 5_000, 3_000, 60, ticks).unwrap()),
        vec![
            feed(OracleRole::Token0Usd, 300_000_000_000, timestamp - 60),
            OracleReading {
                role: OracleRole::Token1Usd,
                answer: U256::ONE,
                decimals: 0,
                source: OracleSource::Fixed,
            },
        ],
        Session::continuous(),
    );
    Snapshot::new(Slot::FIRST, observation.unwrap()).unwrap()
}

#[test]
fn the_bytes_are_these_and_come_back_as_the_same_snapshot() {
    let bytes = snapshot().to_canonical().unwrap();
    assert_eq!(
        core::str::from_utf8(&bytes).unwrap(),
        concat!(
            r#"{"block":{"hash":"0x0303030303030303030303030303030303030303030303030303030303030303","#,
            r#""number":40,"timestamp":1787356788},"chain":{"caip2":"eip155:31337","kind":"preview"},"#,
            r#""oracles":[{"answer":"300000000000","decimals":8,"feed":"0x0707070707070707070707070707070707070707","#,
            r#""heartbeat_s":3600,"role":"token0_usd","round":"18446744073709551617","source":"chainlink","#,
            r#""updated_at":1787356728},{"answer":"1","decimals":0,"role":"token1_usd","source":"fixed"}],"#,
            r#""pool":"anvil:0x00000000000000000000000000000000000000aa","#,
            r#""session":{"market_open":true,"note":"continuous"},"slot":5957856,"#,
            r#""state":{"fee_pips":3000,"liquidity":"5000","protocol":"concentrated_liquidity","#,
            r#""sqrt_price_x96":"79625275426524748796330556128","tick":100,"tick_spacing":60,"#,
            r#""ticks":[[-887220,"5000"],[887220,"-5000"]]},"#,
            r#""tokens":[{"address":"0x0000000000000000000000000000000000000001","decimals":18,"symbol":"WETH"},"#,
            r#"{"address":"0x0000000000000000000000000000000000000002","decimals":6,"symbol":"US?DC"}],"v":1}"#,
        )
    );
    assert_eq!(Snapshot::from_canonical(&bytes), Ok(snapshot()));
}

#[test]
fn any_other_spelling_or_content_is_refused_by_name() {
    let text = String::from_utf8(snapshot().to_canonical().unwrap()).unwrap();
    let read = |from: &str, to: &str| {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "the change must happen");
        Snapshot::from_canonical(changed.as_bytes()).unwrap_err()
    };
    assert!(matches!(read("{\"block\"", "{ \"block\""), E::NotCanonical { at: 1 }));
    assert!(matches!(read("\"v\":1", "\"v\":2"), E::Version { found: 2 }));
    assert!(matches!(read("\"v\":1", "\"v\":1,\"w\":1"), E::Shape(_)));
    assert!(matches!(read("\"v\":1", "\"v\":1,\"v\":1"), E::Shape(_)));
    assert!(matches!(read("\"slot\":5957856", "\"slot\":5957855"), E::Slot(_)));
    assert!(matches!(read("\"5000\"", "\"05000\""), E::Number { .. }));
    assert!(matches!(read("\"5000\"", "\"+5000\""), E::Number { .. }));
    for odd in ["", "-", "-5000", "-0", "0x1388", "5_000", "5000 "] {
        let found = read("\"5000\"", &format!("\"{odd}\""));
        assert!(matches!(found, E::Number { .. }), "{odd:?}: {found}");
    }
    assert!(matches!(read("\"5000\"", "5000"), E::Shape(_)));
    assert!(matches!(
        read("\"5000\"", "\"5001\""),
        E::Concentrated(ConcentratedError::LiquidityMismatch { .. })
    ));
    assert!(matches!(
        read("1787356788", "1787356801"),
        E::Observation(ObservationError::BlockAfterSlot { .. })
    ));
    assert!(matches!(
        read("1787356788", "1787356199"),
        E::Observation(ObservationError::OracleTime { .. })
    ));
    assert!(matches!(
        read("\"preview\"", "\"live\""),
        E::Observation(ObservationError::FixedPriceOnLiveChain)
    ));
    assert!(matches!(
        read("\"300000000000\"", "\"0\""),
        E::Observation(ObservationError::Price { token: 0, .. })
    ));
    assert!(matches!(
        read("\"decimals\":18", "\"decimals\":37"),
        E::Observation(ObservationError::TooManyDecimals { found: 37, .. })
    ));
    assert!(matches!(read("US?DC", "US\\u202eDC"), E::Shape(_)));
    assert_eq!(
        Snapshot::from_canonical(&vec![b' '; MAX_SNAPSHOT_BYTES + 1]),
        Err(E::TooLarge { found: MAX_SNAPSHOT_BYTES + 1 })
    );
}

#[test]
fn a_stalled_chain_and_a_stale_oracle_are_told_apart() {
    let fresh = snapshot();
    assert!(!fresh.observation().oracle_stale());
    let later = |seconds: u64| {
        let slot = Slot::at_or_before(Slot::FIRST.unix_s() + seconds).unwrap();
        Snapshot::new(slot, fresh.observation().clone())
    };
    assert!(later(300).is_ok());
    assert_eq!(
        later(600),
        Err(ObservationError::ChainStalled {
            number: 40,
            age_s: 612,
            slot: Slot::new(5_957_858).unwrap()
        })
    );
    let reading = feed(OracleRole::Token0Usd, 1, 1_000);
    assert!(!reading.is_stale(4_600));
    assert!(reading.is_stale(4_601));
}

/// The snapshot with one more reading, if it is accepted.
fn with_reading(reading: OracleReading) -> Result<Snapshot, ObservationError> {
    let snapshot = snapshot();
    let observation = snapshot.observation();
    let mut oracles = observation.oracles().to_vec();
    oracles.push(reading);
    let (pool, tokens) = (observation.pool().clone(), observation.tokens().clone());
    let (state, session) = (observation.state().clone(), observation.session().clone());
    let (chain, block) = (observation.chain(), observation.block());
    Snapshot::new(
        Slot::FIRST,
        Observation::new(pool, chain, block, tokens, state, oracles, session)?,
    )
}

#[test]
fn a_sequencer_that_is_down_or_was_just_now_is_said_like_a_stale_oracle() {
    let block = snapshot().observation().block().timestamp;
    let says = |answer: u64, since: u64| OracleReading {
        decimals: 0,
        ..feed(OracleRole::SequencerUptime, answer, since)
    };
    for (answer, since, stale) in [
        (0, block - 3_601, false),
        (0, block - 3_600, true),
        (0, block, true),
        (1, block - 3_601, true),
        (1, block - 5, true),
    ] {
        let snapshot = with_reading(says(answer, since)).unwrap();
        let observation = snapshot.observation();
        assert_eq!(observation.oracle_stale(), stale, "{answer} since {since}");
        assert_eq!(observation.prices(), self::snapshot().observation().prices());
        let bytes = snapshot.to_canonical().unwrap();
        assert_eq!(Snapshot::from_canonical(&bytes).as_ref(), Ok(&snapshot));
    }
    let fixed = OracleReading { source: OracleSource::Fixed, ..says(0, 1) };
    let with_decimals = feed(OracleRole::SequencerUptime, 0, 1);
    for wrong in [says(2, block), fixed, with_decimals] {
        assert_eq!(with_reading(wrong), Err(ObservationError::SequencerUptime));
    }
    assert!(matches!(with_reading(says(0, 0)), Err(ObservationError::OracleTime { .. })));
}

#[test]
fn one_state_has_one_hash_whatever_order_its_oracles_are_configured_in() {
    let snapshot = snapshot();
    let observation = snapshot.observation();
    let mut oracles = observation.oracles().to_vec();
    oracles.reverse();
    let again = Observation::new(
        observation.pool().clone(),
        observation.chain(),
        observation.block(),
        observation.tokens().clone(),
        observation.state().clone(),
        oracles,
        observation.session().clone(),
    );
    assert_eq!(again.as_ref(), Ok(observation));
    let bytes = snapshot.to_canonical().unwrap();
    let text = core::str::from_utf8(&bytes).unwrap();
    let (start, end) = (text.find("[{").unwrap() + 1, text.find("}],").unwrap() + 1);
    let (first, second) = text[start..end].split_once("},").unwrap();
    let swapped = format!("{}{second},{first}}}{}", &text[..start], &text[end..]);
    assert!(matches!(
        Snapshot::from_canonical(swapped.as_bytes()),
        Err(SnapshotError::NotCanonical { .. })
    ));
}
