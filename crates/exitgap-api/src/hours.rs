//! Market hours: depth and gap while a pool's markets are open, compared with closed.

use exitgap_core::hours::{ClosureFigures, NEEDED_CLOSURES, Spread};
use exitgap_core::series::rfc3339;
use exitgap_core::snapshot::{Observation, TokenSession};
use serde::{Deserialize, Serialize};

use crate::{Number, OracleState, SeriesOf};

/// A token's calendar and the session at the newest snapshot's block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HoursToken {
    /// `token0` or `token1`.
    pub token: String,
    /// The calendar's name in snapshots: `xnys`, `xnys_extended`, `xnys_24x5` or `xnys_continuous`.
    pub calendar: String,
    /// SHA-256 of the text of the calendar's table.
    pub table: String,
    /// When the table ends, RFC 3339. After that the schedule is unknown, and the market counts as
    /// closed.
    pub table_ends: String,
    /// `regular`, `pre`, `after`, `overnight`, `weekend`, `holiday` or `unknown`.
    pub state: String,
}

impl HoursToken {
    /// The session of a pool's token at a block with this timestamp.
    pub fn new(session: &TokenSession, at: u64) -> Self {
        let TokenSession { token, calendar } = *session;
        let table = calendar.table();
        Self {
            token: format!("token{token}"),
            calendar: calendar.code().to_string(),
            table: table.hash().to_string(),
            table_ends: rfc3339(table.ends_at()),
            state: calendar.state(at).as_str().to_owned(),
        }
    }

    /// The sessions of all tokens of a pool that have a calendar.
    pub fn from_observation(observation: &Observation) -> Vec<Self> {
        let at = observation.block().timestamp;
        observation.pool_sessions().iter().map(|session| Self::new(session, at)).collect()
    }
}

/// The distribution of depths and gaps over some slots. `q50` and `q95` are nearest ranks: values
/// of the series.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HoursSpread {
    /// Slots with a snapshot that was not retracted.
    pub slots: u32,
    /// Slots in which the size had no gap: worse than any number.
    pub slots_refused: u32,
    /// The median depth at 2%, whole USD. `null` if too little is recorded.
    pub depth_usd_q50: Option<Number>,
    /// The lowest depth at 2%, whole USD. `null` if too little is recorded.
    pub depth_usd_lowest: Option<Number>,
    /// The median gap at the size, percent. `null` if the median slot could not fill the size, or
    /// too little is recorded.
    pub exit_gap_pct_q50: Option<Number>,
    /// The 95th percentile of the gap, percent. `null` in the same cases.
    pub exit_gap_pct_q95: Option<Number>,
}

impl From<&Spread> for HoursSpread {
    fn from(spread: &Spread) -> Self {
        Self {
            slots: spread.slots,
            slots_refused: spread.slots_refused,
            depth_usd_q50: spread.depth_usd_q50.map(Number::from),
            depth_usd_lowest: spread.depth_usd_lowest.map(Number::from),
            exit_gap_pct_q50: spread.gap_q50.map(Number::from),
            exit_gap_pct_q95: spread.gap_q95.map(Number::from),
        }
    }
}

/// The closures of one kind in the period.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HoursClosed {
    /// `night`, `weekend`, or `holiday`: a Monday to Friday without trading, including an adjoining
    /// weekend.
    pub closure_kind: String,
    /// Whether there are enough closures. If not, the statistics are `null`.
    pub enough: bool,
    /// Closures of this kind with a recorded slot.
    pub have: u32,
    /// The number of closures needed.
    pub needed: u32,
    /// Statistics over all their slots.
    #[serde(flatten)]
    pub spread: HoursSpread,
    /// Whether their median depth is less than half of the median depth of the open market.
    pub thin_when_closed: Option<bool>,
    /// The greatest reopening gap of these closures, percent. `null` if none is known, or there are
    /// too few closures.
    pub reopening_gap_pct_worst: Option<Number>,
}

impl HoursClosed {
    /// The figures of one kind of closure, with the largest reopening gap.
    pub fn new(figures: &ClosureFigures, reopening_worst: Option<Number>) -> Self {
        let enough = figures.is_enough();
        Self {
            closure_kind: figures.kind.as_str().to_owned(),
            enough,
            have: figures.have,
            needed: NEEDED_CLOSURES,
            spread: (&figures.spread).into(),
            thin_when_closed: figures.thin,
            reopening_gap_pct_worst: reopening_worst.filter(|_| enough),
        }
    }
}

/// One closure of the period.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HoursClosure {
    /// `night`, `weekend` or `holiday`.
    pub closure_kind: String,
    /// When the market closed, RFC 3339.
    pub closed_at: String,
    /// When it opens again, RFC 3339.
    pub opens_at: String,
    /// Slots with a snapshot that was not retracted.
    pub slots_recorded: u32,
    /// The lowest depth at 2% during the closure, whole USD.
    pub depth_usd_lowest: Option<Number>,
    /// 100 × (1 − proceeds of the size in the last closed slot ÷ its oracle value in the first slot
    /// with a fresh round of every feed of a token with a calendar). Positive: selling before the
    /// opening was worse. Absent if one of the two slots is missing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reopening_gap_pct: Option<Number>,
    /// The last recorded closed slot, RFC 3339.
    pub last_closed_slot: String,
    /// The slot of the fresh rounds, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reopened_slot: Option<String>,
    /// URL of the evidence for the fill in the last closed slot.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub evidence_url: Option<String>,
}

/// `GET /v1/hours/{pool}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MarketHours {
    /// The parameters and sources.
    #[serde(flatten)]
    pub of: SeriesOf,
    /// The newest snapshot's block, RFC 3339. Statements about the present refer to this block.
    pub block_time: String,
    /// Seconds since the newest snapshot's slot.
    pub snapshot_age_s: u64,
    /// Whether the markets of both tokens are open.
    pub market_open: bool,
    /// The market session. `continuous` for assets without a calendar.
    pub session_note: String,
    /// How reliable the oracle answers are.
    pub oracle_state: OracleState,
    /// The tokens with a calendar. Empty: the market is open around the clock.
    pub sessions: Vec<HoursToken>,
    /// Seconds until the market opens. `null` if it is open, or the opening is unknown.
    pub opens_in_s: Option<u64>,
    /// Seconds until the market closes. `null` if it is closed, or never closes.
    pub closes_in_s: Option<u64>,
    /// The current or next closure: `night`, `weekend` or `holiday`. `null` if there is none, or it
    /// is unknown.
    pub closure_kind: Option<String>,
    /// The duration of that closure, seconds.
    pub closure_length_s: Option<u64>,
    /// Whether enough closures of that kind are recorded. Also true if there is no next closure.
    pub enough: bool,
    /// Closures of that kind with a recorded slot.
    pub have: u32,
    /// The number of closures needed. 0 if the market never closes.
    pub needed: u32,
    /// Whether the median depth in closures of that kind is less than half of the median depth of
    /// the open market. `null` if unknown.
    pub thin_when_closed: Option<bool>,
    /// Slots of the period without a snapshot, or with a retracted one. What happened in them is
    /// unknown.
    pub slots_missing: u32,
    /// Slots for which no table shows whether the market was open.
    pub slots_unknown: u32,
    /// Statistics while the market was open.
    pub open: HoursSpread,
    /// Statistics while it was closed, by kind.
    pub closed: Vec<HoursClosed>,
    /// Each closure of the period with a recorded slot, ascending.
    pub closures: Vec<HoursClosure>,
    /// URL of the figure file. Anyone can recompute `open`, `closed` and `closures` from this file.
    pub figure_url: String,
}
