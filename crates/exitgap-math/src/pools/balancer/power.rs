//! Powers of numbers up to one, computed like in Balancer's `LogExpMath.sol`.
//!
//! In the contract the logarithm of a number below one is negative, and so is the exponent of `e`. Both are quotients
//! truncated towards zero, so this code computes their absolute values. The result decreases with the base within each
//! of the branches that the contract's tables create, and has a relative error of up to `10^-14`.

use super::fixed_point::ONE;
use crate::wide::{U256, checked_times, over, remainder, times};

/// Twenty decimals.
const ONE_20: U256 = U256::from_limbs([7_766_279_631_452_241_920, 5, 0, 0]);
/// Above this, a logarithm is computed with thirty-six decimals.
const NEAR_ONE: u64 = 900_000_000_000_000_000;

/// `x` and `e^x` with twenty decimals, from `2^5` down to `2^-4`.
const POWERS: [(u128, u128); 10] = [
    (3_200_000_000_000_000_000_000, 7_896_296_018_268_069_516_100_000_000_000_000),
    (1_600_000_000_000_000_000_000, 888_611_052_050_787_263_676_000_000),
    (800_000_000_000_000_000_000, 298_095_798_704_172_827_474_000),
    (400_000_000_000_000_000_000, 5_459_815_003_314_423_907_810),
    (200_000_000_000_000_000_000, 738_905_609_893_065_022_723),
    (100_000_000_000_000_000_000, 271_828_182_845_904_523_536),
    (50_000_000_000_000_000_000, 164_872_127_070_012_814_685),
    (25_000_000_000_000_000_000, 128_402_541_668_774_148_407),
    (12_500_000_000_000_000_000, 113_314_845_306_682_631_683),
    (6_250_000_000_000_000_000, 106_449_445_891_785_942_956),
];

/// A power, and a number that identifies the branch in which it was computed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Power {
    pub value: U256,
    pub branch: u64,
}

/// `x^y` for `x` from zero to one; `None` if the contract reverts.
pub(super) fn power(x: U256, y: U256) -> Option<Power> {
    if y.is_zero() {
        return Some(Power { value: ONE, branch: 0 });
    }
    if x.is_zero() {
        return Some(Power { value: U256::ZERO, branch: 0 });
    }
    let (scaled, of_logarithm) = if x > U256::from(NEAR_ONE) {
        let logarithm = logarithm_near_one(x);
        let (whole, rest) = (over(logarithm, ONE), remainder(logarithm, ONE));
        (checked_times(whole, y)?.checked_add(over(checked_times(rest, y)?, ONE))?, 0)
    } else {
        let (logarithm, branch) = logarithm(over(times(ONE, ONE), x));
        (checked_times(logarithm, y)?, branch)
    };
    let exponent = over(scaled, ONE);
    // The contract's minimum exponent is −41.
    if exponent > times(U256::from(41), ONE) {
        return None;
    }
    let (grown, of_exponent) = exponential(exponent);
    let branch = of_logarithm << 16 | of_exponent;
    Some(Power { value: over(times(ONE, ONE), grown), branch })
}

/// The absolute value of the logarithm of a number just below one (`_ln_36`), with thirty-six decimals.
fn logarithm_near_one(x: U256) -> U256 {
    let one = times(ONE, ONE);
    let x = times(x, ONE);
    let z = over(times(one - x, one), x + one);
    let square = over(times(z, z), one);
    let (mut power, mut sum) = (z, z);
    for divisor in [3, 5, 7, 9, 11, 13, 15] {
        power = over(times(power, square), one);
        sum += over(power, U256::from(divisor));
    }
    sum << 1
}

/// The logarithm of a number of at least one (`_ln`), with eighteen decimals, and its branch.
fn logarithm(number: U256) -> (U256, u64) {
    let (mut left, mut sum, mut branch) = (times(number, U256::from(100)), U256::ZERO, 0);
    for (x, grown) in POWERS {
        branch <<= 1;
        if left >= U256::from(grown) {
            left = over(times(left, ONE_20), U256::from(grown));
            sum += U256::from(x);
            branch |= 1;
        }
    }
    let z = over(times(left - ONE_20, ONE_20), left + ONE_20);
    let square = over(times(z, z), ONE_20);
    let (mut power, mut series) = (z, z);
    for divisor in [3, 5, 7, 9, 11] {
        power = over(times(power, square), ONE_20);
        series += over(power, U256::from(divisor));
    }
    (over(sum + (series << 1), U256::from(100)), branch)
}

/// `e` to the power of a number from zero to 41 (`exp`), and its branch.
fn exponential(number: U256) -> (U256, u64) {
    let (mut left, mut product, mut branch) = (times(number, U256::from(100)), ONE_20, 0);
    // The last two are covered by the series.
    for (x, grown) in &POWERS[..8] {
        branch <<= 1;
        if left >= U256::from(*x) {
            left -= U256::from(*x);
            product = over(times(product, U256::from(*grown)), ONE_20);
            branch |= 1;
        }
    }
    let (mut term, mut series) = (left, ONE_20 + left);
    for divisor in 2..13 {
        term = over(over(times(term, left), ONE_20), U256::from(divisor));
        series += term;
    }
    (over(over(times(product, series), ONE_20), U256::from(100)), branch)
}
