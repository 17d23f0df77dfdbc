//! A slot's files: fetched where they are absent, and put into the copy only after they were checked against the slot's
//! signed leaf. The leaf says how many heads there are and what they hash to; the heads say what their snapshots and
//! documents hash to. So each file has a bound that follows from what is signed, and nothing else stays on the disk.

use std::sync::{Mutex, PoisonError};

use exitgap_core::analytics::accuracy::{CommittedDocument, Fills, IssuedReceipts};
use exitgap_core::evidence::{Head, HeadEntry, MAX_HEAD_BYTES, SlotLeaf};
use exitgap_core::ids::{DocumentHash, PoolId, SnapshotHash};
use exitgap_core::log_folder::{
    self, Bodies, LogFile, MAX_MANIFEST_BYTES, MAX_PART_BYTES, Manifest, PartRef, PublishedError,
    most_packed,
};
use exitgap_core::pools::{MAX_STATE_BYTES, PoolState};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{MAX_SNAPSHOT_BYTES, Snapshot, SnapshotDocuments};
use exitgap_core::tlog::{Checkpoint, Frontier, Hash, Origin, VerifierKey, root};

use super::Log;
use super::error::CopyError;
use super::leaves::SignedLeaf;
use super::place::{Aside, Place};
use super::unpack::{NotCommitted, check_committed, unpack_table};

/// The most bytes of a file of what a slot's heads commit to: a service serves no larger one.
const MAX_COMMITTED_FILE_BYTES: u64 = MAX_PART_BYTES;

/// The most bytes that others' signatures take in a slot's manifest: two dozen witnesses. Nothing vouches for them.
const MAX_OTHER_SIGNATURES_BYTES: usize = 4 << 10;

/// The most bytes of a pool in a part: its head and the line of its body, and its body, each packed.
const MAX_PART_BYTES_PER_POOL: u64 = most_packed(MAX_HEAD_BYTES as u64 + 130)
    + most_packed((MAX_SNAPSHOT_BYTES + MAX_STATE_BYTES) as u64);

/// A slot of which files are absent.
pub struct Wanted {
    slot: Slot,
    leaf: SlotLeaf,
    manifest: Manifest,
    /// The manifest's bytes, where it is absent too.
    bytes: Option<Vec<u8>>,
    absent_bytes: u64,
}

impl Wanted {
    /// How many bytes its manifest says are to be fetched.
    pub fn absent_bytes(&self) -> u64 {
        self.absent_bytes
    }
}

/// A slot whose files are fetched, and whose heads are the signed ones. Its bodies are not yet checked.
pub struct Fetched {
    slot: Slot,
    manifest: Manifest,
    bytes: Option<Vec<u8>>,
    /// The parts that were absent.
    parts: Vec<(PartRef, Aside)>,
    committed: Vec<(LogFile, Aside)>,
    bodies: Vec<Body>,
}

/// The body of a head that names a snapshot.
struct Body {
    pool: PoolId,
    snapshot: SnapshotHash,
    place: log_folder::Place,
}

/// What a slot's heads name.
#[derive(Default)]
struct Named {
    bodies: Vec<Body>,
    fills: Vec<DocumentHash>,
    issued: Vec<DocumentHash>,
}

/// Which checkpoint a slot's manifest must have.
pub struct NoteOf<'a> {
    /// The log.
    pub origin: &'a Origin,
    /// The log up to and with the slot.
    pub tree: &'a Frontier,
    /// The keys that sign it.
    pub keys: &'a [VerifierKey],
}

/// Files may be large: no two are read into memory at once.
static ONE_IN_MEMORY: Mutex<()> = Mutex::new(());

impl Log {
    /// What is absent of a slot; `None` where nothing is. A slot in the copy whose leaf is another than the signed one is
    /// of another history: an audit says so, and nothing is fetched for it.
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
    fn has_part(&self, part: &PartRef) -> Result<bool, CopyError> {
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

    /// Fetches what is absent of a slot: its parts, and the documents to which its heads commit, if they commit to any.
    pub(super) async fn fetch(&self, wanted: Wanted) -> Result<Fetched, CopyError> {
        let Wanted { slot, leaf, manifest, bytes, .. } = wanted;
        let mut parts = Vec::new();
        for part in &manifest.parts {
            if !self.has_part(part)? {
                parts.push((part.clone(), self.part(part).await?));
            }
        }
        let Named { bodies, fills, issued } = self.named_in(slot, &leaf, &manifest, &parts)?;
        let mut committed = Vec::new();
        // Where a manifest is, documents that are absent were not served, and are not requested again.
        if bytes.is_some() {
            committed.extend(self.committed::<Fills>(slot, &fills).await?);
            committed.extend(self.committed::<IssuedReceipts>(slot, &issued).await?);
        }
        Ok(Fetched { slot, manifest, bytes, parts, committed, bodies })
    }

    async fn part(&self, part: &PartRef) -> Result<Aside, CopyError> {
        let file = LogFile::Part(part.sha256);
        let mut aside = self.place.aside()?;
        let url = || self.fetcher.url(&file);
        if !self.fetcher.get(&file, length(part.bytes), &mut aside).await? {
            return Err(CopyError::Absent { url: url() });
        }
        let (found, hash) = aside.length_and_hash();
        if found != part.bytes {
            return Err(CopyError::PartLength { url: url(), expected: part.bytes, found });
        }
        if hash != part.sha256 {
            return Err(CopyError::PartHash { url: url(), found: hash });
        }
        aside.sync()?;
        Ok(aside)
    }

    /// What the heads of a slot name, which must be those that its leaf signs.
    fn named_in(
        &self,
        slot: Slot,
        leaf: &SlotLeaf,
        manifest: &Manifest,
        asides: &[(PartRef, Aside)],
    ) -> Result<Named, CopyError> {
        let (mut named, mut hashes) = (Named::default(), Vec::<Hash>::new());
        for part in &manifest.parts {
            let file = LogFile::Part(part.sha256);
            let not_signed =
                |why: String| CopyError::NotSigned { url: self.fetcher.url(&file), why };
            let (table, mut from) = {
                let _one = ONE_IN_MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
                let bytes = match asides.iter().find(|(of, _)| of.sha256 == part.sha256) {
                    Some((_, aside)) => aside.read_file()?,
                    None => self.place.read_file(&file, length(part.bytes))?.unwrap_or_default(),
                };
                let read = part.read_table(&bytes, unpack_table);
                read.map_err(|error| not_signed(error.to_string()))?
            };
            let mut frames = table.frames.iter();
            for bytes in &table.heads {
                let head = Head::from_canonical(bytes).map_err(|error| match error.newer() {
                    Some(newer) => CopyError::Newer { url: self.fetcher.url(&file), newer },
                    None => not_signed(error.to_string()),
                })?;
                hashes.push(Head::leaf_of(bytes));
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
        }
        if root(&hashes) != leaf.root {
            let why = "its heads are not those that the slot's leaf signs".to_owned();
            return Err(CopyError::NotSigned { url: self.fetcher.url(&LogFile::Slot(slot)), why });
        }
        Ok(named)
    }

    /// The documents of a kind to which a slot's heads commit. Whether they must be there, an audit says.
    async fn committed<D: CommittedDocument>(
        &self,
        slot: Slot,
        committed: &[DocumentHash],
    ) -> Result<Option<(LogFile, Aside)>, CopyError> {
        let file = D::file(slot);
        // In the copy already, and whole, where a copy was cut off between it and the manifest.
        if committed.is_empty() || self.place.length(&file)?.is_some() {
            return Ok(None);
        }
        let lines = (committed.len() as u64).saturating_mul(D::MAX_LINE_BYTES as u64);
        let most = most_packed(lines).min(MAX_COMMITTED_FILE_BYTES);
        let mut aside = self.place.aside()?;
        if !self.fetcher.get(&file, length(most), &mut aside).await? {
            return Ok(None);
        }
        let checked = {
            let _one = ONE_IN_MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
            check_committed::<D>(&aside.read_file()?, slot, committed)
        };
        checked.map_err(|why| match why {
            NotCommitted::Newer(newer) => CopyError::Newer { url: self.fetcher.url(&file), newer },
            NotCommitted::Wrong(why) => CopyError::NotSigned { url: self.fetcher.url(&file), why },
        })?;
        aside.sync()?;
        Ok(Some((file, aside)))
    }

    /// Puts a slot into the copy: its parts, whose bodies must be those that the heads name, then the other files, and its
    /// manifest last. The slots before it must be there: bodies refer to theirs.
    pub(super) fn put_slot(
        &self,
        fetched: &Fetched,
        bodies: &mut Bodies<'_, Place>,
        note: &NoteOf<'_>,
    ) -> Result<(), CopyError> {
        let file = LogFile::Slot(fetched.slot);
        if fetched.bytes.is_some() {
            check_note(&fetched.manifest.checkpoint, note)
                .map_err(|why| CopyError::NotSigned { url: self.fetcher.url(&file), why })?;
        }
        for (part, aside) in &fetched.parts {
            self.place.place(aside, &LogFile::Part(part.sha256))?;
        }
        for body in &fetched.bodies {
            if let Err(why) = check_body(body, fetched.slot, bodies) {
                for (part, _) in &fetched.parts {
                    self.place.remove(&LogFile::Part(part.sha256))?;
                }
                let url = self.fetcher.url(&LogFile::Part(body.place.part.sha256));
                return Err(CopyError::NotSigned { url, why });
            }
        }
        for (file, aside) in &fetched.committed {
            self.place.place(aside, file)?;
        }
        fetched.bytes.as_ref().map_or(Ok(()), |bytes| self.place.put(&file, bytes))
    }
}

/// Requires that a body holds the snapshot that its head names, and that snapshot's state.
fn check_body(body: &Body, slot: Slot, bodies: &mut Bodies<'_, Place>) -> Result<(), String> {
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

/// A length of what is held in memory; one that cannot be is a limit that is never met.
fn length(length: u64) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}
