//! Unsigned integers wider than the contracts' word.

use core::ops::{Add, Div, Mul, Rem, Shl, Shr, Sub};

use ruint::Uint;

use super::{U256, backend};

/// An unsigned integer of `BITS` bits, in `LIMBS` limbs of 64 bits. The operators are for results that fit: the caller
/// must know the bounds.
///
/// The library inlines its arithmetic at every use, because widths are known there. Here each operation is a function
/// call: in the WebAssembly module that a page loads, most of the code was copies of such arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wide<const BITS: usize, const LIMBS: usize>(pub(super) Uint<BITS, LIMBS>);

impl<const BITS: usize, const LIMBS: usize> Wide<BITS, LIMBS> {
    /// Zero.
    pub const ZERO: Self = Self(Uint::ZERO);
    /// One.
    pub const ONE: Self = Self(Uint::ONE);

    /// Whether it is zero.
    #[inline]
    pub fn is_zero(&self) -> bool {
        self.0.is_zero()
    }

    pub(crate) fn is_odd(&self) -> bool {
        self.0.bit(0)
    }

    pub(crate) fn bit_len(&self) -> usize {
        self.0.bit_len()
    }

    pub(crate) fn trailing_zeros(&self) -> usize {
        self.0.trailing_zeros()
    }

    /// The low bits of a number of another width.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    pub(crate) fn low_bits_of(limbs: &[u64]) -> Self {
        let mut own = [0; LIMBS];
        for (own, limb) in own.iter_mut().zip(limbs) {
            *own = *limb;
        }
        Self(Uint::from_limbs(own))
    }

    pub(crate) fn as_limbs(&self) -> &[u64] {
        self.0.as_limbs()
    }

    /// The number, or the maximum if it does not fit in 64 bits.
    pub fn saturating_to_u64(&self) -> u64 {
        self.0.saturating_to::<u64>()
    }

    #[cfg_attr(target_arch = "wasm32", inline(never))]
    pub(crate) fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// The difference, or `None` if it is negative.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    pub(crate) fn checked_mul(self, other: Self) -> Option<Self> {
        backend::checked_multiply(self.0, other.0).map(Self)
    }

    /// The quotient, or `None` if the divisor is zero.
    pub(crate) fn checked_div(self, divisor: Self) -> Option<Self> {
        (!divisor.is_zero()).then(|| self / divisor)
    }

    /// Quotient and remainder.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    pub(crate) fn div_rem(self, divisor: Self) -> (Self, Self) {
        let (quotient, rest) = backend::divide(self.0, divisor.0);
        (Self(quotient), Self(rest))
    }

    /// The quotient, rounded up.
    #[must_use]
    pub fn div_ceil(self, divisor: Self) -> Self {
        let (quotient, rest) = self.div_rem(divisor);
        if rest.is_zero() { quotient } else { quotient + Self::ONE }
    }

    /// The greatest common divisor.
    pub(crate) fn gcd(self, other: Self) -> Self {
        Self(backend::gcd(self.0, other.0))
    }
}

/// Implements the same operator for values and for a value and a reference.
macro_rules! operator {
    ($operator:ident, $method:ident, $(#[$attribute:meta])? |$a:ident, $b:ident| $result:expr) => {
        impl<const BITS: usize, const LIMBS: usize> $operator for Wide<BITS, LIMBS> {
            type Output = Self;
            $(#[$attribute])?
            fn $method(self, other: Self) -> Self {
                let ($a, $b) = (self, other);
                $result
            }
        }

        impl<const BITS: usize, const LIMBS: usize> $operator<&Self> for Wide<BITS, LIMBS> {
            type Output = Self;
            fn $method(self, other: &Self) -> Self {
                self.$method(*other)
            }
        }
    };
}

operator!(
    Add,
    add,
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    |a, b| Self(a.0 + b.0)
);
operator!(
    Sub,
    sub,
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    |a, b| Self(a.0 - b.0)
);
operator!(
    Mul,
    mul,
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    |a, b| Self(backend::multiply(a.0, b.0))
);
operator!(Div, div, |a, b| a.div_rem(b).0);
operator!(Rem, rem, |a, b| a.div_rem(b).1);

impl<const BITS: usize, const LIMBS: usize> Shl<usize> for Wide<BITS, LIMBS> {
    type Output = Self;
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    fn shl(self, bits: usize) -> Self {
        Self(self.0 << bits)
    }
}

impl<const BITS: usize, const LIMBS: usize> Shr<usize> for Wide<BITS, LIMBS> {
    type Output = Self;
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    fn shr(self, bits: usize) -> Self {
        Self(self.0 >> bits)
    }
}

impl<const BITS: usize, const LIMBS: usize> From<U256> for Wide<BITS, LIMBS> {
    fn from(number: U256) -> Self {
        Self::low_bits_of(number.as_limbs())
    }
}

impl<const BITS: usize, const LIMBS: usize> From<u128> for Wide<BITS, LIMBS> {
    fn from(number: u128) -> Self {
        Self::from(U256::from(number))
    }
}

impl<const BITS: usize, const LIMBS: usize> From<u64> for Wide<BITS, LIMBS> {
    fn from(number: u64) -> Self {
        Self::low_bits_of(&[number])
    }
}

impl<const BITS: usize, const LIMBS: usize> From<u32> for Wide<BITS, LIMBS> {
    fn from(number: u32) -> Self {
        Self::from(u64::from(number))
    }
}

impl From<Wide<512, 8>> for Wide<1024, 16> {
    fn from(number: Wide<512, 8>) -> Self {
        Self::low_bits_of(number.as_limbs())
    }
}
