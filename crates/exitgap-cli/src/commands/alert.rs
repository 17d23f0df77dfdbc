//! `exitgap alert`: the events of a rule over a log.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::ExitCode;

use exitgap_api::{Problem, ProblemCode};
use exitgap_core::alerts::{
    AlertCheckpoint, AlertEvent, AlertRule, AlertRun, AlertRunError, MAX_RULE_BYTES, SealedSlot,
};
use exitgap_core::evidence::{Head, Verdict};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::Snapshot;
use exitgap_core::tlog::Checkpoint;
use exitgap_store::Reader;

use super::{audit, kept_alerts};
use crate::alert_arguments::{AlertCommand, ReplayArgs};
use crate::failure::{Failure, verdict_code};
use crate::format::{Columns, printable};
use crate::log::{Against, Fault, FolderReader, WatchedPools, WatchedSlot, replay};
use crate::log_source::{LogAt, LogSource};
use crate::source::{self, unreadable};
use crate::trust;

pub fn run(command: &AlertCommand, json: bool) -> Result<ExitCode, Failure> {
    match command {
        AlertCommand::Replay(args) => return replay_rule(args, json),
        AlertCommand::Keep(args) => kept_alerts::keep(args, json),
        AlertCommand::List(args) => kept_alerts::list(args, json),
        AlertCommand::Show(args) => kept_alerts::show(args, json),
        AlertCommand::Events(args) => kept_alerts::events(args, json),
        AlertCommand::End(args) => kept_alerts::end(args, json),
        AlertCommand::Ask(args) => kept_alerts::ask(args, json),
        AlertCommand::Rotate(args) => kept_alerts::rotate(args, json),
        AlertCommand::Resend(args) => kept_alerts::resend(args, json),
    }
    .map(|()| ExitCode::SUCCESS)
}

fn replay_rule(args: &ReplayArgs, json: bool) -> Result<ExitCode, Failure> {
    let rule = read_rule(&args.rule)?;
    let mut replayed = RuleReplay { run: AlertRun::new(rule), events: Vec::new(), error: None };
    let fault = match (&args.log, &args.db) {
        (Some(log), _) => of_log(args, log, &mut replayed)?,
        (None, Some(db)) => of_database(db, &mut replayed).map(|()| None)?,
        (None, None) => return Err(unreadable("give --log or --db".to_owned()).into()),
    };
    if let Some(error) = replayed.error {
        return Err(unreadable(error.to_string()).into());
    }
    if json { print_lines(&replayed.events) } else { print_text(&replayed.run, &replayed.events) }?;
    let Some(fault) = fault else { return Ok(ExitCode::SUCCESS) };
    let mut err = anstream::stderr().lock();
    let of = fault.document();
    writeln!(err, "the log failed the audit: {}: {}", of.code, printable(&of.detail))?;
    Ok(verdict_code(Verdict::Invalid))
}

/// A run of a rule, with its result.
struct RuleReplay {
    run: AlertRun,
    events: Vec<AlertEvent>,
    error: Option<AlertRunError>,
}

impl RuleReplay {
    /// Applies a slot, unless it is before the rule's first slot or an earlier one failed.
    fn apply_slot(&mut self, head: &Head, snapshot: Option<&Snapshot>, checkpoint: &Checkpoint) {
        let waits = self.run.next().is_some_and(|next| head.slot >= next);
        if self.error.is_some() || !waits {
            return;
        }
        let Checkpoint { origin, size, root, .. } = checkpoint;
        let checkpoint = AlertCheckpoint { origin: origin.to_string(), size: *size, root: *root };
        match self.run.process_slot(SealedSlot { head, snapshot, checkpoint: &checkpoint }) {
            Ok(events) => self.events.extend(events),
            Err(error) => self.error = Some(error),
        }
    }
}

pub(super) fn read_rule(path: &Path) -> Result<AlertRule, Failure> {
    let mut bytes = Vec::new();
    let most = MAX_RULE_BYTES as u64 + 1;
    File::open(path)
        .and_then(|file| file.take(most).read_to_end(&mut bytes))
        .map_err(|error| unreadable(format!("{}: {error}", path.display())))?;
    AlertRule::from_json(&bytes).map_err(|error| {
        Problem::new(ProblemCode::InvalidParameter, error.to_string())
            .field(error.field)
            .hint("`exitgap alert replay --help` describes the format of a rule")
            .into()
    })
}

/// Runs over all slots of a published log, which is audited on the way; returns the fault, if any.
fn of_log(
    args: &ReplayArgs,
    log: &LogAt,
    replayed: &mut RuleReplay,
) -> Result<Option<Box<Fault>>, Failure> {
    let trusted = trust::keys(&args.trust.trust)?;
    let source = LogSource::for_reading(log, args.copy.as_deref(), &trusted)?;
    let folder = FolderReader::new(source.path());
    let keys = if trusted.is_empty() { audit::own_keys(&folder)? } else { trusted };
    let newest = audit::newest(&folder)?;
    let pool = replayed.run.rule().pool.clone();
    let against = Against {
        folder: &folder,
        newest: &newest,
        keys: &keys,
        since: None,
        watched: WatchedPools::Of(std::slice::from_ref(&pool)),
    };
    let bar = audit::progress(newest.checkpoint.size);
    let mut seen = false;
    let mut tell = |slot: WatchedSlot| {
        seen = true;
        let WatchedSlot { head, snapshot, checkpoint, .. } = slot;
        let snapshot = snapshot.as_ref().map(|(snapshot, _)| snapshot);
        replayed.apply_slot(&head, snapshot, &checkpoint);
    };
    let (_, broken) = replay(&against, |counts| bar.set_position(counts.slots), &mut tell);
    bar.finish_and_clear();
    let fault = broken.map(|(fault, _)| audit::readable(fault)).transpose()?;
    if !seen && fault.is_none() {
        return Err(unknown(&pool.to_string()));
    }
    Ok(fault)
}

fn unknown(pool: &str) -> Failure {
    Problem::new(ProblemCode::UnknownPool, format!("the log has no pool {pool}")).into()
}

/// Runs over the slots of a recorder's own database.
fn of_database(path: &Path, replayed: &mut RuleReplay) -> Result<(), Failure> {
    let reader = source::open(path)?;
    let failed = |error: &dyn std::fmt::Display| Failure::from(unreadable(error.to_string()));
    let id = replayed.run.rule().pool.clone();
    let pool = reader.pool(&id).map_err(|error| failed(&error))?;
    let pool = pool.ok_or_else(|| unknown(&id.to_string()))?;
    let first = replayed.run.rule().first_slot;
    let heads = reader.heads(&pool, first, Slot::LAST).map_err(|error| failed(&error))?;
    for stored in heads {
        let slot = stored.head.slot;
        let snapshot = reader.snapshot_at(&pool, slot).map_err(|error| failed(&error))?;
        let checkpoint = checkpoint_at(&reader, slot).map_err(|error| failed(&error))?;
        replayed.apply_slot(&stored.head, snapshot.as_ref(), &checkpoint);
    }
    Ok(())
}

/// The first checkpoint that covers a slot.
fn checkpoint_at(reader: &Reader, slot: Slot) -> Result<Checkpoint, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let log = reader.log().map_err(|error| text(&error))?.ok_or("the store has no log")?;
    let size = log.origin.index_of(slot).map_or(0, |index| index + 1);
    let note = reader.checkpoint(size).map_err(|error| text(&error))?;
    let note = note.ok_or_else(|| format!("the store has no checkpoint of {size} slots"))?;
    Ok(Checkpoint::from_note(&note).map_err(|error| text(&error))?.0)
}

/// Prints the events as they are sent, one per line.
fn print_lines(events: &[AlertEvent]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    for event in events {
        out.write_all(&event.canonical)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn print_text(run: &AlertRun, events: &[AlertEvent]) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let rule = run.rule();
    let kind = rule.kind.code();
    writeln!(out, "{kind} {} of {} in {}", rule.threshold(), rule.base.code(), rule.pool)?;
    let mut table = Columns::new(&["<time", "slot", "<event", "<based on"]);
    for event in events {
        let document: serde_json::Value =
            serde_json::from_slice(&event.canonical).unwrap_or_default();
        let samples = document["data"]["samples"].as_array().cloned().unwrap_or_default();
        let values: Vec<&str> =
            samples.iter().filter_map(|sample| sample["value"].as_str()).collect();
        table.row(vec![
            event.slot.to_string(),
            event.slot.number().to_string(),
            event.event.code().to_owned(),
            printable(&values.join(", ")),
        ]);
    }
    if events.is_empty() {
        writeln!(out, "{:<16}no events", "events")?;
    } else {
        write!(out, "{table}")?;
    }
    let until = run.next().and_then(Slot::previous).filter(|last| *last >= rule.first_slot);
    let until = until.map_or("no slot yet".to_owned(), |last| format!("up to {last}"));
    let until = if run.next().is_none() { "the pool retired".to_owned() } else { until };
    writeln!(out, "{:<16}{}, {until}", "now", run.state().standing.code())?;
    Ok(())
}
