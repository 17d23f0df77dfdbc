//! Sealing a slot that was about to be signed when a recorder ended, whose store others record into, too.

use exitgap_core::evidence::SlotLeaf;
use exitgap_core::log_folder::{LogFile, Manifest, PartRef};
use exitgap_core::series::Slot;

use super::files::{FileError, Files};
use super::restore::{SlotRead, Slots};
use super::{LogFolder, PublishError, RestoreError, durable, manifest_path};
use crate::writer::Store;

impl LogFolder {
    /// Seals the slot that was claimed next, if one was, and returns it: it may have been signed, so nothing else may be.
    /// What the store has is published in this folder first, since the slot's bodies may refer to it.
    pub fn seal_claimed(&self, store: &mut Store) -> Result<Option<Slot>, RestoreError> {
        self.check_superseded()?;
        let Some(claim) = store.pending_claim()? else { return Ok(None) };
        // What witnesses did not say of the slot before it is not waited for: the claim may refer to its files.
        store.record_cosignatures("")?;
        match self.publish(store.reader()) {
            // What was claimed outside of a database that lacks slots brings it up to a folder that has them.
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
            // Only what the slot's manifest names, whoever wrote it into the database: it stays in the folder.
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
