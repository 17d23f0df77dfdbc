//! The files of recorded fills, for stand-in contracts that answer with a recorded state: the reader must read that
//! state, and its fills must equal the recorded ones of the original contract.

use std::path::Path;

use alloy::primitives::{Address, U256};
use alloy::sol;
use exitgap_chain::config::{Config, PoolConfig};
use exitgap_core::pools::vectors::{RecordedFills, RecordedPool, Verdict};
use exitgap_core::snapshot::Snapshot;
use exitgap_tests::devchain::{DevChain, FIRST_SLOT, Pool, PoolKind};
use miniz_oxide::inflate::decompress_to_vec_zlib;
use serde_json::Value;

use super::chain::{pass_slot, pool_config, read, reader, small_limits};

sol! {
    function symbol() returns (string);
    function decimals() returns (uint8);
}

/// A file with recorded fills and the state of each pool.
pub struct Recorded {
    pub fills: RecordedFills,
    states: Vec<Value>,
}

impl Recorded {
    pub fn of(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors/pools");
        let packed = std::fs::read(folder.join(format!("{name}.json.zz"))).unwrap();
        let text = decompress_to_vec_zlib(&packed).unwrap();
        let file: Value = serde_json::from_slice(&text).unwrap();
        let pools = file["pools"].as_array().unwrap().iter();
        let states = pools.map(|pool| pool["state"].clone()).collect();
        Self { fills: RecordedFills::from_bytes(&text).unwrap(), states }
    }

    /// The pools with the fields of their states.
    pub fn pools(&self) -> impl Iterator<Item = (&RecordedPool, Fields<'_>)> {
        self.fills.pools.iter().zip(self.states.iter().map(Fields))
    }

    /// Reads these pools in one slot. Requires for each, in the order of the file, that the state read equals the
    /// recorded one and has the recorded fills; a state that core rejects must be rejected. Returns the number of
    /// compared cases.
    pub async fn hold(&self, chain: &DevChain, config: &Config) -> usize {
        pass_slot(chain, FIRST_SLOT).await;
        let reading = read(&mut reader(config, small_limits()), FIRST_SLOT).await;
        assert_eq!(reading.pools.len(), self.fills.pools.len());
        let mut cases = 0;
        for (recorded, (name, result)) in self.fills.pools.iter().zip(reading.pools) {
            let snapshot = match (&recorded.state, result) {
                (Ok(_), Ok(snapshot)) => snapshot,
                (Err(_), Err(missing)) => {
                    assert!(missing.detail.contains("pool anvil:"), "{missing}");
                    continue;
                }
                (recorded, found) => panic!("{name}: {:?}, {:?}", recorded.is_ok(), found.err()),
            };
            cases += self.hold_one(recorded, &snapshot);
        }
        cases
    }

    fn hold_one(&self, recorded: &RecordedPool, snapshot: &Snapshot) -> usize {
        let state = snapshot.observation().state();
        assert_eq!(Some(state), recorded.state.as_ref().ok(), "{}", recorded.id);
        let found = RecordedPool { state: Ok(state.clone()), ..recorded.clone() };
        for case in &found.cases {
            let verdict = found.compare(self.fills.kind, case);
            assert!(!matches!(verdict, Verdict::Different(_)), "{}: {verdict:?}", recorded.id);
        }
        found.cases.len()
    }
}

/// The fields of a recorded state.
pub struct Fields<'a>(&'a Value);

impl<'a> Fields<'a> {
    pub fn has(&self, name: &str) -> bool {
        self.0.get(name).is_some()
    }

    pub fn text(&self, name: &str) -> &'a str {
        self.0[name].as_str().unwrap()
    }

    /// A number, in the file either a number or a string.
    pub fn number(&self, name: &str) -> U256 {
        number(&self.0[name])
    }

    pub fn numbers(&self, name: &str) -> Vec<U256> {
        self.0[name].as_array().unwrap().iter().map(number).collect()
    }
}

fn number(value: &Value) -> U256 {
    match value.as_u64() {
        Some(number) => U256::from(number),
        None => value.as_str().unwrap().parse().unwrap(),
    }
}

/// The configuration of the first pair of a contract with this many tokens, each a dollar token.
pub fn first_pair(address: Address, tokens: usize) -> PoolConfig {
    let (token0, token1) = (Address::ZERO, Address::ZERO);
    let as_pool = Pool { address, token0, token1, fee: 0, kind: PoolKind::V3 };
    let mut config = pool_config(&as_pool, ["USDC", "USDC"]);
    config.pair = (tokens > 2).then_some([0, 1]);
    config
}

/// The contract address for the file's pool with this index.
pub fn place(first: u8, pool: usize) -> Address {
    let mut bytes = [first; 20];
    bytes[18..].copy_from_slice(&u16::try_from(pool).unwrap().to_be_bytes());
    bytes.into()
}

/// A token with this many decimals for an index in a pool; its address is higher than that of the previous index.
pub async fn token(chain: &DevChain, index: usize, decimals: u8) -> Address {
    let mut bytes = [u8::try_from(index + 1).unwrap(); 20];
    bytes[19] = decimals;
    let token = chain.stand_in(bytes.into()).await.unwrap();
    chain.answer(token, &symbolCall {}, &format!("T{index}D{decimals}")).await.unwrap();
    chain.answer(token, &decimalsCall {}, &decimals).await.unwrap();
    token.address
}
