//! The parameters of the equity figure.

use super::EquityPass;
use crate::Newer;
use crate::analytics::FigureError;
use crate::analytics::figure::Figure;
use crate::analytics::hours::{HoursCalendar, HoursParameters, HoursTerms};
use crate::evidence::Base;
use crate::ids::{Code, PoolId};
use crate::json::{wire_code, wire_struct};
use crate::series::Slot;
use crate::snapshot::TokenSession;
use crate::units::GapLimit;

/// How a token reflects dividends and splits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EquityKind {
    /// Balances stay constant; a multiplier gives the number of shares that a token represents (ERC-8056). The feed
    /// prices the token.
    ScaledUi,
    /// Balances stay constant; the price includes dividends through a multiplier that the feed already applies.
    TotalReturn,
    /// Balances change with the multiplier, also those of a pool. The feed prices one unit of the displayed balance.
    Rebasing,
    /// Balances change only at a split, while transfers are paused. The feed prices one unit of the displayed balance.
    SplitRebase,
}

impl EquityKind {
    /// All kinds.
    pub const ALL: [Self; 4] =
        [Self::ScaledUi, Self::TotalReturn, Self::Rebasing, Self::SplitRebase];

    /// The kind of this [`code`](Self::code).
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }

    /// Its stable code.
    pub fn code(self) -> &'static str {
        match self {
            Self::ScaledUi => "scaled_ui",
            Self::TotalReturn => "total_return",
            Self::Rebasing => "rebasing",
            Self::SplitRebase => "split_rebase",
        }
    }

    /// Whether balances change without a transfer.
    pub fn rebases(self) -> bool {
        matches!(self, Self::Rebasing | Self::SplitRebase)
    }
}

/// The names of the facts that hold a token's state. Of each fact the first word counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EquityFactNames {
    /// Its multiplier.
    pub multiplier: Option<Code>,
    /// Its pending multiplier.
    pub pending_multiplier: Option<Code>,
    /// When that takes effect, seconds UTC. A time that is not after the block means that nothing is pending.
    pub effective_at: Option<Code>,
    /// Whether its feed or its transfers are paused: any word except zero.
    pub paused: Option<Code>,
}

/// A token as the caller knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EquityToken {
    /// Its kind.
    pub kind: EquityKind,
    /// The names of the facts that hold its state.
    pub facts: EquityFactNames,
    /// The decimals of its multiplier; 0 to 36.
    pub multiplier_decimals: u8,
}

impl EquityToken {
    /// The maximum number of decimals of a multiplier.
    pub const MAX_DECIMALS: u8 = 36;
}

/// The validated parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EquityTerms {
    /// Pool, base token (the stock), period, size of the gaps, and calendars.
    pub of: HoursTerms,
    /// The gap limit of the depths.
    pub limit: GapLimit,
    /// The tokenized stock.
    pub token: EquityToken,
}

/// The parameters as a figure file spells them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EquityParameters {
    base: Base,
    calendars: Vec<HoursCalendar>,
    effective_at_fact: Option<Code>,
    from: u64,
    gap_pct: String,
    kind: EquityKind,
    multiplier_decimals: u8,
    multiplier_fact: Option<Code>,
    paused_fact: Option<Code>,
    pending_multiplier_fact: Option<Code>,
    pool: PoolId,
    size_usd: String,
    to: u64,
}

wire_code!(EquityKind, EquityKind::ALL);
wire_struct!(EquityParameters {
    base,
    calendars,
    effective_at_fact,
    from,
    gap_pct,
    kind,
    multiplier_decimals,
    multiplier_fact,
    paused_fact,
    pending_multiplier_fact,
    pool,
    size_usd,
    to,
});

impl EquityTerms {
    /// The longest period: 42 days. Six weekends, of which four remain if two are long weekends.
    pub const MAX_SLOTS: u32 = 42 * Slot::PER_DAY;
}

impl Figure for EquityTerms {
    const NAME: &'static str = super::EQUITY;
    const HAS_CALENDARS: bool = true;

    type Parameters = EquityParameters;
    type Pass = EquityPass;

    fn validate(self) -> Result<Self, FigureError> {
        let wrong = |field, rule| Err(FigureError::Parameter { field, rule });
        let EquityFactNames { multiplier, pending_multiplier, effective_at, .. } = self.token.facts;
        if self.limit.millionths() <= 0 {
            return wrong("gap_pct", "must be above 0 and at most 100, with at most six decimals");
        }
        if self.token.multiplier_decimals > EquityToken::MAX_DECIMALS {
            return wrong("multiplier_decimals", "must be from 0 to 36");
        }
        if pending_multiplier.is_some() && (multiplier.is_none() || effective_at.is_none()) {
            let rule = "requires multiplier_fact and effective_at_fact";
            return wrong("pending_multiplier_fact", rule);
        }
        Ok(Self { of: self.of.checked_within(Self::MAX_SLOTS)?, ..self })
    }

    fn parameters(&self) -> EquityParameters {
        let HoursParameters { base, calendars, from, pool, size_usd, to } = self.of.parameters();
        let EquityToken { kind, facts, multiplier_decimals } = self.token;
        EquityParameters {
            base,
            calendars,
            effective_at_fact: facts.effective_at,
            from,
            gap_pct: self.limit.to_string(),
            kind,
            multiplier_decimals,
            multiplier_fact: facts.multiplier,
            paused_fact: facts.paused,
            pending_multiplier_fact: facts.pending_multiplier,
            pool,
            size_usd,
            to,
        }
    }

    fn from_parameters(read: &EquityParameters) -> Result<Self, FigureError> {
        let of = HoursParameters {
            base: read.base,
            calendars: read.calendars.clone(),
            from: read.from,
            pool: read.pool.clone(),
            size_usd: read.size_usd.clone(),
            to: read.to,
        };
        let spelled = |limit: &GapLimit| limit.to_string() == read.gap_pct;
        let limit = read.gap_pct.parse().ok().filter(spelled);
        let rule = "must be a percentage with at most six decimals, without trailing zeros";
        let terms = Self {
            of: HoursTerms::within(&of, Self::MAX_SLOTS)?,
            limit: limit.ok_or(FigureError::Parameter { field: "gap_pct", rule })?,
            token: EquityToken {
                kind: read.kind,
                facts: EquityFactNames {
                    multiplier: read.multiplier_fact,
                    pending_multiplier: read.pending_multiplier_fact,
                    effective_at: read.effective_at_fact,
                    paused: read.paused_fact,
                },
                multiplier_decimals: read.multiplier_decimals,
            },
        };
        terms.validate()
    }

    fn replace_newer(spelled: &EquityParameters) -> Option<(Newer, EquityParameters)> {
        let (newer, calendars) = HoursCalendar::replace_newer(&spelled.calendars)?;
        Some((newer, EquityParameters { calendars, ..spelled.clone() }))
    }

    fn pools(&self) -> Vec<&PoolId> {
        vec![&self.of.pool]
    }

    fn period(&self) -> (Slot, Slot) {
        (self.of.from, self.of.to)
    }

    fn with_calendars(self, sessions: Vec<TokenSession>) -> Self {
        Self { of: HoursTerms { sessions, ..self.of }, ..self }
    }

    fn pass(self) -> Result<EquityPass, FigureError> {
        EquityPass::new(self)
    }
}
