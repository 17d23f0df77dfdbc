//! Power failures: a writer's actual writes and syncs are recorded, and replayed up to any point onto a simulated disk
//! that keeps only what was synced.

use std::path::Path;

use tempfile::TempDir;

use super::disk::{Disk, Survival, files};
use super::home::{Acknowledged, Home};
use super::scene::{Scene, slot};
use super::trace::Op;
use super::writer::{arguments, command};
use super::{Part, Progress, Result, memory_folder, strace, trace};
use crate::devchain::Rng;

/// What is recorded and then cut.
struct Recording {
    /// Number of slots recorded before.
    before: u32,
    /// Number of recorded slots.
    slots: u32,
    /// Number of slots between two closings of the store.
    sitting: u32,
    scene: Scene,
    /// Its share of all cuts, percent.
    share: u64,
}

/// The first creates the store. The third crosses a full tile. The last writes so much that the write-ahead log is
/// checkpointed and restarted while the store is open.
const RECORDINGS: [Recording; 4] = [
    Recording { before: 0, slots: 14, sitting: 5, scene: scene(5, 8), share: 40 },
    Recording { before: 30, slots: 12, sitting: 6, scene: scene(6, 8), share: 30 },
    Recording { before: 250, slots: 10, sitting: 4, scene: scene(3, 4), share: 15 },
    Recording { before: 6, slots: 18, sitting: 60, scene: scene(120, 1), share: 15 },
];

const fn scene(pools: u8, positions: i32) -> Scene {
    Scene { pools, positions }
}

/// Simulates power failures at `cuts` points of the recordings.
pub fn run(cuts: u64, seed: u64, progress: Progress<'_>) -> Result<Part> {
    if let Some(why) = strace::missing() {
        return Err(why.into());
    }
    let mut part = Part::default();
    part.note("power_cut: strace: writes, syncs and names of the recording process, replayed");
    for key in ["power_cut.count", "power_cut.lost", "power_cut.control_failed"] {
        part.set(key, 0_u64);
    }
    let mut rng = Rng::new(seed);
    // Few cuts need only one recording.
    let plans = if cuts < 100 { &RECORDINGS[..1] } else { &RECORDINGS[..] };
    let shares: u64 = plans.iter().map(|plan| plan.share).sum();
    let mut before = 0;
    for plan in plans {
        let share = cuts * (before + plan.share) / shares - cuts * before / shares;
        before += plan.share;
        let recorded = Recorded::make(plan)?;
        let synced = recorded.ops.iter().filter(|op| matches!(op, Op::Sync(_))).count();
        for (key, more) in [("operations", recorded.ops.len()), ("syncs", synced)] {
            let key = format!("power_cut.{key}");
            part.set(&key, part.number(&key) + more as u64);
        }
        recorded.cut(share, &mut rng, &mut part, &mut |part| {
            progress("power_cut", part.number("power_cut.count"), cuts);
        })?;
    }
    let (count, failed) = (part.number("power_cut.count"), part.number("power_cut.control_failed"));
    part.set("power_cut.control_failed_pct", failed * 100 / count.max(1));
    if failed * 100 < count * 95 {
        let words = format!("{failed} of {count} cuts without syncs were noticed");
        part.problem("power_cut.control_weak", words);
    }
    Ok(part)
}

/// A recorded run of the writer, and the disk before it.
struct Recorded {
    /// The folder named in the trace.
    _folder: TempDir,
    scene: Scene,
    disk: Disk,
    /// The same disk, ignoring syncs.
    control: Disk,
    ops: Vec<Op>,
}

impl Recorded {
    fn make(plan: &Recording) -> Result<Self> {
        let &Recording { before, slots, sitting, scene, .. } = plan;
        let folder = TempDir::new()?;
        let path = folder.path().canonicalize()?;
        let home = Home::new(path.join("home"), scene);
        std::fs::create_dir(home.folder())?;
        if before > 0 {
            home.record_until(before.min(6))?;
            home.open_or_create()?.fill_until(slot(before.saturating_sub(2)))?;
            home.record_until(before)?;
        }
        let [disk, control] = [Disk::of(home.folder(), true)?, Disk::of(home.folder(), false)?];
        let mut words = arguments("writer", &home);
        for (name, value) in [("--until", before + slots), ("--sitting", sitting)] {
            words.extend([name.to_owned(), value.to_string()]);
        }
        let file = path.join("trace");
        let output = command(&strace::recording(&words, &file)).spawn()?.wait_with_output()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(format!("the recorded writer {}: {said}", output.status).into());
        }
        let ops = trace::read(&file, home.folder())?;
        let recorded = Self { _folder: folder, scene, disk, control, ops };
        recorded.check_is_complete(home.folder())?;
        Ok(recorded)
    }

    /// Requires that replaying the recording without loss produces exactly the existing files, so that no write was
    /// overlooked.
    fn check_is_complete(&self, folder: &Path) -> Result<()> {
        // The initial disk is of the same folder, but was read before the run.
        let mut disk = self.disk.clone();
        for op in &self.ops {
            disk.apply(op)?;
        }
        let target = memory_folder()?;
        disk.cut(Survival::Everything, &mut Rng::new(0), target.path())?;
        let (expected, found) = (files(folder)?, files(target.path())?);
        if let Some((path, _)) =
            expected.iter().find(|(path, bytes)| found.get(*path) != Some(bytes))
        {
            return Err(format!("the recording does not make {}", path.display()).into());
        }
        if found.len() == expected.len() { Ok(()) } else { Err("the recording makes more".into()) }
    }

    /// Simulates power failures at `cuts` points after the first acknowledged slot.
    fn cut(
        mut self,
        cuts: u64,
        rng: &mut Rng,
        part: &mut Part,
        told: &mut dyn FnMut(&Part),
    ) -> Result<()> {
        let first = self.ops.iter().position(|op| matches!(op, Op::Said(_)));
        let first = first.ok_or("the writer acknowledged nothing")? as u64 + 1;
        let mut points: Vec<u64> =
            (0..cuts).map(|_| rng.between(first, self.ops.len() as u64)).collect();
        points.sort_unstable();
        let mut acknowledged = Acknowledged::default();
        let mut done = 0;
        for point in points {
            for op in &self.ops[done..usize::try_from(point)?] {
                self.disk.apply(op)?;
                self.control.apply(op)?;
                if let Op::Said(line) = op {
                    acknowledged.hear(line);
                }
            }
            done = usize::try_from(point)?;
            let survival = [Survival::Nothing, Survival::Beginning, Survival::Any, Survival::Any];
            let survival = survival[usize::try_from(rng.below(4))?];
            part.count("power_cut.count");
            if let Err(error) = self.after(&self.disk, survival, rng, acknowledged) {
                let words = format!("at operation {point} ({survival:?}): {error}");
                part.problem("power_cut.lost", words);
            }
            if self.after(&self.control, survival, rng, acknowledged).is_err() {
                part.count("power_cut.control_failed");
            }
            told(part);
        }
        Ok(())
    }

    /// What a recorder finds after the power failure: everything acknowledged, nothing incomplete, and it continues.
    fn after(
        &self,
        disk: &Disk,
        survival: Survival,
        rng: &mut Rng,
        acknowledged: Acknowledged,
    ) -> Result<()> {
        let target = memory_folder()?;
        disk.cut(survival, rng, target.path())?;
        let home = Home::new(target.path(), self.scene);
        home.check(acknowledged)?;
        home.go_on()?;
        Ok(())
    }
}
