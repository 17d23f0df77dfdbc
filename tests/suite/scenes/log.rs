//! A published log of two pools to audit, in a folder of the published format. Any part can be falsified before it is
//! sealed, so that only one rule is violated.

use std::fs;
use std::path::Path;

use exitgap_core::U256;
use exitgap_core::evidence::{
    Answer, Base, Commits, Depths, EvidenceRequest, Head, HeadEntry, HeadProof, PoolProof,
    Retraction, SlotLeaf, depths, write_evidence,
};
use exitgap_core::ids::{Address, BlockHash, PoolId};
use exitgap_core::log_folder::{FrameRef, Manifest, PartRef, Table};
use exitgap_core::pools::{
    Concentrated, ConstantProduct, FeeRate, PoolState, Tick, sqrt_ratio_at_tick,
};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::{
    BlockRef, ChainKind, ChainTag, Observation, OracleReading, OracleRole, OracleSource, Snapshot,
    SnapshotDocuments, Symbol, Token,
};
use exitgap_core::tlog::{Checkpoint, Hash, LogProof, SignerKey, inclusion_proof, root};

/// The log begins later than the series, so that earlier slots exist.
pub const FIRST: u32 = 5_957_856 + 1_000;
pub const ORIGIN: &str = "exitgap.example/log/5958856";

/// Sorted by id as text, which differs from the order of the chain names.
pub const POOLS: [&str; 2] = [
    "anvil-b:0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "anvil:0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
];

/// The first pool's series has a missing slot and a slot that is retracted later.
pub const MISSING: u32 = 1;
pub const RETRACTED: u32 = 4;
pub const RETRACTED_AT: u32 = 6;
/// The second pool ends here.
pub const RETIRED: u32 = 9;

pub fn signer() -> SignerKey {
    SignerKey::from_seed(ORIGIN, [42; 32]).unwrap()
}

pub fn slot(index: u32) -> Slot {
    Slot::new(u64::from(FIRST + index)).unwrap()
}

pub fn pool(number: usize) -> PoolId {
    POOLS[number].parse().unwrap()
}

pub fn block_hash(index: u32) -> BlockHash {
    let mut hash = [5; 32];
    hash[..4].copy_from_slice(&index.to_be_bytes());
    BlockHash(hash)
}

/// A pool's entry for a slot, before sealing.
#[derive(Clone)]
pub struct Entry {
    pub head: Head,
    pub snapshot: Option<SnapshotDocuments>,
}

/// A log before sealing: for each slot its entries, in the order of sealing.
#[derive(Clone)]
pub struct Log {
    pub slots: Vec<Vec<Entry>>,
}

pub fn snapshot(number: usize, index: u32) -> Snapshot {
    let slot = slot(index);
    let token = |last: u8| Token {
        address: Address([last; 20]),
        decimals: 3,
        symbol: Symbol::clean("TOK"),
    };
    let price = |role| OracleReading {
        role,
        answer: U256::from(2),
        decimals: 0,
        source: OracleSource::Fixed,
    };
    let state = if number == 0 { concentrated(index) } else { pair() };
    let timestamp = slot.unix_s() - 12;
    let observation = Observation::new(
        pool(number),
        ChainTag { caip2: "eip155:31337".parse().unwrap(), kind: ChainKind::Preview },
        BlockRef { hash: block_hash(index), number: slot.number().into(), timestamp },
        [token(1), token(2)],
        state,
        vec![price(OracleRole::TokenUsd(0)), price(OracleRole::TokenUsd(1))],
        Vec::new(),
    );
    Snapshot::new(slot, observation.unwrap()).unwrap()
}

/// The depth varies from slot to slot; before the retraction, the retracted slot has the lowest depth.
fn concentrated(index: u32) -> PoolState {
    let liquidity = 2_000_000_000 + i128::from((index * 7 + 2) % 5) * 100_000_000;
    let ticks = vec![Tick::new(-600, liquidity), Tick::new(600, -liquidity)];
    let price = sqrt_ratio_at_tick(3).unwrap();
    let active = u128::try_from(liquidity).unwrap();
    PoolState::Concentrated(Concentrated::new(price, 3, active, 3_000, 60, ticks).unwrap())
}

fn pair() -> PoolState {
    let fee = FeeRate { numerator: 3, denominator: 1_000 };
    PoolState::ConstantProduct(ConstantProduct::new([9_000_000; 2], fee).unwrap())
}

pub fn recorded(snapshot: &Snapshot) -> HeadEntry {
    let documents = snapshot.to_canonical().unwrap();
    HeadEntry::Recorded { snapshot: documents.hash(), depth_usd: depths(snapshot) }
}

impl Log {
    /// A log without any violation.
    pub fn honest(slots: u32) -> Self {
        let mut log = Self { slots: Vec::new() };
        for index in 0..slots {
            let numbers = if index > RETIRED { 0..1 } else { 0..2 };
            let entries = numbers.map(|number| honest_entry(number, index)).collect();
            log.slots.push(entries);
        }
        log.settle();
        log
    }

    /// Computes everything that follows from the entries: heights, counts, lowest depths, links.
    pub fn settle(&mut self) {
        for number in 0..POOLS.len() {
            let mut history: Vec<Option<Depths>> = Vec::new();
            let (mut height, mut count) = (0, 0);
            for (index, entries) in self.slots.iter_mut().enumerate() {
                let Some(entry) = entries.iter_mut().find(|e| e.head.pool == pool(number)) else {
                    history.push(None);
                    continue;
                };
                let head = &mut entry.head;
                for retraction in &head.retracts {
                    history[(retraction.slot.number() - FIRST) as usize] = None;
                    count -= 1;
                }
                history.push(match head.entry {
                    HeadEntry::Recorded { depth_usd, .. } => Some(depth_usd),
                    _ => None,
                });
                count += u32::from(history[index].is_some());
                (head.height, head.recorded_count) = (height, count);
                height += 1;
                let window = &history[history.len().saturating_sub(2_016)..];
                head.lowest_depth_7d_usd = [0, 1]
                    .map(|token| window.iter().flatten().filter_map(|depth| depth[token]).min());
            }
        }
        self.link();
    }

    /// Sets every head's link to the previous head.
    pub fn link(&mut self) {
        let mut last = [None; 2];
        for entry in self.slots.iter_mut().flatten() {
            let number = POOLS.iter().position(|id| *id == entry.head.pool.to_string()).unwrap();
            entry.head.prev = if entry.head.height == 0 { None } else { last[number] };
            last[number] = Some(Head::hash_of(&entry.head.to_canonical().unwrap()));
        }
    }

    /// The first pool's head of a slot.
    pub fn head(&mut self, index: u32) -> &mut Head {
        &mut self.slots[index as usize][0].head
    }

    /// The bytes of the slot's leaf.
    pub fn leaf(&self, index: u32) -> Vec<u8> {
        let heads = self.heads(index);
        let hashes: Vec<_> = heads.iter().map(|head| Head::leaf_of(head)).collect();
        let pools = u32::try_from(heads.len()).unwrap();
        let commits = Commits::default();
        let leaf = SlotLeaf { slot: slot(index), pools, root: root(&hashes), commits };
        leaf.to_canonical().unwrap()
    }

    fn heads(&self, index: u32) -> Vec<Vec<u8>> {
        let entries = &self.slots[index as usize];
        entries.iter().map(|entry| entry.head.to_canonical().unwrap()).collect()
    }

    pub fn leaves(&self, size: u32) -> Vec<Hash> {
        (0..size).map(|index| SlotLeaf::leaf_of(&self.leaf(index))).collect()
    }

    /// The log's signed checkpoint after `size` slots.
    pub fn checkpoint(&self, size: u32) -> String {
        signed(&self.leaves(size))
    }

    /// The contents of a slot's files.
    pub fn files(&self, index: u32) -> SlotFiles {
        self.files_of(index, &self.checkpoint(index + 1))
    }

    fn files_of(&self, index: u32, checkpoint: &str) -> SlotFiles {
        let entries = &self.slots[index as usize];
        let documents = entries.iter().flat_map(|entry| &entry.snapshot).cloned();
        SlotFiles {
            leaf: self.leaf(index),
            first: entries[0].head.pool.clone(),
            heads: self.heads(index),
            bodies: documents.map(Body::alone).collect(),
            checkpoint: checkpoint.to_owned(),
        }
    }

    /// Seals and publishes the log.
    pub fn publish(&self, folder: &Path) {
        let size = u32::try_from(self.slots.len()).unwrap();
        let leaves = self.leaves(size);
        for index in 0..size {
            let checkpoint = signed(&leaves[..=index as usize]);
            self.files_of(index, &checkpoint).write(folder, index);
        }
        let entries: Vec<_> = (0..size).map(|index| self.leaf(index)).collect();
        publish_tiles(folder, &entries);
        fs::write(folder.join("verifier-key"), format!("{}\n", signer().verifier())).unwrap();
        fs::write(folder.join("checkpoint"), signed(&leaves)).unwrap();
    }

    /// The evidence of a sale in a pool at a slot, with the first checkpoint that covers it.
    pub fn evidence(&self, number: usize, index: u32) -> Vec<u8> {
        let Entry { head, snapshot } = &self.slots[index as usize][number];
        let documents = snapshot.as_ref().unwrap();
        let request =
            EvidenceRequest::new(pool(number), slot(index), Base::Token0, "10".parse().unwrap());
        let read = Snapshot::from_canonical(&documents.snapshot, &documents.state).unwrap();
        let answer = Answer::compute(&request, &read, head).unwrap();
        let heads = self.heads(index);
        let hashes: Vec<_> = heads.iter().map(|head| Head::leaf_of(head)).collect();
        let proof = HeadProof {
            leaf: self.leaf(index),
            pool_proof: PoolProof::new(number as u64, &inclusion_proof(&hashes, number).unwrap()),
            log_proof: LogProof {
                index: index.into(),
                hashes: inclusion_proof(&self.leaves(index + 1), index as usize).unwrap(),
                checkpoint: self.checkpoint(index + 1),
            },
        };
        write_evidence(&request, &answer, documents, &heads[number], &proof).unwrap()
    }
}

fn honest_entry(number: usize, index: u32) -> Entry {
    let missing = number == 0 && index == MISSING;
    let retired = number == 1 && index == RETIRED;
    let taken = (!missing && !retired).then(|| snapshot(number, index));
    let entry = match &taken {
        Some(snapshot) => recorded(snapshot),
        None if retired => HeadEntry::Retired,
        None => HeadEntry::Missing(MissingReason::ChainLagging),
    };
    let retracts = if number == 0 && index == RETRACTED_AT {
        let (orphaned, canonical) = (block_hash(RETRACTED), BlockHash([7; 32]));
        vec![Retraction::for_orphan(slot(RETRACTED), orphaned, canonical)]
    } else {
        Vec::new()
    };
    let head = Head {
        pool: pool(number),
        slot: slot(index),
        height: 0,
        recorded_count: 0,
        prev: None,
        entry,
        lowest_depth_7d_usd: [None; 2],
        method_version: "1.0.0".to_owned(),
        retracts,
        commits: Commits::default(),
    };
    Entry { head, snapshot: taken.map(|snapshot| snapshot.to_canonical().unwrap()) }
}

fn signed(leaves: &[Hash]) -> String {
    let origin = ORIGIN.parse().unwrap();
    let (size, root) = (leaves.len() as u64, root(leaves));
    let checkpoint = Checkpoint { origin, size, root, extensions: Vec::new() };
    signer().sign(&checkpoint.to_text()).unwrap()
}

pub fn manifest_file(index: u32) -> String {
    format!("slots/{}.jsonl", slot(index).number())
}

/// A snapshot's documents, and how they are encoded.
#[derive(Clone, PartialEq)]
pub struct Body {
    pub documents: SnapshotDocuments,
    /// How many slots earlier the base of this body is, and its bytes.
    pub base: Option<(u32, Vec<u8>)>,
    /// By how many bytes the declared length exceeds the real one.
    pub says_more: i32,
}

impl Body {
    pub fn alone(documents: SnapshotDocuments) -> Self {
        Self { documents, base: None, says_more: 0 }
    }

    /// Both documents, the snapshot first.
    pub fn joined(&self) -> Vec<u8> {
        [&self.documents.snapshot[..], &self.documents.state].concat()
    }

    fn frame(&self) -> (FrameRef, Vec<u8>) {
        let mut context = zstd::zstd_safe::CCtx::create();
        let (back, base) = self.base.as_ref().map_or((0, None), |(back, base)| (*back, Some(base)));
        if let Some(base) = base {
            context.ref_prefix(base).unwrap();
        }
        let joined = self.joined();
        let mut packed = Vec::with_capacity(zstd::zstd_safe::compress_bound(joined.len()));
        context.compress2(&mut packed, &joined).unwrap();
        let [bytes, snapshot, state] =
            [packed.len(), self.documents.snapshot.len(), self.documents.state.len()]
                .map(|length| u32::try_from(length).unwrap());
        let snapshot = snapshot.strict_add_signed(self.says_more);
        (FrameRef { back, bytes, snapshot, state }, packed)
    }
}

/// The contents of a slot's files with one part. After any change here, the files are still consistent with each other.
#[derive(Clone, PartialEq)]
pub struct SlotFiles {
    pub leaf: Vec<u8>,
    pub first: PoolId,
    pub heads: Vec<Vec<u8>>,
    pub bodies: Vec<Body>,
    pub checkpoint: String,
}

impl SlotFiles {
    /// The part: a table followed by the bodies.
    pub fn part(&self) -> Vec<u8> {
        let (frames, bodies): (Vec<_>, Vec<_>) = self.bodies.iter().map(Body::frame).unzip();
        let table = Table { heads: self.heads.clone(), frames };
        packed_part(&table.to_bytes().unwrap(), &bodies.concat())
    }

    pub fn write(&self, folder: &Path, index: u32) {
        self.write_with(folder, index, &self.part());
    }

    /// Writes the slot with these bytes as its part.
    pub fn write_with(&self, folder: &Path, index: u32, part: &[u8]) {
        let pools = u32::try_from(self.heads.len()).unwrap();
        let sha256 = PartRef::hash_of(part);
        let named = PartRef { sha256, bytes: part.len() as u64, first: self.first.clone(), pools };
        let (leaf, checkpoint) = (self.leaf.clone(), self.checkpoint.clone());
        for (file, bytes) in [
            (named.path(), part.to_vec()),
            (
                manifest_file(index),
                Manifest { leaf, parts: vec![named], checkpoint }.to_bytes().unwrap(),
            ),
        ] {
            let file = folder.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, bytes).unwrap();
        }
    }
}

/// A part with this table and these bodies.
pub fn packed_part(table: &[u8], bodies: &[u8]) -> Vec<u8> {
    let table = zstd::encode_all(table, 1).unwrap();
    [&u32::try_from(table.len()).unwrap().to_be_bytes()[..], &table, bodies].concat()
}

/// Writes tiles in the format of C2SP `tlog-tiles`, for a log of less than 256,000 slots.
fn publish_tiles(folder: &Path, entries: &[Vec<u8>]) {
    let put = |level: &str, index: usize, width: usize, bytes: Vec<u8>| {
        let full = format!("tile/{level}/{index:03}");
        let file = if width == 256 { full } else { format!("{full}.p/{width}") };
        let file = folder.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
    };
    for (index, tile) in entries.chunks(256).enumerate() {
        let length = |entry: &Vec<u8>| u16::try_from(entry.len()).unwrap().to_be_bytes();
        let bytes = tile.iter().flat_map(|entry| [&length(entry)[..], entry].concat());
        put("entries", index, tile.len(), bytes.collect());
    }
    let mut hashes: Vec<Hash> = entries.iter().map(|entry| SlotLeaf::leaf_of(entry)).collect();
    for level in 0.. {
        for (index, tile) in hashes.chunks(256).enumerate() {
            let bytes = tile.iter().flat_map(|hash| hash.0).collect();
            put(&level.to_string(), index, tile.len(), bytes);
        }
        hashes = hashes.chunks_exact(256).map(root).collect();
        if hashes.is_empty() {
            break;
        }
    }
}
