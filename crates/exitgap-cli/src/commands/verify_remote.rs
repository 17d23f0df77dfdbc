//! `exitgap verify --api`: downloads and verifies evidence, compares its log with the one seen before, and reports what
//! followed its slot.

use std::process::ExitCode;

use exitgap_api::{LogAge, ProblemCode, SlotStatus, size_as_written, slot_at};
use exitgap_client::{
    Client, ClientError, Continuity, EvidenceOf, FetchedSnapshot, LogState, LogWatch, Memory,
    Native, Since, Storage, TrustBasis, Verification,
};
use exitgap_core::evidence::{Check, Verdict};
use exitgap_core::exit::METHOD_VERSION;
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;
use exitgap_core::tlog::{Checkpoint, VerifierKey};
use exitgap_core::units::SizeUsd;
use serde::Serialize;

use super::print_json;
use super::verdict::{ExplainedReport, print_after_clock, print_since, print_text};
use super::verify::slots_after_clock;
use crate::arguments::{RemoteArgs, VerifyArgs};
use crate::failure::{Failure, read_or_not, verdict_code};
use crate::format::printable;
use crate::kept::Folder;
use crate::source::{api, now_s, pool_id};
use crate::trust;

/// A report, with the state of the log.
#[derive(Serialize)]
struct RemoteReport<'a> {
    #[serde(flatten)]
    report: ExplainedReport<'a>,
    log: Log<'a>,
    since: Later<'a>,
}

/// What followed the slot: the service's claims, which are not part of the verdict.
#[derive(Serialize)]
struct Later<'a> {
    /// Whether the service, or a head that it returned, says that the slot was retracted.
    #[serde(skip_serializing_if = "Option::is_none")]
    taken_back: Option<bool>,
    /// The service's status of the slot.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a SlotStatus>,
    /// The check of the later heads that the service returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    heads: Option<&'a Check>,
    /// Why the service could not be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl<'a> From<&'a Result<Since, ClientError>> for Later<'a> {
    fn from(since: &'a Result<Since, ClientError>) -> Self {
        let error = since.as_ref().err().map(ToString::to_string);
        let since = since.as_ref().ok();
        Self {
            taken_back: since.map(Since::is_taken_back),
            status: since.map(|since| &since.status),
            heads: since.and_then(|since| since.heads.as_ref()),
            error,
        }
    }
}

/// Verified evidence, with what followed its slot.
struct RemoteEvidence {
    verification: Verification,
    since: Result<Since, ClientError>,
}

#[derive(Serialize)]
struct Log<'a> {
    /// The trusted keys.
    keys: Vec<String>,
    /// `named`, `kept` or `first_use`.
    trusted: &'static str,
    /// `first_seen`, `continues`, `not_compared` or `contradicts`.
    continuity: &'static str,
    /// The newest checkpoint: a signed note.
    newest: &'a str,
    /// How old its newest slot is by the clock of this machine.
    age: Option<LogAge>,
    /// The one stored earlier.
    seen: Option<&'a str>,
}

pub fn run(api: &str, pool: &str, args: &VerifyArgs, json: bool) -> Result<ExitCode, Failure> {
    let pool = pool_id(pool)?;
    let size = size_as_written(args.remote.size_usd.as_deref().unwrap_or_default())?;
    let at = args.remote.at.as_deref();
    at.map(|at| slot_at("at", at)).transpose()?;
    let keys = trust::keys(&args.trust.trust)?;
    let mut kept = Ok(());
    let found = match &args.remote.kept {
        None => fetch(api, &pool, size, &args.remote, Memory::default(), keys)?,
        Some(path) => {
            let folder = Folder::open(path)?;
            let found = fetch(api, &pool, size, &args.remote, &folder, keys);
            // Data that could not be read was treated as never seen, so no verdict may rest on it.
            kept = folder.end()?;
            found?
        }
    };
    let RemoteEvidence { verification: Verification { evidence, report, log, .. }, since } = &found;
    let after_clock = slots_after_clock(evidence, now_s());
    let after_clock = after_clock.as_ref();
    read_or_not(if json {
        let report =
            ExplainedReport::from_report(report, args.explain).with_after_clock(after_clock);
        print_document(report, log, since)
    } else {
        print_text(evidence, report, args.explain, None)
            .and_then(|()| print_after_clock(after_clock))
            .and_then(|()| print_since(since))
    })?;
    if !json {
        print_log(log, args.remote.kept.is_some());
    }
    // A failure to write is an error, but does not change the verdict on an invalid answer.
    match (report.report.verdict, kept) {
        (Verdict::Valid, kept) => kept?,
        (_, Err(failure)) => drop(failure.report(json)),
        (_, Ok(())) => {}
    }
    Ok(verdict_code(report.report.verdict))
}

fn print_document(
    report: ExplainedReport<'_>,
    log: &LogState,
    since: &Result<Since, ClientError>,
) -> Result<(), Failure> {
    let keys = log.keys.iter().map(ToString::to_string).collect();
    let (trusted, continuity) = (trust_basis(log), continuity(log));
    let (newest, seen, age) = (log.newest.as_str(), log.seen.as_deref(), age(log));
    let log = Log { keys, trusted, continuity, newest, age, seen };
    print_json(&RemoteReport { report, log, since: since.into() })
}

fn fetch(
    api: &str,
    pool: &PoolId,
    size: SizeUsd,
    args: &RemoteArgs,
    storage: impl Storage,
    keys: Vec<VerifierKey>,
) -> Result<RemoteEvidence, Failure> {
    api::with(api, async |client: &Client<Native>| {
        let (recorded, slot) = resolve_slot(client, pool, args.at.as_deref()).await?;
        let of = EvidenceOf {
            pool: pool.clone(),
            base: recorded.direction(args.base.as_deref())?.into(),
            slot,
            size,
            method_version: METHOD_VERSION.to_owned(),
        };
        let verification = LogWatch::new(client, storage, keys).verify_remote(&of, true).await?;
        let since = client.since(&of, &verification).await;
        Ok(RemoteEvidence { verification, since })
    })
}

/// The requested slot, and a recorded snapshot of the pool. A retracted slot has no answer any more, but its evidence
/// still exists.
async fn resolve_slot(
    client: &Client<Native>,
    pool: &PoolId,
    at: Option<&str>,
) -> Result<(FetchedSnapshot, Slot), ClientError> {
    let taken_back = |error: &ClientError| error.code() == ProblemCode::SlotRetracted.as_str();
    match (client.fetch_snapshot(pool, at).await, at) {
        (Err(error), Some(at)) if taken_back(&error) => {
            Ok((client.fetch_snapshot(pool, None).await?, slot_at("at", at)?))
        }
        (found, _) => found.map(|recorded| {
            let slot = recorded.snapshot.slot();
            (recorded, slot)
        }),
    }
}

fn trust_basis(log: &LogState) -> &'static str {
    match log.basis {
        TrustBasis::Named => "named",
        TrustBasis::Kept => "kept",
        TrustBasis::FirstUse => "first_use",
    }
}

fn continuity(log: &LogState) -> &'static str {
    match log.continuity {
        Continuity::FirstSeen => "first_seen",
        Continuity::Continues => "continues",
        Continuity::NotCompared => "not_compared",
        Continuity::Contradicts => "contradicts",
    }
}

/// How old the service's newest slot is.
fn age(log: &LogState) -> Option<LogAge> {
    let (newest, _) = Checkpoint::from_note(&log.newest).ok()?;
    LogAge::of_log(&newest, now_s())
}

/// Prints on stderr whose key the verdict rests on.
fn print_log(log: &LogState, keeps: bool) {
    let keys: Vec<String> = log.keys.iter().map(|key| printable(&key.to_string())).collect();
    let keys = keys.join(", ");
    let basis = match log.basis {
        TrustBasis::Named => "given with --trust",
        TrustBasis::Kept => "kept from an earlier run",
        TrustBasis::FirstUse => {
            "named by the service just now; compare it with a copy from another place"
        }
    };
    anstream::eprintln!("\nTrusted: {keys}, {basis}.");
    let continuity = match (log.continuity, keeps) {
        (Continuity::FirstSeen, false) => {
            "Nothing is kept; with --kept FOLDER, the next run detects a rewritten history"
        }
        (Continuity::FirstSeen, true) => {
            "This log was not seen before; its newest checkpoint is kept"
        }
        (Continuity::Continues, _) => "The log continues the checkpoint of an earlier run",
        (Continuity::NotCompared, _) => {
            "The service shows fewer slots than an earlier run saw, so the two could not be compared; the earlier checkpoint is kept"
        }
        (Continuity::Contradicts, _) => {
            "THE LOG DIFFERS FROM THE ONE AN EARLIER RUN SAW. The earlier checkpoint is kept"
        }
    };
    anstream::eprintln!("{continuity}.");
    if let Some(age) = age(log) {
        anstream::eprintln!("By its newest checkpoint, {}.", age.sentence());
        if let Some(warning) = age.warning() {
            anstream::eprintln!("WARNING: {warning}.");
        }
    }
}
