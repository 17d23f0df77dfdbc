//! The parameters of the exposure figure.

use super::ExposurePass;
use crate::analytics::FigureError;
use crate::analytics::figure::Figure;
use crate::analytics::venues::{FigureVenue, Reference, read_share, require_venues};
use crate::ids::PoolId;
use crate::json::wire_struct;
use crate::series::Slot;
use crate::units::{GapLimit, Percent, SizeUsd};

/// One, in units of a millionth of a percent.
pub(super) const ONE_E8: u32 = 100_000_000;

/// The liquidator's bonus and the price drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Liquidation {
    /// The bonus on the amount repaid, in millionths of a percent: at most 100,000,000.
    pub bonus_e8: u32,
    /// The protocol's share of the bonus, in the same unit.
    pub protocol_fee_e8: u32,
    /// How far the price of the token sold has fallen, in millionths of a percent: at most 99,000,000.
    pub fall_e8: u32,
}

impl Liquidation {
    /// The largest price drop: 99 percent.
    pub const MAX_FALL: u32 = 99_000_000;

    /// The liquidator's factor `F` is `1 + kept ÷ 10^16`.
    pub(super) fn kept_e16(self) -> u64 {
        u64::from(self.bonus_e8) * u64::from(ONE_E8 - self.protocol_fee_e8.min(ONE_E8))
    }

    /// The gap at which a liquidator breaks even, rounded down.
    pub fn break_even(self) -> GapLimit {
        let kept = u128::from(self.kept_e16());
        let gap = kept * u128::from(ONE_E8) / (u128::from(ONE_E8).pow(2) + kept);
        // The result is at most one half.
        i64::try_from(gap)
            .ok()
            .and_then(|gap| GapLimit::from_millionths(gap).ok())
            .unwrap_or(GapLimit::DEPTH)
    }

    pub(super) fn validate(self) -> Result<Self, FigureError> {
        let bounded = [
            (
                "bonus_pct",
                self.bonus_e8,
                ONE_E8,
                "must be from 0 to 100, with at most six decimals",
            ),
            (
                "protocol_fee_pct",
                self.protocol_fee_e8,
                ONE_E8,
                "must be from 0 to 100, with at most six decimals",
            ),
            (
                "fall_pct",
                self.fall_e8,
                Self::MAX_FALL,
                "must be from 0 to 99, with at most six decimals",
            ),
        ];
        match bounded.into_iter().find(|(_, found, most, _)| found > most) {
            Some((field, _, _, rule)) => Err(FigureError::Parameter { field, rule }),
            None => Ok(self),
        }
    }
}

/// The validated parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExposureTerms {
    /// The venues that share the sale: 1 to 12 pools on one chain, each with its own contract.
    pub venues: Vec<FigureVenue>,
    /// The first slot.
    pub from: Slot,
    /// The last slot, at most a week later.
    pub to: Slot,
    /// The amount sold.
    pub cascade: SizeUsd,
    /// The liquidation rules and the price drop.
    pub liquidation: Liquidation,
    /// The price that depths and gaps are measured from, in version 2; `None` in version 1, which knows the oracle price
    /// only.
    pub reference: Option<Reference>,
}

/// The parameters as a figure file spells them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExposureParameters {
    bonus_pct: String,
    cascade_usd: String,
    fall_pct: String,
    from: u64,
    protocol_fee_pct: String,
    reference: Option<Reference>,
    to: u64,
    venues: Vec<FigureVenue>,
}

wire_struct!(ExposureParameters {
    bonus_pct,
    cascade_usd,
    fall_pct,
    from,
    protocol_fee_pct,
    to,
    venues;
    optional reference,
});

impl ExposureTerms {
    /// The longest period: one week.
    pub const MAX_SLOTS: u32 = 7 * Slot::PER_DAY;
}

impl Figure for ExposureTerms {
    const NAME: &'static str = super::EXPOSURE[0];
    const NAMES: &'static [&'static str] = &super::EXPOSURE;

    type Parameters = ExposureParameters;
    type Pass = ExposurePass;

    fn validate(self) -> Result<Self, FigureError> {
        require_venues(&self.venues)?;
        FigureError::require_period(self.from, self.to, Self::MAX_SLOTS)?;
        self.liquidation.validate()?;
        Ok(self)
    }

    fn name(&self) -> &'static str {
        super::EXPOSURE[usize::from(self.reference.is_some())]
    }

    fn parameters(&self) -> ExposureParameters {
        let percent = |e8: u32| Percent(e8.into()).to_string();
        ExposureParameters {
            bonus_pct: percent(self.liquidation.bonus_e8),
            cascade_usd: self.cascade.to_string(),
            fall_pct: percent(self.liquidation.fall_e8),
            from: self.from.number().into(),
            protocol_fee_pct: percent(self.liquidation.protocol_fee_e8),
            reference: self.reference,
            to: self.to.number().into(),
            venues: self.venues.clone(),
        }
    }

    fn from_parameters(read: &ExposureParameters) -> Result<Self, FigureError> {
        let wrong = |field, rule| FigureError::Parameter { field, rule };
        let terms = Self {
            venues: read.venues.clone(),
            from: FigureError::slot("from", read.from)?,
            to: FigureError::slot("to", read.to)?,
            cascade: read.cascade_usd.parse().map_err(|_| wrong("cascade_usd", "a size in USD"))?,
            liquidation: Liquidation {
                bonus_e8: read_share("bonus_pct", &read.bonus_pct)?,
                protocol_fee_e8: read_share("protocol_fee_pct", &read.protocol_fee_pct)?,
                fall_e8: read_share("fall_pct", &read.fall_pct)?,
            },
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

    fn pass(self) -> Result<ExposurePass, FigureError> {
        ExposurePass::new(self)
    }
}
