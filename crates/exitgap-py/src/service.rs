//! Calls to a service.

use std::future::Future;
use std::path::PathBuf;
use std::pin::pin;
use std::process;
use std::time::Duration;

use exitgap_api::{
    KeysFrom, LogContinuity, Problem, ProblemCode, PublishedExit, VerificationReport,
    invalid_parameter, parse_pool, parse_size,
};
use exitgap_client::{
    BaseUrl, Client, Continuity, LogState, LogWatch, Native, Options, TrustBasis, Verification,
    VerifiedExit,
};
use exitgap_core::ids::SnapshotHash;
use exitgap_core::snapshot::SnapshotFile;
use exitgap_core::tlog::{Checkpoint, VerifierKey};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::runtime::{Builder, Runtime};

use crate::errors::{ErrorDocument, Failure, json_of, run_guarded};
use crate::kept::Kept;
use crate::target::{evidence_of, figure_at, target};

/// Maximum delay until an interruption is noticed.
const BETWEEN_SIGNALS: Duration = Duration::from_millis(100);

/// A service; several threads may call it.
#[pyclass(frozen, module = "exitgap._exitgap")]
#[derive(Debug)]
pub struct Service {
    client: Client<Native>,
    keys: Vec<VerifierKey>,
    kept: Kept,
    waiting: DetachedRuntime,
    /// The process that owns the sockets.
    process: u32,
}

/// The runtime for requests. Dropping it does not wait for it, because another call may still use it.
#[derive(Debug)]
struct DetachedRuntime(Option<Runtime>);

impl Drop for DetachedRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// A verified exit.
#[derive(Serialize)]
struct ExitReport<'a> {
    exit: &'a PublishedExit,
    report: &'a VerificationReport,
    log: Log<'a>,
}

/// Verified evidence.
#[derive(Serialize)]
struct EvidenceReport<'a> {
    report: &'a VerificationReport,
    log: Log<'a>,
}

/// The state of the log.
#[derive(Serialize)]
struct Log<'a> {
    origin: String,
    size: u64,
    trust: KeysFrom,
    continuity: LogContinuity,
    keys: Vec<String>,
    checkpoint: &'a str,
}

impl<'a> Log<'a> {
    fn from_state(log: &'a LogState) -> Self {
        let newest = Checkpoint::from_note(&log.newest).map(|(checkpoint, _)| checkpoint);
        let (origin, size) = newest
            .map_or_else(|_| (String::new(), 0), |newest| (newest.origin.to_string(), newest.size));
        let trust = match log.basis {
            TrustBasis::Named => KeysFrom::Named,
            TrustBasis::Kept => KeysFrom::Kept,
            TrustBasis::FirstUse => KeysFrom::FirstUse,
        };
        let continuity = match log.continuity {
            Continuity::FirstSeen => LogContinuity::FirstSeen,
            Continuity::Continues => LogContinuity::Continues,
            Continuity::NotCompared => LogContinuity::NotCompared,
            Continuity::Contradicts => LogContinuity::Contradicts,
        };
        let keys = log.keys.iter().map(ToString::to_string).collect();
        Self { origin, size, trust, continuity, keys, checkpoint: &log.newest }
    }
}

#[pymethods]
impl Service {
    /// A service at `url`, with its evidence and log at `web_url` if given.
    #[new]
    fn new(
        py: Python<'_>,
        url: &str,
        web_url: Option<&str>,
        keys: Vec<String>,
        storage: Option<PathBuf>,
        timeout_s: f64,
        retries: u32,
    ) -> PyResult<Self> {
        run_guarded(py, || {
            let timeout = Duration::try_from_secs_f64(timeout_s).map_err(|error| {
                invalid_parameter(
                    "timeout_s",
                    &format!("timeout_s: {error}"),
                    "must be a number of seconds above 0",
                )
            })?;
            let failed = |error: &dyn std::fmt::Display| {
                ErrorDocument::new(
                    "unreachable",
                    error.to_string(),
                    "the system provides no sockets",
                )
            };
            let native = Native::new().map_err(|error| failed(&error))?;
            let client = Client::new(native, address("url", url)?);
            let client = client.with_options(Options { timeout, retries, ..Options::default() });
            let client = match web_url {
                Some(url) => client.with_web(address("web_url", url)?),
                None => client,
            };
            let runtime = Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(|error| failed(&error))?;
            let (keys, kept) = (verifier_keys(&keys)?, Kept::new(storage));
            Ok(Self {
                client,
                keys,
                kept,
                waiting: DetachedRuntime(Some(runtime)),
                process: process::id(),
            })
        })
    }

    /// The JSON document of an operation, by its id in the service's table; `named` are the variable parts of its path.
    fn read(
        &self,
        py: Python<'_>,
        operation: &str,
        named: Vec<String>,
        parameters: Vec<(String, String)>,
    ) -> PyResult<String> {
        self.ask(py, async || {
            let target = target(operation, &named, &parameters)?;
            let document: Box<RawValue> = self.client.get_document(&target).await?;
            Ok(document.get().to_owned())
        })
    }

    /// A verified estimate for a pool: the document, and the evidence that proves it.
    fn estimate<'py>(
        &self,
        py: Python<'py>,
        pool: &str,
        size_usd: &str,
        base: Option<&str>,
        at: Option<&str>,
    ) -> PyResult<(String, Bound<'py, PyBytes>)> {
        let (document, evidence) = self.ask(py, async || {
            let (pool, size) = (parse_pool(pool)?, parse_size(size_usd)?);
            let visit = self.kept.visit()?;
            let watch = LogWatch::new(&self.client, &visit, self.keys.clone());
            let found = watch.estimate(&pool, size, base, at).await;
            // If the state could not be stored completely, return no answer, because the next call could not be
            // compared with it.
            visit.end()?;
            let VerifiedExit { exit, verification } = found?;
            let Verification { bytes, report, log, .. } = verification;
            let document = ExitReport { exit: &exit, report: &report, log: Log::from_state(&log) };
            Ok((json_of(&document)?, bytes))
        })?;
        Ok((document, PyBytes::new(py, &evidence)))
    }

    /// Verifies the evidence at an address, of any kind; returns the report and the bytes.
    fn verify<'py>(
        &self,
        py: Python<'py>,
        evidence_url: &str,
        window: bool,
    ) -> PyResult<(String, Bound<'py, PyBytes>)> {
        let (document, evidence) = self.ask(py, async || {
            let of = evidence_of(evidence_url)?;
            let visit = self.kept.visit()?;
            let watch = LogWatch::new(&self.client, &visit, self.keys.clone());
            let found = watch.verify_remote(&of, window).await;
            visit.end()?;
            let Verification { bytes, report, log, .. } = found?;
            Ok((json_of(&EvidenceReport { report: &report, log: Log::from_state(&log) })?, bytes))
        })?;
        Ok((document, PyBytes::new(py, &evidence)))
    }

    /// The bytes of the evidence file at an address, not verified.
    fn evidence<'py>(&self, py: Python<'py>, url: &str) -> PyResult<Bound<'py, PyBytes>> {
        let of = async || Ok(self.client.evidence(&evidence_of(url)?).await?);
        Ok(PyBytes::new(py, &self.ask(py, of)?))
    }

    /// The bytes of the figure file at an address, not verified.
    fn figure<'py>(&self, py: Python<'py>, url: &str) -> PyResult<Bound<'py, PyBytes>> {
        let file = self.ask(py, async || Ok(self.client.figure(figure_at(url)?, url).await?))?;
        Ok(PyBytes::new(py, &file))
    }

    /// Verifies a figure file by recomputing it from the service's snapshots.
    fn verify_figure(&self, py: Python<'_>, figure: &[u8], keys: Vec<String>) -> PyResult<String> {
        self.ask(py, async || {
            let keys = verifier_keys(&keys)?;
            let report = self.client.verify_figure(figure, &keys, |_, _| {}).await?;
            Ok(json_of(&report)?)
        })
    }

    /// The snapshot with this hash as a file, with both hashes checked; `pool` is needed if its contract has several.
    fn snapshot<'py>(
        &self,
        py: Python<'py>,
        hash: &str,
        pool: Option<&str>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let file = self.ask(py, async || {
            let hash: SnapshotHash = hash.parse().map_err(|error| {
                let detail = format!("hash: {error}");
                invalid_parameter("hash", &detail, "expected 0x and 64 hexadecimal digits")
            })?;
            let pool = pool.map(parse_pool).transpose()?;
            let documents = self.client.snapshot_documents(hash).await?;
            let file = SnapshotFile { pool, documents }.to_bytes();
            Ok(file.map_err(|error| {
                Problem::new(ProblemCode::SourceUnreadable, format!("snapshot: {error}"))
            })?)
        })?;
        Ok(PyBytes::new(py, &file))
    }
}

impl Service {
    /// Runs `ask` while other threads run, and gives up if Python is interrupted.
    fn ask<T, F, A>(&self, py: Python<'_>, ask: A) -> PyResult<T>
    where
        T: Send,
        F: Future<Output = Result<T, Failure>>,
        A: FnOnce() -> F + Send,
    {
        run_guarded(py, || {
            let runtime = self.waiting.0.as_ref().filter(|_| self.process == process::id());
            let runtime = runtime.ok_or_else(|| {
                let why = "this client was made before the process was forked";
                ErrorDocument::new("forked", why, "create a client in each process")
            })?;
            runtime.block_on(async {
                let mut ask = pin!(ask());
                loop {
                    match tokio::time::timeout(BETWEEN_SIGNALS, &mut ask).await {
                        Ok(outcome) => return outcome,
                        Err(_) => {
                            Python::attach(|py| -> PyResult<()> { py.check_signals() })
                                .map_err(Failure::Raised)?;
                        }
                    }
                }
            })
        })
    }
}

/// Parses a service's URL; an error names the parameter.
fn address(field: &'static str, url: &str) -> Result<BaseUrl, Problem> {
    url.parse().map_err(|problem: Problem| {
        let detail = problem.detail.replacen("api", field, 1);
        Problem { detail, ..problem }.field(field)
    })
}

fn verifier_keys(keys: &[String]) -> Result<Vec<VerifierKey>, Problem> {
    let read = keys.iter().map(|key| key.trim().parse::<VerifierKey>());
    read.collect::<Result<_, _>>().map_err(|error| {
        let hint = "a verifier key is <origin>+<8 hex digits>+<base64>, as in the log's file `verifier-key`";
        invalid_parameter("keys", &format!("keys: {error}"), hint)
    })
}
