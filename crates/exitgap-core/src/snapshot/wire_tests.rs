use super::*;
use crate::ids::Word;
use crate::ids::{Address, BlockHash};
use crate::pools::sqrt_ratio_at_tick;
use crate::pools::{Concentrated, ConcentratedError, ConstantProduct, FeeRate, Tick};
use crate::snapshot::{ChainKind, Symbol};
use crate::wide::U256;
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
        Tick::new(-887_220, 5_000),
        Tick { tick: -60, liquidity_net: 0, liquidity_gross: 14 },
        Tick::new(887_220, -5_000),
    ];
    let price = sqrt_ratio_at_tick(100).unwrap();
    let observation = Observation::new(
        "anvil:0x00000000000000000000000000000000000000aa".parse().unwrap(),
        ChainTag { caip2: "eip155:31337".parse().unwrap(), kind: ChainKind::Preview },
        BlockRef { hash: crate::ids::BlockHash([3; 32]), number: 40, timestamp },
        [token(1, "WETH", 18), token(2, "US\u{202e}DC", 6)],
        PoolState::Concentrated(Concentrated::new(price, 100, 5_000, 3_000, 60, ticks).unwrap()),
        vec![
            feed(OracleRole::TokenUsd(0), 300_000_000_000, timestamp - 60),
            OracleReading {
                role: OracleRole::TokenUsd(1),
                answer: U256::ONE,
                decimals: 0,
                source: OracleSource::Fixed,
            },
        ],
        vec![Fact {
            name: "paused".parse().unwrap(),
            contract: Address([7; 20]),
            call: "0x5c975abb".to_owned(),
            words: vec![Word([0; 32])],
        }],
    );
    Snapshot::new(Slot::FIRST, observation.unwrap()).unwrap()
}

fn read(documents: &SnapshotDocuments) -> Result<Snapshot, SnapshotError> {
    Snapshot::from_canonical(&documents.snapshot, &documents.state)
}

#[test]
fn the_bytes_are_these_and_come_back_as_the_same_snapshot() {
    let documents = snapshot().to_canonical().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    assert_eq!(
        text(&documents.state),
        concat!(
            r#"{"fee_pips":3000,"liquidity":"5000","protocol":"concentrated_liquidity","#,
            r#""sqrt_price_x96":"79625275426524748796330556128","tick":100,"tick_spacing":60,"#,
            r#""ticks":[[-887220,"5000"],[-60,"0","14"],[887220,"-5000"]],"v":1}"#,
        )
    );
    let state = PoolState::hash_of(&documents.state);
    assert_eq!(
        text(&documents.snapshot).replace(&state.to_string(), "STATE"),
        concat!(
            r#"{"block":{"hash":"0x0303030303030303030303030303030303030303030303030303030303030303","#,
            r#""number":40,"timestamp":1787356788},"chain":{"caip2":"eip155:31337","kind":"preview"},"#,
            r#""contract":"anvil:0x00000000000000000000000000000000000000aa","#,
            r#""facts":[{"call":"0x5c975abb","contract":"0x0707070707070707070707070707070707070707","#,
            r#""name":"paused","words":["0x0000000000000000000000000000000000000000000000000000000000000000"]}],"#,
            r#""oracles":[{"answer":"300000000000","decimals":8,"feed":"0x0707070707070707070707070707070707070707","#,
            r#""heartbeat_s":3600,"role":"token_usd","round":"18446744073709551617","source":"chainlink","#,
            r#""token":0,"updated_at":1787356728},{"answer":"1","decimals":0,"role":"token_usd","source":"fixed","token":1}],"#,
            r#""sessions":[],"slot":5957856,"state":"STATE","#,
            r#""tokens":[{"address":"0x0000000000000000000000000000000000000001","decimals":18,"symbol":"WETH"},"#,
            r#"{"address":"0x0000000000000000000000000000000000000002","decimals":6,"symbol":"US?DC"}],"v":1}"#,
        )
    );
    assert_eq!(read(&documents), Ok(snapshot()));
    assert_eq!(Snapshot::state_named_in(&documents.snapshot), Some(state));
    let file = documents.to_file(snapshot().observation().pool()).unwrap();
    assert!(file.starts_with(br#"{"snapshot":{"block":"#));
    assert_eq!(SnapshotFile::from_json(&file), Ok(SnapshotFile { pool: None, documents }));
}

/// The refusal of the snapshot after one text in its state or in the snapshot is replaced. The snapshot names the
/// changed state.
fn refused(from: &str, to: &str) -> SnapshotError {
    let documents = snapshot().to_canonical().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (before, state) = (text(documents.snapshot), text(documents.state));
    let named = PoolState::hash_of(state.as_bytes()).to_string();
    let state = if before.contains(from) { state } else { state.replacen(from, to, 1) };
    let now = PoolState::hash_of(state.as_bytes()).to_string();
    let after = before.replacen(from, to, 1).replace(&named, &now);
    assert_ne!(after, before, "the change must happen");
    Snapshot::from_canonical(after.as_bytes(), state.as_bytes()).unwrap_err()
}

#[test]
fn any_other_spelling_or_content_is_refused_by_name() {
    use DocumentError as D;
    let shape = |error| matches!(error, E::Document(D::Shape(_)));
    let state_shape = |error| matches!(error, E::State(StateError::Document(D::Shape(_))));
    let not_canonical = refused("{\"block\"", "{ \"block\"");
    assert_eq!(not_canonical, E::Document(D::NotCanonical { at: 1 }));
    let version = Newer::Version { document: "a snapshot", found: 2 };
    assert_eq!(refused("\"v\":1", "\"v\":2").newer(), Some(version));
    assert!(shape(refused("\"v\":1", "\"v\":0")));
    assert!(shape(refused("\"v\":1", "\"v\":1,\"w\":1")));
    assert!(shape(refused("\"v\":1", "\"v\":1,\"v\":1")));
    assert!(matches!(refused("\"slot\":5957856", "\"slot\":5957855"), E::Slot(_)));
    for odd in ["", "-", "-5000", "-0", "0x1388", "5_000", "5000 ", "05000", "+5000"] {
        let found = refused("\"5000\"", &format!("\"{odd}\""));
        assert!(state_shape(found.clone()), "{odd:?}: {found}");
    }
    assert!(state_shape(refused("\"5000\"", "5000")));
    // A value that the canonical form omits.
    let redundant = refused("[-887220,\"5000\"]", "[-887220,\"5000\",\"5000\"]");
    assert!(matches!(redundant, E::State(StateError::Document(D::NotCanonical { .. }))));
    let gross = refused("[-60,\"0\",\"14\"]", "[-60,\"0\"]");
    let fault = ConcentratedError::GrossLiquidity { tick: -60 };
    assert_eq!(gross, E::State(StateError::Concentrated(fault)));
    let less = refused("[887220,\"-5000\"]", "[887220,\"-5000\",\"4999\"]");
    let fault = ConcentratedError::GrossLiquidity { tick: 887_220 };
    assert_eq!(less, E::State(StateError::Concentrated(fault)));
    assert!(matches!(
        refused("\"5000\"", "\"5001\""),
        E::State(StateError::Concentrated(ConcentratedError::LiquidityMismatch { .. }))
    ));
    assert!(matches!(
        refused("1787356788", "1787356801"),
        E::Observation(ObservationError::BlockAfterSlot { .. })
    ));
    assert!(matches!(
        refused("1787356788", "1787356200"),
        E::Observation(ObservationError::OracleTime { .. })
    ));
    // A live chain that is not a known network states its genesis, and then may have no fixed price.
    let without_genesis = refused("\"preview\"", "\"live\"");
    assert!(without_genesis.to_string().contains("genesis: required for eip155:31337"));
    let live = format!("\"genesis\":\"0x{}\",\"kind\":\"live\"", "07".repeat(32));
    let with_genesis = refused("\"kind\":\"preview\"", &live);
    assert!(
        matches!(with_genesis, E::Observation(ObservationError::FixedPriceOnLiveChain)),
        "{with_genesis}"
    );
    assert!(matches!(
        refused("\"300000000000\"", "\"0\""),
        E::Observation(ObservationError::Price { token: 0, .. })
    ));
    assert!(matches!(
        refused("\"decimals\":18", "\"decimals\":37"),
        E::Observation(ObservationError::TooManyDecimals { found: 37, .. })
    ));
    assert!(shape(refused("US?DC", "US\\u202eDC")));
    let no_token = ObservationError::Tokens("an oracle reading is not for one of its tokens");
    assert_eq!(refused("\"token\":1", "\"token\":2"), no_token.into());
    for (from, to) in [
        ("\"0x5c975abb\"", "\"0x5c975a\""),
        ("\"0x5c975abb\"", "\"0x5c975abbc\""),
        ("\"0x5c975abb\"", "\"0x5C975ABB\""),
    ] {
        assert_eq!(refused(from, to), E::Observation(ObservationError::Facts));
    }
    let documents = snapshot().to_canonical().unwrap();
    let other = PoolState::ConstantProduct(
        ConstantProduct::new([1, 2], FeeRate { numerator: 3, denominator: 1_000 }).unwrap(),
    );
    let other = Snapshot::from_canonical(&documents.snapshot, &other.to_canonical().unwrap());
    assert!(matches!(other, Err(E::OtherState { .. })));
    let (found, most) = (MAX_SNAPSHOT_BYTES + 1, MAX_SNAPSHOT_BYTES);
    assert_eq!(
        Snapshot::from_canonical(&vec![b' '; found], &documents.state),
        Err(E::Document(D::TooLarge { found, most }))
    );
}

#[test]
fn what_a_later_version_made_is_told_from_what_is_wrong() {
    let code = |text: &str| text.parse::<Code>().unwrap();
    let protocol = refused("concentrated_liquidity", "stableswap_v9");
    assert_eq!(protocol.newer(), Some(Newer::Protocol(code("stableswap_v9"))));
    let source = refused("\"source\":\"fixed\"", "\"source\":\"pyth\"");
    assert_eq!(source.newer(), Some(Newer::OracleSource(code("pyth"))));
    let table = Word([7; 32]);
    let session = format!(
        r#""sessions":[{{"calendar":"us_equities","note":"x","state":"open","table":"{table}","token":0}}]"#
    );
    let calendar = refused("\"sessions\":[]", &session);
    assert_eq!(calendar.newer(), Some(Newer::Calendar(code("us_equities"))));
    for (from, to) in [("\"token\":0", "\"token\":2"), ("\"note\":\"x\"", "\"note\":\"\"")] {
        assert_eq!(refused("\"sessions\":[]", &session.replace(from, to)).newer(), None);
    }
    // Known values are still checked.
    let documents = snapshot().to_canonical().unwrap();
    let text = String::from_utf8(documents.snapshot).unwrap().replace("\"fixed\"", "\"pyth\"");
    let late = text.replace("1787356788", "1787356801");
    let refused = Snapshot::from_canonical(late.as_bytes(), &documents.state).unwrap_err();
    assert!(matches!(refused, E::Observation(ObservationError::BlockAfterSlot { .. })));
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
    let reading = feed(OracleRole::TokenUsd(0), 1, 1_000);
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
    let (state, facts) = (observation.state().clone(), observation.facts().to_vec());
    let (chain, block) = (observation.chain(), observation.block());
    Snapshot::new(Slot::FIRST, Observation::new(pool, chain, block, tokens, state, oracles, facts)?)
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
        assert_eq!(read(&snapshot.to_canonical().unwrap()).as_ref(), Ok(&snapshot));
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
        observation.facts().to_vec(),
    );
    assert_eq!(again.as_ref(), Ok(observation));
    let documents = snapshot.to_canonical().unwrap();
    let text = core::str::from_utf8(&documents.snapshot).unwrap();
    let oracles = text.find("\"oracles\":[{").unwrap() + 11;
    let (start, end) = (oracles, oracles + text[oracles..].find("}],").unwrap() + 1);
    let (first, second) = text[start..end].split_once("},").unwrap();
    let swapped = format!("{}{second},{first}}}{}", &text[..start], &text[end..]);
    assert_eq!(
        Snapshot::from_canonical(swapped.as_bytes(), &documents.state),
        Err(ObservationError::OracleOrder.into())
    );
}

/// A live chain that is not known has to state its genesis hash; a known one may state only its own.
#[test]
fn a_configured_genesis_is_stated_and_read() {
    let read_of = |id: &str, tag: &str| {
        let tag = format!(r#"{{"caip2":"eip155:{id}",{tag}}}"#);
        let document = crate::json::parse_json(tag.as_bytes()).unwrap();
        let chain = ChainTag::from_json(&document)?;
        // A non-canonical spelling is refused by comparing the bytes.
        let same = chain.to_json().to_canonical().unwrap() == tag.into_bytes();
        if same { Ok(chain.kind) } else { Err("another spelling".to_owned()) }
    };
    let read = |tag: &str| read_of("31337", tag);
    let hash = format!("0x{}", "07".repeat(32));
    let configured = ChainKind::Configured(BlockHash([7; 32]));
    assert_eq!(read(&format!(r#""genesis":"{hash}","kind":"live""#)), Ok(configured));
    for id in ["1", "10", "8453", "42161"] {
        assert_eq!(read_of(id, r#""kind":"live""#), Ok(ChainKind::Live));
        let error = read_of(id, &format!(r#""genesis":"{hash}","kind":"live""#)).unwrap_err();
        assert!(error.starts_with("genesis: not that of eip155:"), "{error}");
    }
    let own = known_genesis(Caip2(1)).unwrap();
    let stated = read_of("1", &format!(r#""genesis":"{own}","kind":"live""#));
    assert_eq!(stated, Ok(ChainKind::Configured(own)));
    for id in ["31337", "11", "8454", "18446744073709551615"] {
        let error = read_of(id, r#""kind":"live""#).unwrap_err();
        assert!(error.starts_with("genesis: required for eip155:"), "{error}");
    }
    assert_eq!(read(r#""kind":"preview""#), Ok(ChainKind::Preview));
    assert!(configured.is_live() && !ChainKind::Preview.is_live());
    for (refused, why) in [
        (
            format!(r#""genesis":"{hash}","kind":"preview""#),
            "genesis: not allowed for a preview chain",
        ),
        (r#""genesis":null,"kind":"live""#.to_owned(), "genesis: required for"),
        (r#""genesis":null,"kind":"preview""#.to_owned(), "another spelling"),
        (r#""genesis":"0x07","kind":"live""#.to_owned(), "genesis: "),
        (r#""kind":"configured""#.to_owned(), "kind: must be live or preview"),
    ] {
        let found = read(&refused).unwrap_err();
        assert!(found.starts_with(why), "{refused}: {found}");
    }
}
