//! Files of every kind, changed in every way, through every reader that knows the kind: none is accepted that states
//! something other than what was signed, all readers agree, and a verdict names what the file is of.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::forged_anchors::AnchorFiles;
use super::forged_days::Days;
use super::forged_disk;
use super::forged_evidence::EvidenceFiles;
use super::forged_figures::Figures;
use super::forged_folders::Folders;
use super::forged_judge::{Fault, Judge, MOST_MS, Shares, Tally};
use super::forged_kind::Kind;
use super::forged_log::{Forks, LogProofs};
use super::forged_node::NodeReader;
use super::forged_receipts::{Cosignatures, Receipts};
use super::forged_reports::Reports;
use super::forged_state::StateProofs;
use super::{Part, Progress, Result};
use crate::devchain::Rng;

/// How much is done.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// Changes of all kinds.
    pub mutations: u64,
    /// How often the readers in other processes are asked.
    pub shares: Shares,
    /// After this time no more changes are made, and the run fails.
    pub limit: Duration,
    /// How many milliseconds a reader may take for each begun MiB.
    pub most_ms: u64,
}

/// The whole run.
pub const WHOLE: Extent = Extent {
    mutations: 320_000,
    shares: Shares { second: 10, package: 20, command: 200 },
    limit: Duration::from_mins(40),
    most_ms: MOST_MS,
};

/// Readers that know a kind and are not asked here.
const NOT_ASKED: &str = "forged: not asked, though they know the kind: the command line about figures, state proofs, anchors and \
     cosignatures (each also needs a service, a node or evidence); the npm package about state proofs and cosignatures; the pages and the Python package, which call the same functions";

/// How many faults of one figure and kind are shown.
const SHOWN: u64 = 3;

/// The kinds, each with its part of all changes, in thousandths.
fn kinds() -> Result<Vec<(Box<dyn Kind>, u64)>> {
    let mut kinds: Vec<(Box<dyn Kind>, u64)> = Vec::new();
    for (kind, part) in EvidenceFiles::all()?.into_iter().zip([170, 60, 90, 50]) {
        kinds.push((Box::new(kind), part));
    }
    kinds.push((Box::new(LogProofs::new()?), 150));
    kinds.push((Box::new(Forks::new()?), 80));
    // A figure is computed again from up to a hundred snapshots.
    for (kind, part) in Figures::all()?.into_iter().zip([20, 20, 5, 15, 15, 15]) {
        kinds.push((Box::new(kind), part));
    }
    kinds.push((Box::new(StateProofs::new()?), 90));
    kinds.push((Box::new(AnchorFiles::new()?), 40));
    kinds.push((Box::new(Receipts::new()), 80));
    kinds.push((Box::new(Cosignatures::new()?), 60));
    kinds.push((Box::new(Reports::new()?), 40));
    kinds.push((Box::new(Folders::new()?), 8));
    kinds.push((Box::new(Days::new()?), 4));
    Ok(kinds)
}

/// Changes files of every kind, and gives them to their readers.
pub fn run(extent: Extent, seed: u64, progress: Progress<'_>) -> Result<Part> {
    let mut part = Part::default();
    for key in ["mutations", "still_true", "accepted", "disagreeing", "unclear", "panicked"] {
        part.set(&format!("forged.{key}"), 0_u64);
    }
    let (kinds, begun) = (kinds()?, Instant::now());
    let mut tally = Tally::default();
    for (place, (kind, share)) in kinds.iter().enumerate() {
        let count = (extent.mutations * share / 1_000).max(1);
        tally.absorb(change_all(&**kind, count, seed + place as u64, extent.shares, progress)?);
        if begun.elapsed() > extent.limit {
            part.problem("forged.too_long", format!("{} s", begun.elapsed().as_secs()));
            break;
        }
    }
    report(&tally, &kinds, extent.most_ms, &mut part);
    disk(&mut part, progress)?;
    Ok(part)
}

/// What a copier writes of a lying server's answers.
fn disk(part: &mut Part, progress: Progress<'_>) -> Result<()> {
    let folders = Folders::new()?;
    let (tree, keys) = folders.log();
    let measured = forged_disk::run(tree, keys, progress)?;
    let mebibytes = |bytes: u64| bytes.div_ceil(1 << 20);
    part.set("forged.disk_mb", mebibytes(measured.written));
    part.set("forged.disk_bytes", measured.written);
    part.set("forged.disk_signed_bytes", measured.signed);
    part.set("forged.disk_cases", measured.cases);
    part.set("forged.disk_lied", measured.lied);
    part.note(format!(
        "forged: a copier had {} bytes at most ({}) of a log of {}, while {} MiB were sent in lies",
        measured.written,
        measured.worst,
        measured.signed,
        mebibytes(measured.sent)
    ));
    if measured.written > 2 * measured.signed {
        part.problem("forged.disk", measured.worst);
    }
    Ok(())
}

/// Changes files of one kind, on two threads.
fn change_all(
    kind: &dyn Kind,
    count: u64,
    seed: u64,
    shares: Shares,
    progress: Progress<'_>,
) -> Result<Tally> {
    const THREADS: u64 = 2;
    let done = AtomicU64::new(0);
    let work = |thread: u64| -> Result<Tally> {
        let (mut judge, mut rng) = (Judge::new(shares)?, Rng::new(seed << 8 | thread));
        if thread == 0 {
            whole_files(kind, &mut judge)?;
            for heavy in kind.heavy() {
                judge.judge(kind, &heavy, 1)?;
            }
        }
        let mut number = thread;
        while number < count {
            let of = usize::try_from(rng.below(kind.seeds() as u64))?;
            let changed = kind.change(of, &mut rng);
            // A draw that changed nothing is not counted, and drawn again.
            if changed.files.is_empty() && changed.file == kind.whole(of).file {
                continue;
            }
            judge.judge(kind, &changed, number)?;
            number += THREADS;
            done.fetch_add(1, Ordering::Relaxed);
        }
        Ok(judge.tally)
    };
    thread::scope(|scope| {
        let threads: Vec<_> =
            (0..THREADS).map(|thread| scope.spawn(move || work(thread))).collect();
        while threads.iter().any(|thread| !thread.is_finished()) {
            thread::sleep(Duration::from_millis(50));
            let name = format!("forged ({})", kind.name());
            progress(&name, done.load(Ordering::Relaxed), count);
        }
        let mut all = Tally::default();
        for thread in threads {
            all.absorb(thread.join().map_err(|_| "a thread of the harness panicked")??);
        }
        Ok(all)
    })
}

/// Every true file, given to all readers, which must agree on it.
fn whole_files(kind: &dyn Kind, judge: &mut Judge) -> Result<()> {
    let every = Shares { second: 1, package: 1, command: u64::MAX };
    let mut whole = Judge::new(every)?;
    for seed in 0..kind.seeds() {
        whole.judge(kind, &kind.whole(seed), 1)?;
    }
    // They are no changes: only what is wrong with them counts.
    judge.tally.faults.append(&mut whole.tally.faults);
    Ok(())
}

/// The figures, and the table of kinds and readers.
fn report(tally: &Tally, kinds: &[(Box<dyn Kind>, u64)], most_ms: u64, part: &mut Part) {
    part.set("forged.mutations", tally.changes.values().sum::<u64>());
    part.set("forged.still_true", tally.still_true.values().sum::<u64>());
    part.set("forged.control_valid", tally.control_valid);
    if tally.control_valid == 0 {
        part.problem(
            "forged.control_failed",
            "no file is valid that the log's own key signed again",
        );
    }
    let mut shown: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for Fault { key, kind, words } in &tally.faults {
        let count = shown.entry((key, kind)).or_default();
        *count += 1;
        let key = format!("forged.{key}");
        // Each is counted, and a few of each kind are shown.
        if *count > SHOWN { part.count(&key) } else { part.problem(&key, words.clone()) }
    }
    let worst = u64::try_from(tally.worst.as_millis()).unwrap_or(u64::MAX);
    part.set("forged.worst_ms", worst);
    part.note(format!("forged: slowest for a begun MiB, {worst} ms: {}", tally.slowest));
    if worst > most_ms {
        part.problem("forged.slow", tally.slowest.clone());
    }
    let mut readers: Vec<&str> = tally.given.keys().map(|(_, reader)| reader.as_str()).collect();
    readers.sort_unstable();
    readers.dedup();
    let mut table = format!("forged: changed files by kind and reader\n{:<18}", "");
    for reader in &readers {
        let _ = write!(table, "{reader:>21}");
    }
    let _ = write!(table, "{:>12}", "still true");
    for (kind, _) in kinds {
        let name = kind.name();
        let _ = write!(table, "\n{name:<18}");
        for reader in &readers {
            let given = tally.given.get(&(name.to_owned(), (*reader).to_owned()));
            let given = given.map_or("-".to_owned(), u64::to_string);
            let _ = write!(table, "{given:>21}");
        }
        let _ = write!(table, "{:>12}", tally.still_true.get(name).copied().unwrap_or(0));
    }
    part.note(table);
    part.note(NOT_ASKED);
    if !NodeReader::Package.is_there() {
        part.note("forged: the npm package is not built (cargo xtask pkg), so it read nothing");
    }
}
