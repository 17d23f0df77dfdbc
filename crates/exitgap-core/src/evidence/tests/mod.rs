//! A small log with two pools.

mod figure;
mod figure_accuracy;
mod figure_equity;
mod figure_hours;
mod figure_references;
mod figure_route;
mod figure_verdicts;
mod files;
mod head;
mod vectors;
mod window;

use core::ops::Range;

use super::*;
use crate::ids::{Address, BlockHash, DocumentHash, PoolId, Word};
use crate::pools::{
    Concentrated, ConcentratedLinked, ConcentratedV4, ConstantProduct, FeeRate, PoolState, Tick,
    sqrt_ratio_at_tick,
};
use crate::series::{MissingReason, Slot};
use crate::snapshot::{
    BlockRef, ChainKind, ChainTag, Fact, Observation, OracleReading, OracleRole, OracleSource,
    Snapshot, SnapshotDocuments, Symbol, Token,
};
use crate::tlog::{
    Checkpoint, Hash, LogProof, Note, SignerKey, VerifierKey, consistency_proof, inclusion_proof,
    root,
};
use crate::wide::U256;

const ORIGIN: &str = "exitgap.example/log/5957856";

fn signer() -> SignerKey {
    SignerKey::from_seed(ORIGIN, [42; 32]).unwrap()
}

fn slot(index: u32) -> Slot {
    Slot::new(u64::from(Slot::FIRST.number() + index)).unwrap()
}

fn snapshot(pool: &PoolId, state: PoolState, slot: Slot) -> Snapshot {
    snapshot_priced(pool, state, slot, [2, 2])
}

/// A snapshot with token prices of 15 decimals. Prices of two dollars have fewer, and all prices after the second slot
/// are two dollars.
fn snapshot_priced(pool: &PoolId, state: PoolState, slot: Slot, prices: [u64; 2]) -> Snapshot {
    let timestamp = slot.unix_s() - 12;
    let token = |last: u8| Token {
        address: Address([last; 20]),
        decimals: 3,
        symbol: Symbol::clean("TOK"),
    };
    let price = |role, price: u64| OracleReading {
        role,
        answer: U256::from(price),
        decimals: if price == 2 { 0 } else { 15 },
        source: OracleSource::Fixed,
    };
    let coins = u8::try_from(state.coins()).unwrap();
    let priced = |index: u8| {
        price(OracleRole::TokenUsd(index), prices.get(usize::from(index)).copied().unwrap_or(2))
    };
    let observation = Observation::new(
        pool.clone(),
        ChainTag { caip2: "eip155:31337".parse().unwrap(), kind: ChainKind::Preview },
        BlockRef { hash: BlockHash([5; 32]), number: u64::from(slot.number()), timestamp },
        (1..=coins).map(token).collect::<Vec<_>>(),
        state,
        (0..coins).map(priced).collect(),
        pool.contract().id().map(key_of).into_iter().collect(),
    );
    Snapshot::new(slot, observation.unwrap()).unwrap()
}

/// The key fact of a pool that a manager contract holds. The tests do not hash it.
fn key_of(id: Word) -> Fact {
    let (name, contract) = (Fact::POOL_KEY.parse().unwrap(), Address([0xcc; 20]));
    Fact { name, contract, call: "0x6276cbbe".to_owned(), words: vec![id; 5] }
}

/// A pool of Uniswap v4's manager, with a higher fee when token 0 is sold.
fn managed(liquidity: i128) -> PoolState {
    let ticks = vec![Tick::new(-65_534, liquidity), Tick::new(32_767, -liquidity)];
    let (price, active) = (sqrt_ratio_at_tick(3).unwrap(), u128::try_from(liquidity).unwrap());
    let fees = (3_000, [1_000, 250]);
    ConcentratedV4::new(price, 3, active, fees.0, fees.1, 32_767, ticks).unwrap().into()
}

/// A pool whose swap loop does not stop at the ends of bitmap words, although its range contains some.
fn linked(_: i128) -> PoolState {
    let ticks = vec![Tick::new(-60_001, 5_000_000_000), Tick::new(60_000, -5_000_000_000)];
    let price = sqrt_ratio_at_tick(3).unwrap();
    ConcentratedLinked::new(price, 3, 5_000_000_000, 500, 60, ticks).unwrap().into()
}

fn concentrated(liquidity: i128) -> PoolState {
    let ticks = vec![Tick::new(-600, liquidity), Tick::new(600, -liquidity)];
    let price = sqrt_ratio_at_tick(3).unwrap();
    let active = u128::try_from(liquidity).unwrap();
    PoolState::Concentrated(Concentrated::new(price, 3, active, 3_000, 60, ticks).unwrap())
}

/// A pool that exchanges its tokens one for one.
fn pair() -> PoolState {
    let fee = FeeRate { numerator: 3, denominator: 1_000 };
    PoolState::ConstantProduct(ConstantProduct::new([9_000_000; 2], fee).unwrap())
}

/// One pool of the log, with the snapshots and heads of each slot.
#[derive(Clone)]
struct Series {
    id: PoolId,
    depths: Vec<Option<Depths>>,
    snapshots: Vec<Option<SnapshotDocuments>>,
    heads: Vec<Vec<u8>>,
}

/// A log in which the first pool missed slot 1, and the second pool missed none.
#[derive(Clone)]
struct Scene {
    pools: Vec<Series>,
    leaves: Vec<Vec<u8>>,
}

fn extend(series: &mut Series, slot: Slot, snapshot: Result<&Snapshot, MissingReason>) {
    extend_committing(series, slot, snapshot, Commits::default());
}

fn extend_committing(
    series: &mut Series,
    slot: Slot,
    snapshot: Result<&Snapshot, MissingReason>,
    commits: Commits,
) {
    let before = series.heads.last().map(|bytes| Head::from_canonical(bytes).unwrap());
    let documents = snapshot.ok().map(|snapshot| snapshot.to_canonical().unwrap());
    let entry = match (snapshot, &documents) {
        (Ok(snapshot), Some(documents)) => {
            HeadEntry::Recorded { snapshot: documents.hash(), depth_usd: depths(snapshot) }
        }
        (Err(reason), _) => HeadEntry::Missing(reason),
        (Ok(_), None) => unreachable!("it was written"),
    };
    series.depths.push(snapshot.ok().map(depths));
    let recorded = series.snapshots.iter().flatten().count() + usize::from(snapshot.is_ok());
    let head = Head {
        pool: series.id.clone(),
        slot,
        height: before.as_ref().map_or(0, |before| before.height + 1),
        recorded_count: u32::try_from(recorded).unwrap(),
        prev: series.heads.last().map(|bytes| Head::hash_of(bytes)),
        entry,
        lowest_depth_7d_usd: [0, 1].map(|token| {
            // The lowest depth of the last seven days.
            let recorded = series.depths.iter().rev().take(2_016).flatten();
            recorded.filter_map(|depths| depths[token]).min()
        }),
        method_version: "1.0.0".to_owned(),
        retracts: Vec::new(),
        commits,
    };
    series.snapshots.push(documents);
    series.heads.push(head.to_canonical().unwrap());
}

fn scene(slots: u32, liquidity: i128) -> Scene {
    scene_missing(slots, liquidity, MissingReason::ChainLagging)
}

fn scene_missing(slots: u32, liquidity: i128, reason: MissingReason) -> Scene {
    let id = |last: u8| PoolId::new("anvil".parse().unwrap(), Address([last; 20]));
    let kinds: [(PoolId, Kind); 2] = [(id(0xaa), concentrated), (id(0xbb), |_| pair())];
    scene_of(slots, liquidity, reason, &kinds)
}

/// A log with a pool of a manager contract and a pool with linked ticks.
fn scene_of_kin(slots: u32) -> Scene {
    let chain = || "anvil".parse().unwrap();
    let managed_id = PoolId::from_manager_id(chain(), Word([0xaa; 32]));
    let kinds: [(PoolId, Kind); 2] =
        [(managed_id, managed), (PoolId::new(chain(), Address([0xbb; 20])), linked)];
    scene_of(slots, 5_000_000_000, MissingReason::ChainLagging, &kinds)
}

/// Makes a pool's state with this liquidity.
type Kind = fn(i128) -> PoolState;

fn scene_of(
    slots: u32,
    liquidity: i128,
    reason: MissingReason,
    kinds: &[(PoolId, Kind); 2],
) -> Scene {
    let series = |(id, _): &(PoolId, Kind)| Series {
        id: id.clone(),
        depths: Vec::new(),
        snapshots: Vec::new(),
        heads: Vec::new(),
    };
    let mut scene = Scene { pools: kinds.iter().map(series).collect(), leaves: Vec::new() };
    for index in 0..slots {
        let slot = slot(index);
        let liquidity = liquidity + i128::from((index * 7) % 5) * 1_000_000_000;
        for (number, (_, kind)) in kinds.iter().enumerate() {
            let state = kind(liquidity);
            let missing = number == 0 && index == 1;
            let series = &mut scene.pools[number];
            let snapshot = (!missing).then(|| snapshot(&series.id, state, slot));
            extend(series, slot, snapshot.as_ref().ok_or(reason));
        }
        let hashes = scene.head_hashes(index);
        let commits = Commits::default();
        let leaf = SlotLeaf { slot, pools: 2, root: root(&hashes), commits };
        scene.leaves.push(leaf.to_canonical().unwrap());
    }
    scene
}

impl Scene {
    fn head_hashes(&self, index: u32) -> Vec<Hash> {
        self.pools.iter().map(|series| Head::leaf_of(&series.heads[index as usize])).collect()
    }

    fn log(&self, size: u32) -> Vec<Hash> {
        self.leaves[..size as usize].iter().map(|leaf| SlotLeaf::leaf_of(leaf)).collect()
    }

    fn checkpoint(&self, size: u32) -> String {
        let checkpoint = Checkpoint {
            origin: ORIGIN.parse().unwrap(),
            size: size.into(),
            root: root(&self.log(size)),
            extensions: Vec::new(),
        };
        signer().sign(&checkpoint.to_text()).unwrap()
    }

    /// The proof of a pool's head at slot `index`, with the first checkpoint that covers it.
    fn proof(&self, pool: usize, index: u32) -> HeadProof {
        let hashes = self.head_hashes(index);
        HeadProof {
            leaf: self.leaves[index as usize].clone(),
            pool_proof: PoolProof::new(pool as u64, &inclusion_proof(&hashes, pool).unwrap()),
            log_proof: LogProof {
                index: index.into(),
                hashes: inclusion_proof(&self.log(index + 1), index as usize).unwrap(),
                checkpoint: self.checkpoint(index + 1),
            },
        }
    }

    /// The evidence file of a sale at slot `index`.
    fn evidence(&self, pool: usize, index: u32, size_usd: &str) -> Vec<u8> {
        self.stating(&self.answer(pool, index, size_usd).unwrap(), pool, index, size_usd)
    }

    fn answer(&self, pool: usize, index: u32, size_usd: &str) -> Result<Answer, ResultError> {
        let documents = self.pools[pool].snapshots[index as usize].as_ref().unwrap();
        let snapshot =
            Snapshot::of_pool(&self.pools[pool].id, &documents.snapshot, &documents.state).unwrap();
        let head = Head::from_canonical(&self.pools[pool].heads[index as usize]).unwrap();
        Answer::compute(&self.request(pool, index, size_usd), &snapshot, &head)
    }

    fn request(&self, pool: usize, index: u32, size_usd: &str) -> EvidenceRequest {
        let size = size_usd.parse().unwrap();
        EvidenceRequest::new(self.pools[pool].id.clone(), slot(index), Base::Token0, size)
    }

    /// The evidence file of a sale with this answer, true or false.
    fn stating(&self, answer: &Answer, pool: usize, index: u32, size_usd: &str) -> Vec<u8> {
        let series = &self.pools[pool];
        let documents = series.snapshots[index as usize].as_ref().unwrap();
        let request = self.request(pool, index, size_usd);
        let (head, proof) = (&series.heads[index as usize], self.proof(pool, index));
        write_evidence(&request, answer, documents, head, &proof).unwrap()
    }

    /// The window of a pool's first `count` heads.
    fn window(&self, pool: usize, count: usize) -> Vec<u8> {
        self.window_of(pool, 0..count)
    }

    /// The window of some of a pool's heads.
    fn window_of(&self, pool: usize, indices: Range<usize>) -> Vec<u8> {
        let proof = self.proof(pool, u32::try_from(indices.end).unwrap() - 1);
        let heads = &self.pools[pool].heads[indices];
        let window = HeadWindow::new(heads, |slot| self.documents(pool, slot), proof);
        window.unwrap().to_canonical().unwrap()
    }

    /// The documents of a slot's snapshot.
    fn documents(&self, pool: usize, slot: Slot) -> Option<SnapshotDocuments> {
        let index = slot.number().checked_sub(Slot::FIRST.number())?;
        self.pools[pool].snapshots.get(index as usize).cloned().flatten()
    }

    /// The same log, but with changed heads of one pool, linked and sealed again.
    fn relinked(&self, pool: usize, edit: impl Fn(usize, &mut Head)) -> Self {
        let mut other = self.clone();
        let mut prev = None;
        for (index, bytes) in other.pools[pool].heads.iter_mut().enumerate() {
            let mut head = Head::from_canonical(bytes).unwrap();
            edit(index, &mut head);
            head.prev = prev;
            *bytes = head.to_canonical().unwrap();
            prev = Some(Head::hash_of(bytes));
        }
        for index in 0..other.leaves.len() {
            let hashes = other.head_hashes(u32::try_from(index).unwrap());
            let mut leaf = SlotLeaf::from_canonical(&other.leaves[index]).unwrap();
            leaf.root = root(&hashes);
            other.leaves[index] = leaf.to_canonical().unwrap();
        }
        other
    }

    /// The same log, but one slot's leaf is from a later version.
    fn with_later_leaf(mut self, index: usize) -> Self {
        let text = String::from_utf8(self.leaves[index].clone()).unwrap();
        self.leaves[index] = text.replace("\"v\":1}", "\"v\":2}").into_bytes();
        self
    }

    /// The log up to a slot, with `head` as that pool's head.
    fn ending_in(&self, pool: usize, head: &Head) -> Self {
        let mut other = self.clone();
        let index = (head.slot.number() - Slot::FIRST.number()) as usize;
        other.pools[pool].heads[index] = head.to_canonical().unwrap();
        let (slot, commits) = (head.slot, Commits::default());
        let hashes = other.head_hashes(u32::try_from(index).unwrap());
        let leaf = SlotLeaf { slot, pools: 2, root: root(&hashes), commits };
        other.leaves[index] = leaf.to_canonical().unwrap();
        other
    }
}

fn trusting() -> Policy {
    Policy::with_keys(vec![signer().verifier()])
}

/// The file with one text replaced. The text must occur in it.
fn changed(evidence: &[u8], from: &str, to: &str) -> Vec<u8> {
    let text = core::str::from_utf8(evidence).unwrap();
    let changed = text.replacen(from, to, 1);
    assert_ne!(changed, text, "the change must happen");
    changed.into_bytes()
}

/// The canonical JSON of a value.
fn canonical(value: &serde_json::Value) -> Vec<u8> {
    crate::json::parse_json(value.to_string().as_bytes()).unwrap().to_canonical().unwrap()
}
