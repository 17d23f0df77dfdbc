//! Stored rules on a full disk: an event that cannot be stored is not sent, and is sent once there is space again.
//!
//! The disk is full only for the evaluating process: none of its files may exceed a size (`RLIMIT_FSIZE`, with its
//! signal ignored, so that writes fail as on a full disk).

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use exitgap_store::alerts::Alerts;

use super::alerts_judge::judge;
use super::alerts_scene::{Scene, start, until_told, until_verified};
use super::{Part, Progress, Result};
use crate::binaries;
use crate::receiver::Receiver;

const RULES: u32 = 6;

/// The remaining space when the disk is full, in blocks of 512 bytes: each value makes a different write fail.
const ROOMS: [u64; 5] = [0, 8, 24, 64, 160];

/// Number of slots before the disk is full, and while it is.
const BEFORE: u32 = 5;
const FULL: u32 = 60;

/// Time limit for noticing a full disk.
const NOTICED: Duration = Duration::from_mins(1);

/// Fills the disk of the evaluating process, each time with another remaining space.
pub fn run(seed: u64, part: &mut Part, progress: Progress<'_>) -> Result<()> {
    for (done, room) in (1..).zip(ROOMS) {
        case(seed + done, room, part, progress)?;
        part.count("alerts.disk_full_cases");
        progress("alerts: full disks", done, ROOMS.len() as u64);
    }
    Ok(())
}

fn case(seed: u64, room: u64, part: &mut Part, progress: Progress<'_>) -> Result<()> {
    let mut scene = Scene::new(seed)?;
    let receiver = Receiver::start(Ipv4Addr::UNSPECIFIED, |_| crate::receiver::Does::Takes)?;
    let alerts = Alerts::open(&scene.path("alerts.db"))?;
    let rules = scene.keep_told(&alerts, RULES, &receiver)?;
    let mut first = start(scene.folder())?;
    until_verified(&alerts, RULES)?;
    for _ in 0..BEFORE {
        scene.seal(2)?;
    }
    until_told(&alerts, scene.expected(&rules)?.values().map(Vec::len).sum(), progress)?;
    first.kill()?;
    first.wait()?;
    let mut full = start_full(scene.folder(), largest(scene.folder())? / 512 + 1 + room)?;
    let (noticed, notices) = mpsc::channel();
    let words = BufReader::new(full.stderr.take().ok_or("no stderr")?);
    std::thread::spawn(move || {
        for line in words.lines().map_while(std::result::Result::ok) {
            if line.contains("trying again") && noticed.send(()).is_err() {
                return;
            }
        }
    });
    for _ in 0..FULL {
        scene.seal(2)?;
    }
    notices.recv_timeout(NOTICED).map_err(|_| "the disk was not full for who evaluates")?;
    let expected = scene.expected(&rules)?;
    let whole = expected.values().map(Vec::len).sum();
    if alerts.counts()?.events >= whole as u64 {
        return Err("all was written down on a full disk".into());
    }
    full.kill()?;
    full.wait()?;
    let mut last = start(scene.folder())?;
    until_told(&alerts, whole, progress)?;
    last.kill()?;
    last.wait()?;
    judge(&receiver.received(), &expected, part);
    Ok(())
}

/// The size of the largest file of the database, bytes.
fn largest(folder: &Path) -> Result<u64> {
    let sizes = ["alerts.db", "alerts.db-wal", "alerts.db-shm"]
        .map(|name| fs::metadata(folder.join(name)).map(|about| about.len()));
    sizes.into_iter().flatten().max().ok_or_else(|| "there is no database".into())
}

/// A process whose files may not exceed this many blocks.
fn start_full(folder: &Path, blocks: u64) -> Result<Child> {
    let mut command = Command::new("sh");
    command.args(["-c", "trap \"\" XFSZ; ulimit -f \"$0\"; exec \"$@\""]);
    command.arg(blocks.to_string()).arg(binaries::path("exitgap-server")).arg("alerts");
    command.current_dir(folder).stdout(Stdio::null()).stderr(Stdio::piped());
    Ok(command.env("EXITGAP_LOG_LEVEL", "error").spawn()?)
}
