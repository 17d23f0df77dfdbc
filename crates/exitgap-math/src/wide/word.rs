//! The contracts' word in WebAssembly.
//!
//! The library inlines its arithmetic at every use, and most of the code that a page loaded was copies of it. Here each
//! operation is one function that is called. It has the same names as in the library, so other code does not depend on
//! which one is used.

use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::{Add, AddAssign, Shl, Shr, ShrAssign, Sub, SubAssign};
use core::str::FromStr;

use ruint::{FromUintError, ParseError, Uint, UintTryTo};

/// The library's type.
type Inner = Uint<256, 4>;

/// 256-bit unsigned integer, the contracts' word.
#[derive(Clone, Copy, Debug, Default)]
pub struct U256(pub(super) Inner);

/// Generates operations of the library, each compiled once.
macro_rules! called {
    ($($name:ident($($of:ident: $type:ty),*) -> $answer:ty, $make:expr;)+) => {$(
        #[doc = concat!("As the library's `", stringify!($name), "`.")]
        #[must_use]
        #[inline(never)]
        pub fn $name(self, $($of: $type),*) -> $answer {
            $make(self.0.$name($($of.0),*))
        }
    )+};
}

impl U256 {
    /// The value zero.
    pub const ZERO: Self = Self(Inner::ZERO);
    /// The value one.
    pub const ONE: Self = Self(Inner::ONE);
    /// `2^256 − 1`.
    pub const MAX: Self = Self(Inner::MAX);

    called! {
        checked_add(other: Self) -> Option<Self>, some;
        checked_sub(other: Self) -> Option<Self>, some;
        saturating_add(other: Self) -> Self, Self;
        saturating_sub(other: Self) -> Self, Self;
        abs_diff(other: Self) -> Self, Self;
    }

    /// The number of significant bits.
    #[must_use]
    #[inline(never)]
    pub fn bit_len(&self) -> usize {
        self.0.bit_len()
    }

    /// Whether it is zero.
    #[must_use]
    #[inline(never)]
    pub fn is_zero(&self) -> bool {
        self.0.is_zero()
    }

    /// A word from 64-bit limbs, lowest first.
    #[must_use]
    pub const fn from_limbs(limbs: [u64; 4]) -> Self {
        Self(Inner::from_limbs(limbs))
    }

    /// Same from at most four limbs.
    #[must_use]
    pub fn from_limbs_slice(limbs: &[u64]) -> Self {
        Self(Inner::from_limbs_slice(limbs))
    }

    /// Its limbs, lowest first.
    #[must_use]
    pub const fn as_limbs(&self) -> &[u64; 4] {
        self.0.as_limbs()
    }

    /// The number, or the maximum of the type.
    #[must_use]
    #[inline(never)]
    pub fn saturating_to<T>(&self) -> T
    where
        Inner: UintTryTo<T>,
    {
        self.0.saturating_to()
    }
}

/// Converts an optional result for [`called`].
fn some(inner: Option<Inner>) -> Option<U256> {
    inner.map(U256)
}

/// The library's word.
pub(super) fn bare(word: U256) -> Inner {
    word.0
}

/// Wraps the library's word.
pub(super) fn word(bare: Inner) -> U256 {
    U256(bare)
}

/// Converts smaller numbers to words. A literal is an `i32`; a negative one panics.
macro_rules! from_smaller {
    ($($smaller:ty),+) => {$(
        impl From<$smaller> for U256 {
            #[inline(never)]
            fn from(number: $smaller) -> Self {
                Self(Inner::from(number))
            }
        }
    )+};
}

from_smaller!(u8, u16, u32, u64, u128, usize, i32);

impl PartialEq for U256 {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for U256 {}

impl Hash for U256 {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl PartialOrd for U256 {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for U256 {
    #[inline(never)]
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}

impl Add for U256 {
    type Output = Self;
    #[inline(never)]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for U256 {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for U256 {
    type Output = Self;
    #[inline(never)]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl SubAssign for U256 {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Shl<usize> for U256 {
    type Output = Self;
    #[inline(never)]
    fn shl(self, bits: usize) -> Self {
        Self(self.0 << bits)
    }
}

impl Shr<usize> for U256 {
    type Output = Self;
    #[inline(never)]
    fn shr(self, bits: usize) -> Self {
        Self(self.0 >> bits)
    }
}

impl ShrAssign<usize> for U256 {
    fn shr_assign(&mut self, bits: usize) {
        *self = *self >> bits;
    }
}

impl TryFrom<U256> for i128 {
    type Error = FromUintError<i128>;
    fn try_from(word: U256) -> Result<Self, Self::Error> {
        word.0.try_into()
    }
}

impl FromStr for U256 {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        text.parse().map(Self)
    }
}

impl fmt::Display for U256 {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// The functions of the library that tests use for expected values. The code uses those of `wide` instead, whose
/// results are compared with these.
#[cfg(test)]
mod expected {
    use core::ops::{Div, Mul, Rem};

    use super::{Inner, U256, UintTryTo};

    impl U256 {
        /// As the library's `pow`.
        pub fn pow(self, times: Self) -> Self {
            Self(self.0.pow(times.0))
        }

        /// As the library's `to`.
        pub fn to<T: core::fmt::Debug>(&self) -> T
        where
            Inner: UintTryTo<T>,
        {
            self.0.to()
        }

        /// As the library's `from_str_radix`.
        pub fn from_str_radix(
            text: &str,
            radix: u64,
        ) -> Result<Self, <Inner as core::str::FromStr>::Err> {
            Inner::from_str_radix(text, radix).map(Self)
        }
    }

    impl Mul for U256 {
        type Output = Self;
        fn mul(self, other: Self) -> Self {
            Self(self.0 * other.0)
        }
    }

    impl Div for U256 {
        type Output = Self;
        fn div(self, other: Self) -> Self {
            Self(self.0 / other.0)
        }
    }

    impl Rem for U256 {
        type Output = Self;
        fn rem(self, other: Self) -> Self {
            Self(self.0 % other.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Words of every length, with limbs for which carries go wrong.
    fn words() -> impl Strategy<Value = Inner> {
        let limb = prop_oneof![Just(0), Just(1), Just(u64::MAX), any::<u64>()];
        proptest::collection::vec(limb, 0..=4).prop_map(|limbs| Inner::from_limbs_slice(&limbs))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_096))]

        #[test]
        fn a_word_answers_as_the_library_does(a in words(), b in words(), bits in 0_usize..300) {
            let (x, y) = (word(a), word(b));
            prop_assert_eq!(x.checked_add(y).map(bare), a.checked_add(b));
            prop_assert_eq!(x.checked_sub(y).map(bare), a.checked_sub(b));
            prop_assert_eq!(bare(x.saturating_add(y)), a.saturating_add(b));
            prop_assert_eq!(bare(x.saturating_sub(y)), a.saturating_sub(b));
            prop_assert_eq!(bare(x.abs_diff(y)), a.abs_diff(b));
            prop_assert_eq!([bare(x + y), bare(x - y)], [a + b, a - b]);
            let (mut grown, mut less, mut moved) = (x, x, x);
            grown += y;
            less -= y;
            moved >>= bits;
            prop_assert_eq!([grown, less, moved].map(bare), [a + b, a - b, a >> bits]);
            prop_assert_eq!([bare(x << bits), bare(x >> bits)], [a << bits, a >> bits]);
            prop_assert_eq!((x.bit_len(), x.is_zero()), (a.bit_len(), a.is_zero()));
            prop_assert_eq!((x.cmp(&y), x == y, x == x), (a.cmp(&b), a == b, true));
            prop_assert_eq!(x.saturating_to::<u64>(), a.saturating_to::<u64>());
            prop_assert_eq!(x.saturating_to::<u128>(), a.saturating_to::<u128>());
            prop_assert_eq!(i128::try_from(x).ok(), i128::try_from(a).ok());
            prop_assert_eq!(U256::from_limbs(*x.as_limbs()), x);
            prop_assert_eq!(U256::from_limbs_slice(a.as_limbs()), x);
            prop_assert_eq!(x.to_string(), a.to_string());
            prop_assert_eq!(x.to_string().parse::<U256>().map(bare), a.to_string().parse::<Inner>());
        }

        #[test]
        fn smaller_numbers_become_the_same_words(number: u128, small: u32, literal in 0..i32::MAX) {
            prop_assert_eq!(bare(U256::from(number)), Inner::from(number));
            prop_assert_eq!(bare(U256::from(small)), Inner::from(small));
            prop_assert_eq!(bare(U256::from(literal)), Inner::from(literal));
        }
    }
}
