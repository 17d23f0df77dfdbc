//! `exitgap watch`: follows and audits a published log slot by slot, on the reader's own machine.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use exitgap_core::alerts::{
    AlertCheckpoint, AlertEvent, AlertRule, AlertRun, AlertRunError, SealedSlot,
};
use exitgap_core::evidence::{HeadEntry, Verdict};
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;
use exitgap_core::tlog::{Checkpoint, VerifierKey};
use exitgap_store::write_output;
use serde_json::{Value, json};

use super::{alert, audit, verify};
use crate::arguments::WatchArgs;
use crate::failure::{Failure, verdict_code};
use crate::format::printable;
use crate::log::{
    Against, Fault, FolderReader, SignedCheckpoint, WatchedPools, WatchedSlot, replay,
};
use crate::log_source::LogSource;
use crate::source::unreadable;
use crate::trust;

/// Time limit for one update of a copy, so that other messages, such as that no slot came, are not delayed for longer.
const LONGEST_LOOK: Duration = Duration::from_mins(5);

/// The state between polling rounds.
struct Watch {
    folder: FolderReader,
    keys: Vec<VerifierKey>,
    rules: Vec<AlertRule>,
    /// The last checkpoint for which everything was reported.
    seen: Option<SignedCheckpoint>,
    /// Slots after this one are still to be reported.
    told: Option<Slot>,
    json: bool,
}

/// An event to report about a slot.
struct Said {
    what: &'static str,
    slot: Slot,
    words: String,
    more: Value,
}

pub fn run(args: &WatchArgs, json: bool) -> Result<ExitCode, Failure> {
    // Report invalid arguments before a log is copied.
    let trusted = trust::keys(&args.trust.trust)?;
    let rules = args.rule.iter().map(|path| alert::read_rule(path)).collect::<Result<_, _>>()?;
    let seen = args.seen.as_deref().filter(|path| path.exists()).map(verify::kept).transpose()?;
    let mut followed = FollowedLog::begin(args, &trusted)?;
    let folder = FolderReader::new(followed.source.path());
    let keys = if trusted.is_empty() { audit::own_keys(&folder)? } else { trusted };
    if let Some(seen) = &seen {
        verify::check_kept(seen, &audit::newest(&folder)?.checkpoint.origin, &keys)?;
    }
    let told = seen.as_ref().and_then(|seen| last_of(&seen.checkpoint));
    let mut watch = Watch { folder, keys, rules, seen, told, json };
    let (mut newer, mut late) = (Instant::now(), false);
    loop {
        let newest = audit::newest(&watch.folder)?;
        let known = watch.seen.as_ref().is_some_and(|seen| seen.note == newest.note);
        if !known {
            if let Some(fault) = watch.look(newest)? {
                let of = fault.document();
                let mut err = anstream::stderr().lock();
                writeln!(err, "the log failed the audit: {}: {}", of.code, printable(&of.detail))?;
                return Ok(verdict_code(Verdict::Invalid));
            }
            if let Some((path, seen)) = args.seen.as_deref().zip(watch.seen.as_ref()) {
                keep(path, &seen.note)?;
            }
            (newer, late) = (Instant::now(), false);
        }
        let waited = newer.elapsed();
        if !late && args.late_after_s > 0 && waited.as_secs() >= args.late_after_s.into() {
            late = true;
            if let Some(slot) = watch.told {
                let words = format!("no new slot for {} s", waited.as_secs());
                watch.print_alarm(&Said { what: "late", slot, words, more: json!({}) })?;
            }
        }
        if args.once {
            return Ok(ExitCode::SUCCESS);
        }
        std::thread::sleep(Duration::from_secs(args.every_s.into()));
        followed.look();
    }
}

/// The log's location, and the last error about it.
struct FollowedLog {
    source: LogSource,
    /// The code of the last reported error.
    said: Option<String>,
}

impl FollowedLog {
    /// The first update: repeated until there is something to read, or only once.
    fn begin(args: &WatchArgs, trusted: &[VerifierKey]) -> Result<Self, Failure> {
        let source = LogSource::for_watching(&args.log, args.copy.as_deref(), trusted)?;
        let mut followed = Self { source, said: None };
        if args.once {
            followed.source.refresh(LONGEST_LOOK)?;
            return Ok(followed);
        }
        while !followed.look() && !followed.source.path().join("checkpoint").exists() {
            std::thread::sleep(Duration::from_secs(args.every_s.into()));
        }
        Ok(followed)
    }

    /// Updates the copy; returns whether that succeeded. An unreachable service is not evidence against the log: the
    /// error is reported once, and the update repeated.
    fn look(&mut self) -> bool {
        match self.source.refresh(LONGEST_LOOK) {
            Ok(()) => {
                if self.said.take().is_some() {
                    anstream::eprintln!("the copy is up to date again");
                }
                true
            }
            Err(error) => {
                let code = error.code();
                if self.said.as_deref() != Some(code) {
                    let words = printable(&error.to_string());
                    anstream::eprintln!(
                        "the copy cannot be updated [{}]: {words}",
                        printable(code)
                    );
                    self.said = Some(code.to_owned());
                }
                false
            }
        }
    }
}

/// The last slot that a checkpoint covers.
fn last_of(checkpoint: &Checkpoint) -> Option<Slot> {
    let last = checkpoint.size.checked_sub(1)?;
    Slot::new(u64::from(checkpoint.origin.first_slot().number()).checked_add(last)?).ok()
}

/// Writes the file completely or not at all.
fn keep(path: &Path, note: &str) -> Result<(), Failure> {
    let kept = write_output(path, note.as_bytes());
    kept.map_err(|error| unreadable(format!("{}: {error}", path.display())).into())
}

impl Watch {
    /// Audits the log up to a checkpoint, and reports what is new; returns the fault, if any.
    fn look(&mut self, newest: SignedCheckpoint) -> Result<Option<Box<Fault>>, Failure> {
        let mut runs: Vec<AlertRun> = self.rules.iter().cloned().map(AlertRun::new).collect();
        let (told, mut said) = (self.told, Vec::new());
        let mut broken: Option<AlertRunError> = None;
        let mut tell = |slot: WatchedSlot| {
            let is_new = told.is_none_or(|told| slot.head.slot > told);
            if is_new && let HeadEntry::Missing(reason) = &slot.head.entry {
                said.push(missing_alarm(&slot.head.pool, slot.head.slot, reason.code()));
            }
            for run in &mut runs {
                match apply_slot(run, &slot) {
                    Ok(events) if is_new => said.extend(events.iter().map(of_rule)),
                    Ok(_) => {}
                    Err(error) => broken = Some(error),
                }
            }
        };
        let against = Against {
            folder: &self.folder,
            newest: &newest,
            keys: &self.keys,
            since: self.seen.as_ref(),
            watched: WatchedPools::All,
        };
        let (counts, fault) = replay(&against, |_| {}, &mut tell);
        if let Some(error) = broken {
            return Err(unreadable(error.to_string()).into());
        }
        let fault = fault.map(|(fault, _)| audit::readable(fault)).transpose()?;
        // Everything before a fault is valid, and is reported.
        for one in &said {
            self.print_alarm(one)?;
        }
        if fault.is_none()
            && let Some(slot) = counts.last_slot
        {
            let words = format!("{} slots of {} pools are valid", counts.slots, counts.pools);
            let more = json!({"slots": counts.slots, "root": newest.checkpoint.root.to_string()});
            self.print_alarm(&Said { what: "slot", slot, words, more })?;
            (self.told, self.seen) = (Some(slot), Some(newest));
        }
        Ok(fault)
    }

    fn print_alarm(&self, said: &Said) -> Result<(), Failure> {
        let Said { what, slot, words, more } = said;
        let mut out = anstream::stdout().lock();
        if self.json {
            let mut document = more.clone();
            document["alarm"] = json!(what);
            document["slot"] = json!(slot.number());
            document["time"] = json!(slot.to_string());
            document["words"] = json!(words);
            writeln!(out, "{document}")?;
        } else {
            writeln!(out, "{slot}  {what:<8}{}", printable(words))?;
        }
        // A reader may act on it immediately.
        Ok(out.flush()?)
    }
}

/// Passes a slot to a rule, if it belongs to the rule's pool.
fn apply_slot(run: &mut AlertRun, slot: &WatchedSlot) -> Result<Vec<AlertEvent>, AlertRunError> {
    let waits = run.next().is_some_and(|next| slot.head.slot >= next);
    if !waits || slot.head.pool != run.rule().pool {
        return Ok(Vec::new());
    }
    let Checkpoint { origin, size, root, .. } = &slot.checkpoint;
    let checkpoint = AlertCheckpoint { origin: origin.to_string(), size: *size, root: *root };
    let (head, snapshot) = (&slot.head, slot.snapshot.as_ref().map(|(snapshot, _)| snapshot));
    run.process_slot(SealedSlot { head, snapshot, checkpoint: &checkpoint })
}

fn missing_alarm(pool: &PoolId, slot: Slot, reason: &str) -> Said {
    let more = json!({"pool": pool.to_string(), "reason": reason});
    Said { what: "missing", slot, words: format!("{pool}: {reason}"), more }
}

fn of_rule(event: &AlertEvent) -> Said {
    let document: Value = serde_json::from_slice(&event.canonical).unwrap_or_default();
    let alert = document["data"]["alert"].as_str().unwrap_or_default().to_owned();
    let words = format!("{} of {alert}", event.event.code());
    Said { what: "rule", slot: event.slot, words, more: json!({"event": document}) }
}
