//! A slot's files: fetched where they are absent, and written only after they were checked against the slot's signed leaf
//! (`put`).
//! The leaf has the number of heads and their hash; the heads have the hashes of their snapshots and documents. Nothing that
//! is signed has the length or the hash of a part, so a part is in memory until each of its bodies was checked: its table
//! first, with those of the slot's other parts. The parts of a slot that are too large for that together are fetched
//! one at a time, each written before the next is fetched.

use std::sync::{Mutex, PoisonError};

use exitgap_core::analytics::accuracy::{CommittedDocument, Fills, IssuedReceipts};
use exitgap_core::evidence::{Head, HeadEntry, MAX_HEAD_BYTES, SlotLeaf};
use exitgap_core::ids::{DocumentHash, PoolId, SnapshotHash};
use exitgap_core::log_folder::{
    self, LogFile, MAX_MANIFEST_BYTES, MAX_PART_BYTES, Manifest, PartRef, PublishedError, Table,
    most_packed,
};
use exitgap_core::pools::MAX_STATE_BYTES;
use exitgap_core::series::Slot;
use exitgap_core::snapshot::MAX_SNAPSHOT_BYTES;
use exitgap_core::tlog::{Hash, root};

use super::committed::{NotCommitted, check_committed};
use super::error::CopyError;
use super::leaves::SignedLeaf;
use super::place::Aside;
use super::unpack::unpack_table;
use super::{Log, MAX_UNCHECKED_BYTES};
use crate::TransportError;

/// Maximum size of a file with documents to which a slot's heads commit: services use the same limit.
const MAX_COMMITTED_FILE_BYTES: u64 = MAX_PART_BYTES;

/// The most bytes of a file of documents that is fetched while others are: most have less.
const MAX_USUAL_FILE_BYTES: u64 = 1 << 20;

/// The most bytes of a pool in a part's table: its head and the line of its body.
const MAX_TABLE_BYTES_PER_POOL: u64 = MAX_HEAD_BYTES as u64 + 130;

/// The most bytes of a pool in a part: its lines in the table, and its body, each packed.
const MAX_PART_BYTES_PER_POOL: u64 = most_packed(MAX_TABLE_BYTES_PER_POOL)
    + most_packed((MAX_SNAPSHOT_BYTES + MAX_STATE_BYTES) as u64);

/// A slot with absent files.
pub struct Wanted {
    slot: Slot,
    leaf: SlotLeaf,
    manifest: Manifest,
    /// The manifest's bytes, if it is absent too.
    bytes: Option<Vec<u8>>,
    absent_bytes: u64,
}

impl Wanted {
    /// How many bytes of it are in memory before they were checked.
    pub fn unchecked_bytes(&self) -> u64 {
        if self.is_fetched_at_once() { self.absent_bytes } else { 0 }
    }

    /// Whether all of its parts are fetched before the first is checked.
    fn is_fetched_at_once(&self) -> bool {
        self.absent_bytes <= MAX_UNCHECKED_BYTES
    }
}

/// A slot whose heads are the signed ones. Its bodies are not yet checked.
pub struct Fetched {
    pub slot: Slot,
    pub manifest: Manifest,
    /// The manifest's bytes, where it is absent.
    pub bytes: Option<Vec<u8>>,
    /// Its parts, in their order.
    pub parts: Vec<(PartRef, PartBytes)>,
    pub committed: Vec<(LogFile, Aside)>,
    pub bodies: Vec<Body>,
}

/// What is known of a part's file.
pub enum PartBytes {
    /// It is in the copy.
    Copied,
    /// It was fetched.
    Fetched(Vec<u8>),
    /// Only its beginning was fetched, up to the first body, and has this hash.
    Beginning(DocumentHash),
}

/// The body for a head that names a snapshot.
pub struct Body {
    pub pool: PoolId,
    pub snapshot: SnapshotHash,
    pub place: log_folder::Place,
}

/// What a slot's heads refer to.
#[derive(Default)]
struct Named {
    hashes: Vec<Hash>,
    bodies: Vec<Body>,
    fills: Vec<DocumentHash>,
    issued: Vec<DocumentHash>,
}

/// Parts of the copy may be large: no two are read into memory at once.
static ONE_IN_MEMORY: Mutex<()> = Mutex::new(());

impl Log {
    /// The absent files of a slot; `None` if there are none. If the copy's leaf differs from the signed one, the slot
    /// belongs to another history: an audit reports that, and nothing is downloaded.
    pub(super) async fn wanted(
        &self,
        slot: Slot,
        signed: SignedLeaf,
    ) -> Result<Option<Wanted>, CopyError> {
        let file = LogFile::Slot(slot);
        let url = || self.fetcher.url(&file);
        let here = self.place.read_file(&file, MAX_MANIFEST_BYTES)?;
        let is_here = here.is_some();
        let bytes = if let Some(bytes) = here {
            bytes
        } else {
            let most = Manifest::most_bytes(signed.pools.unwrap_or_default());
            self.fetcher.require_bytes(&file, most).await?
        };
        let manifest = Manifest::from_bytes(&bytes).map_err(|error| match error.newer() {
            _ if is_here => {
                let path = self.place.path_of(&file);
                CopyError::Damaged { path, why: error.to_string() }
            }
            Some(newer) => CopyError::Newer { url: url(), newer },
            None => CopyError::Invalid { url: url(), why: error.to_string() },
        })?;
        if SlotLeaf::leaf_of(&manifest.leaf) != signed.hash {
            let why = "its leaf is not the one that the log's checkpoint signs".to_owned();
            return if is_here { Ok(None) } else { Err(CopyError::NotSigned { url: url(), why }) };
        }
        let leaf = SlotLeaf::from_canonical(&manifest.leaf);
        let leaf = leaf.map_err(|error| match error.newer() {
            Some(newer) => CopyError::Newer { url: url(), newer },
            None => CopyError::Invalid { url: url(), why: error.to_string() },
        })?;
        let not_signed = |why: String| CopyError::NotSigned { url: url(), why };
        manifest.check_pools(&leaf).map_err(|error| not_signed(error.to_string()))?;
        let mut absent_bytes = 0;
        for part in &manifest.parts {
            let most = u64::from(part.pools).saturating_mul(MAX_PART_BYTES_PER_POOL);
            if part.bytes > most {
                let PartRef { bytes, pools, .. } = part;
                return Err(not_signed(format!(
                    "a part of {pools} heads cannot have {bytes} bytes"
                )));
            }
            if !self.has_part(part)? {
                absent_bytes += part.bytes;
            }
        }
        let bytes = (!is_here).then_some(bytes);
        let is_wanted = bytes.is_some() || absent_bytes > 0;
        Ok(is_wanted.then_some(Wanted { slot, leaf, manifest, bytes, absent_bytes }))
    }

    /// Whether a part is in the copy.
    pub(super) fn has_part(&self, part: &PartRef) -> Result<bool, CopyError> {
        let file = LogFile::Part(part.sha256);
        match self.place.length(&file)? {
            None => Ok(false),
            Some(length) if length == part.bytes => Ok(true),
            Some(length) => {
                let why = format!("it has {length} bytes, but its manifest has {}", part.bytes);
                Err(CopyError::Damaged { path: self.place.path_of(&file), why })
            }
        }
    }

    /// Fetches what is absent of a slot: its parts, or their tables, and the documents to which its heads commit, if they
    /// commit to any.
    pub(super) async fn fetch(&self, wanted: Wanted) -> Result<Fetched, CopyError> {
        let is_fetched_at_once = wanted.is_fetched_at_once();
        let Wanted { slot, leaf, manifest, bytes, .. } = wanted;
        let (mut named, mut parts) = (Named::default(), Vec::new());
        for part in &manifest.parts {
            let not_signed = |why: String| self.not_signed(&LogFile::Part(part.sha256), why);
            let (read, part_bytes) = if self.has_part(part)? {
                let _one = ONE_IN_MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
                (self.place.part_table(part)?, PartBytes::Copied)
            } else if is_fetched_at_once {
                let bytes = self.part(part).await?;
                let read = part.read_table(&bytes, unpack_table);
                (read.map_err(|error| not_signed(error.to_string()))?, PartBytes::Fetched(bytes))
            } else {
                let most = most_of_beginning(part);
                let _memory = self.memory_for(most).await;
                let beginning = self.beginning(part, most).await?;
                let read = part.read_beginning(&beginning, unpack_table);
                let hash = PartRef::hash_of(&beginning);
                (read.map_err(|error| not_signed(error.to_string()))?, PartBytes::Beginning(hash))
            };
            self.add_named(part, read, &mut named)?;
            parts.push((part.clone(), part_bytes));
        }
        let Named { hashes, bodies, fills, issued } = named;
        if root(&hashes) != leaf.root {
            let why = "its heads are not those that the slot's leaf signs".to_owned();
            return Err(self.not_signed(&LogFile::Slot(slot), why));
        }
        let mut committed = Vec::new();
        // If the manifest exists, absent documents were not served before, and are not requested again.
        if bytes.is_some() {
            committed.extend(self.committed::<Fills>(slot, &fills).await?);
            committed.extend(self.committed::<IssuedReceipts>(slot, &issued).await?);
        }
        Ok(Fetched { slot, manifest, bytes, parts, committed, bodies })
    }

    pub(super) async fn part(&self, part: &PartRef) -> Result<Vec<u8>, CopyError> {
        let file = LogFile::Part(part.sha256);
        let bytes = self.fetcher.require_bytes(&file, length(part.bytes)).await?;
        let url = || self.fetcher.url(&file);
        let found = bytes.len() as u64;
        if found != part.bytes {
            return Err(CopyError::PartLength { url: url(), expected: part.bytes, found });
        }
        let found = PartRef::hash_of(&bytes);
        if found != part.sha256 {
            return Err(CopyError::PartHash { url: url(), found });
        }
        Ok(bytes)
    }

    /// The beginning of a part, of at most so many bytes, up to its first body.
    async fn beginning(&self, part: &PartRef, most: u64) -> Result<Vec<u8>, CopyError> {
        let file = LogFile::Part(part.sha256);
        let is_enough =
            |bytes: &[u8]| PartRef::beginning_in(bytes).is_some() || bytes.len() as u64 >= most;
        let mut bytes = self.fetcher.require_until(&file, length(part.bytes), is_enough).await?;
        bytes.truncate(PartRef::beginning_in(&bytes).map_or(0, <[u8]>::len));
        Ok(bytes)
    }

    /// Adds what the heads of a part name.
    fn add_named(
        &self,
        part: &PartRef,
        (table, mut from): (Table, u64),
        named: &mut Named,
    ) -> Result<(), CopyError> {
        let file = LogFile::Part(part.sha256);
        let not_signed = |why: String| self.not_signed(&file, why);
        let mut frames = table.frames.iter();
        for bytes in &table.heads {
            let head = Head::from_canonical(bytes).map_err(|error| match error.newer() {
                Some(newer) => CopyError::Newer { url: self.fetcher.url(&file), newer },
                None => not_signed(error.to_string()),
            })?;
            named.hashes.push(Head::leaf_of(bytes));
            named.fills.extend(head.commits.get(Fills::NAME));
            named.issued.extend(head.commits.get(IssuedReceipts::NAME));
            let HeadEntry::Recorded { snapshot, .. } = head.entry else { continue };
            let Some(frame) = frames.next().copied() else {
                let (expected, found) = (table.heads.len(), table.frames.len());
                let error = PublishedError::Frames { expected, found };
                return Err(not_signed(error.to_string()));
            };
            let place = log_folder::Place { part: part.clone(), from, frame };
            named.bodies.push(Body { pool: head.pool, snapshot, place });
            from += u64::from(frame.bytes);
        }
        if frames.next().is_some() {
            return Err(not_signed("it has more bodies than its heads name".to_owned()));
        }
        Ok(())
    }

    /// Downloads the documents of one kind to which a slot's heads commit. An audit decides whether they must exist.
    async fn committed<D: CommittedDocument>(
        &self,
        slot: Slot,
        committed: &[DocumentHash],
    ) -> Result<Option<(LogFile, Aside)>, CopyError> {
        let file = D::file(slot);
        // The file is already in the copy and complete, if copying was interrupted between it and the manifest.
        if committed.is_empty() || self.place.length(&file)?.is_some() {
            return Ok(None);
        }
        let lines = (committed.len() as u64).saturating_mul(D::MAX_LINE_BYTES as u64);
        let most = most_packed(lines).min(MAX_COMMITTED_FILE_BYTES);
        let usual = most.min(MAX_USUAL_FILE_BYTES);
        match self.documents::<D>(slot, committed, usual).await {
            Err(CopyError::Unanswered { error: TransportError::TooLarge { .. }, .. })
                if usual < most =>
            {
                self.documents::<D>(slot, committed, most).await
            }
            fetched => fetched,
        }
    }

    /// The same, of a file of at most so many bytes.
    async fn documents<D: CommittedDocument>(
        &self,
        slot: Slot,
        committed: &[DocumentHash],
        most: u64,
    ) -> Result<Option<(LogFile, Aside)>, CopyError> {
        let file = D::file(slot);
        let _memory = self.memory_for(most).await;
        let bytes = self.fetcher.bytes(&file, length(most)).await?;
        let bytes = bytes.ok_or_else(|| CopyError::Absent { url: self.fetcher.url(&file) })?;
        check_committed::<D>(&bytes, slot, committed).map_err(|why| match why {
            NotCommitted::Newer(newer) => CopyError::Newer { url: self.fetcher.url(&file), newer },
            NotCommitted::Wrong(why) => self.not_signed(&file, why),
        })?;
        let aside = self.place.aside(&bytes)?;
        Ok(Some((file, aside)))
    }

    pub(super) fn not_signed(&self, file: &LogFile, why: String) -> CopyError {
        CopyError::NotSigned { url: self.fetcher.url(file), why }
    }
}

/// The most bytes of a part before its first body.
fn most_of_beginning(part: &PartRef) -> u64 {
    let table = u64::from(part.pools).saturating_mul(MAX_TABLE_BYTES_PER_POOL);
    most_packed(table).saturating_add(4).min(part.bytes)
}

/// Converts a length to an in-memory size; if it is too large, the limit is never reached.
fn length(length: u64) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}
