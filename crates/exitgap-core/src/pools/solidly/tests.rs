use serde_json::Value;

use super::*;
use crate::pools::vectors::{Tally, amounts, small, tally};

const STABLE: &[u8] = include_bytes!("../../../../../tests/vectors/pools/aerodrome_stable.json.zz");
const VOLATILE: &[u8] =
    include_bytes!("../../../../../tests/vectors/pools/aerodrome_volatile.json.zz");

fn two<T: std::fmt::Debug>(list: Vec<T>) -> [T; 2] {
    list.try_into().unwrap()
}

fn pool_of(pool: &Value) -> Option<PoolState> {
    let state = &pool["state"];
    let decimals = state["decimals"].as_array().unwrap().iter();
    let decimals = decimals.map(|decimals| u8::try_from(small(decimals)).unwrap());
    let [numerator, denominator] =
        ["fee_numerator", "fee_denominator"].map(|name| small(&state[name]));
    let (stable, reserves) = (state["stable"].as_bool().unwrap(), two(amounts(&state["reserves"])));
    let fee = FeeRate { numerator, denominator };
    Solidly::new(stable, reserves, two(decimals.collect()), fee).ok().map(PoolState::from)
}

/// The contract multiplies what it keeps by `10^18`; whoever sells more than that takes is refused.
#[test]
fn no_more_is_taken_than_its_fee_can_be_shared_out() {
    let fee = FeeRate { numerator: 30, denominator: 10_000 };
    let reserves = [U256::from(1_000_000_u64); 2];
    let pool = PoolState::from(Solidly::new(false, reserves, [18, 18], fee).unwrap());
    let (most, _) = pool.curve(Direction::OneForZero).most();
    let shared = |amount: U256| {
        let kept = crate::wide::mul_div(amount, U256::from(30), U256::from(10_000)).unwrap();
        crate::wide::checked_times(kept, U256::from(1_000_000_000_000_000_000_u64))
    };
    assert!(shared(most).is_some() && shared(most + U256::ONE).is_none(), "{most}");
}

fn left(state: &PoolState, recorded: &Value) -> bool {
    Solidly::of(state).unwrap().reserves() == two(amounts(&recorded["reserves"]))
}

#[test]
fn stable_pools_fill_as_their_contract_did() {
    let expected = Tally { cases: 1_888, refused: 534, after: 24 };
    assert_eq!(tally(STABLE, pool_of, left), expected);
}

#[test]
fn volatile_pools_fill_as_their_contract_did() {
    let expected = Tally { cases: 944, refused: 173, after: 12 };
    assert_eq!(tally(VOLATILE, pool_of, left), expected);
}
