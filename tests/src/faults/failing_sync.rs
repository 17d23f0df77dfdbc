//! A disk that fails a sync: whether the slot is written is unknown, the recorder stops, and the
//! next start settles it.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::home::{Acknowledged, Home, next_slot};
use super::scene::{Scene, slot};
use super::writer::{arguments, command};
use super::{Part, Progress, Result, strace};

/// The slots that are there before, and the slot before which the recorder would end.
const SLOTS: (u32, u32) = (5, 8);

/// Fails one sync after the other, each in a run of its own: every `step`-th, until a run has no
/// more of them. That last run is the control: it records everything.
pub fn run(step: usize, progress: Progress<'_>) -> Result<Part> {
    if let Some(why) = strace::missing() {
        return Err(why.into());
    }
    let mut part = Part::default();
    part.set("failing_sync.method", "strace: fsync and fdatasync answered with EIO");
    for key in ["count", "stopped", "went_on", "was_written", "lost", "duplicated"] {
        part.set(&format!("failing_sync.{key}"), 0);
    }
    let folder = TempDir::new()?;
    let scene = Scene { pools: 4, positions: 6 };
    let base = Home::new(folder.path().join("base"), scene);
    fs::create_dir(base.folder())?;
    base.record_until(SLOTS.0)?;
    for nth in (1..400).step_by(step) {
        let mut fired = false;
        for for_good in [false, true] {
            let home = Home::new(folder.path().join("home"), scene);
            copy(base.folder(), home.folder())?;
            fired |= fail(&home, nth, for_good, &folder.path().join("trace"), &mut part)?;
            fs::remove_dir_all(home.folder())?;
        }
        progress("failing_sync", u64::from(nth), 0);
        if !fired {
            part.set("failing_sync.control", "a run without a failed sync recorded everything");
            return Ok(part);
        }
    }
    Err("a recorder never came to an end of its syncs".into())
}

/// Fails the `nth` sync of a recorder; answers whether there was one.
fn fail(home: &Home, nth: u32, for_good: bool, trace: &Path, part: &mut Part) -> Result<bool> {
    let mut words = arguments("recorder", home);
    words.extend(["--until".to_owned(), SLOTS.1.to_string()]);
    let traced = strace::failing_sync(&words, trace, nth, for_good);
    let output = command(&traced).spawn()?.wait_with_output()?;
    let mut acknowledged = Acknowledged::default();
    String::from_utf8_lossy(&output.stdout).lines().for_each(|line| acknowledged.hear(line));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let failed = strace::failed_syncs(trace)?;
    let Some(file) = failed.first() else {
        let all = Acknowledged { committed: Some(SLOTS.1 - 1), published: Some(SLOTS.1 - 1) };
        if !output.status.success() || acknowledged != all {
            return Err(format!("without a fault: {} {said}", output.status).into());
        }
        return Ok(false);
    };
    part.count("failing_sync.count");
    let place = format!("sync {nth} ({file}{})", if for_good { " and all later" } else { "" });
    // What went wrong is said, also where the recorder may go on: the folder heals by itself.
    let quiet = !said.contains("Input/output error") && !said.contains("disk I/O error");
    match (output.status.success(), quiet) {
        (true, _) => part.count("failing_sync.went_on"),
        (false, false) => part.count("failing_sync.stopped"),
        (false, true) => part.problem("failing_sync.unnamed", format!("{place}: {said}")),
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

/// Gives the slot whose fate is unknown again: it is there already, or is written now, once.
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

/// Copies a folder and what is below it.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
