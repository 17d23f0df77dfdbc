//! Signed numbers like the contracts' `int256`, with additional bits for intermediate results between two checks.

use crate::wide::{U256, U512, narrow};

/// A signed number of up to 512 bits. Every operation returns `None` if the result does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SignedInt {
    negative: bool,
    size: U512,
}

impl SignedInt {
    pub const ONE: Self = Self { negative: false, size: U512::ONE };

    pub fn from_u256(number: U256) -> Self {
        Self { negative: false, size: number.into() }
    }

    pub fn small(number: u128) -> Self {
        Self { negative: false, size: number.into() }
    }

    pub fn size(self) -> U512 {
        self.size
    }

    /// The absolute value.
    pub fn positive(self) -> Self {
        Self { negative: false, ..self }
    }

    pub fn is_above_zero(self) -> bool {
        !self.negative && !self.size.is_zero()
    }

    pub fn is_below_zero(self) -> bool {
        self.negative && !self.size.is_zero()
    }

    pub fn negate(self) -> Self {
        Self { negative: !self.negative, ..self }
    }

    pub fn plus(self, other: Self) -> Option<Self> {
        if self.negative == other.negative {
            return Some(Self { size: self.size.checked_add(other.size)?, ..self });
        }
        Some(match self.size.checked_sub(other.size) {
            Some(size) => Self { size, ..self },
            None => Self { size: other.size - self.size, ..other },
        })
    }

    pub fn minus(self, other: Self) -> Option<Self> {
        self.plus(other.negate())
    }

    pub fn times(self, other: Self) -> Option<Self> {
        let size = self.size.checked_mul(other.size)?;
        Some(Self { negative: self.negative != other.negative, size })
    }

    /// The quotient, truncated towards zero.
    pub fn over(self, other: Self) -> Option<Self> {
        let size = self.size.checked_div(other.size)?;
        Some(Self { negative: self.negative != other.negative, size })
    }

    /// The number, if it fits in a word.
    pub fn word(self) -> Option<Self> {
        let most = U512::ONE << 255;
        let fits = if self.negative { self.size <= most } else { self.size < most };
        fits.then_some(self)
    }

    /// The number, if it fits in an unsigned word.
    pub fn to_u256(self) -> Option<U256> {
        if self.is_below_zero() { None } else { narrow(self.size) }
    }
}
