//! The parameters of the accuracy record.

use super::{AccuracyPass, AccuracyRules};
use crate::analytics::FigureError;
use crate::analytics::figure::Figure;
use crate::ids::PoolId;
use crate::json::wire_struct;
use crate::series::Slot;

/// The validated parameters of a version of the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccuracyTermsOf<const VERSION: u8> {
    /// The pool.
    pub pool: PoolId,
    /// The first slot. Swaps after its block count.
    pub from: Slot,
    /// The last slot.
    pub to: Slot,
    /// The last slot whose head is read for logs. Logs that were not yet final at `to` appear in later heads.
    pub until: Slot,
}

/// The parameters of new records.
pub type AccuracyTerms = AccuracyTermsOf<2>;

/// The parameters as a figure file spells them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccuracyParameters {
    from: u64,
    pool: PoolId,
    to: u64,
    until: u64,
}

wire_struct!(AccuracyParameters { from, pool, to, until });

impl<const VERSION: u8> AccuracyTermsOf<VERSION> {
    /// The longest period: 31 days.
    pub const MAX_SLOTS: u32 = 31 * Slot::PER_DAY;

    /// The rules.
    pub(super) const RULES: AccuracyRules = AccuracyRules::of(VERSION);

    /// How many slots after the period heads are still read for logs: one day.
    pub const MAX_LATER: u32 = Slot::PER_DAY;
}

impl<const VERSION: u8> Figure for AccuracyTermsOf<VERSION> {
    const NAME: &'static str = AccuracyRules::of(VERSION).name();
    const TAKES_FILLS: bool = true;

    type Parameters = AccuracyParameters;
    type Pass = AccuracyPass;

    fn validate(self) -> Result<Self, FigureError> {
        let later = self.until.number().checked_sub(self.to.number());
        if later.is_none_or(|later| later > Self::MAX_LATER) {
            let rule = "must be from the end of the period to one day after it";
            return Err(FigureError::Parameter { field: "until", rule });
        }
        FigureError::require_period(self.from, self.to, Self::MAX_SLOTS)?;
        Ok(self)
    }

    fn parameters(&self) -> AccuracyParameters {
        AccuracyParameters {
            from: self.from.number().into(),
            pool: self.pool.clone(),
            to: self.to.number().into(),
            until: self.until.number().into(),
        }
    }

    fn from_parameters(read: &AccuracyParameters) -> Result<Self, FigureError> {
        let terms = Self {
            pool: read.pool.clone(),
            from: FigureError::slot("from", read.from)?,
            to: FigureError::slot("to", read.to)?,
            until: FigureError::slot("until", read.until)?,
        };
        terms.validate()
    }

    fn pools(&self) -> Vec<&PoolId> {
        vec![&self.pool]
    }

    fn period(&self) -> (Slot, Slot) {
        (self.from, self.to)
    }

    fn last_head(&self) -> Slot {
        self.until
    }

    fn pass(self) -> Result<AccuracyPass, FigureError> {
        AccuracyPass::new(self)
    }
}
