//! The amounts that a search may return.

use crate::exit::terms::Terms;
use crate::units::SizeUsd;
use crate::wide::{U256, U512};

/// A list of amounts, `⌊index · scale ÷ per⌋` for each index from 1 up.
pub(super) enum Grid<'a> {
    /// Every amount.
    Units,
    /// The amounts of the sizes that are multiples of `step` micro-dollars.
    Sizes { terms: &'a Terms, step: u64 },
}

impl<'a> Grid<'a> {
    pub(super) fn sizes(terms: &'a Terms, step: u64) -> Self {
        Self::Sizes { terms, step }
    }

    /// The largest index whose amount is at most `amount`.
    pub(super) fn index_within(&self, amount: U256) -> U256 {
        match self {
            Self::Units => amount,
            Self::Sizes { terms, step } => U256::from(terms.largest_size_within(amount) / step),
        }
    }

    /// The amount of an index; `None` if it is zero or belongs to a size below the minimum.
    pub(super) fn amount(&self, index: U256) -> Option<U256> {
        let amount = match self {
            Self::Units => Some(index),
            Self::Sizes { terms, step } => {
                let micros = index.saturating_to::<u64>().saturating_mul(*step);
                SizeUsd::from_micros(micros).ok().and_then(|size| terms.amount_in(size))
            }
        };
        amount.filter(|amount| !amount.is_zero())
    }

    /// Whether the grid includes every amount up to that of the largest size.
    pub(super) fn holds_every_amount(&self) -> bool {
        let (scale, per) = self.scale();
        scale <= per
    }

    /// The largest size of the grid whose amount is at most `amount`.
    pub(super) fn size_within(&self, amount: U256) -> Option<SizeUsd> {
        match self {
            Self::Units => None,
            Self::Sizes { step, .. } => {
                let index = self.index_within(amount).saturating_to::<u64>();
                SizeUsd::from_micros(index.saturating_mul(*step)).ok()
            }
        }
    }

    /// `scale` and `per`.
    pub(super) fn scale(&self) -> (U512, U512) {
        match self {
            Self::Units => (U512::ONE, U512::ONE),
            Self::Sizes { terms, step } => terms.size_scale(*step),
        }
    }
}
