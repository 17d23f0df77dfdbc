//! The setups of the store tests, which the fault harness uses, too.

pub use exitgap_tests::faults::scene::{BusyPool, key, slot};

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use exitgap_core::U256;
use exitgap_core::pools::{FeeRate, PoolState, Solidly};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::{Observation, Snapshot};
use exitgap_store::NewEntry;
use exitgap_tests::postgres;

/// The variable in which `cargo xtask test` names the server for the second run of the store tests.
const ON_A_SERVER: &str = "EXITGAP_TEST_STORE";

/// Whether the stores are on a server instead of in files.
pub fn on_a_server() -> bool {
    std::env::var_os(ON_A_SERVER).is_some_and(|store| store == "postgresql")
}

/// A test's store with this name: a file in its folder, or a database of the private server.
pub fn store_in(folder: &Path, name: &str) -> PathBuf {
    static PLACES: Mutex<Option<HashMap<PathBuf, PathBuf>>> = Mutex::new(None);
    let file = folder.join(name);
    if !on_a_server() {
        return file;
    }
    let mut places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
    let places = places.get_or_insert_default();
    places.entry(file).or_insert_with(|| postgres::shared().store()).clone()
}

/// A separate database for a test, in either case.
pub struct Place {
    _folder: tempfile::TempDir,
    pub path: PathBuf,
}

impl Place {
    pub fn new(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { path: store_in(folder.path(), name), _folder: folder }
    }
}

/// Copies a store that no process has open to a location of [`store_in`], like a backup.
pub fn copy(from: &Path, to: &Path) {
    match (postgres::database_of(from), postgres::database_of(to)) {
        (Some(from), Some(to)) => postgres::shared().copy(from, to),
        _ => drop(std::fs::copy(from, to).unwrap()),
    }
}

/// Changes a store in ways that no recorder can.
pub fn tamper(place: &Path, sql: &str) {
    if let Some(database) = postgres::database_of(place) {
        postgres::shared().damage(database, sql);
    } else {
        rusqlite::Connection::open(place).unwrap().execute_batch(sql).unwrap();
    }
}

/// A busy pool whose liquidity has no ranges: a volatile pool of Aerodrome's kind.
pub struct OtherKind(BusyPool);

impl OtherKind {
    pub fn new(number: u8) -> Self {
        Self(BusyPool::new(number, 2))
    }

    /// An entry with the pool's snapshot.
    pub fn recorded(&mut self, slot: Slot) -> NewEntry {
        let entry = self.0.recorded(slot);
        let drawn = entry.reading.unwrap();
        let drawn = drawn.observation();
        let fee = FeeRate { numerator: 30, denominator: 10_000 };
        let reserve = U256::from(10_u64.pow(18));
        let decimals = [self.0.decimals; 2];
        let state = Solidly::new(false, [reserve; 2], decimals, fee).unwrap();
        let observation = Observation::new(
            drawn.pool().clone(),
            drawn.chain(),
            drawn.block(),
            drawn.tokens().clone(),
            PoolState::Solidly(state),
            drawn.oracles().to_vec(),
            Vec::new(),
        );
        let snapshot = Snapshot::new(slot, observation.unwrap()).unwrap();
        NewEntry { reading: Ok(snapshot), ..entry }
    }
}

/// The code of a known reason.
pub fn code_of(reason: MissingReason) -> &'static str {
    const KNOWN: &[MissingReason] = &MissingReason::ALL;
    KNOWN.iter().find(|known| **known == reason).expect("it is a known one").code()
}
