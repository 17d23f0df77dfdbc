//! Rechecks the blocks of earlier slots once they are final: a slot whose block was orphaned is retracted.
//!
//! A retraction cannot be undone, so a single answer from one node is not enough: if a block appears orphaned, it is
//! requested again one slot later, or immediately from the chain's second node. The store contains each chain's
//! progress and the suspected blocks, so a process that ends after every slot makes progress too.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use exitgap_core::evidence::MAX_RETRACTION_SLOTS;
use exitgap_core::ids::{BlockHash, ChainSlug, PoolId};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{BlockRef, Snapshot};
use exitgap_store::{
    NewRetraction, Outcome, Pool, Reader, RecheckOutcome, Store, StoreError, Suspicion,
};

use super::source::ResumePoint;

/// Maximum number of a chain's slots rechecked at once: more than one is due only after a start or an outage; a whole
/// missed day takes two slots.
pub const SLOTS_AT_ONCE: usize = 150;

/// The progress of one chain.
#[derive(Debug, Default)]
pub struct Recheck {
    /// The first slot that was not rechecked; `None`: read it from the store.
    next: Option<Slot>,
    /// The blocks of slots recorded by this process: one per slot, unless nodes disagree.
    blocks: BTreeMap<Slot, BTreeSet<(u64, BlockHash)>>,
    /// The highest block number seen.
    tip: u64,
}

/// The blocks of one slot to compare with the chain.
#[derive(Debug)]
pub struct Due {
    /// The slot.
    pub slot: Slot,
    /// Number and hash of each block at which its snapshots were read.
    pub blocks: BTreeSet<(u64, BlockHash)>,
    /// Whether it is suspected, and requested again.
    again: bool,
}

/// The chain's current hashes at the numbers of a slot's blocks.
#[derive(Debug, Default)]
pub struct Hashes {
    /// By number.
    pub canonical: HashMap<u64, BlockHash>,
    /// The second node's hashes at the numbers where the first node's differs from the recorded block.
    pub second: HashMap<u64, BlockHash>,
}

impl Recheck {
    /// Records the blocks of a recorded slot.
    pub fn note<'a>(&mut self, slot: Slot, snapshots: impl Iterator<Item = &'a Snapshot>) {
        let blocks: BTreeSet<_> = snapshots
            .map(|snapshot| snapshot.observation().block())
            .map(|BlockRef { number, hash, .. }| (number, hash))
            .collect();
        self.tip = blocks.iter().map(|(number, _)| *number).fold(self.tip, u64::max);
        self.blocks.insert(slot, blocks);
    }

    /// The slots to compare after `last` was recorded: those suspected by an earlier slot, then the others, oldest
    /// first.
    pub fn due(
        &mut self,
        reader: &Reader,
        chain: &ChainSlug,
        last: Slot,
        confirmations: u32,
    ) -> Result<Vec<Due>, StoreError> {
        // The next slot's head is the first that can retract one.
        let Some(by) = last.next() else { return Ok(Vec::new()) };
        let reach = by.number().saturating_sub(MAX_RETRACTION_SLOTS);
        let first = Slot::new(reach.into()).unwrap_or(Slot::FIRST);
        let next = match self.next {
            Some(next) => Some(next),
            None => reader.recheck_from(chain)?,
        };
        if let Some(late) = next.filter(|next| *next < first) {
            tracing::error!(
                %chain, from = %late, until = %first,
                "slots could not be rechecked within a day and stay unchanged"
            );
        }
        let mut due = Vec::new();
        let suspected: BTreeSet<Slot> = reader
            .suspicions()?
            .into_iter()
            .filter(|suspicion| suspicion.pool.chain() == chain && !suspicion.confirmed)
            .filter(|suspicion| suspicion.seen_by < last && reaches(by, suspicion.slot))
            .map(|suspicion| suspicion.slot)
            .collect();
        for slot in suspected {
            due.push(Due { slot, blocks: stored_blocks(reader, chain, slot)?, again: true });
        }
        let mut next = Some(next.map_or(first, |next| next.max(first)));
        let mut nothing_yet = true;
        while let Some(slot) = next.filter(|slot| *slot <= last && due.len() < SLOTS_AT_ONCE) {
            let noted = self.blocks.get(&slot).cloned();
            let blocks = noted.map_or_else(|| stored_blocks(reader, chain, slot), Ok)?;
            let highest = blocks.iter().map(|(number, _)| *number).max();
            if highest.is_some_and(|number| number + u64::from(confirmations) > self.tip) {
                break;
            }
            if highest.is_some() {
                nothing_yet = false;
                due.push(Due { slot, blocks, again: false });
            } else if nothing_yet {
                // Nothing of it is recorded and nothing before it remains to be checked: the next call starts after it.
                self.next = slot.next();
            }
            next = slot.next();
        }
        Ok(due)
    }

    /// Records that the blocks before slot `next` were compared.
    pub fn compared_until(&mut self, next: Slot) {
        self.next = Some(next);
        self.blocks.retain(|noted, _| *noted >= next);
    }
}

/// Stores the results of a chain after `last` was recorded; returns the first slot that still has to be compared, if it
/// changed.
pub fn settle(
    store: &mut Store,
    chain: &ChainSlug,
    last: Slot,
    compared: &[(Due, Hashes)],
) -> Result<Option<Slot>, StoreError> {
    let mut rechecked = RecheckOutcome::default();
    let before = store.reader().suspicions()?;
    for (Due { slot, blocks, again }, hashes) in compared {
        if !again {
            rechecked.next = slot.next();
        }
        let moved = blocks.iter().any(|(number, hash)| hashes.canonical.get(number) != Some(hash));
        let orphaned =
            if moved { find_orphaned(store.reader(), chain, *slot, hashes)? } else { Vec::new() };
        let of_slot = before.iter().filter(|suspicion| {
            suspicion.slot == *slot && suspicion.pool.chain() == chain && !suspicion.confirmed
        });
        for suspicion in of_slot.clone() {
            if !orphaned.iter().any(|(pool, ..)| *pool == suspicion.pool) {
                tracing::warn!(%slot, pool = %suspicion.pool, "its block is canonical after all");
                rechecked.cleared.push((suspicion.pool.clone(), *slot));
            }
        }
        for (pool, canonical, seconded) in orphaned {
            let first = of_slot.clone().find(|suspicion| suspicion.pool == pool);
            let confirmed = seconded || first.is_some_and(|first| first.seen_by < last);
            let seen_by = first.map_or(last, |first| first.seen_by);
            tracing::warn!(%slot, %pool, %canonical, confirmed, "its block is reported as orphaned");
            rechecked.suspected.push(Suspicion {
                pool,
                slot: *slot,
                canonical,
                seen_by,
                confirmed,
            });
        }
    }
    store.note_rechecked(chain, &rechecked)?;
    Ok(rechecked.next)
}

/// The retractions in the head of slot `by`. A slot that is too old to be retracted is logged as such, once.
pub fn retractions(store: &mut Store, by: Slot) -> Result<Vec<NewRetraction>, StoreError> {
    let mut confirmed = store.reader().suspicions()?;
    confirmed.retain(|suspicion| suspicion.confirmed);
    let mut retractions = Vec::new();
    for Suspicion { pool, slot, canonical, .. } in confirmed {
        let retired = store.reader().pool(&pool)?.is_none_or(|pool| pool.retired_slot.is_some());
        if retired || !reaches(by, slot) {
            tracing::error!(%slot, %pool, "its block was orphaned, but it is too late to retract the slot");
            let cleared = vec![(pool.clone(), slot)];
            let rechecked = RecheckOutcome { cleared, ..RecheckOutcome::default() };
            store.note_rechecked(pool.chain(), &rechecked)?;
            continue;
        }
        retractions.push(NewRetraction::for_orphan(pool, slot, canonical));
    }
    Ok(retractions)
}

/// The chain's pools whose snapshot of `slot` was read at a non-canonical block, with the canonical block of that
/// number, and whether the second node confirms it.
fn find_orphaned(
    reader: &Reader,
    chain: &ChainSlug,
    slot: Slot,
    hashes: &Hashes,
) -> Result<Vec<(PoolId, BlockHash, bool)>, StoreError> {
    let blocks = blocks_of(reader, chain, slot)?;
    let other = |(pool, block): (PoolId, BlockRef)| {
        let canonical = *hashes.canonical.get(&block.number)?;
        let seconded = hashes.second.get(&block.number) == Some(&canonical);
        (canonical != block.hash).then_some((pool, canonical, seconded))
    };
    Ok(blocks.into_iter().filter_map(other).collect())
}

/// Number and hash of each block at which the chain's snapshots of `slot` were read.
fn stored_blocks(
    reader: &Reader,
    chain: &ChainSlug,
    slot: Slot,
) -> Result<BTreeSet<(u64, BlockHash)>, StoreError> {
    let blocks = blocks_of(reader, chain, slot)?;
    Ok(blocks.into_values().map(|block| (block.number, block.hash)).collect())
}

/// Distances from the newest recorded slot at which earlier blocks are collected for a new reader: the last slots, and
/// some up to a day back, which are final.
const BACK: [u32; 12] = [0, 1, 2, 3, 6, 12, 24, 48, 96, 144, 216, 287];

/// The newest recorded state of a chain: the newest snapshot of each pool in `read`, and the blocks of the newest
/// recorded slot and of some before it. Without `read`, only the blocks.
pub fn find_resume_point(
    reader: &Reader,
    chain: &ChainSlug,
    read: Option<&[PoolId]>,
) -> Result<ResumePoint, StoreError> {
    let mut standing = ResumePoint::default();
    let mut newest: Option<(Slot, Pool)> = None;
    let last = reader.slots()?.map(|(_, last)| last);
    let read: HashSet<&PoolId> = read.into_iter().flatten().collect();
    let monitored = |pool: &Pool| pool.id.chain() == chain && pool.retired_slot.is_none();
    let mut pools: Vec<Pool> = reader.pools()?.into_iter().filter(monitored).collect();
    pools.sort_by_key(|pool| !read.contains(&pool.id));
    for pool in pools {
        let is_read = read.contains(&pool.id);
        // The other pools only contribute blocks, and only until one has the newest slot.
        if !is_read && last.is_some() && newest.as_ref().map(|(newest, _)| *newest) == last {
            break;
        }
        let latest = reader.latest(&pool, None)?.and_then(|latest| latest.snapshot);
        let Some((slot, _)) = latest else { continue };
        if is_read {
            match reader.snapshot_at(&pool, slot) {
                // Its last snapshot was pruned from the database: it is read like a new pool.
                Err(StoreError::Left { .. } | StoreError::LeftUnread { .. }) => continue,
                newest => standing.newest.extend(newest?),
            }
        }
        if newest.as_ref().is_none_or(|(newest, _)| *newest < slot) {
            newest = Some((slot, pool));
        }
    }
    let Some((newest, pool)) = newest else { return Ok(standing) };
    let blocks = &mut standing.blocks;
    for back in BACK {
        let slot = Slot::new(newest.number().saturating_sub(back).into());
        let Ok(slot) = slot else { continue };
        let block = match reader.block_of(&pool, slot) {
            // Older blocks were pruned too.
            Err(StoreError::Left { .. } | StoreError::LeftUnread { .. }) => break,
            block => block?,
        };
        if reader.retraction_of(&pool, slot)?.is_none()
            && let Some(block) = block
            && blocks.last().is_none_or(|last| block.number < last.number)
        {
            blocks.push(block);
        }
    }
    Ok(standing)
}

/// Whether a head of slot `by` can retract `slot`.
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
