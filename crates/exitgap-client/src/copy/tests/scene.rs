//! A small published log, a server of its files, and copies of it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use exitgap_core::analytics::accuracy::{CommittedDocument, Fills};
use exitgap_core::evidence::{Commits, Head, HeadEntry, SlotLeaf};
use exitgap_core::ids::{HeadHash, PoolId};
use exitgap_core::log_folder::{FrameRef, LogFile, Manifest, PartRef, Table};
use exitgap_core::pools::PoolState;
use exitgap_core::series::Slot;
use exitgap_core::snapshot::SnapshotDocuments;
use exitgap_core::tlog::{
    Checkpoint, Frontier, Origin, SignerKey, Tile, TileKind, leaf_hash, push_entry, root,
};

use super::skippable;

const POOL: &str = "anvil:0x00000000000000000000000000000000000000aa";
const NAME: &str = "exitgap.example/log";

/// A slot of the log.
pub fn slot(index: u32) -> Slot {
    Slot::new(u64::from(Slot::FIRST.number() + index)).unwrap()
}

pub fn manifest_of(index: u32) -> String {
    LogFile::Slot(slot(index)).to_string()
}

pub fn fills_of(index: u32) -> String {
    LogFile::Fills(slot(index)).to_string()
}

/// A slot's files before they are put together.
#[derive(Clone)]
pub struct SlotParts {
    head: Vec<u8>,
    frame: FrameRef,
    body: Vec<u8>,
    packed_table: Option<Vec<u8>>,
}

/// A log of one pool. The snapshots name their states and are otherwise empty: nothing else of them is read here.
pub struct Log {
    slots: u32,
    parts: Vec<SlotParts>,
    files: BTreeMap<String, Vec<u8>>,
    signed_bytes: u64,
}

impl Log {
    pub fn key() -> SignerKey {
        SignerKey::from_seed(&origin().to_string(), [5; 32]).unwrap()
    }

    pub fn of_slots(slots: u32) -> Self {
        Self::signed_by(slots, 5)
    }

    /// The same signed by the key of this seed, whose snapshots are others.
    pub fn signed_by(slots: u32, seed: u8) -> Self {
        let key = SignerKey::from_seed(&origin().to_string(), [seed; 32]).unwrap();
        let mut log = Self { slots, parts: Vec::new(), files: BTreeMap::new(), signed_bytes: 0 };
        let (mut tree, mut tile, mut hashes) = (Frontier::default(), Vec::new(), Vec::new());
        let mut note = String::new();
        for index in 0..slots {
            let (documents, fills) = (documents(index, seed), (index == 2).then(fills));
            let head = head(index, &documents, fills.as_deref());
            log.signed_bytes +=
                (head.len() + documents.snapshot.len() + documents.state.len()) as u64;
            let joined = [&documents.snapshot[..], &documents.state].concat();
            let body = zstd::encode_all(&joined[..], 3).unwrap();
            let frame = FrameRef {
                back: 0,
                bytes: u32::try_from(body.len()).unwrap(),
                snapshot: u32::try_from(documents.snapshot.len()).unwrap(),
                state: u32::try_from(documents.state.len()).unwrap(),
            };
            let leaf = SlotLeaf {
                slot: slot(index),
                pools: 1,
                root: root(&[Head::leaf_of(&head)]),
                commits: Commits::default(),
            };
            let leaf = leaf.to_canonical().unwrap();
            log.signed_bytes += leaf.len() as u64;
            tree.push(leaf_hash(&leaf));
            hashes.extend(leaf_hash(&leaf).0);
            assert!(push_entry(&mut tile, &leaf));
            let (origin, size, root) = (origin(), tree.size(), tree.root());
            note = key
                .sign(&Checkpoint { origin, size, root, extensions: Vec::new() }.to_text())
                .unwrap();
            let parts = SlotParts { head, frame, body, packed_table: None };
            let (part, bytes) = part_of(&parts);
            let manifest = Manifest { leaf, parts: vec![part.clone()], checkpoint: note.clone() };
            log.files.insert(part.path(), bytes);
            log.files.insert(manifest_of(index), manifest.to_bytes().unwrap());
            if let Some(fills) = fills {
                let line = Fills::line(slot(index), &fills).unwrap();
                log.signed_bytes += line.len() as u64;
                log.files.insert(fills_of(index), zstd::encode_all(&line[..], 3).unwrap());
            }
            log.parts.push(parts);
        }
        log.signed_bytes += 2 * note.len() as u64 * u64::from(slots);
        let width = u64::from(slots);
        for (shelf, bytes) in [(TileKind::Entries, tile), (TileKind::Level(0), hashes)] {
            let tile = Tile::new(shelf, 0, width).unwrap();
            log.files.insert(LogFile::Tile(tile).to_string(), bytes);
        }
        log.files.insert("checkpoint".to_owned(), note.into_bytes());
        log.files.insert("verifier-key".to_owned(), format!("{}\n", key.verifier()).into_bytes());
        log
    }

    pub fn slots(&self) -> u32 {
        self.slots
    }

    pub fn file(&self, name: &str) -> Vec<u8> {
        self.files[name].clone()
    }

    /// How many bytes of documents the log's key stands for.
    pub fn signed_bytes(&self) -> u64 {
        self.signed_bytes
    }

    pub fn part_name(&self, index: u32) -> String {
        part_of(&self.parts[index as usize]).0.path().split_off("parts/".len())
    }

    /// A slot's manifest with something else said of its part.
    pub fn manifest_with(&self, index: u32, change: impl FnOnce(&mut PartRef)) -> Vec<u8> {
        let mut manifest = Manifest::from_bytes(&self.files[&manifest_of(index)]).unwrap();
        change(&mut manifest.parts[0]);
        manifest.to_bytes().unwrap()
    }

    /// A slot's manifest with many signatures by unknown keys.
    pub fn padded_manifest(&self, index: u32) -> Vec<u8> {
        let mut manifest = Manifest::from_bytes(&self.files[&manifest_of(index)]).unwrap();
        for seed in 10..60 {
            let witness = SignerKey::from_seed("witness.example", [seed; 32]).unwrap();
            manifest.checkpoint = witness.sign_beside(&manifest.checkpoint).unwrap();
        }
        manifest.to_bytes().unwrap()
    }

    /// Serves another part for a slot, with a manifest that names it: nothing but its leaf is signed.
    pub fn serve_part(&self, server: &Server, index: u32, change: fn(SlotParts) -> SlotParts) {
        let parts = change(self.parts[index as usize].clone());
        let (part, bytes) = part_of(&parts);
        server.serve(&part.path(), bytes);
        server.serve(&manifest_of(index), self.manifest_with(index, |named| *named = part));
    }

    pub fn other_heads(parts: SlotParts) -> SlotParts {
        let head = String::from_utf8(parts.head).unwrap().replace("\"313\"", "\"999\"");
        SlotParts { head: head.into_bytes(), ..parts }
    }

    pub fn other_body(parts: SlotParts) -> SlotParts {
        let (snapshot, state) = (128 << 10, 4 << 20);
        // Bytes that do not get smaller: the file is as large as it may be.
        let mut random = 1_u64;
        let noise = std::iter::repeat_with(|| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 56) as u8
        });
        let noise: Vec<u8> = noise.take((snapshot + state) as usize).collect();
        let body = zstd::encode_all(&noise[..], 1).unwrap();
        let bytes = u32::try_from(body.len()).unwrap();
        SlotParts { frame: FrameRef { back: 0, bytes, snapshot, state }, body, ..parts }
    }

    pub fn skipped_body(parts: SlotParts) -> SlotParts {
        let body = [skippable(10), parts.body].concat();
        let bytes = u32::try_from(body.len()).unwrap();
        SlotParts { frame: FrameRef { bytes, ..parts.frame }, body, ..parts }
    }

    pub fn skipped_table(parts: SlotParts) -> SlotParts {
        let packed = [skippable(10), packed_table(&parts)].concat();
        SlotParts { packed_table: Some(packed), ..parts }
    }
}

fn origin() -> Origin {
    Origin::new(NAME, Slot::FIRST).unwrap()
}

/// A snapshot of so many bytes that it is like a real one, and its state.
fn documents(index: u32, seed: u8) -> SnapshotDocuments {
    let state = format!("{{\"seed\":{seed},\"ticks\":\"{}\"}}", "0".repeat(6_000)).into_bytes();
    let name = PoolState::hash_of(&state);
    let snapshot =
        format!("{{\"index\":{index},\"seed\":{seed},\"state\":\"{name}\"}}").into_bytes();
    SnapshotDocuments { snapshot, state }
}

fn fills() -> Vec<u8> {
    let pool: PoolId = POOL.parse().unwrap();
    let contract = pool.contract().clone();
    Fills { contract, after_block: 7, to_block: 9, logs: Vec::new() }.to_canonical().unwrap()
}

fn head(index: u32, documents: &SnapshotDocuments, fills: Option<&[u8]>) -> Vec<u8> {
    let commits = fills.map(|fills| {
        let name = Commits::FILLS.parse().unwrap();
        Commits::to(name, Fills::hash_of(fills))
    });
    let depths = [Some(313), Some(313)];
    let head = Head {
        pool: POOL.parse().unwrap(),
        slot: slot(index),
        height: index,
        recorded_count: index + 1,
        prev: (index > 0).then_some(HeadHash([1; 32])),
        entry: HeadEntry::Recorded { snapshot: documents.hash(), depth_usd: depths },
        lowest_depth_7d_usd: depths,
        method_version: "1.0.0".to_owned(),
        retracts: Vec::new(),
        commits: commits.unwrap_or_default(),
    };
    head.to_canonical().unwrap()
}

fn packed_table(parts: &SlotParts) -> Vec<u8> {
    let table = Table { heads: vec![parts.head.clone()], frames: vec![parts.frame] };
    zstd::encode_all(&table.to_bytes().unwrap()[..], 3).unwrap()
}

fn part_of(parts: &SlotParts) -> (PartRef, Vec<u8>) {
    let packed = parts.packed_table.clone().unwrap_or_else(|| packed_table(parts));
    let length = u32::try_from(packed.len()).unwrap().to_be_bytes();
    let bytes = [&length[..], &packed, &parts.body].concat();
    let sha256 = PartRef::hash_of(&bytes);
    let first = POOL.parse().unwrap();
    (PartRef { sha256, bytes: bytes.len() as u64, first, pools: 1 }, bytes)
}

/// Serves files below `/log`, and remembers which were requested.
pub struct Server {
    address: String,
    files: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub fn of(log: &Log) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/log", listener.local_addr().unwrap());
        let files = Arc::new(Mutex::new(log.files.clone()));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (served, told) = (Arc::clone(&files), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    match stream.read(&mut byte) {
                        Ok(1) => head.push(byte[0]),
                        _ => break,
                    }
                }
                let line = String::from_utf8_lossy(&head);
                let Some(name) = line.split(' ').nth(1).and_then(|path| path.strip_prefix("/log/"))
                else {
                    continue;
                };
                told.lock().unwrap().push(name.to_owned());
                let found = served.lock().unwrap().get(name).cloned();
                let status = if found.is_some() { "200 OK" } else { "404 Not Found" };
                let body = found.unwrap_or_default();
                let length = body.len();
                let head = format!(
                    "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
                );
                let _ = stream.write_all(&[head.into_bytes(), body].concat());
            }
        });
        Self { address, files, asked }
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn serve(&self, name: &str, bytes: Vec<u8>) {
        self.files.lock().unwrap().insert(name.to_owned(), bytes);
    }

    pub fn file(&self, name: &str) -> Vec<u8> {
        self.files.lock().unwrap()[name].clone()
    }

    pub fn change_text(&self, name: &str, from: &str, to: &str) {
        let text = String::from_utf8(self.file(name)).unwrap();
        assert!(text.contains(from), "{text}");
        self.serve(name, text.replacen(from, to, 1).into_bytes());
    }

    /// The files that were requested.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// How many bytes are in a folder, without what is there of every copy.
pub fn bytes_in(folder: &Path) -> u64 {
    files_in(folder).values().map(|bytes| bytes.len() as u64).sum()
}

/// Whether a folder has exactly what the log published.
pub fn is_whole_copy(folder: &Path, log: &Log) -> bool {
    let mut here = files_in(folder);
    // Narrower tiles stay until the full one of their place.
    here.retain(|name, _| !name.contains(".p/") || log.files.contains_key(name));
    here == log.files
}

fn files_in(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut files, mut folders) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(inner).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                folders.push(path);
            } else if name != ".copy-lock" {
                files.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    files
}
