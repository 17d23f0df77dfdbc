//! Reads sealed data: heads, slot leaves, the log and its checkpoints. Each document is rebuilt from rows and must
//! match the hash in its row.

pub mod cosignatures;
pub mod merkle;
pub mod slot_tiles;

use std::collections::HashMap;

use exitgap_core::analytics::accuracy::{Fills, IssuedReceipts};
use exitgap_core::evidence::{
    Commits, Depths, Head, HeadEntry, MAX_RETRACTION_SLOTS, Predecessor, Retraction, SlotLeaf,
};
use exitgap_core::ids::{DocumentHash, HeadHash, PoolId};
use exitgap_core::series::Slot;
use exitgap_core::tlog::{Checkpoint, Hash, Origin, VerifierKey, root};

use crate::corrupt::{CorruptHead, CorruptLog};
use crate::db::SealedSlotRow;
use crate::derived::figures::{SlotRetraction, TakenBack};
use crate::error::StoreError;
use crate::log::merkle::Nodes;
use crate::model::{Entry, Outcome, Pool};
use crate::reader::Reader;
use crate::rows::{full_entry_of, slot_of};

/// The identity of a store's log: its name and the keys that signed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogIdentity {
    /// The log's name and first slot.
    pub origin: Origin,
    /// The keys that signed its checkpoints, at least one, oldest first. The name of each key is the origin.
    pub keys: Vec<VerifierKey>,
    /// The log that it succeeds. Its first leaf commits to that.
    pub predecessor: Option<Predecessor>,
}

impl LogIdentity {
    /// The keys as one text, for people.
    pub(crate) fn named_keys(&self) -> String {
        let keys: Vec<String> = self.keys.iter().map(VerifierKey::to_string).collect();
        keys.join(" or ")
    }

    /// The keys in their published form, one per line.
    pub(crate) fn key_lines(&self) -> String {
        let keys: Vec<String> = self.keys.iter().map(VerifierKey::to_string).collect();
        keys.join("\n") + "\n"
    }
}

/// A head with its canonical bytes, which are hashed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredHead {
    /// The head.
    pub head: Head,
    /// Its canonical bytes.
    pub canonical: Vec<u8>,
}

/// A slot leaf with its canonical bytes: the data of the log's leaf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredLeaf {
    /// The leaf.
    pub leaf: SlotLeaf,
    /// Its canonical bytes.
    pub canonical: Vec<u8>,
}

/// An entry with the other contents of its head.
#[derive(Debug, Clone)]
pub(crate) struct FullEntry {
    pub entry: Entry,
    pub depth_usd: Depths,
    pub lowest: Depths,
    pub method_version: String,
    /// Slots that the head retracts, ascending.
    pub retracts: Vec<Retraction>,
    /// The fills document that it commits to.
    pub fills: Option<DocumentHash>,
    /// The document of issued estimates that it commits to.
    pub issued: Option<DocumentHash>,
}

impl FullEntry {
    /// The head of this entry. Its height is the number of the pool's previous slots, because each of them has a head.
    pub fn head(&self, pool: &PoolId, first_slot: Slot, prev: Option<HeadHash>) -> Head {
        let Self { entry, depth_usd, lowest, method_version, retracts, fills, issued } = self;
        let head_entry = match entry.outcome {
            Outcome::Recorded(snapshot) => HeadEntry::Recorded { snapshot, depth_usd: *depth_usd },
            Outcome::Missing(reason) => HeadEntry::Missing(reason),
            Outcome::Retired => HeadEntry::Retired,
        };
        Head {
            pool: pool.clone(),
            slot: entry.slot,
            height: entry.slot.number().saturating_sub(first_slot.number()),
            recorded_count: entry.recorded_count,
            prev,
            entry: head_entry,
            lowest_depth_7d_usd: *lowest,
            method_version: method_version.clone(),
            retracts: retracts.clone(),
            commits: fills
                .map(Fills::commitment)
                .unwrap_or_default()
                .and(issued.map(IssuedReceipts::commitment).unwrap_or_default()),
        }
    }
}

impl Reader {
    /// The store's log; `None` before its first slot.
    pub fn log(&self) -> Result<Option<LogIdentity>, StoreError> {
        let Some(row) = self.db.log()? else { return Ok(None) };
        let predecessor = self.predecessor()?;
        let first_slot = slot_of("log", row.first_slot)?;
        let key = row.verifier_key;
        let verifier: Option<VerifierKey> = key.parse().ok();
        let identity = verifier.and_then(|verifier| {
            let origin: Origin = verifier.name().parse().ok()?;
            let known = origin.first_slot() == first_slot;
            let keys = vec![verifier];
            known.then_some(LogIdentity { origin, keys, predecessor: predecessor.clone() })
        });
        let found = key.chars().take(200).collect();
        let what = CorruptLog::VerifierKey { found };
        let mut log = identity.ok_or(StoreError::CorruptLog { slot: first_slot, what })?;
        self.later_keys(&mut log)?;
        Ok(Some(log))
    }

    /// Adds the keys that the log got after its first one.
    fn later_keys(&self, log: &mut LogIdentity) -> Result<(), StoreError> {
        for ((number, text), expected) in self.db.log_keys()?.into_iter().zip(2_i64..) {
            let key: Option<VerifierKey> = text.parse().ok();
            let ours = key.filter(|key| key.name() == log.origin.to_string());
            let Some(key) = ours.filter(|_| number == expected) else {
                let found = text.chars().take(200).collect();
                let what = CorruptLog::VerifierKey { found };
                return Err(StoreError::CorruptLog { slot: log.origin.first_slot(), what });
            };
            log.keys.push(key);
        }
        Ok(())
    }

    /// The log that the store's log succeeds, even before the latter begins.
    pub(crate) fn predecessor(&self) -> Result<Option<Predecessor>, StoreError> {
        let document = self.db.predecessor()?;
        let parse = |text: String| Predecessor::from_document(&text).map_err(|_| text);
        document.map(parse).transpose().map_err(|text| StoreError::CorruptRow {
            table: "predecessor",
            found: text.chars().take(200).collect(),
        })
    }

    /// The number of slots in the log.
    pub fn log_size(&self) -> Result<u64, StoreError> {
        let slots = self.slots()?;
        Ok(slots.map_or(0, |(first, last)| u64::from(last.number() - first.number()) + 1))
    }

    /// The pool's head for `slot`, checked against its hash; `None` before the pool's first slot and after the store's
    /// last one.
    pub fn head(&self, pool: &Pool, slot: Slot) -> Result<Option<StoredHead>, StoreError> {
        Ok(self.heads(pool, slot, slot)?.pop())
    }

    /// The pool's heads from slot `from` to `to`, both included, ascending. Each is checked against its hash, which
    /// covers the previous head.
    pub fn heads(&self, pool: &Pool, from: Slot, to: Slot) -> Result<Vec<StoredHead>, StoreError> {
        let from = from.max(pool.first_slot);
        let before = from.previous().unwrap_or(from).max(pool.first_slot);
        let mut retracts = self.retracts(pool, from, to)?;
        let mut heads = Vec::new();
        let mut prev = None;
        self.db.heads(pool.number, [before, to], |row| {
            let (mut row, hash) = full_entry_of(row)?;
            if row.entry.slot >= from {
                row.retracts = retracts.remove(&row.entry.slot).unwrap_or_default();
                heads.push(check_head(pool, &row, hash, prev)?);
            }
            prev = Some(hash);
            Ok(())
        })?;
        Ok(heads)
    }

    /// The pool's newest entry and the hash of its head, which the next head follows.
    pub(crate) fn full_entry(
        &self,
        pool: &Pool,
        slot: Slot,
    ) -> Result<Option<(FullEntry, HeadHash)>, StoreError> {
        let row = self.db.head(pool.number, slot)?;
        let Some((mut row, hash)) = row.map(full_entry_of).transpose()? else { return Ok(None) };
        let slot = row.entry.slot;
        row.retracts = self.retracts(pool, slot, slot)?.remove(&slot).unwrap_or_default();
        Ok(Some((row, hash)))
    }

    /// The retractions in the heads from slot `from` to `to`, by head.
    pub(crate) fn retracts(
        &self,
        pool: &Pool,
        from: Slot,
        to: Slot,
    ) -> Result<HashMap<Slot, Vec<Retraction>>, StoreError> {
        let first = u64::from(from.number().saturating_sub(MAX_RETRACTION_SLOTS));
        let first = Slot::new(first).unwrap_or(Slot::FIRST);
        let mut by_head: HashMap<Slot, Vec<Retraction>> = HashMap::new();
        for (slot, SlotRetraction { by, why }) in self.retractions(pool, first, to)? {
            let retraction = match why {
                TakenBack::Orphaned { orphaned, canonical } => {
                    Retraction::for_orphan(slot, orphaned, canonical)
                }
                TakenBack::Misread => Retraction::misread(slot),
            };
            by_head.entry(by).or_default().push(retraction);
        }
        Ok(by_head)
    }

    /// All heads of a slot, in the order of pool ids, the order in which the leaf commits to them. Empty if the slot is
    /// not in the store.
    pub fn slot_heads(&self, slot: Slot) -> Result<Vec<StoredHead>, StoreError> {
        let mut heads = Vec::new();
        for pool in self.pools()?.iter().filter(|pool| pool.has(slot)) {
            heads.extend(self.head(pool, slot)?);
        }
        Ok(heads)
    }

    /// The leaf of a slot; `None` if the slot is not in the store.
    pub fn leaf(&self, slot: Slot) -> Result<Option<StoredLeaf>, StoreError> {
        Ok(self.sealed_slot(slot)?.map(|(leaf, _)| leaf))
    }

    /// The signed checkpoint of the log's first `size` slots, created when the last of them was sealed; `None` if the
    /// log never had that size.
    pub fn checkpoint(&self, size: u64) -> Result<Option<String>, StoreError> {
        let Some(slot) = self.slot_at(size.checked_sub(1))? else { return Ok(None) };
        Ok(self.sealed_slot(slot)?.map(|(_, checkpoint)| checkpoint))
    }

    /// The proof that the log's first `size` slots include the leaf of `slot`; `None` if they do not.
    pub fn inclusion(&self, slot: Slot, size: u64) -> Result<Option<Vec<Hash>>, StoreError> {
        let Some(log) = self.log()? else { return Ok(None) };
        let index = log.origin.index_of(slot).filter(|index| *index < size);
        match index {
            Some(index) if size <= self.log_size()? => {
                self.nodes().inclusion(index, size).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The proof that the log's first `old` slots are a prefix of its first `new` slots; `None` unless
    /// `0 < old ≤ new ≤` the log's size.
    pub fn consistency(&self, old: u64, new: u64) -> Result<Option<Vec<Hash>>, StoreError> {
        if old == 0 || old > new || new > self.log_size()? {
            return Ok(None);
        }
        self.nodes().consistency(old, new).map(Some)
    }

    /// The log's tree.
    pub(crate) fn nodes(&self) -> Nodes<'_> {
        Nodes(&self.db)
    }

    /// The slot of leaf `index`; `None` if the log has no such leaf.
    pub(crate) fn slot_at(&self, index: Option<u64>) -> Result<Option<Slot>, StoreError> {
        let (Some(index), Some((first, last))) = (index, self.slots()?) else { return Ok(None) };
        let slot = u64::from(first.number()).checked_add(index).and_then(|n| Slot::new(n).ok());
        Ok(slot.filter(|slot| *slot <= last))
    }

    /// A slot's leaf and checkpoint.
    pub(crate) fn sealed_slot(
        &self,
        slot: Slot,
    ) -> Result<Option<(StoredLeaf, String)>, StoreError> {
        let Some(row) = self.db.sealed_slot(slot)? else { return Ok(None) };
        let SealedSlotRow { pools, heads_root, checkpoint } = row;
        let pools = u32::try_from(pools).map_err(|_| StoreError::CorruptRow {
            table: "sealed_slot",
            found: format!("{pools} pools"),
        })?;
        let log = self.log()?;
        let predecessor = log.filter(|log| log.origin.first_slot() == slot);
        let predecessor = predecessor.and_then(|log| log.predecessor);
        let commits = predecessor.map_or_else(Commits::default, |lost| lost.commitment());
        let leaf = SlotLeaf { slot, pools, root: Hash(heads_root), commits };
        let canonical = leaf
            .to_canonical()
            .map_err(|error| StoreError::Seal { slot, reason: error.to_string() })?;
        Ok(Some((StoredLeaf { leaf, canonical }, checkpoint)))
    }

    /// Requires that the slot's leaf commits to these head hashes.
    pub(crate) fn check_heads_root(&self, slot: Slot, hashes: &[Hash]) -> Result<(), StoreError> {
        let corrupt = |what| StoreError::CorruptLog { slot, what };
        let StoredLeaf { leaf, .. } =
            self.leaf(slot)?.ok_or_else(|| corrupt(CorruptLog::Absent("the sealed slot")))?;
        if leaf.pools as usize != hashes.len() {
            let (expected, found) = (leaf.pools, hashes.len());
            return Err(corrupt(CorruptLog::Pools { expected, found }));
        }
        let found = root(hashes);
        if found != leaf.root {
            return Err(corrupt(CorruptLog::HeadsRoot { expected: leaf.root, found }));
        }
        Ok(())
    }

    /// Requires that the newest slot's heads give its leaf, the leaf the log, and the log the checkpoint that its key
    /// signed. A writer checks this before it continues.
    pub fn check_edge(&self) -> Result<(), StoreError> {
        let Some((_, last)) = self.slots()? else { return Ok(()) };
        let heads = self.slot_heads(last)?;
        let hashes: Vec<Hash> =
            heads.iter().map(|stored| Head::leaf_of(&stored.canonical)).collect();
        self.check_heads_root(last, &hashes)?;
        let size = self.log_size()?;
        let corrupt = |what| StoreError::CorruptLog { slot: last, what };
        let Some((leaf, note)) = self.sealed_slot(last)? else {
            return Err(corrupt(CorruptLog::Absent("the sealed slot")));
        };
        let (expected, found) =
            (SlotLeaf::leaf_of(&leaf.canonical), self.nodes().node(0, size - 1)?);
        if expected != found {
            let (level, index) = (0, size - 1);
            return Err(corrupt(CorruptLog::Node { level, index, expected, found }));
        }
        self.check_checkpoint(last, &note, self.nodes().root(size)?)
    }

    /// Requires that `note` is the checkpoint of the log up to `slot`, over `root`, signed by the log's key.
    pub(crate) fn check_checkpoint(
        &self,
        slot: Slot,
        note: &str,
        root: Hash,
    ) -> Result<(), StoreError> {
        let corrupt = |what| StoreError::CorruptLog { slot, what };
        let log = self.log()?.ok_or_else(|| corrupt(CorruptLog::Absent("the log")))?;
        let wrong = |what: String| corrupt(CorruptLog::Checkpoint(what));
        let (checkpoint, note) = Checkpoint::from_note(note)
            .map_err(|error| wrong(format!("is not a checkpoint: {error}")))?;
        if checkpoint.origin != log.origin {
            return Err(wrong(format!("is of {}, not of {}", checkpoint.origin, log.origin)));
        }
        let size = log.origin.index_of(slot).map_or(0, |index| index + 1);
        if checkpoint.size != size {
            return Err(wrong(format!("is of size {}, not {size}", checkpoint.size)));
        }
        if checkpoint.root != root {
            return Err(wrong(format!("has root {}, but the slots give {root}", checkpoint.root)));
        }
        // A store holds only signatures of the log's own keys.
        let foreign = note.signers(&log.keys).unknown;
        if let Some(foreign) = foreign.first() {
            return Err(wrong(format!(
                "is signed by {foreign}, which is not one of its log's keys"
            )));
        }
        note.signed_by(&log.origin, &log.keys)
            .map(|_| ())
            .map_err(|_| wrong(format!("is not signed by {}", log.named_keys())))
    }
}

/// The head of a row, which must match the row's hash.
pub(crate) fn check_head(
    pool: &Pool,
    row: &FullEntry,
    expected: HeadHash,
    prev: Option<HeadHash>,
) -> Result<StoredHead, StoreError> {
    let slot = row.entry.slot;
    let corrupt = |what| StoreError::CorruptHead { pool: pool.id.clone(), slot, what };
    if prev.is_none() && slot != pool.first_slot {
        return Err(corrupt(CorruptHead::NoPredecessor));
    }
    let head = row.head(&pool.id, pool.first_slot, prev);
    let canonical =
        head.to_canonical().map_err(|error| corrupt(CorruptHead::Rule(error.to_string())))?;
    let found = Head::hash_of(&canonical);
    if found != expected {
        return Err(corrupt(CorruptHead::Hash { expected, found }));
    }
    Ok(StoredHead { head, canonical })
}
