//! Wide unsigned integers and the divisions that the contracts use.

mod backend;
#[cfg(any(test, target_arch = "wasm32"))]
mod digits;
mod uint;
#[cfg(any(test, target_arch = "wasm32"))]
mod word;

pub use uint::Wide;

#[cfg(not(target_arch = "wasm32"))]
pub use native::U256;
#[cfg(not(target_arch = "wasm32"))]
use native::{bare, word};
#[cfg(target_arch = "wasm32")]
pub use word::U256;
#[cfg(target_arch = "wasm32")]
use word::{bare, word};

/// The library's word, for machines on which its arithmetic may be inlined.
#[cfg(not(target_arch = "wasm32"))]
mod native {
    use ruint::Uint;

    /// 256-bit unsigned integer, the contracts' word.
    pub type U256 = Uint<256, 4>;

    pub(super) fn bare(word: U256) -> Uint<256, 4> {
        word
    }

    pub(super) fn word(bare: Uint<256, 4>) -> U256 {
        bare
    }
}

/// Fits any product of two [`U256`].
pub type U512 = Wide<512, 8>;
/// Fits any cross-multiplication of two exact gaps: see `exit::terms`.
pub type U1024 = Wide<1024, 16>;

/// `a × b`, exact.
#[cfg_attr(target_arch = "wasm32", inline(never))]
pub fn product(a: U256, b: U256) -> U512 {
    Wide(backend::product(bare(a), bare(b)))
}

/// `a × b`. The caller must ensure that it fits.
#[cfg_attr(target_arch = "wasm32", inline(never))]
pub(crate) fn times(a: U256, b: U256) -> U256 {
    word(backend::multiply(bare(a), bare(b)))
}

/// `a × b` like in the contracts' compilers: `None` if it does not fit in 256 bits.
#[cfg_attr(target_arch = "wasm32", inline(never))]
pub(crate) fn checked_times(a: U256, b: U256) -> Option<U256> {
    backend::checked_multiply(bare(a), bare(b)).map(word)
}

/// `⌊a ÷ b⌋`, or `None` if `b` is zero.
#[cfg_attr(target_arch = "wasm32", inline(never))]
pub(crate) fn checked_over(a: U256, b: U256) -> Option<U256> {
    (!b.is_zero()).then(|| over(a, b))
}

/// `⌊a × b ÷ d⌋` like in the contracts' compilers: `None` if the product does not fit, or if `d` is zero.
#[cfg_attr(target_arch = "wasm32", inline(never))]
pub(crate) fn checked_mul_over(a: U256, b: U256, d: U256) -> Option<U256> {
    checked_over(checked_times(a, b)?, d)
}

/// `⌊a ÷ b⌋`. The caller must ensure that `b` is positive.
#[cfg_attr(target_arch = "wasm32", inline(never))]
pub(crate) fn over(a: U256, b: U256) -> U256 {
    word(backend::divide(bare(a), bare(b)).0)
}

/// The remainder of `a ÷ b`. The caller must ensure that `b` is positive.
#[cfg_attr(target_arch = "wasm32", inline(never))]
pub(crate) fn remainder(a: U256, b: U256) -> U256 {
    word(backend::divide(bare(a), bare(b)).1)
}

/// `⌈a ÷ b⌉`. The caller must ensure that `b` is positive.
#[cfg_attr(target_arch = "wasm32", inline(never))]
pub(crate) fn over_up(a: U256, b: U256) -> U256 {
    let (quotient, rest) = backend::divide(bare(a), bare(b));
    let quotient = word(quotient);
    if rest.is_zero() { quotient } else { quotient + U256::ONE }
}

/// `⌊a × b ÷ d⌋`, or `None` if it exceeds 256 bits or `d` is zero.
#[cfg_attr(target_arch = "wasm32", inline(never))]
pub(crate) fn mul_div(a: U256, b: U256, d: U256) -> Option<U256> {
    if d.is_zero() {
        return None;
    }
    narrow(product(a, b) / U512::from(d))
}

/// `⌈a × b ÷ d⌉`, or `None` if it exceeds 256 bits or `d` is zero.
#[cfg_attr(target_arch = "wasm32", inline(never))]
pub(crate) fn mul_div_up(a: U256, b: U256, d: U256) -> Option<U256> {
    if d.is_zero() {
        return None;
    }
    narrow(product(a, b).div_ceil(U512::from(d)))
}

/// The low 256 bits of a wider number, or `None` if higher bits are set.
pub fn narrow<const BITS: usize, const LIMBS: usize>(wide: Wide<BITS, LIMBS>) -> Option<U256> {
    let (low, high) = wide.as_limbs().split_at(4);
    high.iter().all(|limb| *limb == 0).then(|| U256::from_limbs_slice(low))
}

/// `10^exponent`. The caller must ensure that `exponent` is at most 300.
pub fn power_of_ten(exponent: u32) -> U1024 {
    let mut power = U1024::ONE;
    let mut left = exponent;
    while left > 0 {
        // The largest power of ten in 64 bits has 19 zeros.
        let step = left.min(19);
        power = power * U1024::from(10_u64.pow(step));
        left -= step;
    }
    power
}

/// `⌊√n⌋`, by Newton's iteration from above, which decreases until it reaches the root.
#[cfg_attr(target_arch = "wasm32", inline(never))]
pub(crate) fn square_root<const BITS: usize, const LIMBS: usize>(
    n: Wide<BITS, LIMBS>,
) -> Wide<BITS, LIMBS> {
    if n.is_zero() {
        return n;
    }
    // Above the root by less than one part in 2^31: uses the highest 64 bits and drops an even number of lower bits.
    let shift = n.bit_len().saturating_sub(63) & !1;
    let top = (n >> shift).saturating_to_u64();
    let mut guess = Wide::from(top.isqrt() + 1) << (shift / 2);
    loop {
        let next = (guess + n / guess) >> 1;
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
        let large = (U512::ONE << 400) - U512::ONE;
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
