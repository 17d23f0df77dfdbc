//! Liquidation exposure: whether the market could have absorbed a liquidation in every slot of a week.

use exitgap_core::analytics::exposure::{
    Cascade, CascadeTerms, ExposureBand, ExposureResult, ExposureTerms,
};
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;
use exitgap_core::units::Percent;
use serde::{Deserialize, Serialize};

use crate::number::decimal;
use crate::{Exactness, FailuresByCause, Number, SeriesMethod, Status, VenueLeftOut};

/// The rating of the exposure. It depends only on whether each dollar to sell has a dollar of
/// depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Band {
    /// The lowest depth at 2% and the lowest depth at the break-even gap both absorb the full size.
    Covered,
    /// The lowest depth at the break-even gap absorbs the full size, but the lowest depth at 2%
    /// does not.
    Strained,
    /// In some slot, part of the size could not have been liquidated profitably.
    Exposed,
    /// In some slot, the venues together could not have absorbed the size at all.
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
    /// The lowest depth at 2%, before the price drop, whole USD. `null` if no slot was used.
    pub lowest_depth_usd: Option<Number>,
    /// The first slot with that depth, RFC 3339.
    pub lowest_depth_time: Option<String>,
}

/// The parameters and sources of an exposure report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LiquidationExposureOf {
    /// The version of the method: `exposure/2`, or `exposure/1` from a service before it.
    pub figure: String,
    /// The price that depths, gaps and the rating are measured from: `oracle`, or `mid`, the pools'
    /// own mid prices. Absent in `exposure/1`, which knows the oracle price only.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reference: Option<String>,
    /// The first slot used, RFC 3339.
    pub from: String,
    /// The last slot used, RFC 3339.
    pub to: String,
    /// The liquidation size, USD at the oracle price after the drop.
    pub cascade_usd: Number,
    /// The liquidation bonus, percent.
    pub bonus_pct: Number,
    /// The protocol's share of the bonus, percent.
    pub protocol_fee_pct: Number,
    /// The price drop of the token sold, applied in every slot, percent.
    pub fall_pct: Number,
    /// Whether the amounts are what a holder sends and receives.
    #[serde(flatten)]
    pub exactness: Exactness,
    /// The length of the shortest series of the venues.
    pub days_observed: Number,
    /// The version of the method behind each fill.
    pub method_version: String,
    /// The method, disclosed.
    pub method: SeriesMethod,
    /// URL of the figure file. Anyone can recompute the report from this file and the snapshots
    /// that it names.
    pub figure_url: String,
}

/// `GET /v1/exposure`. USD are whole. Coverages are ratios, rounded down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LiquidationExposure {
    /// The parameters and sources.
    #[serde(flatten)]
    pub of: LiquidationExposureOf,
    /// Live or preview.
    pub status: Status,
    /// The rating.
    pub band: Band,
    /// Whether enough is recorded for a rating. Partial results are shown in any case.
    pub enough: bool,
    /// Slots used: every venue has a snapshot that was not retracted.
    pub have: u32,
    /// The number of slots needed.
    pub needed: u32,
    /// Slots of the period without a snapshot of any venue.
    pub slots_missing: u32,
    /// Slots with a snapshot of some venues only. Their depth is unknown, not zero.
    pub slots_incomplete: u32,
    /// Slots in which a computation was given up.
    pub slots_unanswered: u32,
    /// Slots in which the venues together could not absorb the size.
    pub slots_unfillable: u32,
    /// The gap at which a liquidator breaks even, percent, rounded down.
    pub break_even_gap_pct: Number,
    /// The sum of the venues' lowest depths at 2% (possibly in different slots) ÷ `cascade_usd`.
    pub coverage: Option<Number>,
    /// The lowest total depth at the break-even gap ÷ `cascade_usd`.
    pub coverage_break_even: Option<Number>,
    /// The total depth at 2% in the newest slot used.
    pub depth_now_usd: Option<Number>,
    /// The median of that total.
    pub depth_q50_usd: Option<Number>,
    /// The total depth at the break-even gap, after the drop, in the newest slot used.
    pub break_even_depth_now_usd: Option<Number>,
    /// The median of that total.
    pub break_even_depth_q50_usd: Option<Number>,
    /// The lowest of those totals.
    pub lowest_break_even_depth_usd: Option<Number>,
    /// The first slot with that total, RFC 3339.
    pub lowest_break_even_time: Option<String>,
    /// The widest gap of the optimal split over the venues, percent. Only slots that could absorb
    /// the size count.
    pub worst_gap_pct: Option<Number>,
    /// The first slot with that gap, RFC 3339.
    pub worst_time: Option<String>,
    /// The smallest total amount that the venues could absorb, among the slots that could not
    /// absorb the size.
    pub least_fillable_usd: Option<Number>,
    /// The loss of liquidators at the widest gap, compared with what they repay, rounded up.
    pub shortfall_usd: Option<Number>,
    /// The part that could not have been liquidated profitably in the slot of the lowest depth,
    /// rounded up.
    pub stranded_usd: Option<Number>,
    /// Whether either amount is above zero, or some slot could not absorb the size.
    pub bad_debt: bool,
    /// The slots in which a liquidator would have lost money, by cause. The counts do not depend on
    /// `reference`. Absent in `exposure/1`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub causes: Option<FailuresByCause>,
    /// Venues that cannot take part, because their kind cannot be moved to another price.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub left_out: Vec<VenueLeftOut>,
    /// One entry per venue that takes part, in the order of the request.
    pub venues: Vec<LiquidationVenue>,
}

impl LiquidationExposure {
    /// Converts a core result to a document.
    pub fn new(of: LiquidationExposureOf, terms: &ExposureTerms, result: &ExposureResult) -> Self {
        let usd = |text: &Option<String>| text.as_deref().map(Number::from_whole);
        let millionths = |text: &Option<String>| text.as_deref().and_then(decimal);
        let time = |slot: &Option<Slot>| slot.map(|slot| slot.to_string());
        let is_lost = |text: &Option<String>| text.as_deref().is_some_and(|text| text != "0");
        let (shortfall, stranded) = (&result.shortfall_usd, &result.stranded_usd);
        let asked = |pool: &PoolId| terms.venues.iter().find(|venue| venue.pool == *pool);
        let venues = result.venues.iter().filter_map(|found| Some((asked(&found.pool)?, found)));
        let have = result.have_slots;
        let causes = result.causes.as_ref();
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
            causes: causes
                .map(|causes| FailuresByCause::new(causes, have, "a liquidation lost money")),
            left_out: VenueLeftOut::list(&result.left_out, &terms.venues),
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

/// The positions that a fall of the price liquidates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LiquidationCascade {
    /// How far the oracle follows the further fall that the sale causes, percent.
    pub follow_pct: Number,
    /// The number of positions.
    pub positions: u32,
    /// The number of liquidated positions.
    pub liquidated: u32,
    /// The number of rounds that checked for further liquidations.
    pub rounds: u32,
    /// Raw units sold.
    pub amount_raw: String,
    /// The value of the collateral at the oracle price after the first fall, USD.
    pub cascade_usd: Number,
    /// Debt repaid, USD.
    pub repaid_usd: Number,
    /// Debt that remains after all collateral was seized, USD.
    pub residual_debt_usd: Number,
    /// The total fall of the oracle price, percent, rounded up.
    pub fall_pct: Number,
    /// The gap of the sale with the optimal split. `null` if nothing is sold or the venues cannot
    /// absorb the sale.
    pub exit_gap_pct: Option<Number>,
    /// Whether the venues together cannot absorb the sale.
    pub unfillable: bool,
}

impl LiquidationCascade {
    /// Converts a core cascade to a document.
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
