//! Writing a store: the one recorder's part.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use exitgap_core::evidence::{Depths, SignerKey, VerifierKey, depths};
use exitgap_core::ids::{HeadHash, PoolId, SnapshotHash};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::Snapshot;
use rusqlite::{ErrorCode, Transaction, TransactionBehavior, named_params};

use crate::body::{self, Dictionaries, Record};
use crate::error::{Doing, StoreError};
use crate::lock::Lock;
use crate::model::{Appended, NewEntry, Outcome, Pool, base_token};
use crate::reader::{Reader, unpack};
use crate::seal::{Sealer, Sealing, SlotHeads};
use crate::sealed::HeadRow;
use crate::{schema, sql};

/// The most entries of one transaction that fills a pause: it bounds memory, the
/// write-ahead log and what a kill undoes.
const MAX_FILLED_ENTRIES: usize = 20_000;

/// A store opened for writing, by the only process that may. Dropping it releases the
/// lock; so does the kernel when the process ends.
#[derive(Debug)]
pub struct Store {
    reader: Reader,
    key: SignerKey,
    /// The log, once it has begun.
    sealer: Option<Sealer>,
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
    depth_usd: Depths,
}

/// The entries of a slot by their pools' names, in the order of a slot's heads.
type Slotful<'a> = BTreeMap<String, Checked<'a>>;

impl Store {
    /// Opens the store at `path` for writing and takes its lock. `key` has the log's name,
    /// and must be the one that signed so far ([`StoreError::WrongKey`]).
    ///
    /// Refused where the newest slot's heads do not hash to the log's last checkpoint
    /// ([`Reader::check_edge`]): nothing is built upon damage.
    pub fn open(path: impl AsRef<Path>, key: &SignerKey) -> Result<Self, StoreError> {
        let path = path.as_ref();
        if !path.exists() {
            return Err(StoreError::NotFound { path: path.to_owned() });
        }
        let lock = Lock::take(path)?;
        let mut store = Self::with(schema::open_writer(path)?, lock, key);
        if let Some(log) = store.reader.log()? {
            let sealer = Sealer::new(key, log.origin.first_slot())?;
            sealer.check_is(&log)?;
            store.reader.check_edge()?;
            store.sealer = Some(sealer);
        }
        Ok(store)
    }

    /// Creates a store at `path`, where no file may be (but an empty database, which an
    /// interrupted creation leaves), and takes its lock. Its log has the name of `key`, and
    /// begins with the first slot.
    pub fn create(path: impl AsRef<Path>, key: &SignerKey) -> Result<Self, StoreError> {
        let path = path.as_ref();
        // A name that cannot be a log's is refused before anything is made.
        Sealer::new(key, Slot::FIRST)?;
        let lock = Lock::take(path)?;
        Ok(Self::with(schema::create(path)?, lock, key))
    }

    fn with(connection: rusqlite::Connection, lock: Lock, key: &SignerKey) -> Self {
        Self {
            reader: Reader { connection },
            key: key.clone(),
            sealer: None,
            dictionaries: HashMap::new(),
            _lock: lock,
        }
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
    /// 1. Everything is checked, hashed and compressed, and depths are computed. Nothing was
    ///    written so far.
    /// 2. The pause since the last slot is filled, at most 20,000 entries per
    ///    transaction. A crash leaves whole slots; the next call goes on after them.
    /// 3. One transaction writes new pools, bodies, entries with their heads, the log's
    ///    nodes and, last, the row that seals the slot: its leaf and the signed checkpoint.
    ///    Its commit waits until the disk has it. A crash before leaves nothing of the slot;
    ///    a crash after leaves all of it.
    /// 4. An error from a commit ([`StoreError::CommitUnknown`]) means that either may be
    ///    the case. Opening the store anew and giving the slot again settles it.
    pub fn append_slot(
        &mut self,
        slot: Slot,
        entries: &[NewEntry],
    ) -> Result<Appended, StoreError> {
        self.append(slot, entries, None)
    }

    /// Writes a slot that was sealed before and must make the same checkpoint again.
    pub(crate) fn append_sealed(
        &mut self,
        slot: Slot,
        entries: &[NewEntry],
        checkpoint: &str,
    ) -> Result<Appended, StoreError> {
        self.append(slot, entries, Some(checkpoint))
    }

    /// The key that signs, or would sign, a log from `first_slot` on.
    pub(crate) fn verifier_from(&self, first_slot: Slot) -> Result<VerifierKey, StoreError> {
        Ok(Sealer::new(&self.key, first_slot)?.verifier())
    }

    fn append(
        &mut self,
        slot: Slot,
        entries: &[NewEntry],
        checkpoint: Option<&str>,
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
        if let Some(pool) = pools.iter().find(|pool| !checked.contains_key(&pool.id.to_string())) {
            return Err(StoreError::PoolWithoutEntry { slot, pool: pool.id.clone() });
        }
        let known: HashMap<&PoolId, &Pool> = pools.iter().map(|pool| (&pool.id, pool)).collect();
        let mut bodies = Vec::with_capacity(checked.len());
        for checked in checked.values_mut() {
            bodies.push(self.prepare(slot, known.get(&checked.entry.pool).copied(), checked)?);
        }
        let filled_slots = self.fill_until(slot)?;
        let result = self.write(slot, &known, &checked, bodies, checkpoint);
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
        let Some(sealer) = &self.sealer else { return Ok(0) };
        let pools = self.reader.pools()?;
        let slots_at_once = (MAX_FILLED_ENTRIES / pools.len().max(1)).max(1);
        let missing = Outcome::Missing(MissingReason::RecorderDown);
        let mut sealings = Vec::with_capacity(pools.len());
        for pool in &pools {
            sealings.push(self.sealing(pool, last)?);
        }
        let mut next = last.next();
        let mut filled = 0;
        while let Some(from) = next.filter(|next| *next < until) {
            let transaction = self.begin()?;
            let mut last_filled = from;
            for _ in 0..slots_at_once {
                let Some(slot) = next.filter(|next| *next < until) else { break };
                let mut heads = SlotHeads::default();
                for sealing in &mut sealings {
                    let head = heads.add(&transaction, sealing, slot, missing, [None; 2])?;
                    sealing.before = Some(head);
                }
                sealer.seal(&transaction, slot, &heads)?;
                (last_filled, next, filled) = (slot, slot.next(), filled + 1);
            }
            commit(transaction, last_filled)?;
        }
        Ok(filled)
    }

    fn begin(&self) -> Result<Transaction<'_>, StoreError> {
        Transaction::new_unchecked(&self.reader.connection, TransactionBehavior::Immediate)
            .doing("beginning to write")
    }

    /// The pool as one that gets its next head after `last`.
    fn sealing<'a>(&self, pool: &'a Pool, last: Slot) -> Result<Sealing<'a>, StoreError> {
        let before: Option<(HeadRow, HeadHash)> = self.reader.head_row(pool, last)?;
        let (pool_no, first_slot) = (pool.number, pool.first_slot);
        Ok(Sealing { pool_no, pool: &pool.id, first_slot, before })
    }

    /// Requires that a sealed slot holds exactly these entries.
    fn compare(&self, slot: Slot, checked: &Slotful<'_>) -> Result<(), StoreError> {
        for checked in checked.values() {
            let pool = self.reader.pool(&checked.entry.pool)?;
            let entry = match &pool {
                Some(pool) => self.reader.entry(pool, slot)?,
                None => None,
            };
            let (pool, offered) = (checked.entry.pool.clone(), checked.outcome);
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
            .find(|pool| pool.first_slot <= slot && !checked.contains_key(&pool.id.to_string()));
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
        checked: &Slotful<'_>,
        bodies: Vec<Option<Body>>,
        checkpoint: Option<&str>,
    ) -> Result<(), StoreError> {
        let mut written = Vec::new();
        let transaction = self.begin()?;
        let sealer = if let Some(sealer) = &self.sealer {
            sealer.clone()
        } else {
            let sealer = Sealer::new(&self.key, slot)?;
            sealer.begin(&transaction)?;
            sealer
        };
        let mut heads = SlotHeads::default();
        for (checked, body) in checked.values().zip(bodies) {
            let sealing = match known.get(&checked.entry.pool) {
                Some(pool) => {
                    keep_default_base(&transaction, pool, checked.entry)?;
                    self.sealing(pool, slot.previous().unwrap_or(slot))?
                }
                None => Sealing {
                    pool_no: insert_pool(&transaction, slot, checked.entry)?,
                    pool: &checked.entry.pool,
                    first_slot: slot,
                    before: None,
                },
            };
            if let Some(body) = body {
                let body_no = insert_body(&transaction, &body)?;
                let (level, canonical) = (body.level, body.canonical);
                written.push((sealing.pool_no, Record { body_no, level, slot, canonical }));
            }
            heads.add(&transaction, &sealing, slot, checked.outcome, checked.depth_usd)?;
        }
        let found = sealer.seal(&transaction, slot, &heads)?;
        if let Some(expected) = checkpoint.filter(|expected| *expected != found) {
            let expected = expected.to_owned();
            return Err(StoreError::SealedOtherwise { slot, expected, found });
        }
        commit(transaction, slot)?;
        self.sealer = Some(sealer);
        for (pool_no, record) in written {
            self.dictionaries.entry(pool_no).or_default().add(record);
        }
        Ok(())
    }
}

/// Checks a slot's entries against each other and the slot, and names their snapshots.
fn check_entries(slot: Slot, entries: &[NewEntry]) -> Result<Slotful<'_>, StoreError> {
    if entries.is_empty() {
        return Err(StoreError::NoEntries { slot });
    }
    let mut checked = BTreeMap::new();
    for entry in entries {
        let (outcome, canonical, depth_usd) = match &entry.reading {
            Err(reason) => (Outcome::Missing(*reason), Vec::new(), [None; 2]),
            Ok(snapshot) => {
                let canonical = check_snapshot(slot, &entry.pool, snapshot)?;
                (Outcome::Recorded(Snapshot::hash_of(&canonical)), canonical, depths(snapshot))
            }
        };
        let new = Checked { entry, outcome, canonical, depth_usd };
        if checked.insert(entry.pool.to_string(), new).is_some() {
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

fn commit(transaction: Transaction, slot: Slot) -> Result<(), StoreError> {
    transaction.commit().map_err(|source| match source.sqlite_error_code() {
        // The log's last frame, which makes the slot one, found no room: nothing was written.
        Some(ErrorCode::DiskFull) => StoreError::Sqlite { doing: "committing a slot", source },
        _ => StoreError::CommitUnknown { slot, source },
    })
}
