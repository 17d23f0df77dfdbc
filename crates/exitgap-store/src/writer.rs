//! Writing a store: the one recorder's part.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use exitgap_core::evidence::{Predecessor, Retraction};
use exitgap_core::ids::{HeadHash, PoolId};
use exitgap_core::published::{FrameRef, MAX_PARTS};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::tlog::{SignerKey, VerifierKey};
use rusqlite::{ErrorCode, Transaction, TransactionBehavior, named_params};

use crate::body::{self, Dictionaries, Record};
use crate::changes::CheckedChanges;
use crate::derive::Derived;
use crate::error::{Doing, StoreError};
use crate::folder::{Piece, SlotFiles};
use crate::lock::Lock;
use crate::log::HeadRow;
use crate::model::{Appended, Changes, NewEntry, Outcome, Pool, base_token};
use crate::reader::{Reader, unpack};
use crate::ready::{Ready, spread};
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
    /// Other keys that signed the log which is to be sealed anew.
    signed_before_by: Vec<VerifierKey>,
    /// The log, once it has begun.
    sealer: Option<Sealer>,
    /// What each pool's next body may refer to, by the pool's number.
    dictionaries: HashMap<i64, Dictionaries>,
    /// What the next slot's derived rows rest on.
    derived: Derived,
    /// What the next slot's heads follow.
    heads: LastHeads,
    /// Pages of the write-ahead log after which it is folded into the database.
    fold_after_pages: u32,
    /// The newest slot as it is to be published, until it is.
    unpublished: Option<SlotFiles>,
    /// Parts that a slot may have.
    parts_most: usize,
    _lock: Lock,
}

/// A snapshot's body, packed.
struct Body {
    zstd: Vec<u8>,
    level: u8,
    /// The body it refers to and its slot; `None`: it is a key record.
    base: Option<(i64, Slot)>,
}

/// The entries of a slot by their pools' names, in the order of a slot's heads.
type Slotful = BTreeMap<String, NewEntry<Ready>>;

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
            let sealer = Sealer::of_log(key, &log)?;
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
            signed_before_by: Vec::new(),
            sealer: None,
            dictionaries: HashMap::new(),
            derived: Derived::default(),
            heads: LastHeads::default(),
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
        self.append(slot, Ready::all(entries)?, &Changes::default(), None)
    }

    /// Writes a slot as [`Store::append_slot`] does, whose heads also take earlier slots back or
    /// retire pools.
    pub fn append_slot_with(
        &mut self,
        slot: Slot,
        entries: &[NewEntry],
        changes: &Changes,
    ) -> Result<Appended, StoreError> {
        self.append(slot, Ready::all(entries)?, changes, None)
    }

    /// The same with entries that were made ready before.
    pub fn append_ready(
        &mut self,
        slot: Slot,
        entries: Vec<NewEntry<Ready>>,
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
        self.append(slot, Ready::all(entries)?, changes, Some(checkpoint))
    }

    /// Lets a second key of the log's name sign every checkpoint from the next slot on, beside the
    /// one that the store was opened with. From then on either opens the store. For the time in
    /// which the log's key is changed.
    pub fn sign_beside(&mut self, key: &SignerKey) -> Result<(), StoreError> {
        let sealer = self.sealer.as_mut().ok_or(StoreError::KeyBeforeLog)?;
        sealer.sign_beside(&self.reader.connection, key)
    }

    /// Says which keys signed the slots that [`Store::append_sealed`] is to seal anew, the first
    /// first. A log that has begun knows them.
    pub(crate) fn sealed_by(&mut self, keys: Vec<VerifierKey>) -> Result<(), StoreError> {
        if let Some(sealer) = &mut self.sealer {
            return sealer.name_keys(&self.reader.connection, &keys);
        }
        self.signed_before_by = keys;
        Ok(())
    }

    /// The key that signs, or would sign, a log from `first_slot` on.
    pub(crate) fn verifier_from(&self, first_slot: Slot) -> Result<VerifierKey, StoreError> {
        Ok(Sealer::new(&self.key, first_slot, None)?.verifier())
    }

    fn append(
        &mut self,
        slot: Slot,
        entries: Vec<NewEntry<Ready>>,
        changes: &Changes,
        checkpoint: Option<&str>,
    ) -> Result<Appended, StoreError> {
        let checked = check_entries(slot, entries)?;
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
        let known: HashMap<PoolId, Pool> =
            pools.into_iter().map(|pool| (pool.id.clone(), pool)).collect();
        let bodies = self.pack(slot, &known, &checked)?;
        let filled_slots = self.fill_until(slot)?;
        let result = self.write(slot, &known, checked, bodies, &changes, checkpoint);
        if result.is_err() {
            // Bodies that were counted on may not be there.
            self.dictionaries.clear();
            self.derived.clear();
            self.heads = LastHeads::default();
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
            self.heads = LastHeads::default();
        }
        filled
    }

    fn fill(&mut self, until: Slot) -> Result<u32, StoreError> {
        let Some((_, last)) = self.reader.slots()? else { return Ok(0) };
        let Some(sealer) = &self.sealer else { return Ok(0) };
        if last.next().is_none_or(|next| next >= until) {
            return Ok(0);
        }
        let mut pools = self.reader.pools()?;
        pools.retain(|pool| pool.retired_slot.is_none());
        let slots_at_once = (MAX_FILLED_ENTRIES / pools.len().max(1)).max(1);
        let outcome = Outcome::Missing(MissingReason::RecorderDown);
        let missing = NewHead { outcome, figures: None, retracts: Vec::new() };
        let mut sealings = Vec::with_capacity(pools.len());
        for pool in &pools {
            sealings.push(self.heads.sealing(&self.reader, pool, last)?);
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
                sealer.seal(&transaction, slot, &heads, None)?;
                (last_filled, next, filled) = (slot, slot.next(), filled + 1);
            }
            self.derived.finish(&self.reader)?;
            commit(transaction, last_filled)?;
            let newest = sealings
                .iter()
                .filter_map(|sealing| Some((sealing.pool.number, sealing.before.clone()?)));
            self.heads = LastHeads { slot: Some(last_filled), heads: newest.collect() };
            fold::after_commit(&self.reader.connection, self.fold_after_pages)?;
        }
        Ok(filled)
    }

    /// Requires that a sealed slot holds exactly these entries and changes.
    fn compare(
        &self,
        slot: Slot,
        checked: &Slotful,
        changes: &CheckedChanges,
    ) -> Result<(), StoreError> {
        for entry in checked.values() {
            let pool = self.reader.pool(&entry.pool)?;
            let recorded = match &pool {
                Some(pool) => self.reader.entry(pool, slot)?,
                None => None,
            };
            let (pool, offered) = (entry.pool.clone(), outcome_of(entry));
            match recorded.map(|entry| entry.outcome) {
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

    /// Packs the snapshots, side by side: one body for each entry, in their order, where it has
    /// one.
    fn pack(
        &mut self,
        slot: Slot,
        known: &HashMap<PoolId, Pool>,
        checked: &Slotful,
    ) -> Result<Vec<Option<Body>>, StoreError> {
        let mut to_pack = Vec::with_capacity(checked.len());
        for entry in checked.values() {
            let pool = known.get(&entry.pool);
            if let (Ok(_), Some(pool)) = (&entry.reading, pool) {
                self.dictionaries(pool)?;
            }
            to_pack.push((entry, pool.map(|pool| pool.number)));
        }
        let kept = &self.dictionaries;
        let packed = spread(&to_pack, |(entry, pool_no)| {
            let Ok(ready) = &entry.reading else { return Ok(None) };
            let known = pool_no.and_then(|pool_no| kept.get(&pool_no));
            let (level, base) = known.map_or((0, None), |known| known.choose(slot));
            let zstd = body::compress(&ready.joined, base.map(|base| base.joined.as_slice()))
                .map_err(|source| StoreError::Compress { pool: entry.pool.clone(), source })?;
            let base = base.map(|base| (base.body_no, base.slot));
            Ok(Some(Body { zstd, level, base }))
        });
        packed.into_iter().collect()
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
        known: &HashMap<PoolId, Pool>,
        checked: Slotful,
        bodies: Vec<Option<Body>>,
        changes: &CheckedChanges,
        checkpoint: Option<&str>,
    ) -> Result<(), StoreError> {
        let (mut written, mut frames) = (Vec::new(), HashMap::new());
        let mut newest = HashMap::with_capacity(known.len());
        let transaction = begin(&self.reader)?;
        let sealer = if let Some(sealer) = &self.sealer {
            sealer.clone()
        } else {
            let mut sealer = Sealer::new(&self.key, slot, self.reader.predecessor()?)?;
            if !self.signed_before_by.is_empty() {
                sealer.signed_before_by(self.signed_before_by.clone());
            }
            sealer.begin(&transaction)?;
            sealer
        };
        let mut heads = SlotHeads::default();
        let before = slot.previous().unwrap_or(slot);
        let retracts = |name: &str| changes.retracts.get(name).cloned().unwrap_or_default();
        let mut retires = changes.retires.iter().peekable();
        for ((name, entry), body) in checked.into_iter().zip(bodies) {
            while let Some((name, pool)) = retires.next_if(|(retires, _)| **retires < name) {
                let sealing = self.heads.sealing(&self.reader, pool, before)?;
                retire(
                    &self.reader,
                    &mut self.derived,
                    &mut heads,
                    (slot, sealing),
                    retracts(name),
                )?;
            }
            let sealing = match known.get(&entry.pool) {
                Some(pool) => {
                    keep_default_base(&transaction, pool, &entry)?;
                    self.heads.sealing(&self.reader, pool, before)?
                }
                None => Sealing { pool: insert_pool(&transaction, slot, &entry)?, before: None },
            };
            let outcome = outcome_of(&entry);
            let mut figures = None;
            if let (Ok(ready), Some(body)) = (entry.reading, body) {
                let body_no = insert_body(&transaction, &ready, &body)?;
                frames.insert(entry.pool, (frame_of(&ready, &body), body.zstd));
                let (level, joined) = (body.level, ready.joined);
                written.push((sealing.pool.number, Record { body_no, level, slot, joined }));
                figures = Some(ready.figures);
            }
            let new = NewHead { outcome, figures, retracts: retracts(&name) };
            let head = heads.add(&self.reader, &mut self.derived, &sealing, slot, &new)?;
            newest.insert(sealing.pool.number, head);
        }
        for (name, pool) in retires {
            let sealing = self.heads.sealing(&self.reader, pool, before)?;
            retire(&self.reader, &mut self.derived, &mut heads, (slot, sealing), retracts(name))?;
        }
        self.derived.finish(&self.reader)?;
        if !changes.doubts.is_empty() {
            notes::insert_doubts(&transaction, &self.reader.pools()?, slot, &changes.doubts)?;
        }
        let sealed = sealer.seal(&transaction, slot, &heads, checkpoint)?;
        let pieces = heads.canonical.into_iter().map(|(pool, head)| {
            let body = frames.remove(&pool);
            Piece { pool, head, body }
        });
        let files = SlotFiles::new(slot, sealed, pieces, self.parts_most)?;
        commit(transaction, slot)?;
        self.unpublished = Some(files);
        self.heads = LastHeads { slot: Some(slot), heads: newest };
        self.sealer = Some(sealer);
        for (pool_no, record) in written {
            self.dictionaries.entry(pool_no).or_default().add(record);
        }
        fold::after_commit(&self.reader.connection, self.fold_after_pages)
    }
}

/// The heads of the newest slot, so that the next one need not read them.
#[derive(Debug, Default)]
struct LastHeads {
    slot: Option<Slot>,
    /// By the pools' numbers.
    heads: HashMap<i64, (HeadRow, HeadHash)>,
}

impl LastHeads {
    /// The pool as one that gets its next head after `last`.
    fn sealing(&self, reader: &Reader, pool: &Pool, last: Slot) -> Result<Sealing, StoreError> {
        let kept = self.heads.get(&pool.number).filter(|_| self.slot == Some(last));
        let before = match kept {
            Some(kept) => Some(kept.clone()),
            None => reader.head_row(pool, last)?,
        };
        Ok(Sealing { pool: pool.clone(), before })
    }
}

/// Writes the pool's last entry and head.
fn retire(
    reader: &Reader,
    derived: &mut Derived,
    heads: &mut SlotHeads,
    (slot, sealing): (Slot, Sealing),
    retracts: Vec<Retraction>,
) -> Result<(), StoreError> {
    let doing = "retiring a pool";
    let parameters = named_params! { ":pool_no": sealing.pool.number, ":slot": slot.number() };
    reader.connection.execute(sql::INSERT_RETIREMENT, parameters).doing(doing)?;
    let new = NewHead { outcome: Outcome::Retired, figures: None, retracts };
    heads.add(reader, derived, &sealing, slot, &new).map(|_| ())
}

/// Checks a slot's entries against each other and the slot.
fn check_entries(slot: Slot, entries: Vec<NewEntry<Ready>>) -> Result<Slotful, StoreError> {
    if entries.is_empty() {
        return Err(StoreError::NoEntries { slot });
    }
    let mut checked = BTreeMap::new();
    for entry in entries {
        if let Ok(Ready { pool, slot: found, .. }) = &entry.reading {
            if *pool != entry.pool {
                let (expected, found) = (entry.pool, pool.clone());
                return Err(StoreError::SnapshotOfOtherPool { expected, found });
            }
            if *found != slot {
                let (pool, found) = (entry.pool, *found);
                return Err(StoreError::SnapshotOfOtherSlot { pool, expected: slot, found });
            }
        }
        let pool = entry.pool.clone();
        if checked.insert(pool.to_string(), entry).is_some() {
            return Err(StoreError::PoolRepeated { slot, pool });
        }
    }
    Ok(checked)
}

fn outcome_of(entry: &NewEntry<Ready>) -> Outcome {
    match &entry.reading {
        Ok(ready) => Outcome::Recorded(ready.hash),
        Err(reason) => Outcome::Missing(*reason),
    }
}

/// Where a body stands in a part, once it stands there.
fn frame_of(ready: &Ready, body: &Body) -> FrameRef {
    // Bodies have 4 MiB and a little: all of it fits.
    let length = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
    FrameRef {
        back: body.base.map_or(0, |(_, base)| ready.slot.number().saturating_sub(base.number())),
        bytes: length(body.zstd.len()),
        snapshot: length(ready.snapshot_bytes),
        state: length(ready.joined.len() - ready.snapshot_bytes),
    }
}

fn begin(reader: &Reader) -> Result<Transaction<'_>, StoreError> {
    Transaction::new_unchecked(&reader.connection, TransactionBehavior::Immediate)
        .doing("beginning to write")
}

fn insert_pool(
    transaction: &Transaction,
    slot: Slot,
    entry: &NewEntry<Ready>,
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
    entry: &NewEntry<Ready>,
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

fn insert_body(transaction: &Transaction, ready: &Ready, body: &Body) -> Result<i64, StoreError> {
    let doing = "writing a body";
    let mut statement = transaction.prepare_cached(sql::INSERT_BODY).doing(doing)?;
    let parameters = named_params! {
        ":slot": ready.slot.number(),
        ":snapshot_sha256": ready.hash.0,
        ":state_sha256": ready.state.0,
        ":level": body.level,
        ":dictionary_body_no": body.base.map(|(body_no, _)| body_no),
        ":snapshot_bytes": ready.snapshot_bytes.cast_signed(),
        ":state_bytes": (ready.joined.len() - ready.snapshot_bytes).cast_signed(),
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
