//! A pool of every kind, from the valid evidence vectors, for a store without a chain.

use std::fs;
use std::path::Path;

use exitgap_core::ids::{BlockHash, PoolId};
use exitgap_core::pools::{Direction, PoolState};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{
    BlockRef, Observation, OracleReading, OracleSource, Snapshot, SnapshotFile,
};
use exitgap_store::NewEntry;
use exitgap_tests::canonical::to_canonical_json;
use serde_json::Value;

/// The vectors `true_<name>`, with the protocol and the contract number that this scene gives them. Pairs of one
/// contract have the same number.
pub const KINDS: [(&str, &str, u8); 19] = [
    ("constant_product", "constant_product", 1),
    ("concentrated_liquidity", "concentrated_liquidity", 2),
    ("concentrated_v4", "concentrated_v4", 3),
    ("concentrated_linked", "concentrated_linked", 4),
    ("stableswap_ng", "stableswap", 5),
    ("stableswap_ng_1_2", "stableswap", 5),
    ("stableswap_off_balance", "stableswap", 6),
    (STEEP, "stableswap", 18),
    ("stableswap_plain", "stableswap", 7),
    ("stableswap_oldest", "stableswap", 8),
    ("solidly_stable", "solidly", 9),
    ("solidly_volatile", "solidly", 10),
    ("weighted_v2", "weighted", 11),
    ("weighted_v3", "weighted", 12),
    ("weighted_v3_1", "weighted", 13),
    ("stable_v2", "stable_v2", 14),
    ("stable_v3", "stable_v3", 15),
    ("cryptoswap", "cryptoswap", 16),
    ("cryptoswap_of_three", "cryptoswap", 17),
];

/// The unbalanced pool with such a high amplification that its fee falls faster than its price. No vector contains it.
const STEEP: &str = "stableswap_steep";

/// The pool of a vector, with its name in this scene.
pub fn pool(vector: &str) -> PoolId {
    let (.., contract) = KINDS.iter().find(|(name, ..)| *name == vector).unwrap();
    renamed(snapshot(vector).observation().pool(), *contract)
}

/// The index of a kind. A new kind needs a vector here.
pub fn place(state: &PoolState) -> usize {
    match state {
        PoolState::ConstantProduct(_) => 0,
        PoolState::Concentrated(_) => 1,
        PoolState::ConcentratedV4(_) => 2,
        PoolState::ConcentratedLinked(_) => 3,
        PoolState::StableSwap(_) => 4,
        PoolState::Solidly(_) => 5,
        PoolState::Weighted(_) => 6,
        PoolState::StableV2(_) => 7,
        PoolState::StableV3(_) => 8,
        PoolState::CryptoSwap(_) => 9,
    }
}

/// The entries of a slot, one per vector.
pub fn entries(slot: Slot) -> Vec<NewEntry> {
    KINDS
        .iter()
        .map(|(vector, protocol, contract)| {
            let read = snapshot(vector);
            let seen = read.observation();
            assert_eq!(seen.state().protocol(), *protocol, "{vector}");
            let pool = renamed(seen.pool(), *contract);
            let timestamp = slot.unix_s() - 4;
            let block = BlockRef { hash: BlockHash([7; 32]), number: timestamp / 12, timestamp };
            let fixed =
                |one: &OracleReading| OracleReading { source: OracleSource::Fixed, ..one.clone() };
            let observation = Observation::new(
                pool.clone(),
                seen.chain(),
                block,
                seen.contract_tokens(),
                state_of(vector, seen.state()),
                seen.oracles().iter().map(fixed).collect(),
                seen.facts().to_vec(),
            );
            let reading = Ok(Snapshot::new(slot, observation.unwrap()).unwrap());
            NewEntry { pool, default_base: Direction::ZeroForOne, reading }
        })
        .collect()
}

fn snapshot(vector: &str) -> Snapshot {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors/evidence");
    let vector = if vector == STEEP { "stableswap_off_balance" } else { vector };
    let file = fs::read(folder.join(format!("true_{vector}.json"))).unwrap();
    let file: Value = serde_json::from_slice(&file).unwrap();
    let evidence = file["evidence"].as_str().unwrap();
    SnapshotFile::from_json(evidence.as_bytes()).unwrap().open().unwrap()
}

/// The pool with another contract number.
fn renamed(pool: &PoolId, contract: u8) -> PoolId {
    let name = pool.to_string();
    let (chain, place) = name.split_once(":0x").unwrap();
    let (address, pair) = place
        .split_once('.')
        .map_or((place, String::new()), |(address, pair)| (address, format!(".{pair}")));
    let address = format!("{contract:02x}").repeat(address.len() / 2);
    format!("{chain}:0x{address}{pair}").parse().unwrap()
}

fn state_of(vector: &str, state: &PoolState) -> PoolState {
    if vector != STEEP {
        return state.clone();
    }
    let mut fields: Value = serde_json::from_slice(&state.to_canonical().unwrap()).unwrap();
    fields["amp"] = 4_000_000.into();
    PoolState::from_canonical(&to_canonical_json(&fields).unwrap()).unwrap()
}
