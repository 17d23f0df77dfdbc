//! Failures: a problem document, told to a person or to a program, and its exit code.
//!
//! Words may be a file's or a service's: a terminal is given them without control characters.

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

/// Why a command ends without an answer.
#[derive(Debug)]
pub enum Failure {
    /// A problem the service would answer with, too.
    Problem(Box<Problem>),
    /// A service gave no answer, by a code that may be its own.
    Service {
        /// The code.
        code: String,
        /// The rest, with a code of this program's in the place of that one.
        problem: Box<Problem>,
    },
    /// Nothing was paid, or what was paid for was not answered.
    NotPaid {
        /// The wallet's code.
        code: &'static str,
        /// The rest, as above.
        problem: Box<Problem>,
    },
    /// An answer was paid for, and its receipt does not belong to it.
    Receipt {
        /// The receipt's code.
        code: &'static str,
        /// Whether that is wrong or only not known.
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

/// The exit code of an answer in whose place too little is recorded.
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

/// Printing that a reader may end early: it closed the pipe, and has what it wanted. The verdict
/// of what was printed stays what it is.
pub fn read_or_not(printed: Result<(), Failure>) -> Result<(), Failure> {
    match printed {
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

impl Failure {
    /// Why, for a sentence that goes on.
    pub fn words(&self) -> String {
        match self {
            Self::Problem(problem)
            | Self::Service { problem, .. }
            | Self::NotPaid { problem, .. }
            | Self::Receipt { problem, .. } => problem.detail.clone(),
            Self::Output(error) => explained(error).to_string(),
        }
    }

    /// Writes it to stderr, as a document with `--json`, and gives the exit code.
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
            // A reader that closed the pipe has what it wanted.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Self::Output(error) => {
                let error = explained(error);
                anstream::eprintln!("error: writing the result: {error}");
                ExitCode::from(UNEXPECTED)
            }
        }
    }
}

/// A problem whose code may be one of another version.
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
    max_fillable_usd: Option<&'a Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence_url: Option<&'a str>,
}

fn tell(code: &str, problem: &Problem, json: bool) {
    let Problem { code: _, detail, field, hint, reason, max_fillable_usd, evidence_url } = problem;
    if json {
        let told = ProblemView {
            code,
            detail,
            field: field.as_deref(),
            hint: hint.as_deref(),
            reason: reason.as_deref(),
            max_fillable_usd: max_fillable_usd.as_ref(),
            evidence_url: evidence_url.as_deref(),
        };
        // It holds strings and numbers only: it always has a JSON form.
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
        // A source that could not be read, and what only a service refuses with.
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
