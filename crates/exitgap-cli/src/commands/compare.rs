//! `exitgap compare`: replays two operators' logs and compares them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use exitgap_api::{ComparedLog, ComparedSlot, ComparisonReport, invalid_parameter};
use exitgap_core::evidence::Verdict;
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{Difference, Testimony, place_of};
use exitgap_core::tlog::VerifierKey;

use super::{audit, print_json};
use crate::arguments::CompareArgs;
use crate::failure::{Failure, read_or_not, verdict_code};
use crate::format::{group_digits, printable};
use crate::log::{
    Against, Fault, FolderReader, SignedCheckpoint, WatchedPools, WatchedSlot, replay,
};
use crate::log_source::{LogAt, LogSource};
use crate::trust;

/// Maximum number of listed differences.
const LISTED: usize = 100;

/// A pool by its chain's id and its contract, which operators cannot choose.
type Place = String;

/// The content of one log.
#[derive(Default)]
struct LogReplay {
    origin: String,
    keys_trusted: bool,
    slots: u64,
    fault: Option<Box<Fault>>,
    /// The pool ids that the operator chose.
    names: BTreeMap<Place, PoolId>,
    of: BTreeMap<(Slot, Place), Testimony>,
}

pub fn run(args: &CompareArgs, json: bool) -> Result<ExitCode, Failure> {
    let trusted = trust::keys(&args.trust.trust)?;
    if args.first == args.second {
        return Err(same_log());
    }
    let first = read_log(&args.first, args.copy_first.as_deref(), &trusted)?;
    let second = read_log(&args.second, args.copy_second.as_deref(), &trusted)?;
    if first.newest.checkpoint.origin == second.newest.checkpoint.origin {
        return Err(same_log());
    }
    let report = compare_logs(&replay_log(&first, &trusted)?, &replay_log(&second, &trusted)?);
    let printed = if json { print_json(&report) } else { print_text(&report) };
    read_or_not(printed)?;
    Ok(verdict_code(report.verdict))
}

/// A log agrees with itself, which says nothing about it.
fn same_log() -> Failure {
    let detail = "second: both arguments are the same log, and a log always agrees with itself";
    let hint = "give the logs of two operators; to compare two states of one log, use `exitgap audit` with --since";
    invalid_parameter("second", detail, hint).into()
}

/// A log that is to be replayed.
struct LogToRead {
    source: LogSource,
    newest: SignedCheckpoint,
}

fn read_log(
    log: &LogAt,
    copy: Option<&Path>,
    trusted: &[VerifierKey],
) -> Result<LogToRead, Failure> {
    let source = LogSource::for_comparing(log, copy, trusted)?;
    let newest = audit::newest(&FolderReader::new(source.path()))?;
    Ok(LogToRead { source, newest })
}

/// Replays a log, and collects its records of each pool and slot, without the retracted ones.
fn replay_log(log: &LogToRead, trusted: &[VerifierKey]) -> Result<LogReplay, Failure> {
    let LogToRead { source, newest } = log;
    let folder = FolderReader::new(source.path());
    let origin = newest.checkpoint.origin.to_string();
    // Keys of both logs are named together: those with the name of this one count for it.
    let own = trusted.iter().filter(|key| key.name() == origin);
    let own: Vec<VerifierKey> = own.cloned().collect();
    let keys_trusted = !own.is_empty();
    let keys = if keys_trusted { own } else { audit::own_keys(&folder)? };
    let watched = WatchedPools::All;
    let against = Against { folder: &folder, newest, keys: &keys, since: None, watched };
    let mut told = LogReplay { origin, keys_trusted, ..LogReplay::default() };
    let bar = audit::progress(newest.checkpoint.size);
    let mut tell = |slot: WatchedSlot| told.add_slot(slot);
    let (counts, broken) = replay(&against, |counts| bar.set_position(counts.slots), &mut tell);
    bar.finish_and_clear();
    told.slots = counts.slots;
    told.fault = broken.map(|(fault, _)| audit::readable(fault)).transpose()?;
    Ok(told)
}

impl LogReplay {
    fn add_slot(&mut self, slot: WatchedSlot) {
        let WatchedSlot { head, snapshot, .. } = slot;
        if !head.retracts.is_empty() {
            let own = self.names.iter().find(|(_, name)| **name == head.pool);
            if let Some(place) = own.map(|(place, _)| place.clone()) {
                for retraction in &head.retracts {
                    self.of.remove(&(retraction.slot, place.clone()));
                }
            }
        }
        if let Some((snapshot, state)) = snapshot {
            let place = place_of(&snapshot);
            self.names.entry(place.clone()).or_insert(head.pool);
            self.of.insert((head.slot, place), Testimony::from_snapshot(&snapshot, state));
        }
    }

    fn document(&self) -> ComparedLog {
        let Self { origin, keys_trusted, slots, fault, .. } = self;
        let fault = fault.as_deref().map(Fault::document);
        ComparedLog { origin: origin.clone(), keys_trusted: *keys_trusted, slots: *slots, fault }
    }

    /// Number of slots of these pools that this log has and the other one lacks.
    fn without(&self, other: &Self, pools: &BTreeSet<&Place>) -> u64 {
        let only =
            self.of.keys().filter(|key| pools.contains(&key.1) && !other.of.contains_key(key));
        only.count() as u64
    }
}

fn compare_logs(first: &LogReplay, second: &LogReplay) -> ComparisonReport {
    let pools: BTreeSet<&Place> =
        first.names.keys().filter(|place| second.names.contains_key(*place)).collect();
    let (mut slots, mut differing, mut other_block) = (0, 0, 0);
    let mut differences = Vec::new();
    for (key, ours) in &first.of {
        let Some(theirs) = second.of.get(key) else { continue };
        slots += 1;
        let Some(difference) = ours.differs_from(theirs) else { continue };
        differing += 1;
        other_block += u64::from(difference == Difference::OtherBlock);
        if differences.len() < LISTED {
            let names = [&first.names[&key.1], &second.names[&key.1]].map(ToString::to_string);
            differences.push(ComparedSlot::from_difference(
                key.0,
                names,
                difference,
                [ours, theirs],
            ));
        }
    }
    let is_wrong = first.fault.is_some() || second.fault.is_some() || differing > other_block;
    let is_whole = first.keys_trusted && second.keys_trusted && slots > 0 && other_block == 0;
    let verdict = match (is_wrong, is_whole) {
        (true, _) => Verdict::Invalid,
        (false, true) => Verdict::Valid,
        (false, false) => Verdict::Incomplete,
    };
    let only_one = [first.without(second, &pools), second.without(first, &pools)];
    ComparisonReport {
        verdict,
        logs: [first.document(), second.document()],
        pools: pools.len() as u64,
        slots,
        slots_in_common_pct: percent_of(slots, slots + only_one[0] + only_one[1]),
        differing,
        other_block,
        only_one,
        differences,
    }
}

/// The share of a part, in percent with one decimal, rounded down; `None` of nothing.
fn percent_of(part: u64, whole: u64) -> Option<String> {
    let tenths = u128::from(part) * 1_000 / Some(u128::from(whole)).filter(|of| *of > 0)?;
    Some(format!("{}.{}", tenths / 10, tenths % 10))
}

fn print_text(report: &ComparisonReport) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let colour = |colour: AnsiColor| Style::new().bold().fg_color(Some(colour.into()));
    let (style, verdict) = match report.verdict {
        Verdict::Valid => (colour(AnsiColor::Green), "VALID: both logs agree"),
        Verdict::Invalid if report.differing > report.other_block => {
            (colour(AnsiColor::Red), "INVALID: the logs differ about the same block")
        }
        Verdict::Invalid => (colour(AnsiColor::Red), "INVALID: one of the logs failed a check"),
        Verdict::Incomplete => (
            colour(AnsiColor::Yellow),
            "INCOMPLETE: no difference found, but not everything could be compared",
        ),
    };
    writeln!(out, "{style}{verdict}{style:#}.")?;
    for log in &report.logs {
        let by = if log.keys_trusted { "a trusted key" } else { "its own key only" };
        let (origin, slots) = (printable(&log.origin), group_digits(&log.slots.to_string()));
        writeln!(out, "{:<16}{origin}: {slots} slots valid, with {by}", "log")?;
        if let Some(fault) = &log.fault {
            writeln!(out, "{:<16}{}: {}", "first fault", fault.code, printable(&fault.detail))?;
        }
    }
    let count = |number: u64| group_digits(&number.to_string());
    let [first, second] = report.only_one;
    let share = report.slots_in_common_pct.as_deref();
    let share = share.map_or(String::new(), |share| format!(" ({share}% of these pools' slots)"));
    writeln!(
        out,
        "{:<16}{} shared pools, {} slots compared{share}, {} differ; {} only in the first log, {} only in the second",
        "compared",
        count(report.pools),
        count(report.slots),
        count(report.differing),
        count(first),
        count(second)
    )?;
    for one in &report.differences {
        let about = one.of.as_ref().map_or(String::new(), |of| format!(" of {of}"));
        writeln!(
            out,
            "{:<16}{} {}: {}{about}",
            "difference", one.slot_time, one.pools[0], one.code
        )?;
        let [ours, theirs] = [0, 1].map(|at| {
            format!("block {} {}, state {}", one.blocks[at], one.block_hashes[at], one.states[at])
        });
        writeln!(out, "{:<16}first   {ours}", "")?;
        writeln!(out, "{:<16}second  {theirs}", "")?;
    }
    Ok(())
}
