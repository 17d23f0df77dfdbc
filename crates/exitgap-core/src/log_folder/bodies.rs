//! Snapshot bodies that refer to earlier bodies of their contract: finds them, unpacks them, and caches those that are
//! likely to be referred to again.

use std::collections::BTreeMap;

use super::{FrameRef, MAX_STEPS, Manifest, PartRef, PublishedError, Table};
use crate::evidence::{Head, HeadEntry};
use crate::ids::{Contract, PoolId};
use crate::series::Slot;

/// The maximum size of all cached bodies together, in bytes. Bodies of further pools are read again for every
/// reference.
const MAX_KEPT_BYTES: usize = 512 << 20;

/// A folder's files. Each is read up to its size limit and checked against the document that names it.
pub trait Folder {
    /// Why a file cannot be read.
    type Error;

    /// A slot's manifest.
    fn manifest(&self, slot: Slot) -> Result<Manifest, Self::Error>;

    /// A part's table, and the offset of its first body.
    fn table(&self, part: &PartRef) -> Result<(Table, u64), Self::Error>;

    /// `length` bytes of a part, starting at `from`.
    fn bytes(&self, part: &PartRef, from: u64, length: u32) -> Result<Vec<u8>, Self::Error>;

    /// Unpacks a body, which must have exactly `length` bytes; otherwise returns a message.
    fn unpack(packed: &[u8], length: usize, base: Option<&[u8]>) -> Result<Vec<u8>, String>;
}

/// Why a body cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BodyError<E> {
    /// A file cannot be read.
    #[error(transparent)]
    Folder(E),
    /// The frame does not contain the body.
    #[error("the body of {slot} cannot be unpacked: {reason}")]
    Frame {
        /// The slot of the body.
        slot: Slot,
        /// The reason.
        reason: String,
    },
    /// A body refers to an earlier body that does not exist.
    #[error(
        "the body of {slot} refers to the body {back} slots before, but its contract has none there"
    )]
    NoBase {
        /// The slot of the body that refers to it.
        slot: Slot,
        /// How many slots earlier it should be.
        back: u32,
    },
    /// A head shares the body of another pool of its contract in the same slot, but there is none.
    #[error(
        "the body of {slot} is shared with another pool of the contract, but that pool has none"
    )]
    NotShared {
        /// The slot.
        slot: Slot,
    },
    /// A table does not match its heads.
    #[error("the part of {slot} with the pool: {error}")]
    Table {
        /// The slot.
        slot: Slot,
        /// The reason.
        error: PublishedError,
    },
    /// A chain of references is too long.
    #[error("the body of {slot} is more than {MAX_STEPS} references away from a complete body")]
    TooFar {
        /// The slot.
        slot: Slot,
    },
}

/// The position of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The part.
    pub part: PartRef,
    /// The offset of its frame in the part.
    pub from: u64,
    /// The frame.
    pub frame: FrameRef,
}

/// A cached body that others may refer to.
struct Kept {
    slot: Slot,
    joined: Vec<u8>,
}

/// Reads the bodies of a folder, slot by slot or at random. For one body at most three earlier ones are read.
pub struct Bodies<'a, F> {
    folder: &'a F,
    /// By contract: the newest body at each length of its chain of references, shortest first.
    kept: BTreeMap<Contract, Vec<Kept>>,
    kept_bytes: usize,
    /// The last body that was read, because the contract's next pool may share it.
    last: Option<(Contract, Kept)>,
}

impl<'a, F: Folder> Bodies<'a, F> {
    /// A reader with an empty cache.
    pub fn new(folder: &'a F) -> Self {
        Self { folder, kept: BTreeMap::new(), kept_bytes: 0, last: None }
    }

    /// The body of the pool's snapshot of `slot`: the snapshot's canonical bytes followed by the state's. The caller
    /// must check that both have the hashes in the head; this function does not.
    pub fn body(
        &mut self,
        pool: &PoolId,
        slot: Slot,
        place: &Place,
    ) -> Result<Vec<u8>, BodyError<F::Error>> {
        let contract = pool.contract();
        if place.frame.is_shared() {
            if let Some((of, last)) = &self.last
                && (of, last.slot) == (contract, slot)
            {
                return Ok(last.joined.clone());
            }
            let place = self.place(contract, slot)?.ok_or(BodyError::NotShared { slot })?;
            return self.own_body(contract, slot, &place);
        }
        self.own_body(contract, slot, place)
    }

    /// The body at this position.
    fn own_body(
        &mut self,
        contract: &Contract,
        slot: Slot,
        place: &Place,
    ) -> Result<Vec<u8>, BodyError<F::Error>> {
        let mut kept = self.kept.remove(contract).unwrap_or_default();
        self.kept_bytes -= weight(&kept);
        let body = self.resolve_body(contract, slot, place, &mut kept);
        if let Ok(joined) = &body
            && kept.len() < MAX_STEPS
        {
            kept.push(Kept { slot, joined: joined.clone() });
        }
        let bytes = weight(&kept);
        if self.kept_bytes + bytes <= MAX_KEPT_BYTES {
            self.kept_bytes += bytes;
            self.kept.insert(contract.clone(), kept);
        }
        let body = body?;
        self.last = Some((contract.clone(), Kept { slot, joined: body.clone() }));
        Ok(body)
    }

    /// Resolves a body. Afterwards `kept` contains exactly the bodies that it refers to, nearest last.
    fn resolve_body(
        &self,
        contract: &Contract,
        slot: Slot,
        place: &Place,
        kept: &mut Vec<Kept>,
    ) -> Result<Vec<u8>, BodyError<F::Error>> {
        // The chain of references back to a self-contained body or to a cached one.
        let mut way = vec![(slot, place.clone())];
        while let Some((at, Place { frame: FrameRef { back, .. }, .. })) = way.last() {
            let (at, back) = (*at, *back);
            if back == 0 {
                kept.clear();
                break;
            }
            let base = u64::from(at.number()).checked_sub(u64::from(back));
            let base = base.and_then(|base| Slot::new(base).ok());
            let base = base.ok_or(BodyError::NoBase { slot: at, back })?;
            if let Some(at) = kept.iter().position(|kept| kept.slot == base) {
                kept.truncate(at + 1);
                break;
            }
            if way.len() > MAX_STEPS {
                return Err(BodyError::TooFar { slot });
            }
            let found = self.place(contract, base)?;
            way.push((base, found.ok_or(BodyError::NoBase { slot: at, back })?));
        }
        if kept.len() + way.len() > MAX_STEPS + 1 {
            return Err(BodyError::TooFar { slot });
        }
        while let Some((at, Place { part, from, frame })) = way.pop() {
            let read = self.folder.bytes(&part, from, frame.bytes).map_err(BodyError::Folder)?;
            let base = kept.last().map(|kept| kept.joined.as_slice());
            let joined = F::unpack(&read, frame.unpacked_bytes(), base)
                .map_err(|reason| BodyError::Frame { slot: at, reason })?;
            if way.is_empty() {
                return Ok(joined);
            }
            kept.push(Kept { slot: at, joined });
        }
        Err(BodyError::TooFar { slot })
    }

    /// The position of the contract's body in a slot, in whichever of its pools has it.
    fn place(&self, contract: &Contract, slot: Slot) -> Result<Option<Place>, BodyError<F::Error>> {
        let manifest = self.folder.manifest(slot).map_err(BodyError::Folder)?;
        for part in manifest.parts_of(contract) {
            let (table, from) = self.folder.table(part).map_err(BodyError::Folder)?;
            if let Some(found) = place_in(&table, contract, slot)? {
                let (before, frame) = found;
                return Ok(Some(Place { part: part.clone(), from: from + before, frame }));
            }
        }
        Ok(None)
    }
}

/// The frame of the contract's body in a part, and the number of body bytes before it.
fn place_in<E>(
    table: &Table,
    contract: &Contract,
    slot: Slot,
) -> Result<Option<(u64, FrameRef)>, BodyError<E>> {
    let (mut frames, mut before) = (table.frames.iter(), 0);
    for head in &table.heads {
        // An invalid head was already reported when its slot was read.
        let Ok(head) = Head::from_canonical(head) else { return Ok(None) };
        if !matches!(head.entry, HeadEntry::Recorded { .. }) {
            continue;
        }
        let Some(frame) = frames.next() else {
            let (expected, found) = (table.heads.len(), table.frames.len());
            let error = PublishedError::Frames { expected, found };
            return Err(BodyError::Table { slot, error });
        };
        if head.pool.contract() == contract && !frame.is_shared() {
            return Ok(Some((before, *frame)));
        }
        before += u64::from(frame.bytes);
    }
    Ok(None)
}

fn weight(kept: &[Kept]) -> usize {
    kept.iter().map(|kept| kept.joined.len()).sum()
}
