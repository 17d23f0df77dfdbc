use crate::pools::vectors::{Held, hold};

const WEIGHTED_V2: &[u8] =
    include_bytes!("../../../../../tests/vectors/pools/balancer_v2_weighted.json.zz");
const WEIGHTED_V3: &[u8] =
    include_bytes!("../../../../../tests/vectors/pools/balancer_v3_weighted.json.zz");
const STABLE_V2: &[u8] =
    include_bytes!("../../../../../tests/vectors/pools/balancer_v2_composable_stable.json.zz");
const STABLE_V3: &[u8] =
    include_bytes!("../../../../../tests/vectors/pools/balancer_v3_stable.json.zz");

/// So many cases, of which so many are refused.
fn held(cases: usize, refused: usize) -> Held {
    Held { cases, filled: cases - refused, unmodelled: 0, after: 10 }
}

#[test]
fn weighted_pools_fill_as_their_contracts_did() {
    assert_eq!(hold(WEIGHTED_V2), held(2_346, 1_046));
    assert_eq!(hold(WEIGHTED_V3), held(1_828, 1_157));
}

#[test]
fn stable_pools_fill_as_their_contracts_did() {
    assert_eq!(hold(STABLE_V2), held(1_756, 506));
    assert_eq!(hold(STABLE_V3), held(1_728, 603));
}
