//! One round: brings the bucket up to the folder's checkpoint.

use std::ops::Range;
use std::path::Path;

use bytes::Bytes;
use exitgap_core::log_folder::{
    LogFile, MAX_BASES_BYTES, MAX_MANIFEST_BYTES, MAX_PART_BYTES, Manifest,
};
use exitgap_core::series::Slot;
use exitgap_core::tlog::{
    Checkpoint, MAX_KEY_FILE_BYTES, MAX_NOTE_BYTES, Tile, VerifierKey, keys_from_lines,
};
use exitgap_store::{LogFolder, PublishError, Reader, check_published};
use futures_util::{StreamExt, TryStreamExt, stream};

use super::error::BucketError;
use super::objects::{Made, Objects, StoredObject};

/// How many slots, and tiles, are uploaded concurrently.
const AT_ONCE: usize = 8;

/// Slots between two checkpoints when many slots are uploaded after a pause.
const SLOTS_AT_ONCE: u64 = 64;

/// Maximum length of a short text file.
const MAX_TEXT_BYTES: u64 = MAX_NOTE_BYTES as u64;

/// The result of a round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Brought {
    /// Slots that the bucket's checkpoint now covers.
    pub size: u64,
    /// Slots uploaded in this round.
    pub slots: u64,
}

/// Source and destination of a round.
pub struct Round<'a> {
    /// The bucket's objects.
    pub objects: &'a Objects,
    /// The folder.
    pub folder: &'a LogFolder,
    /// The store that the log belongs to.
    pub store: &'a Path,
}

/// The state of the log in the bucket, as it was read.
struct There {
    keys: Option<StoredObject>,
    checkpoint: Option<StoredObject>,
    /// The slots that the checkpoint covers; the checkpoint was compared with the store.
    size: u64,
}

/// A checkpoint of the folder, with its content.
struct Newest {
    note: Vec<u8>,
    checkpoint: Checkpoint,
    keys: Vec<VerifierKey>,
}

impl Round<'_> {
    /// Uploads the slots that the bucket's checkpoint does not cover, and then the folder's checkpoint as it was when
    /// this began. Safe to call again after any failure.
    pub async fn upload_log(&self, covers: impl Fn(u64)) -> Result<Brought, BucketError> {
        let Some(newest) = self.newest()? else { return Ok(Brought::default()) };
        let there = self.there().await?;
        let to = newest.checkpoint.size;
        // The folder may receive its last slot slightly later than the store does.
        if there.size >= to {
            covers(there.size);
            return Ok(Brought { size: there.size, slots: 0 });
        }
        self.names(&there).await?;
        let mut seen = there.checkpoint;
        let mut from = there.size;
        while from < to {
            let end = to.min(from + SLOTS_AT_ONCE);
            let note = self.bring_slots(&newest, from..end).await?;
            let file = LogFile::Checkpoint;
            self.objects.replace(&file, seen.as_ref(), note).await?;
            from = end;
            covers(from);
            if from < to {
                seen = self.objects.read_object(&file, MAX_TEXT_BYTES).await?;
            }
        }
        self.remove_partial(there.size..to).await;
        Ok(Brought { size: to, slots: to - there.size })
    }

    /// Reads the bucket's keys and checkpoint, and compares them with the store.
    async fn there(&self) -> Result<There, BucketError> {
        let (keys, checkpoint) = read_published(self.objects).await?;
        let reader = Reader::open(self.store).map_err(|error| BucketError::Own(error.into()))?;
        let size = held(self.objects, &reader, keys.as_ref(), checkpoint.as_ref())?;
        Ok(There { keys, checkpoint, size })
    }

    fn newest(&self) -> Result<Option<Newest>, BucketError> {
        let file = LogFile::Checkpoint;
        let Some(note) = self.local(&file, MAX_TEXT_BYTES)? else { return Ok(None) };
        let damaged = |file: &LogFile, why: String| BucketError::Damaged {
            path: self.folder.path().join(file.to_string()),
            why,
        };
        let read = core::str::from_utf8(&note).map_err(|error| error.to_string());
        let read = read.and_then(|text| {
            Checkpoint::from_note(text).map(|(read, _)| read).map_err(|error| error.to_string())
        });
        let checkpoint = read.map_err(|why| damaged(&file, why))?;
        let file = LogFile::VerifierKey;
        let keys = self.read_required(&file, MAX_KEY_FILE_BYTES as u64)?;
        let keys = keys_from_lines(&keys).map_err(|why| damaged(&file, why))?;
        Ok(Some(Newest { note, checkpoint, keys }))
    }

    /// Uploads the log's description of itself: its keys, its predecessor, and which tokens are sold.
    async fn names(&self, there: &There) -> Result<(), BucketError> {
        let file = LogFile::VerifierKey;
        let keys = self.read_required(&file, MAX_KEY_FILE_BYTES as u64)?;
        self.objects.replace(&file, there.keys.as_ref(), keys.into()).await?;
        if let Some(document) = self.local(&LogFile::Predecessor, MAX_TEXT_BYTES)? {
            self.objects.create(&LogFile::Predecessor, document.into()).await?;
        }
        let file = LogFile::DefaultBases;
        if let Some(bases) = self.local(&file, MAX_BASES_BYTES as u64)? {
            let seen = self.objects.read_object(&file, MAX_BASES_BYTES as u64).await?;
            self.objects.replace(&file, seen.as_ref(), bases.into()).await?;
        }
        Ok(())
    }

    /// Uploads these slots and their tiles; returns the checkpoint that covers them.
    async fn bring_slots(&self, newest: &Newest, slots: Range<u64>) -> Result<Bytes, BucketError> {
        let first = u64::from(newest.checkpoint.origin.first_slot().number());
        let numbers = slots.clone().map_while(|index| Slot::new(first + index).ok());
        let bring = stream::iter(numbers.map(|slot| self.slot(newest, slot)));
        let notes: Vec<String> = bring.buffered(AT_ONCE).try_collect().await?;
        let tiles = Tile::grown(slots.start, slots.end).map(|tile| self.tile(tile));
        stream::iter(tiles).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
        if slots.end == newest.checkpoint.size {
            return Ok(newest.note.clone().into());
        }
        let absent = || BucketError::Absent { path: self.folder.path().join("slots") };
        notes.into_iter().last().map(Bytes::from).ok_or_else(absent)
    }

    /// Uploads a slot: its parts and what its heads commit to, then its manifest; returns the manifest's checkpoint.
    async fn slot(&self, newest: &Newest, slot: Slot) -> Result<String, BucketError> {
        let file = LogFile::Slot(slot);
        let bytes = Bytes::from(self.read_required(&file, MAX_MANIFEST_BYTES as u64)?);
        let manifest = Manifest::from_bytes(&bytes).map_err(|error| BucketError::Damaged {
            path: self.folder.path().join(file.to_string()),
            why: error.to_string(),
        })?;
        if let Some(found) = self.objects.read_object(&file, MAX_MANIFEST_BYTES as u64).await? {
            // The manifest is uploaded after the slot's other files; an earlier round ended before its checkpoint.
            self.same_slot(newest, slot, (&bytes, &manifest), &found.bytes)?;
            return Ok(manifest.checkpoint);
        }
        for part in &manifest.parts {
            let file = LogFile::Part(part.sha256);
            let part = self.read_required(&file, MAX_PART_BYTES)?;
            self.objects.create(&file, part.into()).await?;
        }
        for file in [LogFile::Fills(slot), LogFile::Issued(slot)] {
            if let Some(documents) = self.local(&file, MAX_PART_BYTES)? {
                self.objects.create(&file, documents.into()).await?;
            }
        }
        match self.objects.create_or_read(&file, bytes.clone()).await? {
            Made::Same => {}
            Made::Other(found) => self.same_slot(newest, slot, (&bytes, &manifest), &found)?,
        }
        Ok(manifest.checkpoint)
    }

    /// Requires that the bucket's manifest describes the same slot: a restored store may lack witness signatures.
    fn same_slot(
        &self,
        newest: &Newest,
        slot: Slot,
        (bytes, ours): (&Bytes, &Manifest),
        found: &Bytes,
    ) -> Result<(), BucketError> {
        if found == bytes {
            return Ok(());
        }
        let origin = &newest.checkpoint.origin;
        let same = Manifest::from_bytes(found).is_ok_and(|theirs| {
            let said = |note: &str| {
                let (checkpoint, note) = Checkpoint::from_note(note).ok()?;
                note.signed_by(origin, &newest.keys).ok()?;
                Some(checkpoint)
            };
            let (here, there) = (said(&ours.checkpoint), said(&theirs.checkpoint));
            here.is_some()
                && here == there
                && ours.leaf == theirs.leaf
                && ours.parts == theirs.parts
        });
        if same {
            return Ok(());
        }
        Err(BucketError::Differs { object: self.objects.name(&LogFile::Slot(slot)) })
    }

    async fn tile(&self, tile: Tile) -> Result<(), BucketError> {
        let file = LogFile::Tile(tile);
        let bytes = self.folder.tile(tile).map_err(BucketError::Own)?;
        let bytes = bytes.ok_or_else(|| self.absent(&file))?;
        self.objects.create(&file, bytes.into()).await
    }

    /// Deletes partial tiles replaced by full tiles. Leftovers only use space.
    async fn remove_partial(&self, grown: Range<u64>) {
        for full in Tile::full_tiles(grown.start, grown.end) {
            let folder = format!("{}.p", full.path_when_full());
            if let Err(error) = self.objects.remove_below(&folder).await {
                tracing::info!(%error, "narrower tiles stay in the bucket");
                return;
            }
        }
    }

    fn local(&self, file: &LogFile, most: u64) -> Result<Option<Vec<u8>>, BucketError> {
        self.folder.file(file, most).map_err(BucketError::Own)
    }

    fn read_required(&self, file: &LogFile, most: u64) -> Result<Vec<u8>, BucketError> {
        self.local(file, most)?.ok_or_else(|| self.absent(file))
    }

    fn absent(&self, file: &LogFile) -> BucketError {
        BucketError::Absent { path: self.folder.path().join(file.to_string()) }
    }
}

/// Reads the keys and the checkpoint in a bucket.
pub async fn read_published(
    objects: &Objects,
) -> Result<(Option<StoredObject>, Option<StoredObject>), BucketError> {
    let keys = objects.read_object(&LogFile::VerifierKey, MAX_KEY_FILE_BYTES as u64).await?;
    Ok((keys, objects.read_object(&LogFile::Checkpoint, MAX_TEXT_BYTES).await?))
}

/// Requires that a store may continue the log in a bucket; returns the number of slots there.
pub fn held(
    objects: &Objects,
    reader: &Reader,
    keys: Option<&StoredObject>,
    checkpoint: Option<&StoredObject>,
) -> Result<u64, BucketError> {
    // Content that is not text is not a valid key or checkpoint either, and is rejected as such.
    let text = |found: &StoredObject| String::from_utf8_lossy(&found.bytes).into_owned();
    let (keys, note) = (keys.map(text), checkpoint.map(text));
    let held = check_published(&objects.place(), keys.as_deref(), note.as_deref(), reader);
    held.map_err(|error| match error {
        PublishError::Store(error) => BucketError::Own(PublishError::Store(error)),
        error => BucketError::Contradicts(error),
    })
}
