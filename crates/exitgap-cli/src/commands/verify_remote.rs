//! `exitgap verify --api`: evidence fetched and verified here, its log held against the one seen
//! before.

use std::process::ExitCode;

use exitgap_api::{VerificationReport, size_as_written, slot_at};
use exitgap_client::{
    Client, ClientError, Continuity, EvidenceOf, LogState, LogWatch, Memory, Native, Storage,
    TrustBasis, Verification,
};
use exitgap_core::evidence::{Verdict, VerifierKey};
use exitgap_core::exit::METHOD_VERSION;
use exitgap_core::ids::PoolId;
use exitgap_core::units::SizeUsd;
use serde::Serialize;

use super::print_json;
use super::verdict::{Explained, print_text};
use crate::arguments::{RemoteArgs, VerifyArgs};
use crate::failure::{Failure, read_or_not, verdict_code};
use crate::format::printable;
use crate::kept::Folder;
use crate::source::{api, pool_id};
use crate::trust;

/// A report, and what the log was found to be.
#[derive(Serialize)]
struct RemoteReport<'a> {
    #[serde(flatten)]
    report: Explained<'a>,
    log: Log<'a>,
}

#[derive(Serialize)]
struct Log<'a> {
    /// Keys whose signatures count.
    keys: Vec<String>,
    /// `named`, `kept` or `first_use`.
    trusted: &'static str,
    /// `first_seen`, `continues`, `not_compared` or `contradicts`.
    continuity: &'static str,
    /// The newest checkpoint: a signed note.
    newest: &'a str,
    /// The one kept from before.
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
            // What could not be read of it was taken for never seen: no verdict can rest on that.
            kept = folder.end()?;
            found?
        }
    };
    let Verification { report, log, .. } = &found;
    let printed = if json {
        print_document(report, log, args.explain)
    } else {
        print_text(report, args.explain)
    };
    read_or_not(printed)?;
    if !json {
        print_log(log, args.remote.kept.is_some());
    }
    // What could not be written is an error, but no word against an answer that does not hold.
    match (report.report.verdict, kept) {
        (Verdict::Valid, kept) => kept?,
        (_, Err(failure)) => drop(failure.report(json)),
        (_, Ok(())) => {}
    }
    Ok(verdict_code(report.report.verdict))
}

fn print_document(
    report: &VerificationReport,
    log: &LogState,
    explain: bool,
) -> Result<(), Failure> {
    let report = Explained::of(report, explain);
    let keys = log.keys.iter().map(ToString::to_string).collect();
    let (trusted, continuity) = (trusted(log), continuity(log));
    let (newest, seen) = (log.newest.as_str(), log.seen.as_deref());
    print_json(&RemoteReport { report, log: Log { keys, trusted, continuity, newest, seen } })
}

fn fetch(
    api: &str,
    pool: &PoolId,
    size: SizeUsd,
    args: &RemoteArgs,
    storage: impl Storage,
    keys: Vec<VerifierKey>,
) -> Result<Verification, Failure> {
    api::with(api, async |client: &Client<Native>| {
        let recorded = client.recorded(pool, args.at.as_deref()).await?;
        let direction = recorded.direction(args.base.as_deref());
        let direction = direction.map_err(|problem| ClientError::Problem(Box::new(problem)))?;
        let of = EvidenceOf {
            pool: pool.clone(),
            base: direction.into(),
            slot: recorded.snapshot.slot(),
            size,
            method_version: METHOD_VERSION.to_owned(),
        };
        LogWatch::new(client, storage, keys).verify_remote(&of, true).await
    })
}

fn trusted(log: &LogState) -> &'static str {
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

/// Whose word the verdict rests on, on stderr.
fn print_log(log: &LogState, keeps: bool) {
    let keys: Vec<String> = log.keys.iter().map(|key| printable(&key.to_string())).collect();
    let keys = keys.join(", ");
    let basis = match log.basis {
        TrustBasis::Named => "as --trust names it",
        TrustBasis::Kept => "kept from an earlier run",
        TrustBasis::FirstUse => {
            "which the service itself named just now: compare it with one from elsewhere"
        }
    };
    anstream::eprintln!("\nTrusted: {keys}, {basis}.");
    let continuity = match (log.continuity, keeps) {
        (Continuity::FirstSeen, false) => {
            "Nothing is kept: with --kept FOLDER the next run notices a history rewritten since"
        }
        (Continuity::FirstSeen, true) => {
            "Nothing of this log was seen before; its newest checkpoint is kept"
        }
        (Continuity::Continues, _) => "The log continues what an earlier run saw of it",
        (Continuity::NotCompared, _) => {
            "The service shows fewer slots than an earlier run saw, so the two could not be compared; what was seen is kept"
        }
        (Continuity::Contradicts, _) => {
            "THE LOG IS NOT THE ONE AN EARLIER RUN SAW. What was seen then is kept"
        }
    };
    anstream::eprintln!("{continuity}.");
}
