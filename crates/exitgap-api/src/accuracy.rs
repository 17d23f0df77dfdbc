//! The accuracy record: every real swap against what was estimated of it.

use exitgap_core::analytics::accuracy::{
    ACCURACY, AccuracyAge, AccuracyResult, AccuracySize, ComparedSwap, NotCompared,
};
use exitgap_core::evidence::Base;
use exitgap_core::ids::Word;
use serde::{Deserialize, Serialize};

use crate::{Number, Status};

/// Errors of many swaps, percent: the realised gap less the estimated one. **Positive: reality was worse.**
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AccuracyErrors {
    /// Swaps compared.
    pub n: u32,
    /// Of them estimated to the unit.
    pub exact_n: u32,
    /// The median without the sign.
    pub abs_error_pct_q50: Option<Number>,
    /// Nineteen of twenty did not exceed it.
    pub abs_error_pct_q95: Option<Number>,
    /// The most that reality was worse.
    pub worst_pct: Option<Number>,
    /// The mean, with its sign.
    pub mean_error_pct: Option<Number>,
}

/// Errors by the age of the estimate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AccuracyByAge {
    /// How many slots older than the newest one before the swap.
    pub older_slots: u32,
    /// The errors.
    #[serde(flatten)]
    pub errors: AccuracyErrors,
}

/// Errors by size and direction, of estimates of the newest slot before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AccuracyBySize {
    /// From so many USD on, up to ten times as many.
    pub from_usd: u64,
    /// `token0` or `token1`: the token sold.
    pub base: String,
    /// The errors.
    #[serde(flatten)]
    pub errors: AccuracyErrors,
}

/// Swaps that were not compared, by why not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AccuracyNotCompared {
    /// The logs between two slots, replayed, did not give the later state.
    pub fills_incomplete: u32,
    /// The slot's pool does not take so much.
    pub estimate_refused: u32,
    /// Both tokens went in, or out.
    pub two_sided: u32,
    /// Nothing went in, or nothing came out.
    pub zero: u32,
    /// The error is out of a percentage's bounds.
    pub out_of_range: u32,
}

/// Compared swaps around which something stood. They are compared like all others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AccuracyFlagged {
    /// Their transaction swapped in the pool more than once.
    pub same_tx: u32,
    /// In their block liquidity of one owner came into a range before them and left it after them.
    pub jit: u32,
    /// In their block somebody swapped before them, and the other way after them, near by.
    pub sandwich_suspected: u32,
}

/// A swap, and what was estimated of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AccuracySwap {
    /// Its block's number.
    pub block: u64,
    /// Its log's place in the block.
    pub log_index: u32,
    /// Its transaction, `0x` and 64 hexadecimal digits.
    pub transaction: String,
    /// The slot of the estimate.
    pub slot: u32,
    /// `token0` or `token1`: the token sold.
    pub base: String,
    /// What it was worth at the slot's oracle price, USD.
    pub size_usd: Number,
    /// Sold, raw units.
    pub amount_in_raw: String,
    /// Received, raw units.
    pub amount_out_raw: String,
    /// Estimated, raw units.
    pub estimated_out_raw: String,
    /// How far below the oracle it was estimated to fill, percent.
    pub estimated_gap_pct: Number,
    /// By how much farther it did. Positive: reality was worse.
    pub error_pct: Number,
    /// What stood around it: `same_tx`, `jit`, `sandwich_suspected`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
}

/// Every swap of a pool between two recorded slots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AccuracyRecord {
    /// The rules: `accuracy/1`.
    pub figure: String,
    /// The pool.
    pub pool: String,
    /// The first slot, RFC 3339: swaps after its block count.
    pub from: String,
    /// The last slot, RFC 3339: swaps up to its block count.
    pub to: String,
    /// Live or preview.
    pub status: Status,
    /// Whether it is a record: 200 swaps compared and seven days.
    pub enough: bool,
    /// Slots that stand.
    pub slots: u32,
    /// Stretches between two of them, each replayed.
    pub stretches: u32,
    /// Of them those whose logs did not give the later state: a log is absent, or one is not the chain's.
    pub stretches_incomplete: u32,
    /// Swaps logged.
    pub swaps: u32,
    /// Swaps compared; with those not compared they are all.
    pub compared: u32,
    /// Those that were not.
    pub not_compared: AccuracyNotCompared,
    /// Compared swaps around which something stood.
    pub flagged: AccuracyFlagged,
    /// By the age of the estimate.
    pub by_age: Vec<AccuracyByAge>,
    /// By size and direction.
    pub by_size: Vec<AccuracyBySize>,
    /// The largest errors either way, at most ten.
    pub worst: Vec<AccuracySwap>,
    /// The newest compared swaps, at most a hundred, the newest last.
    pub newest: Vec<AccuracySwap>,
}

impl AccuracyRecord {
    /// A result of the core as a document; `period` is its first and its last slot.
    pub fn new(pool: String, period: [String; 2], result: &AccuracyResult) -> Self {
        let NotCompared { fills_incomplete, estimate_refused, two_sided, zero, out_of_range } =
            result.not_compared;
        let [from, to] = period;
        Self {
            figure: ACCURACY.to_owned(),
            pool,
            from,
            to,
            status: if result.live { Status::Live } else { Status::Preview },
            enough: result.enough,
            slots: result.slots,
            stretches: result.stretches,
            stretches_incomplete: result.stretches_incomplete,
            swaps: result.swaps,
            compared: result.compared,
            not_compared: AccuracyNotCompared {
                fills_incomplete,
                estimate_refused,
                two_sided,
                zero,
                out_of_range,
            },
            flagged: AccuracyFlagged {
                same_tx: result.flagged.same_tx,
                jit: result.flagged.jit,
                sandwich_suspected: result.flagged.sandwich_suspected,
            },
            by_age: result.ages.iter().map(AccuracyByAge::from).collect(),
            by_size: result.sizes.iter().map(AccuracyBySize::from).collect(),
            worst: result.worst.iter().map(AccuracySwap::from).collect(),
            newest: result.newest.iter().map(AccuracySwap::from).collect(),
        }
    }
}

impl From<&AccuracyAge> for AccuracyErrors {
    fn from(errors: &AccuracyAge) -> Self {
        Self {
            n: errors.n,
            exact_n: errors.exact_n,
            abs_error_pct_q50: errors.abs_error_q50.map(Number::from),
            abs_error_pct_q95: errors.abs_error_q95.map(Number::from),
            worst_pct: errors.worst.map(Number::from),
            mean_error_pct: errors.mean.map(Number::from),
        }
    }
}

impl From<&AccuracyAge> for AccuracyByAge {
    fn from(errors: &AccuracyAge) -> Self {
        Self { older_slots: errors.older_slots, errors: errors.into() }
    }
}

impl From<&AccuracySize> for AccuracyBySize {
    fn from(size: &AccuracySize) -> Self {
        let base = Base::from(size.direction).code().to_owned();
        Self { from_usd: size.from_usd, base, errors: (&size.errors).into() }
    }
}

impl From<&ComparedSwap> for AccuracySwap {
    fn from(swap: &ComparedSwap) -> Self {
        Self {
            block: swap.block,
            log_index: swap.index,
            transaction: Word(swap.transaction).to_string(),
            slot: swap.slot.number(),
            base: Base::from(swap.direction).code().to_owned(),
            size_usd: swap.size_usd.into(),
            amount_in_raw: swap.amount_in.to_string(),
            amount_out_raw: swap.amount_out.to_string(),
            estimated_out_raw: swap.estimated_out.to_string(),
            estimated_gap_pct: swap.estimated_gap.into(),
            error_pct: swap.error.into(),
            flags: swap.flags.names().map(str::to_owned).collect(),
        }
    }
}

/// The accuracy record of a recorded pool: `GET /v1/accuracy/{pool}`. Its swaps are those of the documents that the
/// pool's heads commit to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PoolAccuracy {
    /// The record.
    #[serde(flatten)]
    pub record: AccuracyRecord,
    /// Days of snapshots behind the pool's newest, at 288 a day.
    pub days_observed: Number,
    /// Later slots of the period that stand and whose swaps no head commits to yet: their blocks are not final, or
    /// their logs were not read.
    pub slots_waiting: u32,
    /// Documents that the swaps were read from …
    pub documents: u32,
    /// … and where they are, from the first slot on.
    pub fills_url: String,
    /// The file by which anyone computes the record again.
    pub figure_url: String,
}
