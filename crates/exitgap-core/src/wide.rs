//! Wide unsigned integers and the divisions the contracts use on them.

use ruint::Uint;

/// 256-bit unsigned integer, the contracts' word.
pub type U256 = Uint<256, 4>;
/// Holds any product of two [`U256`].
pub(crate) type U512 = Uint<512, 8>;
/// Holds any cross-multiplication of two exact gaps: see `exit::terms`.
pub(crate) type U1024 = Uint<1024, 16>;

/// `a × b`, exact.
pub(crate) fn product(a: U256, b: U256) -> U512 {
    a.widening_mul::<256, 4, 512, 8>(b)
}

/// `⌊a × b ÷ d⌋`, or `None` where it exceeds 256 bits or `d` is zero.
pub(crate) fn mul_div(a: U256, b: U256, d: U256) -> Option<U256> {
    if d.is_zero() {
        return None;
    }
    narrow(product(a, b) / U512::from(d))
}

/// `⌈a × b ÷ d⌉`, or `None` where it exceeds 256 bits or `d` is zero.
pub(crate) fn mul_div_up(a: U256, b: U256, d: U256) -> Option<U256> {
    if d.is_zero() {
        return None;
    }
    let (quotient, rest) = product(a, b).div_rem(U512::from(d));
    let quotient = narrow(quotient)?;
    if rest.is_zero() { Some(quotient) } else { quotient.checked_add(U256::ONE) }
}

/// The low 256 bits of a wider number, or `None` where more are set.
pub(crate) fn narrow<const BITS: usize, const LIMBS: usize>(
    wide: Uint<BITS, LIMBS>,
) -> Option<U256> {
    let (low, high) = wide.as_limbs().split_at(4);
    high.iter().all(|limb| *limb == 0).then(|| U256::from_limbs_slice(low))
}

/// `10^exponent`. The caller keeps `exponent` at most 300.
pub(crate) fn power_of_ten(exponent: u32) -> U1024 {
    U1024::from(10).pow(U1024::from(exponent))
}

/// `⌊√n⌋`, by Newton's iteration from above, which falls until it is there.
pub(crate) fn square_root(n: U512) -> U512 {
    if n.is_zero() {
        return n;
    }
    let mut guess: U512 = U512::ONE << n.bit_len().div_ceil(2);
    loop {
        let next: U512 = (guess + n / guess) >> 1;
        if next >= guess {
            return guess;
        }
        guess = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn square_roots_round_down() {
        for (n, root) in [(0_u64, 0_u64), (1, 1), (3, 1), (4, 2), (99, 9), (100, 10)] {
            assert_eq!(square_root(U512::from(n)), U512::from(root));
        }
        let large: U512 = (U512::ONE << 400) - U512::ONE;
        let root = square_root(large);
        assert!(root * root <= large && (root + U512::ONE) * (root + U512::ONE) > large);
    }

    #[test]
    fn divisions_say_where_they_round_and_where_they_end() {
        let (seven, two) = (U256::from(7), U256::from(2));
        assert_eq!(mul_div(seven, seven, two), Some(U256::from(24)));
        assert_eq!(mul_div_up(seven, seven, two), Some(U256::from(25)));
        assert_eq!(mul_div_up(seven, two, two), Some(seven));
        assert_eq!(mul_div(U256::MAX, two, U256::ONE), None);
        assert_eq!(mul_div(U256::ONE, two, U256::ZERO), None);
    }
}
