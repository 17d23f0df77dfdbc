//! A small log of two pools.

mod files;
mod vectors;
mod window;

use super::*;
use crate::ids::{Address, BlockHash, PoolId};
use crate::pools::{
    Concentrated, ConstantProduct, FeeRate, PoolState, TickNet, sqrt_ratio_at_tick,
};
use crate::series::{MissingReason, Slot};
use crate::snapshot::{
    BlockRef, ChainKind, ChainTag, Observation, OracleReading, OracleRole, OracleSource, Session,
    Snapshot, Symbol, Token,
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
    let timestamp = slot.unix_s() - 12;
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
    let observation = Observation::new(
        pool.clone(),
        ChainTag { caip2: "eip155:31337".parse().unwrap(), kind: ChainKind::Preview },
        BlockRef { hash: BlockHash([5; 32]), number: u64::from(slot.number()), timestamp },
        [token(1), token(2)],
        state,
        vec![price(OracleRole::Token0Usd), price(OracleRole::Token1Usd)],
        Session::continuous(),
    );
    Snapshot::new(slot, observation.unwrap()).unwrap()
}

fn concentrated(liquidity: i128) -> PoolState {
    let ticks = vec![
        TickNet { tick: -600, liquidity_net: liquidity },
        TickNet { tick: 600, liquidity_net: -liquidity },
    ];
    let price = sqrt_ratio_at_tick(3).unwrap();
    let active = u128::try_from(liquidity).unwrap();
    PoolState::Concentrated(Concentrated::new(price, 3, active, 3_000, 60, ticks).unwrap())
}

fn pair() -> PoolState {
    let fee = FeeRate { numerator: 3, denominator: 1_000 };
    PoolState::ConstantProduct(ConstantProduct::new([9_000_000; 2], fee).unwrap())
}

/// One pool of the log: what was recorded in each slot.
struct Series {
    id: PoolId,
    depths: Vec<Option<Depths>>,
    snapshots: Vec<Option<Vec<u8>>>,
    heads: Vec<Vec<u8>>,
}

/// A log in which the first pool missed slot 1 and the second none.
struct Scene {
    pools: Vec<Series>,
    leaves: Vec<Vec<u8>>,
}

fn extend(series: &mut Series, slot: Slot, snapshot: Option<&Snapshot>) {
    let before = series.heads.last().map(|bytes| Head::from_canonical(bytes).unwrap());
    let canonical = snapshot.map(|snapshot| snapshot.to_canonical().unwrap());
    let entry = match (snapshot, &canonical) {
        (Some(snapshot), Some(bytes)) => {
            HeadEntry::Recorded { snapshot: Snapshot::hash_of(bytes), depth_usd: depths(snapshot) }
        }
        _ => HeadEntry::Missing(MissingReason::ChainLagging),
    };
    series.depths.push(snapshot.map(depths));
    let recorded = series.snapshots.iter().flatten().count() + usize::from(snapshot.is_some());
    let head = Head {
        pool: series.id.clone(),
        slot,
        height: before.as_ref().map_or(0, |before| before.height + 1),
        recorded_count: u32::try_from(recorded).unwrap(),
        prev: series.heads.last().map(|bytes| Head::hash_of(bytes)),
        entry,
        lowest_depth_7d_usd: [0, 1].map(|token| {
            let recorded = series.depths.iter().flatten();
            recorded.filter_map(|depths| depths[token]).min()
        }),
        method_version: "1.0.0".to_owned(),
        retracts: Vec::new(),
    };
    series.snapshots.push(canonical);
    series.heads.push(head.to_canonical().unwrap());
}

fn scene(slots: u32, liquidity: i128) -> Scene {
    let id = |last: u8| PoolId::new("anvil".parse().unwrap(), Address([last; 20]));
    let series = |last| Series {
        id: id(last),
        depths: Vec::new(),
        snapshots: Vec::new(),
        heads: Vec::new(),
    };
    let mut scene = Scene { pools: vec![series(0xaa), series(0xbb)], leaves: Vec::new() };
    for index in 0..slots {
        let slot = slot(index);
        let liquidity = liquidity + i128::from((index * 7) % 5) * 1_000_000_000;
        for (number, state) in [concentrated(liquidity), pair()].into_iter().enumerate() {
            let missing = number == 0 && index == 1;
            let series = &mut scene.pools[number];
            let snapshot = (!missing).then(|| snapshot(&series.id, state, slot));
            extend(series, slot, snapshot.as_ref());
        }
        let hashes = scene.head_hashes(index);
        let leaf = SlotLeaf { slot, pools: 2, root: root(&hashes) };
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

    /// The evidence file of a sale at slot `index` with the first checkpoint that
    /// covers it.
    fn evidence(&self, pool: usize, index: u32, size_usd: &str) -> Vec<u8> {
        let series = &self.pools[pool];
        let canonical = series.snapshots[index as usize].as_ref().unwrap();
        let snapshot = Snapshot::from_canonical(canonical).unwrap();
        let head_bytes = &series.heads[index as usize];
        let head = Head::from_canonical(head_bytes).unwrap();
        let size = size_usd.parse().unwrap();
        let request = EvidenceRequest::new(series.id.clone(), slot(index), Base::Token0, size);
        let result = EvidenceResult::compute(&request, &snapshot, &head).unwrap();
        let hashes = self.head_hashes(index);
        let pool_proof = PoolProof::new(pool as u64, &inclusion_proof(&hashes, pool).unwrap());
        let log_proof = LogProof {
            index: index.into(),
            hashes: inclusion_proof(&self.log(index + 1), index as usize).unwrap(),
            checkpoint: self.checkpoint(index + 1),
        };
        let leaf = &self.leaves[index as usize];
        write_evidence(&request, &result, canonical, head_bytes, leaf, &pool_proof, &log_proof)
            .unwrap()
    }
}

fn trusting() -> Policy {
    Policy::trusting(vec![signer().verifier()])
}

/// The file with one text in it replaced, which must be there.
fn changed(evidence: &[u8], from: &str, to: &str) -> Vec<u8> {
    let text = core::str::from_utf8(evidence).unwrap();
    let changed = text.replacen(from, to, 1);
    assert_ne!(changed, text, "the change must happen");
    changed.into_bytes()
}
