//! A day whose snapshots are pruned from a server's database: the database's size with and without it, and the time to
//! read one snapshot in both cases.

use std::time::Instant;

use exitgap_core::ids::SnapshotHash;
use exitgap_core::series::Slot;
use exitgap_core::tlog::SignerKey;
use exitgap_store::days::{DaysLog, check_leaving, list_old_days};
use exitgap_store::{LogFolder, Outcome, Reader, Store};
use exitgap_tests::postgres::{Cluster, database_of};
use tempfile::TempDir;

use crate::BenchError;
use crate::clock::median;
use crate::effort::Effort;
use crate::evidence::{float, slot};
use crate::market::{BUSY_TICKS, BusyPool};
use crate::report::Report;

/// Pools of the day.
const POOLS: Effort<u16> = Effort::new(40, 2);

/// Number of days that stay.
const HOT_DAYS: u32 = 9;

/// Number of snapshots to read.
const READ: Effort<usize> = Effort::new(200, 4);

/// Adds `hot.*`.
pub fn measure(report: &mut Report) -> Result<(), BenchError> {
    let heavy = |number| BusyPool::real(number, BUSY_TICKS);
    let kinds: [(&str, &str, &dyn Fn(u16) -> BusyPool); 2] =
        [("weight", "pools of 1,200 ticks", &heavy), ("width", "pairs", &BusyPool::pair)];
    for (name, what, pool) in kinds {
        eprintln!(
            "hot: a day of {POOLS} {what}, which leaves a PostgreSQL database after {HOT_DAYS} more"
        );
        of_kind(report, name, pool)?;
    }
    Ok(())
}

fn of_kind(
    report: &mut Report,
    name: &str,
    pool: &dyn Fn(u16) -> BusyPool,
) -> Result<(), BenchError> {
    let (home, cluster) = (TempDir::new().map_err(failed)?, Cluster::start(&[]).map_err(failed)?);
    let (path, log) = (cluster.store(), LogFolder::new(home.path().join("log")));
    let database = database_of(&path).ok_or_else(|| failed("no database"))?.to_owned();
    let key = SignerKey::from_seed("exitgap.example/bench", [7; 32]).map_err(failed)?;
    let mut store = Store::create(&path, &key).map_err(failed)?;
    let mut market: Vec<BusyPool> = (0..POOLS.get()).map(pool).collect();
    for index in 0..Slot::PER_DAY {
        let slot = slot(index)?;
        let entries = market.iter_mut().map(|pool| pool.recorded(slot));
        let entries = entries.collect::<Result<Vec<_>, _>>()?;
        store.append_slot(slot, &entries).map_err(failed)?;
    }
    let sql = |sql: &str| cluster.sql_as("postgres", &database, sql).map_err(failed);
    let bytes = |tables: &str| -> Result<f64, BenchError> {
        // VACUUM must be a separate command.
        sql("VACUUM FULL")?;
        let found = sql(&format!(
            "SELECT sum(pg_total_relation_size(oid)) FROM pg_class \
             WHERE relnamespace = 'exitgap'::regnamespace AND relkind = 'r' AND relname {tables}"
        ))?;
        found.parse().map_err(failed)
    };
    let slots = float(u64::from(Slot::PER_DAY) * u64::from(POOLS.get()));
    let whole = bytes("NOT LIKE 'claim%'")? / slots;
    report.add(format!("hot.{name}_bytes_per_slot_pool"), whole);
    report.add(format!("hot.{name}_snapshot_bytes"), bytes("LIKE 'body_%'")? / slots);
    store.fill_until(slot((HOT_DAYS + 1) * Slot::PER_DAY + 1)?).map_err(failed)?;
    log.publish(store.reader()).map_err(failed)?;
    store.close().map_err(failed)?;

    let days = DaysLog::open(log.clone(), &path, vec![key]).map_err(failed)?;
    let reader = Reader::open(&path).map_err(failed)?;
    days.write_next(&reader, |_, _| {}).map_err(failed)?.ok_or_else(|| failed("no day"))?;
    let named = snapshots(&reader)?;
    report.add(format!("hot.{name}_read_ms"), read_ms(&reader, &named)?);
    let old = list_old_days(&reader, HOT_DAYS).map_err(failed)?;
    let day = old.first().ok_or_else(|| failed("no day is old"))?.day;
    check_leaving(&reader, &log, day, |_, _| {}).map_err(failed)?;
    let start = Instant::now();
    let bodies = reader.leave(&cluster.url("postgres", &database), day).map_err(failed)?;
    report.add(format!("hot.{name}_leave_ms"), start.elapsed().as_secs_f64() * 1e3);
    if bodies != u64::from(Slot::PER_DAY) * u64::from(POOLS.get()) {
        return Err(failed(format!("only {bodies} snapshots left")));
    }
    report.add(format!("hot.{name}_left_bytes"), bytes("LIKE 'left_%'")? / slots);
    let reader = reader.with_days(log);
    report.add(format!("hot.{name}_read_left_ms"), read_ms(&reader, &named)?);
    Ok(())
}

/// Hashes of snapshots from the whole day.
fn snapshots(reader: &Reader) -> Result<Vec<SnapshotHash>, BenchError> {
    let mut named = Vec::new();
    for pool in reader.pools().map_err(failed)? {
        let page = reader.entries(&pool, slot(0)?, slot(Slot::PER_DAY - 1)?, usize::MAX);
        let entries = page.map_err(failed)?.entries;
        named.extend(entries.iter().filter_map(|entry| match entry.outcome {
            Outcome::Recorded(hash) => Some(hash),
            Outcome::Missing(_) | Outcome::Retired => None,
        }));
    }
    let every = (named.len() / READ.get()).max(1);
    Ok(named.into_iter().step_by(every).collect())
}

fn read_ms(reader: &Reader, named: &[SnapshotHash]) -> Result<f64, BenchError> {
    let mut seconds = Vec::new();
    for hash in named {
        let start = Instant::now();
        reader.documents(*hash).map_err(failed)?.ok_or_else(|| failed("no such snapshot"))?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    Ok(median(seconds) * 1e3)
}

fn failed(error: impl std::fmt::Display) -> BenchError {
    BenchError::Evidence(error.to_string())
}
