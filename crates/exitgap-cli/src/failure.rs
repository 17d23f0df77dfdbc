//! Failures: a problem document, printed for a person or a program, and its exit code.
//!
//! Texts may come from a file or a service: control characters are removed before they reach a terminal.

use std::io;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use exitgap_api::{Number, Problem, ProblemCode};
use exitgap_client::{ClientError, TransportError};
use exitgap_core::evidence::Verdict;
use exitgap_core::file_errors::explained;
use exitgap_pay::PayError;
use serde::Serialize;

use crate::format::printable;
use crate::source::unreadable;

/// Why a command ended without an answer.
#[derive(Debug)]
pub enum Failure {
    /// A problem that the service would report too.
    Problem(Box<Problem>),
    /// A service gave no answer; the code may be the service's own.
    Service {
        /// The code.
        code: String,
        /// The rest of the problem, in which a code of this program replaces the service's.
        problem: Box<Problem>,
    },
    /// Nothing was paid, or the payment got no answer.
    NotPaid {
        /// The wallet's code.
        code: &'static str,
        /// The rest, as above.
        problem: Box<Problem>,
    },
    /// An answer was paid for, but its receipt does not match.
    Receipt {
        /// The receipt's code.
        code: &'static str,
        /// Whether the receipt is wrong, or could not be checked.
        verdict: Verdict,
        /// The rest, as above.
        problem: Box<Problem>,
    },
    /// Standard output could not be written to.
    Output(io::Error),
}

/// Exit codes, as `exitgap --help` lists them.
const UNEXPECTED: u8 = 1;
const USAGE: u8 = 2;
const REFUSED: u8 = 3;
const NOTHING_RECORDED: u8 = 4;
const UNREADABLE: u8 = 5;
const INVALID: u8 = 6;
const INCOMPLETE: u8 = 7;
const NOT_PAID: u8 = 8;

/// The exit code if too little is recorded for an answer.
pub fn too_little_recorded() -> ExitCode {
    ExitCode::from(NOTHING_RECORDED)
}

/// The exit code of a verdict.
pub fn verdict_code(verdict: Verdict) -> ExitCode {
    match verdict {
        Verdict::Valid => ExitCode::SUCCESS,
        Verdict::Invalid => ExitCode::from(INVALID),
        Verdict::Incomplete => ExitCode::from(INCOMPLETE),
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Problem(Box::new(problem))
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        if let ClientError::Transport { error: TransportError::Payment { code, .. }, .. } = error {
            return Self::NotPaid { code, problem: Box::new(error.into_problem()) };
        }
        let code = error.code().to_owned();
        Self::Service { code, problem: Box::new(error.into_problem()) }
    }
}

impl From<PayError> for Failure {
    fn from(error: PayError) -> Self {
        let problem = unreadable(error.to_string()).hint(error.hint());
        Self::NotPaid { code: error.code(), problem: Box::new(problem) }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// Ignores a closed pipe: the reader ended early because it had what it wanted. The verdict on what was printed stays
/// the same.
pub fn read_or_not(printed: Result<(), Failure>) -> Result<(), Failure> {
    match printed {
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

impl Failure {
    /// The reason, as part of a longer sentence.
    pub fn words(&self) -> String {
        match self {
            Self::Problem(problem)
            | Self::Service { problem, .. }
            | Self::NotPaid { problem, .. }
            | Self::Receipt { problem, .. } => problem.detail.clone(),
            Self::Output(error) => explained(error).to_string(),
        }
    }

    /// Writes the failure to stderr, as a document with `--json`, and returns the exit code.
    pub fn report(&self, json: bool) -> ExitCode {
        match self {
            Self::Problem(problem) => {
                tell(problem.code.as_str(), problem, json);
                ExitCode::from(exit_code(problem.code))
            }
            Self::Service { code, problem } => {
                tell(code, problem, json);
                ExitCode::from(exit_code(problem.code))
            }
            Self::NotPaid { code, problem } => {
                tell(code, problem, json);
                ExitCode::from(NOT_PAID)
            }
            Self::Receipt { code, verdict, problem } => {
                tell(code, problem, json);
                verdict_code(*verdict)
            }
            // A reader that closed the pipe had what it wanted.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Self::Output(error) => {
                let error = explained(error);
                anstream::eprintln!("error: writing the result: {error}");
                ExitCode::from(UNEXPECTED)
            }
        }
    }
}

/// A problem whose code may be from another version.
#[derive(Serialize)]
struct ProblemView<'a> {
    code: &'a str,
    detail: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size_usd: Option<&'a Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_fillable_usd: Option<&'a Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence_url: Option<&'a str>,
}

fn tell(code: &str, problem: &Problem, json: bool) {
    let Problem { code: _, detail, field, hint, reason, .. } = problem;
    let Problem { size_usd, max_fillable_usd, evidence_url, .. } = problem;
    if json {
        let told = ProblemView {
            code,
            detail,
            field: field.as_deref(),
            hint: hint.as_deref(),
            reason: reason.as_deref(),
            size_usd: size_usd.as_ref(),
            max_fillable_usd: max_fillable_usd.as_ref(),
            evidence_url: evidence_url.as_deref(),
        };
        // It contains only strings and numbers, so serialization cannot fail.
        let document = serde_json::to_string_pretty(&told).unwrap_or_default();
        anstream::eprintln!("{document}");
        return;
    }
    let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
    let (code, detail) = (printable(code), printable(detail));
    anstream::eprintln!("{red}error{red:#} [{code}]: {detail}");
    if let Some(hint) = hint {
        anstream::eprintln!("  hint: {}", printable(hint));
    }
    if let Some(url) = evidence_url {
        anstream::eprintln!("  proof: {}", printable(url));
    }
}

fn exit_code(code: ProblemCode) -> u8 {
    match code {
        ProblemCode::InvalidParameter
        | ProblemCode::InvalidPool
        | ProblemCode::UnknownBase
        | ProblemCode::UnknownToken
        | ProblemCode::UnknownParameter
        | ProblemCode::UnknownChain
        | ProblemCode::UnknownMethodVersion
        | ProblemCode::PeriodReversed => USAGE,
        ProblemCode::RoundsToNoInput
        | ProblemCode::RoundsToNoOutput
        | ProblemCode::BeyondLiquidity
        | ProblemCode::GapOutOfRange
        | ProblemCode::SearchExhausted
        | ProblemCode::SizingNotExact
        | ProblemCode::OrdersNotExact
        | ProblemCode::FigureUnsupportedKind
        | ProblemCode::NotLive
        | ProblemCode::SeriesTooShort
        | ProblemCode::SnapshotTooOld => REFUSED,
        ProblemCode::UnknownPool
        | ProblemCode::NoSnapshotYet
        | ProblemCode::SlotMissing
        | ProblemCode::SlotRetracted
        | ProblemCode::BeforeSeries
        | ProblemCode::AfterSeries => NOTHING_RECORDED,
        ProblemCode::PaymentRequired
        | ProblemCode::PaymentMalformed
        | ProblemCode::PaymentUsed
        | ProblemCode::PaymentPending
        | ProblemCode::PaymentsUnavailable => NOT_PAID,
        // A source that could not be read, and errors that only a service returns.
        ProblemCode::ChainUnreadable
        | ProblemCode::SourceUnreadable
        | ProblemCode::ProofOutOfReach
        | ProblemCode::ProofsNotServed
        | ProblemCode::UnsupportedLayout
        | ProblemCode::ProofTooWide
        | ProblemCode::BlockNotCanonical
        | ProblemCode::NotAvailable
        | ProblemCode::NotFound
        | ProblemCode::MethodNotAllowed
        | ProblemCode::AddressTooLong
        | ProblemCode::BodyNotAccepted
        | ProblemCode::RateLimited
        | ProblemCode::TokenRequired
        | ProblemCode::UnknownAlert
        | ProblemCode::RequestDiffers
        | ProblemCode::TooManyAlerts
        | ProblemCode::AlertsFull
        | ProblemCode::FreeEstimatesUsed
        | ProblemCode::TimedOut
        | ProblemCode::InternalError => UNREADABLE,
    }
}
