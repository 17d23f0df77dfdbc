//! The parameters of the stress figure.

use super::StressPass;
use crate::analytics::FigureError;
use crate::analytics::decay::DecayTerms;
use crate::analytics::figure::Figure;
use crate::analytics::venues::{FallenExit, FigureVenue, Reference, read_share, require_venues};
use crate::ids::PoolId;
use crate::json::wire_struct;
use crate::pools::Direction;
use crate::series::Slot;
use crate::snapshot::Observation;
use crate::units::{GapLimit, Percent, SizeUsd};

/// The shock that is applied to every slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shock {
    /// The share of all liquidity that is withdrawn, in millionths of a percent: at most 99,000,000.
    pub haircut_e8: u32,
    /// The price drop of the token sold, in the same unit.
    pub fall_e8: u32,
}

impl Shock {
    /// The maximum of both: 99 percent.
    pub const MAX: u32 = 99_000_000;

    /// The exit of an observation after the shock; the inner `None` means that the price after the drop has more digits
    /// than a price can have.
    pub(super) fn exit(
        self,
        observation: &Observation,
        direction: Direction,
        size: SizeUsd,
    ) -> Result<Option<FallenExit>, FigureError> {
        let state = observation.state();
        if self == Self::default() {
            return Ok(Some(FallenExit::still(observation, direction, GapLimit::DEPTH, size)));
        }
        let thinned = state.with_haircut(self.haircut_e8);
        let thinned = thinned.ok_or(FigureError::not_movable("stress", state.protocol()))?;
        FallenExit::from_fall(observation, &thinned, direction, self.fall_e8, GapLimit::DEPTH, size)
    }
}

/// Selects the slots that are evaluated: those in which the mid price of a venue has moved since the slot
/// `within_slots` earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AfterMove {
    /// The minimum move, up or down, in millionths of a percent: 1 to 100,000,000.
    pub move_e8: u32,
    /// The number of slots over which the move is measured: 1 to 48.
    pub within_slots: u32,
}

impl AfterMove {
    const MAX_MOVE: u32 = 100_000_000;
    /// The default number of slots over which a move is measured: a quarter of an hour.
    pub const WITHIN: u32 = 3;
    /// The maximum number of slots over which a move is measured.
    pub const MAX_WITHIN: u32 = DecayTerms::MAX_WITHIN;

    fn validate(self) -> Result<(), FigureError> {
        if !(1..=Self::MAX_MOVE).contains(&self.move_e8) {
            let rule = "must be above 0 and at most 100, with at most six decimals";
            return Err(FigureError::Parameter { field: "after_move_pct", rule });
        }
        if !(1..=Self::MAX_WITHIN).contains(&self.within_slots) {
            return Err(FigureError::Parameter {
                field: "within_slots",
                rule: "must be from 1 to 48",
            });
        }
        Ok(())
    }
}

/// The validated parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StressTerms {
    /// The venues that share the sale: 1 to 12 pools on one chain, each with its own contract.
    pub venues: Vec<FigureVenue>,
    /// The first slot.
    pub from: Slot,
    /// The last slot, at most a week later.
    pub to: Slot,
    /// The amount sold.
    pub size: SizeUsd,
    /// The shock.
    pub shock: Shock,
    /// The gap limit for the `above_…` results.
    pub limit: Option<GapLimit>,
    /// Which slots are evaluated; all of them if absent.
    pub after: Option<AfterMove>,
    /// The price that gaps are measured from, in version 2; `None` in version 1, which knows the oracle price only.
    pub reference: Option<Reference>,
}

/// The parameters as a figure file spells them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StressParameters {
    after_move_pct: Option<String>,
    fall_pct: String,
    from: u64,
    haircut_pct: String,
    limit_pct: Option<String>,
    reference: Option<Reference>,
    size_usd: String,
    to: u64,
    venues: Vec<FigureVenue>,
    within_slots: Option<u32>,
}

wire_struct!(StressParameters {
    after_move_pct,
    fall_pct,
    from,
    haircut_pct,
    limit_pct,
    size_usd,
    to,
    venues,
    within_slots;
    optional reference,
});

impl StressTerms {
    /// The longest period: one week.
    pub const MAX_SLOTS: u32 = 7 * Slot::PER_DAY;
}

impl Figure for StressTerms {
    const NAME: &'static str = super::STRESS[0];
    const NAMES: &'static [&'static str] = &super::STRESS;

    type Parameters = StressParameters;
    type Pass = StressPass;

    fn validate(self) -> Result<Self, FigureError> {
        require_venues(&self.venues)?;
        FigureError::require_period(self.from, self.to, Self::MAX_SLOTS)?;
        self.after.map_or(Ok(()), AfterMove::validate)?;
        let Shock { haircut_e8, fall_e8 } = self.shock;
        let shares = [("haircut_pct", haircut_e8), ("fall_pct", fall_e8)];
        match shares.into_iter().find(|(_, found)| *found > Shock::MAX) {
            Some((field, _)) => {
                let rule = "must be from 0 to 99, with at most six decimals";
                Err(FigureError::Parameter { field, rule })
            }
            None => Ok(self),
        }
    }

    fn name(&self) -> &'static str {
        super::STRESS[usize::from(self.reference.is_some())]
    }

    fn parameters(&self) -> StressParameters {
        let percent = |e8: u32| Percent(e8.into()).to_string();
        StressParameters {
            after_move_pct: self.after.map(|after| percent(after.move_e8)),
            fall_pct: percent(self.shock.fall_e8),
            from: self.from.number().into(),
            haircut_pct: percent(self.shock.haircut_e8),
            limit_pct: self.limit.map(|limit| Percent::from(limit).to_string()),
            reference: self.reference,
            size_usd: self.size.to_string(),
            to: self.to.number().into(),
            venues: self.venues.clone(),
            within_slots: self.after.map(|after| after.within_slots),
        }
    }

    fn from_parameters(read: &StressParameters) -> Result<Self, FigureError> {
        let wrong = |field, rule| FigureError::Parameter { field, rule };
        let limit = |text: &String| {
            text.parse()
                .map_err(|_| wrong("limit_pct", "must be a plain percentage from −100 to 100"))
        };
        let after = match (&read.after_move_pct, read.within_slots) {
            (Some(text), Some(within_slots)) => {
                Some(AfterMove { move_e8: read_share("after_move_pct", text)?, within_slots })
            }
            (None, None) => None,
            _ => {
                return Err(wrong(
                    "after_move_pct, within_slots",
                    "must be given together or not at all",
                ));
            }
        };
        let terms = Self {
            venues: read.venues.clone(),
            from: FigureError::slot("from", read.from)?,
            to: FigureError::slot("to", read.to)?,
            size: read.size_usd.parse().map_err(|_| wrong("size_usd", "a size in USD"))?,
            shock: Shock {
                haircut_e8: read_share("haircut_pct", &read.haircut_pct)?,
                fall_e8: read_share("fall_pct", &read.fall_pct)?,
            },
            limit: read.limit_pct.as_ref().map(limit).transpose()?,
            after,
            reference: read.reference,
        };
        let terms = terms.validate()?;
        if terms.parameters() != *read {
            return Err(wrong("parameters", "decimals without trailing zeros"));
        }
        Ok(terms)
    }

    fn pools(&self) -> Vec<&PoolId> {
        self.venues.iter().map(|venue| &venue.pool).collect()
    }

    fn period(&self) -> (Slot, Slot) {
        (self.from, self.to)
    }

    fn pass(self) -> Result<StressPass, FigureError> {
        StressPass::new(self)
    }
}
