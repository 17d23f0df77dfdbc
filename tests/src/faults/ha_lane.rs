//! Two writers of one store on a server, and all of their output.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use exitgap_store::{LogFolder, Reader};
use tempfile::TempDir;

use super::ha_reader;
use super::ha_writer::arguments;
use super::home::audit;
use super::writer::command;
use super::{Part, Result};
use crate::binaries;
use crate::devchain::Rng;

/// The short lease of a rehearsal: a fault every two seconds.
pub const LEASE: &str = "options=-c%20exitgap.lease_s%3D1";
/// Time limit for recovery.
const LIMIT: Duration = Duration::from_mins(3);

/// A writer, and its output.
pub struct Writer {
    child: Child,
    lines: Receiver<(Instant, String)>,
}

impl Writer {
    /// Kills it, and waits for its last output.
    pub fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        std::thread::sleep(Duration::from_millis(20));
        Ok(())
    }

    /// Stops or continues it.
    pub fn signal(&self, what: &str) -> Result<()> {
        let done = Command::new("kill").arg(what).arg(self.child.id().to_string()).status()?;
        if done.success() { Ok(()) } else { Err(format!("kill {what}: {done}").into()) }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A store with two writers.
pub struct Lane {
    folder: TempDir,
    /// Each writer's URL of the store.
    stores: [PathBuf; 2],
    /// Whether the writers skip the claims.
    careless: bool,
    /// Whether they also claim outside of the database.
    beside: bool,
    pub writers: Vec<Writer>,
    /// Signed roots, by size.
    signed: BTreeMap<u64, BTreeSet<String>>,
    /// The last slots reported as committed, and as published.
    pub committed: Option<u64>,
    /// The writer that reported so last.
    pub last_committed: Option<usize>,
    published: [Option<u64>; 2],
    /// The last output of each.
    last: [String; 2],
    claims: u64,
    /// Slots for which a reading was reported to count.
    read: BTreeSet<u32>,
    /// The writer that last reported to hold the lease.
    pub holds: Option<usize>,
}

impl Lane {
    /// Starts the first writer, waits until it has written a slot, and starts the second.
    pub fn start(stores: [PathBuf; 2], careless: bool, beside: bool) -> Result<Self> {
        let mut lane = Self {
            folder: TempDir::new()?,
            stores,
            careless,
            beside,
            writers: Vec::new(),
            signed: BTreeMap::new(),
            committed: None,
            last_committed: None,
            published: [None; 2],
            last: Default::default(),
            claims: 0,
            read: BTreeSet::new(),
            holds: None,
        };
        std::fs::create_dir(lane.claims_folder())?;
        for number in 0..2 {
            let writer = lane.writer(number)?;
            lane.writers.push(writer);
            lane.wait("a first slot", |lane| lane.committed.is_some())?;
        }
        Ok(lane)
    }

    fn claims_folder(&self) -> PathBuf {
        self.folder.path().join("claims")
    }

    fn log(&self, number: usize) -> PathBuf {
        self.folder.path().join(format!("log-{number}"))
    }

    /// Restarts a writer.
    pub fn writer(&self, number: usize) -> Result<Writer> {
        let (program, of) = (binaries::path("faults"), u32::try_from(number)?);
        let store = &self.stores[number];
        let claims = self.beside.then(|| self.claims_folder());
        let (log, claims) = (self.log(number), claims.as_deref());
        let words = arguments(&program, store, &log, of, self.careless, claims);
        let mut child = command(&words).stderr(Stdio::null()).spawn()?;
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

    /// Processes new output.
    pub fn hear(&mut self) -> Vec<(usize, Instant, String)> {
        let mut heard = Vec::new();
        for number in 0..self.writers.len() {
            while let Ok((at, line)) = self.writers[number].lines.try_recv() {
                heard.push((number, at, line));
            }
        }
        heard.sort_by_key(|(_, at, _)| *at);
        for (number, _, line) in &heard {
            self.last[*number].clone_from(line);
            let mut words = line.split_whitespace();
            let (what, of) = (words.next(), words.next().and_then(|of| of.parse().ok()));
            match (what, of) {
                (Some("signed"), Some(size)) => {
                    let root = words.next().unwrap_or_default().to_owned();
                    self.signed.entry(size).or_default().insert(root);
                }
                (Some("committed"), of) => {
                    self.committed = self.committed.max(of);
                    self.last_committed = Some(*number);
                }
                (Some("published"), of) => self.published[*number] = of,
                (Some("claimed"), _) => self.claims += 1,
                (Some("read"), Some(of)) => {
                    self.read.extend(u32::try_from(of));
                }
                (Some("holds"), _) => self.holds = Some(*number),
                _ => {}
            }
        }
        heard
    }

    /// Waits until `done` is true.
    pub fn wait(&mut self, what: &str, mut done: impl FnMut(&Self) -> bool) -> Result<()> {
        let begun = Instant::now();
        loop {
            self.hear();
            if done(self) {
                return Ok(());
            }
            if begun.elapsed() > LIMIT {
                let heard = &self.last;
                let words = format!(
                    "no sign of {what} within {} s; last heard: {heard:?}",
                    LIMIT.as_secs()
                );
                return Err(words.into());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits for a random moment, or until the sealing writer has just signed.
    pub fn moment(&mut self, rng: &mut Rng, part: &mut Part) -> Result<usize> {
        std::thread::sleep(Duration::from_micros(rng.below(60_000)));
        self.hear();
        if rng.once_in(2) {
            part.count("ha.at_signature");
            return self.signature();
        }
        self.holds.ok_or_else(|| "nobody seals".into())
    }

    /// Waits until a writer has just signed; returns which.
    pub fn signature(&mut self) -> Result<usize> {
        self.hear();
        let begun = Instant::now();
        while begun.elapsed() < LIMIT {
            let heard = self.hear();
            if let Some((number, ..)) = heard.iter().rfind(|(.., line)| line.starts_with("signed"))
            {
                return Ok(*number);
            }
            std::thread::sleep(Duration::from_micros(100));
        }
        Err(format!("nobody signs; last heard: {:?}", self.last).into())
    }

    /// Sizes for which two roots were signed.
    pub fn forks(&self) -> Vec<u64> {
        self.signed.iter().filter(|(_, roots)| roots.len() > 1).map(|(size, _)| *size).collect()
    }

    /// Whether something acknowledged is missing in a store.
    pub fn lost(&self, reader: &Reader) -> Result<bool> {
        let size = reader.log_size()?;
        Ok(self.committed.is_some_and(|last| last >= size))
    }

    /// Slots for which a reading was reported to count, but which were sealed without one.
    pub fn readings_lost(&self, reader: &Reader) -> Result<Vec<u32>> {
        ha_reader::lost(reader, self.read.iter().copied())
    }

    /// Ends the writers, and requires one history in this store with everything acknowledged.
    pub fn judge(mut self, store: &Path, part: &mut Part) -> Result<()> {
        for writer in &mut self.writers {
            writer.kill()?;
        }
        self.hear();
        for size in self.forks() {
            let roots = &self.signed[&size];
            part.problem("ha.forks_signed", format!("two roots of size {size}: {roots:?}"));
        }
        let reader = Reader::open(store)?;
        let size = reader.log_size()?;
        if self.lost(&reader)? {
            let last = self.committed;
            let words = format!("{last:?} was acknowledged, {size} slots are there");
            part.problem("pg.acknowledged_lost", words);
        }
        if let Err(damage) = reader.fsck(|_| {}) {
            part.problem("ha.slots_lost", damage.to_string());
        }
        // Without a synchronous standby, a failover may lose what was not sealed.
        if !self.beside {
            for n in self.readings_lost(&reader)? {
                let words = format!("slot {n} was read, and is sealed as though it were not");
                part.problem("ha.readings_lost", words);
            }
            part.set("ha.readings", part.number("ha.readings") + self.read.len() as u64);
        }
        for (size, roots) in &self.signed {
            let Some(note) = reader.checkpoint(*size)? else { continue };
            let root = note.lines().nth(2).unwrap_or_default();
            if !roots.contains(root) {
                let words = format!("size {size} has root {root}, signed was {roots:?}");
                part.problem("ha.forks_signed", words);
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

    /// Requires that a writer's folder is part of the one history.
    fn judge_folder(
        &self,
        number: usize,
        reader: &Reader,
        key: &str,
        part: &mut Part,
    ) -> Result<()> {
        let path = self.log(number);
        let Some(published) = self.published[number] else { return Ok(()) };
        if !path.join("checkpoint").exists() {
            let words = format!("{published} was published, and {} is no log", path.display());
            part.problem("ha.slots_lost", words);
            return Ok(());
        }
        if let Err(error) = LogFolder::new(&path).check(reader) {
            part.problem("ha.forks_signed", error.to_string());
        }
        let audited = audit(&path, key)?;
        if audited["slots"].as_u64().is_none_or(|slots| slots <= published) {
            let words = format!("{published} was published, and {} are", audited["slots"]);
            part.problem("ha.slots_lost", words);
        }
        Ok(())
    }
}
