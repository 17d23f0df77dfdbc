//! Bodies that were archived, which means removed from the database. They are read from the files of their closed day
//! in the log's folder.

use std::path::PathBuf;

use exitgap_core::ids::{PoolId, SnapshotHash, StateHash};
use exitgap_core::log_folder::days::DaysFile;
use exitgap_core::pools::PoolState;
use exitgap_core::series::{Day, Slot};
use exitgap_core::snapshot::{Snapshot, SnapshotDocuments};

use crate::corrupt::CorruptBody;
use crate::days::{AuditError, DayFolder, EvidenceRow};
use crate::db::LeftRow;
use crate::derived::rollup::day_of;
use crate::error::StoreError;
use crate::reader::Reader;

impl Reader {
    /// The documents of an archived snapshot; `None` if no archived snapshot has this hash.
    pub(super) fn left_documents(
        &self,
        hash: SnapshotHash,
    ) -> Result<Option<SnapshotDocuments>, StoreError> {
        self.documents_in_days(self.db.left_snapshots(&hash.0)?, hash)
    }

    /// The documents of a snapshot that is in one of these places.
    pub(crate) fn documents_in_days(
        &self,
        places: Vec<LeftRow>,
        hash: SnapshotHash,
    ) -> Result<Option<SnapshotDocuments>, StoreError> {
        self.first_left(places, |documents| {
            if is_whole(documents) && documents.hash() == hash {
                RowMatch::It
            } else {
                RowMatch::Damaged
            }
        })
    }

    /// An archived state; `None` if no archived snapshot has it.
    pub(super) fn left_state(&self, hash: StateHash) -> Result<Option<Vec<u8>>, StoreError> {
        let places = self.db.left_states(&hash.0)?;
        // The hashes of other states can begin with the same bytes.
        let found = self.first_left(places, |documents| {
            if !is_whole(documents) {
                RowMatch::Damaged
            } else if PoolState::hash_of(&documents.state) == hash {
                RowMatch::It
            } else {
                RowMatch::Another
            }
        });
        Ok(found?.map(|documents| documents.state))
    }

    /// Whether a snapshot is archived.
    pub(super) fn has_left(&self, hash: SnapshotHash) -> Result<bool, StoreError> {
        Ok(!self.db.left_snapshots(&hash.0)?.is_empty())
    }

    /// Why the body of a slot's snapshot is not in the database: it was archived, or it was lost.
    pub(crate) fn absent(&self, hash: SnapshotHash, slot: Slot) -> Result<StoreError, StoreError> {
        if self.db.has_left(day_of(slot))? {
            return Ok(StoreError::Left { slot, day: Day::from_slot(slot) });
        }
        Ok(StoreError::Corrupt { hash, what: CorruptBody::Absent })
    }

    /// The first of these places that has the documents.
    fn first_left(
        &self,
        places: Vec<LeftRow>,
        which: impl Fn(&SnapshotDocuments) -> RowMatch,
    ) -> Result<Option<SnapshotDocuments>, StoreError> {
        let mut fault = None;
        for LeftRow { pool, slot } in places {
            let pool = pool.parse().map_err(|error| StoreError::CorruptRow {
                table: "pool",
                found: format!("{error}"),
            })?;
            let why = match self.in_its_day(&pool, slot) {
                Ok((path, found)) => match which(&found) {
                    RowMatch::It => return Ok(Some(found)),
                    RowMatch::Another => continue,
                    RowMatch::Damaged => {
                        // Read the files again later, in case an operator restores a copy.
                        *self.left.borrow_mut() = LeftRows::default();
                        let why = format!("its snapshot of {pool} at {slot} is a different one");
                        StoreError::LeftUnread { slot, path, why }
                    }
                },
                // Another day may have it as well.
                Err(error) => error,
            };
            fault.get_or_insert(why);
        }
        fault.map_or(Ok(None), Err)
    }

    /// The documents of a pool's slot in the files of its day. The caller must compare hashes, because the files are
    /// not trusted.
    fn in_its_day(
        &self,
        pool: &PoolId,
        slot: Slot,
    ) -> Result<(PathBuf, SnapshotDocuments), StoreError> {
        let day = Day::from_slot(slot);
        let folder = self.days.as_ref().ok_or(StoreError::Left { slot, day })?;
        let path = folder.path().join(format!("{}/{day}", DaysFile::FOLDER));
        let mut left = self.left.borrow_mut();
        if let Some(found) = left.documents(pool, slot) {
            return Ok((path, found));
        }
        let unread = |why: String| StoreError::LeftUnread { slot, path: path.clone(), why };
        let day = DayFolder::new(&path);
        let manifest = day.manifest().map_err(|error| unread(error.to_string()))?;
        let manifest = manifest.map_err(|fault| unread(fault.detail))?;
        let rows = day.rows_with(&manifest, pool, slot).map_err(|stopped| match stopped {
            AuditError::Fault(fault) => unread(fault.detail),
            AuditError::Machine(error) => unread(error.to_string()),
        })?;
        *left = LeftRows(rows);
        let found = left.documents(pool, slot);
        let found =
            found.ok_or_else(|| unread(format!("it has no snapshot of {pool} at {slot}")))?;
        if left.bytes() > KEPT_BYTES {
            *left = LeftRows::default();
        }
        Ok((path, found))
    }
}

/// The content of a place.
enum RowMatch {
    /// The documents that are searched.
    It,
    /// Other valid documents.
    Another,
    /// Damaged data.
    Damaged,
}

/// Whether the state is the one that the snapshot names, as for a row of the database.
fn is_whole(documents: &SnapshotDocuments) -> bool {
    let state = Snapshot::state_named_in(&documents.snapshot);
    state == Some(PoolState::hash_of(&documents.state))
}

/// The maximum size of documents that are cached for further requests, in bytes.
const KEPT_BYTES: usize = 32 << 20;

/// Rows of a closed day that were read together.
#[derive(Default)]
pub(crate) struct LeftRows(Vec<EvidenceRow>);

impl std::fmt::Debug for LeftRows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("LeftRows").field(&self.0.len()).finish()
    }
}

impl LeftRows {
    fn documents(&self, pool: &PoolId, slot: Slot) -> Option<SnapshotDocuments> {
        let row = self.0.iter().find(|row| row.slot == slot && row.pool == *pool)?;
        let [snapshot, state] = row.snapshot.clone()?;
        Some(SnapshotDocuments { snapshot, state })
    }

    fn bytes(&self) -> usize {
        self.0.iter().flat_map(|row| row.snapshot.iter().flatten()).map(Vec::len).sum()
    }
}
