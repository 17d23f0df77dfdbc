//! A generated store of many pools and days that were **never recorded**, for measuring answers.
//!
//! Its log is `generated.example/bench`, its pools are on the chain `generated`, marked as a preview, and it exists
//! only in a temporary folder. The store itself writes the newest slots, from snapshots, with bodies. The earlier slots
//! are only rows: those of one pool are computed as the store would from its depths, and the others are scaled copies;
//! hashes of data that does not exist are random. The last such slot has correct heads, leaf, tree and checkpoint, so
//! the store can continue from it normally.

use std::path::{Path, PathBuf};

use exitgap_core::evidence::{Commits, Head, HeadEntry, SlotLeaf};
use exitgap_core::ids::{HeadHash, PoolId, SnapshotHash};
use exitgap_core::series::Slot;
use exitgap_core::tlog::{Checkpoint, Hash, Origin, SignerKey, node_hash, root};
use exitgap_store::Store;
use rusqlite::{Connection, params};

use super::failed;
use super::template::Template;
use crate::BenchError;
use crate::market::BusyPool;

/// The chain of its pools.
pub const CHAIN: &str = "generated";

/// The dimensions of the generated data.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// Number of pools.
    pub pools: u16,
    /// Number of positions per pool, each with two ticks of its own.
    pub positions: i32,
    /// Number of days.
    pub days: u32,
    /// Number of newest slots that have bodies.
    pub with_bodies: u32,
}

/// A generated store.
pub struct Generated {
    /// The database.
    pub path: PathBuf,
    /// Its pools.
    pub pools: Vec<PoolId>,
    /// Its newest slot.
    pub last: Slot,
}

/// Generates a store in `folder`.
pub fn generate(folder: &Path, extent: Extent) -> Result<Generated, BenchError> {
    let path = folder.join("generated.db");
    let mut market: Vec<BusyPool> =
        (0..extent.pools).map(|number| BusyPool::of(CHAIN, number, extent.positions)).collect();
    let mut store = Store::create(&path, &key()?).map_err(failed)?;
    append(&mut store, &mut market, Slot::FIRST)?;
    store.close().map_err(failed)?;

    let slots = extent.days * Slot::PER_DAY;
    let first_body = slots.saturating_sub(extent.with_bodies).max(1);
    if first_body > 1 {
        eprintln!("http: generating {} slots of {} pools as rows", first_body - 1, extent.pools);
        rows(&path, first_body - 1)?;
    }
    eprintln!("http: writing {} slots with bodies", slots - first_body);
    let mut store = Store::open(&path, &key()?).map_err(failed)?;
    for index in first_body..slots {
        append(&mut store, &mut market, slot(index)?)?;
    }
    store.close().map_err(failed)?;
    let pools = market.into_iter().map(|pool| pool.id).collect();
    Ok(Generated { path, pools, last: slot(slots - 1)? })
}

/// The key of generated logs, which is public.
pub fn key() -> Result<SignerKey, BenchError> {
    SignerKey::from_seed("generated.example/bench", [7; 32]).map_err(failed)
}

/// The slot of this index in a series.
pub fn slot(index: u32) -> Result<Slot, BenchError> {
    Slot::new(u64::from(Slot::FIRST.number() + index)).map_err(failed)
}

/// Makes the store write a slot of the market.
pub fn append(store: &mut Store, market: &mut [BusyPool], at: Slot) -> Result<(), BenchError> {
    let entries = market.iter_mut().map(|pool| pool.recorded(at));
    let entries = entries.collect::<Result<Vec<_>, _>>()?;
    store.append_slot(at, &entries).map_err(failed).map(|_| ())
}

/// Writes the rows of the slots from the second one up to index `last`, with the database's guards removed and then
/// restored.
fn rows(path: &Path, last: u32) -> Result<(), BenchError> {
    let mut connection = Connection::open(path).map_err(failed)?;
    connection
        .execute_batch(
            "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
             PRAGMA foreign_keys = OFF; PRAGMA cache_size = -200000;",
        )
        .map_err(failed)?;
    let guards = guards(&connection).map_err(failed)?;
    for (name, _) in &guards {
        connection.execute_batch(&format!("DROP TRIGGER {name}")).map_err(failed)?;
    }
    Template::new(last).write(&mut connection).map_err(failed)?;
    let pools = pools(&connection).map_err(failed)?;
    for (number, _) in pools.iter().skip(1) {
        copy(&mut connection, *number).map_err(failed)?;
    }
    let leaf = last_heads(&connection, &pools, last)?;
    log(&mut connection, leaf, last)?;
    for (_, sql) in &guards {
        connection.execute_batch(sql).map_err(failed)?;
    }
    connection.execute_batch("PRAGMA journal_mode = WAL").map_err(failed)
}

fn guards(connection: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
    let sql = "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'";
    let mut statement = connection.prepare(sql)?;
    statement.query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// Pools' numbers and names, ordered by name.
fn pools(connection: &Connection) -> rusqlite::Result<Vec<(i64, String)>> {
    let mut statement = connection.prepare("SELECT pool_no, pool_id FROM pool ORDER BY pool_id")?;
    statement.query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// Copies the first pool's rows to another pool: depths scaled, gaps and bases shifted, except codes for missing gaps.
fn copy(connection: &mut Connection, pool_no: i64) -> rusqlite::Result<()> {
    let (percent, shift) = (50 + pool_no % 100, pool_no * 7);
    let transaction = connection.transaction()?;
    for sql in [
        "INSERT INTO entry SELECT ?1, slot, iif(snapshot_sha256 IS NULL, NULL, randomblob(32)),
            missing_reason, recorded_count, missing_run_slots,
            depth0_usd * ?2 / 100, depth1_usd * ?2 / 100,
            lowest0_7d_usd * ?2 / 100, lowest1_7d_usd * ?2 / 100, method_version, NULL, NULL, randomblob(32)
         FROM entry WHERE pool_no = 1 AND slot > 5957856 AND ?3 IS NOT NULL ORDER BY slot",
        "INSERT INTO figures SELECT ?1, slot, oracle_stale,
            iif(gap0_1k < 1 << 62, gap0_1k + ?3, gap0_1k),
            iif(gap0_10k < 1 << 62, gap0_10k + ?3, gap0_10k),
            iif(gap0_100k < 1 << 62, gap0_100k + ?3, gap0_100k), gap0_1m, basis0 + ?3, book0_usd * ?2 / 100,
            iif(gap1_1k < 1 << 62, gap1_1k + ?3, gap1_1k),
            iif(gap1_10k < 1 << 62, gap1_10k + ?3, gap1_10k),
            iif(gap1_100k < 1 << 62, gap1_100k + ?3, gap1_100k), gap1_1m, basis1 + ?3, book1_usd * ?2 / 100,
            missing_7d_slots,
            median0_7d_usd * ?2 / 100, median1_7d_usd * ?2 / 100, lowest0_7d_back, lowest1_7d_back
         FROM figures WHERE pool_no = 1 AND slot > 5957856 ORDER BY slot",
        "INSERT OR REPLACE INTO day SELECT day, ?1, recorded_slots, missing_slots, retracted_slots,
            last_at, lowest0_usd * ?2 / 100, lowest0_at,
            iif(last0_1k < 1 << 62, last0_1k + ?3, last0_1k), worst0_1k + ?3, worst0_1k_at,
            refused0_1k_slots, least0_1k_micros, least0_1k_at,
            iif(last0_10k < 1 << 62, last0_10k + ?3, last0_10k), worst0_10k + ?3, worst0_10k_at,
            refused0_10k_slots, least0_10k_micros, least0_10k_at,
            iif(last0_100k < 1 << 62, last0_100k + ?3, last0_100k), worst0_100k + ?3, worst0_100k_at,
            refused0_100k_slots, least0_100k_micros, least0_100k_at,
            last0_1m, worst0_1m, worst0_1m_at,
            refused0_1m_slots, least0_1m_micros, least0_1m_at,
            lowest1_usd * ?2 / 100, lowest1_at,
            iif(last1_1k < 1 << 62, last1_1k + ?3, last1_1k), worst1_1k + ?3, worst1_1k_at,
            refused1_1k_slots, least1_1k_micros, least1_1k_at,
            iif(last1_10k < 1 << 62, last1_10k + ?3, last1_10k), worst1_10k + ?3, worst1_10k_at,
            refused1_10k_slots, least1_10k_micros, least1_10k_at,
            iif(last1_100k < 1 << 62, last1_100k + ?3, last1_100k), worst1_100k + ?3, worst1_100k_at,
            refused1_100k_slots, least1_100k_micros, least1_100k_at,
            last1_1m, worst1_1m, worst1_1m_at,
            refused1_1m_slots, least1_1m_micros, least1_1m_at,
            figures_sha256
         FROM day WHERE pool_no = 1 ORDER BY day",
    ] {
        transaction.execute(sql, params![pool_no, percent, shift])?;
    }
    transaction.commit()
}

/// Computes correct heads for the last slot, and returns the slot's leaf.
fn last_heads(
    connection: &Connection,
    pools: &[(i64, String)],
    last: u32,
) -> Result<SlotLeaf, BenchError> {
    let at = slot(last)?;
    let select = "SELECT snapshot_sha256, recorded_count, depth0_usd, depth1_usd, lowest0_7d_usd,
        lowest1_7d_usd, method_version, (
            SELECT before.head_sha256 FROM entry AS before
            WHERE before.pool_no = ?1 AND before.slot = ?2 - 1
        ) FROM entry WHERE pool_no = ?1 AND slot = ?2";
    let update = "UPDATE entry SET head_sha256 = ?3 WHERE pool_no = ?1 AND slot = ?2";
    let mut hashes = Vec::with_capacity(pools.len());
    for (number, name) in pools {
        let keys = params![number, at.number()];
        let head = connection.query_row(select, keys, |row| {
            let depth = |n| row.get::<_, Option<i64>>(n).map(|depth| depth.map(i64::unsigned_abs));
            Ok((
                HeadEntry::Recorded {
                    snapshot: SnapshotHash(row.get(0)?),
                    depth_usd: [depth(2)?, depth(3)?],
                },
                row.get(1)?,
                [depth(4)?, depth(5)?],
                row.get(6)?,
                HeadHash(row.get(7)?),
            ))
        });
        let (entry, recorded_count, lowest_depth_7d_usd, method_version, prev) =
            head.map_err(failed)?;
        let head = Head {
            pool: name.parse().map_err(failed)?,
            slot: at,
            height: last,
            recorded_count,
            prev: Some(prev),
            entry,
            lowest_depth_7d_usd,
            method_version,
            retracts: Vec::new(),
            commits: Commits::default(),
        };
        let canonical = head.to_canonical().map_err(failed)?;
        let hash = Head::hash_of(&canonical).0;
        connection.execute(update, params![number, at.number(), hash]).map_err(failed)?;
        hashes.push(Head::leaf_of(&canonical));
    }
    let pools = u32::try_from(pools.len()).unwrap_or(u32::MAX);
    Ok(SlotLeaf { slot: at, pools, root: root(&hashes), commits: Commits::default() })
}

/// Seals the slots: leaves, tree nodes, and checkpoints signed with the key.
fn log(connection: &mut Connection, last_leaf: SlotLeaf, last: u32) -> Result<(), BenchError> {
    let origin = Origin::new(key()?.verifier().name(), Slot::FIRST).map_err(failed)?;
    let signer = key()?.with_name(&origin.to_string()).map_err(failed)?;
    let first: [u8; 32] = connection
        .query_row("SELECT sha256 FROM log_node WHERE level = 0 AND node_index = 0", (), |row| {
            row.get(0)
        })
        .map_err(failed)?;
    let mut waiting: Vec<Option<Hash>> = vec![Some(Hash(first))];
    let transaction = connection.transaction().map_err(failed)?;
    for index in 1..=last {
        let leaf = if index == last {
            last_leaf.clone()
        } else {
            let mut made_up = [0x9e; 32];
            made_up[..4].copy_from_slice(&index.to_be_bytes());
            SlotLeaf { slot: slot(index)?, root: Hash(made_up), ..last_leaf.clone() }
        };
        let canonical = leaf.to_canonical().map_err(failed)?;
        let (mut hash, mut node, mut level) = (SlotLeaf::leaf_of(&canonical), index, 0);
        loop {
            transaction
                .prepare_cached("INSERT INTO log_node VALUES (?1, ?2, ?3)")
                .and_then(|mut insert| {
                    insert.execute(params![u32::try_from(level).unwrap_or(0), node, hash.0])
                })
                .map_err(failed)?;
            if waiting.len() == level {
                waiting.push(None);
            }
            let Some(left) = waiting[level].take() else {
                waiting[level] = Some(hash);
                break;
            };
            (hash, node, level) = (node_hash(left, hash), node >> 1, level + 1);
        }
        let mut lower = waiting.iter().flatten();
        let lowest = lower.next().copied().unwrap_or(Hash([0; 32]));
        let root = lower.fold(lowest, |right, left| node_hash(*left, right));
        let (origin, size) = (origin.clone(), u64::from(index) + 1);
        let checkpoint = Checkpoint { origin, size, root, extensions: Vec::new() };
        let note = signer.sign(&checkpoint.to_text()).map_err(failed)?;
        transaction
            .prepare_cached("INSERT INTO sealed_slot VALUES (?1, ?2, ?3, ?4)")
            .and_then(|mut insert| {
                insert.execute(params![leaf.slot.number(), leaf.pools, leaf.root.0, note])
            })
            .map_err(failed)?;
    }
    transaction.commit().map_err(failed)
}
