//! Looking again at the blocks of earlier slots once they are final: a slot whose block gave
//! way to another is retracted with the next one.
//!
//! What is still to be looked at follows from the store: the recorded, unretracted slots of
//! the last day. Memory only says how far a chain has come since the start; a new process
//! begins a day back.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use exitgap_core::evidence::MAX_RETRACTION_SLOTS;
use exitgap_core::ids::{BlockHash, ChainSlug, PoolId};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{BlockRef, Snapshot};
use exitgap_store::{NewRetraction, Outcome, Reader, StoreError};

/// Slots of a chain looked at again in one go: more only after a start or an outage.
pub const SLOTS_AT_ONCE: usize = 8;

/// How far one chain has come.
#[derive(Debug, Default)]
pub struct Recheck {
    /// The first slot that was not looked at; `None` before the first time.
    next: Option<Slot>,
    /// The blocks of slots recorded by this process: one, but for nodes that disagree.
    blocks: BTreeMap<Slot, BTreeSet<(u64, BlockHash)>>,
    /// The highest block number that was seen.
    tip: u64,
    /// Found, and not yet written.
    orphaned: Vec<NewRetraction>,
}

/// The blocks of one slot, to be compared with the chain.
#[derive(Debug)]
pub struct Due {
    /// The slot.
    pub slot: Slot,
    /// Number and hash of each block its snapshots were read at.
    pub blocks: BTreeSet<(u64, BlockHash)>,
}

impl Recheck {
    /// Notes the blocks of a slot that was recorded.
    pub fn note<'a>(&mut self, slot: Slot, snapshots: impl Iterator<Item = &'a Snapshot>) {
        let blocks: BTreeSet<_> = snapshots
            .map(|snapshot| snapshot.observation().block())
            .map(|BlockRef { number, hash, .. }| (number, hash))
            .collect();
        self.tip = blocks.iter().map(|(number, _)| *number).fold(self.tip, u64::max);
        self.blocks.insert(slot, blocks);
    }

    /// What the next slot takes back; slots that it cannot reach any more are said to be lost.
    pub fn take(&mut self, by: Slot) -> Vec<NewRetraction> {
        let (within, lost): (Vec<_>, Vec<_>) =
            self.orphaned.drain(..).partition(|orphaned| reaches(by, orphaned.slot));
        for NewRetraction { pool, slot, .. } in lost {
            tracing::error!(%slot, %pool, "its block was orphaned, and it is too old to be retracted");
        }
        within
    }

    /// Puts back what was taken and not written.
    pub fn put_back(&mut self, retractions: Vec<NewRetraction>) {
        self.orphaned.extend(retractions);
    }

    /// Notes that the blocks of a slot were compared.
    pub fn compared(&mut self, slot: Slot, orphaned: Vec<NewRetraction>) {
        self.next = slot.next();
        self.blocks.retain(|noted, _| *noted > slot);
        self.orphaned.extend(orphaned);
    }

    /// The slots that are to be compared after `last` was recorded, oldest first.
    pub fn due(
        &mut self,
        reader: &Reader,
        chain: &ChainSlug,
        last: Slot,
        confirmations: u32,
    ) -> Result<Vec<Due>, StoreError> {
        // The next slot's head is the first that can take one back.
        let Some(by) = last.next() else { return Ok(Vec::new()) };
        let reach = by.number().saturating_sub(MAX_RETRACTION_SLOTS);
        let first = Slot::new(reach.into()).unwrap_or(Slot::FIRST);
        if let Some(late) = self.next.filter(|next| *next < first) {
            tracing::error!(
                %chain, from = %late, until = %first,
                "slots could not be checked again within a day, and stay as they are"
            );
        }
        let mut next = Some(self.next.map_or(first, |next| next.max(first)));
        let mut due = Vec::new();
        while let Some(slot) = next.filter(|slot| *slot <= last && due.len() < SLOTS_AT_ONCE) {
            let noted = self.blocks.get(&slot).cloned();
            let blocks = noted.map_or_else(|| stored_blocks(reader, chain, slot), Ok)?;
            let highest = blocks.iter().map(|(number, _)| *number).max();
            if highest.is_some_and(|number| number + u64::from(confirmations) > self.tip) {
                break;
            }
            if highest.is_some() {
                due.push(Due { slot, blocks });
            } else if due.is_empty() {
                // Nothing of it is recorded.
                self.next = slot.next();
            }
            next = slot.next();
        }
        Ok(due)
    }
}

/// The pools of the chain whose snapshot of `slot` was read at a block that is not the
/// `canonical` one of its number.
pub fn orphaned(
    reader: &Reader,
    chain: &ChainSlug,
    slot: Slot,
    canonical: &HashMap<u64, BlockHash>,
) -> Result<Vec<NewRetraction>, StoreError> {
    let blocks = blocks_of(reader, chain, slot)?;
    let other = |(pool, block): (PoolId, BlockRef)| {
        let canonical = *canonical.get(&block.number)?;
        (canonical != block.hash).then_some(NewRetraction { pool, slot, canonical })
    };
    Ok(blocks.into_iter().filter_map(other).collect())
}

/// Number and hash of each block that the chain's snapshots of `slot` were read at.
fn stored_blocks(
    reader: &Reader,
    chain: &ChainSlug,
    slot: Slot,
) -> Result<BTreeSet<(u64, BlockHash)>, StoreError> {
    let blocks = blocks_of(reader, chain, slot)?;
    Ok(blocks.into_values().map(|block| (block.number, block.hash)).collect())
}

/// Whether a head of slot `by` can take `slot` back.
fn reaches(by: Slot, slot: Slot) -> bool {
    by.number().saturating_sub(slot.number()) <= MAX_RETRACTION_SLOTS
}

/// The block of each of the chain's pools that has an unretracted snapshot of `slot`.
fn blocks_of(
    reader: &Reader,
    chain: &ChainSlug,
    slot: Slot,
) -> Result<BTreeMap<PoolId, BlockRef>, StoreError> {
    let mut blocks = BTreeMap::new();
    for pool in reader.pools()?.into_iter().filter(|pool| pool.id.chain() == chain) {
        let Some(entry) = reader.entry(&pool, slot)? else { continue };
        let recorded = matches!(entry.outcome, Outcome::Recorded(_));
        if recorded
            && pool.retired_slot.is_none()
            && reader.retraction_of(&pool, slot)?.is_none()
            && let Some(block) = reader.block_of(&pool, slot)?
        {
            blocks.insert(pool.id, block);
        }
    }
    Ok(blocks)
}
