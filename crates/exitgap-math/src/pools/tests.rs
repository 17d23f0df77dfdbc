//! Compares fills with the amounts that contracts of several venues paid: `tests/vectors/pools/`, whose README
//! documents the fields.

use serde_json::Value;

use super::vectors::{Held, RecordedFills, hold, unpack_fills};
use super::{Direction, PoolState};

const PANCAKE_V3: &[u8] = include_bytes!("../../../../tests/vectors/pools/pancake_v3.json.zz");
const SLIPSTREAM: &[u8] = include_bytes!("../../../../tests/vectors/pools/slipstream.json.zz");
const UNISWAP_V4: &[u8] = include_bytes!("../../../../tests/vectors/pools/uniswap_v4.json.zz");
const ALGEBRA: &[u8] = include_bytes!("../../../../tests/vectors/pools/algebra_integral.json.zz");

/// The fee of a sale in millionths, according to the fields of the state.
fn fee_of(state: &PoolState, direction: Direction) -> u64 {
    let fields: Value = serde_json::from_slice(&state.to_canonical().unwrap()).unwrap();
    let pips = |value: &Value| value.as_u64().unwrap();
    let Some(lp) = fields.get("lp_fee_pips").map(pips) else { return pips(&fields["fee_pips"]) };
    let protocol = pips(&fields["protocol_fee"][direction.base_index()]);
    protocol + lp - protocol * lp / 1_000_000
}

/// Same as `hold`, and also checks that each fill has the fee of its state.
fn hold_with_fees(packed: &[u8]) -> Held {
    let RecordedFills { pools, .. } = unpack_fills(packed);
    for pool in &pools {
        let state = pool.state.as_ref().unwrap();
        let fees = Direction::BOTH.map(|direction| fee_of(state, direction));
        for case in &pool.cases {
            let Ok(fill) = state.fill_once(case.direction, case.amount_in) else { continue };
            let fee = fees[case.direction.base_index()];
            assert_eq!((fill.fee.numerator, fill.fee.denominator), (fee, 1_000_000));
        }
    }
    hold(packed)
}

fn held(cases: usize, filled: usize, after: usize) -> Held {
    Held { cases, filled, unmodelled: 0, after }
}

#[test]
fn pools_of_other_venues_fill_as_their_contracts_did() {
    assert_eq!(hold_with_fees(PANCAKE_V3), held(864, 744, 11));
    assert_eq!(hold_with_fees(SLIPSTREAM), held(864, 791, 12));
}

#[test]
fn pools_of_a_manager_fill_as_it_did() {
    assert_eq!(hold_with_fees(UNISWAP_V4), held(1_008, 869, 11));
}

#[test]
fn pools_of_linked_ticks_fill_as_their_contracts_did() {
    assert_eq!(hold_with_fees(ALGEBRA), held(864, 724, 10));
}
