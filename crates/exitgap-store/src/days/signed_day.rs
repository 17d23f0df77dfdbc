//! A day's heads under the log's signatures: the tree over each slot's heads against its leaf, the leaves against the checkpoints.

use std::collections::BTreeMap;

use exitgap_core::evidence::SlotLeaf;
use exitgap_core::log_folder::days::DayManifest;
use exitgap_core::series::Slot;
use exitgap_core::tlog::{Checkpoint, Frontier, Hash, TrustError, VerifierKey};

use super::fault::{AuditError, DayFault};
use super::open::{DayFolder, Groups, wrong_column};
use super::rows::{SlotRow, slots_table};

/// A day whose heads are compared with what was signed.
pub struct SignedDay<'a> {
    /// Its files.
    pub folder: &'a DayFolder,
    /// Its manifest.
    pub manifest: &'a DayManifest,
    /// The keys whose signature counts.
    pub keys: &'a [VerifierKey],
    /// The tree over each slot's heads, as far as its pools were read.
    trees: BTreeMap<Slot, Frontier>,
}

impl<'a> SignedDay<'a> {
    /// A day none of whose heads was read so far.
    pub fn new(folder: &'a DayFolder, manifest: &'a DayManifest, keys: &'a [VerifierKey]) -> Self {
        Self { folder, manifest, keys, trees: BTreeMap::new() }
    }

    /// Adds a head to its slot's tree. Pools come in the order of their ids.
    pub fn push_head(&mut self, slot: Slot, leaf: Hash) {
        self.trees.entry(slot).or_default().push(leaf);
    }

    /// Requires that a trusted key of the log signed a checkpoint.
    pub fn verify_checkpoint(&self, file: &str, note: &str) -> Result<Checkpoint, DayFault> {
        let wrong = |code, what: String| DayFault::new(code, format!("{file}: {what}"));
        let (checkpoint, note) = Checkpoint::from_note(note)
            .map_err(|error| wrong("checkpoint_invalid", error.to_string()))?;
        note.signed_by(&checkpoint.origin, self.keys).map_err(|error| match error {
            TrustError::Forged { signer } => wrong(
                "signature_forged",
                format!("the signature named {signer} was not made by that key"),
            ),
            TrustError::NotTrusted { origin, found } => {
                let found = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
                let what =
                    format!("expected a signature by a trusted key of {origin}, found {found}");
                wrong("signature_not_trusted", what)
            }
        })?;
        Ok(checkpoint)
    }

    /// The rows of slots, which are those of the day.
    pub fn slots(&self) -> Result<Vec<SlotRow>, AuditError> {
        let file = self.manifest.files.first().filter(|file| self.folder.has(file));
        let Some(file) = file else { return Ok(Vec::new()) };
        let mut rows = Groups::open(self.folder, file, slots_table())?;
        let mut slots = Vec::new();
        let mut expected = Some(self.manifest.first);
        while let Some(row) = rows.next()? {
            if slots.len() as u64 >= self.manifest.slots() {
                return Err(DayFault::new("slot_order", "more slots than the day has").into());
            }
            let row = SlotRow::from_cells(row).map_err(|column| wrong_column(file, column))?;
            if Some(row.slot) != expected || row.slot > self.manifest.day.last() {
                let detail = format!("{} is in the place of another slot", row.slot);
                return Err(DayFault::new("slot_order", detail).at(row.slot).into());
            }
            expected = row.slot.next();
            slots.push(row);
        }
        Ok(slots)
    }

    /// Compares each slot's heads with its leaf, and the leaves with the checkpoints. `tick` is called for each slot that holds.
    pub fn check_leaves(
        &mut self,
        slots: Vec<SlotRow>,
        mut tick: impl FnMut(),
    ) -> Result<(), DayFault> {
        let mut tree = self
            .manifest
            .tree()
            .map_err(|error| DayFault::new("manifest_invalid", error.to_string()))?;
        let newest = self
            .manifest
            .log()
            .map_err(|error| DayFault::new("checkpoint_invalid", error.to_string()))?;
        for row in slots {
            let slot = row.slot;
            self.check_leaf(row, &mut tree, &newest).map_err(|fault| fault.at(slot))?;
            tick();
        }
        match self.trees.keys().next() {
            Some(slot) => {
                Err(DayFault::new("head_slot_mismatch", "heads of a slot outside the day")
                    .at(*slot))
            }
            None => Ok(()),
        }
    }

    fn check_leaf(
        &mut self,
        row: SlotRow,
        tree: &mut Frontier,
        newest: &Checkpoint,
    ) -> Result<(), DayFault> {
        let leaf = SlotLeaf::from_canonical(&row.leaf).map_err(|error| {
            DayFault::new("leaf_invalid", error.to_string()).unknown(error.newer().is_some())
        })?;
        if leaf.slot != row.slot {
            return Err(DayFault::new(
                "leaf_slot_mismatch",
                format!("the leaf belongs to {}", leaf.slot),
            ));
        }
        let heads = self.trees.remove(&row.slot).unwrap_or_default();
        let (found, of_row) = (heads.size(), u64::from(row.pools));
        if [found, of_row] != [u64::from(leaf.pools); 2] {
            let detail = format!("{found} heads, but the leaf commits to {}", leaf.pools);
            return Err(DayFault::new("heads_root_mismatch", detail));
        }
        if heads.root() != leaf.root {
            let (found, expected) = (heads.root(), leaf.root);
            let detail =
                format!("the heads give the root {found}, but the slot leaf commits to {expected}");
            return Err(DayFault::new("heads_root_mismatch", detail));
        }
        tree.push(SlotLeaf::leaf_of(&row.leaf));
        let note = String::from_utf8(row.checkpoint)
            .map_err(|_| DayFault::new("checkpoint_invalid", "it is not UTF-8"))?;
        let found = self.verify_checkpoint("slots.parquet", &note)?;
        let same = |of, expected: &dyn ToString, found: &dyn ToString| {
            let (expected, found) = (expected.to_string(), found.to_string());
            if expected == found {
                return Ok(());
            }
            let detail = format!("the checkpoint's {of} is {found}, expected {expected}");
            Err(DayFault::new("checkpoint_mismatch", detail))
        };
        same("origin", &newest.origin, &found.origin)?;
        same("size", &tree.size(), &found.size)?;
        same("root", &tree.root(), &found.root)?;
        if found.size == newest.size {
            return same("root", &newest.root, &found.root);
        }
        Ok(())
    }
}
