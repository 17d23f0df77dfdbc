//! The log: `log`, `log_key`, `predecessor`, its tree in `log_node`, and the seal of a slot: `sealed_slot` and
//! `slot_tile`; the witnesses' cosignatures: `cosigning` and `cosigned`.

use exitgap_core::series::Slot;

use super::{DatabaseError, Db, Row, statements};
use crate::error::StoreError;

/// The log's name.
pub struct LogRow {
    pub verifier_key: String,
    pub first_slot: i64,
}

/// The seal of a slot.
pub struct SealedSlotRow {
    pub pools: i64,
    pub heads_root: [u8; 32],
    pub checkpoint: String,
}

/// The witnesses' answers for a slot, if they were asked.
pub struct CosignedRow {
    /// Whether they were.
    pub asked: bool,
    /// Their lines, and the hash over slot and lines; `None` while they are awaited.
    pub answered: Option<(String, [u8; 32])>,
}

impl CosignedRow {
    fn from_row(row: Row) -> Result<Self, DatabaseError> {
        let lines: Option<String> = row.get("lines")?;
        let sha256: Option<[u8; 32]> = row.get("sha256")?;
        Ok(Self { asked: row.get::<i64>("asked")? == 1, answered: lines.zip(sha256) })
    }
}

impl SealedSlotRow {
    fn from_row(row: Row) -> Result<Self, DatabaseError> {
        Ok(Self {
            pools: row.get("pools")?,
            heads_root: row.get("heads_root")?,
            checkpoint: row.get("checkpoint")?,
        })
    }
}

impl Db {
    /// The log's name, once it has begun.
    pub fn log(&self) -> Result<Option<LogRow>, StoreError> {
        self.row(&statements::SELECT_LOG, &[], |row| {
            Ok(LogRow {
                verifier_key: row.get("verifier_key")?,
                first_slot: row.get("first_slot")?,
            })
        })
    }

    /// The log's later keys, with their numbers, ascending.
    pub fn log_keys(&self) -> Result<Vec<(i64, String)>, StoreError> {
        let read = |row: Row| Ok((row.get("key_no")?, row.get("verifier_key")?));
        self.rows(&statements::SELECT_LOG_KEYS, &[], read, Ok)
    }

    /// The document of this log's predecessor.
    pub fn predecessor(&self) -> Result<Option<String>, StoreError> {
        self.row(&statements::SELECT_PREDECESSOR, &[], |row| row.get("document"))
    }

    /// A node of the log's tree.
    pub fn log_node(&self, level: u32, index: u64) -> Result<Option<[u8; 32]>, StoreError> {
        let args = [(":level", level.into()), (":node_index", index.cast_signed().into())];
        self.row(&statements::SELECT_LOG_NODE, &args, |row| row.at(0))
    }

    /// The first and the last sealed slot.
    pub fn sealed_slots(&self) -> Result<(Option<i64>, Option<i64>), StoreError> {
        self.require_row(&statements::SELECT_SEALED_SLOTS, &[], |row| Ok((row.at(0)?, row.at(1)?)))
    }

    /// The seal of the slot.
    pub fn sealed_slot(&self, slot: Slot) -> Result<Option<SealedSlotRow>, StoreError> {
        self.row(
            &statements::SELECT_SEALED_SLOT,
            &[(":slot", slot.into())],
            SealedSlotRow::from_row,
        )
    }

    /// The witnesses' answers for the slot; `None` if none were asked.
    pub fn cosigned_row(&self, slot: Slot) -> Result<Option<CosignedRow>, StoreError> {
        self.row(&statements::SELECT_COSIGNED, &[(":slot", slot.into())], CosignedRow::from_row)
    }

    /// Notes that the slot's checkpoint, which is about to be sealed, is sent to witnesses.
    pub fn insert_cosigning(&self, slot: Slot) -> Result<(), StoreError> {
        self.execute_pipelined(&statements::INSERT_COSIGNING, &[(":slot", slot.into())])
    }

    /// Stores their answers.
    pub fn insert_cosigned(
        &self,
        slot: Slot,
        lines: &str,
        sha256: &[u8; 32],
    ) -> Result<(), StoreError> {
        let args = [(":slot", slot.into()), (":lines", lines.into()), (":sha256", sha256.into())];
        self.execute_pipelined(&statements::INSERT_COSIGNED, &args)
    }

    /// The concatenated hashes of a tile of the slot.
    pub fn slot_tile(
        &self,
        slot: Slot,
        level: u32,
        index: usize,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let args =
            [(":slot", slot.into()), (":level", level.into()), (":tile_index", index.into())];
        self.row(&statements::SELECT_SLOT_TILE, &args, |row| row.at(0))
    }

    /// Inserts the log's name.
    pub fn insert_log(&self, verifier_key: &str, first_slot: Slot) -> Result<(), StoreError> {
        let args = [(":verifier_key", verifier_key.into()), (":first_slot", first_slot.into())];
        self.execute_pipelined(&statements::INSERT_LOG, &args)
    }

    /// Inserts a later key of the log. The first later key has number 1.
    pub fn insert_log_key(&self, number: usize, verifier_key: &str) -> Result<(), StoreError> {
        let args = [(":key_no", number.into()), (":verifier_key", verifier_key.into())];
        self.execute_pipelined(&statements::INSERT_LOG_KEY, &args)
    }

    /// Inserts this log's predecessor.
    pub fn insert_predecessor(&self, document: &str) -> Result<(), StoreError> {
        let args = [(":document", document.into())];
        self.execute_pipelined(&statements::INSERT_PREDECESSOR, &args)
    }

    /// Inserts a node of the log's tree.
    pub fn insert_log_node(
        &self,
        level: u32,
        index: u64,
        sha256: &[u8; 32],
    ) -> Result<(), StoreError> {
        let args = [
            (":level", level.into()),
            (":node_index", index.cast_signed().into()),
            (":sha256", sha256.into()),
        ];
        self.execute_pipelined(&statements::INSERT_LOG_NODE, &args)
    }

    /// Inserts the seal of the slot.
    pub fn insert_sealed_slot(
        &self,
        slot: Slot,
        pools: u32,
        heads_root: &[u8; 32],
        checkpoint: &str,
    ) -> Result<(), StoreError> {
        let args = [
            (":slot", slot.into()),
            (":pools", pools.into()),
            (":heads_root", heads_root.into()),
            (":checkpoint", checkpoint.into()),
        ];
        self.execute_pipelined(&statements::INSERT_SEALED_SLOT, &args)
    }

    /// Inserts the tiles of a slot: level, index, and the concatenated hashes.
    pub fn insert_slot_tiles(
        &self,
        slot: Slot,
        tiles: impl IntoIterator<Item = (u32, usize, Vec<u8>)>,
    ) -> Result<(), StoreError> {
        let insert = &statements::INSERT_SLOT_TILE;
        for (level, index, hashes) in tiles {
            self.execute_pipelined(
                insert,
                &[
                    (":slot", slot.into()),
                    (":level", level.into()),
                    (":tile_index", index.into()),
                    (":hashes", hashes.as_slice().into()),
                ],
            )?;
        }
        Ok(())
    }
}
