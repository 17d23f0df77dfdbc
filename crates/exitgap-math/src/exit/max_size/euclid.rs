//! Finds where a multiple of a number falls into a window of residues.

use crate::wide::Wide;

/// The smallest `k ≥ 0` with `low ≤ (factor · k mod modulus) ≤ high`, if there is one. Requires `low ≤ high < modulus`
/// and that the product of two moduli fits.
///
/// Works like Euclid's algorithm: multiples of `factor` increase up to the modulus and wrap around. If the first pass
/// steps over the window, the smallest number of wraps that brings a multiple into it is the same problem with the
/// residue of the modulus by `factor`, and with a modulus at most half as large. So the number of rounds is at most the
/// number of bits of the modulus.
pub(super) fn first_multiple_within<const BITS: usize, const LIMBS: usize>(
    factor: Wide<BITS, LIMBS>,
    modulus: Wide<BITS, LIMBS>,
    low: Wide<BITS, LIMBS>,
    high: Wide<BITS, LIMBS>,
) -> Option<Wide<BITS, LIMBS>> {
    if low.is_zero() {
        return Some(low);
    }
    let (mut factor, mut modulus, mut low, mut high) = (factor % modulus, modulus, low, high);
    let mut turns = Vec::new();
    let mut least = loop {
        if factor.is_zero() {
            return None;
        }
        if factor > modulus - factor {
            // Going downwards is shorter, so use the mirror image of the window.
            (factor, low, high) = (modulus - factor, modulus - high, modulus - low);
        }
        let (walked, past) = low.div_rem(factor);
        if past.is_zero() {
            break walked;
        }
        let below = low - past;
        if high - below >= factor {
            break walked + Wide::ONE;
        }
        // No multiple is in the window, and neither of its ends wraps.
        turns.push((low, factor, modulus));
        let wrap = modulus % factor;
        let next = if wrap.is_zero() { wrap } else { factor - wrap };
        (factor, modulus, low, high) = (next, factor, past, high - below);
    };
    for (low, factor, modulus) in turns.into_iter().rev() {
        least = (low + modulus * least).div_ceil(factor);
    }
    Some(least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wide::{U512, U1024};
    use proptest::prelude::*;

    #[test]
    fn every_small_case_equals_trying_all() {
        let wide = |n: u32| U512::from(n);
        for modulus in 1..=24_u32 {
            for factor in 0..=modulus + 1 {
                for low in 0..modulus {
                    for high in low..modulus {
                        let inside = |k: &u32| (low..=high).contains(&(factor * k % modulus));
                        let expected = (0..modulus).find(inside).map(wide);
                        let found = first_multiple_within(
                            wide(factor),
                            wide(modulus),
                            wide(low),
                            wide(high),
                        );
                        assert_eq!(found, expected, "{factor} {modulus} {low} {high}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_longest_walk_is_bounded_by_the_moduluss_bits() {
        // Consecutive Fibonacci numbers need the most rounds of Euclid's algorithm.
        let (mut factor, mut modulus) = (U1024::ONE, U1024::ONE);
        while modulus.bit_len() < 510 {
            (factor, modulus) = (modulus, modulus + factor);
        }
        let low = modulus - U1024::ONE;
        let least = first_multiple_within(factor, modulus, low, low).unwrap();
        assert_eq!(least * factor % modulus, low);
        assert!(least < modulus);
    }

    proptest! {
        #[test]
        fn middling_cases_equal_trying_all(
            modulus in 1_u64..60_000,
            factor in 0_u64..60_000,
            ends in (0_u64..60_000, 0_u64..400),
        ) {
            let low = ends.0 % modulus;
            let high = (low + ends.1).min(modulus - 1);
            let expected = (0..modulus).find(|k| (low..=high).contains(&(factor * k % modulus)));
            let [factor, modulus, low, high] = [factor, modulus, low, high].map(U512::from);
            let found = first_multiple_within(factor, modulus, low, high);
            prop_assert_eq!(found, expected.map(U512::from));
        }
    }
}
