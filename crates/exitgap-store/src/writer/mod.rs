//! Writing a store: the part of the one recorder. This file opens the store and has its functions.
//! A slot passes through `ready.rs` (what needs no store), `check.rs` and `changes.rs` (whether it
//! may be written), `append.rs` (its one transaction), and `seal.rs` (heads, leaf, tree and
//! checkpoint in that transaction).

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

/// A store opened for writing, by the only process that may. Dropping it releases the
/// lock; so does the kernel when the process ends.
pub struct Store {
    reader: Reader,
    /// What signs; `None`: what others sealed is followed.
    key: Option<SignerKey>,
    /// Keys that signed the log which is to be sealed anew, or followed.
    signed_before_by: Vec<VerifierKey>,
    /// The log, once it has begun.
    sealer: Option<Sealer>,
    /// What each pool's next body may refer to, by the pool's number.
    dictionaries: HashMap<Contract, Dictionaries>,
    /// What the next slot's derived rows rest on.
    derived: DerivedState,
    /// What the next slot's heads follow.
    heads: LastHeads,
    /// Pages of the write-ahead log after which it is folded into the database.
    fold_after_pages: u32,
    /// The newest slot as it is to be published, until it is.
    pub(crate) unpublished: Option<SlotFiles>,
    /// Parts that a slot may have.
    parts_most: usize,
    /// Whether slots wait for witnesses before they are published.
    pub(crate) awaits_cosignatures: bool,
    /// Whether what is about to be signed is claimed, on a server.
    claims: bool,
    /// Where it is claimed first, outside of the database.
    claims_beside: Option<Arc<dyn Claims>>,
    /// Who is told of what was signed, before it is committed.
    told_signed: Option<fn(&str)>,
    /// A file's; a server keeps its own.
    _lock: Option<Lock>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("reader", &self.reader).finish_non_exhaustive()
    }
}

impl Store {
    /// Opens the store at `path`, a file's or a server's URL, for writing and takes its lock. `key` has the log's name,
    /// and must be the one that signed so far ([`StoreError::WrongKey`]).
    ///
    /// Refused where the newest slot's heads do not hash to the log's last checkpoint
    /// ([`Reader::check_edge`]): nothing is built upon damage.
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

    /// Creates a store at `path`, where no file may be (but an empty database, which an
    /// interrupted creation leaves), and takes its lock. Its log has the name of `key`, and
    /// begins with the first slot.
    pub fn create(path: impl AsRef<Path>, key: &SignerKey) -> Result<Self, StoreError> {
        let path = path.as_ref();
        // A name that cannot be a log's is refused before anything is made.
        Sealer::new(key, Slot::FIRST, None)?;
        let lock = lock(path)?;
        Ok(Self::with(Db::create(path)?, lock, Some(key)))
    }

    /// Opens the store at `path`, which is created where no file is, and takes its lock: for what others seal, signed by
    /// one of `trusted` ([`LogFolder::follow`](crate::LogFolder::follow)). Nothing can be sealed in it ([`StoreError::NoSigner`]).
    ///
    /// Refused where the store's log is not one that these keys are of, and where it is damaged, as [`Store::open`] is.
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
        store.set_predecessor(predecessor)?;
        Ok(store)
    }

    /// Names the log that the store's one succeeds, before that begins.
    pub(crate) fn set_predecessor(&self, predecessor: &Predecessor) -> Result<(), StoreError> {
        self.reader.db.insert_predecessor(&predecessor.to_document())
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

    /// Tells `told` of each checkpoint that was signed, before it is committed, which this is for rehearsing.
    #[must_use]
    pub fn telling_signed(self, told: fn(&str)) -> Self {
        Self { told_signed: Some(told), ..self }
    }

    /// Claims nothing before it is signed: two recorders of a server's store can then sign two histories, which this is for
    /// rehearsing.
    #[must_use]
    pub fn without_claims(self) -> Self {
        Self { claims: false, ..self }
    }

    /// Has each slot claimed there before it is signed, and sealed as it was claimed there where it was: whatever the database
    /// has, and by whichever recorder. All that record into one log have to.
    pub fn claim_in(&mut self, claims: Arc<dyn Claims>) {
        self.claims_beside = Some(claims);
    }

    /// Whether slots are claimed outside of the database.
    pub fn claims_beside(&self) -> bool {
        self.claims_beside.is_some()
    }

    /// Lets the database grow by so many pages and no more, or as it likes again. What finds no
    /// room is refused as on a full disk, which this is for rehearsing.
    pub fn limit_growth(&self, pages: Option<u32>) -> Result<(), StoreError> {
        self.reader.db.limit_growth(pages)
    }

    /// Folds the write-ahead log into the database and closes the store. Dropping it does the same
    /// where that is possible, and is silent where it is not; nothing committed depends on either.
    pub fn close(self) -> Result<(), StoreError> {
        let Self { reader: Reader { db, .. }, _lock, .. } = self;
        db.fold()?;
        db.close("closing the store")
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
    ) -> Result<AppendOutcome, StoreError> {
        self.append(
            slot,
            Ready::prepare_entries(entries)?,
            &Changes::default(),
            SlotExpectation::Anything,
        )
    }

    /// Writes a slot as [`Store::append_slot`] does, whose heads also take earlier slots back or
    /// retire pools.
    pub fn append_slot_with(
        &mut self,
        slot: Slot,
        entries: &[NewEntry],
        changes: &Changes,
    ) -> Result<AppendOutcome, StoreError> {
        self.append(slot, Ready::prepare_entries(entries)?, changes, SlotExpectation::Anything)
    }

    /// Takes out of the changes of `slot` the documents of pools' logs and of receipts that would be refused with it, and
    /// says why they would: the slot is written without them. An error is one of the database.
    pub fn take_refused(
        &self,
        slot: Slot,
        changes: &mut Changes,
    ) -> Result<Vec<StoreError>, StoreError> {
        changes::take_refused(&self.reader, slot, changes)
    }

    /// The same with entries that were made ready before.
    pub fn append_ready(
        &mut self,
        slot: Slot,
        entries: Vec<NewEntry<Ready>>,
        changes: &Changes,
    ) -> Result<AppendOutcome, StoreError> {
        self.append(slot, entries, changes, SlotExpectation::Anything)
    }

    /// Writes a slot that was sealed before and must make the same checkpoint again.
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

    /// Writes a slot that was claimed before and must make what was claimed, and signs it.
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

    /// The slot that was about to be signed when whoever wrote the store ended.
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

    /// The keys that sign the log, or would sign one that begins.
    fn keys(&self) -> Vec<VerifierKey> {
        let own = || self.key.iter().map(SignerKey::verifier).collect();
        self.sealer.as_ref().map_or_else(own, |sealer| sealer.keys.clone())
    }

    /// Reads what has left a server's database from the closed days in this folder.
    pub fn read_days_from(&mut self, folder: LogFolder) {
        self.reader.days = Some(folder);
    }

    /// Whether it can still write: one whose connection to a server was lost, or that another took over from, cannot.
    pub fn is_open(&self) -> bool {
        self.reader.is_open()
    }

    /// Opens a server's store anew after its connection was lost, as [`Store::open`] does; refused while another
    /// recorder seals ([`StoreError::Leased`]). Of a file nothing is done.
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

    /// Lets a second key of the log's name sign every checkpoint from the next slot on, beside the
    /// one that the store was opened with. From then on either opens the store. For the time in
    /// which the log's key is changed.
    pub fn sign_beside(&mut self, key: &SignerKey) -> Result<(), StoreError> {
        let sealer = self.sealer.as_mut().ok_or(StoreError::KeyBeforeLog)?;
        sealer.sign_beside(&self.reader.db, key)
    }

    /// Says which keys signed the slots that [`Store::append_sealed`] is to seal anew, the first
    /// first. A log that has begun knows them.
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

/// The lock of a store in a file. On a server whoever opens it for writing takes it there.
pub(crate) fn lock(path: &Path) -> Result<Option<Lock>, StoreError> {
    if is_server(path) { Ok(None) } else { Lock::acquire(path).map(Some) }
}
