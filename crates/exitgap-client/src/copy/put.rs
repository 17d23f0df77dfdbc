//! Puts a fetched slot into the copy, once each of its bodies was checked.

use exitgap_core::log_folder::{Bodies, LogFile, PartRef};
use exitgap_core::pools::PoolState;
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{Snapshot, SnapshotDocuments};
use exitgap_core::tlog::{Checkpoint, Frontier, Origin, VerifierKey};

use super::Log;
use super::error::CopyError;
use super::place::Place;
use super::reading::Reading;
use super::slot::{Body, Fetched, PartBytes};

/// The most bytes that others' signatures take in a slot's manifest: two dozen witnesses. Nothing vouches for them.
const MAX_OTHER_SIGNATURES_BYTES: usize = 4 << 10;

/// Which checkpoint a slot's manifest must have.
pub struct NoteOf<'a> {
    /// The log.
    pub origin: &'a Origin,
    /// The log up to and with the slot.
    pub tree: &'a Frontier,
    /// The keys that sign it.
    pub keys: &'a [VerifierKey],
}

impl Log {
    /// Puts a slot into the copy: its parts, whose bodies must be those that the heads name, then the other files, and its
    /// manifest last. The slots before it must be there: bodies refer to theirs.
    pub(super) async fn put_slot(
        &self,
        fetched: Fetched,
        (reading, bodies): (&Reading<'_>, &mut Bodies<'_, Reading<'_>>),
        note: &NoteOf<'_>,
    ) -> Result<(), CopyError> {
        let Fetched { slot, manifest, bytes, parts, committed, bodies: of_slot } = fetched;
        let file = LogFile::Slot(slot);
        if bytes.is_some() {
            check_note(&manifest.checkpoint, note).map_err(|why| self.not_signed(&file, why))?;
        }
        let mut of_slot = of_slot.into_iter().peekable();
        let mut placed = PlacedParts { place: &self.place, files: Vec::new() };
        for (part, part_bytes) in parts {
            let part_file = LogFile::Part(part.sha256);
            let is_absent = !self.has_part(&part)?;
            if is_absent {
                reading.hold(&part, self.whole_part(&part, part_bytes).await?);
            }
            while let Some(body) = of_slot.next_if(|body| body.place.part == part) {
                check_body(&body, slot, bodies).map_err(|why| self.not_signed(&part_file, why))?;
            }
            if is_absent {
                self.place.put(&part_file, &reading.release())?;
                placed.files.push(part_file);
            }
        }
        for (file, aside) in &committed {
            self.place.place(aside, file)?;
        }
        bytes.map_or(Ok(()), |bytes| self.place.put(&file, &bytes))?;
        placed.files.clear();
        Ok(())
    }

    /// All of a part, whose table was read before.
    async fn whole_part(&self, part: &PartRef, known: PartBytes) -> Result<Vec<u8>, CopyError> {
        let expected = match known {
            PartBytes::Fetched(bytes) => return Ok(bytes),
            PartBytes::Copied => None,
            PartBytes::Beginning(hash) => Some(hash),
        };
        let bytes = self.part(part).await?;
        let found = PartRef::beginning_in(&bytes).map(PartRef::hash_of);
        if expected.is_some() && found != expected {
            let why = "its table is not the one that was served before".to_owned();
            return Err(self.not_signed(&LogFile::Part(part.sha256), why));
        }
        Ok(bytes)
    }
}

/// The parts that were put into the copy for a slot that is not yet there: removed, unless all of the slot came. Otherwise
/// a server could serve other files of the same bodies each time, and they would add up.
struct PlacedParts<'a> {
    place: &'a Place,
    files: Vec<LogFile>,
}

impl Drop for PlacedParts<'_> {
    fn drop(&mut self) {
        for file in &self.files {
            // What cannot be removed now is part of the log all the same.
            let _ = self.place.remove(file);
        }
    }
}

/// Requires that a body holds the snapshot that its head names, and that snapshot's state.
fn check_body(body: &Body, slot: Slot, bodies: &mut Bodies<'_, Reading<'_>>) -> Result<(), String> {
    let pool = &body.pool;
    let joined = bodies.body(pool, slot, &body.place);
    let mut snapshot = joined.map_err(|error| format!("{pool}: {error}"))?;
    let state = snapshot.split_off((body.place.frame.snapshot as usize).min(snapshot.len()));
    let documents = SnapshotDocuments { snapshot, state };
    let found = documents.hash();
    if found != body.snapshot {
        let expected = body.snapshot;
        return Err(format!(
            "{pool}: the head names the snapshot {expected}, but the body has {found}"
        ));
    }
    // What only a later version understands may name its state in another way.
    let named = Snapshot::state_named_in(&documents.snapshot);
    match named.filter(|named| *named != PoolState::hash_of(&documents.state)) {
        Some(named) => Err(format!(
            "{pool}: the snapshot names the state {named}, which the body does not have"
        )),
        None => Ok(()),
    }
}

/// Requires that a slot's checkpoint is the log's own, up to and with the slot, and has few signatures of others.
fn check_note(note: &str, of: &NoteOf<'_>) -> Result<(), String> {
    let (checkpoint, signed): (Checkpoint, _) =
        Checkpoint::from_note(note).map_err(|error| error.to_string())?;
    let of_log = (of.origin, of.tree.size(), of.tree.root());
    if (&checkpoint.origin, checkpoint.size, checkpoint.root) != of_log {
        return Err("its checkpoint is not that of the log up to this slot".to_owned());
    }
    signed.signed_by(of.origin, of.keys).map_err(|error| error.to_string())?;
    let others = signed.lines_of_others(of.keys).len();
    if others > MAX_OTHER_SIGNATURES_BYTES {
        return Err(format!("its checkpoint has {others} bytes of signatures by unknown keys"));
    }
    Ok(())
}
