//! What is asked of the figure.

use crate::evidence::Base;
use crate::ids::PoolId;
use crate::json::wire_struct;
use crate::series::Slot;
use crate::units::{GapLimit, Percent};

/// What is asked, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecayTerms {
    /// The pool.
    pub pool: PoolId,
    /// The token sold.
    pub base: Base,
    /// The first slot looked at.
    pub from: Slot,
    /// The last slot looked at.
    pub to: Slot,
    /// How far the mid must have moved, in millionths of a percent: 1 to 100,000,000.
    pub move_e8: u32,
    /// Over how many slots: 1 to 48.
    pub within_slots: u32,
    /// The gap at which books are measured.
    pub gap: GapLimit,
}

/// The same as a figure file spells it.
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

/// Why there is no figure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecayError {
    /// Of this kind of pool, liquidity cannot be put under another price.
    #[error(
        "depth decay is not told of {protocol}: it is of pools of concentrated liquidity and of constant product"
    )]
    UnsupportedKind {
        /// The kind, as in state bodies.
        protocol: &'static str,
    },
    /// The period ends before it begins, or is too long.
    #[error("a period has 1 to {most} slots, asked for {found}; ask for a shorter one")]
    Period {
        /// Slots asked for; 0 where it ends before it begins.
        found: u64,
        /// The most there may be.
        most: u32,
    },
    /// A number is outside of its bounds, or not in its one spelling.
    #[error("{field}: {rule}")]
    Parameter {
        /// The parameter.
        field: &'static str,
        /// What it must be.
        rule: &'static str,
    },
    /// A slot before the one that was given last, or outside of the period.
    #[error("slot {slot} is out of order, or outside of the period")]
    OutOfOrder {
        /// The slot.
        slot: Slot,
    },
}

impl DecayError {
    /// The stable code, e.g. `figure_unsupported_kind`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnsupportedKind { .. } => "figure_unsupported_kind",
            Self::Period { .. } => "figure_period",
            Self::Parameter { .. } => "figure_parameter",
            Self::OutOfOrder { .. } => "figure_slot_order",
        }
    }
}

impl DecayTerms {
    /// The most slots of a period: 31 days.
    pub const MAX_SLOTS: u32 = 31 * Slot::PER_DAY;
    /// The most slots over which a move is looked for.
    pub const MAX_WITHIN: u32 = 48;
    const MAX_MOVE: u32 = 100_000_000;

    /// Requires that every number lies within its bounds.
    pub fn checked(self) -> Result<Self, DecayError> {
        let slots = u64::from(self.to.number()) + 1;
        let found = slots.saturating_sub(self.from.number().into());
        let most = Self::MAX_SLOTS;
        if found == 0 || found > most.into() {
            return Err(DecayError::Period { found, most });
        }
        if !(1..=Self::MAX_MOVE).contains(&self.move_e8) {
            let rule = "above 0 and at most 100, of at most six decimals";
            return Err(DecayError::Parameter { field: "move_pct", rule });
        }
        if !(1..=Self::MAX_WITHIN).contains(&self.within_slots) {
            return Err(DecayError::Parameter { field: "within_slots", rule: "1 to 48" });
        }
        if self.gap.millionths() <= 0 {
            let rule = "above 0 and at most 100, of at most six decimals";
            return Err(DecayError::Parameter { field: "gap_pct", rule });
        }
        Ok(self)
    }

    /// As a figure file spells it.
    pub fn parameters(&self) -> DecayParameters {
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
}

impl TryFrom<&DecayParameters> for DecayTerms {
    type Error = DecayError;

    fn try_from(read: &DecayParameters) -> Result<Self, DecayError> {
        let wrong = |field, rule| DecayError::Parameter { field, rule };
        let slot = |field, number| {
            Slot::new(number).map_err(|_| wrong(field, "the number of a slot of the series"))
        };
        let percent = "above 0 and at most 100, of at most six decimals";
        let parsed = Percent::parse(&read.move_pct).ok();
        let move_e8 = parsed.and_then(|percent| u32::try_from(percent.0).ok());
        let terms = Self {
            pool: read.pool.clone(),
            base: read.base,
            from: slot("from", read.from)?,
            to: slot("to", read.to)?,
            move_e8: move_e8.ok_or_else(|| wrong("move_pct", percent))?,
            within_slots: read.within_slots,
            gap: read.gap_pct.parse().map_err(|_| wrong("gap_pct", percent))?,
        };
        let terms = terms.checked()?;
        let spelled = terms.parameters();
        if spelled.move_pct != read.move_pct || spelled.gap_pct != read.gap_pct {
            return Err(wrong("move_pct, gap_pct", "without trailing zeros"));
        }
        Ok(terms)
    }
}
