//! `exitgap audit`: replays a whole published log.

use std::io::Write;
use std::process::ExitCode;

use anstyle::Style;
use exitgap_api::{AuditReport, AuditedCounts, AuditedProofs, LogAge, SlotsAfterClock};
use exitgap_client::copy::MAX_ORIGIN_BYTES;
use exitgap_core::evidence::{Predecessor, Verdict};
use exitgap_core::log_folder::{LogFile, ProofName};
use exitgap_core::proof::MAX_PROOF_BYTES;
use exitgap_core::tlog::{
    Checkpoint, MAX_KEY_FILE_BYTES, MAX_NOTE_BYTES, Note, VerifierKey, keys_from_lines,
};
use exitgap_store::days;
use indicatif::{ProgressBar, ProgressStyle};

use super::{audit_day, audit_output, print_json, verdict, verify};
use crate::arguments::AuditArgs;
use crate::failure::{Failure, read_or_not, verdict_code};
use crate::format::{group_digits, printable};
use crate::log::{
    Against, Counts, Fault, FolderReader, ProofAudit, ProofFetcher, Rule, SignedCheckpoint,
    WatchedPools, replay, unsigned_files,
};
use crate::log_source::{LogAt, LogSource};
use crate::{source, trust};

pub fn run(args: &AuditArgs, json: bool) -> Result<ExitCode, Failure> {
    // Report invalid arguments before a log is copied.
    let keys_trusted = !args.trust.trust.is_empty();
    let trusted = trust::keys(&args.trust.trust)?;
    let since = args.since.as_deref().map(verify::kept).transpose()?;
    if let LogAt::Folder(path) = &args.log
        && days::is_day(path)
    {
        return audit_day::run(args, path, keys_trusted.then_some(trusted), json);
    }
    let report = audit_log(args, keys_trusted.then_some(trusted), since)?;
    let printed = if json { print_json(&report) } else { print_text(&report) };
    read_or_not(printed)?;
    Ok(verdict_code(report.verdict))
}

/// Replays a log; with its own keys if no other is trusted.
fn audit_log(
    args: &AuditArgs,
    trusted: Option<Vec<VerifierKey>>,
    since: Option<SignedCheckpoint>,
) -> Result<AuditReport, Failure> {
    let keys_trusted = trusted.is_some();
    let source = LogSource::for_reading(
        &args.log,
        args.copy.as_deref(),
        trusted.as_deref().unwrap_or_default(),
    )?;
    let folder = FolderReader::new(source.path());
    let keys = trusted.map_or_else(|| own_keys(&folder), Ok)?;
    let newest = newest(&folder)?;
    if let Some(since) = &since {
        verify::check_kept(since, &newest.checkpoint.origin, &keys)?;
        if since.checkpoint.size == 0 {
            let what = "since: this checkpoint is of an empty log, so every log agrees with it";
            return Err(source::unreadable(what.to_owned()).into());
        }
    }
    let since_ref = since.as_ref();
    let watched = WatchedPools::All;
    let against =
        Against { folder: &folder, newest: &newest, keys: &keys, since: since_ref, watched };
    let bar = progress(newest.checkpoint.size);
    let tick = |counts: &Counts| bar.set_position(counts.slots);
    let mut failed = None;
    let mut bring = |name: &ProofName| {
        let brought = source.fetch_file(&LogFile::Proof(name.clone()), MAX_PROOF_BYTES);
        brought.unwrap_or_else(|error| {
            failed.get_or_insert(error);
            false
        })
    };
    let bring: Option<&mut ProofFetcher<'_>> =
        if source.is_copied() { Some(&mut bring) } else { None };
    let mut proofs = ProofAudit::from_folder(&folder, bring);
    let (counts, broken) = replay(&against, tick, &mut |told| proofs.add_slot(&told));
    bar.finish_and_clear();
    let (proofs, differs) = (proofs.counts, proofs.fault);
    if let Some(error) = failed {
        return Err(error.into());
    }
    let (fault, contradiction) = broken.unzip();
    let named = || keys_trusted.then(|| check_named_keys(&folder, &newest, &keys).err()).flatten();
    let fault = fault.or_else(|| named().map(|rule| Box::new(rule.into())));
    let fault = fault.map(readable).transpose()?.or(differs);
    let verdict = match &fault {
        // Data that only a later version of exitgap understands is not a fault.
        Some(fault) if fault.rule.newer().is_some() => Verdict::Incomplete,
        Some(_) => Verdict::Invalid,
        None if keys_trusted && counts.unsupported == 0 && proofs.unusable == 0 => Verdict::Valid,
        None => Verdict::Incomplete,
    };
    let unsigned =
        fault.is_none().then(|| unsigned_files(&folder, source.path(), &newest.checkpoint));
    let unsigned = unsigned.transpose().map_err(|rule| unreadable(&rule))?;
    let age = LogAge::of_log(&newest.checkpoint, source::now_s()).filter(|_| source.is_copied());
    let Counts { slots, last_slot, pools, heads, snapshots, retracted, unsupported } = counts;
    let without_snapshot = heads.saturating_sub(snapshots);
    let after_clock = SlotsAfterClock::of_log(&newest.checkpoint, source::now_s());
    Ok(AuditReport {
        verdict,
        origin: newest.checkpoint.origin.to_string(),
        keys: keys.iter().map(VerifierKey::to_string).collect(),
        keys_trusted,
        size: newest.checkpoint.size,
        root: newest.checkpoint.root.to_string(),
        slots,
        last_slot: last_slot.map(|slot| slot.to_string()),
        counts: AuditedCounts { pools, heads, snapshots, without_snapshot, retracted, unsupported },
        predecessor: predecessor(&folder)?,
        extensions: newest.checkpoint.extensions,
        superseded_by: superseded_by(&folder)?,
        unsigned: unsigned.filter(|unsigned| unsigned.count > 0),
        age,
        proofs: (proofs != AuditedProofs::default()).then_some(proofs),
        since_size: since.map(|since| since.checkpoint.size),
        after_clock,
        fault: fault.as_deref().map(Fault::document),
        contradiction: contradiction.flatten(),
    })
}

/// The predecessor of this log, in one line. The first leaf was checked against it.
fn predecessor(folder: &FolderReader) -> Result<Option<String>, Failure> {
    match folder.text(Predecessor::NAME, MAX_NOTE_BYTES) {
        Ok(document) => Ok(Some(document.trim_end().replace('\n', " "))),
        Err(Rule::FileAbsent { .. }) => Ok(None),
        Err(rule) => Err(unreadable(&rule)),
    }
}

/// Returns a fault of the log. A file that this machine could not read is a failure of the command and not a fault of
/// the log.
pub(super) fn readable(fault: Box<Fault>) -> Result<Box<Fault>, Failure> {
    match &fault.rule {
        Rule::FileUnreadable { .. } => Err(unreadable(&fault.rule)),
        _ => Ok(fault),
    }
}

pub(super) fn unreadable(rule: &Rule) -> Failure {
    let hint = "a log's folder contains checkpoint, verifier-key, slots/, parts/ and tile/; see crates/exitgap-core/docs/log-folder-v1.md";
    source::unreadable(rule.to_string()).hint(hint).into()
}

/// The key in the folder: it shows that the log is consistent, but not whose it is.
pub(super) fn own_keys(folder: &FolderReader) -> Result<Vec<VerifierKey>, Failure> {
    let text = folder.text("verifier-key", MAX_KEY_FILE_BYTES);
    let text = text.map_err(|rule| unreadable(&rule))?;
    keys_from_lines(text.as_bytes())
        .map_err(|error| source::unreadable(format!("verifier-key: {error}")).into())
}

/// Requires that each key in the folder is trusted by the caller, or signed the newest checkpoint together with a
/// trusted one, as during a key change. Other readers take these keys for the log's, and nothing else in the folder
/// confirms them.
fn check_named_keys(
    folder: &FolderReader,
    newest: &SignedCheckpoint,
    trusted: &[VerifierKey],
) -> Result<(), Rule> {
    let text = folder.text("verifier-key", MAX_KEY_FILE_BYTES)?;
    let named =
        keys_from_lines(text.as_bytes()).map_err(|error| Rule::VerifierKeyInvalid { error })?;
    if named.is_empty() {
        return Err(Rule::VerifierKeyInvalid { error: "it contains no key".to_owned() });
    }
    let origin = &newest.checkpoint.origin;
    let speaks_for_the_log = |key: &VerifierKey| {
        let signed = Note::parse(&newest.note)
            .is_ok_and(|note| note.signed_by(origin, std::slice::from_ref(key)).is_ok());
        trusted.contains(key) || signed
    };
    match named.iter().find(|key| !speaks_for_the_log(key)) {
        None => Ok(()),
        Some(key) => Err(Rule::VerifierKeyNotTrusted { found: key.to_string() }),
    }
}

pub(super) fn newest(folder: &FolderReader) -> Result<SignedCheckpoint, Failure> {
    let note = folder.text("checkpoint", MAX_NOTE_BYTES).map_err(|rule| unreadable(&rule))?;
    let (checkpoint, _) = Checkpoint::from_note(&note).map_err(|error| {
        unreadable(&Rule::CheckpointInvalid { file: "checkpoint".into(), error })
    })?;
    Ok(SignedCheckpoint { note, checkpoint })
}

fn superseded_by(folder: &FolderReader) -> Result<Option<String>, Failure> {
    match folder.text("superseded-by", MAX_ORIGIN_BYTES) {
        Ok(origin) => Ok(Some(origin.trim_end().to_owned())),
        Err(Rule::FileAbsent { .. }) => Ok(None),
        Err(rule) => Err(unreadable(&rule)),
    }
}

/// A progress bar on stderr, shown only on a terminal.
pub(super) fn progress(slots: u64) -> ProgressBar {
    let template = "{bar:30} {pos} of {len} slots, {per_sec}, {eta} left";
    let style = ProgressStyle::with_template(template);
    ProgressBar::new(slots).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn print_text(report: &AuditReport) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let bold = Style::new().bold();
    let origin = printable(&report.origin);
    let slots = group_digits(&report.size.to_string());
    let own_key_of = (!report.keys_trusted).then_some("folder");
    let open = report.counts.unsupported > 0 || report.fault.is_some();
    let (style, verdict) = audit_output::verdict(report.verdict, own_key_of.filter(|_| !open));
    writeln!(out, "{bold}Log {origin}{bold:#}, {slots} slots: {style}{verdict}{style:#}.")?;
    audit_output::fault(&mut out, report.fault.as_ref())?;
    let until = report.last_slot.as_deref().map_or(String::new(), |slot| format!(", to {slot}"));
    writeln!(out, "{:<16}{} slots{until}", "replayed", group_digits(&report.slots.to_string()))?;
    audit_output::counts(&mut out, &report.counts)?;
    if let Some(after) = &report.after_clock {
        writeln!(out, "{:<16}{}", "after the clock", after.sentence())?;
    }
    if let Some(age) = &report.age {
        writeln!(out, "{:<16}{}", "age", age.sentence())?;
        if let Some(warning) = age.warning() {
            writeln!(out, "{:<16}{warning}", "WARNING")?;
        }
    }
    if let Some(proofs) = &report.proofs {
        let AuditedProofs { published, hold, differ, unusable, due, present } = proofs;
        writeln!(
            out,
            "{:<16}{published} checked: {hold} match, {differ} differ, {unusable} prove nothing; of {due} whole-pool proofs drawn, {present} are published",
            "state proofs"
        )?;
    }
    writeln!(out, "{:<16}{}", "root", report.root)?;
    if let Some(size) = report.since_size {
        let word = if report.fault.is_none() { "extends" } else { "compared with" };
        writeln!(
            out,
            "{:<16}{word} the earlier checkpoint of {} slots",
            "since",
            group_digits(&size.to_string())
        )?;
    }
    audit_output::print_unsupported(&mut out, &report.counts)?;
    if let Some(unsigned) = &report.unsigned {
        audit_output::print_unsigned(&mut out, unsigned)?;
    }
    if let Some(lost) = &report.predecessor {
        writeln!(out, "{:<16}this log continues {}", "predecessor", printable(lost))?;
    }
    for line in &report.extensions {
        writeln!(out, "{:<16}{}", "extension", printable(line))?;
    }
    if let Some(origin) = &report.superseded_by {
        writeln!(
            out,
            "{:<16}the log has ended; its successor is {} (unsigned)",
            "superseded",
            printable(origin)
        )?;
    }
    audit_output::keys(&mut out, &report.keys, own_key_of)?;
    if let Some(contradiction) = &report.contradiction {
        verdict::print_contradiction(contradiction)?;
    }
    if let Some(of) = own_key_of {
        audit_output::compare_keys(of);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{env, fs, process};

    use clap::Parser;
    use exitgap_core::pools::Direction;
    use exitgap_core::series::{MissingReason, Slot};
    use exitgap_core::tlog::SignerKey;
    use exitgap_store::{LogFolder, NewEntry, Store};

    use super::*;
    use crate::source::now_s;

    #[derive(Parser)]
    struct Audit {
        #[command(flatten)]
        args: AuditArgs,
    }

    /// The report on a log of one missing pool that begins this many slots after this machine's clock, and has this
    /// many slots.
    fn report_of_log(begins: i64, slots: u32) -> AuditReport {
        let home = env::temp_dir().join(format!("exitgap-audit-{}-{begins}", process::id()));
        fs::create_dir_all(&home).unwrap();
        let key = SignerKey::from_seed("exitgap.example/test", [7; 32]).unwrap();
        let mut store = Store::create(home.join("series.db"), &key).unwrap();
        let now = i64::from(Slot::at_or_before(now_s()).unwrap().number());
        let first = u64::try_from(now + begins).unwrap();
        for number in first..first + u64::from(slots) {
            let entry = NewEntry {
                pool: "anvil:0xb4e16d0168e52d35cacd2c6185b44281ec28c9dc".parse().unwrap(),
                default_base: Direction::ZeroForOne,
                reading: Err(MissingReason::ChainLagging),
            };
            store.append_slot(Slot::new(number).unwrap(), &[entry]).unwrap();
        }
        let folder = LogFolder::new(home.join("log"));
        folder.publish(store.reader()).unwrap();
        store.close().unwrap();
        let path = home.join("log").display().to_string();
        let Audit { args } = Audit::parse_from(["audit", &path]);
        // A store appends its first slot to its key's name.
        let keys = own_keys(&FolderReader::new(&home.join("log"))).unwrap();
        let report = audit_log(&args, Some(keys), None).unwrap();
        fs::remove_dir_all(home).unwrap();
        report
    }

    #[test]
    fn slots_after_the_machines_clock_are_named() {
        let report = report_of_log(-2, 75);
        assert_eq!((report.verdict, report.slots, &report.fault), (Verdict::Valid, 75, &None));
        // A slot may have begun since the log was created.
        let after = report.after_clock.unwrap();
        assert!((71..=72).contains(&after.count), "{after:?}");
        assert_eq!(Some(after.last_slot), report.last_slot);
    }

    #[test]
    fn a_log_up_to_now_has_no_slot_after_the_clock() {
        let report = report_of_log(-5, 6);
        assert_eq!((report.slots, report.after_clock), (6, None));
        let document = serde_json::to_value(report_of_log(-9, 2)).unwrap();
        assert!(document.get("after_clock").is_none(), "{document}");
    }
}
