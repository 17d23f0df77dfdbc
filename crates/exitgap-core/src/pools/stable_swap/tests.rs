use serde_json::Value;

use super::*;
use crate::pools::vectors::{Tally, amounts, small, tally};

const PLAIN: &[u8] = include_bytes!("../../../../../tests/vectors/pools/curve_plain.json.zz");
const NG: &[u8] = include_bytes!("../../../../../tests/vectors/pools/curve_ng.json.zz");

fn pool_of(pool: &Value) -> Option<PoolState> {
    let state = &pool["state"];
    let ng = state.get("offpeg_fee_multiplier").map(|multiplier| NgParts {
        offpeg_fee_multiplier: small(multiplier),
        admin_balances: amounts(&state["admin_balances"]),
        asset_types: state["asset_types"].as_array().unwrap().iter().map(kind_of).collect(),
    });
    let d_rule = match state.get("d_rule").and_then(Value::as_str) {
        Some("each_n") => DRule::EachN,
        Some("each_n_plus_1") => DRule::EachNPlusOne,
        _ => DRule::NPowN,
    };
    let made = StableSwap::new(StableSwapParts {
        balances: amounts(&state["balances"]),
        rates: amounts(&state["rates"]),
        amp: small(&state["amp"]),
        a_precision: u8::try_from(small(&state["a_precision"])).unwrap(),
        d_rule,
        less_one: state.get("less_one").is_none_or(|less| small(less) == 1),
        fee: small(&state["fee"]),
        admin_fee: small(&state["admin_fee"]),
        ng,
    });
    match made {
        Ok(pool) => Some(pool.into()),
        Err(StableSwapError::NotConverged | StableSwapError::Empty { .. }) => None,
        Err(other) => panic!("{}: {other}", pool["id"]),
    }
}

fn kind_of(value: &Value) -> u8 {
    u8::try_from(small(value)).unwrap()
}

fn left(state: &PoolState, recorded: &Value) -> bool {
    let pool = StableSwap::of(state).unwrap();
    let admin = recorded.get("admin_balances").map(amounts);
    pool.balances() == amounts(&recorded["balances"])
        && admin.is_none_or(|admin| pool.ng.as_ref().unwrap().admin_balances == admin)
}

#[test]
fn plain_pools_fill_as_their_contracts_did() {
    let expected = Tally { cases: 3_356, refused: 423, after: 26 };
    assert_eq!(tally(PLAIN, pool_of, left), expected);
}

#[test]
fn ng_pools_fill_as_their_contracts_did() {
    let expected = Tally { cases: 2_080, refused: 345, after: 10 };
    assert_eq!(tally(NG, pool_of, left), expected);
}
