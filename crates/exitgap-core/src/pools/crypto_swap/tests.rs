use serde_json::Value;

use super::*;
use crate::exit::{Exit, NotSized};
use crate::pools::vectors::{amount, amounts, asked, small, unpacked};
use crate::units::{GapLimit, UsdPrice};

const THREE: &[u8] =
    include_bytes!("../../../../../tests/vectors/pools/curve_tricrypto_ng.json.zz");
const TWO: &[u8] = include_bytes!("../../../../../tests/vectors/pools/curve_twocrypto_ng.json.zz");

fn pool_of(state: &Value) -> PoolState {
    let list = |name: &str| amounts(&state[name]);
    let decimals = state["decimals"].as_array().unwrap().iter();
    let number = |name: &str| small(&state[name]);
    let parts = CryptoSwapParts {
        balances: list("balances"),
        decimals: decimals.map(|decimals| u8::try_from(small(decimals)).unwrap()).collect(),
        price_scale: list("price_scale"),
        last_prices: list("last_prices"),
        invariant: amount(&state["D"]),
        amp: number("A"),
        gamma: number("gamma"),
        fees: [number("mid_fee"), number("out_fee")],
        fee_gamma: number("fee_gamma"),
    };
    CryptoSwap::new(parts).unwrap().into()
}

/// Fills that agree; refusals that agree; and refusals by the price's update, which is not computed.
fn compared(packed: &[u8]) -> [usize; 3] {
    let mut counts = [0; 3];
    for pool in unpacked(packed)["pools"].as_array().unwrap() {
        let state = pool_of(&pool["state"]);
        let bytes = state.to_canonical().unwrap();
        assert_eq!(PoolState::from_canonical(&bytes).as_ref(), Ok(&state));
        for case in pool["cases"].as_array().unwrap() {
            let (state, direction) = asked(&state, case);
            let fill = state.fill_once(direction, amount(&case["in"]));
            assert_eq!(state.curve(direction).fill(amount(&case["in"])), fill);
            match (fill, case.get("out")) {
                (fill, Some(out)) => {
                    assert_eq!(fill.map(|fill| fill.amount_out), Ok(amount(out)), "{case}");
                    counts[0] += 1;
                }
                (Err(_), None) => counts[1] += 1,
                (Ok(_), None) => counts[2] += 1,
            }
        }
    }
    counts
}

#[test]
fn three_coins_fill_as_their_contract_did() {
    assert_eq!(compared(THREE), [2_323, 545, 192]);
}

#[test]
fn two_coins_fill_as_their_contract_did() {
    assert_eq!(compared(TWO), [1_358, 126, 76]);
}

#[test]
fn sizes_and_orders_are_refused_by_name() {
    let pool = pool_of(&unpacked(TWO)["pools"][0]["state"]);
    let dollar = UsdPrice::product(&[(U256::ONE, 0)]).unwrap();
    let exit = Exit::new(&pool, Direction::ZeroForOne, [18, 18], [dollar; 2]);
    let refused = exit.max_size_for(GapLimit::DEPTH).unwrap_err();
    assert_eq!((refused, refused.code()), (NotSized::NotExact, "sizing_not_exact"));
    assert_eq!(exit.depth_usd(GapLimit::DEPTH), Err(NotSized::NotExact));
    assert!(!pool.is_followed());
}
