//! A disk on which a sync fails. If it is a sync of the store's files, the recorder ends without reporting anything
//! more as recorded, and the next start resolves what is unknown. If it is a sync of the log's folder, the recorder
//! reports it, continues, and publishes the slot with the next one.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::home::{Acknowledged, Home, next_slot};
use super::scene::{Scene, slot};
use super::strace::Event;
use super::writer::{arguments, command};
use super::{Part, Progress, Result, strace};
use crate::folders;

/// The slots recorded before, and the slot at which the recorder would end.
const SLOTS: (u32, u32) = (5, 8);

/// Number of pages after which the recorder checkpoints its write-ahead log: with every slot, so that those syncs fail
/// too.
const FOLD_AFTER: &str = "1";

/// Fails one sync after the other, each in a separate run: the first ones, which differ, then every `step`-th, until a
/// run has no more syncs. That last run is the control: it records everything.
pub fn run(step: usize, progress: Progress<'_>) -> Result<Part> {
    if let Some(why) = strace::missing() {
        return Err(why.into());
    }
    let mut part = Part::default();
    part.note("failing_sync: strace, which answers fsync and fdatasync with EIO");
    for key in ["count", "stopped", "went_on", "redundant", "was_written", "lost", "duplicated"] {
        part.set(&format!("failing_sync.{key}"), 0_u64);
    }
    let folder = TempDir::new()?;
    let scene = Scene { pools: 4, positions: 6 };
    let base = Home::new(folder.path().join("base"), scene);
    fs::create_dir(base.folder())?;
    base.record_until(SLOTS.0)?;
    for nth in (1..4).chain((4..400).step_by(step)) {
        let mut fired = false;
        for for_good in [false, true] {
            let home = Home::new(folder.path().join("home"), scene);
            folders::copy(base.folder(), home.folder())?;
            fired |= fail(&home, nth, for_good, &folder.path().join("trace"), &mut part)?;
            fs::remove_dir_all(home.folder())?;
        }
        progress("failing_sync", u64::from(nth), 0);
        if !fired {
            part.note(
                "failing_sync: the control, a run without a failed sync, recorded everything",
            );
            return Ok(part);
        }
    }
    Err("a recorder never came to an end of its syncs".into())
}

/// Fails the `nth` sync of a recorder; returns whether there was one.
fn fail(home: &Home, nth: u32, for_good: bool, trace: &Path, part: &mut Part) -> Result<bool> {
    let mut words = arguments("recorder", home);
    let until = SLOTS.1.to_string();
    words.extend(["--until", &until, "--fold-after", FOLD_AFTER].map(str::to_owned));
    let traced = strace::failing_sync(&words, trace, nth, for_good);
    let output = command(&traced).spawn()?.wait_with_output()?;
    let mut acknowledged = Acknowledged::default();
    String::from_utf8_lossy(&output.stdout).lines().for_each(|line| acknowledged.hear(line));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let events = strace::events(trace)?;
    let failed = events.iter().find_map(|event| match event {
        Event::Failed(file) => Some(file),
        _ => None,
    });
    let Some(file) = failed else {
        let all = Acknowledged { committed: Some(SLOTS.1 - 1), published: Some(SLOTS.1 - 1) };
        if !output.status.success() || acknowledged != all {
            return Err(format!("without a fault: {} {said}", output.status).into());
        }
        return Ok(false);
    };
    part.count("failing_sync.count");
    let place = format!("sync {nth} ({file}{})", if for_good { " and all later" } else { "" });
    let consequence = consequence(home, &events);
    // The error is reported even if the recorder may continue, because the folder heals by itself.
    let named = said.contains("Input/output error") || said.contains("disk I/O error");
    match (consequence, output.status.success()) {
        (Err(words), _) => part.problem("failing_sync.acknowledged", format!("{place}: {words}")),
        (Ok(Consequence::Ends), true) => {
            part.problem("failing_sync.not_stopped", format!("{place}: {said}"));
        }
        (Ok(Consequence::Ends | Consequence::GoesOn), _) if !named => {
            part.problem("failing_sync.unnamed", format!("{place}: {said}"));
        }
        (Ok(_), false) => part.count("failing_sync.stopped"),
        (Ok(Consequence::GoesOn), true) => part.count("failing_sync.went_on"),
        (Ok(Consequence::Redundant), true) => part.count("failing_sync.redundant"),
    }
    if let Err(error) = home.check(acknowledged) {
        part.problem("failing_sync.lost", format!("{place}: {error}"));
        return Ok(true);
    }
    settle(home, acknowledged, part).or_else(|error| {
        part.problem("failing_sync.duplicated", format!("{place}: {error}"));
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
    })?;
    Ok(true)
}

/// The expected consequence of failed syncs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Consequence {
    /// None: the same data was synced before, and has not changed since.
    Redundant,
    /// It is reported, and repeated with the next slot.
    GoesOn,
    /// The process ends with an error.
    Ends,
}

/// The expected consequence of a run's failed syncs; an error if something was acknowledged although its sync failed.
fn consequence(home: &Home, events: &[Event]) -> Result<Consequence> {
    let mut consequence = Consequence::Redundant;
    let (mut folder_synced, mut store_failed) = (false, false);
    // Whether a sync of the log has failed since the last committed slot, and before that.
    let (mut log_failed, mut unpublished) = (false, false);
    for event in events {
        match event {
            Event::Synced(file) => folder_synced |= Path::new(file) == home.folder(),
            // `SQLite` syncs the folder with its first commit and ignores the result. By then the store has already
            // synced it, and it contains no new names.
            Event::Failed(file) if Path::new(file) == home.folder() && folder_synced => {}
            Event::Failed(file) if Path::new(file).starts_with(home.log()) => {
                log_failed = true;
                consequence = consequence.max(Consequence::GoesOn);
            }
            Event::Failed(_) => {
                store_failed = true;
                consequence = Consequence::Ends;
            }
            Event::Said(line) if store_failed => {
                return Err(format!("{line:?} was said after it").into());
            }
            // The report comes after the slot's publication; whatever was not published then is published with the next
            // slot.
            Event::Said(line) if line.starts_with("committed") => {
                (log_failed, unpublished) = (false, log_failed);
            }
            Event::Said(line) if unpublished => {
                return Err(format!("{line:?} was said before it was synced again").into());
            }
            Event::Said(_) => {}
        }
    }
    Ok(consequence)
}

/// Submits the slot with the unknown outcome again: it already exists, or is written now, exactly once.
fn settle(home: &Home, acknowledged: Acknowledged, part: &mut Part) -> Result<()> {
    let unknown = acknowledged.committed.map_or(SLOTS.0, |last| last + 1);
    let mut store = home.open_or_create()?;
    let before = next_slot(store.reader())?;
    if before > unknown + 1 {
        return Err(format!("slot {unknown} is unknown, and {before} slots are there").into());
    }
    let appended = store.append_slot(slot(unknown), &home.scene().entries(unknown))?;
    if appended.written == (before > unknown) {
        return Err(format!("slot {unknown} was written twice, or never").into());
    }
    if !appended.written {
        part.count("failing_sync.was_written");
    }
    drop(store);
    home.check(home.go_on()?)?;
    Ok(())
}
