//! Errors passed to Python as the only exception type: its argument is a JSON document, from which the package creates
//! its own error.

use std::panic::{AssertUnwindSafe, catch_unwind};

use exitgap_api::{Number, Problem, VerificationReport};
use exitgap_client::{ClientError, ServerProblem};
use pyo3::exceptions::PyException;
use pyo3::{PyErr, PyResult, Python, create_exception};
use serde::Serialize;

create_exception!(
    _exitgap,
    Refused,
    PyException,
    "An error: one argument, its JSON document. The package raises it as `ExitgapError`."
);

/// The content of an error.
#[derive(Debug, Default, Serialize)]
pub struct ErrorDocument {
    code: String,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size_usd: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_fillable_usd: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<VerificationReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payment: Option<Payment>,
}

/// The payment that an address requires.
#[derive(Debug, Serialize)]
struct Payment {
    amount: String,
    currency: String,
    network: String,
    recipient: String,
}

impl ErrorDocument {
    /// Creates an error that occurs only in this interface.
    pub fn new(code: &str, message: impl Into<String>, hint: &str) -> Box<Self> {
        let (code, hint) = (code.to_owned(), Some(hint.to_owned()));
        Box::new(Self { code, message: message.into(), hint, ..Self::default() })
    }

    /// The error as a Python exception.
    fn to_exception(&self) -> PyErr {
        let document = serde_json::to_string(self);
        Refused::new_err(document.unwrap_or_else(|_| "{\"code\":\"internal_error\"}".to_owned()))
    }
}

impl From<Problem> for Box<ErrorDocument> {
    fn from(problem: Problem) -> Self {
        let Problem { size_usd, max_fillable_usd, evidence_url, .. } = problem;
        let Problem { code, detail, field, hint, reason, .. } = problem;
        let (code, message) = (code.as_str().to_owned(), detail);
        let told = ErrorDocument { code, message, field, hint, ..ErrorDocument::default() };
        Box::new(ErrorDocument { reason, size_usd, max_fillable_usd, evidence_url, ..told })
    }
}

impl From<ClientError> for Box<ErrorDocument> {
    fn from(error: ClientError) -> Self {
        let (code, message) = (error.code().to_owned(), error.to_string());
        let told = ErrorDocument { code, message, ..ErrorDocument::default() };
        let hint = |hint: &str| Some(hint.to_owned());
        Box::new(match error {
            ClientError::Refused(problem) => of_server(told, *problem),
            ClientError::PaymentRequired { challenge: asked, .. } => ErrorDocument {
                payment: Some(Payment {
                    amount: asked.amount,
                    currency: asked.currency,
                    network: asked.network,
                    recipient: asked.recipient,
                }),
                ..told
            },
            ClientError::NotProven { report, .. } => ErrorDocument {
                hint: hint(match report.contradiction {
                    Some(_) => {
                        "the log was rewritten since it was last seen; keep the report, which has the proof, and \
                         trust neither version"
                    }
                    None => {
                        "see the report for the check that failed, with the expected and the found value"
                    }
                }),
                report: Some(*report),
                ..told
            },
            ClientError::NotTrusted { .. } => ErrorDocument {
                hint: hint("pass the log's key, from a source you trust, as `keys`"),
                ..told
            },
            ClientError::KeptUnusable { .. } => {
                ErrorDocument { hint: hint("move the storage away to start again"), ..told }
            }
            other => {
                let Problem { field, hint, .. } = other.into_problem();
                ErrorDocument { field, hint, ..told }
            }
        })
    }
}

/// The error for a problem returned by a service.
fn of_server(told: ErrorDocument, problem: ServerProblem) -> ErrorDocument {
    let ServerProblem { field, hint, reason, size_usd, max_fillable_usd, .. } = problem;
    let ServerProblem { status, request_id, evidence_url, .. } = problem;
    let told = ErrorDocument { field, hint, reason, size_usd, ..told };
    ErrorDocument { max_fillable_usd, evidence_url, status: Some(status), request_id, ..told }
}

/// Why there is no answer: an error document, or an exception that Python raised.
pub enum Failure {
    /// Raised as the exception [`Refused`](struct@Refused).
    Refused(Box<ErrorDocument>),
    /// For example, an interruption.
    Raised(PyErr),
}

impl From<Box<ErrorDocument>> for Failure {
    fn from(told: Box<ErrorDocument>) -> Self {
        Self::Refused(told)
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Refused(problem.into())
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        Self::Refused(error.into())
    }
}

/// Runs `ask` while other threads run. No input should cause a panic here; if one does, it is reported as an error and
/// not passed on.
pub fn run_guarded<T: Send>(
    py: Python<'_>,
    ask: impl FnOnce() -> Result<T, Failure> + Send,
) -> PyResult<T> {
    match py.detach(|| catch_unwind(AssertUnwindSafe(ask))) {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(Failure::Refused(told))) => Err(told.to_exception()),
        Ok(Err(Failure::Raised(error))) => Err(error),
        Err(_) => {
            let hint = "this is a bug in this package; please report it with the arguments that you passed";
            Err(ErrorDocument::new("internal_error", "the module failed", hint).to_exception())
        }
    }
}

/// The same for a document, as JSON.
pub fn answer_json<T: Serialize>(
    py: Python<'_>,
    ask: impl FnOnce() -> Result<T, Problem> + Send,
) -> PyResult<String> {
    run_guarded(py, || Ok(json_of(&ask()?)?))
}

/// The JSON of a document. Each number keeps its exact text, without conversion to a float.
pub fn json_of(document: &impl Serialize) -> Result<String, Box<ErrorDocument>> {
    serde_json::to_string(document).map_err(|error| {
        ErrorDocument::new("internal_error", error.to_string(), "please report it")
    })
}
