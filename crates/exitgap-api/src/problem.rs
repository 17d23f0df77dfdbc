//! Problems: errors with a stable code and the field at fault.

use core::fmt;

use exitgap_core::exit::{NotSized, OrdersRefused, Refusal};
use exitgap_core::series::{LookupError, Slot};
use exitgap_core::snapshot::BaseError;
use exitgap_core::units::{SizeUsd, UsdMicros};
use serde::{Deserialize, Serialize};

use crate::Number;

/// Stable codes of all errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProblemCode {
    /// The value of a parameter or flag is invalid. `field` names the parameter.
    InvalidParameter,
    /// The pool's identifier is not of the form `<chain>:<address>`.
    InvalidPool,
    /// No such pool is monitored.
    UnknownPool,
    /// The token is not one of the pool's two tokens.
    UnknownBase,
    /// No monitored pool trades the token.
    UnknownToken,
    /// Nothing was recorded yet.
    NoSnapshotYet,
    /// The requested slot is missing from the series. `reason` gives the cause.
    SlotMissing,
    /// The requested slot was retracted: its block was orphaned, or its ticks were misread.
    SlotRetracted,
    /// The requested time is before the series began.
    BeforeSeries,
    /// The requested time is after the newest slot.
    AfterSeries,
    /// The size is less than one raw unit of the token sold.
    RoundsToNoInput,
    /// The pool would pay less than one raw unit.
    RoundsToNoOutput,
    /// The recorded liquidity cannot fill the size. The largest size is `max_fillable_usd`.
    BeyondLiquidity,
    /// The fill price and the oracle price are too far apart for a percentage.
    GapOutOfRange,
    /// The search for a size found no answer.
    SearchExhausted,
    /// The largest exit of this kind of pool cannot be computed exactly, so it is not computed.
    SizingNotExact,
    /// The state of this kind of pool after an order is not computed. Only sales at once are
    /// supported.
    OrdersNotExact,
    /// The report does not support this kind of pool.
    FigureUnsupportedKind,
    /// The chain could not be read. `reason` gives the cause.
    ChainUnreadable,
    /// The nodes no longer prove states of a block this old.
    ProofOutOfReach,
    /// The nodes do not serve state proofs, or serve them in a different format.
    ProofsNotServed,
    /// The storage layout of the pool's contract is not known, so its state cannot be proven.
    UnsupportedLayout,
    /// The proof would be larger than the limit.
    ProofTooWide,
    /// The chain has a different block at the height of the snapshot.
    BlockNotCanonical,
    /// A database or file could not be read or has unexpected content.
    SourceUnreadable,
    /// A parameter that the address does not have.
    UnknownParameter,
    /// No pool of this chain is monitored.
    UnknownChain,
    /// A period ends before it begins.
    PeriodReversed,
    /// A method version that was never released.
    UnknownMethodVersion,
    /// A guard of the request: the answer would be preview.
    NotLive,
    /// A guard of the request: the series behind the answer is shorter.
    SeriesTooShort,
    /// A guard of the request: the answer's snapshot is older.
    SnapshotTooOld,
    /// Specified, but not built yet.
    NotAvailable,
    /// There is no such address.
    NotFound,
    /// The address does not support the method.
    MethodNotAllowed,
    /// The URL is longer than the service accepts.
    AddressTooLong,
    /// The request has a body, but the address does not accept one.
    BodyNotAccepted,
    /// More requests than one client may make.
    RateLimited,
    /// The resource has an owner, and the request has no token or an unknown one.
    TokenRequired,
    /// The token's owner does not have this rule.
    UnknownAlert,
    /// The caller used the same idempotency key for a different request.
    RequestDiffers,
    /// More rules than one client, or one host, may have.
    TooManyAlerts,
    /// The service cannot store more rules.
    AlertsFull,
    /// The answer has a price that was not paid. The headers show how to pay.
    PaymentRequired,
    /// The payment of the request cannot be read, or the request has two.
    PaymentMalformed,
    /// The payment was used for another request, or long ago.
    PaymentUsed,
    /// The outcome of the payment is not known yet. Repeat the same request.
    PaymentPending,
    /// No payment can be settled now.
    PaymentsUnavailable,
    /// The client has used up its free estimates for today.
    FreeEstimatesUsed,
    /// The answer took longer than the service allows.
    TimedOut,
    /// The service failed.
    InternalError,
}

impl ProblemCode {
    /// The code as text, e.g. `beyond_liquidity`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidParameter => "invalid_parameter",
            Self::InvalidPool => "invalid_pool",
            Self::UnknownPool => "unknown_pool",
            Self::UnknownBase => "unknown_base",
            Self::UnknownToken => "unknown_token",
            Self::NoSnapshotYet => "no_snapshot_yet",
            Self::SlotMissing => "slot_missing",
            Self::SlotRetracted => "slot_retracted",
            Self::BeforeSeries => "before_series",
            Self::AfterSeries => "after_series",
            Self::RoundsToNoInput => "rounds_to_no_input",
            Self::RoundsToNoOutput => "rounds_to_no_output",
            Self::BeyondLiquidity => "beyond_liquidity",
            Self::GapOutOfRange => "gap_out_of_range",
            Self::SearchExhausted => "search_exhausted",
            Self::SizingNotExact => "sizing_not_exact",
            Self::OrdersNotExact => "orders_not_exact",
            Self::FigureUnsupportedKind => "figure_unsupported_kind",
            Self::ChainUnreadable => "chain_unreadable",
            Self::ProofOutOfReach => "proof_out_of_reach",
            Self::ProofsNotServed => "proofs_not_served",
            Self::UnsupportedLayout => "unsupported_layout",
            Self::ProofTooWide => "proof_too_wide",
            Self::BlockNotCanonical => "block_not_canonical",
            Self::SourceUnreadable => "source_unreadable",
            Self::UnknownParameter => "unknown_parameter",
            Self::UnknownChain => "unknown_chain",
            Self::PeriodReversed => "period_reversed",
            Self::UnknownMethodVersion => "unknown_method_version",
            Self::NotLive => "not_live",
            Self::SeriesTooShort => "series_too_short",
            Self::SnapshotTooOld => "snapshot_too_old",
            Self::NotAvailable => "not_available",
            Self::NotFound => "not_found",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::AddressTooLong => "address_too_long",
            Self::BodyNotAccepted => "body_not_accepted",
            Self::RateLimited => "rate_limited",
            Self::TokenRequired => "token_required",
            Self::UnknownAlert => "unknown_alert",
            Self::RequestDiffers => "request_differs",
            Self::TooManyAlerts => "too_many_alerts",
            Self::AlertsFull => "alerts_full",
            Self::PaymentRequired => "payment_required",
            Self::PaymentMalformed => "payment_malformed",
            Self::PaymentUsed => "payment_used",
            Self::PaymentPending => "payment_pending",
            Self::PaymentsUnavailable => "payments_unavailable",
            Self::FreeEstimatesUsed => "free_estimates_used",
            Self::TimedOut => "timed_out",
            Self::InternalError => "internal_error",
        }
    }

    /// The problems that an evidence file can prove: a pool cannot fill a size. If it can, and only the gap is not a
    /// valid percentage, a file has nothing to state.
    pub const PROVABLE: [Self; 3] =
        [Self::BeyondLiquidity, Self::RoundsToNoInput, Self::RoundsToNoOutput];

    /// Whether evidence can prove it.
    pub fn has_evidence(self) -> bool {
        Self::PROVABLE.contains(&self)
    }

    /// The HTTP status of the service's response.
    pub fn http_status(self) -> u16 {
        match self {
            Self::InvalidParameter
            | Self::InvalidPool
            | Self::UnknownParameter
            | Self::UnknownMethodVersion
            | Self::PaymentMalformed => 400,
            Self::TokenRequired => 401,
            Self::PaymentRequired => 402,
            Self::PaymentUsed | Self::RequestDiffers | Self::BlockNotCanonical => 409,
            Self::UnknownPool
            | Self::UnknownChain
            | Self::UnknownBase
            | Self::UnknownToken
            | Self::SlotMissing
            | Self::SlotRetracted
            | Self::BeforeSeries
            | Self::AfterSeries
            | Self::UnknownAlert
            | Self::ProofOutOfReach
            | Self::ProofsNotServed
            | Self::UnsupportedLayout
            | Self::ProofTooWide
            | Self::NotAvailable
            | Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::NotLive | Self::SeriesTooShort | Self::SnapshotTooOld => 412,
            Self::BodyNotAccepted => 413,
            Self::AddressTooLong => 414,
            Self::RoundsToNoInput
            | Self::RoundsToNoOutput
            | Self::BeyondLiquidity
            | Self::GapOutOfRange
            | Self::SearchExhausted
            | Self::SizingNotExact
            | Self::OrdersNotExact
            | Self::FigureUnsupportedKind
            | Self::PeriodReversed => 422,
            Self::RateLimited | Self::TooManyAlerts | Self::FreeEstimatesUsed => 429,
            Self::SourceUnreadable | Self::InternalError => 500,
            Self::ChainUnreadable => 502,
            Self::NoSnapshotYet
            | Self::TimedOut
            | Self::AlertsFull
            | Self::PaymentPending
            | Self::PaymentsUnavailable => 503,
        }
    }

    /// The title of the code.
    pub fn title(self) -> &'static str {
        match self {
            Self::InvalidParameter => "Invalid parameter",
            Self::InvalidPool => "Invalid pool identifier",
            Self::UnknownPool => "The pool is not monitored",
            Self::UnknownBase => "The token is not in the pool",
            Self::UnknownToken => "No monitored pool trades the token",
            Self::NoSnapshotYet => "Nothing is recorded yet",
            Self::SlotMissing => "The slot is missing from the series",
            Self::SlotRetracted => "The slot was retracted",
            Self::BeforeSeries => "Before the start of the series",
            Self::AfterSeries => "After the newest slot",
            Self::RoundsToNoInput => "The input rounds to zero",
            Self::RoundsToNoOutput => "The output rounds to zero",
            Self::BeyondLiquidity => "The size exceeds the recorded liquidity",
            Self::GapOutOfRange => "Fill price and oracle price are too far apart",
            Self::SearchExhausted => "The search found no answer",
            Self::SizingNotExact => "The largest exit is not available for this kind of pool",
            Self::OrdersNotExact => "Several orders are not supported for this kind of pool",
            Self::FigureUnsupportedKind => "This report does not support this kind of pool",
            Self::ChainUnreadable => "The chain could not be read",
            Self::ProofOutOfReach => "The block is too old for the nodes to prove",
            Self::ProofsNotServed => "The nodes do not serve state proofs",
            Self::UnsupportedLayout => "The storage layout of the contract is not known",
            Self::ProofTooWide => "The proof would be too large",
            Self::BlockNotCanonical => "The chain has a different block at this height",
            Self::SourceUnreadable => "The series could not be read",
            Self::UnknownParameter => "Unknown parameter",
            Self::UnknownChain => "No pool of this chain is monitored",
            Self::PeriodReversed => "The period ends before it begins",
            Self::UnknownMethodVersion => "The method version was never released",
            Self::NotLive => "The status would be preview",
            Self::SeriesTooShort => "The series is shorter than required",
            Self::SnapshotTooOld => "The snapshot is older than accepted",
            Self::NotAvailable => "Specified, but not built yet",
            Self::NotFound => "Address not found",
            Self::MethodNotAllowed => "Method not allowed",
            Self::AddressTooLong => "The address is too long",
            Self::BodyNotAccepted => "A request body is not accepted",
            Self::RateLimited => "Too many requests",
            Self::TokenRequired => "A token is required",
            Self::UnknownAlert => "Alert rule not found",
            Self::RequestDiffers => "The idempotency key was used for a different request",
            Self::TooManyAlerts => "Too many rules",
            Self::AlertsFull => "The service cannot store more rules",
            Self::PaymentRequired => "A payment is required",
            Self::PaymentMalformed => "Malformed payment",
            Self::PaymentUsed => "The payment was already used",
            Self::PaymentPending => "The payment is in progress",
            Self::PaymentsUnavailable => "Payments are not available now",
            Self::FreeEstimatesUsed => "No free estimates are left today",
            Self::TimedOut => "The answer took too long",
            Self::InternalError => "The service failed",
        }
    }
}

/// An error document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Problem {
    /// The stable code.
    pub code: ProblemCode,
    /// The cause, in one sentence.
    pub detail: String,
    /// The parameter at fault.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub field: Option<String>,
    /// What to do, if known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hint: Option<String>,
    /// The stable reason behind a missing slot or an unreadable chain.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// The size that cannot be filled, USD.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub size_usd: Option<Number>,
    /// The largest size that can be filled, USD.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_fillable_usd: Option<Number>,
    /// URL of the evidence that the size cannot be filled.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub evidence_url: Option<String>,
}

impl Problem {
    /// A problem with its cause.
    pub fn new(code: ProblemCode, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
            field: None,
            hint: None,
            reason: None,
            size_usd: None,
            max_fillable_usd: None,
            evidence_url: None,
        }
    }

    /// Sets the parameter at fault.
    #[must_use]
    pub fn field(self, field: &str) -> Self {
        Self { field: Some(field.to_owned()), ..self }
    }

    /// Sets the hint.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Sets the stable reason.
    #[must_use]
    pub fn reason(self, reason: &str) -> Self {
        Self { reason: Some(reason.to_owned()), ..self }
    }
}

/// The methods of refused estimates.
impl Problem {
    /// Why the estimate of a size is refused.
    pub fn of_estimate(refusal: &Refusal, size: SizeUsd) -> Self {
        Self { size_usd: Some(size.into()), ..Self::from(refusal) }
    }
}

/// Writes its cause, for people.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl core::error::Error for Problem {}

impl From<&NotSized> for Problem {
    fn from(not_sized: &NotSized) -> Self {
        let detail = not_sized.to_string();
        match not_sized {
            NotSized::Exhausted(_) => Self::new(ProblemCode::SearchExhausted, detail)
                .field("gap")
                .hint("ask for a gap slightly further from the pool's fee and basis"),
            NotSized::NotExact => Self::new(ProblemCode::SizingNotExact, detail)
                .field("pool")
                .hint("ask for an estimate of a size instead"),
        }
    }
}

impl From<&Refusal> for Problem {
    fn from(refusal: &Refusal) -> Self {
        let detail = refusal.to_string();
        let problem = |code| Self::new(code, detail.clone()).field("size_usd");
        match refusal {
            Refusal::NoInput => problem(ProblemCode::RoundsToNoInput).hint("ask for a larger size"),
            Refusal::NoOutput => {
                problem(ProblemCode::RoundsToNoOutput).hint("ask for a larger size")
            }
            Refusal::BeyondLiquidity { max_fillable_usd, .. } => Self {
                max_fillable_usd: Some(Number::from(*max_fillable_usd)),
                ..problem(ProblemCode::BeyondLiquidity).hint(beyond_hint(*max_fillable_usd))
            },
            Refusal::GapOutOfRange => problem(ProblemCode::GapOutOfRange),
            Refusal::NotFollowed => Self::new(ProblemCode::OrdersNotExact, detail)
                .field("orders")
                .hint("ask for one order"),
        }
    }
}

impl From<&OrdersRefused> for Problem {
    fn from(refused: &OrdersRefused) -> Self {
        let hint = match refused.refusal {
            Refusal::NoInput | Refusal::NoOutput => "ask for a larger size, or for fewer orders",
            // Nothing can recover before the first order.
            _ if refused.part == 1 => "ask for a smaller size",
            _ => "ask for a smaller size, or for more recovery",
        };
        let problem = Self::from(&refused.refusal).hint(hint);
        // The amount that one order can still fill says nothing about the whole size.
        Self { detail: refused.to_string(), max_fillable_usd: None, ..problem }
    }
}

impl From<&LookupError> for Problem {
    fn from(error: &LookupError) -> Self {
        let problem = |code| Self::new(code, error.to_string());
        match error {
            LookupError::UnknownPool { nearest, .. } => {
                let names: Vec<String> = nearest.iter().map(ToString::to_string).collect();
                let hint = if names.is_empty() {
                    "no pool is recorded yet".to_owned()
                } else {
                    format!("did you mean {}?", names.join(", or "))
                };
                problem(ProblemCode::UnknownPool).field("pool").hint(hint)
            }
            LookupError::NothingRecorded { reason, .. } => {
                let problem = problem(ProblemCode::NoSnapshotYet).hint(
                    "the recorder reads every pool every five minutes; its log shows the cause",
                );
                match reason {
                    Some(reason) => problem.reason(reason.code()),
                    None => problem,
                }
            }
            LookupError::BeforeSeries { first, .. } => problem(ProblemCode::BeforeSeries)
                .field("at")
                .hint(format!("ask for {first} or later")),
            LookupError::AfterSeries { last, .. } => problem(ProblemCode::AfterSeries)
                .field("at")
                .hint(format!("ask for {last} or earlier")),
            LookupError::Missing { reason, before, .. } => problem(ProblemCode::SlotMissing)
                .field("at")
                .reason(reason.code())
                .hint(newest_before(*before)),
            LookupError::Retracted { before, .. } => {
                problem(ProblemCode::SlotRetracted).field("at").hint(newest_before(*before))
            }
            LookupError::Retired { before, .. } => {
                problem(ProblemCode::SlotMissing).field("at").hint(newest_before(*before))
            }
        }
    }
}

impl From<BaseError> for Problem {
    fn from(error: BaseError) -> Self {
        Self::from(&error)
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        Self::from(&refusal)
    }
}

fn newest_before(before: Option<Slot>) -> String {
    match before {
        Some(before) => format!("the newest recorded slot before it is {before}"),
        None => "no slot before it is recorded".to_owned(),
    }
}

impl From<&BaseError> for Problem {
    fn from(error: &BaseError) -> Self {
        let [token0, token1] = &error.symbols;
        let hint =
            format!("use token0 ({}), token1 ({}) or an address", token0.as_str(), token1.as_str());
        Self::new(ProblemCode::UnknownBase, error.to_string()).field("base").hint(hint)
    }
}

fn beyond_hint(max_fillable: UsdMicros) -> String {
    if max_fillable.0 == 0 {
        "the pool cannot fill any size in this direction".to_owned()
    } else {
        format!("ask for at most {max_fillable} USD")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use exitgap_core::U256;

    #[test]
    fn codes_are_the_serialised_form_and_the_cores() {
        let zero = (UsdMicros(0), U256::ZERO);
        let refusals = [
            Refusal::NoInput,
            Refusal::NoOutput,
            Refusal::BeyondLiquidity {
                max_fillable_usd: zero.0,
                max_amount_in: zero.1,
                max_amount_out: zero.1,
            },
            Refusal::GapOutOfRange,
            Refusal::NotFollowed,
        ];
        for refusal in refusals {
            let problem = Problem::from(&refusal);
            assert_eq!(problem.code.as_str(), refusal.code());
            assert_eq!(serde_json::to_value(problem.code).unwrap(), refusal.code());
        }
    }
}
