use crate::pools::vectors::{Held, hold};

const PLAIN: &[u8] = include_bytes!("../../../../../tests/vectors/pools/curve_plain.json.zz");
const NG: &[u8] = include_bytes!("../../../../../tests/vectors/pools/curve_ng.json.zz");

#[test]
fn plain_pools_fill_as_their_contracts_did() {
    let held = Held { cases: 3_356, filled: 3_356 - 423, unmodelled: 0, after: 26 };
    assert_eq!(hold(PLAIN), held);
}

#[test]
fn ng_pools_fill_as_their_contracts_did() {
    let held = Held { cases: 2_080, filled: 2_080 - 345, unmodelled: 0, after: 10 };
    assert_eq!(hold(NG), held);
}
