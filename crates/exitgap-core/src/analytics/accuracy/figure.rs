//! The accuracy record as a figure file contains it.

use super::pass::AccuracyOfPeriod;
use super::{
    AccuracyAge, AccuracyRules, AccuracySize, ComparedSwap, NotCompared, SwapFlags, SwapsFlagged,
};
use crate::evidence::{Base, DocumentError};
use crate::ids::Word;
use crate::json::{Json, Part, Wire, wire_struct};
use crate::series::Slot;
use crate::units::Percent;

/// The figure. Percentages are strings of six decimals, amounts strings of raw units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccuracyFigure {
    by_age: Vec<AgeRow>,
    by_size: Vec<SizeRow>,
    compared: u32,
    documents: u32,
    enough: bool,
    first_slot: Option<Slot>,
    flagged: FlaggedRow,
    have_slots: u32,
    judged_slots: u32,
    last_slot: Option<Slot>,
    newest: Vec<SwapRow>,
    not_compared: NotComparedRow,
    slots_waiting: u32,
    status: String,
    stretches: u32,
    stretches_incomplete: u32,
    swaps: u32,
    worst: Vec<SwapRow>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Errors {
    abs_error_pct_q50: Option<String>,
    abs_error_pct_q95: Option<String>,
    bracketed_n: u32,
    exact_n: u32,
    mean_error_pct: Option<String>,
    n: u32,
    worst_for_seller_pct: Option<String>,
    worst_pct: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct AgeRow {
    errors: Errors,
    older_slots: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct SizeRow {
    base: Base,
    errors: Errors,
    from_usd: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct FlaggedRow {
    jit: u32,
    same_tx: u32,
    sandwich_suspected: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct NotComparedRow {
    estimate_refused: u32,
    fills_incomplete: u32,
    out_of_range: u32,
    two_sided: u32,
    zero: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct SwapRow {
    agreement: String,
    amount_in: String,
    amount_out: String,
    base: Base,
    block: u64,
    error_pct: String,
    estimated_gap_pct: String,
    estimated_out: String,
    flags: Vec<String>,
    log_index: u32,
    size_usd: String,
    slot: Slot,
    transaction: Word,
}

wire_struct!(AccuracyFigure {
    by_age,
    by_size,
    compared,
    documents,
    enough,
    first_slot,
    flagged,
    have_slots,
    judged_slots,
    last_slot,
    newest,
    not_compared,
    slots_waiting,
    status,
    stretches,
    stretches_incomplete,
    swaps,
    worst,
});
wire_struct!(Errors {
    abs_error_pct_q50,
    abs_error_pct_q95,
    bracketed_n,
    exact_n,
    mean_error_pct,
    n,
    worst_for_seller_pct,
    worst_pct,
});
wire_struct!(AgeRow { errors, older_slots });
wire_struct!(SizeRow { base, errors, from_usd });
wire_struct!(FlaggedRow { jit, same_tx, sandwich_suspected });
wire_struct!(NotComparedRow { estimate_refused, fills_incomplete, out_of_range, two_sided, zero });
wire_struct!(SwapRow {
    agreement,
    amount_in,
    amount_out,
    base,
    block,
    error_pct,
    estimated_gap_pct,
    estimated_out,
    flags,
    log_index,
    size_usd,
    slot,
    transaction,
});

impl AccuracyFigure {
    /// The figure of a period.
    pub fn from_period(period: &AccuracyOfPeriod) -> Self {
        let AccuracyOfPeriod { result, slots, slots_waiting, documents } = period;
        let SwapsFlagged { same_tx, jit, sandwich_suspected } = result.flagged;
        let NotCompared { fills_incomplete, estimate_refused, two_sided, zero, out_of_range } =
            result.not_compared;
        Self {
            by_age: result.ages.iter().map(AgeRow::from_age).collect(),
            by_size: result.sizes.iter().map(SizeRow::from_size).collect(),
            compared: result.compared,
            documents: *documents,
            enough: result.enough,
            first_slot: slots.map(|[first, _]| first),
            flagged: FlaggedRow { jit, same_tx, sandwich_suspected },
            have_slots: result.slots,
            judged_slots: result.judged_slots,
            last_slot: slots.map(|[_, last]| last),
            newest: result.newest.iter().map(SwapRow::from_swap).collect(),
            not_compared: NotComparedRow {
                estimate_refused,
                fills_incomplete,
                out_of_range,
                two_sided,
                zero,
            },
            slots_waiting: *slots_waiting,
            status: if result.live { "live" } else { "preview" }.to_owned(),
            stretches: result.stretches,
            stretches_incomplete: result.stretches_incomplete,
            swaps: result.swaps,
            worst: result.worst.iter().map(SwapRow::from_swap).collect(),
        }
    }

    /// The canonical document. Version 1 has the same fields, without those that version 2 added.
    pub(super) fn part(&self, rules: AccuracyRules) -> Result<Part, DocumentError> {
        let mut json = self.to_json();
        if rules == AccuracyRules::One {
            remove_fields(&mut json, &ADDED);
        }
        Ok(Part(json.to_canonical()?))
    }
}

/// The fields that version 2 added.
const ADDED: [&str; 4] = ["agreement", "bracketed_n", "judged_slots", "worst_for_seller_pct"];

/// Removes fields from a document and from everything in it.
fn remove_fields(json: &mut Json<'_>, names: &[&str]) {
    match json {
        Json::Object(fields) => {
            fields.retain(|(name, _)| !names.contains(&name.as_ref()));
            for (_, value) in fields {
                remove_fields(value, names);
            }
        }
        Json::List(items) => {
            for item in items {
                remove_fields(item, names);
            }
        }
        _ => {}
    }
}

impl Errors {
    fn from_age(errors: &AccuracyAge) -> Self {
        Self {
            abs_error_pct_q50: errors.abs_error_q50.map(Percent::to_fixed),
            abs_error_pct_q95: errors.abs_error_q95.map(Percent::to_fixed),
            bracketed_n: errors.bracketed_n,
            exact_n: errors.exact_n,
            mean_error_pct: errors.mean.map(Percent::to_fixed),
            n: errors.n,
            worst_for_seller_pct: errors.worst_for_seller.map(Percent::to_fixed),
            worst_pct: errors.worst.map(Percent::to_fixed),
        }
    }
}

impl AgeRow {
    fn from_age(age: &AccuracyAge) -> Self {
        Self { errors: Errors::from_age(age), older_slots: age.older_slots }
    }
}

impl SizeRow {
    fn from_size(size: &AccuracySize) -> Self {
        let base = Base::from(size.direction);
        Self { base, errors: Errors::from_age(&size.errors), from_usd: size.from_usd }
    }
}

impl SwapRow {
    fn from_swap(swap: &ComparedSwap) -> Self {
        Self {
            agreement: swap.agreement.code().to_owned(),
            amount_in: swap.amount_in.to_string(),
            amount_out: swap.amount_out.to_string(),
            base: Base::from(swap.direction),
            block: swap.block,
            error_pct: swap.error.to_fixed(),
            estimated_gap_pct: swap.estimated_gap.to_fixed(),
            estimated_out: swap.estimated_out.to_string(),
            flags: swap.flags.names().map(str::to_owned).collect(),
            log_index: swap.index,
            size_usd: swap.size_usd.to_string(),
            slot: swap.slot,
            transaction: Word(swap.transaction),
        }
    }
}

impl SwapFlags {
    /// The names of the flags that are set.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let Self { same_tx, jit, sandwich_suspected } = self;
        let all = [("same_tx", same_tx), ("jit", jit), ("sandwich_suspected", sandwich_suspected)];
        all.into_iter().filter(|(_, has)| *has).map(|(name, _)| name)
    }
}
