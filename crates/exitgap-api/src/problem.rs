//! Problems: what went wrong, by a stable code, with the field at fault.

use core::fmt;

use exitgap_core::exit::{NotSized, OrdersRefused, Refusal};
use exitgap_core::series::{LookupError, Slot};
use exitgap_core::snapshot::BaseError;
use exitgap_core::units::UsdMicros;
use serde::{Deserialize, Serialize};

use crate::Number;

/// Stable codes of everything that can be refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProblemCode {
    /// A parameter or flag holds no acceptable value; `field` names it.
    InvalidParameter,
    /// The pool's identifier is not of the form `<chain>:<address>`.
    InvalidPool,
    /// No such pool is monitored.
    UnknownPool,
    /// The token is neither of the pool's two.
    UnknownBase,
    /// No monitored pool trades the token.
    UnknownToken,
    /// Nothing was recorded yet.
    NoSnapshotYet,
    /// The slot asked for is missing from the series; `reason` says why.
    SlotMissing,
    /// The slot asked for was taken back: its block was orphaned, or its ticks were misread.
    SlotRetracted,
    /// The instant asked for lies before the series began.
    BeforeSeries,
    /// The instant asked for lies after the newest slot.
    AfterSeries,
    /// The size is worth less than one raw unit of the token sold.
    RoundsToNoInput,
    /// The pool would pay less than one raw unit.
    RoundsToNoOutput,
    /// The recorded liquidity cannot fill the size; `max_fillable_usd` can be.
    BeyondLiquidity,
    /// Fill and oracle are too far apart for a percentage.
    GapOutOfRange,
    /// The search for a size ended without an answer.
    SearchExhausted,
    /// How large an exit may be could not be told exactly of this kind of pool, and is not told.
    SizingNotExact,
    /// What an order leaves of this kind of pool is not computed: only exits at once are told.
    OrdersNotExact,
    /// The figure is not told of this kind of pool.
    FigureUnsupportedKind,
    /// The chain could not be read; `reason` says why.
    ChainUnreadable,
    /// The nodes do not prove states of so old a block any more.
    ProofOutOfReach,
    /// The nodes serve no state proofs, or of another shape.
    ProofsNotServed,
    /// How the pool's contract keeps its words is not known, so that nothing is proven of it.
    UnsupportedLayout,
    /// A proof of so much would be larger than one may be.
    ProofTooWide,
    /// The chain has another block at the height of the snapshot's.
    BlockNotCanonical,
    /// A database or file could not be read or is not what it should be.
    SourceUnreadable,
    /// A parameter that the address does not have.
    UnknownParameter,
    /// No pool of this chain is monitored.
    UnknownChain,
    /// A period ends before it begins.
    PeriodReversed,
    /// A method version that was never released.
    UnknownMethodVersion,
    /// A guard of the question: the answer would be preview.
    NotLive,
    /// A guard of the question: the series behind the answer is shorter.
    SeriesTooShort,
    /// A guard of the question: the answer's snapshot is older.
    SnapshotTooOld,
    /// Specified, and not built.
    NotAvailable,
    /// Nothing is at this address.
    NotFound,
    /// The address answers other methods only.
    MethodNotAllowed,
    /// The address is longer than the service reads.
    AddressTooLong,
    /// The request carries a body, and nothing here takes one.
    BodyNotAccepted,
    /// More requests than one client may make.
    RateLimited,
    /// What is asked for has an owner, and the request shows no token, or one that nobody has.
    TokenRequired,
    /// The token's owner has no such rule.
    UnknownAlert,
    /// The caller's name for the request stands for another one.
    RequestDiffers,
    /// More rules than one client, or one host, may have.
    TooManyAlerts,
    /// No more rules are kept here.
    AlertsFull,
    /// The answer has a price, which was not paid; the headers say how it is.
    PaymentRequired,
    /// What the request pays with cannot be read, or is there twice.
    PaymentMalformed,
    /// The payment was used for another request, or long ago.
    PaymentUsed,
    /// What became of the payment is not known yet: the same request is to be repeated.
    PaymentPending,
    /// No payment can be settled now.
    PaymentsUnavailable,
    /// What this client has free of charge today is used up.
    FreeEstimatesUsed,
    /// The answer took longer than the service lets it.
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

    /// What an evidence file can prove: that a pool does not fill a size. Where it fills one and
    /// the gap is no percentage, there is nothing that a file could state.
    pub const PROVABLE: [Self; 3] =
        [Self::BeyondLiquidity, Self::RoundsToNoInput, Self::RoundsToNoOutput];

    /// Whether it has evidence.
    pub fn has_evidence(self) -> bool {
        Self::PROVABLE.contains(&self)
    }

    /// The HTTP status the service answers it with.
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

    /// The code in words.
    pub fn title(self) -> &'static str {
        match self {
            Self::InvalidParameter => "A parameter holds no acceptable value",
            Self::InvalidPool => "Not a pool's identifier",
            Self::UnknownPool => "No such pool is monitored",
            Self::UnknownBase => "Neither token of the pool",
            Self::UnknownToken => "No monitored pool trades the token",
            Self::NoSnapshotYet => "Nothing is recorded yet",
            Self::SlotMissing => "The slot is missing from the series",
            Self::SlotRetracted => "The slot was taken back",
            Self::BeforeSeries => "Before the series began",
            Self::AfterSeries => "After the newest slot",
            Self::RoundsToNoInput => "The size rounds to no input",
            Self::RoundsToNoOutput => "The size rounds to no output",
            Self::BeyondLiquidity => "Beyond the recorded liquidity",
            Self::GapOutOfRange => "Fill and oracle are too far apart",
            Self::SearchExhausted => "The search ended without an answer",
            Self::SizingNotExact => "Sizes of this kind of pool are not told",
            Self::OrdersNotExact => "Orders in parts are not told of this kind of pool",
            Self::FigureUnsupportedKind => "The figure is not told of this kind of pool",
            Self::ChainUnreadable => "The chain could not be read",
            Self::ProofOutOfReach => "The block is older than the nodes prove",
            Self::ProofsNotServed => "The nodes serve no state proofs",
            Self::UnsupportedLayout => "How the contract keeps its words is not known",
            Self::ProofTooWide => "The proof would be too large",
            Self::BlockNotCanonical => "The chain has another block there",
            Self::SourceUnreadable => "The series could not be read",
            Self::UnknownParameter => "Not a parameter of this address",
            Self::UnknownChain => "No pool of this chain is monitored",
            Self::PeriodReversed => "The period ends before it begins",
            Self::UnknownMethodVersion => "The method version was never released",
            Self::NotLive => "The answer would be preview",
            Self::SeriesTooShort => "The series is shorter than required",
            Self::SnapshotTooOld => "The snapshot is older than accepted",
            Self::NotAvailable => "Specified, and not built yet",
            Self::NotFound => "Nothing is at this address",
            Self::MethodNotAllowed => "The address answers other methods",
            Self::AddressTooLong => "The address is too long",
            Self::BodyNotAccepted => "Nothing here takes a body",
            Self::RateLimited => "Too many requests",
            Self::TokenRequired => "A token is required",
            Self::UnknownAlert => "No such rule of this owner",
            Self::RequestDiffers => "Another request came under this name",
            Self::TooManyAlerts => "Too many rules",
            Self::AlertsFull => "No more rules are kept",
            Self::PaymentRequired => "A payment is required",
            Self::PaymentMalformed => "Not a payment",
            Self::PaymentUsed => "The payment was used",
            Self::PaymentPending => "The payment is under way",
            Self::PaymentsUnavailable => "No payment can be taken now",
            Self::FreeEstimatesUsed => "No more free estimates today",
            Self::TimedOut => "The answer took too long",
            Self::InternalError => "The service failed",
        }
    }
}

/// A refusal or failure as a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Problem {
    /// The stable code.
    pub code: ProblemCode,
    /// One sentence for people: the cause.
    pub detail: String,
    /// The parameter at fault.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub field: Option<String>,
    /// The remedy, where one is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hint: Option<String>,
    /// The stable reason behind a missing slot or an unreadable chain.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// The largest size that can be filled, USD.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_fillable_usd: Option<Number>,
    /// What anyone can check with that the size cannot be filled.
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
            max_fillable_usd: None,
            evidence_url: None,
        }
    }

    /// Names the parameter at fault.
    #[must_use]
    pub fn field(self, field: &str) -> Self {
        Self { field: Some(field.to_owned()), ..self }
    }

    /// Names the remedy.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Names the stable reason.
    #[must_use]
    pub fn reason(self, reason: &str) -> Self {
        Self { reason: Some(reason.to_owned()), ..self }
    }
}

/// Its cause, as people read it.
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
                .hint("ask for a gap a little further from the pool's fee and basis"),
            NotSized::NotExact => Self::new(ProblemCode::SizingNotExact, detail)
                .field("pool")
                .hint("ask what a size fills at"),
        }
    }
}

impl From<&Refusal> for Problem {
    fn from(refusal: &Refusal) -> Self {
        let detail = refusal.to_string();
        let problem = |code| Self::new(code, detail.clone()).field("size_usd");
        match refusal {
            Refusal::NoInput => problem(ProblemCode::RoundsToNoInput).hint("ask for more"),
            Refusal::NoOutput => problem(ProblemCode::RoundsToNoOutput).hint("ask for more"),
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
            Refusal::NoInput | Refusal::NoOutput => "ask for more, or for fewer orders",
            // Nothing recovers before the first.
            _ if refused.part == 1 => "ask for less",
            _ => "ask for less, or for more recovery",
        };
        let problem = Self::from(&refused.refusal).hint(hint);
        // The most that an order can still fill says nothing of the whole size.
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
                    "the recorder reads every pool every five minutes; its log says what is wrong",
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
        "the pool fills no size in this direction".to_owned()
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
