use proptest::prelude::*;

use super::fixed_point::ONE;
use super::power::power;
use crate::pools::vectors::{Held, hold};
use crate::wide::{U256, U1024};

const WEIGHTED_V2: &[u8] =
    include_bytes!("../../../../../tests/vectors/pools/balancer_v2_weighted.json.zz");
const WEIGHTED_V3: &[u8] =
    include_bytes!("../../../../../tests/vectors/pools/balancer_v3_weighted.json.zz");
const STABLE_V2: &[u8] =
    include_bytes!("../../../../../tests/vectors/pools/balancer_v2_composable_stable.json.zz");
const STABLE_V3: &[u8] =
    include_bytes!("../../../../../tests/vectors/pools/balancer_v3_stable.json.zz");

/// The expected result for this many cases, of which this many are refused.
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

/// `number` to the power of `times`, with `times` times eighteen decimals.
fn product(number: U256, times: u64) -> U1024 {
    (0..times).fold(U1024::ONE, |product, _| product * U1024::from(number))
}

/// One, with `times` times eighteen decimals.
fn scale(times: u64) -> U1024 {
    product(ONE, times)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// The basis of the bound of weighted pools: a power is below the exact value by at most one part plus a fifth of a
    /// part per unit of the exponent, and above it by at most half of the allowed difference.
    #[test]
    fn powers_are_as_near_as_the_bound_of_weighted_pools_says(
        number in prop_oneof![
            500_000_000_000_000_000_u64..=1_000_000_000_000_000_000,
            900_000_000_000_000_000_u64..=1_000_000_000_000_000_000,
            999_999_000_000_000_000_u64..=1_000_000_000_000_000_000,
        ],
        times in prop::sample::select(vec![3_u64, 5, 6, 7, 12]),
    ) {
        let number = U256::from(number);
        let made = power(number, ONE * U256::from(times)).unwrap();
        let (each, beside) = if made.branch == 0 { (2, 8) } else { (8, 16) };
        // One half is for the power itself, the other for the rounding of its base.
        let above = U256::from(each * times / 2 + beside / 2);
        let below = U256::from(2 + times / 5);
        let exact = product(number, times);
        let least = U1024::from(made.value.saturating_sub(above)) * scale(times - 1);
        prop_assert!(least <= exact, "{number} to the power of {times}: {made:?}");
        prop_assert!(U1024::from(made.value + below) * scale(times - 1) >= exact);
    }

    #[test]
    fn roots_are_as_near_as_the_bound_of_weighted_pools_says(
        number in prop_oneof![
            500_000_000_000_000_000_u64..=1_000_000_000_000_000_000,
            990_000_000_000_000_000_u64..=1_000_000_000_000_000_000,
        ],
        times in prop::sample::select(vec![2_u64, 4, 5, 8]),
    ) {
        let number = U256::from(number);
        let made = power(number, ONE / U256::from(times)).unwrap();
        let above = U256::from(if made.branch == 0 { 5_u64 } else { 12 });
        let exact = U1024::from(number) * scale(times - 1);
        prop_assert!(product(made.value.saturating_sub(above), times) <= exact, "{made:?}");
        prop_assert!(product(made.value + U256::from(2), times) >= exact, "{made:?}");
    }
}

/// Vault 3 states live balances in addition to raw ones, so a state may have any combination of them.
#[test]
fn a_sale_that_leaves_a_live_balance_of_nothing_has_a_price_after_it() {
    use crate::pools::{Direction, PoolState};
    let state = |raw: U256| {
        let body = format!(
            r#"{{"amp":500000,"balances_live_scaled18":["10000000000000000000000000","10000000000000000000000000"],"balances_raw":["10000000000","{raw}"],"protocol":"stable_v3","rates":["1000000000000000000","1"],"scaling_factors":["1000000000000000","1"],"swap_fee":"0","v":1,"version":"v3_1"}}"#
        );
        PoolState::from_canonical(body.as_bytes()).unwrap()
    };
    let amount = U256::from(500_250_u64);
    let whole = state(U256::from(u128::MAX)).fill_once(Direction::ZeroForOne, amount).unwrap();
    let sale = state(whole.amount_out).curve(Direction::ZeroForOne);
    let fill = sale.fill(amount).unwrap();
    assert_eq!(fill.amount_out, whole.amount_out);
    assert_eq!(sale.mid_after(&fill).numerator, crate::wide::U512::ZERO);
}
