//! Two recorders of one store on a `PostgreSQL` server, of which one or the server is killed, stopped or cut off, again and
//! again: one history, with every slot that was acknowledged.
//!
//! Each lane is a database with two writers that read differently, so that a slot that both signed has two roots. Faults fall
//! where they hurt: half of them as soon as a writer has said what it signed, which is before its commit.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use exitgap_store::{LogFolder, Reader};
use tempfile::TempDir;

use super::ha_writer::arguments;
use super::home::audit;
use super::writer::command;
use super::{Part, Progress, Result};
use crate::binaries;
use crate::devchain::Rng;
use crate::postgres::{Cluster, RECORDER};

/// The lease of a rehearsal: a fault every two seconds.
const LEASE: &str = "options=-c%20exitgap.lease_s%3D1";
/// How long anything may take to come back.
const LIMIT: Duration = Duration::from_mins(1);
/// Kills of one database, before its history is looked at whole.
const KILLS_PER_STORE: u64 = 10;

/// What is done to a writer or its server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// The writer that seals is killed.
    Kill,
    /// It is stopped until the other has taken over, and goes on then.
    Stop,
    /// Its connections are cut.
    Cut,
    /// The server is killed, and started again.
    Server,
}

const OTHERS: [Fault; 3] = [Fault::Stop, Fault::Cut, Fault::Server];

const FAULTS: [(Fault, &str); 4] = [
    (Fault::Kill, "ha.kills"),
    (Fault::Stop, "ha.stops"),
    (Fault::Cut, "ha.cuts"),
    (Fault::Server, "ha.server_kills"),
];

/// Does `kills` kills of writers, and as many other faults together, and then a tenth of it to writers that claim nothing.
pub fn run(kills: u64, seed: u64, progress: Progress<'_>) -> Result<Part> {
    let mut part = Part::default();
    for key in [
        "ha.kills",
        "ha.stops",
        "ha.cuts",
        "ha.server_kills",
        "ha.slots",
        "ha.slots_lost",
        "ha.claims_sealed",
    ] {
        part.set(key, 0_u64);
    }
    for key in ["ha.forks_signed", "ha.control_forks", "pg.acknowledged_lost", "ha.at_signature"] {
        part.set(key, 0_u64);
    }
    let mut cluster = Cluster::start(&[])?;
    let mut rng = Rng::new(seed);
    let mut took = Vec::new();
    let mut done = 0;
    while done < kills {
        let mut lane = Lane::start(&cluster, false)?;
        for _ in 0..KILLS_PER_STORE.min(kills - done) {
            lane.suffer(Fault::Kill, &mut cluster, &mut rng, &mut part)?;
            let other = OTHERS[usize::try_from(rng.below(3))?];
            lane.suffer(other, &mut cluster, &mut rng, &mut part)?;
            done += 1;
            progress("ha", done, kills);
        }
        took.append(&mut lane.took_over);
        lane.judge(&mut part)?;
    }
    // The control: what the same finds where nothing is claimed.
    let mut lane = Lane::start(&cluster, true)?;
    for _ in 0..(kills / 10).max(10) {
        lane.suffer(Fault::Kill, &mut cluster, &mut rng, &mut Part::default())?;
    }
    part.set("ha.control_forks", lane.forks().len());
    if lane.forks().is_empty() {
        part.problem("ha.control_found_nothing", "writers that claim nothing signed one history");
    }
    took.sort_unstable();
    let at = |share: usize| took.get(took.len() * share / 100).map_or(0, Duration::as_millis);
    part.set("ha.takeover_ms", u64::try_from(at(50))?);
    part.set("ha.takeover_worst_ms", u64::try_from(took.last().map_or(0, Duration::as_millis))?);
    part.note("a takeover is from a kill to the next committed slot, or from a stop to the other's lease, which lasts 1 s here; PostgreSQL waits for its disk");
    Ok(part)
}

/// A writer, and what it said.
struct Writer {
    child: Child,
    lines: Receiver<(Instant, String)>,
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A database with two writers, and all that was heard of them.
struct Lane {
    folder: TempDir,
    store: PathBuf,
    database: String,
    careless: bool,
    writers: Vec<Writer>,
    /// Roots that were signed, by size.
    signed: BTreeMap<u64, BTreeSet<String>>,
    /// The last slots that were said to be committed, and published.
    committed: Option<u64>,
    published: [Option<u64>; 2],
    claims: u64,
    /// Who said last that it holds the lease.
    holds: Option<usize>,
    took_over: Vec<Duration>,
}

impl Lane {
    fn start(cluster: &Cluster, careless: bool) -> Result<Self> {
        let database = cluster.database();
        let url = cluster.url(RECORDER, &database);
        let mut lane = Self {
            folder: TempDir::new()?,
            store: format!("{}&{LEASE}", url.display()).into(),
            database,
            careless,
            writers: Vec::new(),
            signed: BTreeMap::new(),
            committed: None,
            published: [None; 2],
            claims: 0,
            holds: None,
            took_over: Vec::new(),
        };
        for number in 0..2 {
            let writer = lane.writer(number)?;
            lane.writers.push(writer);
        }
        lane.wait("a first slot", |lane| lane.committed.is_some())?;
        Ok(lane)
    }

    fn log(&self, number: usize) -> PathBuf {
        self.folder.path().join(format!("log-{number}"))
    }

    fn writer(&self, number: usize) -> Result<Writer> {
        let (program, of) = (binaries::path("faults"), u32::try_from(number)?);
        let words = arguments(&program, &self.store, &self.log(number), of, self.careless);
        let mut child = command(&words).stderr(std::process::Stdio::null()).spawn()?;
        let stdout = child.stdout.take().ok_or("a child without output")?;
        let (say, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(std::result::Result::ok) {
                if say.send((Instant::now(), line)).is_err() {
                    return;
                }
            }
        });
        Ok(Writer { child, lines })
    }

    /// Hears what was said since, and gives the last of these words of a writer.
    fn hear(&mut self) -> Vec<(usize, Instant, String)> {
        let mut heard = Vec::new();
        for number in 0..self.writers.len() {
            while let Ok((at, line)) = self.writers[number].lines.try_recv() {
                heard.push((number, at, line));
            }
        }
        heard.sort_by_key(|(_, at, _)| *at);
        for (number, _, line) in &heard {
            let mut words = line.split_whitespace();
            let (what, of) = (words.next(), words.next().and_then(|of| of.parse().ok()));
            match (what, of) {
                (Some("signed"), Some(size)) => {
                    let root = words.next().unwrap_or_default().to_owned();
                    self.signed.entry(size).or_default().insert(root);
                }
                (Some("committed"), of) => self.committed = self.committed.max(of),
                (Some("published"), of) => self.published[*number] = of,
                (Some("claimed"), _) => self.claims += 1,
                (Some("holds"), _) => self.holds = Some(*number),
                _ => {}
            }
        }
        heard
    }

    fn wait(&mut self, what: &str, mut done: impl FnMut(&Self) -> bool) -> Result<()> {
        let begun = Instant::now();
        loop {
            self.hear();
            if done(self) {
                return Ok(());
            }
            if begun.elapsed() > LIMIT {
                return Err(format!("no sign of {what} within {} s", LIMIT.as_secs()).into());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits for a moment: any, or that the one that seals has just signed.
    fn moment(&mut self, rng: &mut Rng, part: &mut Part) -> Result<usize> {
        std::thread::sleep(Duration::from_micros(rng.below(60_000)));
        self.hear();
        if rng.once_in(2) {
            let begun = Instant::now();
            while begun.elapsed() < LIMIT {
                if let Some((number, ..)) =
                    self.hear().iter().rfind(|(.., line)| line.starts_with("signed"))
                {
                    part.count("ha.at_signature");
                    return Ok(*number);
                }
                std::thread::sleep(Duration::from_micros(100));
            }
        }
        self.holds.ok_or_else(|| "nobody seals".into())
    }

    fn suffer(
        &mut self,
        fault: Fault,
        cluster: &mut Cluster,
        rng: &mut Rng,
        part: &mut Part,
    ) -> Result<()> {
        let number = self.moment(rng, part)?;
        let before = self.committed;
        let process = self.writers[number].child.id();
        let begun = Instant::now();
        match fault {
            Fault::Kill => {
                self.writers[number].child.kill()?;
                self.writers[number].child.wait()?;
                // All that it said before its end.
                std::thread::sleep(Duration::from_millis(20));
                self.hear();
                let again = self.writer(number)?;
                self.writers[number] = again;
            }
            Fault::Stop => signal("-STOP", process)?,
            Fault::Cut => {
                let database = &self.database;
                let cut = format!(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'"
                );
                cluster.sql("postgres", &cut);
            }
            Fault::Server => {
                cluster.kill()?;
                std::thread::sleep(Duration::from_millis(rng.below(300)));
                cluster.start_again()?;
            }
        }
        let (_, key) =
            FAULTS.iter().find(|(known, _)| *known == fault).ok_or("a fault without a name")?;
        part.count(key);
        if fault == Fault::Stop {
            self.wait("a takeover", |lane| lane.holds.is_some_and(|holds| holds != number))?;
            self.took_over.push(begun.elapsed());
        }
        self.wait("a slot after a fault", |lane| lane.committed > before)?;
        if fault == Fault::Kill {
            self.took_over.push(begun.elapsed());
        }
        if fault == Fault::Stop {
            signal("-CONT", process)?;
        }
        Ok(())
    }

    /// Sizes for which two roots were signed.
    fn forks(&self) -> Vec<u64> {
        self.signed.iter().filter(|(_, roots)| roots.len() > 1).map(|(size, _)| *size).collect()
    }

    /// Ends the writers, and requires one history with all that was acknowledged.
    fn judge(mut self, part: &mut Part) -> Result<()> {
        for writer in &mut self.writers {
            writer.child.kill()?;
            writer.child.wait()?;
        }
        std::thread::sleep(Duration::from_millis(50));
        self.hear();
        for size in self.forks() {
            part.problem(
                "ha.forks_signed",
                format!("two roots of size {size}: {:?}", self.signed[&size]),
            );
        }
        let reader = Reader::open(&self.store)?;
        let size = reader.log_size()?;
        if self.committed.is_some_and(|last| last >= size) {
            let last = self.committed;
            part.problem(
                "pg.acknowledged_lost",
                format!("{last:?} was acknowledged, {size} slots are there"),
            );
        }
        if let Err(damage) = reader.fsck(|_| {}) {
            part.problem("ha.slots_lost", damage.to_string());
        }
        for (size, roots) in &self.signed {
            let Some(note) = reader.checkpoint(*size)? else { continue };
            let root = note.lines().nth(2).unwrap_or_default();
            if !roots.contains(root) {
                part.problem(
                    "ha.forks_signed",
                    format!("size {size} has root {root}, signed was {roots:?}"),
                );
            }
        }
        let log = reader.log()?.ok_or("the store has no log")?;
        for number in 0..2 {
            self.judge_folder(number, &reader, &log.keys[0].to_string(), part)?;
        }
        part.set("ha.slots", part.number("ha.slots") + size);
        part.set("ha.claims_sealed", part.number("ha.claims_sealed") + self.claims);
        Ok(())
    }

    /// Requires that a writer's folder is a part of the one history.
    fn judge_folder(
        &self,
        number: usize,
        reader: &Reader,
        key: &str,
        part: &mut Part,
    ) -> Result<()> {
        let path = self.log(number);
        let Some(published) = self.published[number].filter(|_| path.join("checkpoint").exists())
        else {
            return Ok(());
        };
        let folder = LogFolder::new(&path);
        if let Err(error) = folder.check(reader) {
            part.problem("ha.forks_signed", error.to_string());
        }
        let audited = audit(&path, key)?;
        if audited["slots"].as_u64().is_none_or(|slots| slots <= published) {
            part.problem(
                "ha.slots_lost",
                format!("{published} was published, and {} are", audited["slots"]),
            );
        }
        Ok(())
    }
}

fn signal(what: &str, process: u32) -> Result<()> {
    let done = Command::new("kill").arg(what).arg(process.to_string()).status()?;
    if done.success() { Ok(()) } else { Err(format!("kill {what}: {done}").into()) }
}
