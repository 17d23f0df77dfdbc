//! What is asked of the figure.

use crate::evidence::Base;
use crate::exit::MAX_ROUTE_VENUES;
use crate::ids::PoolId;
use crate::json::wire_struct;
use crate::series::Slot;
use crate::units::{GapLimit, Percent, SizeUsd};

/// One, counted in millionths of a percent.
pub(super) const ONE_E8: u32 = 100_000_000;

/// A pool that the collateral is sold in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExposureVenue {
    /// The pool.
    pub pool: PoolId,
    /// The token sold.
    pub base: Base,
}

wire_struct!(ExposureVenue { base, pool });

/// What liquidators get, and after which fall of the price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Liquidation {
    /// The bonus on what is repaid, in millionths of a percent: at most 100,000,000.
    pub bonus_e8: u32,
    /// The protocol's share of the bonus, likewise.
    pub protocol_fee_e8: u32,
    /// How far the price of the token sold has fallen, in millionths of a percent: at most 99,000,000.
    pub fall_e8: u32,
}

impl Liquidation {
    /// The furthest fall: 99 percent.
    pub const MAX_FALL: u32 = 99_000_000;

    /// `F` is `1 + kept ÷ 10^16`.
    pub(super) fn kept_e16(self) -> u64 {
        u64::from(self.bonus_e8) * u64::from(ONE_E8 - self.protocol_fee_e8.min(ONE_E8))
    }

    /// The gap up to which a liquidator does not lose, rounded down.
    pub fn break_even(self) -> GapLimit {
        let kept = u128::from(self.kept_e16());
        let gap = kept * u128::from(ONE_E8) / (u128::from(ONE_E8).pow(2) + kept);
        // At most one half.
        i64::try_from(gap)
            .ok()
            .and_then(|gap| GapLimit::from_millionths(gap).ok())
            .unwrap_or(GapLimit::DEPTH)
    }

    pub(super) fn checked(self) -> Result<Self, ExposureError> {
        let bounded = [
            ("bonus_pct", self.bonus_e8, ONE_E8, "from 0 to 100, of at most six decimals"),
            (
                "protocol_fee_pct",
                self.protocol_fee_e8,
                ONE_E8,
                "from 0 to 100, of at most six decimals",
            ),
            ("fall_pct", self.fall_e8, Self::MAX_FALL, "from 0 to 99, of at most six decimals"),
        ];
        match bounded.into_iter().find(|(_, found, most, _)| found > most) {
            Some((field, _, _, rule)) => Err(ExposureError::Parameter { field, rule }),
            None => Ok(self),
        }
    }
}

/// What is asked, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExposureTerms {
    /// Where the collateral is sold: 1 to 12 pools of one chain, of contracts of their own.
    pub venues: Vec<ExposureVenue>,
    /// The first slot looked at.
    pub from: Slot,
    /// The last one, at most a week later.
    pub to: Slot,
    /// How much is sold.
    pub cascade: SizeUsd,
    /// By which rules, after which fall.
    pub liquidation: Liquidation,
}

/// The same as a figure file spells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExposureParameters {
    bonus_pct: String,
    cascade_usd: String,
    fall_pct: String,
    from: u64,
    protocol_fee_pct: String,
    to: u64,
    venues: Vec<ExposureVenue>,
}

wire_struct!(ExposureParameters {
    bonus_pct,
    cascade_usd,
    fall_pct,
    from,
    protocol_fee_pct,
    to,
    venues,
});

/// Why there is no figure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExposureError {
    /// Of this kind of pool, liquidity cannot be put under another price.
    #[error(
        "liquidation exposure is not told of {protocol}: it is of pools of concentrated liquidity and of constant product"
    )]
    UnsupportedKind {
        /// The kind, as in state bodies.
        protocol: &'static str,
    },
    /// No venue, too many, of two chains, or two of one contract.
    #[error("venues: {rule}")]
    Venues {
        /// What they must be.
        rule: &'static str,
    },
    /// Two venues sell different tokens, or at different prices of the oracle.
    #[error(
        "{pool} sells another token than the first venue, or has another oracle price or other decimals of it"
    )]
    OtherToken {
        /// The later venue.
        pool: PoolId,
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
    /// A snapshot out of the order of slots and venues, or outside of the period.
    #[error("slot {slot} of {pool} is out of order, outside of the period, or of no venue")]
    OutOfOrder {
        /// The slot.
        slot: Slot,
        /// The pool.
        pool: PoolId,
    },
}

impl ExposureError {
    /// The stable code, e.g. `figure_unsupported_kind`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnsupportedKind { .. } => "figure_unsupported_kind",
            Self::Venues { .. } => "figure_venues",
            Self::OtherToken { .. } => "figure_other_token",
            Self::Period { .. } => "figure_period",
            Self::Parameter { .. } => "figure_parameter",
            Self::OutOfOrder { .. } => "figure_slot_order",
        }
    }
}

impl ExposureTerms {
    /// The most slots of a period: a week.
    pub const MAX_SLOTS: u32 = 7 * Slot::PER_DAY;

    /// Requires that every number lies within its bounds.
    pub fn checked(self) -> Result<Self, ExposureError> {
        let venues = |rule| Err(ExposureError::Venues { rule });
        let pools = || self.venues.iter().map(|venue| &venue.pool);
        if self.venues.is_empty() || self.venues.len() > MAX_ROUTE_VENUES {
            return venues("1 to 12 pools");
        }
        if pools().any(|pool| pool.chain() != self.venues[0].pool.chain()) {
            return venues("pools of one chain");
        }
        if (1..self.venues.len()).any(|at| {
            pools().take(at).any(|before| before.contract() == self.venues[at].pool.contract())
        }) {
            return venues(
                "pools of contracts of their own: the same liquidity does not count twice",
            );
        }
        let slots = u64::from(self.to.number()) + 1;
        let found = slots.saturating_sub(self.from.number().into());
        let most = Self::MAX_SLOTS;
        if found == 0 || found > most.into() {
            return Err(ExposureError::Period { found, most });
        }
        self.liquidation.checked()?;
        Ok(self)
    }

    /// As a figure file spells it.
    pub fn parameters(&self) -> ExposureParameters {
        let percent = |e8: u32| Percent(e8.into()).to_string();
        ExposureParameters {
            bonus_pct: percent(self.liquidation.bonus_e8),
            cascade_usd: self.cascade.to_string(),
            fall_pct: percent(self.liquidation.fall_e8),
            from: self.from.number().into(),
            protocol_fee_pct: percent(self.liquidation.protocol_fee_e8),
            to: self.to.number().into(),
            venues: self.venues.clone(),
        }
    }
}

impl TryFrom<&ExposureParameters> for ExposureTerms {
    type Error = ExposureError;

    fn try_from(read: &ExposureParameters) -> Result<Self, ExposureError> {
        let wrong = |field, rule| ExposureError::Parameter { field, rule };
        let slot = |field, number| {
            Slot::new(number).map_err(|_| wrong(field, "the number of a slot of the series"))
        };
        let percent = |field, text: &str| {
            let parsed = Percent::parse(text).ok().and_then(|one| u32::try_from(one.0).ok());
            parsed.ok_or_else(|| wrong(field, "a plain percentage of at most six decimals"))
        };
        let terms = Self {
            venues: read.venues.clone(),
            from: slot("from", read.from)?,
            to: slot("to", read.to)?,
            cascade: read.cascade_usd.parse().map_err(|_| wrong("cascade_usd", "a size in USD"))?,
            liquidation: Liquidation {
                bonus_e8: percent("bonus_pct", &read.bonus_pct)?,
                protocol_fee_e8: percent("protocol_fee_pct", &read.protocol_fee_pct)?,
                fall_e8: percent("fall_pct", &read.fall_pct)?,
            },
        };
        let terms = terms.checked()?;
        if terms.parameters() != *read {
            return Err(wrong("parameters", "decimals without trailing zeros"));
        }
        Ok(terms)
    }
}
