//! The accuracy record: every real swap compared with its estimate.

use exitgap_core::analytics::accuracy::{
    AccuracyAge, AccuracyResult, AccuracySize, ComparedSwap, NotCompared,
};
use exitgap_core::evidence::Base;
use exitgap_core::ids::Word;
use serde::{Deserialize, Serialize};

use crate::{Exactness, Number, SeriesMethod, Status};

/// Errors of many swaps, percent: the realised gap minus the estimated gap. **Positive: the fill
/// was worse than estimated.**
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AccuracyErrors {
    /// Swaps compared.
    pub n: u32,
    /// Swaps that received exactly the estimated amount, in raw units.
    pub exact_n: u32,
    /// Orders for an output amount that agree with the estimate: the amount received lies between
    /// the estimates for the amount sold and for one raw unit less. Their error is 0.
    pub bracketed_n: u32,
    /// The median absolute error.
    pub abs_error_pct_q50: Option<Number>,
    /// The 95th percentile of the absolute error.
    pub abs_error_pct_q95: Option<Number>,
    /// The error farthest from zero, in either direction.
    pub worst_pct: Option<Number>,
    /// The largest error in the direction of a worse fill.
    pub worst_for_seller_pct: Option<Number>,
    /// The mean signed error.
    pub mean_error_pct: Option<Number>,
}

/// Errors by the age of the estimate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AccuracyByAge {
    /// How many slots the estimate is older than the newest slot before the swap.
    pub older_slots: u32,
    /// The errors.
    #[serde(flatten)]
    pub errors: AccuracyErrors,
}

/// Errors by size and direction, with estimates from the newest slot before the swap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AccuracyBySize {
    /// The smallest size of this group, USD. The group ends at ten times this size.
    pub from_usd: u64,
    /// `token0` or `token1`: the token sold.
    pub base: String,
    /// The errors.
    #[serde(flatten)]
    pub errors: AccuracyErrors,
}

/// Swaps that were not compared, by reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AccuracyNotCompared {
    /// The logs between two slots, when replayed, did not give the later state.
    pub fills_incomplete: u32,
    /// The pool in the slot's state cannot take that much.
    pub estimate_refused: u32,
    /// Both tokens went in, or out.
    pub two_sided: u32,
    /// Nothing went in, or nothing came out.
    pub zero: u32,
    /// The error is outside the range of a percentage.
    pub out_of_range: u32,
}

/// Compared swaps with other activity around them. They are compared like all others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AccuracyFlagged {
    /// The same transaction swapped in the pool more than once.
    pub same_tx: u32,
    /// In the same block, one owner added liquidity to a range before the swap and removed it after
    /// the swap.
    pub jit: u32,
    /// In the same block, one party swapped shortly before this swap and in the opposite direction
    /// shortly after it.
    pub sandwich_suspected: u32,
}

/// A swap and its estimate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AccuracySwap {
    /// The block number.
    pub block: u64,
    /// The index of the log in the block.
    pub log_index: u32,
    /// The transaction hash, `0x` and 64 hexadecimal digits.
    pub transaction: String,
    /// The slot of the estimate.
    pub slot: u32,
    /// `token0` or `token1`: the token sold.
    pub base: String,
    /// The value sold at the slot's oracle price, USD.
    pub size_usd: Number,
    /// Amount sold, raw units.
    pub amount_in_raw: String,
    /// Amount received, raw units.
    pub amount_out_raw: String,
    /// Amount estimated, raw units.
    pub estimated_out_raw: String,
    /// The estimated gap below the oracle price, percent.
    pub estimated_gap_pct: Number,
    /// The realised gap minus the estimated gap, and 0 if the swap is `bracketed`. Positive: the
    /// fill was worse than estimated.
    pub error_pct: Number,
    /// Whether the swap agrees with the estimate: `exact` (equal in raw units), `bracketed` (an
    /// order for an output amount that lies between the estimates for the amount sold and for one
    /// raw unit less) or `differs`.
    pub agreement: String,
    /// Other activity around the swap: `same_tx`, `jit`, `sandwich_suspected`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
}

/// Every swap of a pool between two recorded slots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AccuracyRecord {
    /// The version of the rules: `accuracy/2`.
    pub figure: String,
    /// The pool.
    pub pool: String,
    /// The first slot, RFC 3339. Swaps after its block are included.
    pub from: String,
    /// The last slot, RFC 3339. Swaps up to its block are included.
    pub to: String,
    /// Live or preview.
    pub status: Status,
    /// Whether this is a full record: at least 200 compared swaps and 2,016 judged slots (seven
    /// days).
    pub enough: bool,
    /// Slots with a snapshot that was not retracted.
    pub slots: u32,
    /// Slots whose state follows from the logs since the slot before, so that the swaps between
    /// both were judged: the intervals without the incomplete ones.
    pub judged_slots: u32,
    /// Intervals between two such slots. Each one is replayed.
    pub stretches: u32,
    /// Intervals whose replayed logs did not give the later state: a log is missing, or a log is
    /// not from the chain.
    pub stretches_incomplete: u32,
    /// Swaps logged.
    pub swaps: u32,
    /// Swaps compared. Together with the swaps not compared, these are all swaps.
    pub compared: u32,
    /// Swaps not compared.
    pub not_compared: AccuracyNotCompared,
    /// Compared swaps with other activity around them.
    pub flagged: AccuracyFlagged,
    /// Errors by the age of the estimate.
    pub by_age: Vec<AccuracyByAge>,
    /// Errors by size and direction.
    pub by_size: Vec<AccuracyBySize>,
    /// The largest errors in either direction, at most ten.
    pub worst: Vec<AccuracySwap>,
    /// The newest compared swaps, at most 100, newest last.
    pub newest: Vec<AccuracySwap>,
}

impl AccuracyRecord {
    /// Converts a core result to a document. `period` is its first and its last slot.
    pub fn new(pool: String, period: [String; 2], result: &AccuracyResult) -> Self {
        let NotCompared { fills_incomplete, estimate_refused, two_sided, zero, out_of_range } =
            result.not_compared;
        let [from, to] = period;
        Self {
            figure: result.rules.name().to_owned(),
            pool,
            from,
            to,
            status: if result.live { Status::Live } else { Status::Preview },
            enough: result.enough,
            slots: result.slots,
            judged_slots: result.judged_slots,
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
            bracketed_n: errors.bracketed_n,
            abs_error_pct_q50: errors.abs_error_q50.map(Number::from),
            abs_error_pct_q95: errors.abs_error_q95.map(Number::from),
            worst_pct: errors.worst.map(Number::from),
            worst_for_seller_pct: errors.worst_for_seller.map(Number::from),
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
            agreement: swap.agreement.code().to_owned(),
            flags: swap.flags.names().map(str::to_owned).collect(),
        }
    }
}

/// The accuracy record of a recorded pool: `GET /v1/accuracy/{pool}`. Its swaps come from the
/// documents that the pool's heads commit to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PoolAccuracy {
    /// The record.
    #[serde(flatten)]
    pub record: AccuracyRecord,
    /// Whether the amounts are what a holder sends and receives.
    #[serde(flatten)]
    pub exactness: Exactness,
    /// Days of snapshots up to the pool's newest snapshot, at 288 slots a day.
    pub days_observed: Number,
    /// The version of the method behind the estimates.
    pub method_version: String,
    /// The method, disclosed. Its window counts the slots of the record.
    pub method: SeriesMethod,
    /// Later slots of the period, recorded and not retracted, whose swaps no head commits to yet:
    /// their blocks are not final, or their logs were not read.
    pub slots_waiting: u32,
    /// The number of documents that the swaps were read from …
    pub documents: u32,
    /// … and their URL, starting at the first slot.
    pub fills_url: String,
    /// URL of the figure file. Anyone can recompute the record from this file.
    pub figure_url: String,
}
