//! Past one machine: a slot of as many pools as four chains have, and slots of busy ones, in a file and on a
//! `PostgreSQL` primary whose commits wait for a standby. All of it on this machine, everything synced.

use exitgap_core::tlog::SignerKey;
use exitgap_store::{LogFolder, Store};
use exitgap_tests::postgres::Cluster;
use tempfile::TempDir;

use crate::BenchError;
use crate::clock::median;
use crate::evidence::float;
use crate::market::{BUSY_TICKS, BusyPool};
use crate::report::Report;
use crate::seal::{Times, database_bytes};

/// Pools of two reserves, and slots of them.
const WIDE: (u16, u32) = (40_000, 12);

/// Pools of 1,200 ticks, and slots of them.
const HEAVY: (u16, u32) = (1_000, 48);

/// Slots before measuring.
const WARMING: u32 = 2;

/// A cluster of the tests has small files for its log, and by itself as small a log: here both are Debian's sizes.
const SETTINGS: [&str; 3] =
    ["max_wal_size=1GB", "min_wal_size=80MB", "synchronous_standby_names=*"];

/// Adds `seal.width_40000_ms`, `seal.weight_1000_ms`, the same of a file, and what a server's store weighs.
pub fn measure(report: &mut Report) -> Result<(), BenchError> {
    let wide = BusyPool::pair;
    let heavy = |number| BusyPool::real(number, BUSY_TICKS);
    let file = in_a_file("pairs", WIDE, wide)?;
    let server = on_a_server("pairs", WIDE, wide)?;
    report.add("seal.width_40000_ms", server.ms);
    report.add("seal.width_40000_file_ms", file.ms);
    report.add("pg.width_bytes_per_slot_pool", server.bytes);
    let file = in_a_file("pools of 1,200 ticks", HEAVY, heavy)?;
    let server = on_a_server("pools of 1,200 ticks", HEAVY, heavy)?;
    report.add("seal.weight_1000_ms", server.ms);
    report.add("seal.weight_1000_file_ms", file.ms);
    report.add("pg.weight_bytes_per_slot_pool", server.bytes);
    Ok(())
}

/// What a slot took, and what a pool's slot weighs.
struct Sealed {
    ms: f64,
    bytes: f64,
}

fn in_a_file(
    what: &str,
    of: (u16, u32),
    pool: impl Fn(u16) -> BusyPool,
) -> Result<Sealed, BenchError> {
    eprintln!("scale: {} slots of {} {what} in a file", of.1, of.0);
    let folder = TempDir::new().map_err(failed)?;
    let store = Store::create(folder.path().join("series.db"), &key()?).map_err(failed)?;
    sealed(store, &folder, of, pool)
}

fn on_a_server(
    what: &str,
    of: (u16, u32),
    pool: impl Fn(u16) -> BusyPool,
) -> Result<Sealed, BenchError> {
    eprintln!("scale: {} slots of {} {what} on a PostgreSQL primary with a standby", of.1, of.0);
    let folder = TempDir::new().map_err(failed)?;
    let primary = Cluster::start(&SETTINGS).map_err(failed)?;
    let standby = primary.standby(&SETTINGS).map_err(failed)?;
    let store = Store::create(primary.store(), &key()?).map_err(failed)?;
    let sealed = sealed(store, &folder, of, pool)?;
    if primary.waited_for() == 0 {
        return Err(failed("the primary did not wait for its standby"));
    }
    drop((primary, standby));
    Ok(sealed)
}

fn sealed(
    mut store: Store,
    folder: &TempDir,
    (pools, slots): (u16, u32),
    pool: impl Fn(u16) -> BusyPool,
) -> Result<Sealed, BenchError> {
    let log = LogFolder::new(folder.path().join("log"));
    let mut market: Vec<BusyPool> = (0..pools).map(pool).collect();
    Times::default().of(&mut store, &log, &mut market, 0..WARMING)?;
    let before = database_bytes(&store)?;
    let mut times = Times::default();
    times.of(&mut store, &log, &mut market, WARMING..WARMING + slots)?;
    let grew = database_bytes(&store)?.saturating_sub(before);
    let bytes = float(grew) / (f64::from(pools) * f64::from(slots));
    eprintln!("scale: {times}; {bytes:.0} bytes a pool and slot in the store");
    store.close().map_err(failed)?;
    Ok(Sealed { ms: median(times.seal_ms), bytes })
}

fn key() -> Result<SignerKey, BenchError> {
    SignerKey::from_seed("exitgap.example/bench", [7; 32]).map_err(failed)
}

fn failed(error: impl std::fmt::Display) -> BenchError {
    BenchError::Evidence(error.to_string())
}
