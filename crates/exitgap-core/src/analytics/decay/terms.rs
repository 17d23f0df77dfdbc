//! The parameters of the decay figure.

use super::DecayPass;
use crate::analytics::FigureError;
use crate::analytics::figure::Figure;
use crate::evidence::Base;
use crate::ids::PoolId;
use crate::json::wire_struct;
use crate::series::Slot;
use crate::units::{GapLimit, Percent};

/// The validated parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecayTerms {
    /// The pool.
    pub pool: PoolId,
    /// The token sold.
    pub base: Base,
    /// The first slot.
    pub from: Slot,
    /// The last slot.
    pub to: Slot,
    /// How far the mid price must have moved, in millionths of a percent: 1 to 100,000,000.
    pub move_e8: u32,
    /// The number of slots over which the move is measured: 1 to 48.
    pub within_slots: u32,
    /// The gap at which depths are measured.
    pub gap: GapLimit,
}

/// The parameters as a figure file spells them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecayParameters {
    base: Base,
    from: u64,
    gap_pct: String,
    move_pct: String,
    pool: PoolId,
    to: u64,
    within_slots: u32,
}

wire_struct!(DecayParameters { base, from, gap_pct, move_pct, pool, to, within_slots });

impl DecayTerms {
    /// The longest period: 31 days.
    pub const MAX_SLOTS: u32 = 31 * Slot::PER_DAY;
    /// The most slots over which a move can be measured.
    pub const MAX_WITHIN: u32 = 48;
    const MAX_MOVE: u32 = 100_000_000;
}

impl Figure for DecayTerms {
    const NAME: &'static str = super::DECAY;

    type Parameters = DecayParameters;
    type Pass = DecayPass;

    fn validate(self) -> Result<Self, FigureError> {
        FigureError::require_period(self.from, self.to, Self::MAX_SLOTS)?;
        let percent = "must be above 0 and at most 100, with at most six decimals";
        let wrong = |field, rule| Err(FigureError::Parameter { field, rule });
        if !(1..=Self::MAX_MOVE).contains(&self.move_e8) {
            return wrong("move_pct", percent);
        }
        if !(1..=Self::MAX_WITHIN).contains(&self.within_slots) {
            return wrong("within_slots", "must be from 1 to 48");
        }
        if self.gap.millionths() <= 0 {
            return wrong("gap_pct", percent);
        }
        Ok(self)
    }

    fn parameters(&self) -> DecayParameters {
        DecayParameters {
            base: self.base,
            from: self.from.number().into(),
            gap_pct: self.gap.to_string(),
            move_pct: Percent(self.move_e8.into()).to_string(),
            pool: self.pool.clone(),
            to: self.to.number().into(),
            within_slots: self.within_slots,
        }
    }

    fn from_parameters(spelled: &DecayParameters) -> Result<Self, FigureError> {
        let wrong = |field, rule| FigureError::Parameter { field, rule };
        let percent = "must be above 0 and at most 100, with at most six decimals";
        let parsed = Percent::parse(&spelled.move_pct).ok();
        let move_e8 = parsed.and_then(|percent| u32::try_from(percent.0).ok());
        let terms = Self {
            pool: spelled.pool.clone(),
            base: spelled.base,
            from: FigureError::slot("from", spelled.from)?,
            to: FigureError::slot("to", spelled.to)?,
            move_e8: move_e8.ok_or_else(|| wrong("move_pct", percent))?,
            within_slots: spelled.within_slots,
            gap: spelled.gap_pct.parse().map_err(|_| wrong("gap_pct", percent))?,
        };
        let terms = terms.validate()?;
        if terms.parameters() != *spelled {
            return Err(wrong("move_pct, gap_pct", "without trailing zeros"));
        }
        Ok(terms)
    }

    fn pools(&self) -> Vec<&PoolId> {
        vec![&self.pool]
    }

    fn period(&self) -> (Slot, Slot) {
        (self.from, self.to)
    }

    fn pass(self) -> Result<DecayPass, FigureError> {
        DecayPass::new(self)
    }
}
