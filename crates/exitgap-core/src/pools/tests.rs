//! Fills held to what the contracts of other venues paid: `tests/vectors/pools/`, whose README says
//! what the fields are.

use serde_json::{Value, json};

use super::{Direction, FillError, PoolState};
use crate::wide::U256;

const PANCAKE_V3: &[u8] = include_bytes!("../../../../tests/vectors/pools/pancake_v3.json.zz");
const SLIPSTREAM: &[u8] = include_bytes!("../../../../tests/vectors/pools/slipstream.json.zz");
const UNISWAP_V4: &[u8] = include_bytes!("../../../../tests/vectors/pools/uniswap_v4.json.zz");
const ALGEBRA: &[u8] = include_bytes!("../../../../tests/vectors/pools/algebra_integral.json.zz");

fn amount(value: &Value) -> U256 {
    U256::from_str_radix(value.as_str().unwrap(), 10).unwrap()
}

/// The state as its body spells it, read as a stored one is.
fn state_of(protocol: &str, fields: &Value) -> PoolState {
    let mut body = fields.clone();
    body["v"] = json!(1);
    body["protocol"] = json!(protocol);
    let state = PoolState::from_canonical(body.to_string().as_bytes()).unwrap();
    assert_eq!(state.to_canonical().unwrap(), body.to_string().as_bytes());
    state
}

fn direction_of(case: &Value) -> Direction {
    Direction::BOTH[usize::try_from(case["i"].as_u64().unwrap()).unwrap()]
}

/// The fee that a sale pays, in millionths.
fn fee_of(fields: &Value, direction: Direction) -> u64 {
    let pips = |value: &Value| value.as_u64().unwrap();
    let Some(lp) = fields.get("lp_fee_pips").map(pips) else { return pips(&fields["fee_pips"]) };
    let protocol = pips(&fields["protocol_fee"][direction.base_index()]);
    protocol + lp - protocol * lp / 1_000_000
}

/// Requires that core says of the sale what the contract did; whether it went through.
fn check(state: &PoolState, fields: &Value, case: &Value) -> bool {
    let (direction, amount_in) = (direction_of(case), amount(&case["in"]));
    let curve = state.curve(direction);
    let filled = curve.fill(amount_in);
    assert_eq!(filled, state.fill_once(direction, amount_in), "{case}");
    match filled {
        Ok(fill) => {
            let fee = (fill.fee.numerator, fill.fee.denominator);
            assert_eq!(fee, (fee_of(fields, direction), 1_000_000));
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

/// Holds every case of a file to core: how many there were, how many went through whole, and how
/// many states after a whole sale were compared.
fn tally(packed: &[u8], protocol: &str) -> [usize; 3] {
    let text = miniz_oxide::inflate::decompress_to_vec_zlib(packed).unwrap();
    let vector: Value = serde_json::from_slice(&text).unwrap();
    let (mut seen, mut through, mut after) = (0, 0, 0);
    for pool in vector["pools"].as_array().unwrap() {
        let fields = &pool["state"];
        let state = state_of(protocol, fields);
        for case in pool["cases"].as_array().unwrap() {
            seen += 1;
            through += usize::from(check(&state, fields, case));
        }
        let Some(sale) = pool.get("after") else { continue };
        check(&state, fields, sale);
        if let Ok(fill) = state.fill_once(direction_of(sale), amount(&sale["in"])) {
            after += 1;
            let left = state_of(protocol, &sale["state"]);
            assert_eq!(state.after(direction_of(sale), &fill), left);
        }
    }
    [seen, through, after]
}

#[test]
fn pools_of_other_venues_fill_as_their_contracts_did() {
    assert_eq!(tally(PANCAKE_V3, "concentrated_liquidity"), [864, 744, 11]);
    assert_eq!(tally(SLIPSTREAM, "concentrated_liquidity"), [864, 791, 12]);
}

#[test]
fn pools_of_a_manager_fill_as_it_did() {
    assert_eq!(tally(UNISWAP_V4, "concentrated_v4"), [1_008, 869, 11]);
}

#[test]
fn pools_of_linked_ticks_fill_as_their_contracts_did() {
    assert_eq!(tally(ALGEBRA, "concentrated_linked"), [864, 724, 10]);
}
