//! Reads bodies from the store: snapshots and states, decompressed and with verified hashes.

pub mod codec;
pub(crate) mod left;

use exitgap_core::ids::{PoolId, SnapshotHash, StateHash};
use exitgap_core::log_folder::{FrameRef, MAX_BACK};
use exitgap_core::pools::{MAX_STATE_BYTES, PoolState};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{MAX_SNAPSHOT_BYTES, Snapshot, SnapshotDocuments};

use crate::corrupt::CorruptBody;
use crate::db::BodyRow;
use crate::error::StoreError;
use crate::reader::Reader;
use crate::rows::slot_of;
use codec::{Dictionaries, Record};

impl Reader {
    /// The pool's snapshot with this hash, validated; `None` if the store does not have it.
    pub fn snapshot(
        &self,
        pool: &PoolId,
        hash: SnapshotHash,
    ) -> Result<Option<Snapshot>, StoreError> {
        let Some(documents) = self.documents(hash)? else { return Ok(None) };
        parse(pool, hash, &documents).map(Some)
    }

    /// The same for a known slot: only its day is searched.
    pub(crate) fn snapshot_of(
        &self,
        pool: &PoolId,
        hash: SnapshotHash,
        slot: Slot,
    ) -> Result<Option<Snapshot>, StoreError> {
        let Some(documents) = self.documents_in(hash, Some(slot))? else { return Ok(None) };
        parse(pool, hash, &documents).map(Some)
    }

    /// The canonical bytes of the snapshot with this hash and of its state, with verified hashes; `None` if the store
    /// does not have it.
    pub fn documents(&self, hash: SnapshotHash) -> Result<Option<SnapshotDocuments>, StoreError> {
        self.documents_in(hash, None)
    }

    fn documents_in(
        &self,
        hash: SnapshotHash,
        slot: Option<Slot>,
    ) -> Result<Option<SnapshotDocuments>, StoreError> {
        let records = self.chain(hash, slot)?;
        let joined = unpack(&records)?.pop();
        match joined.zip(records.last()) {
            Some((joined, row)) => Ok(Some(row.split(joined))),
            None => self.left_documents(hash),
        }
    }

    /// The canonical bytes of the state with this hash; `None` if no snapshot of the store has it.
    pub fn state(&self, hash: StateHash) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(snapshot) = self.db.snapshot_of_state(&hash.0)? else {
            return self.left_state(hash);
        };
        Ok(self.documents(SnapshotHash(snapshot))?.map(|documents| documents.state))
    }

    /// The documents of a pool's slot. `recent` may contain the dictionaries of earlier slots, so that a series can be
    /// read without decompressing them for each slot.
    pub(crate) fn documents_after(
        &self,
        hash: SnapshotHash,
        slot: Slot,
        kept: &mut Dictionaries,
    ) -> Result<Option<SnapshotDocuments>, StoreError> {
        let Some(row) = self.body_row(hash, Some(slot))? else { return self.left_documents(hash) };
        self.documents_of(&row, slot, kept)
    }

    /// The same for a row that was already read.
    pub(crate) fn documents_of(
        &self,
        row: &BodyRow,
        slot: Slot,
        kept: &mut Dictionaries,
    ) -> Result<Option<SnapshotDocuments>, StoreError> {
        let dictionary = row.dictionary_body_no.and_then(|body_no| kept.find(body_no));
        let lower = dictionary.is_some_and(|dictionary| dictionary.level < row.level);
        if row.level > 0 && !lower {
            let chain = self.chain(row.hash(), Some(row.slot))?;
            if chain.is_empty() {
                return self.left_documents(row.hash());
            }
            let mut last = None;
            for (row, joined) in chain.iter().zip(unpack(&chain)?) {
                last = Some(row.split(joined.clone()));
                kept.add(Record { body_no: row.body_no, level: row.level, slot, joined });
            }
            return Ok(last);
        }
        let dictionary = dictionary.filter(|_| lower).map(|record| record.joined.as_slice());
        let joined = row.unpack(dictionary)?;
        if row.level < codec::MAX_LEVEL {
            let joined = joined.clone();
            kept.add(Record { body_no: row.body_no, level: row.level, slot, joined });
        }
        Ok(Some(row.split(joined)))
    }

    /// The body with this hash, preceded by the bodies that it needs, each the dictionary of the next; the first is
    /// self-contained. Empty if the database does not have the body.
    pub(crate) fn chain(
        &self,
        hash: SnapshotHash,
        slot: Option<Slot>,
    ) -> Result<Vec<BodyRow>, StoreError> {
        let Some(mut row) = self.body_row(hash, slot)? else { return Ok(Vec::new()) };
        let mut chain = Vec::new();
        // Levels strictly decrease, so a hostile file cannot cause an endless loop.
        while row.level > 0 {
            let (level, body_no) = (row.level.min(codec::MAX_LEVEL), row.dictionary_body_no);
            let base = self.db.dictionary(&row)?.filter(|found| found.level < level);
            chain.push(row);
            row = match base {
                Some(base) => base,
                // Its day was archived between reading two rows.
                None if self.has_left(hash)? => return Ok(Vec::new()),
                None => {
                    let what = CorruptBody::NoDictionary { body_no };
                    return Err(StoreError::Corrupt { hash, what });
                }
            };
        }
        chain.push(row);
        chain.reverse();
        Ok(chain)
    }

    /// The row of the body with this hash, and of this slot if it is known.
    pub(crate) fn body_row(
        &self,
        hash: SnapshotHash,
        slot: Option<Slot>,
    ) -> Result<Option<BodyRow>, StoreError> {
        self.db.body(&hash.0, slot)
    }
}

impl BodyRow {
    /// The hash of its snapshot.
    fn hash(&self) -> SnapshotHash {
        SnapshotHash(self.snapshot)
    }

    /// The bytes of both documents, which must have the row's hashes.
    pub fn unpack(&self, dictionary: Option<&[u8]>) -> Result<Vec<u8>, StoreError> {
        let corrupt = |what| StoreError::Corrupt { hash: self.hash(), what };
        let snapshot_bytes = size(self.snapshot_bytes).min(MAX_SNAPSHOT_BYTES);
        let expected = snapshot_bytes + size(self.state_bytes).min(MAX_STATE_BYTES);
        let joined = codec::decompress(&self.zstd, expected, dictionary)
            .map_err(|error| corrupt(CorruptBody::Zstd { expected, reason: error.to_string() }))?;
        let (snapshot, state) = joined.split_at(snapshot_bytes);
        let found = Snapshot::hash_of(snapshot);
        if found != self.hash() {
            return Err(corrupt(CorruptBody::Hash { found }));
        }
        let found = PoolState::hash_of(state);
        let expected = StateHash(self.state);
        if found != expected {
            return Err(corrupt(CorruptBody::State { expected, found }));
        }
        Ok(joined)
    }

    /// The body as stored in the log's folder.
    pub fn into_frame(self) -> Result<(FrameRef, Vec<u8>), StoreError> {
        let table = "body";
        let corrupt = |found: String| StoreError::CorruptRow { table, found };
        let base = self.base_slot.map(|base| slot_of(table, base)).transpose()?;
        let back = base.map_or(Some(0), |base| self.slot.number().checked_sub(base.number()));
        let back = back.filter(|back| *back <= MAX_BACK && (*back > 0) == self.base_no().is_some());
        let back = back.ok_or_else(|| corrupt(format!("a body that refers to {base:?}")))?;
        let length = |bytes: usize| {
            u32::try_from(bytes).map_err(|_| corrupt(format!("a body of {bytes} bytes")))
        };
        let bytes = length(self.zstd.len())?;
        if bytes == 0 {
            return Err(corrupt("an empty body".to_owned()));
        }
        let frame = FrameRef {
            back,
            bytes,
            snapshot: length(size(self.snapshot_bytes))?,
            state: length(size(self.state_bytes))?,
        };
        Ok((frame, self.zstd))
    }

    /// The same body, shared with an earlier head of the slot.
    pub fn into_shared(self) -> Result<(FrameRef, Vec<u8>), StoreError> {
        let (frame, _) = self.into_frame()?;
        Ok((FrameRef { back: 0, bytes: 0, ..frame }, Vec::new()))
    }

    /// The number of the body that it refers to; `None` if it is self-contained.
    pub fn base_no(&self) -> Option<i64> {
        self.dictionary_body_no.filter(|_| self.level > 0)
    }

    /// Splits the bytes into both documents.
    pub fn split(&self, joined: Vec<u8>) -> SnapshotDocuments {
        codec::split(joined, size(self.snapshot_bytes))
    }
}

/// Parses a body's documents as the pool's snapshot.
pub fn parse(
    pool: &PoolId,
    hash: SnapshotHash,
    documents: &SnapshotDocuments,
) -> Result<Snapshot, StoreError> {
    Snapshot::of_pool(pool, &documents.snapshot, &documents.state)
        .map_err(|error| StoreError::Corrupt { hash, what: CorruptBody::NotASnapshot(error) })
}

/// Decompresses and verifies each body of a chain.
pub fn unpack(chain: &[BodyRow]) -> Result<Vec<Vec<u8>>, StoreError> {
    let mut unpacked: Vec<Vec<u8>> = Vec::with_capacity(chain.len());
    for row in chain {
        unpacked.push(row.unpack(unpacked.last().map(Vec::as_slice))?);
    }
    Ok(unpacked)
}

/// A length from a row. A negative value is damaged, and will not decompress.
fn size(bytes: i64) -> usize {
    usize::try_from(bytes).unwrap_or(0)
}
