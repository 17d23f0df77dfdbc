//! The request and answer that an evidence file states, and how the answer is computed from the request.

use serde::{Deserialize, Serialize};

use super::head::{Depths, Head, is_method_version};
use crate::Newer;
use crate::exit::{Estimate, Exit, METHOD_VERSION, Refusal};
use crate::ids::PoolId;
use crate::json::{Json, Wire, wire_code, wire_struct};
use crate::pools::Direction;
use crate::series::days_observed_hundredths;
use crate::snapshot::Snapshot;
use crate::units::{GapLimit, SizeError, SizeUsd, format_scaled};
use crate::wide::U256;

/// The token that is sold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Base {
    /// Token 0 is sold.
    Token0,
    /// Token 1 is sold.
    Token1,
}

impl Base {
    /// Both tokens.
    pub const BOTH: [Self; 2] = [Self::Token0, Self::Token1];

    /// The token of this [`code`](Self::code).
    pub fn from_code(code: &str) -> Option<Self> {
        Self::BOTH.into_iter().find(|base| base.code() == code)
    }

    /// The code used in documents: `token0` or `token1`.
    pub fn code(self) -> &'static str {
        match self {
            Self::Token0 => "token0",
            Self::Token1 => "token1",
        }
    }
}

wire_code!(Base, Base::BOTH);

impl From<Base> for Direction {
    fn from(base: Base) -> Self {
        match base {
            Base::Token0 => Self::ZeroForOne,
            Base::Token1 => Self::OneForZero,
        }
    }
}

impl From<Direction> for Base {
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::ZeroForOne => Self::Token0,
            Direction::OneForZero => Self::Token1,
        }
    }
}

/// The request of an evidence file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvidenceRequest {
    /// The token sold.
    pub base: Base,
    /// The version of the rules that the answer is computed with.
    pub method_version: String,
    /// The pool.
    pub pool: PoolId,
    /// The size in USD: plain decimal without trailing zeros.
    pub size_usd: String,
    /// The slot's number.
    pub slot: u64,
}

/// The result of a request. It contains only values that request, snapshot and head determine. Every number is a
/// string; percentages have exactly six decimals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvidenceResult {
    /// Raw units of the base token sold.
    pub amount_in_raw: String,
    /// Raw units of the quote token bought.
    pub amount_out_raw: String,
    /// How far the pool's mid price is below the oracle price.
    pub basis_pct: String,
    /// Recorded, unretracted slots ÷ 288, two decimals.
    pub days_observed: String,
    /// The gap between realized and oracle price.
    pub exit_gap_pct: String,
    /// The pool's fee.
    pub fee_pct: String,
    /// The price impact.
    pub impact_pct: String,
    /// The lowest depth at 2 % in the last 2,016 slots in this direction.
    pub lowest_depth_7d_usd: Option<String>,
    /// USD per whole base token for the next unit, fee included.
    pub marginal_price_usd: String,
    /// Whether the markets of both tokens are open.
    pub market_open: bool,
    /// USD per whole base token at the pool's mid price.
    pub mid_price_usd: String,
    /// USD per whole base token at the oracle.
    pub oracle_price_usd: String,
    /// Whether any oracle answer is older than its heartbeat.
    pub oracle_stale: bool,
    /// USD per whole base token of the fill.
    pub realized_price_usd: String,
    /// The market session.
    pub session_note: String,
    /// `live` or `preview`.
    pub status: String,
}

/// The refusal of a size that the recorded pool cannot fill. Like a result, it is determined by request and snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvidenceRefusal {
    /// The size in raw units of the base token; `null` if that exceeds 256 bits.
    pub amount_in_raw: Option<String>,
    /// `beyond_liquidity`, `rounds_to_no_input` or `rounds_to_no_output`.
    pub code: String,
    /// Raw units of the base token that the pool can take.
    pub consumed_raw: String,
    /// The largest size that can be filled, in USD; `null` if no size can be filled, or if the size is too small.
    pub max_fillable_usd: Option<String>,
    /// Raw units of the quote token that the pool pays for them.
    pub paid_raw: String,
}

/// The answer in an evidence file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[allow(clippy::large_enum_variant, reason = "there is one of a file, and most are results")]
pub enum Answer {
    /// The size has a gap.
    Result(EvidenceResult),
    /// The size cannot be filled.
    Refusal(EvidenceRefusal),
}

/// Why a request has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResultError {
    /// The size is invalid, or not in its canonical form.
    #[error("size_usd {found:?}: {reason}")]
    Size {
        /// The text found, cut to 40 characters.
        found: String,
        /// The reason.
        reason: String,
    },
    /// The request names rules that this build does not know.
    #[error("{0}")]
    Newer(Newer),
    /// The name of the rules' version is not a short word.
    #[error("method_version must be 1 to 20 printable characters")]
    MethodVersion,
    /// The sale is refused for a reason that evidence cannot state.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

wire_struct!(EvidenceRequest { base, method_version, pool, size_usd, slot });

wire_struct!(EvidenceRefusal { amount_in_raw, code, consumed_raw, max_fillable_usd, paid_raw });

wire_struct!(EvidenceResult {
    amount_in_raw,
    amount_out_raw,
    basis_pct,
    days_observed,
    exit_gap_pct,
    fee_pct,
    impact_pct,
    lowest_depth_7d_usd,
    marginal_price_usd,
    market_open,
    mid_price_usd,
    oracle_price_usd,
    oracle_stale,
    realized_price_usd,
    session_note,
    status,
});

impl EvidenceRequest {
    /// A request in canonical form, with the rules of this build.
    pub fn new(pool: PoolId, slot: crate::series::Slot, base: Base, size: SizeUsd) -> Self {
        let method_version = METHOD_VERSION.to_owned();
        let (size_usd, slot) = (size.to_string(), slot.number().into());
        Self { base, method_version, pool, size_usd, slot }
    }

    /// The requested size.
    pub fn size(&self) -> Result<SizeUsd, ResultError> {
        let wrong = |reason: String| ResultError::Size {
            found: self.size_usd.chars().take(40).collect(),
            reason,
        };
        let size: SizeUsd =
            self.size_usd.parse().map_err(|error: SizeError| wrong(error.to_string()))?;
        if size.to_string() == self.size_usd {
            Ok(size)
        } else {
            Err(wrong(format!("its one spelling is {size}")))
        }
    }
}

impl Answer {
    /// Computes the answer to `request` on a recorded slot.
    pub fn compute(
        request: &EvidenceRequest,
        snapshot: &Snapshot,
        head: &Head,
    ) -> Result<Self, ResultError> {
        check_method(&request.method_version)?;
        let (direction, size) = (Direction::from(request.base), request.size()?);
        let exit = Exit::of_size(snapshot.observation(), direction, size);
        Self::of_exit(&exit, size, snapshot, head)
    }

    fn of_exit(
        exit: &Exit,
        size: SizeUsd,
        snapshot: &Snapshot,
        head: &Head,
    ) -> Result<Self, ResultError> {
        match exit.estimate(size) {
            Ok(estimate) => {
                let direction = exit.direction();
                Ok(Self::Result(EvidenceResult::of_estimate(&estimate, direction, snapshot, head)))
            }
            Err(refusal) => {
                let stated = EvidenceRefusal::from_refusal(&refusal, exit.amount_asked(size));
                stated.map(Self::Refusal).ok_or_else(|| refusal.into())
            }
        }
    }

    /// Exactly one of the two must be present.
    pub(super) fn from_either(
        result: Option<EvidenceResult>,
        refusal: Option<EvidenceRefusal>,
    ) -> Option<Self> {
        match (result, refusal) {
            (Some(result), None) => Some(Self::Result(result)),
            (None, Some(refusal)) => Some(Self::Refusal(refusal)),
            _ => None,
        }
    }

    /// The field name in a file, and its value.
    pub(super) fn to_field(&self) -> (&'static str, Json<'_>) {
        match self {
            Self::Result(result) => ("result", result.to_json()),
            Self::Refusal(refusal) => ("refusal", refusal.to_json()),
        }
    }

    /// The result, if the answer is a result.
    pub fn result(&self) -> Option<&EvidenceResult> {
        match self {
            Self::Result(result) => Some(result),
            Self::Refusal(_) => None,
        }
    }

    /// The refusal, if the answer is a refusal.
    pub fn refusal(&self) -> Option<&EvidenceRefusal> {
        match self {
            Self::Refusal(refusal) => Some(refusal),
            Self::Result(_) => None,
        }
    }
}

impl EvidenceRefusal {
    /// The evidence refusal for a sale of `asked`; `None` if the pool could fill it and only a percentage is out of
    /// range.
    fn from_refusal(refusal: &Refusal, asked: Option<U256>) -> Option<Self> {
        let (consumed, paid, most) = match refusal {
            Refusal::NoInput => (U256::ZERO, U256::ZERO, None),
            Refusal::NoOutput => (asked.unwrap_or(U256::ZERO), U256::ZERO, None),
            Refusal::BeyondLiquidity { max_fillable_usd, max_amount_in, max_amount_out } => {
                let most = (max_fillable_usd.0 > 0).then(|| max_fillable_usd.to_string());
                (*max_amount_in, *max_amount_out, most)
            }
            Refusal::GapOutOfRange | Refusal::NotFollowed => return None,
        };
        Some(Self {
            amount_in_raw: asked.map(|amount| amount.to_string()),
            code: refusal.code().to_owned(),
            consumed_raw: consumed.to_string(),
            max_fillable_usd: most,
            paid_raw: paid.to_string(),
        })
    }
}

impl EvidenceResult {
    fn of_estimate(
        estimate: &Estimate,
        direction: Direction,
        snapshot: &Snapshot,
        head: &Head,
    ) -> Self {
        let observation = snapshot.observation();
        let session = observation.session();
        let days = days_observed_hundredths(head.recorded_count.into());
        let lowest = head.lowest_depth_7d_usd[direction.base_index()];
        Self {
            amount_in_raw: estimate.amount_in.to_string(),
            amount_out_raw: estimate.amount_out.to_string(),
            basis_pct: estimate.split.basis.to_fixed(),
            days_observed: format_scaled(days.into(), 2, true),
            exit_gap_pct: estimate.gap.to_fixed(),
            fee_pct: estimate.split.fee.to_fixed(),
            impact_pct: estimate.split.impact.to_fixed(),
            lowest_depth_7d_usd: lowest.map(|depth| depth.to_string()),
            marginal_price_usd: estimate.marginal_price.to_string(),
            market_open: session.market_open,
            mid_price_usd: estimate.mid_price.to_string(),
            oracle_price_usd: estimate.oracle_price.to_string(),
            oracle_stale: observation.oracle_stale(),
            realized_price_usd: estimate.realized_price.to_string(),
            session_note: session.note,
            status: observation.chain().kind.code().to_owned(),
        }
    }
}

/// Exits in both directions of a snapshot, prepared for its depths and for one request.
#[derive(Debug, Clone)]
pub(super) struct PreparedExits {
    exits: [Exit; 2],
}

impl PreparedExits {
    /// Walks the pool's curve once in each direction.
    pub(super) fn from_snapshot(snapshot: &Snapshot, request: &EvidenceRequest) -> Self {
        let exits = Direction::BOTH.map(|direction| {
            let size = (direction == request.base.into()).then(|| request.size().ok()).flatten();
            Exit::of_start(snapshot.observation(), direction, GapLimit::DEPTH, size)
        });
        Self { exits }
    }

    /// The [`depths`] of the snapshot.
    pub(super) fn depths(&self) -> [Option<u64>; 2] {
        self.exits.each_ref().map(|exit| exit.depth_usd(GapLimit::DEPTH).ok())
    }

    /// The same as [`Answer::compute`] for the request and snapshot that these exits were prepared with.
    pub(super) fn answer(
        &self,
        request: &EvidenceRequest,
        snapshot: &Snapshot,
        head: &Head,
    ) -> Result<Answer, ResultError> {
        check_method(&request.method_version)?;
        let exit = &self.exits[Direction::from(request.base).base_index()];
        Answer::of_exit(exit, request.size()?, snapshot, head)
    }
}

/// Requires that this build contains these rules. Every unknown version counts as a later one.
pub(super) fn check_method(version: &str) -> Result<(), ResultError> {
    if version == METHOD_VERSION {
        return Ok(());
    }
    if is_method_version(version) {
        Err(ResultError::Newer(Newer::method(version)))
    } else {
        Err(ResultError::MethodVersion)
    }
}

/// The comparison of a head's depths with the recomputed ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DepthsCompared {
    /// They are the same.
    Same,
    /// At least one differs.
    Differ,
    /// None differs, but the head or this search gave up one of them.
    GivenUp,
}

/// The protocols whose curves are not a sequence of formulas. The format page does not count the steps of a search for
/// their depths, so two verifiers may give up at different sizes.
const UNCOUNTED: [&str; 5] = ["stableswap", "solidly", "weighted", "stable_v2", "stable_v3"];

/// Compares the depths that a head states of a snapshot with those found.
pub(super) fn compare_depths(snapshot: &Snapshot, found: Depths, stated: Depths) -> DepthsCompared {
    let is_uncounted = UNCOUNTED.contains(&snapshot.observation().state().protocol());
    let directions = found.into_iter().zip(stated);
    let differ = |(found, stated): (Option<u64>, Option<u64>)| {
        found != stated && !(is_uncounted && (found.is_none() || stated.is_none()))
    };
    if directions.clone().any(differ) {
        DepthsCompared::Differ
    } else if is_uncounted && found.into_iter().chain(stated).any(|depth| depth.is_none()) {
        DepthsCompared::GivenUp
    } else {
        DepthsCompared::Same
    }
}

/// The depths at 2 % that a head states for its snapshot, in whole dollars. `None` if a search is given up.
pub fn depths(snapshot: &Snapshot) -> [Option<u64>; 2] {
    Direction::BOTH.map(|direction| {
        let exit = Exit::of_start(snapshot.observation(), direction, GapLimit::DEPTH, None);
        exit.depth_usd(GapLimit::DEPTH).ok()
    })
}
