//! The result of a pass.

use super::ExposureTerms;
use crate::analytics::stats::nearest_rank;
use crate::analytics::venues::{
    CauseTally, FailureCauses, FigureVenue, LeftOutVenue, Reference, VenueSlots,
};
use crate::ids::PoolId;
use crate::json::{Json, Wire, wire_struct};
use crate::series::Slot;
use crate::stable_sort::sort;
use crate::units::Percent;
use crate::wide::{U256, narrow, product};

/// The exposure rating. Its only threshold is one dollar of depth for each dollar to sell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ExposureBand {
    /// The lowest depth at 2 % and the lowest depth at the break-even gap both cover the whole sale.
    Covered,
    /// The lowest depth at the break-even gap covers the sale; the lowest depth at 2 % does not.
    Strained,
    /// In some slot a part of the sale could not have been liquidated at a profit.
    Exposed,
    /// In some slot the venues together could not have filled the sale at all.
    Unfillable,
    /// Too few slots are recorded.
    Unrated,
}

impl ExposureBand {
    /// The stable code, e.g. `covered`.
    pub fn code(self) -> &'static str {
        match self {
            Self::Covered => "covered",
            Self::Strained => "strained",
            Self::Exposed => "exposed",
            Self::Unfillable => "unfillable",
            Self::Unrated => "unrated",
        }
    }
}

impl Wire for ExposureBand {
    fn from_json(json: &Json<'_>) -> Result<Self, String> {
        let code = String::from_json(json)?;
        let all = [Self::Covered, Self::Strained, Self::Exposed, Self::Unfillable, Self::Unrated];
        let found = all.into_iter().find(|band| band.code() == code);
        found.ok_or_else(|| "no band".to_owned())
    }

    fn to_json(&self) -> Json<'_> {
        Json::Text(self.code().into())
    }
}

/// The figure. Percentages and ratios are strings with six decimals; dollars are strings of whole dollars.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ExposureResult {
    /// The exposure rating.
    pub band: ExposureBand,
    /// The sum over venues of the depth at the break-even gap in the newest evaluated slot.
    pub break_even_depth_now_usd: Option<String>,
    /// The median over the evaluated slots.
    pub break_even_depth_q50_usd: Option<String>,
    /// The gap at which a liquidator breaks even, rounded down.
    pub break_even_gap_pct: String,
    /// The slots that failed by cause; `None` in version 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub causes: Option<FailureCauses>,
    /// The sum of the venues' lowest depths at 2 %, although they are from different slots, ÷ the amount sold; rounded
    /// down.
    pub coverage: Option<String>,
    /// The lowest sum of depths at the break-even gap ÷ the amount sold; rounded down.
    pub coverage_break_even: Option<String>,
    /// The sum of depths at 2 % in the newest evaluated slot.
    pub depth_now_usd: Option<String>,
    /// The median slot's.
    pub depth_q50_usd: Option<String>,
    /// Whether enough slots are recorded for a rating.
    pub enough: bool,
    /// Evaluated slots: those in which every venue has a recorded, unretracted snapshot.
    pub have_slots: u32,
    /// The smallest amount that the venues together could fill, over the slots in which they could not fill the sale.
    pub least_fillable_usd: Option<String>,
    /// Venues whose kind cannot be moved to another price; empty in version 1, which refuses them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOutVenue>,
    /// The lowest sum over venues of the depth at the break-even gap.
    pub lowest_break_even_depth_usd: Option<String>,
    /// The first slot with that sum.
    pub lowest_break_even_slot: Option<Slot>,
    /// The number of slots that a rating needs.
    pub needed_slots: u32,
    /// The liquidators' loss in the slot with the widest gap: the amount repaid minus the proceeds; rounded up.
    pub shortfall_usd: Option<String>,
    /// Slots in which only some of the venues have a snapshot.
    pub slots_incomplete: u32,
    /// Slots in which no venue has a snapshot.
    pub slots_missing: u32,
    /// Slots in which a search was given up.
    pub slots_unanswered: u32,
    /// Slots in which the venues together could not fill the sale.
    pub slots_unfillable: u32,
    /// `live`, or `preview` if any input is from a preview chain.
    pub status: String,
    /// The amount that could not have been liquidated at a profit in the slot with the lowest depth; rounded up.
    pub stranded_usd: Option<String>,
    /// The venues that take part, in the order of the request.
    pub venues: Vec<ExposureVenueResult>,
    /// The widest gap of the optimal split, over the slots in which the venues could fill the sale.
    pub worst_gap_pct: Option<String>,
    /// The first slot with that gap.
    pub worst_slot: Option<Slot>,
}

/// One venue.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ExposureVenueResult {
    /// The lowest depth at 2 %, without the price drop.
    pub lowest_depth_usd: Option<String>,
    /// The first slot with that depth.
    pub lowest_slot: Option<Slot>,
    /// The pool.
    pub pool: PoolId,
}

wire_struct!(ExposureVenueResult { lowest_depth_usd, lowest_slot, pool });
wire_struct!(ExposureResult {
    band,
    break_even_depth_now_usd,
    break_even_depth_q50_usd,
    break_even_gap_pct,
    coverage,
    coverage_break_even,
    depth_now_usd,
    depth_q50_usd,
    enough,
    have_slots,
    least_fillable_usd,
    lowest_break_even_depth_usd,
    lowest_break_even_slot,
    needed_slots,
    shortfall_usd,
    slots_incomplete,
    slots_missing,
    slots_unanswered,
    slots_unfillable,
    status,
    stranded_usd,
    venues,
    worst_gap_pct,
    worst_slot;
    optional causes, left_out,
});

/// The number of slots that a rating needs: 95 % of a week.
const NEEDED_SLOTS: u32 = 1_916;

const DOLLAR: u64 = 1_000_000;

/// Running totals of a pass.
#[derive(Debug, Default)]
pub(super) struct ExposureTally {
    /// The lowest depth at 2 % of each venue, with its slot.
    pub lowest: Vec<Option<(u64, Slot)>>,
    /// For each evaluated slot: the sum of depths at 2 %, and at the break-even gap.
    pub depths: Vec<[u64; 2]>,
    pub lowest_break_even: Option<(u64, Slot)>,
    pub worst: Option<(Percent, Slot)>,
    /// The smallest amount that could be filled, in micro-dollars, over the slots that could not fill the sale.
    pub least_fillable: Option<u64>,
    pub unanswered: u32,
    pub unfillable: u32,
    pub causes: CauseTally,
}

impl ExposureTally {
    /// The figure.
    pub fn summed_up(self, terms: &ExposureTerms, slots: &VenueSlots) -> ExposureResult {
        let seen = slots.seen;
        let asked = terms.cascade.micros();
        let have_slots = u32::try_from(self.depths.len()).unwrap_or(u32::MAX);
        let enough = have_slots >= NEEDED_SLOTS;
        let left_out = slots.left_out(terms.reference.unwrap_or(Reference::Oracle));
        let takes_part = |venue: &FigureVenue| left_out.iter().all(|out| out.pool != venue.pool);
        let taking: Vec<_> =
            terms.venues.iter().zip(&self.lowest).filter(|(venue, _)| takes_part(venue)).collect();
        let all: Option<Vec<u64>> =
            taking.iter().map(|(_, lowest)| lowest.map(|(usd, _)| usd)).collect();
        let sum = all.map(|all| all.into_iter().fold(0, u64::saturating_add));
        let coverage = sum.map(|usd| ratio_e6(usd, asked));
        let lowest = self.lowest_break_even;
        let break_even = lowest.map(|(usd, _)| ratio_e6(usd, asked));
        let text = |usd: u64| usd.to_string();
        let now = |which: usize| self.depths.last().map(|depths| text(depths[which]));
        let median = |which: usize| {
            let mut sums: Vec<u64> = self.depths.iter().map(|depths| depths[which]).collect();
            sort(&mut sums, Ord::cmp);
            nearest_rank(&sums, 50).map(text)
        };
        let venues = taking
            .iter()
            .map(|(venue, lowest)| ExposureVenueResult {
                lowest_depth_usd: lowest.map(|(usd, _)| text(usd)),
                lowest_slot: lowest.map(|(_, slot)| slot),
                pool: venue.pool.clone(),
            })
            .collect();
        ExposureResult {
            band: band(enough, self.unfillable, coverage, break_even),
            break_even_depth_now_usd: now(1),
            break_even_depth_q50_usd: median(1),
            break_even_gap_pct: Percent::from(terms.liquidation.break_even()).to_fixed(),
            causes: terms.reference.map(|_| self.causes.summed_up()),
            coverage: coverage.map(ratio_text),
            coverage_break_even: break_even.map(ratio_text),
            depth_now_usd: now(0),
            depth_q50_usd: median(0),
            enough,
            have_slots,
            least_fillable_usd: self.least_fillable.map(|micros| text(micros / DOLLAR)),
            lowest_break_even_depth_usd: lowest.map(|(usd, _)| text(usd)),
            lowest_break_even_slot: lowest.map(|(_, slot)| slot),
            needed_slots: NEEDED_SLOTS,
            shortfall_usd: self.worst.map(|(gap, _)| text(shortfall(terms, gap))),
            slots_incomplete: seen.incomplete,
            slots_missing: seen.count_missing(terms.from, terms.to),
            slots_unanswered: self.unanswered,
            slots_unfillable: self.unfillable,
            status: seen.status(),
            stranded_usd: lowest.map(|(usd, _)| {
                text(asked.saturating_sub(usd.saturating_mul(DOLLAR)).div_ceil(DOLLAR))
            }),
            venues,
            left_out,
            worst_gap_pct: self.worst.map(|(gap, _)| gap.to_fixed()),
            worst_slot: self.worst.map(|(_, slot)| slot),
        }
    }
}

fn band(
    enough: bool,
    unfillable: u32,
    coverage: Option<u128>,
    break_even: Option<u128>,
) -> ExposureBand {
    const ONE: u128 = 1_000_000;
    match (coverage, break_even) {
        _ if !enough => ExposureBand::Unrated,
        _ if unfillable > 0 => ExposureBand::Unfillable,
        (Some(coverage), Some(break_even)) if break_even >= ONE => {
            if coverage >= ONE {
                ExposureBand::Covered
            } else {
                ExposureBand::Strained
            }
        }
        _ => ExposureBand::Exposed,
    }
}

/// Whole dollars ÷ micro-dollars, in millionths, rounded down.
fn ratio_e6(dollars: u64, micros: u64) -> u128 {
    u128::from(dollars) * u128::from(DOLLAR) * u128::from(DOLLAR) / u128::from(micros.max(1))
}

fn ratio_text(millionths: u128) -> String {
    format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000)
}

/// `max(0, repaid − proceeds)` for a sale at this gap, in whole dollars rounded up: `C·(gap − (1 − 1 ÷ F))`.
fn shortfall(terms: &ExposureTerms, gap: Percent) -> u64 {
    let one = 10_i128.pow(16);
    let factor = one + i128::from(terms.liquidation.kept_e16());
    // The denominator is 10^8 · factor. A gap is below 2^50 and the factor below 2^55.
    let above = gap.0 * factor - (factor - one) * 100_000_000;
    if above <= 0 {
        return 0;
    }
    let wide = product(U256::from(above.unsigned_abs()), U256::from(terms.cascade.micros()));
    let per =
        product(U256::from(factor.unsigned_abs()), U256::from(100_000_000 * u128::from(DOLLAR)));
    narrow(wide.div_ceil(per)).map_or(u64::MAX, |usd| usd.saturating_to())
}
