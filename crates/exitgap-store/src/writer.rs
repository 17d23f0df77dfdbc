//! Writing a store: the one recorder's part.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use exitgap_core::evidence::{Predecessor, Retraction};
use exitgap_core::ids::{PoolId, SnapshotHash, StateHash};
use exitgap_core::pools::PoolState;
use exitgap_core::published::{FrameRef, MAX_PARTS};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::{Snapshot, SnapshotDocuments};
use exitgap_core::tlog::{SignerKey, VerifierKey};
use rusqlite::{ErrorCode, Transaction, TransactionBehavior, named_params};

use crate::body::{self, Dictionaries, Record};
use crate::changes::CheckedChanges;
use crate::derive::Derived;
use crate::error::{Doing, StoreError};
use crate::figures::SnapshotFigures;
use crate::folder::{Piece, SlotFiles};
use crate::lock::Lock;
use crate::model::{Appended, Changes, NewEntry, Outcome, Pool, base_token};
use crate::reader::{Reader, unpack};
use crate::seal::{NewHead, Sealer, Sealing, SlotHeads};
use crate::{fold, notes, schema, sql};

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
    /// What the next slot's derived rows rest on.
    derived: Derived,
    /// Pages of the write-ahead log after which it is folded into the database.
    fold_after_pages: u32,
    /// The newest slot as it is to be published, until it is.
    unpublished: Option<SlotFiles>,
    /// Parts that a slot may have.
    parts_most: usize,
    _lock: Lock,
}

/// A snapshot that is ready to be written.
struct Body {
    hash: SnapshotHash,
    state: StateHash,
    /// Of the joined bytes, those of the snapshot.
    snapshot_bytes: usize,
    joined: Vec<u8>,
    zstd: Vec<u8>,
    level: u8,
    /// The body it refers to and its slot; `None`: it is a key record.
    base: Option<(i64, Slot)>,
}

impl Body {
    /// Where it stands in a part, once it stands there.
    fn frame(&self, slot: Slot) -> FrameRef {
        // Bodies have 4 MiB and a little: all of it fits.
        let length = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
        FrameRef {
            back: self.base.map_or(0, |(_, base)| slot.number().saturating_sub(base.number())),
            bytes: length(self.zstd.len()),
            snapshot: length(self.snapshot_bytes),
            state: length(self.joined.len() - self.snapshot_bytes),
        }
    }
}

/// An entry that was checked and named.
struct Checked<'a> {
    entry: &'a NewEntry,
    outcome: Outcome,
    /// Its documents, until they are compressed; `None` where missing.
    documents: Option<SnapshotDocuments>,
    figures: Option<SnapshotFigures>,
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
            let sealer = Sealer::new(key, log.origin.first_slot(), log.predecessor.clone())?;
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
        Sealer::new(key, Slot::FIRST, None)?;
        let lock = Lock::take(path)?;
        Ok(Self::with(schema::create(path)?, lock, key))
    }

    fn with(connection: rusqlite::Connection, lock: Lock, key: &SignerKey) -> Self {
        Self {
            reader: Reader { connection },
            key: key.clone(),
            sealer: None,
            dictionaries: HashMap::new(),
            derived: Derived::default(),
            fold_after_pages: fold::AFTER_PAGES,
            unpublished: None,
            parts_most: MAX_PARTS,
            _lock: lock,
        }
    }

    /// Creates a store at `path` as [`Store::create`] does, whose log succeeds one that is lost.
    /// Refused where both have one name ([`StoreError::SameName`]): the key is to have another.
    pub fn create_successor(
        path: impl AsRef<Path>,
        key: &SignerKey,
        predecessor: &Predecessor,
    ) -> Result<Self, StoreError> {
        if predecessor.origin.name() == key.verifier().name() {
            return Err(StoreError::SameName { name: predecessor.origin.name().to_owned() });
        }
        let store = Self::create(path, key)?;
        store.succeed(predecessor)?;
        Ok(store)
    }

    /// Names the log that the store's one succeeds, before that begins.
    pub(crate) fn succeed(&self, predecessor: &Predecessor) -> Result<(), StoreError> {
        let doing = "naming the log's predecessor";
        let parameters = named_params! { ":document": predecessor.to_document() };
        let inserted = self.reader.connection.execute(sql::INSERT_PREDECESSOR, parameters);
        inserted.doing(doing).map(|_| ())
    }

    /// Has the write-ahead log folded into the database as soon as it holds so many pages; 1,000
    /// unless set.
    #[must_use]
    pub fn folding_after(self, pages: u32) -> Self {
        Self { fold_after_pages: pages, ..self }
    }

    /// Lets a slot have so many parts and no more. What needs more is refused as a slot of too
    /// many pools is, which this is for rehearsing.
    #[must_use]
    pub fn limit_parts(self, most: usize) -> Self {
        Self { parts_most: most.min(MAX_PARTS), ..self }
    }

    /// Lets the database grow by so many pages and no more, or as it likes again. What finds no
    /// room is refused as on a full disk, which this is for rehearsing.
    pub fn limit_growth(&self, pages: Option<u32>) -> Result<(), StoreError> {
        let connection = &self.reader.connection;
        let doing = "limiting the database's growth";
        let held: u32 =
            connection.pragma_query_value(None, "page_count", |row| row.get(0)).doing(doing)?;
        // More than SQLite's own limit is taken as that.
        let most = pages.map_or(u32::MAX - 1, |more| held.saturating_add(more));
        connection
            .pragma_update_and_check(None, "max_page_count", most, |row| row.get::<_, i64>(0))
            .doing(doing)
            .map(|_| ())
    }

    /// Folds the write-ahead log into the database and closes the store. Dropping it does the same
    /// where that is possible, and is silent where it is not; nothing committed depends on either.
    pub fn close(self) -> Result<(), StoreError> {
        let Self { reader: Reader { connection }, _lock, .. } = self;
        fold::all(&connection)?;
        connection
            .close()
            .map_err(|(_, source)| StoreError::Sqlite { doing: "closing the store", source })
    }

    /// The newest slot as it is to be published, where this process sealed it; once.
    pub(crate) fn take_unpublished(&mut self) -> Option<SlotFiles> {
        self.unpublished.take()
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
    /// 4. Now and then what the write-ahead log holds is folded into the database. A crash leaves
    ///    it in the log. An error ([`StoreError::Fold`]) leaves the slot written.
    /// 5. An error from a commit ([`StoreError::CommitUnknown`]) means that either may be
    ///    the case. Opening the store anew and giving the slot again settles it.
    pub fn append_slot(
        &mut self,
        slot: Slot,
        entries: &[NewEntry],
    ) -> Result<Appended, StoreError> {
        self.append(slot, entries, &Changes::default(), None)
    }

    /// Writes a slot as [`Store::append_slot`] does, whose heads also take earlier slots back or
    /// retire pools.
    pub fn append_slot_with(
        &mut self,
        slot: Slot,
        entries: &[NewEntry],
        changes: &Changes,
    ) -> Result<Appended, StoreError> {
        self.append(slot, entries, changes, None)
    }

    /// Writes a slot that was sealed before and must make the same checkpoint again.
    pub(crate) fn append_sealed(
        &mut self,
        slot: Slot,
        entries: &[NewEntry],
        changes: &Changes,
        checkpoint: &str,
    ) -> Result<Appended, StoreError> {
        self.append(slot, entries, changes, Some(checkpoint))
    }

    /// The key that signs, or would sign, a log from `first_slot` on.
    pub(crate) fn verifier_from(&self, first_slot: Slot) -> Result<VerifierKey, StoreError> {
        Ok(Sealer::new(&self.key, first_slot, None)?.verifier())
    }

    fn append(
        &mut self,
        slot: Slot,
        entries: &[NewEntry],
        changes: &Changes,
        checkpoint: Option<&str>,
    ) -> Result<Appended, StoreError> {
        let mut checked = check_entries(slot, entries)?;
        let has_entry = |pool: &PoolId| checked.contains_key(&pool.to_string());
        let changes = CheckedChanges::of(&self.reader, slot, changes, has_entry)?;
        if let Some((first, last)) = self.reader.slots()? {
            if slot < first {
                return Err(StoreError::BeforeFirstSlot { first, found: slot });
            }
            if slot <= last {
                self.compare(slot, &checked, &changes)?;
                return Ok(Appended { written: false, filled_slots: 0 });
            }
        }
        let pools = self.reader.pools()?;
        for pool in &pools {
            let name = pool.id.to_string();
            let (has_entry, retires) =
                (checked.contains_key(&name), changes.retires.contains_key(&name));
            match pool.retired_slot {
                Some(retired) if has_entry => {
                    return Err(StoreError::PoolRetired { pool: pool.id.clone(), retired });
                }
                None if !has_entry && !retires => {
                    return Err(StoreError::PoolWithoutEntry { slot, pool: pool.id.clone() });
                }
                _ => {}
            }
        }
        let known: HashMap<&PoolId, &Pool> = pools.iter().map(|pool| (&pool.id, pool)).collect();
        let mut bodies = Vec::with_capacity(checked.len());
        for checked in checked.values_mut() {
            bodies.push(self.prepare(slot, known.get(&checked.entry.pool).copied(), checked)?);
        }
        let filled_slots = self.fill_until(slot)?;
        let result = self.write(slot, &known, &checked, bodies, &changes, checkpoint);
        if result.is_err() {
            // Bodies that were counted on may not be there.
            self.dictionaries.clear();
            self.derived.clear();
        }
        result.map(|()| Appended { written: true, filled_slots })
    }

    /// Fills the slots after the store's last up to and without `until` with missing
    /// entries, `recorder_down`, and returns how many slots that were. A store without
    /// slots stays as it is. In transactions of at most 20,000 entries.
    pub fn fill_until(&mut self, until: Slot) -> Result<u32, StoreError> {
        let filled = self.fill(until);
        if filled.is_err() {
            // What derived rows rest on went on, and the slots did not.
            self.derived.clear();
        }
        filled
    }

    fn fill(&mut self, until: Slot) -> Result<u32, StoreError> {
        let Some((_, last)) = self.reader.slots()? else { return Ok(0) };
        let Some(sealer) = &self.sealer else { return Ok(0) };
        let mut pools = self.reader.pools()?;
        pools.retain(|pool| pool.retired_slot.is_none());
        let slots_at_once = (MAX_FILLED_ENTRIES / pools.len().max(1)).max(1);
        let outcome = Outcome::Missing(MissingReason::RecorderDown);
        let missing = NewHead { outcome, figures: None, retracts: Vec::new() };
        let mut sealings = Vec::with_capacity(pools.len());
        for pool in &pools {
            sealings.push(sealing(&self.reader, pool, last)?);
        }
        let mut next = last.next();
        let mut filled = 0;
        while let Some(from) = next.filter(|next| *next < until) {
            let transaction = begin(&self.reader)?;
            let mut last_filled = from;
            for _ in 0..slots_at_once {
                let Some(slot) = next.filter(|next| *next < until) else { break };
                let mut heads = SlotHeads::default();
                for sealing in &mut sealings {
                    let head =
                        heads.add(&self.reader, &mut self.derived, sealing, slot, &missing)?;
                    sealing.before = Some(head);
                }
                sealer.seal(&transaction, slot, &heads)?;
                (last_filled, next, filled) = (slot, slot.next(), filled + 1);
            }
            self.derived.finish(&self.reader)?;
            commit(transaction, last_filled)?;
            fold::after_commit(&self.reader.connection, self.fold_after_pages)?;
        }
        Ok(filled)
    }

    /// Requires that a sealed slot holds exactly these entries and changes.
    fn compare(
        &self,
        slot: Slot,
        checked: &Slotful<'_>,
        changes: &CheckedChanges,
    ) -> Result<(), StoreError> {
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
        for pool in self.reader.pools()?.into_iter().filter(|pool| pool.has(slot)) {
            let name = pool.id.to_string();
            let retires = pool.retired_slot == Some(slot);
            let retracts = self.reader.head_row(&pool, slot)?.map(|(row, _)| row.retracts);
            let offered = changes.retracts.get(&name).map(Vec::as_slice).unwrap_or_default();
            if retires != changes.retires.contains_key(&name)
                || retracts.unwrap_or_default() != offered
            {
                return Err(StoreError::ChangesDiffer { slot, pool: pool.id });
            }
            if !retires && !checked.contains_key(&name) {
                return Err(StoreError::PoolWithoutEntry { slot, pool: pool.id });
            }
        }
        Ok(())
    }

    /// Compresses the snapshot, where there is one.
    fn prepare(
        &mut self,
        slot: Slot,
        pool: Option<&Pool>,
        checked: &mut Checked<'_>,
    ) -> Result<Option<Body>, StoreError> {
        let Some(documents) = checked.documents.take() else { return Ok(None) };
        let (hash, state) = (documents.hash(), PoolState::hash_of(&documents.state));
        let (snapshot_bytes, joined) = (documents.snapshot.len(), body::join(&documents));
        let (level, dictionary) = match pool {
            Some(pool) => self.dictionaries(pool)?.choose(slot),
            None => (0, None),
        };
        let base = dictionary.map(|record| (record.body_no, record.slot));
        let dictionary = dictionary.map(|record| record.joined.as_slice());
        let zstd = body::compress(&joined, dictionary)
            .map_err(|source| StoreError::Compress { pool: checked.entry.pool.clone(), source })?;
        Ok(Some(Body { hash, state, snapshot_bytes, joined, zstd, level, base }))
    }

    /// What the pool's next body may refer to, read back after a restart.
    fn dictionaries(&mut self, pool: &Pool) -> Result<&Dictionaries, StoreError> {
        let stored = match self.dictionaries.entry(pool.number) {
            Entry::Occupied(kept) => return Ok(kept.into_mut()),
            Entry::Vacant(vacant) => vacant.insert(Dictionaries::default()),
        };
        // Also one that was taken back: what is referred to does not depend on when the process
        // began.
        let newest = self.reader.newest_entry(pool, Slot::LAST)?;
        let newest = newest.and_then(|newest| newest.newest_snapshot(pool));
        let newest = newest.map(|slot| self.reader.entry(pool, slot)).transpose()?.flatten();
        if let Some(Outcome::Recorded(hash)) = newest.map(|newest| newest.outcome) {
            let chain = self.reader.chain(hash);
            let unpacked = chain.and_then(|chain| Ok((unpack(&chain)?, chain)));
            let (unpacked, chain) = match unpacked {
                Ok(read) => read,
                // What is damaged is not built upon: the next body stands alone.
                Err(StoreError::Corrupt { .. }) => return Ok(stored),
                Err(error) => return Err(error),
            };
            for (row, joined) in chain.iter().zip(unpacked) {
                let (body_no, level, slot) = (row.body_no, row.level, row.slot);
                stored.add(Record { body_no, level, slot, joined });
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
        changes: &CheckedChanges,
        checkpoint: Option<&str>,
    ) -> Result<(), StoreError> {
        let (mut written, mut frames) = (Vec::new(), HashMap::new());
        let transaction = begin(&self.reader)?;
        let sealer = if let Some(sealer) = &self.sealer {
            sealer.clone()
        } else {
            let sealer = Sealer::new(&self.key, slot, self.reader.predecessor()?)?;
            sealer.begin(&transaction)?;
            sealer
        };
        let mut heads = SlotHeads::default();
        let before = slot.previous().unwrap_or(slot);
        let retracts = |name: &str| changes.retracts.get(name).cloned().unwrap_or_default();
        let mut retires = changes.retires.iter().peekable();
        for ((name, checked), body) in checked.iter().zip(bodies) {
            while let Some((name, pool)) = retires.next_if(|(retires, _)| *retires < name) {
                retire(&self.reader, &mut self.derived, &mut heads, (slot, pool), retracts(name))?;
            }
            let sealing = match known.get(&checked.entry.pool) {
                Some(pool) => {
                    keep_default_base(&transaction, pool, checked.entry)?;
                    sealing(&self.reader, pool, before)?
                }
                None => {
                    Sealing { pool: insert_pool(&transaction, slot, checked.entry)?, before: None }
                }
            };
            if let Some(body) = body {
                let body_no = insert_body(&transaction, slot, &body)?;
                frames.insert(checked.entry.pool.clone(), (body.frame(slot), body.zstd));
                let (level, joined) = (body.level, body.joined);
                written.push((sealing.pool.number, Record { body_no, level, slot, joined }));
            }
            let new = NewHead {
                outcome: checked.outcome,
                figures: checked.figures,
                retracts: retracts(name),
            };
            heads.add(&self.reader, &mut self.derived, &sealing, slot, &new)?;
        }
        for (name, pool) in retires {
            retire(&self.reader, &mut self.derived, &mut heads, (slot, pool), retracts(name))?;
        }
        self.derived.finish(&self.reader)?;
        notes::insert_doubts(&transaction, &self.reader.pools()?, slot, &changes.doubts)?;
        let sealed = sealer.seal(&transaction, slot, &heads)?;
        if let Some(expected) = checkpoint.filter(|expected| *expected != sealed.checkpoint) {
            let (expected, found) = (expected.to_owned(), sealed.checkpoint);
            return Err(StoreError::SealedOtherwise { slot, expected, found });
        }
        let pieces = heads.canonical.into_iter().map(|(pool, head)| {
            let body = frames.remove(&pool);
            Piece { pool, head, body }
        });
        let files = SlotFiles::new(slot, sealed, pieces, self.parts_most)?;
        commit(transaction, slot)?;
        self.unpublished = Some(files);
        self.sealer = Some(sealer);
        for (pool_no, record) in written {
            self.dictionaries.entry(pool_no).or_default().add(record);
        }
        fold::after_commit(&self.reader.connection, self.fold_after_pages)
    }
}

/// The pool as one that gets its next head after `last`.
fn sealing(reader: &Reader, pool: &Pool, last: Slot) -> Result<Sealing, StoreError> {
    Ok(Sealing { pool: pool.clone(), before: reader.head_row(pool, last)? })
}

/// Writes the pool's last entry and head.
fn retire(
    reader: &Reader,
    derived: &mut Derived,
    heads: &mut SlotHeads,
    (slot, pool): (Slot, &Pool),
    retracts: Vec<Retraction>,
) -> Result<(), StoreError> {
    let doing = "retiring a pool";
    let parameters = named_params! { ":pool_no": pool.number, ":slot": slot.number() };
    reader.connection.execute(sql::INSERT_RETIREMENT, parameters).doing(doing)?;
    let sealing = sealing(reader, pool, slot.previous().unwrap_or(slot))?;
    let new = NewHead { outcome: Outcome::Retired, figures: None, retracts };
    heads.add(reader, derived, &sealing, slot, &new).map(|_| ())
}

/// Checks a slot's entries against each other and the slot, and names their snapshots.
fn check_entries(slot: Slot, entries: &[NewEntry]) -> Result<Slotful<'_>, StoreError> {
    if entries.is_empty() {
        return Err(StoreError::NoEntries { slot });
    }
    let mut checked = BTreeMap::new();
    for entry in entries {
        let (outcome, documents, figures) = match &entry.reading {
            Err(reason) => (Outcome::Missing(*reason), None, None),
            Ok(snapshot) => {
                let documents = check_snapshot(slot, &entry.pool, snapshot)?;
                let outcome = Outcome::Recorded(documents.hash());
                (outcome, Some(documents), Some(SnapshotFigures::of(snapshot)))
            }
        };
        let new = Checked { entry, outcome, documents, figures };
        if checked.insert(entry.pool.to_string(), new).is_some() {
            return Err(StoreError::PoolRepeated { slot, pool: entry.pool.clone() });
        }
    }
    Ok(checked)
}

fn check_snapshot(
    slot: Slot,
    pool: &PoolId,
    snapshot: &Snapshot,
) -> Result<SnapshotDocuments, StoreError> {
    let found = snapshot.observation().pool();
    if found != pool {
        let (expected, found) = (pool.clone(), found.clone());
        return Err(StoreError::SnapshotOfOtherPool { expected, found });
    }
    if snapshot.slot() != slot {
        let (pool, found) = (pool.clone(), snapshot.slot());
        return Err(StoreError::SnapshotOfOtherSlot { pool, expected: slot, found });
    }
    // What readers would refuse, its size included, has no canonical bytes.
    snapshot.to_canonical().map_err(|error| StoreError::Snapshot { pool: pool.clone(), error })
}

fn begin(reader: &Reader) -> Result<Transaction<'_>, StoreError> {
    Transaction::new_unchecked(&reader.connection, TransactionBehavior::Immediate)
        .doing("beginning to write")
}

fn insert_pool(
    transaction: &Transaction,
    slot: Slot,
    entry: &NewEntry,
) -> Result<Pool, StoreError> {
    let doing = "writing a pool";
    let mut statement = transaction.prepare_cached(sql::INSERT_POOL).doing(doing)?;
    let parameters = named_params! {
        ":pool_id": entry.pool.to_string(),
        ":default_base_token": base_token(entry.default_base),
        ":first_slot": slot.number(),
    };
    let number = statement.query_row(parameters, |row| row.get(0)).doing(doing)?;
    let (id, default_base) = (entry.pool.clone(), entry.default_base);
    Ok(Pool { id, default_base, first_slot: slot, retired_slot: None, number })
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

fn insert_body(transaction: &Transaction, slot: Slot, body: &Body) -> Result<i64, StoreError> {
    let doing = "writing a body";
    let mut statement = transaction.prepare_cached(sql::INSERT_BODY).doing(doing)?;
    let parameters = named_params! {
        ":slot": slot.number(),
        ":snapshot_sha256": body.hash.0,
        ":state_sha256": body.state.0,
        ":level": body.level,
        ":dictionary_body_no": body.base.map(|(body_no, _)| body_no),
        ":snapshot_bytes": body.snapshot_bytes.cast_signed(),
        ":state_bytes": (body.joined.len() - body.snapshot_bytes).cast_signed(),
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
