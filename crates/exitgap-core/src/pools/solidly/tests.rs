use crate::pools::vectors::{Held, hold};

const STABLE: &[u8] = include_bytes!("../../../../../tests/vectors/pools/aerodrome_stable.json.zz");
const VOLATILE: &[u8] =
    include_bytes!("../../../../../tests/vectors/pools/aerodrome_volatile.json.zz");

#[test]
fn stable_pools_fill_as_their_contract_did() {
    let held = Held { cases: 1_888, filled: 1_888 - 534, unmodelled: 0, after: 24 };
    assert_eq!(hold(STABLE), held);
}

#[test]
fn volatile_pools_fill_as_their_contract_did() {
    let held = Held { cases: 944, filled: 944 - 173, unmodelled: 0, after: 12 };
    assert_eq!(hold(VOLATILE), held);
}
