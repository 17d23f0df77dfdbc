//! Writing a store: the one recorder's part.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use exitgap_core::ids::{PoolId, SnapshotHash};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::Snapshot;
use rusqlite::{Transaction, TransactionBehavior, named_params};

use crate::body::{self, Dictionaries, Record};
use crate::error::{Doing, StoreError};
use crate::lock::Lock;
use crate::model::{Appended, NewEntry, Outcome, Pool, base_token};
use crate::reader::{Reader, unpack};
use crate::{schema, sql};

/// The most entries of one transaction that fills a pause: it bounds memory, the
/// write-ahead log and what a kill undoes.
const MAX_FILLED_ENTRIES: usize = 20_000;

/// A store opened for writing, by the only process that may. Dropping it releases the
/// lock; so does the kernel when the process ends.
#[derive(Debug)]
pub struct Store {
    reader: Reader,
    /// What each pool's next body may refer to, by the pool's number.
    dictionaries: HashMap<i64, Dictionaries>,
    _lock: Lock,
}

/// A snapshot that is ready to be written.
struct Body {
    hash: SnapshotHash,
    canonical: Vec<u8>,
    zstd: Vec<u8>,
    level: u8,
    /// The body it refers to; `None`: it is a key record.
    dictionary_body_no: Option<i64>,
}

/// An entry that was checked and named.
struct Checked<'a> {
    entry: &'a NewEntry,
    outcome: Outcome,
    /// Canonical bytes, until they are compressed; empty where missing.
    canonical: Vec<u8>,
}

impl Store {
    /// Opens the store at `path` for writing and takes its lock.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref();
        if !path.exists() {
            return Err(StoreError::NotFound { path: path.to_owned() });
        }
        let lock = Lock::take(path)?;
        Ok(Self::with(schema::open_writer(path)?, lock))
    }

    /// Creates a store at `path`, where no file may be (but an empty database, which an
    /// interrupted creation leaves), and takes its lock.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref();
        let lock = Lock::take(path)?;
        Ok(Self::with(schema::create(path)?, lock))
    }

    fn with(connection: rusqlite::Connection, lock: Lock) -> Self {
        Self { reader: Reader { connection }, dictionaries: HashMap::new(), _lock: lock }
    }

    /// Reads what is in the store.
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// Writes a slot: one entry for every pool of the store and for any new pool, which
    /// begins with it. A store's slots follow each other: slots between the last and this
    /// one are filled first with `recorder_down`.
    ///
    /// Giving a slot that is in the store again is accepted if all its entries are the
    /// same, and refused ([`StoreError::EntryDiffers`]) otherwise.
    ///
    /// # Order of writes, and what a crash leaves
    ///
    /// 1. Everything is checked, hashed and compressed. Nothing was written so far.
    /// 2. The pause since the last slot is filled, at most 20,000 entries per
    ///    transaction. A crash leaves whole slots; the next call goes on after them.
    /// 3. One transaction writes new pools, bodies, entries and, last, the row that seals
    ///    the slot. Its commit waits until the disk has it. A crash before leaves nothing
    ///    of the slot; a crash after leaves all of it.
    /// 4. An error from a commit ([`StoreError::CommitUnknown`]) means that either may be
    ///    the case. Opening the store anew and giving the slot again settles it.
    pub fn append_slot(
        &mut self,
        slot: Slot,
        entries: &[NewEntry],
    ) -> Result<Appended, StoreError> {
        let mut checked = check_entries(slot, entries)?;
        if let Some((first, last)) = self.reader.slots()? {
            if slot < first {
                return Err(StoreError::BeforeFirstSlot { first, found: slot });
            }
            if slot <= last {
                self.compare(slot, &checked)?;
                return Ok(Appended { written: false, filled_slots: 0 });
            }
        }
        let pools = self.reader.pools()?;
        if let Some(pool) = pools.iter().find(|pool| !checked.contains_key(&pool.id)) {
            return Err(StoreError::PoolWithoutEntry { slot, pool: pool.id.clone() });
        }
        let known: HashMap<&PoolId, &Pool> = pools.iter().map(|pool| (&pool.id, pool)).collect();
        let mut bodies = Vec::with_capacity(checked.len());
        for (id, checked) in &mut checked {
            bodies.push(self.prepare(slot, known.get(id).copied(), checked)?);
        }
        let filled_slots = self.fill_until(slot)?;
        let result = self.write(slot, &known, &checked, bodies);
        if result.is_err() {
            // Bodies that were counted on may not be there.
            self.dictionaries.clear();
        }
        result.map(|()| Appended { written: true, filled_slots })
    }

    /// Fills the slots after the store's last up to and without `until` with missing
    /// entries, `recorder_down`, and returns how many slots that were. A store without
    /// slots stays as it is. In transactions of at most 20,000 entries.
    pub fn fill_until(&mut self, until: Slot) -> Result<u32, StoreError> {
        let Some((_, last)) = self.reader.slots()? else { return Ok(0) };
        let pools = self.reader.pools()?;
        let slots_at_once = (MAX_FILLED_ENTRIES / pools.len().max(1)).max(1);
        let missing = Outcome::Missing(MissingReason::RecorderDown);
        let mut next = last.next();
        let mut filled = 0;
        while let Some(from) = next.filter(|next| *next < until) {
            let transaction = self.begin()?;
            let mut last_filled = from;
            for _ in 0..slots_at_once {
                let Some(slot) = next.filter(|next| *next < until) else { break };
                for pool in &pools {
                    insert_entry(&transaction, pool.number, slot, missing)?;
                }
                seal(&transaction, slot, pools.len())?;
                (last_filled, next, filled) = (slot, slot.next(), filled + 1);
            }
            commit(transaction, last_filled)?;
        }
        Ok(filled)
    }

    fn begin(&mut self) -> Result<Transaction<'_>, StoreError> {
        self.reader
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .doing("beginning to write")
    }

    /// Requires that a sealed slot holds exactly these entries.
    fn compare(
        &self,
        slot: Slot,
        checked: &BTreeMap<&PoolId, Checked<'_>>,
    ) -> Result<(), StoreError> {
        for (id, checked) in checked {
            let pool = self.reader.pool(id)?;
            let entry = match &pool {
                Some(pool) => self.reader.entry(pool, slot)?,
                None => None,
            };
            let (pool, offered) = ((*id).clone(), checked.outcome);
            match entry.map(|entry| entry.outcome) {
                Some(recorded) if recorded == offered => {}
                Some(recorded) => {
                    return Err(StoreError::EntryDiffers { slot, pool, recorded, offered });
                }
                None => return Err(StoreError::PoolNotInSlot { slot, pool }),
            }
        }
        let pools = self.reader.pools()?;
        let left_out = pools
            .into_iter()
            .find(|pool| pool.first_slot <= slot && !checked.contains_key(&pool.id));
        match left_out {
            Some(pool) => Err(StoreError::PoolWithoutEntry { slot, pool: pool.id }),
            None => Ok(()),
        }
    }

    /// Compresses the snapshot, where there is one.
    fn prepare(
        &mut self,
        slot: Slot,
        pool: Option<&Pool>,
        checked: &mut Checked<'_>,
    ) -> Result<Option<Body>, StoreError> {
        let Outcome::Recorded(hash) = checked.outcome else { return Ok(None) };
        let (level, dictionary) = match pool {
            Some(pool) => self.dictionaries(pool)?.choose(slot),
            None => (0, None),
        };
        let dictionary_body_no = dictionary.map(|record| record.body_no);
        let dictionary = dictionary.map(|record| record.canonical.as_slice());
        let zstd = body::compress(&checked.canonical, dictionary)
            .map_err(|source| StoreError::Compress { pool: checked.entry.pool.clone(), source })?;
        let canonical = std::mem::take(&mut checked.canonical);
        Ok(Some(Body { hash, canonical, zstd, level, dictionary_body_no }))
    }

    /// What the pool's next body may refer to, read back after a restart.
    fn dictionaries(&mut self, pool: &Pool) -> Result<&Dictionaries, StoreError> {
        let stored = match self.dictionaries.entry(pool.number) {
            Entry::Occupied(kept) => return Ok(kept.into_mut()),
            Entry::Vacant(vacant) => vacant.insert(Dictionaries::default()),
        };
        let latest = self.reader.latest(pool, None)?;
        if let Some((_, hash)) = latest.and_then(|latest| latest.snapshot) {
            let chain = self.reader.chain(hash);
            let unpacked = chain.and_then(|chain| Ok((unpack(&chain)?, chain)));
            let (unpacked, chain) = match unpacked {
                Ok(read) => read,
                // What is damaged is not built upon: the next body stands alone.
                Err(StoreError::Corrupt { .. }) => return Ok(stored),
                Err(error) => return Err(error),
            };
            for (row, canonical) in chain.iter().zip(unpacked) {
                let Ok(snapshot) = Snapshot::from_canonical(&canonical) else { break };
                let (body_no, level, slot) = (row.body_no, row.level, snapshot.slot());
                stored.add(Record { body_no, level, slot, canonical });
            }
        }
        Ok(stored)
    }

    /// The one transaction of a slot.
    fn write(
        &mut self,
        slot: Slot,
        known: &HashMap<&PoolId, &Pool>,
        checked: &BTreeMap<&PoolId, Checked<'_>>,
        bodies: Vec<Option<Body>>,
    ) -> Result<(), StoreError> {
        let mut written = Vec::new();
        let transaction = self.begin()?;
        for ((id, checked), body) in checked.iter().zip(bodies) {
            let pool_no = match known.get(id) {
                Some(pool) => {
                    keep_default_base(&transaction, pool, checked.entry)?;
                    pool.number
                }
                None => insert_pool(&transaction, slot, checked.entry)?,
            };
            if let Some(body) = body {
                let body_no = insert_body(&transaction, &body)?;
                let (level, canonical) = (body.level, body.canonical);
                written.push((pool_no, Record { body_no, level, slot, canonical }));
            }
            insert_entry(&transaction, pool_no, slot, checked.outcome)?;
        }
        seal(&transaction, slot, checked.len())?;
        commit(transaction, slot)?;
        for (pool_no, record) in written {
            self.dictionaries.entry(pool_no).or_default().add(record);
        }
        Ok(())
    }
}

/// Checks a slot's entries against each other and the slot, and names their snapshots.
fn check_entries(
    slot: Slot,
    entries: &[NewEntry],
) -> Result<BTreeMap<&PoolId, Checked<'_>>, StoreError> {
    if entries.is_empty() {
        return Err(StoreError::NoEntries { slot });
    }
    let mut checked = BTreeMap::new();
    for entry in entries {
        let (outcome, canonical) = match &entry.reading {
            Err(reason) => (Outcome::Missing(*reason), Vec::new()),
            Ok(snapshot) => {
                let canonical = check_snapshot(slot, &entry.pool, snapshot)?;
                (Outcome::Recorded(Snapshot::hash_of(&canonical)), canonical)
            }
        };
        if checked.insert(&entry.pool, Checked { entry, outcome, canonical }).is_some() {
            return Err(StoreError::PoolRepeated { slot, pool: entry.pool.clone() });
        }
    }
    Ok(checked)
}

fn check_snapshot(slot: Slot, pool: &PoolId, snapshot: &Snapshot) -> Result<Vec<u8>, StoreError> {
    let found = snapshot.observation().pool();
    if found != pool {
        let (expected, found) = (pool.clone(), found.clone());
        return Err(StoreError::SnapshotOfOtherPool { expected, found });
    }
    if snapshot.slot() != slot {
        let (pool, found) = (pool.clone(), snapshot.slot());
        return Err(StoreError::SnapshotOfOtherSlot { pool, expected: slot, found });
    }
    let refused = |error| StoreError::Snapshot { pool: pool.clone(), error };
    let canonical = snapshot.to_canonical().map_err(refused)?;
    // Whatever is written must be accepted when it is read: its size included.
    if canonical.len() > exitgap_core::snapshot::MAX_SNAPSHOT_BYTES {
        let found = canonical.len();
        return Err(refused(exitgap_core::snapshot::SnapshotError::TooLarge { found }));
    }
    Ok(canonical)
}

fn insert_pool(transaction: &Transaction, slot: Slot, entry: &NewEntry) -> Result<i64, StoreError> {
    let doing = "writing a pool";
    let mut statement = transaction.prepare_cached(sql::INSERT_POOL).doing(doing)?;
    let parameters = named_params! {
        ":pool_id": entry.pool.to_string(),
        ":default_base_token": base_token(entry.default_base),
        ":first_slot": slot.number(),
    };
    statement.query_row(parameters, |row| row.get(0)).doing(doing)
}

fn keep_default_base(
    transaction: &Transaction,
    pool: &Pool,
    entry: &NewEntry,
) -> Result<(), StoreError> {
    if pool.default_base == entry.default_base {
        return Ok(());
    }
    let doing = "setting a pool's default base";
    let mut statement = transaction.prepare_cached(sql::UPDATE_DEFAULT_BASE).doing(doing)?;
    let base = base_token(entry.default_base);
    let parameters = named_params! { ":pool_no": pool.number, ":default_base_token": base };
    statement.execute(parameters).doing(doing).map(|_| ())
}

fn insert_body(transaction: &Transaction, body: &Body) -> Result<i64, StoreError> {
    let doing = "writing a body";
    let mut statement = transaction.prepare_cached(sql::INSERT_BODY).doing(doing)?;
    let parameters = named_params! {
        ":snapshot_sha256": body.hash.0,
        ":level": body.level,
        ":dictionary_body_no": body.dictionary_body_no,
        ":canonical_bytes": body.canonical.len().cast_signed(),
        ":zstd": body.zstd,
    };
    statement.query_row(parameters, |row| row.get(0)).doing(doing)
}

fn insert_entry(
    transaction: &Transaction,
    pool_no: i64,
    slot: Slot,
    outcome: Outcome,
) -> Result<(), StoreError> {
    let doing = "writing an entry";
    let (hash, reason) = match outcome {
        Outcome::Recorded(hash) => (Some(hash.0), None),
        Outcome::Missing(reason) => (None, Some(reason.code())),
    };
    let mut statement = transaction.prepare_cached(sql::INSERT_ENTRY).doing(doing)?;
    let parameters = named_params! {
        ":pool_no": pool_no,
        ":slot": slot.number(),
        ":snapshot_sha256": hash,
        ":missing_reason": reason,
    };
    statement.execute(parameters).doing(doing).map(|_| ())
}

fn seal(transaction: &Transaction, slot: Slot, pools: usize) -> Result<(), StoreError> {
    let doing = "sealing a slot";
    let mut statement = transaction.prepare_cached(sql::INSERT_SEALED_SLOT).doing(doing)?;
    let parameters = named_params! { ":slot": slot.number(), ":pools": pools.cast_signed() };
    statement.execute(parameters).doing(doing).map(|_| ())
}

fn commit(transaction: Transaction, slot: Slot) -> Result<(), StoreError> {
    transaction.commit().map_err(|source| StoreError::CommitUnknown { slot, source })
}
