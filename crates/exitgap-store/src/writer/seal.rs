//! Seals a slot within its transaction: heads, the slot's leaf, the log's tree and its signed checkpoint.

use exitgap_core::evidence::{Commits, Head, Predecessor, Retraction, RetractionCause, SlotLeaf};
use exitgap_core::exit::METHOD_VERSION;
use exitgap_core::ids::{DocumentHash, HeadHash, PoolId};
use exitgap_core::series::Slot;
use exitgap_core::tlog::{Checkpoint, Hash, Note, NoteError, Origin, SignerKey, VerifierKey, root};

use crate::db::Db;
use crate::derived::figures::SnapshotFigures;
use crate::derived::window::WindowEntry;
use crate::derived::writer::DerivedState;
use crate::error::StoreError;
use crate::log::merkle::Nodes;
use crate::log::slot_tiles;
use crate::log::{FullEntry, LogIdentity};
use crate::model::{Entry, Outcome, Pool};
use crate::reader::Reader;

/// The log that a writer seals, and its signing keys, named after the log's origin.
#[derive(Debug, Clone)]
pub struct Sealer {
    pub origin: Origin,
    /// During a change of keys, the old key and the new one. Empty if the store follows a log that others seal.
    signers: Vec<SignerKey>,
    /// All keys that the log has had, oldest first; for a followed log, the trusted ones.
    pub keys: Vec<VerifierKey>,
    /// The log it succeeds.
    predecessor: Option<Predecessor>,
}

/// A pool that gets a new head.
pub struct SealTarget {
    pub pool: Pool,
    /// Its newest row and the hash of that head; `None` before its first one.
    pub before: Option<(FullEntry, HeadHash)>,
}

/// The content of a new head.
pub struct NewHead {
    pub outcome: Outcome,
    /// The figures of the snapshot, if there is one.
    pub figures: Option<SnapshotFigures>,
    /// Ascending and already checked.
    pub retracts: Vec<Retraction>,
    /// The fills document that it commits to, which is already written.
    pub fills: Option<DocumentHash>,
    /// The document of issued estimates that it commits to, which is already written.
    pub issued: Option<DocumentHash>,
}

/// A slot's heads so far, in the order of pool ids.
#[derive(Debug, Default)]
pub struct SlotHeads {
    /// The pools and the canonical bytes of their heads.
    pub canonical: Vec<(PoolId, Vec<u8>)>,
    /// The leaf hashes of these heads.
    hashes: Vec<Hash>,
}

/// A slot with the unsigned checkpoint that covers it.
pub struct CoveredSlot {
    pub slot: Slot,
    leaf: SlotLeaf,
    /// The leaf's canonical bytes.
    pub canonical: Vec<u8>,
    pub checkpoint: Checkpoint,
}

impl Sealer {
    /// The log that `key` signs from `first_slot` on. It succeeds another log if `predecessor` names one.
    pub fn new(
        key: &SignerKey,
        first_slot: Slot,
        predecessor: Option<Predecessor>,
    ) -> Result<Self, StoreError> {
        let origin = Origin::new(key.verifier().name(), first_slot).map_err(StoreError::LogName)?;
        let signer = key
            .with_name(&origin.to_string())
            .map_err(|error| StoreError::LogName(error.into()))?;
        let keys = vec![signer.verifier()];
        Ok(Self { origin, signers: vec![signer], keys, predecessor })
    }

    /// The store's log, signed by `key`, which must be one of its keys.
    pub fn of_log(key: &SignerKey, log: &LogIdentity) -> Result<Self, StoreError> {
        let mut sealer = Self::new(key, log.origin.first_slot(), log.predecessor.clone())?;
        let found = sealer.verifier();
        if !log.keys.contains(&found) {
            let (expected, found) = (log.named_keys(), found.to_string());
            return Err(StoreError::WrongKey { expected, found });
        }
        sealer.keys.clone_from(&log.keys);
        Ok(sealer)
    }

    /// A log that others seal, signed by those of the `trusted` keys that have its name.
    pub fn follower(
        origin: Origin,
        trusted: &[VerifierKey],
        predecessor: Option<Predecessor>,
    ) -> Result<Self, StoreError> {
        let name = origin.to_string();
        let keys: Vec<_> = trusted.iter().filter(|key| key.name() == name).cloned().collect();
        if keys.is_empty() {
            let found = trusted.iter().map(VerifierKey::to_string).collect::<Vec<_>>().join(", ");
            return Err(StoreError::OtherLogsKeys { log: name, found });
        }
        Ok(Self { origin, signers: Vec::new(), keys, predecessor })
    }

    /// Sets the keys that signed the slots of a log that is sealed again. The signer's key is one of them.
    pub fn signed_before_by(&mut self, keys: Vec<VerifierKey>) {
        self.keys = keys;
    }

    /// Makes `key` sign as well from the next slot on, and stores it if the log never had it.
    pub fn sign_beside(&mut self, db: &Db, key: &SignerKey) -> Result<(), StoreError> {
        let (expected, found) = (self.origin.name(), key.verifier().name().to_owned());
        if expected != found {
            return Err(StoreError::OtherName { expected: expected.to_owned(), found });
        }
        let named = key.with_name(&self.origin.to_string());
        let key = named.map_err(|error| StoreError::LogName(error.into()))?;
        let verifier = key.verifier();
        self.name_keys(db, std::slice::from_ref(&verifier))?;
        if self.signers.iter().all(|signer| signer.verifier() != verifier) {
            self.signers.push(key);
        }
        Ok(())
    }

    /// Stores those of these keys that the log never had.
    pub fn name_keys(&mut self, db: &Db, keys: &[VerifierKey]) -> Result<(), StoreError> {
        for key in keys {
            if !self.keys.contains(key) {
                db.insert_log_key(self.keys.len() + 1, &key.to_string())?;
                self.keys.push(key.clone());
            }
        }
        Ok(())
    }

    /// Stores the log's name and keys before its first slot.
    pub fn begin(&self, db: &Db) -> Result<(), StoreError> {
        db.insert_log(&self.keys[0].to_string(), self.origin.first_slot())?;
        for (number, key) in (1..).zip(&self.keys).skip(1) {
            db.insert_log_key(number, &key.to_string())?;
        }
        Ok(())
    }

    /// The verifier of the key that signs checkpoints.
    pub fn verifier(&self) -> VerifierKey {
        self.signers[0].verifier()
    }

    /// The lines of a note that none of the log's keys signed; empty if the text is not a note.
    pub fn signed_by_others(&self, note: &str) -> String {
        Note::parse(note).map(|note| note.lines_of_others(&self.keys)).unwrap_or_default()
    }

    /// The checkpoint's note, either newly signed or with the earlier signature of one of the log's keys.
    fn sign(
        &self,
        slot: Slot,
        checkpoint: &Checkpoint,
        signed_before: Option<&str>,
    ) -> Result<String, StoreError> {
        let text = checkpoint.to_text();
        if let Some(expected) = signed_before {
            let note = Note::parse(expected).ok().filter(|note| {
                note.text == text && note.signed_by(&self.origin, &self.keys).is_ok()
            });
            // Signatures of others are stored separately, as cosignatures. No other note is ever signed for this slot.
            return note.map(|note| note.by(&self.keys)).ok_or_else(|| {
                StoreError::SealedOtherwise { slot, expected: expected.to_owned(), found: text }
            });
        }
        let failed = |error: NoteError| StoreError::Seal { slot, reason: error.to_string() };
        let (first, others) = self.signers.split_first().ok_or(StoreError::NoSigner)?;
        let first = first.sign(&text).map_err(failed)?;
        others.iter().try_fold(first, |note, key| key.sign_beside(&note)).map_err(failed)
    }

    /// Writes the slot's leaf and the nodes it completes, and returns the checkpoint that is to be signed. Nothing is
    /// signed yet.
    pub fn cover(&self, db: &Db, slot: Slot, heads: &SlotHeads) -> Result<CoveredSlot, StoreError> {
        let failed = |reason: String| StoreError::Seal { slot, reason };
        let pools = u32::try_from(heads.hashes.len()).unwrap_or(u32::MAX);
        let predecessor = self.predecessor.as_ref().filter(|_| self.origin.first_slot() == slot);
        let commits = predecessor.map_or_else(Commits::default, Predecessor::commitment);
        let leaf = SlotLeaf { slot, pools, root: root(&heads.hashes), commits };
        let canonical = leaf.to_canonical().map_err(|error| failed(error.to_string()))?;
        slot_tiles::insert(db, slot, &heads.hashes)?;
        let index = self.origin.index_of(slot).unwrap_or_default();
        let nodes = Nodes(db);
        nodes.append(index, SlotLeaf::leaf_of(&canonical))?;
        let checkpoint = Checkpoint {
            origin: self.origin.clone(),
            size: index + 1,
            root: nodes.root(index + 1)?,
            extensions: Vec::new(),
        };
        Ok(CoveredSlot { slot, leaf, canonical, checkpoint })
    }

    /// Signs the checkpoint that covers the slot, which must equal `signed_before` if that is given, and seals the
    /// slot.
    pub fn seal(
        &self,
        db: &Db,
        covered: &CoveredSlot,
        signed_before: Option<&str>,
    ) -> Result<String, StoreError> {
        let CoveredSlot { slot, leaf, checkpoint, .. } = covered;
        let note = self.sign(*slot, checkpoint, signed_before)?;
        db.insert_sealed_slot(*slot, leaf.pools, &leaf.root.0, &note)?;
        Ok(note)
    }

    /// The key that signs claims, if this log signs.
    pub fn signer(&self) -> Option<&SignerKey> {
        self.signers.first()
    }
}

impl SlotHeads {
    /// Writes the pool's entry, head and derived rows for `slot`, and returns the entry and the head that the next one
    /// follows. Pools must come in the order of their ids.
    pub fn add(
        &mut self,
        reader: &Reader,
        derived: &mut DerivedState,
        sealing: &SealTarget,
        slot: Slot,
        new: &NewHead,
    ) -> Result<(FullEntry, HeadHash), StoreError> {
        let pool = &sealing.pool;
        let depth_usd = new.figures.as_ref().map_or([None; 2], SnapshotFigures::depths);
        let (added, recorded) = match new.outcome {
            Outcome::Recorded(_) => (WindowEntry::Recorded(depth_usd), 1),
            Outcome::Missing(_) => (WindowEntry::Missing, 0),
            Outcome::Retired => (WindowEntry::Nothing, 0),
        };
        for retraction in &new.retracts {
            insert_retraction(&reader.db, pool.number, slot, retraction)?;
        }
        let retracted: Vec<Slot> = new.retracts.iter().map(|retracted| retracted.slot).collect();
        let window = derived.advance(reader, pool, slot, added, &retracted)?;
        let before = sealing.before.as_ref().map(|(row, _)| row);
        let (count, run) =
            before.map_or((0, 0), |row| (row.entry.recorded_count, row.entry.missing_run));
        let count = (count + recorded).checked_sub(u32::try_from(retracted.len()).unwrap_or(0));
        let seal_error = |reason: String| StoreError::Seal { slot, reason };
        let row = FullEntry {
            entry: Entry {
                slot,
                outcome: new.outcome,
                recorded_count: count.ok_or_else(|| {
                    seal_error("more slots are retracted than recorded".to_owned())
                })?,
                missing_run: if recorded == 1 { 0 } else { run + 1 },
            },
            depth_usd,
            lowest: window.directions.map(|figures| figures.lowest.map(|(_, depth)| depth)),
            method_version: METHOD_VERSION.to_owned(),
            retracts: new.retracts.clone(),
            fills: new.fills,
            issued: new.issued,
        };
        let prev = sealing.before.as_ref().map(|(_, hash)| *hash);
        let head = row.head(&pool.id, pool.first_slot, prev);
        let canonical = head.to_canonical().map_err(|error| seal_error(error.to_string()))?;
        let hash = Head::hash_of(&canonical);
        reader.db.insert_entry(pool.number, &row, &hash.0)?;
        derived.write_figures(reader, pool, &row.entry, new.figures.as_ref(), &window)?;
        self.hashes.push(Head::leaf_of(&canonical));
        self.canonical.push((pool.id.clone(), canonical));
        Ok((row, hash))
    }
}

fn insert_retraction(
    db: &Db,
    pool_no: i64,
    by: Slot,
    retraction: &Retraction,
) -> Result<(), StoreError> {
    let blocks = match &retraction.cause {
        RetractionCause::Orphaned { orphaned, canonical } => Some([&orphaned.0, &canonical.0]),
        RetractionCause::Misread | RetractionCause::Newer { .. } => None,
    };
    db.insert_retraction(pool_no, by, retraction.slot, retraction.cause.code(), blocks)
}
