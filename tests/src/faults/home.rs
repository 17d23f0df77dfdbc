//! A folder with a store and its published log, and the conditions that must hold after any fault.

use std::path::{Path, PathBuf};
use std::process::Command;

use exitgap_core::series::Slot;
use exitgap_core::tlog::Checkpoint;
use exitgap_store::{LogFolder, NewEntry, Outcome, Reader, Store};
use serde_json::Value;

use super::Result;
use super::scene::{Scene, key, slot};
use crate::binaries;

/// The files of a recorder: `series.db` and `log/`.
#[derive(Debug, Clone)]
pub struct Home {
    folder: PathBuf,
    scene: Scene,
}

/// The last slots that a writer has acknowledged, counted from the first slot of the series.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Acknowledged {
    /// The last slot in the store.
    pub committed: Option<u32>,
    /// The last slot in the log's folder, with a checkpoint that covers it.
    pub published: Option<u32>,
}

impl Acknowledged {
    /// Processes a line of a writer's output.
    pub fn hear(&mut self, line: &str) {
        let mut words = line.split_whitespace();
        let (what, number) = (words.next(), words.next().and_then(|number| number.parse().ok()));
        match what {
            Some("committed") => self.committed = number.or(self.committed),
            Some("published") => self.published = number.or(self.published),
            _ => {}
        }
    }
}

/// The progress of store and folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Number of slots in the store.
    pub recorded: u64,
    /// Number of slots under the published checkpoint.
    pub published: u64,
}

impl Home {
    /// The home in `folder`, where `scene` is recorded.
    pub fn new(folder: impl Into<PathBuf>, scene: Scene) -> Self {
        Self { folder: folder.into(), scene }
    }

    /// The folder itself.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The recorded scene.
    pub fn scene(&self) -> Scene {
        self.scene
    }

    /// The database.
    pub fn store(&self) -> PathBuf {
        self.folder.join("series.db")
    }

    /// The folder of the published log.
    pub fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    /// The same as the store's type.
    pub fn log_folder(&self) -> LogFolder {
        LogFolder::new(self.log())
    }

    /// Records and publishes the slots from the store's next one up to, but excluding, `until`.
    pub fn record_until(&self, until: u32) -> Result<()> {
        let mut store = self.open_or_create()?;
        for n in next_slot(store.reader())?..until {
            store.append_slot(slot(n), &self.scene.entries(n))?;
        }
        self.log_folder().publish(store.reader())?;
        Ok(())
    }

    /// Opens the store for writing, or creates it.
    pub fn open_or_create(&self) -> Result<Store> {
        let path = self.store();
        Ok(if path.exists() { Store::open(path, &key()) } else { Store::create(path, &key()) }?)
    }

    /// Requires, after a fault, that nothing acknowledged is lost and nothing is incomplete: the whole store hashes to
    /// its checkpoints, the newest slots have the expected content, the folder belongs to this store, and every file
    /// that its checkpoint commits to exists.
    ///
    /// The error says what is wrong.
    pub fn check(&self, acknowledged: Acknowledged) -> Result<Found> {
        let reader = Reader::open(self.store())?;
        let recorded = next_slot(&reader)?;
        if acknowledged.committed.is_some_and(|last| last >= recorded) {
            let last = acknowledged.committed;
            return Err(format!("{last:?} was acknowledged, {recorded} slots are there").into());
        }
        let checked = reader.fsck(|_| {})?;
        if checked.slots != u64::from(recorded) {
            return Err(format!("{} slots are whole of {recorded}", checked.slots).into());
        }
        for n in recorded.saturating_sub(2)..recorded {
            self.check_content(&reader, n)?;
        }
        self.log_folder().check(&reader)?;
        let published = self.published()?;
        if acknowledged.published.is_some_and(|last| u64::from(last) >= published) {
            let last = acknowledged.published;
            return Err(format!("{last:?} was published, {published} slots are there").into());
        }
        if published > 0 {
            self.audit()?;
        }
        Ok(Found { recorded: recorded.into(), published })
    }

    /// Continues like a recorder: submitting the newest slot again changes nothing, a new slot is recorded, and
    /// everything is published. The result can then be checked again.
    pub fn go_on(&self) -> Result<Acknowledged> {
        let mut store = self.open_or_create()?;
        self.log_folder().check(store.reader())?;
        self.log_folder().publish(store.reader())?;
        let next = next_slot(store.reader())?;
        if let Some(last) = next.checked_sub(1) {
            self.give_again(&mut store, last)?;
        }
        store.append_slot(slot(next), &self.scene.entries(next))?;
        self.log_folder().publish(store.reader())?;
        match self.published()? {
            all if all == u64::from(next) + 1 => {
                Ok(Acknowledged { committed: Some(next), published: Some(next) })
            }
            some => Err(format!("{some} of {} slots are published", next + 1).into()),
        }
    }

    /// Submits an existing slot again: it must be accepted unchanged, and not be written twice.
    pub fn give_again(&self, store: &mut Store, n: u32) -> Result<()> {
        let again = store.append_slot(slot(n), &self.scene.entries(n))?;
        if again.written {
            Err(format!("slot {n} was written a second time").into())
        } else {
            Ok(())
        }
    }

    /// The number of slots under the published checkpoint; 0 if there is none.
    pub fn published(&self) -> Result<u64> {
        match std::fs::read_to_string(self.log().join("checkpoint")) {
            Ok(note) => Ok(Checkpoint::from_note(&note)?.0.size),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    /// The output of `exitgap audit` for the folder; an error if the log is not valid.
    pub fn audit(&self) -> Result<Value> {
        let log = Reader::open(self.store())?.log()?.ok_or("the store has no log")?;
        audit(&self.log(), &log.keys[0].to_string())
    }

    fn check_content(&self, reader: &Reader, n: u32) -> Result<()> {
        for NewEntry { pool: id, reading, .. } in self.scene.entries(n) {
            let pool = reader.pool(&id)?.ok_or_else(|| format!("{id} is not in the store"))?;
            let entry = reader.entry(&pool, slot(n))?;
            let found = entry.ok_or_else(|| format!("slot {n} has no entry of {id}"))?.outcome;
            let expected = match reading {
                Ok(snapshot) => Outcome::Recorded(snapshot.to_canonical()?.hash()),
                Err(reason) => Outcome::Missing(reason),
            };
            if found != expected {
                return Err(format!("slot {n} of {id} is {found:?}, given was {expected:?}").into());
            }
        }
        Ok(())
    }
}

/// The slot after the store's last, counted from the series' first.
pub fn next_slot(reader: &Reader) -> Result<u32> {
    let last = reader.slots()?.map(|(_, last)| last.number() - Slot::FIRST.number());
    Ok(last.map_or(0, |last| last + 1))
}

/// The output of `exitgap audit` for a folder, trusting `key`; an error if it is not valid.
pub fn audit(log: &Path, key: &str) -> Result<Value> {
    let mut command = Command::new(binaries::path("exitgap"));
    let output = command.args(["audit", "--json", "--trust", key]).arg(log).output()?;
    if !output.status.success() {
        let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
        return Err(format!("audit: {} {} {}", output.status, out.trim(), err.trim()).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}
