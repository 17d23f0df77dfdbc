//! Numbers with eighteen decimals, multiplied and divided like in Balancer's `FixedPoint.sol`: 256-bit words; `None` if
//! the contract reverts.

use crate::wide::{U256, checked_mul_over, checked_times, over_up};

/// One, `10^18`.
pub(super) const ONE: U256 = U256::from_limbs([1_000_000_000_000_000_000, 0, 0, 0]);

pub(super) fn mul_down(a: U256, b: U256) -> Option<U256> {
    checked_mul_over(a, b, ONE)
}

pub(super) fn mul_up(a: U256, b: U256) -> Option<U256> {
    Some(over_up(checked_times(a, b)?, ONE))
}

pub(super) fn div_down(a: U256, b: U256) -> Option<U256> {
    checked_mul_over(a, ONE, b)
}

pub(super) fn div_up(a: U256, b: U256) -> Option<U256> {
    up(checked_times(a, ONE)?, b)
}

/// `⌈a ÷ b⌉` of integers.
pub(super) fn up(a: U256, b: U256) -> Option<U256> {
    (!b.is_zero()).then(|| over_up(a, b))
}
