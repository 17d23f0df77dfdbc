//! A disk that is full, and has space again later.

use std::fmt;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, ErrorKind, Lines, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use exitgap_store::Reader;
use tempfile::TempDir;

use super::home::{Acknowledged, Home};
use super::scene::Scene;
use super::writer::{arguments, command};
use super::{Part, Progress, Result};
use crate::binaries;

/// The remaining space of the full disk, in KiB: each value makes the store or its folder fail at a different place.
const ROOMS_KIB: [usize; 8] = [0, 24, 64, 96, 12, 36, 48, 128];
/// The same for a database that may not grow, in pages: each value makes a different table fail.
const ROOMS_PAGES: [u32; 6] = [0, 1, 2, 3, 4, 5];
/// The size of the disk.
const DISK_KIB: usize = 4_096;
/// The slot at which the disk becomes full; it has space again after [`FULL_SLOTS`].
const FULL_FROM: u32 = 7;
/// Number of slots attempted on the full disk.
const FULL_SLOTS: u32 = 5;

/// Tells a harness process that it already has its own mount namespace.
const OWN_SPACE: &str = "EXITGAP_FAULTS_OWN_SPACE";
/// If set to `pages`, the page limit is used even if a file system can be mounted.
const METHOD: &str = "EXITGAP_FAULTS_DISK_FULL";

/// The method of filling the disk.
#[derive(Debug, Clone, Copy)]
enum Room {
    /// A small file system, filled by a file except for this many bytes.
    Bytes(usize),
    /// `SQLite`'s page limit: the database can grow by this many pages.
    Pages(u32),
}

/// Fills the disk of a recorder `cases` times, each time with another remaining space. Without permission to mount, it
/// uses its own mount namespace, if the kernel allows that; otherwise the database reaches `SQLite`'s page limit, which
/// does not affect the log's folder. The result names the method.
pub fn run(cases: usize, progress: Progress<'_>) -> Result<Part> {
    let own_space = std::env::var_os(OWN_SPACE).is_some();
    if std::env::var_os(METHOD).is_some_and(|method| method == "pages") {
        return limited(cases, "as asked", progress);
    }
    let why = match Mounted::at(TempDir::new()?.path())? {
        Ok(_disk) => return mounted(cases, own_space, progress),
        Err(why) => why,
    };
    match in_own_space(cases)? {
        Ok(part) => Ok(part),
        Err(own) => {
            limited(cases, &format!("no mount: {why}; nor in a name space: {own}"), progress)
        }
    }
}

/// With a separate file system each time.
fn mounted(cases: usize, own_space: bool, progress: Progress<'_>) -> Result<Part> {
    let mut part = Part::default();
    let place = if own_space { ", in a name space of its own" } else { "" };
    part.set("disk_full.mounted", 1_u64);
    part.note(format!("disk_full: a file system of 4 MiB (tmpfs{place})"));
    let rooms = &ROOMS_KIB[..cases.min(ROOMS_KIB.len())];
    for (done, room) in rooms.iter().enumerate() {
        let folder = TempDir::new()?;
        let _disk = Mounted::at(folder.path())?.map_err(|why| format!("mounting again: {why}"))?;
        case(folder.path(), Room::Bytes(room << 10), &mut part)?;
        progress("disk_full", done as u64 + 1, rooms.len() as u64);
    }
    Ok(part)
}

/// With the page limit.
fn limited(cases: usize, why: &str, progress: Progress<'_>) -> Result<Part> {
    let mut part = Part::default();
    part.set("disk_full.mounted", 0_u64);
    part.note(format!("disk_full: SQLite's page limit ({why})"));
    let rooms = &ROOMS_PAGES[..cases.min(ROOMS_PAGES.len())];
    for (done, room) in rooms.iter().enumerate() {
        let folder = TempDir::new()?;
        case(folder.path(), Room::Pages(*room), &mut part)?;
        progress("disk_full", done as u64 + 1, rooms.len() as u64);
    }
    Ok(part)
}

fn case(folder: &Path, room: Room, part: &mut Part) -> Result<()> {
    part.count("disk_full.count");
    let home = Home::new(folder.join("home"), Scene { pools: 6, positions: 12 });
    fs::create_dir(home.folder())?;
    home.record_until(FULL_FROM - 2)?;
    fill_and_free(&home, room, part)
}

/// Runs the same in another process with its own mount namespace; returns the reason if that is not possible. If the
/// process could mount but did not finish, that is an error.
fn in_own_space(cases: usize) -> Result<std::result::Result<Part, String>> {
    let folder = TempDir::new()?;
    let unshare = || {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount"]);
        command
    };
    let probe = unshare().args(["mount", "-t", "tmpfs", "tmpfs"]).arg(folder.path()).output();
    let probe = match probe {
        Ok(probe) => probe,
        Err(error) => return Ok(Err(format!("unshare cannot be started: {error}"))),
    };
    if !probe.status.success() {
        return Ok(Err(first_line(&probe.stderr)));
    }
    let mut harness = unshare();
    harness.arg(binaries::path("faults")).env(OWN_SPACE, "1");
    harness.args(["--json", "--only", "disk_full", "--cases", &cases.to_string()]);
    let output = harness.output()?;
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    let figures = serde_json::from_slice(&output.stdout).map_err(|_| {
        format!("the harness in a name space of its own: {} {words}", output.status)
    })?;
    let said = |what| {
        let lines = words.lines().filter_map(move |line| line.strip_prefix(what));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let (notes, problems) = (said("note: "), said("problem: "));
    if output.status.success() == problems.is_empty() {
        return Ok(Ok(Part { figures, notes, problems }));
    }
    Err(format!("the harness in a name space of its own: {} {words}", output.status).into())
}

/// The first line of a program's output.
fn first_line(words: &[u8]) -> String {
    String::from_utf8_lossy(words).lines().next().unwrap_or("it said nothing").to_owned()
}

/// Lets a recorder run into the full disk, frees space, and requires that it continues by itself.
fn fill_and_free(home: &Home, room: Room, part: &mut Part) -> Result<()> {
    let mut recorder = Paced::start(home, room)?;
    let filler = home.folder().with_file_name("filler");
    while let Some(n) = recorder.reading()? {
        if let (FULL_FROM, Room::Bytes(room)) = (n, room) {
            fill(&filler, room)?;
        }
        if n > FULL_FROM {
            // The store must be intact, whatever happened to the previous slot.
            let reader = Reader::open(home.store())?;
            if let Err(error) = reader.fsck(|_| {}) {
                part.problem("disk_full.damaged", format!("with {room} left: {error}"));
            }
        }
        if let Room::Bytes(_) = room
            && n == FULL_FROM + FULL_SLOTS
        {
            fs::remove_file(&filler)?;
        }
        if n == FULL_FROM + FULL_SLOTS + 3 {
            recorder.end()?;
            break;
        }
        recorder.go()?;
    }
    let ended = recorder.wait()?;
    let (refused, unpublished) = (
        ended.words.matches("the slot was not written").count(),
        ended.words.matches("not published yet").count(),
    );
    let named = ["database or disk is full", "No space left on device"];
    if !named.iter().any(|name| ended.words.contains(name)) {
        let words = format!("with {room} left no error was named: {}", ended.words);
        part.problem("disk_full.not_fired", words);
    }
    // Whatever the system calls it, the log calls it a full disk and says what to do.
    if !(ended.words.contains("the disk is full (") && ended.words.contains("free space on")) {
        let words = format!("with {room} left no line calls the disk full: {}", ended.words);
        part.problem("disk_full.not_named", words);
    }
    for (key, count) in [("slots_refused", refused), ("slots_unpublished", unpublished)] {
        let key = format!("disk_full.{key}");
        part.set(&key, part.number(&key) + count as u64);
    }
    if !ended.to_the_end {
        let words = format!("with {room} left the recorder ended: {}", ended.words);
        part.problem("disk_full.not_resumed", words);
        return Ok(());
    }
    let last = FULL_FROM + FULL_SLOTS + 2;
    let acknowledged = Acknowledged { committed: Some(last), published: Some(last) };
    let went_on = home.check(acknowledged).and_then(|_| home.go_on());
    match went_on.and_then(|all| home.check(all)) {
        Ok(_) => part.count("disk_full.resumed"),
        Err(error) => part.problem("disk_full.damaged", format!("with {room} left: {error}")),
    }
    Ok(())
}

impl fmt::Display for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "{bytes} bytes"),
            Self::Pages(pages) => write!(f, "{pages} pages"),
        }
    }
}

/// Fills the disk except for `room` bytes.
pub fn fill(filler: &Path, room: usize) -> Result<()> {
    let mut file = File::create(filler)?;
    let block = [0x55; 4_096];
    loop {
        match file.write_all(&block) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::StorageFull => break,
            Err(error) => return Err(error.into()),
        }
    }
    let length = file.metadata()?.len();
    file.set_len(length.saturating_sub(room as u64))?;
    Ok(())
}

/// A mounted file system, unmounted when dropped.
pub struct Mounted<'a>(&'a Path);

impl<'a> Mounted<'a> {
    /// Mounts a file system; returns the reason if that is not possible.
    pub fn at(folder: &'a Path) -> Result<std::result::Result<Self, String>> {
        let size = format!("size={DISK_KIB}k");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(folder);
        match mount.output() {
            Ok(output) if output.status.success() => Ok(Ok(Self(folder))),
            Ok(output) => Ok(Err(first_line(&output.stderr))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Err("no mount".to_owned())),
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        // A lazy unmount, so that a hanging child process does not keep the folder.
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

/// A recorder that records one slot on each request.
struct Paced {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
    to_the_end: bool,
}

/// A recorder's exit status and standard error.
struct Ended {
    to_the_end: bool,
    words: String,
}

impl Paced {
    fn start(home: &Home, room: Room) -> Result<Self> {
        let mut words = arguments("recorder", home);
        words.extend(["--paced", "--until", "1000"].map(str::to_owned));
        if let Room::Pages(pages) = room {
            words.extend(["--full".to_owned(), format!("{FULL_FROM},{FULL_SLOTS},{pages}")]);
        }
        let mut child = command(&words).stdin(Stdio::piped()).spawn()?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().ok_or("a child without output")?;
        Ok(Self { child, stdin, lines: BufReader::new(stdout).lines(), to_the_end: false })
    }

    /// The slot it is about to read; `None` if it has ended.
    fn reading(&mut self) -> Result<Option<u32>> {
        for line in self.lines.by_ref() {
            if let Some(n) = line?.strip_prefix("reading ") {
                return Ok(Some(n.parse()?));
            }
        }
        Ok(None)
    }

    /// Lets it continue.
    fn go(&mut self) -> Result<()> {
        let stdin = self.stdin.as_mut().ok_or("a child without input")?;
        Ok(stdin.write_all(b"go\n")?)
    }

    /// Closes its input, so that no more slots are requested.
    fn end(&mut self) -> Result<()> {
        self.stdin = None;
        self.to_the_end = self.reading()?.is_none();
        Ok(())
    }

    fn wait(mut self) -> Result<Ended> {
        self.stdin = None;
        let mut words = String::new();
        if let Some(stderr) = &mut self.child.stderr {
            stderr.read_to_string(&mut words)?;
        }
        let to_the_end = self.child.wait()?.success() && self.to_the_end;
        Ok(Ended { to_the_end, words })
    }
}
