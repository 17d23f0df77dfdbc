//! Seals a slot that was about to be signed when a recorder stopped, in a store with several recorders.

use exitgap_core::evidence::SlotLeaf;
use exitgap_core::log_folder::{LogFile, Manifest, PartRef};
use exitgap_core::series::Slot;

use super::files::{FileError, Files};
use super::restore::{SlotRead, Slots};
use super::{LogFolder, PublishError, RestoreError, durable, manifest_path};
use crate::writer::Store;

impl LogFolder {
    /// Seals the next slot if it was claimed, and returns it. It may already be signed, so nothing else may be signed
    /// in its place. The store's contents are first published in this folder, because the slot's bodies can refer to
    /// them.
    pub fn seal_claimed(&self, store: &mut Store) -> Result<Option<Slot>, RestoreError> {
        self.check_superseded()?;
        let Some(claim) = store.pending_claim()? else { return Ok(None) };
        // Missing answers of witnesses for the previous slot are not waited for, because the claim may refer to its
        // files.
        store.record_cosignatures("")?;
        match self.publish(store.reader()) {
            // An external claim brings a database that lacks slots up to date with a folder that has them.
            Err(PublishError::StoreOlder { .. }) if store.claims_beside() => {}
            published => drop(published?),
        }
        let wrong = |slot: Option<Slot>, reason: String| RestoreError::Slot {
            path: slot.map_or_else(|| self.path.clone(), |slot| manifest_path(&self.path, slot)),
            reason: format!("the claim of the slot: {reason}"),
        };
        let manifest = Manifest::from_bytes(&claim.manifest);
        let manifest = manifest.map_err(|error| wrong(None, error.to_string()))?;
        let leaf = SlotLeaf::from_canonical(&manifest.leaf);
        let slot = leaf.map_err(|error| wrong(None, error.to_string()))?.slot;
        for (path, bytes) in &claim.files {
            // Only files that the slot's manifest names, regardless of who wrote them to the database, because they
            // stay in the folder.
            let file = path.parse().ok().filter(|file| match file {
                LogFile::Part(hash) => {
                    manifest.parts.iter().any(|part| part.sha256 == *hash)
                        && PartRef::hash_of(bytes) == *hash
                }
                LogFile::Fills(of) | LogFile::Issued(of) => *of == slot,
                _ => false,
            });
            let file =
                file.ok_or_else(|| wrong(None, format!("{path:?} is not one of its files")))?;
            durable::write_once(&self.path.join(file.to_string()), bytes)?;
        }
        let files = Files::for_folder(&self.path);
        let mut slots = Slots::from_files(&files, self.bases()?);
        let read = slots.read_of(slot, manifest).map_err(|error| {
            let FileError { path, reason } = error.at(manifest_path(&self.path, slot));
            RestoreError::Slot { path, reason }
        })?;
        let SlotRead { entries, changes, .. } = read;
        store.append_claimed(slot, &entries, &changes, &claim.checkpoint)?;
        Ok(Some(slot))
    }
}
