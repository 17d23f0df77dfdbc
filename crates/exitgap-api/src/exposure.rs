//! Liquidation exposure: could the market of any slot of a week have absorbed a liquidation?

use exitgap_core::analytics::exposure::{
    Cascade, CascadeTerms, EXPOSURE, ExposureBand, ExposureResult, ExposureTerms,
};
use exitgap_core::series::Slot;
use exitgap_core::units::Percent;
use serde::{Deserialize, Serialize};

use crate::number::decimal;
use crate::{Number, SeriesMethod, Status};

/// How exposed. Nothing decides it but whether a dollar to sell meets a dollar of depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Band {
    /// The least depth at two percent and the least depth at the break-even gap both take all of it.
    Covered,
    /// The least depth at the break-even gap takes it, the least depth at two percent does not.
    Strained,
    /// In some slot not all of it could have been liquidated at a profit.
    Exposed,
    /// In some slot the venues together could not even have taken it.
    Unfillable,
    /// Too little is recorded.
    Unrated,
}

impl From<ExposureBand> for Band {
    fn from(band: ExposureBand) -> Self {
        match band {
            ExposureBand::Covered => Self::Covered,
            ExposureBand::Strained => Self::Strained,
            ExposureBand::Exposed => Self::Exposed,
            ExposureBand::Unfillable => Self::Unfillable,
            ExposureBand::Unrated => Self::Unrated,
        }
    }
}

/// A pool that the collateral is sold in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LiquidationVenue {
    /// The pool.
    pub pool: String,
    /// `token0` or `token1`: the token sold.
    pub base: String,
    /// The least depth at two percent, without the fall, whole USD; `null` where no slot was looked at.
    pub lowest_depth_usd: Option<Number>,
    /// The slot of it, RFC 3339, the first.
    pub lowest_depth_time: Option<String>,
}

/// What an exposure is of, beside what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LiquidationExposureOf {
    /// The rules: `exposure/1`.
    pub figure: String,
    /// The first slot looked at, RFC 3339.
    pub from: String,
    /// The last slot looked at, RFC 3339.
    pub to: String,
    /// What is sold, USD at the oracle price after the fall.
    pub cascade_usd: Number,
    /// What whoever liquidates gets beyond what they repay, percent.
    pub bonus_pct: Number,
    /// The protocol's share of that, percent.
    pub protocol_fee_pct: Number,
    /// How far the price of the token sold has fallen in every slot looked at, percent.
    pub fall_pct: Number,
    /// The length of the venues' shortest series.
    pub days_observed: Number,
    /// The version of the rules behind each fill.
    pub method_version: String,
    /// The method, disclosed.
    pub method: SeriesMethod,
    /// The figure file: what anyone can recompute it from, with the snapshots that it names.
    pub figure_url: String,
}

/// `GET /v1/exposure`. USD are whole; coverages are ratios rounded down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LiquidationExposure {
    /// What it is of.
    #[serde(flatten)]
    pub of: LiquidationExposureOf,
    /// Live or preview.
    pub status: Status,
    /// How exposed.
    pub band: Band,
    /// Whether enough is recorded for a band; what was seen is told all the same.
    pub enough: bool,
    /// Slots looked at: every venue stands.
    pub have: u32,
    /// As many are needed.
    pub needed: u32,
    /// Slots of the period in which no venue stands.
    pub slots_missing: u32,
    /// Slots in which some venue stands and some does not: unknown, not empty.
    pub slots_incomplete: u32,
    /// Slots of which a search was given up.
    pub slots_unanswered: u32,
    /// Slots in which the venues together did not take it.
    pub slots_unfillable: u32,
    /// The gap up to which whoever liquidates does not lose, percent, rounded down.
    pub break_even_gap_pct: Number,
    /// The venues' least depths at two percent, summed though of different slots, ÷ `cascade_usd`.
    pub coverage: Option<Number>,
    /// The least sum of depths at the break-even gap ÷ `cascade_usd`.
    pub coverage_break_even: Option<Number>,
    /// The sum of depths at two percent in the newest slot looked at.
    pub depth_now_usd: Option<Number>,
    /// The median slot's.
    pub depth_q50_usd: Option<Number>,
    /// The sum of depths at the break-even gap, after the fall, in the newest slot looked at.
    pub break_even_depth_now_usd: Option<Number>,
    /// The median slot's.
    pub break_even_depth_q50_usd: Option<Number>,
    /// The least of them.
    pub lowest_break_even_depth_usd: Option<Number>,
    /// Its slot, RFC 3339, the first.
    pub lowest_break_even_time: Option<String>,
    /// The widest gap at which it would have sold, split exactly over the venues, percent; of slots that took it.
    pub worst_gap_pct: Option<Number>,
    /// Its slot, RFC 3339, the first.
    pub worst_time: Option<String>,
    /// The least that the venues together could take in a slot in which they did not take it.
    pub least_fillable_usd: Option<Number>,
    /// What liquidators would lose at the widest gap against what they repay, rounded up.
    pub shortfall_usd: Option<Number>,
    /// What nobody would have liquidated at a profit in the slot of the least depth, rounded up.
    pub stranded_usd: Option<Number>,
    /// Whether either is above zero, or some slot did not take it.
    pub bad_debt: bool,
    /// By venue, as asked.
    pub venues: Vec<LiquidationVenue>,
}

impl LiquidationExposureOf {
    /// The name and version of the rules.
    pub const FIGURE: &'static str = EXPOSURE;
}

impl LiquidationExposure {
    /// A result of the core as a document.
    pub fn new(of: LiquidationExposureOf, terms: &ExposureTerms, result: &ExposureResult) -> Self {
        let usd = |text: &Option<String>| text.as_deref().map(Number::from_whole);
        let millionths = |text: &Option<String>| text.as_deref().and_then(decimal);
        let time = |slot: &Option<Slot>| slot.map(|slot| slot.to_string());
        let is_lost = |text: &Option<String>| text.as_deref().is_some_and(|text| text != "0");
        let (shortfall, stranded) = (&result.shortfall_usd, &result.stranded_usd);
        let venues = terms.venues.iter().zip(&result.venues);
        Self {
            of,
            status: if result.status == "live" { Status::Live } else { Status::Preview },
            band: result.band.into(),
            enough: result.enough,
            have: result.have_slots,
            needed: result.needed_slots,
            slots_missing: result.slots_missing,
            slots_incomplete: result.slots_incomplete,
            slots_unanswered: result.slots_unanswered,
            slots_unfillable: result.slots_unfillable,
            break_even_gap_pct: decimal(&result.break_even_gap_pct).unwrap_or(Percent(0).into()),
            coverage: millionths(&result.coverage),
            coverage_break_even: millionths(&result.coverage_break_even),
            depth_now_usd: usd(&result.depth_now_usd),
            depth_q50_usd: usd(&result.depth_q50_usd),
            break_even_depth_now_usd: usd(&result.break_even_depth_now_usd),
            break_even_depth_q50_usd: usd(&result.break_even_depth_q50_usd),
            lowest_break_even_depth_usd: usd(&result.lowest_break_even_depth_usd),
            lowest_break_even_time: time(&result.lowest_break_even_slot),
            worst_gap_pct: millionths(&result.worst_gap_pct),
            worst_time: time(&result.worst_slot),
            least_fillable_usd: usd(&result.least_fillable_usd),
            shortfall_usd: usd(shortfall),
            stranded_usd: usd(stranded),
            bad_debt: is_lost(shortfall) || is_lost(stranded) || result.slots_unfillable > 0,
            venues: venues
                .map(|(asked, found)| LiquidationVenue {
                    pool: asked.pool.to_string(),
                    base: asked.base.code().to_owned(),
                    lowest_depth_usd: usd(&found.lowest_depth_usd),
                    lowest_depth_time: time(&found.lowest_slot),
                })
                .collect(),
        }
    }
}

/// What a fall of the price liquidates of some positions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LiquidationCascade {
    /// How far the oracle follows the further fall that the sale makes, percent.
    pub follow_pct: Number,
    /// How many positions there are.
    pub positions: u32,
    /// How many are liquidated.
    pub liquidated: u32,
    /// How often it was looked whether others join.
    pub rounds: u32,
    /// Raw units sold.
    pub amount_raw: String,
    /// What they are worth at the oracle price after the first fall, USD.
    pub cascade_usd: Number,
    /// Debt repaid, USD.
    pub repaid_usd: Number,
    /// Debt left where all collateral was seized, USD.
    pub residual_debt_usd: Number,
    /// How far the oracle has fallen in all, percent, rounded up.
    pub fall_pct: Number,
    /// The gap of the sale, split exactly; `null` where nothing is sold or the venues do not take it.
    pub exit_gap_pct: Option<Number>,
    /// Whether the venues together do not take what is sold.
    pub unfillable: bool,
}

impl LiquidationCascade {
    /// A cascade of the core as a document.
    pub fn new(found: &Cascade, rules: &CascadeTerms, positions: usize) -> Self {
        let count = |many: usize| u32::try_from(many).unwrap_or(u32::MAX);
        Self {
            follow_pct: Percent(rules.follow_e8.into()).into(),
            positions: count(positions),
            liquidated: count(found.liquidated.len()),
            rounds: found.rounds,
            amount_raw: found.sold.to_string(),
            cascade_usd: found.cascade_usd.into(),
            repaid_usd: found.repaid_usd.into(),
            residual_debt_usd: found.residual_debt_usd.into(),
            fall_pct: found.fall.into(),
            exit_gap_pct: found.gap.map(Number::from),
            unfillable: found.unfillable,
        }
    }
}
