//! Fills held to what the contracts of other venues paid: `tests/vectors/pools/`, whose README says
//! what the fields are.

use serde_json::{Value, json};

use super::{Direction, FillError, PoolState};
use crate::wide::U256;

const PANCAKE_V3: &str = include_str!("../../../../tests/vectors/pools/pancake_v3.json");
const SLIPSTREAM: &str = include_str!("../../../../tests/vectors/pools/slipstream.json");

fn amount(value: &Value) -> U256 {
    U256::from_str_radix(value.as_str().unwrap(), 10).unwrap()
}

/// The state as its body spells it, read as a stored one is.
fn state_of(fields: &Value) -> PoolState {
    let mut body = fields.clone();
    body["v"] = json!(1);
    body["protocol"] = json!("concentrated_liquidity");
    let state = PoolState::from_canonical(body.to_string().as_bytes()).unwrap();
    assert_eq!(state.to_canonical().unwrap(), body.to_string().as_bytes());
    state
}

fn direction_of(case: &Value) -> Direction {
    Direction::BOTH[usize::try_from(case["i"].as_u64().unwrap()).unwrap()]
}

/// Requires that core says of the sale what the contract did; whether it went through.
fn check(state: &PoolState, case: &Value) -> bool {
    let (direction, amount_in) = (direction_of(case), amount(&case["in"]));
    let curve = state.curve(direction);
    let filled = curve.fill(amount_in);
    assert_eq!(filled, state.fill_once(direction, amount_in), "{case}");
    match filled {
        Ok(fill) => {
            let fee_pips = super::Concentrated::of(state).unwrap().fee_pips();
            assert_eq!((fill.fee.numerator, fill.fee.denominator), (fee_pips.into(), 1_000_000));
            assert!(case.get("consumed").is_none_or(|consumed| amount(consumed) == amount_in));
            assert_eq!(fill.amount_out, amount(&case["out"]), "{case}");
            true
        }
        Err(FillError::BeyondLiquidity { consumed, paid }) if case.get("revert").is_none() => {
            let taken = (amount(&case["consumed"]), amount(&case["out"]));
            assert_eq!((consumed, paid), taken, "{case}");
            false
        }
        // Nothing can be sold of a token whose price is already at its limit.
        Err(FillError::BeyondLiquidity { consumed, .. }) => {
            assert!(consumed.is_zero(), "{case}");
            false
        }
        Err(other) => panic!("{case}: {other}"),
    }
}

#[test]
fn pools_of_other_venues_fill_as_their_contracts_did() {
    for (text, cases, filled, moved) in [(PANCAKE_V3, 144, 98, 1), (SLIPSTREAM, 144, 129, 3)] {
        let vector: Value = serde_json::from_str(text).unwrap();
        let (mut seen, mut through, mut after) = (0, 0, 0);
        for pool in vector["pools"].as_array().unwrap() {
            let state = state_of(&pool["state"]);
            for case in pool["cases"].as_array().unwrap() {
                seen += 1;
                through += u32::from(check(&state, case));
            }
            let Some(sale) = pool.get("after") else { continue };
            check(&state, sale);
            if let Ok(fill) = state.fill_once(direction_of(sale), amount(&sale["in"])) {
                after += 1;
                assert_eq!(state.after(direction_of(sale), &fill), state_of(&sale["state"]));
            }
        }
        assert_eq!((seen, through, after), (cases, filled, moved), "{}", vector["kind"]);
    }
}
