//! The bodies in the store, unpacked: snapshots and states, with their hashes recomputed.

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
    /// The pool's snapshot of this name, checked; `None` if the store has none.
    pub fn snapshot(
        &self,
        pool: &PoolId,
        hash: SnapshotHash,
    ) -> Result<Option<Snapshot>, StoreError> {
        let Some(documents) = self.documents(hash)? else { return Ok(None) };
        parse(pool, hash, &documents).map(Some)
    }

    /// The same of a slot that is known: it is looked for in its day alone.
    pub(crate) fn snapshot_of(
        &self,
        pool: &PoolId,
        hash: SnapshotHash,
        slot: Slot,
    ) -> Result<Option<Snapshot>, StoreError> {
        let Some(documents) = self.documents_in(hash, Some(slot))? else { return Ok(None) };
        parse(pool, hash, &documents).map(Some)
    }

    /// The canonical bytes of the snapshot of this name and of its state, hashed again; `None` if
    /// the store has none.
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

    /// The canonical bytes of the state of this name; `None` if no snapshot of the store is of it.
    pub fn state(&self, hash: StateHash) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(snapshot) = self.db.snapshot_of_state(&hash.0)? else {
            return self.left_state(hash);
        };
        Ok(self.documents(SnapshotHash(snapshot))?.map(|documents| documents.state))
    }

    /// The documents of a pool's slot, where the dictionaries of the slots before may be at hand: a
    /// series is followed without unpacking them again for each slot.
    pub(crate) fn documents_after(
        &self,
        hash: SnapshotHash,
        slot: Slot,
        kept: &mut Dictionaries,
    ) -> Result<Option<SnapshotDocuments>, StoreError> {
        let Some(row) = self.body_row(hash, Some(slot))? else { return self.left_documents(hash) };
        self.documents_of(&row, slot, kept)
    }

    /// The same of a row that was read.
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

    /// The body of this name after those it needs, each the dictionary of the next, the
    /// first standing alone. Empty if there is no such body in the database.
    pub(crate) fn chain(
        &self,
        hash: SnapshotHash,
        slot: Option<Slot>,
    ) -> Result<Vec<BodyRow>, StoreError> {
        let Some(mut row) = self.body_row(hash, slot)? else { return Ok(Vec::new()) };
        let mut chain = Vec::new();
        // Levels fall strictly, so that a hostile file cannot lead this round in circles.
        while row.level > 0 {
            let (level, body_no) = (row.level.min(codec::MAX_LEVEL), row.dictionary_body_no);
            let base = self.db.dictionary(&row)?.filter(|found| found.level < level);
            chain.push(row);
            row = match base {
                Some(base) => base,
                // Its day left between one row and the next.
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

    /// The body of this name, of this slot where it is known, as its row has it.
    pub(crate) fn body_row(
        &self,
        hash: SnapshotHash,
        slot: Option<Slot>,
    ) -> Result<Option<BodyRow>, StoreError> {
        self.db.body(&hash.0, slot)
    }
}

impl BodyRow {
    /// The name of its snapshot.
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

    /// The body as it stands in the log's folder.
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

    /// The same body, where it stands at an earlier head of the slot.
    pub fn into_shared(self) -> Result<(FrameRef, Vec<u8>), StoreError> {
        let (frame, _) = self.into_frame()?;
        Ok((FrameRef { back: 0, bytes: 0, ..frame }, Vec::new()))
    }

    /// The body it refers to, by number; `None`: it stands alone.
    pub fn base_no(&self) -> Option<i64> {
        self.dictionary_body_no.filter(|_| self.level > 0)
    }

    /// Both documents.
    pub fn split(&self, joined: Vec<u8>) -> SnapshotDocuments {
        codec::split(joined, size(self.snapshot_bytes))
    }
}

/// The pool's snapshot that a body's documents are.
pub fn parse(
    pool: &PoolId,
    hash: SnapshotHash,
    documents: &SnapshotDocuments,
) -> Result<Snapshot, StoreError> {
    Snapshot::of_pool(pool, &documents.snapshot, &documents.state)
        .map_err(|error| StoreError::Corrupt { hash, what: CorruptBody::NotASnapshot(error) })
}

/// The bytes of each body of a chain, all checked.
pub fn unpack(chain: &[BodyRow]) -> Result<Vec<Vec<u8>>, StoreError> {
    let mut unpacked: Vec<Vec<u8>> = Vec::with_capacity(chain.len());
    for row in chain {
        unpacked.push(row.unpack(unpacked.last().map(Vec::as_slice))?);
    }
    Ok(unpacked)
}

/// A length as a row has it. None is negative; what is damaged does not unpack.
fn size(bytes: i64) -> usize {
    usize::try_from(bytes).unwrap_or(0)
}
