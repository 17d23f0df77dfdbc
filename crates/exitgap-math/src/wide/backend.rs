//! Products and quotients: computed by the library on machines that multiply 64 by 64 bits, and digit by digit in
//! WebAssembly. The tests compare the two.

#[cfg(target_arch = "wasm32")]
pub(super) use by_digits::{checked_multiply, divide, gcd, multiply, product};
#[cfg(not(target_arch = "wasm32"))]
pub(super) use by_limbs::{checked_multiply, divide, gcd, multiply, product};

#[cfg(any(test, not(target_arch = "wasm32")))]
mod by_limbs {
    use ruint::Uint;

    /// `a × b`, only its low bits.
    pub fn multiply<const BITS: usize, const LIMBS: usize>(
        a: Uint<BITS, LIMBS>,
        b: Uint<BITS, LIMBS>,
    ) -> Uint<BITS, LIMBS> {
        a.wrapping_mul(b)
    }

    /// `a × b`, or `None` where it does not fit.
    pub fn checked_multiply<const BITS: usize, const LIMBS: usize>(
        a: Uint<BITS, LIMBS>,
        b: Uint<BITS, LIMBS>,
    ) -> Option<Uint<BITS, LIMBS>> {
        a.checked_mul(b)
    }

    /// `a × b`, exact.
    pub fn product(a: Uint<256, 4>, b: Uint<256, 4>) -> Uint<512, 8> {
        a.widening_mul(b)
    }

    /// Quotient and remainder.
    pub fn divide<const BITS: usize, const LIMBS: usize>(
        number: Uint<BITS, LIMBS>,
        divisor: Uint<BITS, LIMBS>,
    ) -> (Uint<BITS, LIMBS>, Uint<BITS, LIMBS>) {
        number.div_rem(divisor)
    }

    /// The greatest common divisor.
    pub fn gcd<const BITS: usize, const LIMBS: usize>(
        a: Uint<BITS, LIMBS>,
        b: Uint<BITS, LIMBS>,
    ) -> Uint<BITS, LIMBS> {
        a.gcd(b)
    }
}

#[cfg(any(test, target_arch = "wasm32"))]
mod by_digits {
    use ruint::Uint;

    use crate::wide::digits;

    /// `a × b`, its low bits.
    pub fn multiply<const BITS: usize, const LIMBS: usize>(
        a: Uint<BITS, LIMBS>,
        b: Uint<BITS, LIMBS>,
    ) -> Uint<BITS, LIMBS> {
        let mut limbs = [0; LIMBS];
        digits::multiply(a.as_limbs(), b.as_limbs(), &mut limbs);
        Uint::from_limbs(limbs)
    }

    /// `a × b`, or `None` where it does not fit.
    pub fn checked_multiply<const BITS: usize, const LIMBS: usize>(
        a: Uint<BITS, LIMBS>,
        b: Uint<BITS, LIMBS>,
    ) -> Option<Uint<BITS, LIMBS>> {
        let mut limbs = [0; LIMBS];
        digits::multiply(a.as_limbs(), b.as_limbs(), &mut limbs).then(|| Uint::from_limbs(limbs))
    }

    /// `a × b`, exact.
    pub fn product(a: Uint<256, 4>, b: Uint<256, 4>) -> Uint<512, 8> {
        let mut limbs = [0; 8];
        digits::multiply(a.as_limbs(), b.as_limbs(), &mut limbs);
        Uint::from_limbs(limbs)
    }

    /// Quotient and remainder.
    pub fn divide<const BITS: usize, const LIMBS: usize>(
        number: Uint<BITS, LIMBS>,
        divisor: Uint<BITS, LIMBS>,
    ) -> (Uint<BITS, LIMBS>, Uint<BITS, LIMBS>) {
        let (mut number, mut divisor) = (number.into_limbs(), divisor.into_limbs());
        digits::divide(&mut number, &mut divisor);
        (Uint::from_limbs(number), Uint::from_limbs(divisor))
    }

    /// The greatest common divisor.
    pub fn gcd<const BITS: usize, const LIMBS: usize>(
        a: Uint<BITS, LIMBS>,
        b: Uint<BITS, LIMBS>,
    ) -> Uint<BITS, LIMBS> {
        let (mut larger, mut smaller) = (a, b);
        while !smaller.is_zero() {
            (larger, smaller) = (smaller, divide(larger, smaller).1);
        }
        larger
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ruint::Uint;

    use super::{by_digits, by_limbs};

    /// Numbers of every length, with digits for which carries and guesses go wrong.
    fn numbers<const BITS: usize, const LIMBS: usize>() -> impl Strategy<Value = Uint<BITS, LIMBS>>
    {
        let half = prop_oneof![
            Just(0),
            Just(1),
            Just(0x7fff_ffff),
            Just(0x8000_0000),
            Just(u32::MAX),
            any::<u32>()
        ];
        let limb =
            (half.clone(), half).prop_map(|(high, low)| u64::from(high) << 32 | u64::from(low));
        proptest::collection::vec(limb, 0..=LIMBS)
            .prop_map(|limbs| Uint::<BITS, LIMBS>::from_limbs_slice(&limbs))
    }

    /// Compares all operations on two numbers in both implementations.
    fn check<const BITS: usize, const LIMBS: usize>(
        a: Uint<BITS, LIMBS>,
        b: Uint<BITS, LIMBS>,
    ) -> Result<(), TestCaseError> {
        prop_assert_eq!(by_digits::multiply(a, b), by_limbs::multiply(a, b));
        prop_assert_eq!(by_digits::checked_multiply(a, b), by_limbs::checked_multiply(a, b));
        prop_assert_eq!(by_digits::gcd(a, b), by_limbs::gcd(a, b));
        if !b.is_zero() {
            prop_assert_eq!(by_digits::divide(a, b), by_limbs::divide(a, b));
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_096))]

        #[test]
        fn digits_and_limbs_agree_at_every_width(
            (a, b) in (numbers::<256, 4>(), numbers::<256, 4>()),
            (c, d) in (numbers::<512, 8>(), numbers::<512, 8>()),
            (e, f) in (numbers::<1024, 16>(), numbers::<1024, 16>()),
        ) {
            check(a, b)?;
            check(c, d)?;
            check(e, f)?;
            prop_assert_eq!(by_digits::product(a, b), by_limbs::product(a, b));
        }
    }

    #[test]
    #[should_panic(expected = "division by zero")]
    fn a_divisor_of_zero_ends_the_program_there_too() {
        by_digits::divide(Uint::<256, 4>::ONE, Uint::ZERO);
    }
}
