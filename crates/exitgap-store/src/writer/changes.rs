//! Retractions and retirements, checked before anything of a slot is written.

use std::collections::BTreeMap;

use exitgap_core::analytics::accuracy::{Fills, IssuedReceipts};
use exitgap_core::evidence::{MAX_RETRACTION_SLOTS, Retraction};
use exitgap_core::ids::{DocumentHash, PoolId};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::BlockRef;

use crate::bodies::codec;
use crate::error::StoreError;
use crate::model::{Changes, NewDoubt, NewFills, NewRetraction, NewRetractionCause, Pool};
use crate::reader::Reader;

/// Why a slot cannot be retracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RetractionRule {
    /// The pool is not in the store.
    #[error("the store has no such pool")]
    UnknownPool,
    /// The slot is missing, or not in the store.
    #[error("it has no snapshot to retract")]
    NotRecorded,
    /// The slot was already retracted, or is given twice.
    #[error("it is already retracted")]
    Twice,
    /// The slot is not 1 to 288 slots back.
    #[error("only the 288 slots before it can be retracted")]
    TooFar,
    /// The slot was read at the block that is on the final chain.
    #[error("it was read at that block")]
    SameBlock,
}

/// The checked statements of a slot's heads besides their entries.
#[derive(Debug, Default)]
pub struct CheckedChanges {
    /// By pool name; each list is ascending.
    pub retracts: BTreeMap<String, Vec<Retraction>>,
    /// By pool name.
    pub retires: BTreeMap<String, Pool>,
    /// Not checked.
    pub doubts: Vec<NewDoubt>,
    /// By pool name.
    pub fills: BTreeMap<String, PackedFills>,
    /// By pool name.
    pub issued: BTreeMap<String, PackedIssued>,
}

impl CheckedChanges {
    /// Checks the changes for `slot`. `recorded` returns which pools have their own entry.
    pub fn from_changes(
        reader: &Reader,
        slot: Slot,
        changes: &Changes,
        recorded: impl Fn(&PoolId) -> bool,
    ) -> Result<Self, StoreError> {
        let mut checked = Self { doubts: changes.doubts.clone(), ..Self::default() };
        for retraction in &changes.retractions {
            let found = check_retraction(reader, slot, retraction)?;
            let retracts = checked.retracts.entry(retraction.pool.to_string()).or_default();
            let place = retracts.binary_search_by_key(&found.slot, |other| other.slot);
            let Err(place) = place else {
                let (pool, rule) = (retraction.pool.clone(), RetractionRule::Twice);
                return Err(StoreError::Retraction { pool, slot: found.slot, by: slot, rule });
            };
            retracts.insert(place, found);
        }
        for id in &changes.retirements {
            let refused = |rule| StoreError::Retirement { pool: id.clone(), slot, rule };
            let pool = reader.pool(id)?.ok_or_else(|| refused("it is not in the store"))?;
            if let Some(retired) = pool.retired_slot.filter(|retired| *retired != slot) {
                return Err(StoreError::PoolRetired { pool: id.clone(), retired });
            }
            if pool.first_slot >= slot {
                return Err(refused("the pool starts in this slot or later"));
            }
            if recorded(id) {
                return Err(refused("the pool already has another entry in this slot"));
            }
            checked.retires.insert(id.to_string(), pool);
        }
        for new in &changes.fills {
            let name = new.pool.to_string();
            let packed = PackedFills::from_fills(reader, slot, new)?;
            if checked.fills.insert(name, packed).is_some() {
                return Err(refused_fills(new, slot, "they were given twice"));
            }
        }
        for new in &changes.issued {
            let packed = PackedIssued::from_issued(reader, slot, new)?;
            if checked.issued.insert(new.pool.to_string(), packed).is_some() {
                return Err(refused_issued(new, slot, "they were given twice"));
            }
        }
        Ok(checked)
    }
}

fn refused_issued(new: &IssuedReceipts, slot: Slot, rule: &str) -> StoreError {
    StoreError::Issued { pool: new.pool.clone(), slot, rule: rule.to_owned() }
}

/// A checked document of issued estimates, as it is stored.
#[derive(Debug)]
pub struct PackedIssued {
    pub hash: DocumentHash,
    pub canonical: Vec<u8>,
    pub zstd: Vec<u8>,
}

impl PackedIssued {
    fn check(reader: &Reader, slot: Slot, new: &IssuedReceipts) -> Result<Vec<u8>, StoreError> {
        if reader.pool(&new.pool)?.is_none() {
            return Err(refused_issued(new, slot, "the store has no such pool"));
        }
        new.to_canonical().map_err(|error| refused_issued(new, slot, &error.to_string()))
    }

    fn from_issued(reader: &Reader, slot: Slot, new: &IssuedReceipts) -> Result<Self, StoreError> {
        let canonical = Self::check(reader, slot, new)?;
        let source = |source| StoreError::Compress { pool: new.pool.clone(), source };
        let zstd = codec::compress(&canonical, None).map_err(source)?;
        Ok(Self { hash: IssuedReceipts::hash_of(&canonical), canonical, zstd })
    }
}

fn refused_fills(new: &NewFills, slot: Slot, rule: &str) -> StoreError {
    StoreError::Fills { pool: new.pool.clone(), slot, rule: rule.to_owned() }
}

/// A checked document of fills, as it is stored.
#[derive(Debug)]
pub struct PackedFills {
    pub hash: DocumentHash,
    pub blocks: [i64; 2],
    pub canonical: Vec<u8>,
    pub zstd: Vec<u8>,
}

impl PackedFills {
    /// The document of fills that may be written, and its blocks as the database keeps them.
    fn check(
        reader: &Reader,
        slot: Slot,
        new: &NewFills,
    ) -> Result<(Vec<u8>, [i64; 2]), StoreError> {
        let refused = |rule| refused_fills(new, slot, rule);
        let NewFills { pool: id, fills } = new;
        let pool = reader.pool(id)?.ok_or_else(|| refused("the store has no such pool"))?;
        if id.pair().is_some() || fills.contract != *id.contract() {
            return Err(refused("they belong to another contract"));
        }
        let before = slot.previous().map(|before| reader.fills_until(&pool, before));
        let before = before.transpose()?.flatten();
        if before.is_some_and(|(_, to_block)| !fills.follows(to_block)) {
            return Err(refused("they do not follow the previous ones"));
        }
        let block = |number: u64| {
            i64::try_from(number).map_err(|_| refused("its block numbers are out of range"))
        };
        let blocks = [block(fills.after_block)?, block(fills.to_block)?];
        let document = fills.to_canonical();
        let document = document.map_err(|error| refused_fills(new, slot, &error.to_string()))?;
        Ok((document, blocks))
    }

    fn from_fills(reader: &Reader, slot: Slot, new: &NewFills) -> Result<Self, StoreError> {
        let (document, blocks) = Self::check(reader, slot, new)?;
        let source = |source| StoreError::Compress { pool: new.pool.clone(), source };
        Ok(Self {
            hash: Fills::hash_of(&document),
            blocks,
            zstd: codec::compress(&document, None).map_err(source)?,
            canonical: document,
        })
    }
}

/// Removes the documents that the store would refuse from the changes of `slot` and returns the reasons. An error is an
/// error of the database.
pub fn take_refused(
    reader: &Reader,
    slot: Slot,
    changes: &mut Changes,
) -> Result<Vec<StoreError>, StoreError> {
    let mut refused = Vec::new();
    let mut keep = |checked: Result<Vec<u8>, StoreError>| match checked {
        Ok(_) => Ok(true),
        Err(error @ (StoreError::Fills { .. } | StoreError::Issued { .. })) => {
            refused.push(error);
            Ok(false)
        }
        Err(error) => Err(error),
    };
    let mut fills = Vec::with_capacity(changes.fills.len());
    for new in core::mem::take(&mut changes.fills) {
        if keep(PackedFills::check(reader, slot, &new).map(|(document, _)| document))? {
            fills.push(new);
        }
    }
    let mut issued = Vec::with_capacity(changes.issued.len());
    for new in core::mem::take(&mut changes.issued) {
        if keep(PackedIssued::check(reader, slot, &new))? {
            issued.push(new);
        }
    }
    (changes.fills, changes.issued) = (fills, issued);
    Ok(refused)
}

fn check_retraction(
    reader: &Reader,
    by: Slot,
    new: &NewRetraction,
) -> Result<Retraction, StoreError> {
    let slot = new.slot;
    let refused = |rule| StoreError::Retraction { pool: new.pool.clone(), slot, by, rule };
    let back = by.number().checked_sub(slot.number());
    if !back.is_some_and(|back| (1..=MAX_RETRACTION_SLOTS).contains(&back)) {
        return Err(refused(RetractionRule::TooFar));
    }
    let pool = reader.pool(&new.pool)?.ok_or_else(|| refused(RetractionRule::UnknownPool))?;
    if let Some(retired) = pool.retired_slot.filter(|retired| *retired < by) {
        return Err(StoreError::PoolRetired { pool: pool.id, retired });
    }
    let block = reader.block_of(&pool, slot)?;
    let orphaned = block.ok_or_else(|| refused(RetractionRule::NotRecorded))?.hash;
    // If the slot is already sealed, the same retraction is compared with the stored one.
    if reader.retraction_of(&pool, slot)?.is_some_and(|before| before.by != by) {
        return Err(refused(RetractionRule::Twice));
    }
    match new.cause {
        NewRetractionCause::Misread => Ok(Retraction::misread(slot)),
        NewRetractionCause::Orphaned { canonical } if canonical == orphaned => {
            Err(refused(RetractionRule::SameBlock))
        }
        NewRetractionCause::Orphaned { canonical } => {
            Ok(Retraction::for_orphan(slot, orphaned, canonical))
        }
    }
}

impl Reader {
    /// The block that the pool's snapshot of `slot` was read at; `None` if there is no snapshot.
    pub fn block_of(&self, pool: &Pool, slot: Slot) -> Result<Option<BlockRef>, StoreError> {
        Ok(self.snapshot_at(pool, slot)?.map(|snapshot| snapshot.observation().block()))
    }
}

impl StoreError {
    /// Whether a slot was refused because of the submitted data, and not because of a failure of the machine or the
    /// stored data.
    pub fn is_of_entries(&self) -> bool {
        matches!(
            self,
            Self::SlotTooLarge { .. }
                | Self::NoEntries { .. }
                | Self::PoolRepeated { .. }
                | Self::PoolWithoutEntry { .. }
                | Self::PoolNotInSlot { .. }
                | Self::PoolRetired { .. }
                | Self::SnapshotOfOtherSlot { .. }
                | Self::SnapshotsDiffer { .. }
                | Self::SnapshotOfOtherPool { .. }
                | Self::Snapshot { .. }
                | Self::Retirement { .. }
                | Self::Retraction { .. }
                | Self::Fills { .. }
                | Self::Issued { .. }
                | Self::SealedOtherwise { .. }
                | Self::Seal { .. }
        )
    }
}

#[cfg(test)]
mod tests {
    use exitgap_core::U256;
    use exitgap_core::analytics::accuracy::{PoolEvent, PoolLog, PriceAfter, SwapAmounts};
    use exitgap_core::ids::Address;
    use exitgap_core::pools::Direction;
    use exitgap_core::tlog::SignerKey;

    use super::*;
    use crate::model::NewEntry;
    use crate::samples::{pool, slot, snapshot};
    use crate::writer::Store;
    use crate::writer::ready::Ready;

    /// A document with swaps at these log indices of block 12.
    fn fills(of: &PoolId, indices: &[u32], tick: i32) -> NewFills {
        let swap = |index: &u32| {
            let amounts = SwapAmounts { sold: [U256::from(*index); 2], bought: [U256::ZERO; 2] };
            let price = PriceAfter { sqrt_price_x96: U256::from(1_u8), tick, liquidity: 1 };
            let event = PoolEvent::Swap(amounts, Some(price));
            let (transaction, parties) = ([1; 32], [Address([1; 20]); 2]);
            PoolLog { block: 12, index: *index, transaction, parties, event }
        };
        let (contract, logs) = (of.contract().clone(), indices.iter().map(swap).collect());
        let fills = Fills { contract, after_block: 10, to_block: 20, logs };
        NewFills { pool: of.clone(), fills }
    }

    #[test]
    fn a_slot_is_written_without_the_documents_that_would_be_refused() {
        let home = tempfile::tempdir().unwrap();
        let key = SignerKey::from_seed("exitgap.example/log", [7; 32]).unwrap();
        let mut store = Store::create(home.path().join("series.db"), &key).unwrap();
        let entry = |index| {
            let reading = Ok(snapshot(index));
            NewEntry { pool: pool(), default_base: Direction::ZeroForOne, reading }
        };
        store.append_slot(slot(0), &[entry(0)]).unwrap();
        let unknown: PoolId = "anvil:0x99e6a0c2ddd26feeb64f039a2c41296fcb3f5640".parse().unwrap();
        let wrong =
            [fills(&pool(), &[3, 3], 7), fills(&pool(), &[3], 8_388_607), fills(&unknown, &[3], 7)];
        for wrong in wrong {
            let good = Changes { fills: vec![fills(&pool(), &[3], 7)], ..Changes::default() };
            let mut changes = Changes { fills: vec![wrong.clone()], ..good.clone() };
            // Control: otherwise the whole slot would be refused.
            let refused = store.append_slot_with(slot(1), &[entry(1)], &changes).unwrap_err();
            assert!(refused.is_of_entries(), "{refused}");
            changes.fills.extend(good.fills.clone());
            let said = store.take_refused(slot(1), &mut changes).unwrap();
            assert_eq!(said.len(), 1);
            assert_eq!(said[0].to_string(), refused.to_string());
            assert_eq!(changes, good);
        }
        let mut changes = Changes { fills: vec![fills(&pool(), &[3, 3], 7)], ..Changes::default() };
        store.take_refused(slot(1), &mut changes).unwrap();
        let ready = Ready::prepare_entries(&[entry(1)]).unwrap();
        assert!(store.append_ready(slot(1), ready, &changes).unwrap().written);
    }
}
