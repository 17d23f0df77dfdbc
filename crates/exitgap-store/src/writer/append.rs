//! Appends a slot to the store: checks, compresses, seals and commits it.

use std::collections::HashMap;

use exitgap_core::analytics::accuracy::{Fills, IssuedReceipts};
use exitgap_core::evidence::Retraction;
use exitgap_core::ids::{Contract, PoolId};
use exitgap_core::log_folder::FrameRef;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::tlog::Checkpoint;

use super::Store;
use super::check::{Slotful, check_entries, outcome_of};
use super::known::{LastHeads, dictionaries_of};
use crate::bodies::codec::{self, Record};
use crate::claims;
use crate::db::{Claim, Db, NewBodyRow, NewFillsRow, NextNumbers, Transaction};
use crate::derived::writer::DerivedState;
use crate::error::StoreError;
use crate::folder::{Piece, SlotFiles};
use crate::model::{AppendOutcome, Changes, NewEntry, Outcome, Pool, base_token};
use crate::notes;
use crate::reader::Reader;
use crate::writer::changes::{CheckedChanges, PackedFills, PackedIssued};
use crate::writer::ready::{Ready, spread};
use crate::writer::seal::{CoveredSlot, NewHead, SealTarget, Sealer, SlotHeads};

/// The maximum number of entries in one transaction that fills a pause. It limits memory, the size of the write-ahead
/// log, and the work that a kill undoes.
const MAX_FILLED_ENTRIES: usize = 20_000;

/// The expected result of a slot.
#[derive(Clone, Copy)]
pub(super) enum SlotExpectation<'a> {
    /// Any result.
    Anything,
    /// Its earlier signed checkpoint.
    Signed(&'a str),
    /// Its earlier claim, which is signed now.
    Claimed(&'a str),
}

impl<'a> SlotExpectation<'a> {
    fn signed_note(self) -> Option<&'a str> {
        match self {
            Self::Signed(note) => Some(note),
            Self::Anything | Self::Claimed(_) => None,
        }
    }
}

/// The compressed body of a snapshot.
pub(super) struct Body {
    pub zstd: Vec<u8>,
    pub level: u8,
    /// The body that serves as its dictionary, with that body's slot; `None`: it is a key record.
    pub base: Option<(i64, Slot)>,
}

impl Store {
    pub(super) fn append(
        &mut self,
        slot: Slot,
        entries: Vec<NewEntry<Ready>>,
        changes: &Changes,
        expected: SlotExpectation,
    ) -> Result<AppendOutcome, StoreError> {
        let checked = check_entries(slot, entries)?;
        let has_entry = |pool: &PoolId| checked.contains_key(&pool.to_string());
        let changes = CheckedChanges::from_changes(&self.reader, slot, changes, has_entry)?;
        if let Some((first, last)) = self.reader.slots()? {
            if slot < first {
                return Err(StoreError::BeforeFirstSlot { first, found: slot });
            }
            if slot <= last {
                self.compare(slot, &checked, &changes)?;
                return Ok(AppendOutcome { written: false, filled_slots: 0 });
            }
        }
        // If no answers were recorded after witnesses were asked, there are none.
        self.record_cosignatures("")?;
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
        // What cannot be read in parallel is read below, one after the other.
        let _ = self.warm();
        let known: HashMap<PoolId, Pool> =
            pools.into_iter().map(|pool| (pool.id.clone(), pool)).collect();
        let bodies = self.pack(slot, known.values(), &checked)?;
        let filled_slots = self.fill_until(slot)?;
        let result = self.write_slot(slot, &known, checked, bodies, &changes, expected);
        if result.is_err() {
            // The bodies that the dictionaries refer to may not be stored.
            self.dictionaries.clear();
            self.derived.clear();
            self.heads = LastHeads::default();
        }
        result.map(|()| AppendOutcome { written: true, filled_slots })
    }

    /// Fills the slots after the store's last one, up to but not including `until`, with missing entries
    /// (`recorder_down`), and returns the number of filled slots. A store without slots stays unchanged. Writes at most
    /// 20,000 entries per transaction.
    pub fn fill_until(&mut self, until: Slot) -> Result<u32, StoreError> {
        let filled = self.fill(until);
        if filled.is_err() {
            // The derived state has advanced although the slots were not committed.
            self.derived.clear();
            self.heads = LastHeads::default();
        }
        filled
    }

    fn fill(&mut self, until: Slot) -> Result<u32, StoreError> {
        let Some((_, last)) = self.reader.slots()? else { return Ok(0) };
        if last.next().is_none_or(|next| next >= until) {
            return Ok(0);
        }
        self.record_cosignatures("")?;
        let Some(sealer) = &self.sealer else { return Ok(0) };
        let mut pools = self.reader.pools()?;
        pools.retain(|pool| pool.retired_slot.is_none());
        let slots_at_once = (MAX_FILLED_ENTRIES / pools.len().max(1)).max(1);
        let slots_at_once = slots_at_once.min(self.reader.db.slots_at_once());
        let outcome = Outcome::Missing(MissingReason::RecorderDown);
        let missing =
            NewHead { outcome, figures: None, retracts: Vec::new(), fills: None, issued: None };
        let mut sealings = Vec::with_capacity(pools.len());
        for pool in &pools {
            sealings.push(self.heads.seal_target(&self.reader, pool, last)?);
        }
        let mut next = last.next();
        let mut filled = 0;
        while let Some(from) = next.filter(|next| *next < until) {
            let transaction = self.reader.db.begin("beginning to write")?;
            let mut last_filled = from;
            for _ in 0..slots_at_once {
                let Some(slot) = next.filter(|next| *next < until) else { break };
                let mut heads = SlotHeads::default();
                for sealing in &mut sealings {
                    let head =
                        heads.add(&self.reader, &mut self.derived, sealing, slot, &missing)?;
                    sealing.before = Some(head);
                }
                let covered = sealer.cover(&self.reader.db, slot, &heads)?;
                self.claim(sealer, slot, || filled_claim(&covered, heads, self.parts_most))?;
                sealer.seal(&self.reader.db, &covered, None)?;
                (last_filled, next, filled) = (slot, slot.next(), filled + 1);
            }
            self.derived.finish(&self.reader)?;
            commit(transaction, last_filled)?;
            let newest = sealings
                .iter()
                .filter_map(|sealing| Some((sealing.pool.number, sealing.before.clone()?)));
            self.heads = LastHeads::from_heads(last_filled, newest.collect());
            self.reader.db.fold_after_commit(self.fold_after_pages)?;
        }
        Ok(filled)
    }

    /// Compresses the snapshots in parallel. Returns, in order, a body for each entry that has its own. Pools of one
    /// contract share one snapshot, and the first of them has the body.
    fn pack<'a>(
        &mut self,
        slot: Slot,
        known: impl Iterator<Item = &'a Pool>,
        checked: &Slotful,
    ) -> Result<Vec<Option<Body>>, StoreError> {
        let mut known_of: HashMap<&Contract, Vec<&Pool>> = HashMap::new();
        for pool in known {
            known_of.entry(pool.id.contract()).or_default().push(pool);
        }
        let mut to_pack = Vec::with_capacity(checked.len());
        let mut last = None;
        for entry in checked.values() {
            let own = match &entry.reading {
                Ok(ready) => last.replace(ready.hash) != Some(ready.hash),
                Err(_) => false,
            };
            if own && let Some(pools) = known_of.get(entry.pool.contract()) {
                self.dictionaries(pools)?;
            }
            to_pack.push((entry, own));
        }
        let kept = &self.dictionaries;
        let packed = spread(&to_pack, |(entry, own)| {
            let Some(ready) = entry.reading.as_ref().ok().filter(|_| *own) else { return Ok(None) };
            let known = kept.get(entry.pool.contract());
            let (level, base) = known.map_or((0, None), |known| known.choose(slot));
            let zstd = codec::compress(&ready.joined, base.map(|base| base.joined.as_slice()))
                .map_err(|source| StoreError::Compress { pool: entry.pool.clone(), source })?;
            let base = base.map(|base| (base.body_no, base.slot));
            Ok(Some(Body { zstd, level, base }))
        });
        packed.into_iter().collect()
    }

    /// Loads the dictionaries for the next body of the contract of these pools.
    fn dictionaries(&mut self, pools: &[&Pool]) -> Result<(), StoreError> {
        let Some(contract) = pools.first().map(|pool| pool.id.contract()) else { return Ok(()) };
        if !self.dictionaries.contains_key(contract) {
            let read = dictionaries_of(&self.reader, pools)?;
            self.dictionaries.insert(contract.clone(), read);
        }
        Ok(())
    }

    /// The log that begins with this slot: the store's own, or the log of the slot's earlier signed checkpoint.
    fn begin(&self, slot: Slot, checkpoint: Option<&str>) -> Result<Sealer, StoreError> {
        let (predecessor, before) = (self.reader.predecessor()?, &self.signed_before_by);
        let sealer = if let Some(key) = &self.key {
            let mut sealer = Sealer::new(key, slot, predecessor)?;
            if !before.is_empty() {
                sealer.signed_before_by(before.clone());
            }
            sealer
        } else {
            let (signed, _) = Checkpoint::from_note(checkpoint.ok_or(StoreError::NoSigner)?)
                .map_err(|error| StoreError::Seal { slot, reason: error.to_string() })?;
            Sealer::follower(signed.origin, before, predecessor)?
        };
        sealer.begin(&self.reader.db)?;
        Ok(sealer)
    }

    /// Writes a slot in one transaction.
    fn write_slot(
        &mut self,
        slot: Slot,
        known: &HashMap<PoolId, Pool>,
        checked: Slotful,
        bodies: Vec<Option<Body>>,
        changes: &CheckedChanges,
        expected: SlotExpectation,
    ) -> Result<(), StoreError> {
        let (mut written, mut frames) = (Vec::new(), HashMap::new());
        let mut newest = HashMap::with_capacity(known.len());
        self.reader.db.make_room(slot)?;
        let transaction = self.reader.db.begin("beginning to write")?;
        let sealer = if let Some(sealer) = &self.sealer {
            sealer.clone()
        } else {
            self.begin(slot, expected.signed_note())?
        };
        let mut next = self.reader.db.next_numbers()?;
        let mut heads = SlotHeads::default();
        let before = slot.previous().unwrap_or(slot);
        let retracts = |name: &str| changes.retracts.get(name).cloned().unwrap_or_default();
        let mut retires = changes.retires.iter().peekable();
        for ((name, entry), body) in checked.into_iter().zip(bodies) {
            while let Some((name, pool)) = retires.next_if(|(retires, _)| **retires < name) {
                let sealing = self.heads.seal_target(&self.reader, pool, before)?;
                retire(
                    &self.reader,
                    &mut self.derived,
                    &mut heads,
                    (slot, sealing),
                    retracts(name),
                )?;
            }
            let sealing = if let Some(pool) = known.get(&entry.pool) {
                keep_default_base(&self.reader.db, pool, &entry)?;
                self.heads.seal_target(&self.reader, pool, before)?
            } else {
                let pool = insert_pool(&self.reader.db, &mut next, slot, &entry)?;
                SealTarget { pool, before: None }
            };
            let outcome = outcome_of(&entry);
            let mut figures = None;
            if let Ok(ready) = entry.reading {
                let frame = frame_of(&ready, body.as_ref());
                let mut zstd = Vec::new();
                if let Some(body) = body {
                    let body_no = insert_body(&self.reader.db, &mut next, &ready, &body)?;
                    let (contract, level) = (entry.pool.contract().clone(), body.level);
                    let joined = ready.joined;
                    written.push((contract, Record { body_no, level, slot, joined }));
                    zstd = body.zstd;
                }
                frames.insert(entry.pool, (frame, zstd));
                figures = Some(ready.figures);
            }
            let fills = changes.fills.get(&name);
            if let Some(fills) = fills {
                insert_fills(&self.reader.db, sealing.pool.number, slot, fills)?;
            }
            let fills = fills.map(|fills| fills.hash);
            let issued = changes.issued.get(&name);
            if let Some(PackedIssued { canonical, zstd, .. }) = issued {
                let number = sealing.pool.number;
                self.reader.db.insert_issued(number, slot, canonical.len(), zstd)?;
            }
            let issued = issued.map(|issued| issued.hash);
            let new = NewHead { outcome, figures, retracts: retracts(&name), fills, issued };
            let head = heads.add(&self.reader, &mut self.derived, &sealing, slot, &new)?;
            newest.insert(sealing.pool.number, head);
        }
        for (name, pool) in retires {
            let sealing = self.heads.seal_target(&self.reader, pool, before)?;
            retire(&self.reader, &mut self.derived, &mut heads, (slot, sealing), retracts(name))?;
        }
        self.derived.finish(&self.reader)?;
        if !changes.doubts.is_empty() {
            notes::insert_doubts(&self.reader.db, &self.reader.pools()?, slot, &changes.doubts)?;
        }
        if match expected.signed_note() {
            Some(before) => !sealer.signed_by_others(before).is_empty(),
            None => self.awaits_cosignatures,
        } {
            self.reader.db.insert_cosigning(slot)?;
        }
        let covered = sealer.cover(&self.reader.db, slot, &heads)?;
        let text = covered.checkpoint.to_text();
        let pieces = heads.canonical.into_iter().map(|(pool, head)| {
            let body = frames.remove(&pool);
            Piece { pool, head, body }
        });
        let fills = changes.fills.values().map(|fills| &fills.canonical[..]);
        let issued = changes.issued.values().map(|issued| &issued.canonical[..]);
        let leaf = covered.canonical.clone();
        let files = SlotFiles::new(slot, (leaf, text), pieces, self.parts_most)?;
        let mut files = files.with::<Fills>(fills)?.with::<IssuedReceipts>(issued)?;
        let note = self.sign(&sealer, &covered, &files, expected)?;
        files.set_checkpoint(slot, note);
        commit(transaction, slot)?;
        self.unpublished = Some(files);
        self.heads = LastHeads::from_heads(slot, newest);
        self.sealer = Some(sealer);
        for (contract, record) in written {
            self.dictionaries.entry(contract).or_default().add(record);
        }
        self.reader.db.fold_after_commit(self.fold_after_pages)
    }
}

impl Store {
    /// Signs a slot and seals it with its earlier claim, or with a new one.
    fn sign(
        &self,
        sealer: &Sealer,
        covered: &CoveredSlot,
        files: &SlotFiles,
        expected: SlotExpectation,
    ) -> Result<String, StoreError> {
        let (slot, text) = (covered.slot, covered.checkpoint.to_text());
        match expected {
            SlotExpectation::Claimed(claimed) if claimed != text => {
                let (expected, found) = (claimed.to_owned(), text);
                return Err(StoreError::SealedOtherwise { slot, expected, found });
            }
            SlotExpectation::Claimed(_) => {
                self.claim_again(sealer, covered, files)?;
                // Also stores the claim in the database if it is not there yet. If it is, this makes sure that it is
                // committed.
                self.reader.db.put_claim(slot, || files.claim(&covered.checkpoint))?;
            }
            SlotExpectation::Anything => {
                self.claim(sealer, slot, || files.claim(&covered.checkpoint))?;
            }
            SlotExpectation::Signed(_) => {}
        }
        let note = sealer.seal(&self.reader.db, covered, expected.signed_note())?;
        if let Some(told) = self.told_signed {
            told(&text);
        }
        Ok(note)
    }
}

impl Store {
    /// Claims the slot before it is signed: first outside the database, where the claim survives a loss of the
    /// database.
    fn claim(
        &self,
        sealer: &Sealer,
        slot: Slot,
        make: impl FnOnce() -> Result<Claim, StoreError>,
    ) -> Result<(), StoreError> {
        let Some(signer) = sealer.signer().filter(|_| self.claims) else { return Ok(()) };
        let Some(beside) = &self.claims_beside else {
            return self.reader.db.put_claim(slot, make);
        };
        let claim = make()?;
        // A slot that the schema refuses is not claimed: it could never be sealed, and neither could any other slot.
        self.reader.db.settle()?;
        claims::put(beside.as_ref(), &claim, signer)?;
        self.reader.db.put_claim(slot, || Ok(claim))
    }

    /// Requires that the claim in the database is also the claim outside of it: a recorder may have ended after it
    /// claimed the slot in the database only.
    fn claim_again(
        &self,
        sealer: &Sealer,
        covered: &CoveredSlot,
        files: &SlotFiles,
    ) -> Result<(), StoreError> {
        let (Some(signer), Some(beside)) = (sealer.signer(), &self.claims_beside) else {
            return Ok(());
        };
        let size = covered.checkpoint.size;
        match claims::checkpoint(beside.as_ref(), size, &sealer.keys)? {
            Some(found) if found == covered.checkpoint.to_text() => Ok(()),
            Some(_) => Err(StoreError::Claimed { size }),
            None => claims::put(beside.as_ref(), &files.claim(&covered.checkpoint)?, signer),
        }
    }
}

/// The claim of a slot of missing entries.
fn filled_claim(
    covered: &CoveredSlot,
    heads: SlotHeads,
    parts_most: usize,
) -> Result<Claim, StoreError> {
    let (slot, text) = (covered.slot, covered.checkpoint.to_text());
    let pieces = heads.canonical.into_iter().map(|(pool, head)| Piece { pool, head, body: None });
    let files = SlotFiles::new(slot, (covered.canonical.clone(), text), pieces, parts_most)?;
    files.claim(&covered.checkpoint)
}

/// Writes the pool's last entry and head.
fn retire(
    reader: &Reader,
    derived: &mut DerivedState,
    heads: &mut SlotHeads,
    (slot, sealing): (Slot, SealTarget),
    retracts: Vec<Retraction>,
) -> Result<(), StoreError> {
    reader.db.insert_retirement(sealing.pool.number, slot)?;
    let new =
        NewHead { outcome: Outcome::Retired, figures: None, retracts, fills: None, issued: None };
    heads.add(reader, derived, &sealing, slot, &new).map(|_| ())
}

/// The position of a body within a part, once it is written there. A pool without its own body uses that of the
/// previous head.
fn frame_of(ready: &Ready, body: Option<&Body>) -> FrameRef {
    // Bodies have slightly more than 4 MiB at most, so their lengths fit.
    let length = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
    let base = body.and_then(|body| body.base);
    FrameRef {
        back: base.map_or(0, |(_, base)| ready.slot.number().saturating_sub(base.number())),
        bytes: length(body.map_or(0, |body| body.zstd.len())),
        snapshot: length(ready.snapshot_bytes),
        state: length(ready.joined.len() - ready.snapshot_bytes),
    }
}

fn insert_pool(
    db: &Db,
    next: &mut NextNumbers,
    slot: Slot,
    entry: &NewEntry<Ready>,
) -> Result<Pool, StoreError> {
    let (id, default_base) = (entry.pool.clone(), entry.default_base);
    let number = next.pool;
    db.insert_pool(number, &id.to_string(), base_token(default_base), slot)?;
    next.pool += 1;
    Ok(Pool { id, default_base, first_slot: slot, retired_slot: None, number })
}

fn keep_default_base(db: &Db, pool: &Pool, entry: &NewEntry<Ready>) -> Result<(), StoreError> {
    if pool.default_base == entry.default_base {
        return Ok(());
    }
    db.update_default_base(pool.number, base_token(entry.default_base))
}

fn insert_fills(db: &Db, pool_no: i64, slot: Slot, fills: &PackedFills) -> Result<(), StoreError> {
    let PackedFills { blocks, canonical, zstd, .. } = fills;
    let (blocks, document_bytes) = (*blocks, canonical.len());
    db.insert_fills(pool_no, &NewFillsRow { slot, blocks, document_bytes, zstd })
}

fn insert_body(
    db: &Db,
    next: &mut NextNumbers,
    ready: &Ready,
    body: &Body,
) -> Result<i64, StoreError> {
    let body_no = next.body;
    db.insert_body(&NewBodyRow {
        body_no,
        slot: ready.slot,
        snapshot: &ready.hash.0,
        state: &ready.state.0,
        level: body.level,
        dictionary_body_no: body.base.map(|(body_no, _)| body_no),
        snapshot_bytes: ready.snapshot_bytes,
        state_bytes: ready.joined.len() - ready.snapshot_bytes,
        zstd: &body.zstd,
    })?;
    next.body += 1;
    Ok(body_no)
}

fn commit(transaction: Transaction, slot: Slot) -> Result<(), StoreError> {
    transaction.settle()?;
    transaction.commit().map_err(|source| {
        // The disk was full before the last frame of the write-ahead log, which commits the slot: nothing was written.
        if source.is_disk_full() {
            StoreError::Database { doing: "committing a slot", source }
        } else {
            StoreError::CommitUnknown { slot, source }
        }
    })
}
