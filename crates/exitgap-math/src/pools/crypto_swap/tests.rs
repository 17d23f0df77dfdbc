use super::*;
use crate::exit::{Exit, NotSized};
use crate::pools::vectors::{Held, hold, unpack_fills};
use crate::units::{GapLimit, UsdPrice};

const THREE: &[u8] =
    include_bytes!("../../../../../tests/vectors/pools/curve_tricrypto_ng.json.zz");
const TWO: &[u8] = include_bytes!("../../../../../tests/vectors/pools/curve_twocrypto_ng.json.zz");

#[test]
fn three_coins_fill_as_their_contract_did() {
    let held = Held { cases: 3_060, filled: 2_323, unmodelled: 192, after: 0 };
    assert_eq!(hold(THREE), held);
}

#[test]
fn two_coins_fill_as_their_contract_did() {
    assert_eq!(hold(TWO), Held { cases: 1_560, filled: 1_358, unmodelled: 76, after: 0 });
}

#[test]
fn sizes_and_orders_are_refused_by_name() {
    let pool = unpack_fills(TWO).pools[0].state.clone().unwrap();
    let dollar = UsdPrice::product(&[(U256::ONE, 0)]).unwrap();
    let exit = Exit::new(&pool, Direction::ZeroForOne, [18, 18], [dollar; 2]);
    let refused = exit.max_size_for(GapLimit::DEPTH).unwrap_err();
    assert_eq!((refused, refused.code()), (NotSized::NotExact, "sizing_not_exact"));
    assert_eq!(exit.depth_usd(GapLimit::DEPTH), Err(NotSized::NotExact));
    assert!(!pool.is_followed());
}
