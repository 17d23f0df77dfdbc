//! `exitgap audit` of one closed day, from its own files, the days around it and the log of days.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anstyle::Style;
use exitgap_api::{AuditFault, AuditedCounts, DayReport, UncheckedColumns, invalid_parameter};
use exitgap_core::evidence::Verdict;
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;
use exitgap_core::tlog::VerifierKey;
use exitgap_store::days::{DayAudited, DayFault, DayFolder, Unchecked, audit_day_among};
use indicatif::{ProgressBar, ProgressStyle};

use super::{audit_output, print_json};
use crate::arguments::AuditArgs;
use crate::failure::{Failure, read_or_not, verdict_code};
use crate::format::{group_digits, printable};
use crate::source::unreadable;

pub fn run(
    args: &AuditArgs,
    path: &Path,
    trusted: Option<Vec<VerifierKey>>,
    json: bool,
) -> Result<ExitCode, Failure> {
    if args.since.is_some() {
        let detail = "since: a day is checked against the checkpoints of its own slots";
        let hint = "omit --since, or audit the whole log with it";
        return Err(invalid_parameter("since", detail, hint).into());
    }
    if args.copy.is_some() {
        let detail = "copy: a day's folder is already local, so no copy is made";
        let hint = "use --copy only with the URL of a service or of its log; `exitgap export` fetches days";
        return Err(invalid_parameter("copy", detail, hint).into());
    }
    // The days around it and the log of days are in the folder in which its own folder is, however that was named.
    let siblings = path.canonicalize().ok().and_then(|path| path.parent().map(Path::to_owned));
    let bar = progress();
    let tick = |done, of| {
        bar.set_length(of);
        bar.set_position(done);
    };
    let folder = DayFolder::new(path);
    let audited = audit_day_among(&folder, trusted.as_deref(), siblings.as_deref(), tick);
    bar.finish_and_clear();
    let audited = audited.map_err(|error| unreadable(error.to_string()))?;
    let report = report_of(audited, trusted);
    let printed = if json { print_json(&report) } else { print_text(&report) };
    read_or_not(printed)?;
    Ok(verdict_code(report.verdict))
}

/// What an audit comes to. A day is valid only if every column of the day was checked.
fn report_of(audited: DayAudited, trusted: Option<Vec<VerifierKey>>) -> DayReport {
    let DayAudited { manifest, counts, log_of_days, unchecked, fault } = audited;
    let keys_trusted = trusted.is_some();
    let is_whole = keys_trusted && counts.unsupported == 0 && unchecked.is_empty();
    let verdict = match &fault {
        Some(fault) if fault.is_incomplete => Verdict::Incomplete,
        Some(_) => Verdict::Invalid,
        None if is_whole => Verdict::Valid,
        None => Verdict::Incomplete,
    };
    let own = || manifest.as_ref().map(|manifest| manifest.keys.clone()).unwrap_or_default();
    let log = manifest.as_ref().and_then(|manifest| manifest.log().ok());
    DayReport {
        verdict,
        origin: log.map(|log| log.origin.to_string()),
        day: manifest.as_ref().map(|manifest| manifest.day.to_string()),
        keys: trusted.unwrap_or_else(own).iter().map(VerifierKey::to_string).collect(),
        keys_trusted,
        slots: counts.slots,
        counts: AuditedCounts {
            pools: counts.pools,
            heads: counts.heads,
            snapshots: counts.snapshots,
            without_snapshot: counts.heads.saturating_sub(counts.snapshots),
            retracted: counts.retracted,
            unsupported: counts.unsupported,
        },
        log_of_days,
        unchecked: unchecked.into_iter().map(columns).collect(),
        fault: fault.as_ref().map(document),
    }
}

fn columns(unchecked: Unchecked) -> UncheckedColumns {
    let Unchecked { file, columns, reason, detail } = unchecked;
    UncheckedColumns { file, columns, reason: reason.code(), detail }
}

/// A fault as a document.
fn document(fault: &DayFault) -> AuditFault {
    AuditFault {
        code: fault.code,
        detail: fault.detail.clone(),
        slot: fault.slot.map(Slot::number),
        slot_time: fault.slot.map(|slot| slot.to_string()),
        pool: fault.pool.as_ref().map(PoolId::to_string),
    }
}

/// A progress bar on stderr, shown only on a terminal.
fn progress() -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos} of {len} pools, {eta} left");
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn print_text(report: &DayReport) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let bold = Style::new().bold();
    let own_key_of = (!report.keys_trusted).then_some("manifest");
    let open =
        report.counts.unsupported > 0 || report.fault.is_some() || !report.unchecked.is_empty();
    let (style, verdict) = audit_output::verdict(report.verdict, own_key_of.filter(|_| !open));
    let day = report.day.as_deref().unwrap_or("A day with an unreadable manifest");
    let log = report.origin.as_deref().map(|origin| format!(" of the log {}", printable(origin)));
    let log = log.unwrap_or_default();
    writeln!(out, "{bold}{day}{log}{bold:#}: {style}{verdict}{style:#}.")?;
    audit_output::fault(&mut out, report.fault.as_ref())?;
    writeln!(out, "{:<16}{} slots", "replayed", group_digits(&report.slots.to_string()))?;
    audit_output::counts(&mut out, &report.counts)?;
    audit_output::print_unsupported(&mut out, &report.counts)?;
    if let Some(days) = report.log_of_days {
        let days = group_digits(&days.to_string());
        writeln!(out, "{:<16}the signed log of {days} days commits to these files", "log of days")?;
    }
    for UncheckedColumns { file, columns, detail, .. } in &report.unchecked {
        let columns = columns.join(", ");
        writeln!(out, "{:<16}{file}: {columns} ({})", "not checked", printable(detail))?;
    }
    audit_output::keys(&mut out, &report.keys, own_key_of)?;
    if let Some(of) = own_key_of {
        audit_output::compare_keys(of);
    }
    Ok(())
}
