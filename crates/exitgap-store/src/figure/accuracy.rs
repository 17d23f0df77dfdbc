//! The accuracy record: snapshots, and between them what heads commit to of what the pool logged.

use std::collections::VecDeque;

use exitgap_core::analytics::accuracy::{AccuracyResult, AccuracyScan, Fills, PoolLog};
use exitgap_core::analytics::standing;
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;

use super::FigureError;
use crate::bodies::packing::Dictionaries;
use crate::bodies::parse;
use crate::corrupt::CorruptBody;
use crate::error::StoreError;
use crate::evidence::EvidenceError;
use crate::fills::StoredFills;
use crate::model::{Page, Pool};
use crate::reader::Reader;

/// Documents that are read in one go.
const AT_ONCE: usize = 64;

/// A pool's record over a period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedAccuracy {
    /// The figure.
    pub result: AccuracyResult,
    /// The first and the last slot of which the logs are known; `None`: there is none.
    pub slots: Option<[Slot; 2]>,
    /// Later slots that stand in the period, and whose logs no head commits to yet.
    pub slots_waiting: u32,
    /// Documents that were read.
    pub documents: u32,
}

impl Reader {
    /// Every swap of a pool in a period against its estimate.
    pub fn accuracy(
        &self,
        id: &PoolId,
        [from, to]: [Slot; 2],
    ) -> Result<RecordedAccuracy, FigureError> {
        let unknown = || EvidenceError::UnknownPool { pool: id.clone() };
        let pool = self.pool(id)?.ok_or_else(unknown)?;
        let heads = self.heads(&pool, from, to)?;
        let (mut scan, mut kept) = (AccuracyScan::new(), Dictionaries::default());
        let mut logs = Logs::of(self, &pool, from);
        let (mut slots, mut slots_waiting) = (None, 0);
        for (slot, hash) in standing(heads.iter().map(|stored| &stored.head)) {
            let absent = || StoreError::Corrupt { hash, what: CorruptBody::Absent };
            let documents = self.documents_after(hash, slot, &mut kept)?.ok_or_else(absent)?;
            let observation = parse(&pool.id, hash, &documents)?.observation().clone();
            let block = observation.block().number;
            if slots_waiting > 0 || !logs.reach(block)? {
                slots_waiting += 1;
                continue;
            }
            scan.take(slot, observation, &logs.up_to(block))?;
            slots = Some(slots.map_or([slot; 2], |[first, _]: [Slot; 2]| [first, slot]));
        }
        let documents = logs.documents;
        Ok(RecordedAccuracy { result: scan.finish(), slots, slots_waiting, documents })
    }
}

/// What a pool logged, document after document.
struct Logs<'a> {
    reader: &'a Reader,
    pool: &'a Pool,
    /// The slot from which on heads were not asked.
    next: Option<Slot>,
    read: VecDeque<StoredFills>,
    /// What was logged and not handed out.
    unused: VecDeque<PoolLog>,
    /// The last block that the documents so far say something of.
    until: Option<u64>,
    documents: u32,
}

impl<'a> Logs<'a> {
    fn of(reader: &'a Reader, pool: &'a Pool, from: Slot) -> Self {
        Self {
            reader,
            pool,
            next: Some(from),
            read: VecDeque::new(),
            unused: VecDeque::new(),
            until: None,
            documents: 0,
        }
    }

    /// Reads on until a block; whether documents go so far.
    fn reach(&mut self, block: u64) -> Result<bool, StoreError> {
        while self.until.is_none_or(|until| until < block) {
            if self.read.is_empty()
                && let Some(from) = self.next
            {
                let Page { entries, next } =
                    self.reader.fills(self.pool, [from, Slot::LAST], AT_ONCE)?;
                (self.read, self.next) = (entries.into(), next);
            }
            let Some(stored) = self.read.pop_front() else { return Ok(false) };
            let fills = Fills::from_canonical(&stored.canonical).map_err(|error| {
                let found = format!("slot {}: {error}", stored.slot);
                StoreError::CorruptRow { table: "fills", found }
            })?;
            self.until = Some(fills.to_block);
            self.unused.extend(fills.logs);
            self.documents += 1;
        }
        Ok(true)
    }

    /// What was logged up to a block and not handed out before.
    fn up_to(&mut self, block: u64) -> Vec<PoolLog> {
        let count = self.unused.partition_point(|log| log.block <= block);
        self.unused.drain(..count).collect()
    }
}
