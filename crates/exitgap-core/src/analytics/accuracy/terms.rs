//! What is asked of the record.

use super::AccuracyError;
use crate::ids::PoolId;
use crate::json::wire_struct;
use crate::series::Slot;

/// What is asked, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccuracyTerms {
    /// The pool.
    pub pool: PoolId,
    /// The first slot looked at: swaps after its block count.
    pub from: Slot,
    /// The last slot looked at.
    pub to: Slot,
    /// Heads up to this slot tell what was logged: what is not final yet at `to` is told later.
    pub until: Slot,
}

/// The same as a figure file spells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccuracyParameters {
    from: u64,
    pool: PoolId,
    to: u64,
    until: u64,
}

wire_struct!(AccuracyParameters { from, pool, to, until });

impl AccuracyTerms {
    /// The most slots of a period: 31 days.
    pub const MAX_SLOTS: u32 = 31 * Slot::PER_DAY;

    /// How many slots after the period heads still tell of it: those of a day.
    pub const MAX_LATER: u32 = Slot::PER_DAY;

    /// Requires that the period lies within its bounds.
    pub fn checked(self) -> Result<Self, AccuracyError> {
        let later = self.until.number().checked_sub(self.to.number());
        if later.is_none_or(|later| later > Self::MAX_LATER) {
            return Err(AccuracyError::Until { most: Self::MAX_LATER });
        }
        let slots = u64::from(self.to.number()) + 1;
        let found = slots.saturating_sub(self.from.number().into());
        let most = Self::MAX_SLOTS;
        if found == 0 || found > most.into() {
            return Err(AccuracyError::Period { found, most });
        }
        Ok(self)
    }

    /// As a figure file spells it.
    pub fn parameters(&self) -> AccuracyParameters {
        AccuracyParameters {
            from: self.from.number().into(),
            pool: self.pool.clone(),
            to: self.to.number().into(),
            until: self.until.number().into(),
        }
    }
}

impl TryFrom<&AccuracyParameters> for AccuracyTerms {
    type Error = AccuracyError;

    fn try_from(read: &AccuracyParameters) -> Result<Self, AccuracyError> {
        let slot = |field, number| Slot::new(number).map_err(|_| AccuracyError::NoSlot { field });
        let (from, to) = (slot("from", read.from)?, slot("to", read.to)?);
        Self { pool: read.pool.clone(), from, to, until: slot("until", read.until)? }.checked()
    }
}
