//! Snapshots of contracts with more than two tokens.

use super::*;
use crate::ids::{Address, BlockHash};
use crate::pools::{DRule, Direction, StableSwap, StableSwapParts};
use crate::snapshot::Symbol;
use crate::units::UsdPrice;
use crate::wide::U256;
use ObservationError as O;

const CONTRACT: &str = "anvil:0x00000000000000000000000000000000000000aa";

fn token(last: u8, decimals: u8) -> Token {
    Token { address: Address([last; 20]), decimals, symbol: Symbol::clean("USD") }
}

fn reading(token: u8, cents: u64) -> OracleReading {
    let role = OracleRole::TokenUsd(token);
    let answer = U256::from(cents);
    OracleReading { role, answer, decimals: 2, source: OracleSource::Fixed }
}

/// Three dollar tokens. The contract lists the one with the lowest address last.
fn tokens() -> Vec<Token> {
    vec![token(5, 18), token(7, 6), token(3, 6)]
}

fn state() -> PoolState {
    let whole = |decimals: u32| U256::from(10_u128.pow(6 + decimals));
    let parts = StableSwapParts {
        balances: vec![whole(18), whole(6), whole(6)],
        rates: [18, 30, 30].map(|power: u32| U256::from(10_u128.pow(power))).to_vec(),
        amp: 2_000,
        a_precision: 1,
        d_rule: DRule::EachN,
        less_one: true,
        fee: 3_000_000,
        admin_fee: 0,
        ng: None,
    };
    StableSwap::new(parts).unwrap().into()
}

fn observed(
    pool: &str,
    tokens: Vec<Token>,
    oracles: Vec<OracleReading>,
) -> Result<Snapshot, ObservationError> {
    let block =
        BlockRef { hash: BlockHash([3; 32]), number: 40, timestamp: Slot::FIRST.unix_s() - 12 };
    let chain = ChainTag { caip2: "eip155:31337".parse().unwrap(), kind: ChainKind::Preview };
    let pool = pool.parse().unwrap();
    Snapshot::new(
        Slot::FIRST,
        Observation::new(pool, chain, block, tokens, state(), oracles, vec![])?,
    )
}

fn snapshot(pair: &str) -> Result<Snapshot, ObservationError> {
    let oracles = vec![reading(2, 101), reading(0, 99), reading(1, 100)];
    observed(&format!("{CONTRACT}{pair}"), tokens(), oracles)
}

#[test]
fn every_pair_of_a_contract_has_the_same_bytes() {
    let documents = snapshot(".0-1").unwrap().to_canonical().unwrap();
    for (pair, prices) in [(".0-1", [99_u64, 100]), (".0-2", [99, 101]), (".1-2", [100, 101])] {
        let snapshot = snapshot(pair).unwrap();
        assert_eq!(snapshot.to_canonical().unwrap(), documents, "{pair}");
        let pool = format!("{CONTRACT}{pair}").parse().unwrap();
        let read = Snapshot::of_pool(&pool, &documents.snapshot, &documents.state);
        assert_eq!(read.as_ref(), Ok(&snapshot), "{pair}");
        let observation = snapshot.observation();
        let expected = prices.map(|cents| UsdPrice::product(&[(U256::from(cents), 2)]).unwrap());
        assert_eq!(observation.prices(), &expected, "{pair}");
        let roles: Vec<_> = observation.pool_oracles().into_iter().map(|(role, _)| role).collect();
        assert_eq!(roles, [OracleRole::TokenUsd(0), OracleRole::TokenUsd(1)], "{pair}");
        assert_eq!(observation.contract_tokens().len(), 3);
    }
    // Each pair sells its own tokens: 18 decimals for 6 decimals, and 6 for 6.
    let sold = |pair: &str, amount: u64| {
        let snapshot = snapshot(pair).unwrap();
        let fill = snapshot
            .observation()
            .state()
            .fill_once(Direction::ZeroForOne, U256::from(amount))
            .unwrap();
        fill.amount_out
    };
    assert_eq!(sold(".0-2", 1_000_000_000_000_000_000), U256::from(999_699_u32));
    assert_eq!(sold(".1-2", 1_000_000), U256::from(999_699_u32));
}

#[test]
fn a_pool_of_three_tokens_is_named_with_two_of_them() {
    let documents = snapshot(".0-1").unwrap().to_canonical().unwrap();
    let alone = Snapshot::from_canonical(&documents.snapshot, &documents.state);
    let pool = |name: &str| name.parse::<PoolId>().unwrap();
    let unnamed = O::Pool { pool: pool(CONTRACT), tokens: 3 };
    assert_eq!(alone, Err(unnamed.clone().into()));
    assert!(unnamed.to_string().ends_with("two of the 3 tokens of its contract, as in `….0-1`"));
    let of = |name: &str| {
        Snapshot::of_pool(&pool(name), &documents.snapshot, &documents.state).unwrap_err()
    };
    let beyond = format!("{CONTRACT}.1-3");
    assert_eq!(of(&beyond), O::Pool { pool: pool(&beyond), tokens: 3 }.into());
    let file = documents.to_file(&pool(&format!("{CONTRACT}.1-2"))).unwrap();
    let read = SnapshotFile::from_json(&file).unwrap().open();
    assert_eq!(read, Ok(snapshot(".1-2").unwrap()), "a file says whose it is");
    let other = of("anvil:0x00000000000000000000000000000000000000ab.0-1");
    assert!(matches!(other, SnapshotError::OtherContract { .. }), "{other}");
}

#[test]
fn what_cannot_be_such_a_contract_is_refused() {
    let all = || vec![reading(0, 99), reading(1, 100), reading(2, 101)];
    let first = format!("{CONTRACT}.0-1");
    let two = observed(&first, tokens()[..2].to_vec(), all()[..2].to_vec());
    assert_eq!(two, Err(O::Tokens("its state has a different number of tokens")));
    let mut twice = tokens();
    twice[2] = twice[0].clone();
    assert!(matches!(observed(&first, twice, all()), Err(O::TokensOutOfOrder { .. })));
    let fourth = observed(&first, tokens(), vec![reading(0, 1), reading(1, 1), reading(3, 1)]);
    assert_eq!(fourth, Err(O::Tokens("an oracle reading is not for one of its tokens")));
    // Readings that no figure of the pair uses may be absent.
    let without = || vec![reading(0, 99), reading(1, 100)];
    assert!(observed(&first, tokens(), without()).is_ok());
    let unpriced = observed(&format!("{CONTRACT}.0-2"), tokens(), without());
    assert!(matches!(unpriced, Err(O::Price { token: 2, .. })), "{unpriced:?}");
}

#[test]
fn only_a_feed_of_the_pairs_own_tokens_makes_it_stale() {
    let feed = |token: u8, updated_at: u64| OracleReading {
        source: OracleSource::Chainlink(RoundData {
            feed: Address([token + 1; 20]),
            round: 1,
            updated_at,
            heartbeat_s: 3_600,
        }),
        ..reading(token, 100)
    };
    let now = Slot::FIRST.unix_s() - 12;
    let oracles = || vec![feed(0, now), feed(1, now), feed(2, now - 3_601)];
    let stale = |pair: &str| {
        let snapshot = observed(&format!("{CONTRACT}{pair}"), tokens(), oracles()).unwrap();
        snapshot.observation().oracle_stale()
    };
    assert_eq!([stale(".0-1"), stale(".0-2"), stale(".1-2")], [false, true, true]);
}
