//! Beyond one machine: a slot with as many pools as four chains have, and slots of busy pools; in a file, and on a
//! `PostgreSQL` primary whose commits wait for a standby, with uploads to S3-compatible storage. All of it runs on this
//! machine, with everything synced to disk.

use std::path::Path;
use std::time::Instant;

use exitgap_core::tlog::SignerKey;
use exitgap_server::bucket::Bucket;
use exitgap_store::{LogFolder, Store};
use exitgap_tests::faults::s3::bucket;
use exitgap_tests::faults::s3_server::Moto;
use exitgap_tests::postgres::Cluster;
use tempfile::TempDir;

use crate::BenchError;
use crate::clock::median;
use crate::effort::Effort;
use crate::evidence::float;
use crate::market::{BUSY_TICKS, BusyPool};
use crate::report::Report;
use crate::seal::{Times, database_bytes};

/// Number of two-reserve pools, and of their slots.
const WIDE: Effort<(u16, u32)> = Effort::new((40_000, 12), (50, 8));

/// Number of pools of 1,200 ticks, and of their slots.
const HEAVY: Effort<(u16, u32)> = Effort::new((1_000, 48), (5, 8));

/// Number of warm-up slots.
const WARMING: u32 = 2;

/// The tests' database clusters use small log files and a small log; these are Debian's sizes.
pub const SETTINGS: [&str; 3] =
    ["max_wal_size=1GB", "min_wal_size=80MB", "synchronous_standby_names=*"];

/// Number of recorders that alternate, each with as many of the slots.
const RECORDERS: u32 = 4;

/// Adds `seal.width_40000_*`, `seal.weight_1000_*`, `bucket.*` and the size of a server's store.
pub fn measure(report: &mut Report) -> Result<(), BenchError> {
    let heavy = |number| BusyPool::real(number, BUSY_TICKS);
    let kinds: [(&str, &str, _, &dyn Fn(u16) -> BusyPool); 2] = [
        ("width", "pairs", WIDE.get(), &BusyPool::pair),
        ("weight", "pools of 1,200 ticks", HEAVY.get(), &heavy),
    ];
    for (name, what, of, pool) in kinds {
        let (file, server) = (in_a_file(what, of, pool)?, on_a_server(what, of, pool, false)?);
        let claimed = on_a_server(what, of, pool, true)?;
        let pools = of.0;
        report.add(format!("seal.{name}_{pools}_ms"), server.ms);
        report.add(format!("seal.{name}_{pools}_first_ms"), server.first_ms);
        report.add(format!("seal.{name}_{pools}_warm_ms"), server.warm_ms);
        report.add(format!("seal.{name}_{pools}_claimed_ms"), claimed.ms);
        report.add(format!("seal.{name}_{pools}_file_ms"), file.ms);
        report.add(format!("bucket.{name}_{pools}_ms"), server.bucket_ms);
        report.add(format!("pg.{name}_bytes_per_slot_pool"), server.bytes);
    }
    Ok(())
}

/// The time for a slot, and the size of a pool's slot.
struct Sealed {
    /// A slot of a recorder that also sealed the previous one.
    ms: f64,
    /// A recorder's first slot, including opening the store.
    first_ms: f64,
    /// The part of that which is done before the slot is due.
    warm_ms: f64,
    /// Uploading a slot to the bucket, if there is one.
    bucket_ms: f64,
    bytes: f64,
}

fn in_a_file(
    what: &str,
    of: (u16, u32),
    pool: impl Fn(u16) -> BusyPool,
) -> Result<Sealed, BenchError> {
    eprintln!("scale: {} slots of {} {what} in a file", of.1, of.0);
    let folder = TempDir::new().map_err(failed)?;
    sealed(&folder.path().join("series.db"), &folder, None, of, pool)
}

fn on_a_server(
    what: &str,
    of: (u16, u32),
    pool: impl Fn(u16) -> BusyPool,
    claims: bool,
) -> Result<Sealed, BenchError> {
    eprintln!(
        "scale: {} slots of {} {what} on a PostgreSQL primary with a standby, and into a bucket{}",
        of.1,
        of.0,
        if claims { ", in which they are claimed" } else { "" }
    );
    let folder = TempDir::new().map_err(failed)?;
    let primary = Cluster::start(&SETTINGS).map_err(failed)?;
    let standby = primary.standby(&SETTINGS).map_err(failed)?;
    let moto = Moto::start().map_err(failed)?;
    let bucket = bucket(moto.address(), "log").map_err(failed)?;
    let sealed = sealed(&primary.store(), &folder, Some((&bucket, claims)), of, pool)?;
    if primary.waited_for() == 0 {
        return Err(failed("the primary did not wait for its standby"));
    }
    drop((primary, standby));
    Ok(sealed)
}

/// Recorders alternate, and each knows only what it reads from the store.
fn sealed(
    path: &Path,
    folder: &TempDir,
    bucket: Option<(&Bucket, bool)>,
    (pools, slots): (u16, u32),
    pool: impl Fn(u16) -> BusyPool,
) -> Result<Sealed, BenchError> {
    let (key, log) = (key()?, LogFolder::new(folder.path().join("log")));
    let mut market: Vec<BusyPool> = (0..pools).map(pool).collect();
    let mut store = Store::create(path, &key).map_err(failed)?;
    Times::default().of(&mut store, &log, &mut market, 0..WARMING)?;
    let before = database_bytes(&store)?;
    store.close().map_err(failed)?;
    let (mut times, mut bucket_ms) = (Times::default(), Vec::new());
    let (mut first_ms, mut warm_ms) = (Vec::new(), Vec::new());
    let mut after = before;
    for turn in 0..RECORDERS {
        let (start, mut first) = (Instant::now(), Times::default());
        let mut store = Store::open(path, &key).map_err(failed)?;
        store.warm().map_err(failed)?;
        if let Some((bucket, true)) = bucket {
            store.claim_in(bucket.claims());
        }
        let opened_ms = start.elapsed().as_secs_f64() * 1e3;
        warm_ms.push(opened_ms);
        for n in 0..slots / RECORDERS {
            let slot = WARMING + turn * (slots / RECORDERS) + n;
            let of = if n == 0 { &mut first } else { &mut times };
            of.of(&mut store, &log, &mut market, slot..slot + 1)?;
            if let Some((bucket, _)) = bucket {
                let start = Instant::now();
                bucket.upload_folder(&log, path).map_err(failed)?;
                bucket_ms.push(start.elapsed().as_secs_f64() * 1e3);
            }
        }
        first_ms.push(opened_ms + median(first.seal_ms));
        after = database_bytes(&store)?;
        store.close().map_err(failed)?;
    }
    let bytes = float(after.saturating_sub(before)) / (f64::from(pools) * f64::from(slots));
    let (first_ms, warm_ms) = (median(first_ms), median(warm_ms));
    eprintln!(
        "scale: {times}; a recorder's first {first_ms:.0} ms, {warm_ms:.0} of them before it is due; {bytes:.0} bytes a pool and slot in the store"
    );
    let bucket_ms = if bucket_ms.is_empty() { 0.0 } else { median(bucket_ms) };
    Ok(Sealed { ms: median(times.seal_ms), first_ms, warm_ms, bucket_ms, bytes })
}

fn key() -> Result<SignerKey, BenchError> {
    SignerKey::from_seed("exitgap.example/bench", [7; 32]).map_err(failed)
}

fn failed(error: impl std::fmt::Display) -> BenchError {
    BenchError::Evidence(error.to_string())
}
