//! `exitgap audit` of one closed day, from its own files.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use exitgap_api::{AuditFault, DayReport, invalid_parameter};
use exitgap_core::evidence::Verdict;
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;
use exitgap_core::tlog::VerifierKey;
use exitgap_store::days::{DayAudited, DayFault, DayFolder, audit_day};
use indicatif::{ProgressBar, ProgressStyle};

use super::print_json;
use crate::arguments::AuditArgs;
use crate::failure::{Failure, read_or_not, verdict_code};
use crate::format::{grouped, printable};
use crate::source::unreadable;

pub fn run(
    args: &AuditArgs,
    path: &Path,
    trusted: Option<Vec<VerifierKey>>,
    json: bool,
) -> Result<ExitCode, Failure> {
    if args.since.is_some() {
        let detail = "since: a day is held against the checkpoints of its own slots";
        let hint = "leave --since out, or audit the whole log with it";
        return Err(invalid_parameter("since", detail, hint).into());
    }
    if args.copy.is_some() {
        let detail = "copy: a day's folder is read where it is";
        let hint =
            "--copy goes with the URL of a service, or of its log; `exitgap export` fetches days";
        return Err(invalid_parameter("copy", detail, hint).into());
    }
    let bar = progress();
    let audited = audit_day(&DayFolder::new(path), trusted.as_deref(), |done, of| {
        bar.set_length(of);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    let DayAudited { manifest, counts, fault } =
        audited.map_err(|error| unreadable(error.to_string()))?;
    let keys_trusted = trusted.is_some();
    let verdict = match &fault {
        Some(fault) if fault.is_incomplete => Verdict::Incomplete,
        Some(_) => Verdict::Invalid,
        None if keys_trusted && counts.unsupported == 0 => Verdict::Valid,
        None => Verdict::Incomplete,
    };
    let own = || manifest.as_ref().map(|manifest| manifest.keys.clone()).unwrap_or_default();
    let log = manifest.as_ref().and_then(|manifest| manifest.log().ok());
    let report = DayReport {
        verdict,
        origin: log.map(|log| log.origin.to_string()),
        day: manifest.as_ref().map(|manifest| manifest.day.to_string()),
        keys: trusted.unwrap_or_else(own).iter().map(VerifierKey::to_string).collect(),
        keys_trusted,
        slots: counts.slots,
        pools: counts.pools,
        heads: counts.heads,
        snapshots: counts.snapshots,
        without_snapshot: counts.heads.saturating_sub(counts.snapshots),
        retracted: counts.retracted,
        unsupported: counts.unsupported,
        fault: fault.as_ref().map(document),
    };
    let printed = if json { print_json(&report) } else { print_text(&report) };
    read_or_not(printed)?;
    Ok(verdict_code(verdict))
}

/// The document of a fault.
pub fn document(fault: &DayFault) -> AuditFault {
    AuditFault {
        code: fault.code,
        detail: fault.detail.clone(),
        slot: fault.slot.map(Slot::number),
        slot_time: fault.slot.map(|slot| slot.to_string()),
        pool: fault.pool.as_ref().map(PoolId::to_string),
    }
}

/// Drawn on stderr, and only where that is a terminal.
fn progress() -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos} of {len} pools, {eta} left");
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn print_text(report: &DayReport) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let bold = Style::new().bold();
    let colour = |colour: AnsiColor| Style::new().bold().fg_color(Some(colour.into()));
    let (style, verdict) = match report.verdict {
        Verdict::Valid => (colour(AnsiColor::Green), "VALID: all of it holds"),
        Verdict::Invalid => (colour(AnsiColor::Red), "INVALID: it does not hold"),
        Verdict::Incomplete if report.unsupported == 0 && report.fault.is_none() => (
            colour(AnsiColor::Yellow),
            "INCOMPLETE: all of it holds, by the manifest's own key only",
        ),
        Verdict::Incomplete => (
            colour(AnsiColor::Yellow),
            "INCOMPLETE: nothing is wrong, but not everything was checked",
        ),
    };
    let day = report.day.as_deref().unwrap_or("?");
    let origin = report.origin.as_deref().map(printable).unwrap_or_default();
    writeln!(out, "{bold}{day} of the log {origin}{bold:#}: {style}{verdict}{style:#}.")?;
    if let Some(fault) = &report.fault {
        writeln!(out, "{:<16}{}", "first fault", fault.code)?;
        if let (Some(slot), Some(time)) = (fault.slot, &fault.slot_time) {
            writeln!(out, "{:<16}{slot}, {time}", "slot")?;
        }
        if let Some(pool) = &fault.pool {
            writeln!(out, "{:<16}{pool}", "pool")?;
        }
        writeln!(out, "{:<16}{}", "what", printable(&fault.detail))?;
    }
    writeln!(
        out,
        "{:<16}slots: {}, pools: {}, heads: {}, snapshots recomputed: {}, without one: {}, retracted: {}",
        "checked",
        report.slots,
        report.pools,
        grouped(&report.heads.to_string()),
        grouped(&report.snapshots.to_string()),
        grouped(&report.without_snapshot.to_string()),
        grouped(&report.retracted.to_string()),
    )?;
    if report.unsupported > 0 {
        writeln!(
            out,
            "{:<16}{} heads and snapshots were made by a newer version; update to check them",
            "not checked",
            grouped(&report.unsupported.to_string())
        )?;
    }
    let whose = if report.keys_trusted { "trusted" } else { "manifest's own" };
    for key in &report.keys {
        writeln!(out, "{:<16}{} ({whose})", "key", printable(key))?;
    }
    if !report.keys_trusted {
        anstream::eprintln!(
            "The manifest brought the key that its signatures were checked by. Compare the key with one from a place \
             you trust, and give it with --trust."
        );
    }
    Ok(())
}
