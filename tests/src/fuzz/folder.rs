//! The files of a log's folder, parsed as in `exitgap audit`: manifests, parts and tiles.

use std::fs;

use exitgap_core::evidence::{Head, HeadEntry, SlotLeaf};
use exitgap_core::ids::{DocumentHash, PoolId};
use exitgap_core::log_folder::{
    Bodies, Folder, FrameRef, MAX_PART_BYTES, Manifest, PartRef, Place, Table,
};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{Snapshot, SnapshotDocuments};
use exitgap_core::tlog::Hash;
use tempfile::TempDir;

use super::known::{Parts, checkpoint_of, known, parts};
use super::log::{FolderReader, Rule};

/// The first byte of an input gives the kind of the rest: a manifest, a part of one pool, or such a part with an
/// uncompressed table, preceded by its length in four bytes.
const MANIFEST: u8 = b'm';
const PACKED: u8 = b'z';
const PLAIN: u8 = b'p';

/// A temporary folder in memory if possible, else on disk.
fn scratch() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a scratch folder")
}

fn length_of(bytes: &[u8]) -> [u8; 4] {
    u32::try_from(bytes.len()).expect("an input is short").to_be_bytes()
}

/// Manifests, and parts of one pool.
pub fn slot_seeds() -> Vec<Vec<u8>> {
    let known = known();
    let mut seeds = Vec::new();
    for vector in known.vectors.iter().filter(|vector| vector.valid) {
        let Parts { head, leaf, documents, log_proof } =
            parts(&vector.evidence).expect("a true file");
        let Ok(Head { pool: first, .. }) = Head::from_canonical(&head) else { continue };
        let SnapshotDocuments { snapshot, state } = documents;
        let body = [&snapshot[..], &state].concat();
        let body = zstd::encode_all(&body[..], 6).expect("memory suffices");
        let [bytes, snapshot, state] = [&body, &snapshot, &state]
            .map(|bytes| u32::try_from(bytes.len()).expect("a vector is short"));
        let frames = vec![FrameRef { back: 0, bytes, snapshot, state }];
        let table = Table { heads: vec![head], frames }.to_bytes().expect("a table");
        seeds.push([&[PLAIN][..], &length_of(&table), &table, &body].concat());
        let packed = zstd::encode_all(&table[..], 6).expect("memory suffices");
        let part = [&length_of(&packed)[..], &packed, &body].concat();
        let named =
            PartRef { sha256: PartRef::hash_of(&part), bytes: part.len() as u64, first, pools: 1 };
        seeds.push([&[PACKED][..], &part].concat());
        let checkpoint = checkpoint_of(&log_proof).to_owned();
        let manifest = Manifest { leaf, parts: vec![named], checkpoint };
        seeds.push([&[MANIFEST][..], &manifest.to_bytes().expect("a manifest")].concat());
    }
    seeds.sort();
    seeds.dedup();
    seeds
}

/// Whether the input is a manifest, or a part of one pool with a body that matches its head.
pub fn slot(input: &[u8]) -> bool {
    let Some((kind, rest)) = input.split_first() else { return false };
    match *kind {
        MANIFEST => manifest(rest),
        PLAIN => {
            let Some((length, rest)) = rest.split_first_chunk() else { return false };
            let length = u32::from_be_bytes(*length) as usize;
            let Some((table, bodies)) = rest.split_at_checked(length) else { return false };
            let packed = zstd::encode_all(table, 1).expect("memory suffices");
            part(&[&length_of(&packed)[..], &packed, bodies].concat(), Some(table))
        }
        _ => part(rest, None),
    }
}

/// Whatever parses is written as the same bytes.
fn manifest(bytes: &[u8]) -> bool {
    thread_local! {
        static SCRATCH: TempDir = scratch();
    }
    let read = SCRATCH.with(|scratch| {
        let file = scratch.path().join(format!("slots/{}.jsonl", Slot::FIRST.number()));
        fs::create_dir_all(scratch.path().join("slots")).expect("a scratch folder");
        fs::write(file, bytes).expect("room for a scratch file");
        FolderReader::new(scratch.path()).manifest(Slot::FIRST)
    });
    let Ok(manifest) = read else { return false };
    assert_eq!(manifest.to_bytes().as_deref(), Ok(bytes));
    assert!(manifest.parts.iter().all(|part| part.bytes <= MAX_PART_BYTES));
    true
}

/// A part under its name, read as in the audit.
fn part(bytes: &[u8], plain_table: Option<&[u8]>) -> bool {
    thread_local! {
        static SCRATCH: TempDir = scratch();
    }
    let first: PoolId =
        "anvil:0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa".parse().expect("it is a pool");
    let named = PartRef {
        sha256: PartRef::hash_of(bytes),
        bytes: bytes.len() as u64,
        first: first.clone(),
        pools: 1,
    };
    SCRATCH.with(|scratch| {
        let path = scratch.path().join(named.path());
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("a scratch folder");
        fs::write(&path, bytes).expect("room for a scratch file");
        let folder = FolderReader::new(scratch.path());
        // Under another name it is invalid.
        let misnamed = PartRef { sha256: DocumentHash([7; 32]), ..named.clone() };
        assert!(matches!(folder.table(&misnamed), Err(Rule::FileAbsent { .. })));
        let whole = walk(&folder, &named, plain_table);
        fs::remove_file(&path).expect("a scratch file");
        whole
    })
}

fn walk(folder: &FolderReader, part: &PartRef, plain_table: Option<&[u8]>) -> bool {
    let Ok((table, from)) = folder.table(part) else { return false };
    let written = table.to_bytes().expect("what was read is written");
    if let Some(plain) = plain_table {
        assert_eq!(written, plain, "what is read is what was packed");
    }
    let Ok(head) = Head::from_canonical(&table.heads[0]) else { return false };
    let (HeadEntry::Recorded { snapshot, .. }, [frame]) = (&head.entry, &table.frames[..]) else {
        return false;
    };
    let place = Place { part: part.clone(), from, frame: *frame };
    let Ok(body) = Bodies::new(folder).body(&head.pool, head.slot, &place) else { return false };
    assert_eq!(body.len(), frame.unpacked_bytes());
    Snapshot::hash_of(&body[..frame.snapshot as usize]) == *snapshot
}

/// A tile of hashes and a tile of entries, full and partial.
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

/// Complete entries of the requested width, which must be written as the same file.
fn entries(folder: &FolderReader, stored: usize, content: &[u8]) -> bool {
    let Ok(found) = folder.entries(0, stored) else { return false };
    assert_eq!(found.len(), stored);
    let mut again = Vec::with_capacity(content.len());
    for entry in &found {
        again.extend_from_slice(&u16::try_from(entry.len()).expect("two bytes").to_be_bytes());
        again.extend_from_slice(entry);
    }
    assert_eq!(again, content);
    // A narrower tile is a prefix of a wider one.
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
