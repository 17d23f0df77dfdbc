//! A store on a server whose first days may leave its database. It is created once; each test gets a copy.

use std::fs;
use std::path::{Path, PathBuf};

use exitgap_core::ids::{BlockHash, PoolId, SnapshotHash};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_store::days::DaysLog;
use exitgap_store::{Changes, LogFolder, NewEntry, NewRetraction, Outcome, Reader, Store};
use exitgap_tests::folders::copy;
use exitgap_tests::postgres::{Cluster, Kept, RECORDER};
use tempfile::TempDir;

use super::operator::{config, server, write_key};
use super::store::{BusyPool, key, slot};

/// Number of slots recorded at the beginning of each of the first days.
const MORNING: u32 = 60;
/// Number of days with recorded slots before today.
const MORNINGS: u32 = 3;
/// Number of days; the last is still open.
pub const DAYS: u32 = 13;
/// Number of days with files: slots of the newest closed day may still be retracted.
const WRITTEN: usize = 11;
/// The slot in which a pool retires.
const RETIRED: u32 = 288 + 10;

/// A store of four pools, the log's folder next to it, and the files of its closed days.
pub struct Scene {
    home: TempDir,
    made: Kept,
    cluster: Cluster,
    pub url: PathBuf,
    pub pools: [BusyPool; 4],
}

/// Two pools are recorded on the first days and today. The third retires on the second day, and the fourth is not read
/// again after the first morning.
fn pools() -> [BusyPool; 4] {
    [1, 2, 3, 4].map(|number| BusyPool::new(number, 5))
}

/// A slot of a morning.
fn recorded(pools: &mut [BusyPool; 4], n: u32) -> (Vec<NewEntry>, Changes) {
    let missing = |entry: NewEntry| NewEntry { reading: Err(MissingReason::ChainLagging), ..entry };
    let [first, second, third, fourth] = pools.each_mut().map(|pool| pool.recorded(slot(n)));
    let second = if n % 7 == 3 { missing(second) } else { second };
    let fourth = if n < MORNING { fourth } else { missing(fourth) };
    let mut entries = vec![first, second, fourth];
    let mut changes = Changes::default();
    if n == 5 {
        let (pool, of) = (pools[0].id.clone(), slot(3));
        changes.retractions = vec![NewRetraction::for_orphan(pool, of, BlockHash([9; 32]))];
    }
    if n < RETIRED {
        entries.push(third);
    } else if n == RETIRED {
        changes.retirements = vec![pools[2].id.clone()];
    }
    (entries, changes)
}

/// A slot of today with two pools.
fn today(pools: &mut [BusyPool; 4], n: u32) -> [NewEntry; 3] {
    let [first, second, _, fourth] = pools;
    [first.recorded(slot(n)), second.recorded(slot(n)), fourth.missing(MissingReason::ChainLagging)]
}

fn mornings() -> impl Iterator<Item = u32> {
    (0..MORNINGS).flat_map(|day| day * 288..day * 288 + MORNING)
}

/// Records and publishes all slots, and writes the closed days.
fn make(url: &Path, home: &Path) {
    let mut store = Store::open(url, &key()).unwrap();
    let mut pools = pools();
    for n in mornings() {
        store.fill_until(slot(n)).unwrap();
        let (entries, changes) = recorded(&mut pools, n);
        store.append_slot_with(slot(n), &entries, &changes).unwrap();
    }
    let last = (DAYS - 1) * 288;
    store.fill_until(slot(last)).unwrap();
    store.append_slot(slot(last), &today(&mut pools, last)).unwrap();
    let folder = LogFolder::new(home.join("log"));
    folder.publish(store.reader()).unwrap();
    let days = DaysLog::open(folder, url, vec![key()]).unwrap();
    let written = std::iter::from_fn(|| days.write_next(store.reader(), |_, _| {}).unwrap());
    assert_eq!(written.count(), WRITTEN);
}

impl Scene {
    pub fn new() -> Self {
        let made = Kept::of("left-days", make).unwrap();
        let cluster = made.start().unwrap();
        let url = cluster.url(RECORDER, made.database());
        let mut pools = pools();
        for n in mornings() {
            recorded(&mut pools, n);
        }
        today(&mut pools, (DAYS - 1) * 288);
        let home = TempDir::new().unwrap();
        copy(&made.home(), home.path()).unwrap();
        fs::remove_dir_all(home.path().join("log/days")).unwrap();
        let text = config(url.to_str().unwrap(), "exitgap.key", "log");
        fs::write(home.path().join("exitgap.toml"), text).unwrap();
        write_key(&home.path().join("exitgap.key"), &key());
        Self { home, made, cluster, url, pools }
    }

    /// Appends a slot with two pools.
    pub fn append(&mut self, store: &mut Store, n: u32) {
        store.append_slot(slot(n), &today(&mut self.pools, n)).unwrap();
    }

    pub fn home(&self) -> &Path {
        self.home.path()
    }

    pub fn folder(&self) -> LogFolder {
        LogFolder::new(self.home.path().join("log"))
    }

    /// Writes the files of the closed days to the folder.
    pub fn write_days(&self) {
        copy(&self.made.home().join("log/days"), &self.folder().path().join("days")).unwrap();
    }

    /// A reader of the database alone.
    pub fn reader(&self) -> Reader {
        Reader::open(&self.url).unwrap()
    }

    /// A reader of the database and of the days that left it.
    pub fn with_days(&self) -> Reader {
        self.reader().with_days(self.folder())
    }

    /// The database's URL for the superuser.
    pub fn admin(&self) -> PathBuf {
        self.cluster.url("postgres", self.made.database())
    }

    pub fn sql(&self, sql: &str) -> String {
        self.cluster.sql(self.made.database(), sql)
    }

    pub fn sql_as(&self, role: &str, sql: &str) -> Result<String, String> {
        self.cluster.sql_as(role, self.made.database(), sql)
    }

    /// Executes SQL that no recorder may execute.
    pub fn damage(&self, sql: &str) {
        self.cluster.damage(self.made.database(), sql);
    }

    /// Runs `exitgap-server prune` with these arguments; returns the exit code and the output.
    pub fn prune(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let admin = self.admin();
        let all = [&["prune", "--as", admin.to_str().unwrap()], arguments].concat();
        let (code, out, said) = server(self.home.path(), &all);
        (code, out + &said)
    }

    pub fn snapshots(&self) -> Vec<(PoolId, Slot, SnapshotHash)> {
        let (reader, mut found) = (self.reader(), Vec::new());
        for pool in reader.pools().unwrap() {
            let page = reader.entries(&pool, slot(0), slot(DAYS * 288), 10_000).unwrap();
            for entry in page.entries {
                if let Outcome::Recorded(hash) = entry.outcome {
                    found.push((pool.id.clone(), entry.slot, hash));
                }
            }
        }
        found
    }
}
