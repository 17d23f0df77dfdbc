//! Why a request got no answer.

use exitgap_api::{Number, Problem, ProblemCode, VerificationReport};
use exitgap_core::Newer;
use exitgap_core::evidence::{Check, CheckName, Outcome, Verdict};
use serde::Deserialize;
use serde::de::IntoDeserializer;

use crate::{Response, TransportError};

/// Why a request got no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// The service returned an error with a stable code.
    #[error("{}", .0.detail)]
    Refused(Box<ServerProblem>),
    /// The address requires payment.
    #[error("{url} requires a payment of {} {}", challenge.amount, challenge.currency)]
    PaymentRequired {
        /// The address.
        url: String,
        /// The payment terms.
        challenge: PaymentChallenge,
    },
    /// There was no response.
    #[error("{url}: {error}")]
    Transport {
        /// The address.
        url: String,
        /// The reason.
        error: TransportError,
    },
    /// The response violates the API's specification.
    #[error("{url}: {why}")]
    NotAsSpecified {
        /// The address.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// The service returned an HTTP status without a problem document.
    #[error("{url}: the service answered HTTP {status} without a problem document")]
    NoDocument {
        /// The address.
        url: String,
        /// The status.
        status: u16,
    },
    /// The response is of a kind that only a later version of exitgap can read.
    #[error("{url}: {newer}")]
    Newer {
        /// The address.
        url: String,
        /// The kind.
        newer: Newer,
    },
    /// The log's newest checkpoint is valid, but no trusted key signed it.
    #[error("{url}: {why}")]
    NotTrusted {
        /// The address.
        url: String,
        /// The missing signature.
        why: String,
    },
    /// The data that this reader stored about the log cannot be verified now. It is neither used nor replaced.
    #[error("{name}, saved from an earlier visit, cannot be compared with this log: {why}")]
    KeptUnusable {
        /// Its name in the storage.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// The evidence did not pass every check, or could not be compared with what was seen of the log.
    #[error("{url}: its evidence is {}", words_of(report))]
    NotProven {
        /// The address of the evidence.
        url: String,
        /// Every check.
        report: Box<VerificationReport>,
    },
    /// The request is invalid, or the recorded state has no answer to it.
    #[error("{}", .0.detail)]
    Problem(Box<Problem>),
}

impl ClientError {
    /// A stable code: the service's own if it returned one.
    pub fn code(&self) -> &str {
        match self {
            Self::Refused(problem) => &problem.code,
            Self::PaymentRequired { .. } => "payment_required",
            Self::Transport { error, .. } => match error {
                TransportError::Unreachable(_) => "unreachable",
                TransportError::TimedOut(_) => "timed_out",
                TransportError::TooLarge { .. } => "answer_too_large",
                TransportError::Payment { code, .. } => code,
            },
            Self::NotAsSpecified { .. } | Self::NoDocument { .. } | Self::NotTrusted { .. } => {
                "not_as_specified"
            }
            Self::Newer { newer, .. } => newer.code(),
            Self::KeptUnusable { .. } => "kept_unusable",
            Self::NotProven { .. } => "not_proven",
            Self::Problem(problem) => problem.code.as_str(),
        }
    }

    /// The error as a problem document, for callers that print those. A document contains only codes of this version;
    /// `code` returns the error's own code.
    pub fn into_problem(self) -> Problem {
        match self {
            Self::Problem(problem) => *problem,
            Self::Refused(problem) => problem.into_problem(),
            Self::Newer { .. } => {
                Problem::new(ProblemCode::SourceUnreadable, self.to_string()).hint("update exitgap")
            }
            Self::Transport { error: TransportError::Payment { ref hint, .. }, .. } => {
                let hint = hint.clone();
                Problem::new(ProblemCode::SourceUnreadable, self.to_string()).hint(hint)
            }
            other => Problem::new(ProblemCode::SourceUnreadable, other.to_string()),
        }
    }
}

/// The verdict, and the check that led to it.
fn words_of(report: &VerificationReport) -> String {
    let verdict = match report.report.verdict {
        Verdict::Valid => "valid",
        Verdict::Invalid => "invalid",
        Verdict::Incomplete => "incomplete",
    };
    let of = |outcome: Outcome| report.report.checks.iter().find(|check| check.outcome == outcome);
    let check = of(Outcome::Fail).or_else(|| {
        let needed = [CheckName::Signature, CheckName::Consistency];
        let open = |check: &&Check| check.outcome != Outcome::Pass && needed.contains(&check.name);
        report.report.checks.iter().find(open)
    });
    check.map_or_else(|| verdict.to_owned(), |check| format!("{verdict}: {}", check.code))
}

impl From<Problem> for ClientError {
    fn from(problem: Problem) -> Self {
        Self::Problem(Box::new(problem))
    }
}

/// A problem document from a service. Its code may be unknown to this client.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ServerProblem {
    /// The stable code.
    pub code: String,
    /// The cause, in a sentence.
    #[serde(default)]
    pub detail: String,
    /// The HTTP status.
    pub status: u16,
    /// The invalid parameter.
    #[serde(default)]
    pub field: Option<String>,
    /// The remedy.
    #[serde(default)]
    pub hint: Option<String>,
    /// The stable reason behind a missing slot.
    #[serde(default)]
    pub reason: Option<String>,
    /// The size that cannot be filled, USD.
    #[serde(default)]
    pub size_usd: Option<Number>,
    /// The largest size that can be filled, USD.
    #[serde(default)]
    pub max_fillable_usd: Option<Number>,
    /// Evidence with which anyone can check that the size cannot be filled.
    #[serde(default)]
    pub evidence_url: Option<String>,
    /// Identifies the request in the service's log.
    #[serde(default)]
    pub request_id: Option<String>,
}

impl ServerProblem {
    /// Converts it to a problem of this version; an unknown code becomes `source_unreadable`.
    pub fn into_problem(self) -> Problem {
        let known: Result<_, serde::de::value::Error> =
            ProblemCode::deserialize(self.code.as_str().into_deserializer());
        let code = known.unwrap_or(ProblemCode::SourceUnreadable);
        let Self { detail, field, hint, reason, .. } = self;
        let Self { size_usd, max_fillable_usd, evidence_url, .. } = self;
        Problem { code, detail, field, hint, reason, size_usd, max_fillable_usd, evidence_url }
    }
}

/// The payment that an address requires, from the headers of its 402.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentChallenge {
    /// `X-Payment-Amount`: a decimal number as text.
    pub amount: String,
    /// `X-Payment-Currency`.
    pub currency: String,
    /// `X-Payment-Network`.
    pub network: String,
    /// `X-Payment-Recipient`.
    pub recipient: String,
}

impl PaymentChallenge {
    /// Reads the challenge of a 402; `None` if a header is absent.
    pub fn from_response(response: &Response) -> Option<Self> {
        let header = |name| response.header(name).map(str::to_owned);
        Some(Self {
            amount: header("x-payment-amount")?,
            currency: header("x-payment-currency")?,
            network: header("x-payment-network")?,
            recipient: header("x-payment-recipient")?,
        })
    }
}
