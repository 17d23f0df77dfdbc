//! The request and result that an evidence file states, and how the one follows
//! from the other.

use serde::{Deserialize, Serialize};

use super::head::Head;
use crate::exit::{Estimate, Exit, METHOD_VERSION, Refusal};
use crate::ids::PoolId;
use crate::json::{wire_code, wire_struct};
use crate::pools::Direction;
use crate::series::days_observed_hundredths;
use crate::snapshot::Snapshot;
use crate::units::{GapLimit, SizeError, SizeUsd, format_scaled};

/// Which token is sold.
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

    /// As the documents spell it: `token0` or `token1`.
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

/// What was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvidenceRequest {
    /// The token sold.
    pub base: Base,
    /// The version of the rules to answer by.
    pub method_version: String,
    /// The pool.
    pub pool: PoolId,
    /// The size in USD: plain decimal, no trailing zeros.
    pub size_usd: String,
    /// The slot's number.
    pub slot: u64,
}

/// What was answered: only what request, snapshot and head determine. Every number
/// is a string; percentages have all six decimals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvidenceResult {
    /// Raw units of the base token sold.
    pub amount_in_raw: String,
    /// Raw units of the quote token bought.
    pub amount_out_raw: String,
    /// How far the pool's mid price lies below the oracle.
    pub basis_pct: String,
    /// Recorded slots ÷ 288, two decimals.
    pub days_observed: String,
    /// The gap between realized and oracle price.
    pub exit_gap_pct: String,
    /// The pool's fee.
    pub fee_pct: String,
    /// What moving the price costs.
    pub impact_pct: String,
    /// The lowest depth at 2 % of the last 2,016 slots in this direction.
    pub lowest_depth_7d_usd: Option<String>,
    /// USD per whole base token that the next unit would fill at, fee included.
    pub marginal_price_usd: String,
    /// Whether the assets' market is open.
    pub market_open: bool,
    /// USD per whole base token at the pool's mid price.
    pub mid_price_usd: String,
    /// USD per whole base token by the oracle.
    pub oracle_price_usd: String,
    /// Whether any oracle answer is older than its heartbeat.
    pub oracle_stale: bool,
    /// USD per whole base token as filled.
    pub realized_price_usd: String,
    /// The market session.
    pub session_note: String,
    /// `live` or `preview`.
    pub status: String,
}

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResultError {
    /// The size is not one, or not in its one spelling.
    #[error("size_usd {found:?}: {reason}")]
    Size {
        /// The text found, cut to 40 characters.
        found: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Rules that no release of exitgap has.
    #[error("method version {found:?} was never released; this build knows {METHOD_VERSION}")]
    MethodVersion {
        /// The version found, cut to 40 characters.
        found: String,
    },
    /// The pool has no fill for this size.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

wire_struct!(EvidenceRequest { base, method_version, pool, size_usd, slot });

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
    /// A request in its one spelling, by the rules of this build.
    pub fn new(pool: PoolId, slot: crate::series::Slot, base: Base, size: SizeUsd) -> Self {
        let method_version = METHOD_VERSION.to_owned();
        let (size_usd, slot) = (size.to_string(), slot.number().into());
        Self { base, method_version, pool, size_usd, slot }
    }

    /// The size asked for.
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

impl EvidenceResult {
    /// Computes the result of `request` on a recorded slot.
    pub fn compute(
        request: &EvidenceRequest,
        snapshot: &Snapshot,
        head: &Head,
    ) -> Result<Self, ResultError> {
        check_method(&request.method_version)?;
        let direction = Direction::from(request.base);
        let estimate = Exit::estimate_once(snapshot.observation(), direction, request.size()?)?;
        Ok(Self::of_estimate(&estimate, direction, snapshot, head))
    }

    fn of_estimate(
        estimate: &Estimate,
        direction: Direction,
        snapshot: &Snapshot,
        head: &Head,
    ) -> Self {
        let observation = snapshot.observation();
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
            market_open: observation.session().market_open,
            mid_price_usd: estimate.mid_price.to_string(),
            oracle_price_usd: estimate.oracle_price.to_string(),
            oracle_stale: observation.oracle_stale(),
            realized_price_usd: estimate.realized_price.to_string(),
            session_note: observation.session().note.clone(),
            status: observation.chain().kind.code().to_owned(),
        }
    }
}

/// Both directions of a snapshot, ready for its depths and for one request.
pub(super) struct Prepared {
    exits: [Exit; 2],
}

impl Prepared {
    /// Follows each direction of the pool's curve once.
    pub(super) fn of(snapshot: &Snapshot, request: &EvidenceRequest) -> Self {
        let exits = Direction::BOTH.map(|direction| {
            let size = (direction == request.base.into()).then(|| request.size().ok()).flatten();
            Exit::of_start(snapshot.observation(), direction, GapLimit::DEPTH, size)
        });
        Self { exits }
    }

    /// [`depths`] of the snapshot.
    pub(super) fn depths(&self) -> [Option<u64>; 2] {
        self.exits.each_ref().map(|exit| exit.depth_usd(GapLimit::DEPTH).ok())
    }

    /// [`EvidenceResult::compute`] of the request, on the snapshot it was prepared with.
    pub(super) fn result(
        &self,
        request: &EvidenceRequest,
        snapshot: &Snapshot,
        head: &Head,
    ) -> Result<EvidenceResult, ResultError> {
        check_method(&request.method_version)?;
        let direction = Direction::from(request.base);
        let estimate = self.exits[direction.base_index()].estimate(request.size()?)?;
        Ok(EvidenceResult::of_estimate(&estimate, direction, snapshot, head))
    }
}

/// Whether these rules are compiled in.
pub(super) fn check_method(version: &str) -> Result<(), ResultError> {
    if version == METHOD_VERSION {
        return Ok(());
    }
    Err(ResultError::MethodVersion { found: version.chars().take(40).collect() })
}

/// The depths at 2 % that a head states of its snapshot, in whole dollars. `None`
/// where the search ends without an answer.
pub fn depths(snapshot: &Snapshot) -> [Option<u64>; 2] {
    Direction::BOTH.map(|direction| {
        let exit = Exit::of_start(snapshot.observation(), direction, GapLimit::DEPTH, None);
        exit.depth_usd(GapLimit::DEPTH).ok()
    })
}
