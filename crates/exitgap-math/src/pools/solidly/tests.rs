use super::*;
use crate::pools::vectors::{Held, hold};

const STABLE: &[u8] = include_bytes!("../../../../../tests/vectors/pools/aerodrome_stable.json.zz");
const VOLATILE: &[u8] =
    include_bytes!("../../../../../tests/vectors/pools/aerodrome_volatile.json.zz");

/// The contract multiplies the fee by `10^18`, so it refuses amounts for which that overflows.
#[test]
fn no_more_is_taken_than_its_fee_can_be_shared_out() {
    let fee = FeeRate { numerator: 30, denominator: 10_000 };
    let reserves = [U256::from(1_000_000_u64); 2];
    let pool = PoolState::from(Solidly::new(false, reserves, [18, 18], fee).unwrap());
    let (most, _) = pool.curve(Direction::OneForZero).most();
    let shared = |amount: U256| {
        let kept = mul_div(amount, U256::from(30), U256::from(10_000)).unwrap();
        crate::wide::checked_times(kept, U256::from(1_000_000_000_000_000_000_u64))
    };
    assert!(shared(most).is_some() && shared(most + U256::ONE).is_none(), "{most}");
}

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
