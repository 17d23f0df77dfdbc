//! The logs of pools, according to the commitments in the heads of some slots.

use std::collections::VecDeque;

use exitgap_core::analytics::accuracy::Fills;
use exitgap_core::analytics::figure::FigureFills;
use exitgap_core::series::Slot;

use crate::error::StoreError;
use crate::fills::StoredFills;
use crate::model::{Page, Pool};
use crate::reader::Reader;

/// The number of documents that are read at once.
const AT_ONCE: usize = 64;

/// The hashes of the documents that the heads of some slots commit to.
pub(super) fn list_fills(
    reader: &Reader,
    pool: &Pool,
    [from, to]: [Slot; 2],
) -> Result<Vec<FigureFills>, StoreError> {
    let (mut named, mut next) = (Vec::new(), Some(from));
    while let Some(from) = next {
        let page = reader.fills(pool, [from, to], AT_ONCE)?;
        for stored in page.entries {
            let StoredFills { hash: document, slot, .. } = stored;
            named.push(FigureFills { document, pool: pool.id.clone(), slot });
        }
        next = page.next;
    }
    Ok(named)
}

/// The documents that the heads of some slots commit to, one after the other.
pub(super) struct FillsOfSlots<'a> {
    reader: &'a Reader,
    pool: &'a Pool,
    to: Slot,
    /// The first slot whose head was not read yet.
    next: Option<Slot>,
    read: VecDeque<StoredFills>,
}

impl<'a> FillsOfSlots<'a> {
    pub(super) fn for_slots(reader: &'a Reader, pool: &'a Pool, [from, to]: [Slot; 2]) -> Self {
        Self { reader, pool, to, next: Some(from), read: VecDeque::new() }
    }

    pub(super) fn next(&mut self) -> Result<Option<Fills>, StoreError> {
        if self.read.is_empty()
            && let Some(from) = self.next
        {
            let run = [from, self.to];
            let Page { entries, next } = self.reader.fills(self.pool, run, AT_ONCE)?;
            (self.read, self.next) = (entries.into(), next);
        }
        let Some(stored) = self.read.pop_front() else { return Ok(None) };
        let fills = Fills::from_canonical(&stored.canonical).map_err(|error| {
            let found = format!("slot {}: {error}", stored.slot);
            StoreError::CorruptRow { table: "fills", found }
        })?;
        Ok(Some(fills))
    }
}
