//! Replays a log slot by slot, from its first slot to the last one of the newest checkpoint.

use std::collections::BTreeMap;

use exitgap_api::Contradiction;
use exitgap_core::analytics::accuracy::{CommittedDocument, Fills, IssuedReceipts};
use exitgap_core::evidence::{Depths, Head, HeadEntry, Predecessor, SlotLeaf, depths};
use exitgap_core::exit::METHOD_VERSION;
use exitgap_core::ids::{DocumentHash, HeadHash, PoolId, SnapshotHash, StateHash};
use exitgap_core::log_folder::{Bodies, Folder, LogFile, Manifest, PartRef, Place, PublishedError};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{Snapshot, SnapshotDocuments, SnapshotError};
use exitgap_core::tlog::{
    Checkpoint, Frontier, Hash, MAX_NOTE_BYTES, Note, Origin, TrustError, VerifierKey, root,
};
use serde_json::Value;

use super::fault::{Fault, Rule};
use super::folder::FolderReader;
use super::history::History;
use super::parts::{self, manifest_file};
use super::tree::Tiles;

/// A signed checkpoint that the caller stored.
pub struct SignedCheckpoint {
    /// The note as it was signed.
    pub note: String,
    /// The parsed text.
    pub checkpoint: Checkpoint,
}

/// The inputs of a replay.
pub struct Against<'a> {
    /// The log's folder.
    pub folder: &'a FolderReader,
    /// The newest checkpoint.
    pub newest: &'a SignedCheckpoint,
    /// The trusted keys.
    pub keys: &'a [VerifierKey],
    /// A checkpoint seen before.
    pub since: Option<&'a SignedCheckpoint>,
    /// Pools whose slots are reported.
    pub watched: WatchedPools<'a>,
}

/// Pools whose slots are reported.
#[derive(Debug, Clone, Copy)]
pub enum WatchedPools<'a> {
    /// Only these.
    Of(&'a [PoolId]),
    /// All pools.
    All,
}

impl WatchedPools<'_> {
    /// Whether a pool is one of them.
    fn has(self, pool: &PoolId) -> bool {
        match self {
            Self::Of(pools) => pools.contains(pool),
            Self::All => true,
        }
    }
}

/// A completely valid slot of a watched pool.
pub struct WatchedSlot {
    /// Its head.
    pub head: Head,
    /// The snapshot that the head names, with the hash of its state, if this version can read it.
    pub snapshot: Option<(Snapshot, StateHash)>,
    /// The first checkpoint that covers it.
    pub checkpoint: Checkpoint,
    /// The receipts that its head commits to.
    pub issued: Option<IssuedReceipts>,
}

/// The counts of what was found valid.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    /// Number of slots.
    pub slots: u64,
    /// The newest of these slots.
    pub last_slot: Option<Slot>,
    /// Number of pools that had a head.
    pub pools: u64,
    /// Number of heads.
    pub heads: u64,
    /// Number of snapshots.
    pub snapshots: u64,
    /// Number of retracted slots of pools.
    pub retracted: u64,
    /// Number of heads and snapshots that only a later version of exitgap fully understands.
    pub unsupported: u64,
}

/// The first fault, with the proof of misbehaviour if it is one.
pub type Broken = (Box<Fault>, Option<Contradiction>);

/// Replays the log; `tick` is called after each slot. The counts cover only what is valid.
pub fn replay(
    against: &Against,
    mut tick: impl FnMut(&Counts),
    tell: &mut dyn FnMut(WatchedSlot),
) -> (Counts, Option<Broken>) {
    let mut walk = Walk {
        tell,
        against,
        tiles: Tiles::new(against.folder, against.newest.checkpoint.size),
        tree: Frontier::default(),
        bodies: Bodies::new(against.folder),
        pools: BTreeMap::new(),
        fills_until: BTreeMap::new(),
        counts: Counts::default(),
    };
    let broken = walk.whole(&mut tick).err();
    (walk.counts, broken)
}

struct Walk<'a> {
    against: &'a Against<'a>,
    tell: &'a mut dyn FnMut(WatchedSlot),
    tiles: Tiles<'a>,
    tree: Frontier,
    bodies: Bodies<'a, FolderReader>,
    pools: BTreeMap<PoolId, History>,
    /// The last block of each pool's newest document of logs.
    fills_until: BTreeMap<PoolId, u64>,
    counts: Counts,
}

/// A head that names a snapshot.
struct SnapshotHead {
    pool: PoolId,
    snapshot: SnapshotHash,
    /// According to the method versions known here; `None` for others.
    depth_usd: Option<Depths>,
}

fn plainly(fault: impl Into<Fault>) -> Broken {
    (Box::new(fault.into()), None)
}

impl Walk<'_> {
    fn whole(&mut self, tick: &mut impl FnMut(&Counts)) -> Result<(), Broken> {
        let newest = &self.against.newest.checkpoint;
        let origin = &newest.origin;
        check_signature(&self.against.newest.note, "checkpoint", origin, self.against.keys)
            .map_err(plainly)?;
        if let Some(since) = self.against.since.filter(|since| since.checkpoint.size > newest.size)
        {
            let (seen, found) = (since.checkpoint.size, newest.size);
            return Err(plainly(Rule::RolledBack { seen, found }));
        }
        for index in 0..newest.size {
            let number = u64::from(origin.first_slot().number()).saturating_add(index);
            let slot = Slot::new(number).map_err(|_| plainly(Rule::SizeBeyondSeries))?;
            let before = self.counts;
            let held = self.slot(index, slot).map_err(plainly);
            let held = held.and_then(|note| self.check_since(index + 1, slot, note));
            if held.is_err() {
                self.counts = before;
            }
            held?;
            self.counts.slots += 1;
            self.counts.last_slot = Some(slot);
            tick(&self.counts);
        }
        self.tiles.finish().map_err(plainly)?;
        let (expected, found) = (newest.root.to_string(), self.tree.root().to_string());
        same("checkpoint", "root", expected, found).map_err(plainly)
    }

    /// Replays a slot, and returns the checkpoint signed after it.
    fn slot(&mut self, index: u64, slot: Slot) -> Result<String, Fault> {
        let at = |rule: Rule| rule.at(slot);
        let manifest = self.against.folder.manifest(slot).map_err(at)?;
        let leaf_hash = self.tiles.push(index, &manifest.leaf).map_err(at)?;
        let leaf = SlotLeaf::from_canonical(&manifest.leaf)
            .map_err(|error| Rule::LeafInvalid { error }.at(slot))?;
        if leaf.slot != slot {
            return Err(Rule::LeafSlot { found: leaf.slot }.at(slot));
        }
        manifest
            .check_pools(&leaf)
            .map_err(|error| Rule::ManifestInvalid { file: manifest_file(slot), error }.at(slot))?;
        let Heads { heads, places } = read_heads(self.against.folder, &manifest, &leaf)?;
        let is_watched = |head: &&Head| self.against.watched.has(&head.pool);
        let watched = heads.iter().map(|(head, _)| head).filter(is_watched);
        let watched: Vec<Head> = watched.cloned().collect();
        let fills = list_commitments::<Fills>(&heads);
        let issued = list_commitments::<IssuedReceipts>(&heads);
        let named = self.follow(slot, heads)?;
        if index == 0 {
            self.check_predecessor(&leaf).map_err(at)?;
        }
        let mut logged = parts::SlotDocuments::<Fills>::for_slot(slot);
        for (pool, hash) in fills {
            let read = logged.next(self.against.folder, hash);
            let read = read.and_then(|fills| self.fills(slot, &pool, &fills));
            read.map_err(|rule| rule.by(slot, &pool))?;
        }
        logged.end(self.against.folder).map_err(at)?;
        let mut logged = parts::SlotDocuments::<IssuedReceipts>::for_slot(slot);
        let mut issued_of = BTreeMap::new();
        for (pool, hash) in issued {
            let read = logged.next(self.against.folder, hash);
            let read = read.and_then(|issued| is_of(slot, &pool, issued));
            let issued = read.map_err(|rule| rule.by(slot, &pool))?;
            if self.against.watched.has(&pool) {
                issued_of.insert(pool, issued);
            }
        }
        logged.end(self.against.folder).map_err(at)?;
        let mut of_watched = BTreeMap::new();
        for (head, place) in named.iter().zip(&places) {
            let by = |rule: Rule| rule.by(slot, &head.pool);
            let body = self.bodies.body(&head.pool, slot, place);
            let mut snapshot = body.map_err(|error| by(error.into()))?;
            let state = snapshot.split_off((place.frame.snapshot as usize).min(snapshot.len()));
            let documents = SnapshotDocuments { snapshot, state };
            let read = self.snapshot(slot, head, &documents).map_err(by)?;
            let named = read.zip(Snapshot::state_named_in(&documents.snapshot));
            if let Some(named) = named.filter(|_| self.against.watched.has(&head.pool)) {
                of_watched.insert(head.pool.clone(), named);
            }
        }
        self.tree.push(leaf_hash);
        let checkpoint =
            self.check_checkpoint(&manifest_file(slot), &manifest.checkpoint, index + 1);
        let checkpoint = checkpoint.map_err(at)?;
        for head in watched {
            let (snapshot, checkpoint) = (of_watched.remove(&head.pool), checkpoint.clone());
            let issued = issued_of.remove(&head.pool);
            (self.tell)(WatchedSlot { head, snapshot, checkpoint, issued });
        }
        Ok(manifest.checkpoint)
    }

    /// Extends each pool's history with its head; returns the heads with snapshots.
    fn follow(
        &mut self,
        slot: Slot,
        heads: Vec<(Head, HeadHash)>,
    ) -> Result<Vec<SnapshotHead>, Fault> {
        let mut named = Vec::new();
        for (head, hash) in heads {
            let pool = head.pool.clone();
            self.counts.heads += 1;
            self.counts.retracted += head.retracts.len() as u64;
            let known = head.method_version == METHOD_VERSION;
            self.counts.unsupported += u64::from(!known || head.newer().is_some());
            if let HeadEntry::Recorded { snapshot, depth_usd } = head.entry {
                let depth_usd = known.then_some(depth_usd);
                named.push(SnapshotHead { pool: pool.clone(), snapshot, depth_usd });
            }
            let followed = match self.pools.get_mut(&pool) {
                Some(history) => history.apply(head, hash),
                None => History::begin(head, hash).map(|history| {
                    self.pools.insert(pool.clone(), history);
                    self.counts.pools += 1;
                }),
            };
            followed.map_err(|rule| rule.by(slot, &pool))?;
        }
        let mut open = self.pools.iter().filter(|(_, history)| !history.is_retired());
        match open.find(|(_, history)| history.slot() != slot) {
            Some((pool, _)) => Err(Rule::PoolDropped.by(slot, pool)),
            None => Ok(named),
        }
    }

    fn snapshot(
        &mut self,
        slot: Slot,
        head: &SnapshotHead,
        documents: &SnapshotDocuments,
    ) -> Result<Option<Snapshot>, Rule> {
        let (expected, found) = (head.snapshot, documents.hash());
        if expected != found {
            return Err(Rule::SnapshotHash { expected, found });
        }
        let snapshot = match Snapshot::of_pool(&head.pool, &documents.snapshot, &documents.state) {
            Ok(snapshot) => snapshot,
            Err(error) if error.newer().is_some() => {
                self.counts.unsupported += 1;
                return Ok(None);
            }
            Err(SnapshotError::OtherContract { found, .. }) => {
                return Err(Rule::SnapshotOfAnother { found: found.to_string() });
            }
            Err(error) => return Err(Rule::SnapshotInvalid { error }),
        };
        let observation = snapshot.observation();
        if (observation.pool(), snapshot.slot()) != (&head.pool, slot) {
            let found = format!("{}, slot {}", observation.pool(), snapshot.slot());
            return Err(Rule::SnapshotOfAnother { found });
        }
        let expected = depths(&snapshot);
        if let Some(found) = head.depth_usd.filter(|found| *found != expected) {
            return Err(Rule::Depth { expected, found });
        }
        if let Some(history) = self.pools.get_mut(&head.pool) {
            history.set_block(observation.block().hash);
        }
        self.counts.snapshots += 1;
        Ok(Some(snapshot))
    }

    /// Requires that a document to which a head commits belongs to the pool, and follows the pool's previous one.
    fn fills(&mut self, slot: Slot, pool: &PoolId, fills: &Fills) -> Result<(), Rule> {
        let before = self.fills_until.insert(pool.clone(), fills.to_block);
        let other = |what: String| {
            let file = LogFile::Fills(slot).to_string();
            Err(Rule::CommittedOfOther { name: Fills::NAME, file, what })
        };
        if fills.contract != *pool.contract() {
            return other(fills.contract.to_string());
        }
        match before.filter(|until| !fills.follows(*until)) {
            Some(until) => other(format!(
                "the blocks after {}, and the one before ended with {until}",
                fills.after_block
            )),
            None => Ok(()),
        }
    }

    /// Requires that the first leaf commits to the predecessor in the folder, or to none if the folder has none.
    fn check_predecessor(&self, leaf: &SlotLeaf) -> Result<(), Rule> {
        let text =
            |hash: Option<DocumentHash>| hash.map_or("none".to_owned(), |hash| hash.to_string());
        let found = match self.against.folder.text(Predecessor::NAME, MAX_NOTE_BYTES) {
            Ok(document) => {
                let lost = Predecessor::from_document(&document)
                    .map_err(|error| Rule::PredecessorInvalid { error })?;
                lost.commitment().get(Predecessor::NAME)
            }
            Err(Rule::FileAbsent { .. }) => None,
            Err(rule) => return Err(rule),
        };
        let expected = leaf.commits.get(Predecessor::NAME);
        if expected == found {
            return Ok(());
        }
        Err(Rule::Predecessor { expected: text(expected), found: text(found) })
    }

    /// Checks the manifest's last line: the checkpoint of the log up to and including this slot.
    fn check_checkpoint(&self, file: &str, note: &str, size: u64) -> Result<Checkpoint, Rule> {
        let (checkpoint, _) = Checkpoint::from_note(note)
            .map_err(|error| Rule::CheckpointInvalid { file: file.to_owned(), error })?;
        let origin = &self.against.newest.checkpoint.origin;
        same(file, "origin", origin.to_string(), checkpoint.origin.to_string())?;
        same(file, "size", size.to_string(), checkpoint.size.to_string())?;
        same(file, "root", self.tree.root().to_string(), checkpoint.root.to_string())?;
        check_signature(note, file, origin, self.against.keys)?;
        Ok(checkpoint)
    }

    /// Compares the log at the size of the earlier seen checkpoint with that checkpoint. `note` is what the log signed
    /// at this size.
    fn check_since(&self, size: u64, slot: Slot, note: String) -> Result<(), Broken> {
        let Some(since) = self.against.since.filter(|since| since.checkpoint.size == size) else {
            return Ok(());
        };
        let (seen, found) = (since.checkpoint.root, self.tree.root());
        if seen == found {
            return Ok(());
        }
        let proves = format!(
            "two different logs of {size} slots are signed in this log's name: these two texts \
             alone prove it"
        );
        let contradiction = Contradiction::from_notes(since.note.clone(), note, &proves);
        let contradiction = contradiction.with_fork(Vec::new(), None);
        let fault = Rule::HistoryRewritten { size, seen, found }.at(slot);
        Err((Box::new(fault), Some(contradiction)))
    }
}

/// A slot's heads, and the position of the bodies of those that name a snapshot.
#[derive(Default)]
struct Heads {
    heads: Vec<(Head, HeadHash)>,
    places: Vec<Place>,
}

/// Reads the slot's heads, which must match the leaf. Whether they follow the previous heads is checked only after
/// that, so that a damaged part is distinguished from a false log.
fn read_heads(folder: &FolderReader, manifest: &Manifest, leaf: &SlotLeaf) -> Result<Heads, Fault> {
    let slot = leaf.slot;
    let (mut read, mut hashes) = (Heads::default(), Vec::<Hash>::new());
    let mut after = String::new();
    for part in &manifest.parts {
        let (table, mut from) = folder.table(part).map_err(|rule| rule.at(slot))?;
        let mut recorded = 0;
        for (place, bytes) in table.heads.iter().enumerate() {
            let number = u32::try_from(read.heads.len()).unwrap_or(u32::MAX).saturating_add(1);
            let head = Head::from_canonical(bytes).map_err(|error| Fault {
                pool: stated_pool(bytes),
                ..Rule::HeadInvalid { number, error }.at(slot)
            })?;
            hashes.push(Head::leaf_of(bytes));
            // They are ordered by id as text, in which `a-b:` comes before `a:`.
            let id = head.pool.to_string();
            if id <= after {
                return Err(Rule::HeadOrder { after }.by(slot, &head.pool));
            }
            if place == 0 && head.pool != part.first {
                let reason = format!("its first head is of {id}, the manifest has {}", part.first);
                return Err(Rule::PartInvalid { file: part.path(), reason }.at(slot));
            }
            if head.slot != slot {
                return Err(Rule::HeadSlot { found: head.slot }.by(slot, &head.pool));
            }
            after = id;
            recorded += usize::from(matches!(head.entry, HeadEntry::Recorded { .. }));
            read.heads.push((head, Head::hash_of(bytes)));
        }
        for frame in &table.frames {
            read.places.push(Place { part: part.clone(), from, frame: *frame });
            from += u64::from(frame.bytes);
        }
        check_frames(part, recorded, table.frames.len()).map_err(|rule| rule.at(slot))?;
    }
    let (expected, found) = (leaf.root, root(&hashes));
    if expected != found {
        return Err(Rule::HeadsRoot { expected, found }.at(slot));
    }
    Ok(read)
}

/// Requires that a part has as many bodies as its heads name snapshots.
fn check_frames(part: &PartRef, expected: usize, found: usize) -> Result<(), Rule> {
    if expected == found {
        return Ok(());
    }
    let reason = PublishedError::Frames { expected, found }.to_string();
    Err(Rule::PartInvalid { file: part.path(), reason })
}

/// The pool named by a document that is not a valid head.
fn stated_pool(bytes: &[u8]) -> Option<PoolId> {
    let document: Value = serde_json::from_slice(bytes).ok()?;
    document.get("pool")?.as_str()?.parse().ok()
}

/// Requires that one of `keys` with the log's name signed the checkpoint in `file`, and that there is no false
/// signature by one of them.
pub fn check_signature(
    note: &str,
    file: &str,
    origin: &Origin,
    keys: &[VerifierKey],
) -> Result<(), Rule> {
    let file = file.to_owned();
    let parsed = Note::parse(note)
        .map_err(|error| Rule::CheckpointInvalid { file: file.clone(), error: error.into() })?;
    parsed.signed_by(origin, keys).map(|_| ()).map_err(|why| match why {
        TrustError::Forged { signer } => Rule::SignatureForged { file, signer },
        TrustError::NotTrusted { origin: expected, found } => {
            Rule::SignatureNotTrusted { file, expected, found: found.join(", ") }
        }
    })
}

fn same(file: &str, of: &'static str, expected: String, found: String) -> Result<(), Rule> {
    if expected == found {
        return Ok(());
    }
    Err(Rule::CheckpointMismatch { file: file.to_owned(), of, expected, found })
}

/// The pools whose heads commit to a document of this kind, with its hash.
fn list_commitments<D: CommittedDocument>(
    heads: &[(Head, HeadHash)],
) -> Vec<(PoolId, DocumentHash)> {
    let committed = |head: &Head| Some((head.pool.clone(), head.commits.get(D::NAME)?));
    heads.iter().filter_map(|(head, _)| committed(head)).collect()
}

/// Requires that the receipts to which a head commits belong to its pool.
fn is_of(slot: Slot, pool: &PoolId, issued: IssuedReceipts) -> Result<IssuedReceipts, Rule> {
    if issued.pool == *pool {
        return Ok(issued);
    }
    let file = LogFile::Issued(slot).to_string();
    Err(Rule::CommittedOfOther { name: IssuedReceipts::NAME, file, what: issued.pool.to_string() })
}
