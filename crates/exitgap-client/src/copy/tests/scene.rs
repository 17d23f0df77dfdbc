//! A small published log, a server of its files, and copies of it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use exitgap_core::analytics::accuracy::{CommittedDocument, Fills};
use exitgap_core::evidence::{Commits, Head, HeadEntry, Predecessor, SlotLeaf};
use exitgap_core::ids::{HeadHash, PoolId};
use exitgap_core::log_folder::{FrameRef, LogFile, Manifest, PartRef, Table};
use exitgap_core::pools::PoolState;
use exitgap_core::series::Slot;
use exitgap_core::snapshot::SnapshotDocuments;
use exitgap_core::tlog::{
    Checkpoint, Frontier, Origin, SignerKey, Tile, TileKind, leaf_hash, push_entry, root,
};

use super::skippable;

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

/// A pool of the log, by its number.
fn pool(number: u32) -> PoolId {
    format!("anvil:0x{:040x}", 0xaa + number).parse().unwrap()
}

/// A part of a slot, of one pool, before its file is put together.
#[derive(Clone)]
pub struct SlotPart {
    pool: u32,
    head: Vec<u8>,
    frame: FrameRef,
    body: Vec<u8>,
    packed_table: Option<Vec<u8>>,
}

/// What a log is of.
#[derive(Clone, Copy)]
struct Kind {
    seed: u8,
    pools: u32,
    /// Whether its states take as many bytes as they may.
    is_large: bool,
}

const USUAL: Kind = Kind { seed: 5, pools: 1, is_large: false };

/// A log with a part for each pool. The snapshots name their states and are otherwise empty: nothing else of them is read
/// here.
pub struct Log {
    slots: u32,
    /// By slot and pool.
    parts: Vec<Vec<SlotPart>>,
    files: BTreeMap<String, Vec<u8>>,
    signed_bytes: u64,
}

impl Log {
    pub fn key() -> SignerKey {
        key(5)
    }

    /// Of one pool.
    pub fn of_slots(slots: u32) -> Self {
        Self::new(slots, USUAL, None)
    }

    pub fn of_pools(slots: u32, pools: u32) -> Self {
        Self::new(slots, Kind { pools, ..USUAL }, None)
    }

    /// Of pools whose states take as many bytes as they may.
    pub fn of_large_pools(slots: u32, pools: u32) -> Self {
        Self::new(slots, Kind { pools, is_large: true, ..USUAL }, None)
    }

    /// A log signed by the key of this seed, with different snapshots.
    pub fn signed_by(slots: u32, seed: u8) -> Self {
        Self::new(slots, Kind { seed, ..USUAL }, None)
    }

    /// The same after another log.
    pub fn that_succeeds(slots: u32, predecessor: &Predecessor) -> Self {
        Self::new(slots, USUAL, Some(predecessor))
    }

    fn new(slots: u32, kind: Kind, predecessor: Option<&Predecessor>) -> Self {
        let (key, pools) = (key(kind.seed), kind.pools);
        let mut log = Self { slots, parts: Vec::new(), files: BTreeMap::new(), signed_bytes: 0 };
        let (mut tree, mut tile, mut hashes) = (Frontier::default(), Vec::new(), Vec::new());
        let mut note = String::new();
        for index in 0..slots {
            let fills = (index == 2).then(fills);
            let parts: Vec<SlotPart> =
                (0..pools).map(|pool| log.part(pool, index, kind, fills.as_deref())).collect();
            let heads: Vec<_> = parts.iter().map(|part| Head::leaf_of(&part.head)).collect();
            let commits = predecessor.filter(|_| index == 0).map(Predecessor::commitment);
            let leaf = SlotLeaf {
                slot: slot(index),
                pools,
                root: root(&heads),
                commits: commits.unwrap_or_default(),
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
            let mut manifest = Manifest { leaf, parts: Vec::new(), checkpoint: note.clone() };
            for part in &parts {
                let (part, bytes) = file_of(part);
                log.files.insert(part.path(), bytes);
                manifest.parts.push(part);
            }
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
        if let Some(predecessor) = predecessor {
            let document = predecessor.to_document().into_bytes();
            log.files.insert("predecessor".to_owned(), document);
        }
        log
    }

    fn part(&mut self, pool: u32, index: u32, kind: Kind, fills: Option<&[u8]>) -> SlotPart {
        let documents = documents(pool, index, kind);
        let head = head(pool, index, &documents, fills.filter(|_| pool == 0));
        self.signed_bytes += (head.len() + documents.snapshot.len() + documents.state.len()) as u64;
        let joined = [&documents.snapshot[..], &documents.state].concat();
        let body = zstd::encode_all(&joined[..], 3).unwrap();
        let frame = FrameRef {
            back: 0,
            bytes: u32::try_from(body.len()).unwrap(),
            snapshot: u32::try_from(documents.snapshot.len()).unwrap(),
            state: u32::try_from(documents.state.len()).unwrap(),
        };
        SlotPart { pool, head, frame, body, packed_table: None }
    }

    pub fn pools(&self) -> u32 {
        u32::try_from(self.parts[0].len()).unwrap()
    }

    pub fn slots(&self) -> u32 {
        self.slots
    }

    pub fn file(&self, name: &str) -> Vec<u8> {
        self.files[name].clone()
    }

    /// The size of all documents that the log's signature covers.
    pub fn signed_bytes(&self) -> u64 {
        self.signed_bytes
    }

    pub fn part_name(&self, index: u32) -> String {
        file_of(&self.parts[index as usize][0]).0.path().split_off("parts/".len())
    }

    /// A slot's manifest with other parts.
    pub fn manifest_with(&self, index: u32, change: impl FnOnce(&mut Vec<PartRef>)) -> Vec<u8> {
        let mut manifest = Manifest::from_bytes(&self.files[&manifest_of(index)]).unwrap();
        change(&mut manifest.parts);
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

    /// Serves other parts for a slot, with a manifest that names them: nothing but its leaf is signed.
    pub fn serve_parts(&self, server: &Server, index: u32, change: impl Fn(SlotPart) -> SlotPart) {
        let parts = self.parts[index as usize].iter().cloned().map(|part| {
            let (part, bytes) = file_of(&change(part));
            server.serve(&part.path(), bytes);
            part
        });
        let parts: Vec<_> = parts.collect();
        server.serve(&manifest_of(index), self.manifest_with(index, |named| *named = parts));
    }

    /// The same snapshots and heads, but for the last pool's, in a part that is packed in another way.
    pub fn repacked(part: SlotPart, level: i32, last: u32) -> SlotPart {
        if part.pool == last {
            return Self::other_body(part);
        }
        let joined = zstd::decode_all(&part.body[..]).unwrap();
        let body = zstd::encode_all(&joined[..], level).unwrap();
        let bytes = u32::try_from(body.len()).unwrap();
        let packed_table = {
            let frame = FrameRef { bytes, ..part.frame };
            let table = Table { heads: vec![part.head.clone()], frames: vec![frame] };
            zstd::encode_all(&table.to_bytes().unwrap()[..], level).unwrap()
        };
        let frame = FrameRef { bytes, ..part.frame };
        SlotPart { frame, body, packed_table: Some(packed_table), ..part }
    }

    pub fn other_heads(part: SlotPart) -> SlotPart {
        let head = String::from_utf8(part.head).unwrap().replace("\"313\"", "\"999\"");
        SlotPart { head: head.into_bytes(), ..part }
    }

    pub fn other_body(part: SlotPart) -> SlotPart {
        let (snapshot, state) = (128 << 10, 4 << 20);
        // The file is as large as it may be.
        let body = zstd::encode_all(&noise((snapshot + state) as usize)[..], 1).unwrap();
        let bytes = u32::try_from(body.len()).unwrap();
        SlotPart { frame: FrameRef { back: 0, bytes, snapshot, state }, body, ..part }
    }

    pub fn skipped_body(part: SlotPart) -> SlotPart {
        let body = [skippable(10), part.body].concat();
        let bytes = u32::try_from(body.len()).unwrap();
        SlotPart { frame: FrameRef { bytes, ..part.frame }, body, ..part }
    }

    pub fn skipped_table(part: SlotPart) -> SlotPart {
        let packed = [skippable(10), packed_table(&part)].concat();
        SlotPart { packed_table: Some(packed), ..part }
    }
}

/// As many of these bytes, which do not get smaller.
pub fn noise(count: usize) -> Vec<u8> {
    static NOISE: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let mut random = 1_u64;
        let noise = std::iter::repeat_with(|| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 56) as u8
        });
        noise.take(5 << 20).collect()
    });
    NOISE[..count].to_vec()
}

pub fn key(seed: u8) -> SignerKey {
    SignerKey::from_seed(&origin().to_string(), [seed; 32]).unwrap()
}

fn origin() -> Origin {
    Origin::new(NAME, Slot::FIRST).unwrap()
}

/// A snapshot as large as a real one, and its state.
fn documents(pool: u32, index: u32, kind: Kind) -> SnapshotDocuments {
    let seed = kind.seed;
    let state = if kind.is_large {
        [noise((4 << 20) - 8), [pool, index].map(u32::to_le_bytes).concat()].concat()
    } else {
        format!("{{\"seed\":{seed},\"ticks\":\"{}\"}}", "0".repeat(6_000)).into_bytes()
    };
    let name = PoolState::hash_of(&state);
    let snapshot =
        format!("{{\"index\":{index},\"pool\":{pool},\"seed\":{seed},\"state\":\"{name}\"}}");
    SnapshotDocuments { snapshot: snapshot.into_bytes(), state }
}

fn fills() -> Vec<u8> {
    let contract = pool(0).contract().clone();
    Fills { contract, after_block: 7, to_block: 9, logs: Vec::new() }.to_canonical().unwrap()
}

fn head(number: u32, index: u32, documents: &SnapshotDocuments, fills: Option<&[u8]>) -> Vec<u8> {
    let commits = fills.map(|fills| {
        let name = Commits::FILLS.parse().unwrap();
        Commits::to(name, Fills::hash_of(fills))
    });
    let depths = [Some(313), Some(313)];
    let head = Head {
        pool: pool(number),
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

fn packed_table(part: &SlotPart) -> Vec<u8> {
    let table = Table { heads: vec![part.head.clone()], frames: vec![part.frame] };
    zstd::encode_all(&table.to_bytes().unwrap()[..], 3).unwrap()
}

fn file_of(part: &SlotPart) -> (PartRef, Vec<u8>) {
    let packed = part.packed_table.clone().unwrap_or_else(|| packed_table(part));
    let length = u32::try_from(packed.len()).unwrap().to_be_bytes();
    let bytes = [&length[..], &packed, &part.body].concat();
    let sha256 = PartRef::hash_of(&bytes);
    (PartRef { sha256, bytes: bytes.len() as u64, first: pool(part.pool), pools: 1 }, bytes)
}

/// What is a large file.
const LARGE: usize = 256 << 10;

/// How long the last byte of a large file is held back.
const PAUSE: Duration = Duration::from_millis(200);

/// Serves files below `/log`, and records which were requested.
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
                let answer = [head.into_bytes(), body].concat();
                // While a large file is copied, its end is missing for a while.
                let (most, rest) =
                    answer.split_at(if length > LARGE { answer.len() - 1 } else { 0 });
                std::thread::spawn({
                    let (most, rest) = (most.to_vec(), rest.to_vec());
                    move || {
                        let _ = stream.write_all(&most);
                        std::thread::sleep(if most.is_empty() { Duration::ZERO } else { PAUSE });
                        let _ = stream.write_all(&rest);
                    }
                });
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

    pub fn remove(&self, name: &str) {
        self.files.lock().unwrap().remove(name);
    }

    pub fn change_text(&self, name: &str, from: &str, to: &str) {
        let text = String::from_utf8(self.file(name)).unwrap();
        assert!(text.contains(from), "{text}");
        self.serve(name, text.replacen(from, to, 1).into_bytes());
    }

    /// The requested files.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// How many bytes of files are in a folder while something changes it.
pub fn used_bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let used = entries.map(|entry| match entry.metadata() {
        Ok(facts) if facts.is_dir() => used_bytes(&entry.path()),
        Ok(facts) => facts.len(),
        Err(_) => 0,
    });
    used.sum()
}

/// The size of the files in a folder, without those that every copy has.
pub fn bytes_in(folder: &Path) -> u64 {
    files_in(folder).values().map(|bytes| bytes.len() as u64).sum()
}

/// Whether a folder contains exactly what the log published.
pub fn is_whole_copy(folder: &Path, log: &Log) -> bool {
    let mut here = files_in(folder);
    // Partial tiles stay until the full tile at their place exists.
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
