//! Writes a store, as its only recorder. This file opens the store and defines its functions. A slot passes through
//! `ready.rs` (work that needs no store), `check.rs` and `changes.rs` (whether it may be written), `append.rs` (its
//! single transaction), and `seal.rs` (heads, leaf, tree and checkpoint in that transaction).

mod append;
pub mod changes;
mod check;
mod known;
pub mod ready;
pub mod seal;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use exitgap_core::evidence::Predecessor;
use exitgap_core::ids::Contract;
use exitgap_core::log_folder::MAX_PARTS;
use exitgap_core::series::Slot;
use exitgap_core::tlog::{SignerKey, VerifierKey};

use crate::bodies::codec::Dictionaries;
use crate::claims::{self, Claims};
use crate::db::{AFTER_PAGES, Claim, Db, is_server};
use crate::derived::writer::DerivedState;
use crate::error::StoreError;
use crate::folder::{LogFolder, SlotFiles};
use crate::lock::Lock;
use crate::model::{AppendOutcome, Changes, NewEntry};
use crate::reader::Reader;
use crate::writer::ready::Ready;
use crate::writer::seal::Sealer;
use append::SlotExpectation;
use known::LastHeads;

/// A store opened for writing by the only process that may write. Dropping it releases the lock; the kernel also
/// releases it when the process ends.
pub struct Store {
    reader: Reader,
    /// The signing key; `None`: the store follows a log that others seal.
    key: Option<SignerKey>,
    /// Keys that signed the log that is sealed again or followed.
    signed_before_by: Vec<VerifierKey>,
    /// The log, once it has begun.
    sealer: Option<Sealer>,
    /// The dictionaries for each contract's next body.
    dictionaries: HashMap<Contract, Dictionaries>,
    /// Cached input for the next slot's derived rows.
    derived: DerivedState,
    /// The heads that the next slot's heads follow.
    heads: LastHeads,
    /// The number of pages of the write-ahead log after which it is checkpointed into the database.
    fold_after_pages: u32,
    /// The files of the newest slot, until they are published.
    pub(crate) unpublished: Option<SlotFiles>,
    /// The maximum number of parts of a slot.
    parts_most: usize,
    /// Whether slots wait for witnesses before they are published.
    pub(crate) awaits_cosignatures: bool,
    /// Whether a slot is claimed on a server before it is signed.
    claims: bool,
    /// Where slots are claimed first, outside of the database.
    claims_beside: Option<Arc<dyn Claims>>,
    /// Called with each signed checkpoint before it is committed.
    told_signed: Option<fn(&str)>,
    /// The lock of a file. A server manages its own lock.
    _lock: Option<Lock>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("reader", &self.reader).finish_non_exhaustive()
    }
}

impl Store {
    /// Opens the store at `path` (a file or a server's URL) for writing and takes its lock. The name of `key` is the
    /// log's name, and `key` must be the one that signed so far ([`StoreError::WrongKey`]).
    ///
    /// Fails if the newest slot's heads do not match the log's last checkpoint ([`Reader::check_edge`]), so that
    /// nothing is added to damaged data.
    pub fn open(path: impl AsRef<Path>, key: &SignerKey) -> Result<Self, StoreError> {
        let path = path.as_ref();
        if !is_server(path) && !path.exists() {
            return Err(StoreError::NotFound { path: path.to_owned() });
        }
        let lock = lock(path)?;
        let mut store = Self::with(Db::open_writer(path)?, lock, Some(key));
        if let Some(log) = store.reader.log()? {
            let sealer = Sealer::of_log(key, &log)?;
            store.reader.check_edge()?;
            store.sealer = Some(sealer);
        }
        Ok(store)
    }

    /// Creates a store at `path`, where no file may exist (except an empty database that an interrupted creation left),
    /// and takes its lock. Its log has the name of `key` and begins with the first slot.
    pub fn create(path: impl AsRef<Path>, key: &SignerKey) -> Result<Self, StoreError> {
        let path = path.as_ref();
        // Refuses an invalid log name before anything is created.
        Sealer::new(key, Slot::FIRST, None)?;
        let lock = lock(path)?;
        Ok(Self::with(Db::create(path)?, lock, Some(key)))
    }

    /// Opens the store at `path`, creates it if no file exists, and takes its lock. The store follows a log that others
    /// seal, signed by one of `trusted` ([`LogFolder::follow`](crate::LogFolder::follow)). It cannot seal anything
    /// itself ([`StoreError::NoSigner`]).
    ///
    /// Fails if these keys do not belong to the store's log, or if the store is damaged, like [`Store::open`].
    pub fn open_follower(
        path: impl AsRef<Path>,
        trusted: &[VerifierKey],
    ) -> Result<Self, StoreError> {
        let path = path.as_ref();
        let lock = lock(path)?;
        let db = if is_server(path) || path.exists() {
            Db::open_writer(path)?
        } else {
            Db::create(path)?
        };
        let mut store = Self::with(db, lock, None);
        match store.reader.log()? {
            Some(log) => {
                let mut sealer = Sealer::follower(log.origin, trusted, log.predecessor)?;
                let named = std::mem::replace(&mut sealer.keys, log.keys);
                store.reader.check_edge()?;
                sealer.name_keys(&store.reader.db, &named)?;
                store.sealer = Some(sealer);
            }
            None => store.signed_before_by = trusted.to_vec(),
        }
        Ok(store)
    }

    fn with(db: Db, lock: Option<Lock>, key: Option<&SignerKey>) -> Self {
        Self {
            reader: Reader::over(db, None),
            key: key.cloned(),
            signed_before_by: Vec::new(),
            sealer: None,
            dictionaries: HashMap::new(),
            derived: DerivedState::default(),
            heads: LastHeads::default(),
            fold_after_pages: AFTER_PAGES,
            unpublished: None,
            parts_most: MAX_PARTS,
            awaits_cosignatures: false,
            claims: true,
            claims_beside: None,
            told_signed: None,
            _lock: lock,
        }
    }

    /// Creates a store at `path` like [`Store::create`]. Its log succeeds one that is lost. Fails if both have the same
    /// name ([`StoreError::SameName`]): the key must have another name.
    pub fn create_successor(
        path: impl AsRef<Path>,
        key: &SignerKey,
        predecessor: &Predecessor,
    ) -> Result<Self, StoreError> {
        if predecessor.origin.name() == key.verifier().name() {
            return Err(StoreError::SameName { name: predecessor.origin.name().to_owned() });
        }
        let store = Self::create(path, key)?;
        store.set_predecessor(predecessor)?;
        Ok(store)
    }

    /// Sets the log that the store's log succeeds, before the latter begins.
    pub(crate) fn set_predecessor(&self, predecessor: &Predecessor) -> Result<(), StoreError> {
        self.reader.db.insert_predecessor(&predecessor.to_document())
    }

    /// Sets the number of pages at which the write-ahead log is checkpointed into the database. The default is 1,000.
    #[must_use]
    pub fn folding_after(self, pages: u32) -> Self {
        Self { fold_after_pages: pages, ..self }
    }

    /// Limits the number of parts of a slot, for tests: a slot that needs more is refused like one with too many pools.
    #[must_use]
    pub fn limit_parts(self, most: usize) -> Self {
        Self { parts_most: most.min(MAX_PARTS), ..self }
    }

    /// Calls `told` with each signed checkpoint before it is committed, for tests.
    #[must_use]
    pub fn telling_signed(self, told: fn(&str)) -> Self {
        Self { told_signed: Some(told), ..self }
    }

    /// Disables claims before signing, for tests: two recorders of a server's store can then sign two histories.
    #[must_use]
    pub fn without_claims(self) -> Self {
        Self { claims: false, ..self }
    }

    /// Claims each slot in `claims` before it is signed. If it is already claimed there, seals it as claimed, whatever
    /// the database contains and whichever recorder claimed it. All recorders of a log must use the same claims.
    pub fn claim_in(&mut self, claims: Arc<dyn Claims>) {
        self.claims_beside = Some(claims);
    }

    /// Whether slots are also claimed outside of the database.
    pub fn claims_beside(&self) -> bool {
        self.claims_beside.is_some()
    }

    /// Limits the growth of the database to this many pages, or removes the limit, for tests: a write that finds no
    /// space fails like on a full disk.
    pub fn limit_growth(&self, pages: Option<u32>) -> Result<(), StoreError> {
        self.reader.db.limit_growth(pages)
    }

    /// Checkpoints the write-ahead log into the database and closes the store. Dropping the store does the same but
    /// ignores errors. Committed data depends on neither.
    pub fn close(self) -> Result<(), StoreError> {
        let Self { reader: Reader { db, .. }, _lock, .. } = self;
        db.fold()?;
        db.close("closing the store")
    }

    /// The files of the newest slot if this process sealed it. They are returned only once.
    pub(crate) fn take_unpublished(&mut self) -> Option<SlotFiles> {
        self.unpublished.take()
    }

    /// A reader of the store.
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// Writes a slot: one entry for every pool of the store, and for new pools, which begin with it. Slots have no
    /// gaps: missing slots between the last one and this one are first filled with `recorder_down`.
    ///
    /// Submitting a stored slot again is accepted if all its entries are the same, and refused
    /// ([`StoreError::EntryDiffers`]) otherwise.
    ///
    /// # Order of writes, and the result of a crash
    ///
    /// 1. Everything is checked, hashed and compressed, and depths are computed. Nothing is written yet.
    /// 2. The pause since the last slot is filled, at most 20,000 entries per transaction. A crash leaves complete
    ///    slots; the next call continues after them.
    /// 3. One transaction writes new pools, bodies, entries with their heads, the log's nodes and, last, the row that
    ///    seals the slot: its leaf and the signed checkpoint. The commit waits until the data is on disk. A crash
    ///    before the commit leaves nothing of the slot; a crash after it leaves all of it.
    /// 4. From time to time the write-ahead log is checkpointed into the database. A crash leaves its content in the
    ///    log. An error ([`StoreError::Fold`]) does not affect the written slot.
    /// 5. After an error from a commit ([`StoreError::CommitUnknown`]) the slot may or may not be written. Open the
    ///    store again and submit the slot again to find out.
    pub fn append_slot(
        &mut self,
        slot: Slot,
        entries: &[NewEntry],
    ) -> Result<AppendOutcome, StoreError> {
        self.append(
            slot,
            Ready::prepare_entries(entries)?,
            &Changes::default(),
            SlotExpectation::Anything,
        )
    }

    /// Writes a slot like [`Store::append_slot`], whose heads also retract earlier slots or retire pools.
    pub fn append_slot_with(
        &mut self,
        slot: Slot,
        entries: &[NewEntry],
        changes: &Changes,
    ) -> Result<AppendOutcome, StoreError> {
        self.append(slot, Ready::prepare_entries(entries)?, changes, SlotExpectation::Anything)
    }

    /// Removes the documents of fills and receipts that the store would refuse from the changes of `slot`, and returns
    /// the reasons, so that the slot can be written without them. An error is an error of the database.
    pub fn take_refused(
        &self,
        slot: Slot,
        changes: &mut Changes,
    ) -> Result<Vec<StoreError>, StoreError> {
        changes::take_refused(&self.reader, slot, changes)
    }

    /// Same as [`Store::append_slot_with`], with entries that were prepared before.
    pub fn append_ready(
        &mut self,
        slot: Slot,
        entries: Vec<NewEntry<Ready>>,
        changes: &Changes,
    ) -> Result<AppendOutcome, StoreError> {
        self.append(slot, entries, changes, SlotExpectation::Anything)
    }

    /// Writes a slot that was sealed before and must produce the same checkpoint again.
    pub(crate) fn append_sealed(
        &mut self,
        slot: Slot,
        entries: &[NewEntry],
        changes: &Changes,
        checkpoint: &str,
    ) -> Result<AppendOutcome, StoreError> {
        let appended = self.append(
            slot,
            Ready::prepare_entries(entries)?,
            changes,
            SlotExpectation::Signed(checkpoint),
        )?;
        if let Some(sealer) = &self.sealer
            && appended.written
        {
            let lines = sealer.signed_by_others(checkpoint);
            self.record_cosignatures(&lines)?;
        }
        Ok(appended)
    }

    /// Writes a slot that was claimed before and must match the claim, and signs it.
    pub(crate) fn append_claimed(
        &mut self,
        slot: Slot,
        entries: &[NewEntry],
        changes: &Changes,
        checkpoint: &str,
    ) -> Result<AppendOutcome, StoreError> {
        self.append(
            slot,
            Ready::prepare_entries(entries)?,
            changes,
            SlotExpectation::Claimed(checkpoint),
        )
    }

    /// The slot that was about to be signed when the previous writer ended.
    pub(crate) fn pending_claim(&self) -> Result<Option<Claim>, StoreError> {
        let size = self.reader.log_size()? + 1;
        if let Some(beside) = &self.claims_beside {
            let known = self.keys();
            let found = claims::find(beside.as_ref(), size, &known)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        self.reader.db.claim(size)
    }

    /// The keys that sign the log, or would sign a new one.
    fn keys(&self) -> Vec<VerifierKey> {
        let own = || self.key.iter().map(SignerKey::verifier).collect();
        self.sealer.as_ref().map_or_else(own, |sealer| sealer.keys.clone())
    }

    /// Reads archived bodies of a server's database from the closed days in this folder.
    pub fn read_days_from(&mut self, folder: LogFolder) {
        self.reader.days = Some(folder);
    }

    /// Whether the store can still write. It cannot after its connection to a server was lost or another recorder took
    /// over.
    pub fn is_open(&self) -> bool {
        self.reader.is_open()
    }

    /// Opens a server's store again after its connection was lost, like [`Store::open`]. Fails while another recorder
    /// seals ([`StoreError::Leased`]). Does nothing for a file.
    pub fn reopen(&mut self) -> Result<(), StoreError> {
        let Some(db) = self.reader.db.writer_again()? else { return Ok(()) };
        let reader = Reader::over(db, self.reader.days.clone());
        let log = reader.log()?;
        match (&mut self.sealer, log, &self.key) {
            (Some(sealer), Some(log), _) if sealer.origin == log.origin => sealer.keys = log.keys,
            (_, Some(log), Some(key)) => self.sealer = Some(Sealer::of_log(key, &log)?),
            _ => self.sealer = None,
        }
        if self.sealer.is_some() {
            reader.check_edge()?;
        }
        self.reader = reader;
        self.dictionaries.clear();
        self.derived.clear();
        self.heads = LastHeads::default();
        self.unpublished = None;
        Ok(())
    }

    /// Makes a second key of the log's name also sign every checkpoint from the next slot on, in addition to the key
    /// that the store was opened with. From then on either key opens the store. This is for a change of the log's key.
    pub fn sign_beside(&mut self, key: &SignerKey) -> Result<(), StoreError> {
        let sealer = self.sealer.as_mut().ok_or(StoreError::KeyBeforeLog)?;
        sealer.sign_beside(&self.reader.db, key)
    }

    /// Sets the keys that signed the slots that [`Store::append_sealed`] will seal again, oldest first. A log that has
    /// begun knows its keys.
    pub(crate) fn sealed_by(&mut self, keys: Vec<VerifierKey>) -> Result<(), StoreError> {
        if let Some(sealer) = &mut self.sealer {
            return sealer.name_keys(&self.reader.db, &keys);
        }
        self.signed_before_by = keys;
        Ok(())
    }

    /// The key that signs, or would sign, a log from `first_slot` on.
    pub(crate) fn verifier_from(&self, first_slot: Slot) -> Result<VerifierKey, StoreError> {
        let key = self.key.as_ref().ok_or(StoreError::NoSigner)?;
        Ok(Sealer::new(key, first_slot, None)?.verifier())
    }
}

/// Takes the lock of a store in a file. On a server, opening the store for writing takes a lock there.
pub(crate) fn lock(path: &Path) -> Result<Option<Lock>, StoreError> {
    if is_server(path) { Ok(None) } else { Lock::acquire(path).map(Some) }
}
