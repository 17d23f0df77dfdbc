//! A slot of a peer's log: whether the peer signed it, and its records of the pools that are also recorded here.

use std::collections::BTreeSet;

use exitgap_core::evidence::{Head, HeadEntry, SlotLeaf};
use exitgap_core::ids::{PoolId, SnapshotHash};
use exitgap_core::log_folder::{Bodies, Folder, Place};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{Snapshot, SnapshotDocuments, Testimony, without_chain};
use exitgap_core::tlog::{
    Checkpoint, Hash, VerifierKey, consistency_ranges, inclusion_ranges, is_consistent, leaf_hash,
    root, root_from_inclusion,
};

use super::Trouble;
use super::remote::Remote;

/// A checkpoint that the peer's own key signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The signed note.
    pub note: String,
    /// The parsed checkpoint.
    pub checkpoint: Checkpoint,
}

/// A peer's record of a pool.
#[derive(Debug)]
pub struct Said {
    /// The peer's id of the pool.
    pub pool: PoolId,
    /// The snapshot's hash.
    pub hash: SnapshotHash,
    /// The snapshot.
    pub snapshot: Snapshot,
    /// The part that is compared.
    pub testimony: Testimony,
}

/// Reads a peer's slot for the pools whose contracts, without the chain's name, are in `wanted`. `before`: its newest
/// known checkpoint, which the slot's checkpoint must extend.
pub fn read_slot(
    remote: &Remote<'_>,
    key: &VerifierKey,
    before: Option<&Seen>,
    slot: Slot,
    wanted: &BTreeSet<String>,
) -> Result<(Seen, Vec<Said>), Trouble> {
    let manifest = remote.manifest(slot)?;
    let seen = verify_slot_checkpoint(&manifest.checkpoint, key, slot)?;
    let leaf = SlotLeaf::from_canonical(&manifest.leaf)
        .map_err(|error| Trouble::wrong(format!("its slot's leaf: {error}")))?;
    if leaf.slot != slot {
        return Err(Trouble::wrong(format!("its leaf of {slot} is of {}", leaf.slot)));
    }
    manifest.check_pools(&leaf).map_err(|error| Trouble::wrong(error.to_string()))?;
    check_inclusion(remote, &seen, leaf_hash(&manifest.leaf))?;
    if let Some(before) = before {
        goes_on(remote, before, &seen)?;
    }
    let (mut hashes, mut recorded) = (Vec::<Hash>::new(), Vec::new());
    for part in &manifest.parts {
        let (table, mut from) = remote.table(part)?;
        let mut frames = table.frames.iter();
        for bytes in &table.heads {
            let head = Head::from_canonical(bytes)
                .map_err(|error| Trouble::wrong(format!("a head of {slot}: {error}")))?;
            hashes.push(Head::leaf_of(bytes));
            let HeadEntry::Recorded { snapshot, .. } = head.entry else { continue };
            let absent =
                || Trouble::wrong(format!("{}: the body of {} is absent", part.path(), head.pool));
            let frame = *frames.next().ok_or_else(absent)?;
            let place = Place { part: part.clone(), from, frame };
            from += u64::from(frame.bytes);
            if wanted.contains(&without_chain(&head.pool)) {
                recorded.push((head.pool, snapshot, place));
            }
        }
    }
    let found = root(&hashes);
    if found != leaf.root {
        return Err(Trouble::wrong(format!(
            "its heads of {slot} differ from those that it signed"
        )));
    }
    let mut bodies = Bodies::new(remote);
    let mut said = Vec::with_capacity(recorded.len());
    for (pool, hash, place) in recorded {
        let wrong =
            |what: &dyn std::fmt::Display| Trouble::wrong(format!("{pool} at {slot}: {what}"));
        let body = bodies.body(&pool, slot, &place).map_err(|error| match error {
            exitgap_core::log_folder::BodyError::Folder(trouble) => trouble,
            error => wrong(&error),
        });
        let mut snapshot = body?;
        let state = snapshot.split_off((place.frame.snapshot as usize).min(snapshot.len()));
        let documents = SnapshotDocuments { snapshot, state };
        if documents.hash() != hash {
            return Err(wrong(&"its snapshot differs from the one that it signed"));
        }
        let named = Snapshot::state_named_in(&documents.snapshot);
        let snapshot = match Snapshot::of_pool(&pool, &documents.snapshot, &documents.state) {
            Ok(snapshot) => snapshot,
            // Records of a later version are not compared.
            Err(error) if error.newer().is_some() => continue,
            Err(error) => return Err(wrong(&error)),
        };
        if snapshot.slot() != slot || *snapshot.observation().pool() != pool {
            return Err(wrong(&"its snapshot is for another pool or slot"));
        }
        let Some(state) = named else { return Err(wrong(&"its snapshot has no state")) };
        let testimony = Testimony::from_snapshot(&snapshot, state);
        said.push(Said { pool, hash, snapshot, testimony });
    }
    Ok((seen, said))
}

/// Verifies a checkpoint that the peer's key signed and that ends with this slot.
pub fn verify_slot_checkpoint(note: &str, key: &VerifierKey, slot: Slot) -> Result<Seen, Trouble> {
    let wrong = |what: String| Trouble::wrong(format!("its checkpoint of {slot}: {what}"));
    let seen = seen(note, key).map_err(|error| wrong(error.to_string()))?;
    if seen.checkpoint.origin.index_of(slot).map(|index| index + 1) != Some(seen.checkpoint.size) {
        return Err(wrong(format!("it covers {} slots", seen.checkpoint.size)));
    }
    Ok(seen)
}

/// Parses a stored checkpoint, if the peer's key signed it.
pub fn seen(note: &str, key: &VerifierKey) -> Result<Seen, Trouble> {
    let wrong = |error: &dyn std::fmt::Display| Trouble::wrong(error.to_string());
    let (checkpoint, parsed) = Checkpoint::from_note(note).map_err(|error| wrong(&error))?;
    let keys: Vec<VerifierKey> = checkpoint.origin.key_of(key).into_iter().collect();
    if parsed.signed_by(&checkpoint.origin, &keys).is_err() {
        return Err(wrong(&format!("{} did not sign it", key.name())));
    }
    Ok(Seen { note: parsed.by(&keys), checkpoint })
}

/// Requires that a leaf is the last one that a checkpoint covers.
fn check_inclusion(remote: &Remote<'_>, seen: &Seen, leaf: Hash) -> Result<(), Trouble> {
    let Checkpoint { size, root, .. } = seen.checkpoint;
    let index = size.saturating_sub(1);
    let ranges = inclusion_ranges(index, size).unwrap_or_default();
    let proof =
        ranges.into_iter().map(|run| remote.root_of(run, size)).collect::<Result<Vec<_>, _>>()?;
    if root_from_inclusion(leaf, index, size, &proof) == Some(root) {
        return Ok(());
    }
    Err(Trouble::wrong("the slot's leaf is not in the log that it signed"))
}

/// Requires that a checkpoint extends an earlier one.
fn goes_on(remote: &Remote<'_>, before: &Seen, seen: &Seen) -> Result<(), Trouble> {
    let (old, new) = (&before.checkpoint, &seen.checkpoint);
    if old.origin != new.origin || old.size > new.size {
        // A successor log starts anew; and an earlier slot's checkpoint says nothing about a later one.
        return Ok(());
    }
    let contradiction = || Trouble::Wrong {
        what: format!(
            "its log of {} slots does not continue the {} slots that it signed before",
            new.size, old.size
        ),
        checkpoints: Some(Box::new([before.note.clone(), seen.note.clone()])),
    };
    if old.size == new.size {
        return if old.root == new.root { Ok(()) } else { Err(contradiction()) };
    }
    let ranges = consistency_ranges(old.size, new.size).unwrap_or_default();
    let proof = ranges
        .into_iter()
        .map(|run| remote.root_of(run, new.size))
        .collect::<Result<Vec<_>, _>>()?;
    if is_consistent(old.size, old.root, new.size, new.root, &proof) {
        return Ok(());
    }
    // Tiles may be wrong although the history is consistent. They prove two different histories only if they lead from
    // another root of the old size to the root that is signed now.
    let other = remote.root_of(0..old.size, new.size)?;
    if is_consistent(old.size, other, new.size, new.root, &proof) {
        return Err(contradiction());
    }
    Err(Trouble::wrong("its tiles differ from the log that it signed"))
}
