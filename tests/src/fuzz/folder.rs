//! The files of a log's folder as `exitgap audit` reads them: bundles and tiles.

use std::fs;

use exitgap_core::evidence::{Head, HeadEntry, MAX_HEAD_BYTES, MAX_LEAF_BYTES, SlotLeaf};
use exitgap_core::pools::MAX_STATE_BYTES;
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{MAX_SNAPSHOT_BYTES, Snapshot, SnapshotDocuments};
use exitgap_core::tlog::{Hash, MAX_NOTE_BYTES};
use tempfile::TempDir;

use super::known::{Parts, checkpoint_of, known, parts};
use super::log::{FolderReader, Rule};

/// The first byte of an input says how the rest becomes a file.
const COMPRESSED: u8 = b'z';
const PLAIN: u8 = b'p';

/// A file in memory where there is such a folder, and else on disk.
fn scratch() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a scratch folder")
}

/// Bundles of one pool, as lines and compressed.
pub fn bundle_seeds() -> Vec<Vec<u8>> {
    let known = known();
    let mut seeds = Vec::new();
    for vector in known.vectors.iter().filter(|vector| vector.valid) {
        let Parts { head, leaf, documents, log_proof } =
            parts(&vector.evidence).expect("a true file");
        // The heads of the vectors' log have a slot of two; a bundle of one is as good here.
        let leaf = SlotLeaf { pools: 1, ..SlotLeaf::from_canonical(&leaf).expect("a leaf") };
        let leaf = leaf.to_canonical().expect("a leaf is a document");
        let note = serde_json::json!({ "checkpoint": checkpoint_of(&log_proof) }).to_string();
        let SnapshotDocuments { snapshot, state } = documents;
        let lines = [leaf, head, snapshot, state, note.into_bytes(), Vec::new()].join(&b'\n');
        let compressed = zstd::encode_all(&lines[..], 6).expect("memory suffices");
        seeds.push([&[COMPRESSED][..], &compressed].concat());
        seeds.push([&[PLAIN][..], &lines].concat());
    }
    seeds.sort();
    seeds.dedup();
    seeds
}

/// Whether the input is a whole bundle.
pub fn bundle(input: &[u8]) -> bool {
    thread_local! {
        static SCRATCH: TempDir = scratch();
    }
    let Some((mode, rest)) = input.split_first() else { return false };
    let compressed = match *mode {
        PLAIN => zstd::encode_all(rest, 1).expect("memory suffices"),
        _ => rest.to_vec(),
    };
    let mut lines = Vec::new();
    let read = SCRATCH.with(|scratch| {
        let bundles = scratch.path().join("bundles");
        fs::create_dir_all(&bundles).expect("a scratch folder");
        let file = bundles.join(format!("{}.jsonl.zst", Slot::FIRST.number()));
        fs::write(file, &compressed).expect("room for a scratch file");
        walk(&FolderReader::new(scratch.path()), &mut lines)
    });
    if *mode == PLAIN {
        assert!(rest.starts_with(&lines), "what is read is what was compressed");
        assert!(!matches!(read, Err(Rule::BundleCompression { .. })));
        assert!(read.is_err() || lines == rest, "a whole bundle is read to its end");
    }
    read.is_ok()
}

/// Reads a bundle as the audit does: each line up to the limit of what it should be.
fn walk(folder: &FolderReader, lines: &mut Vec<u8>) -> Result<(), Rule> {
    let mut bundle = folder.bundle(Slot::FIRST)?;
    let mut next = |what, most| {
        let line = bundle.next(what, most)?;
        assert!(line.len() <= most);
        lines.extend_from_slice(&line);
        lines.push(b'\n');
        Ok::<_, Rule>(line)
    };
    let leaf = next("the slot leaf", MAX_LEAF_BYTES)?;
    let leaf = SlotLeaf::from_canonical(&leaf).map_err(|error| Rule::LeafInvalid { error })?;
    let mut recorded = Vec::new();
    for number in 1..=leaf.pools {
        let head = next("a head", MAX_HEAD_BYTES)?;
        let head = Head::from_canonical(&head);
        let head = head.map_err(|error| Rule::HeadInvalid { number, error })?;
        if let HeadEntry::Recorded { snapshot, .. } = head.entry {
            recorded.push(snapshot);
        }
    }
    for expected in recorded {
        let found = Snapshot::hash_of(&next("a snapshot", MAX_SNAPSHOT_BYTES)?);
        if found != expected {
            return Err(Rule::SnapshotHash { expected, found });
        }
        next("a state", MAX_STATE_BYTES)?;
    }
    next("the checkpoint", 2 * MAX_NOTE_BYTES)?;
    bundle.end()
}

/// A tile of hashes and one of entries, full and partial.
pub fn tile_seeds() -> Vec<Vec<u8>> {
    let leaves: Vec<&[u8]> = known().sealed.iter().map(|parts| &parts.leaf[..]).collect();
    let entry = |leaf: &[u8]| {
        let length = u16::try_from(leaf.len()).expect("a leaf is short");
        [&length.to_be_bytes()[..], leaf].concat()
    };
    let hash = |leaf: &[u8]| SlotLeaf::leaf_of(leaf).0.to_vec();
    let of = |kind: u8, width: usize, one: &dyn Fn(&[u8]) -> Vec<u8>| {
        let content: Vec<u8> =
            leaves.iter().cycle().take(width).flat_map(|leaf| one(leaf)).collect();
        [&[kind, u8::try_from(width % 256).expect("below 256")][..], &content].concat()
    };
    [1, 3, 255, 256]
        .iter()
        .flat_map(|width| [of(b'e', *width, &entry), of(b'h', *width, &hash)])
        .collect()
}

/// Whether the input is a tile: its kind, its width (0 for 256), and the file.
pub fn tile(input: &[u8]) -> bool {
    thread_local! {
        static SCRATCH: TempDir = scratch();
    }
    let [kind, width, content @ ..] = input else { return false };
    let level = if *kind == b'e' { "entries" } else { "0" };
    let stored = if *width == 0 { 256 } else { usize::from(*width) };
    SCRATCH.with(|scratch| {
        let (full, partial) = (format!("tile/{level}/000"), format!("tile/{level}/000.p"));
        let file = if stored == 256 { full } else { format!("{partial}/{stored}") };
        let path = scratch.path().join(&file);
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("a scratch folder");
        fs::write(&path, content).expect("room for a scratch file");
        let folder = FolderReader::new(scratch.path());
        let read = if *kind == b'e' {
            entries(&folder, stored, content)
        } else {
            hashes(&folder, stored, content)
        };
        fs::remove_file(&path).expect("a scratch file");
        read
    })
}

/// Whole entries of the width asked for, which written again are the file.
fn entries(folder: &FolderReader, stored: usize, content: &[u8]) -> bool {
    let Ok(found) = folder.entries(0, stored) else { return false };
    assert_eq!(found.len(), stored);
    let mut again = Vec::with_capacity(content.len());
    for entry in &found {
        again.extend_from_slice(&u16::try_from(entry.len()).expect("two bytes").to_be_bytes());
        again.extend_from_slice(entry);
    }
    assert_eq!(again, content);
    // A narrower tile is the beginning of a wider one.
    let narrower = folder.entries(0, stored.div_ceil(2)).expect("what is whole has a beginning");
    assert_eq!(narrower, found[..stored.div_ceil(2)]);
    true
}

/// The same for hashes.
fn hashes(folder: &FolderReader, stored: usize, content: &[u8]) -> bool {
    let Ok((_, found)) = folder.hashes(0, 0, stored) else { return false };
    let again: Vec<u8> = found.iter().flat_map(|Hash(hash)| *hash).collect();
    assert_eq!((found.len(), &again[..]), (stored, content));
    true
}
