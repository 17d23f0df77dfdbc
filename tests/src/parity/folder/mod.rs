//! Compares a folder of recorded fills (`tests/vectors/pools`, or another of the same format) with the core: every
//! case, and the largest exits within sampled limits.
//!
//! - `file`: finding, decompressing and parsing files, with limits
//! - `sizes`: the largest exit within a limit, and that nothing larger passes
//! - `report`: the results by kind
//!
//! The comparisons do not depend on the number of threads.

mod file;
mod report;
pub mod sizes;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use exitgap_core::pools::vectors::{RecordedFills, RecordedPool, Verdict};

pub use file::{Content, FileError};
pub use report::{OfKind, Report};

/// Default number of limits tried per file.
pub const LIMITS: u64 = 160;

/// Receives a file's name, what is compared, how much is done, and the total.
pub type Heard<'a> = &'a mut dyn FnMut(&str, &'static str, u64, u64);

/// Compares every file of a folder, with `limits` limits each, drawn from `seed`. Faulty files are reported, and the
/// others are compared; only a folder without any files is an error.
pub fn run(folder: &Path, seed: u64, limits: u64, heard: Heard<'_>) -> Result<Report, FileError> {
    let mut report = Report::default();
    for path in file::find(folder)? {
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into());
        match file::read(&path) {
            Ok(Content::Fills(fills)) => {
                report.files += 1;
                report.add(compare(&name, &fills, seed, limits, heard));
            }
            Ok(Content::Other) => report.left_out.push(format!(
                "{}: not a file of recorded fills, which has `kind` and `pools`",
                path.display()
            )),
            Err(error) => report.broken.push(error.to_string()),
        }
    }
    if report.files == 0 && report.broken.is_empty() {
        return Err(FileError::new(folder, "no file of recorded fills is in this folder"));
    }
    Ok(report)
}

/// The recorded fills of a folder; other files are ignored.
pub fn fills_of(folder: &Path) -> Result<Vec<RecordedFills>, FileError> {
    let mut found = Vec::new();
    for path in file::find(folder)? {
        if let Content::Fills(fills) = file::read(&path)? {
            found.push(fills);
        }
    }
    Ok(found)
}

fn compare(name: &str, fills: &RecordedFills, seed: u64, limits: u64, heard: Heard<'_>) -> OfKind {
    let RecordedFills { kind, pools } = fills;
    let mut of_kind = OfKind::new(*kind);
    let compared = in_parallel(pools.len(), |index| cases_of(fills, &pools[index]), &mut |done| {
        heard(name, "pools", done, pools.len() as u64);
    });
    for one in compared {
        of_kind.merge(one);
    }
    let answered = in_parallel(
        usize::try_from(limits).unwrap_or(usize::MAX),
        |index| sizes::try_one(fills, seed, index as u64),
        &mut |done| heard(name, "limits", done, limits),
    );
    for (pool, answer) in answered.into_iter().flatten() {
        of_kind.count_size(&pool, answer);
    }
    of_kind
}

/// Compares every case of a pool, and the state after a sale.
fn cases_of(fills: &RecordedFills, pool: &RecordedPool) -> OfKind {
    let mut of_kind = OfKind::new(fills.kind);
    for (index, case) in pool.cases.iter().enumerate() {
        of_kind.cases += 1;
        match pool.compare(fills.kind, case) {
            Verdict::Same => {}
            Verdict::Unmodelled => of_kind.unmodelled += 1,
            Verdict::Different(how) => {
                let [i, j] = case.pair.indices();
                let (id, amount) = (&pool.id, case.amount_in);
                let way = format!("{:?} of {i} and {j}", case.direction);
                of_kind.mismatches.push(format!("{id}, case {index} ({way}, {amount}): {how}"));
            }
        }
    }
    if let Some(after) = &pool.after {
        of_kind.after_cases += 1;
        match (pool.compare(fills.kind, &after.case), pool.follows(after)) {
            (Verdict::Different(how), _) => {
                of_kind.after_mismatches.push(format!("{}, after: {how}", pool.id));
            }
            (_, Some(false)) => {
                of_kind.after_mismatches.push(format!("{}, after: another state is left", pool.id));
            }
            _ => {}
        }
    }
    of_kind
}

/// Runs the questions 0 to `count` on all available threads, and returns the answers in order.
fn in_parallel<T: Send>(
    count: usize,
    ask: impl Fn(usize) -> T + Sync,
    heard: &mut dyn FnMut(u64),
) -> Vec<T> {
    let workers = thread::available_parallelism().map_or(1, usize::from).min(count.max(1));
    let (next, (sender, receiver)) = (AtomicUsize::new(0), mpsc::channel());
    let mut answers: Vec<Option<T>> = (0..count).map(|_| None).collect();
    thread::scope(|scope| {
        for _ in 0..workers {
            let (next, ask, sender) = (&next, &ask, sender.clone());
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count || sender.send((index, ask(index))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for (done, (index, answer)) in (1..).zip(receiver) {
            answers[index] = Some(answer);
            heard(done);
        }
    });
    answers.into_iter().flatten().collect()
}
