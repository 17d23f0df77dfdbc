//! A day's anchors of a chain like mainnet: its history contract's ring buffer is full, with twenty-five blocks per
//! slot.

use std::collections::BTreeMap;

use alloy_primitives::{B256, keccak256};
use exitgap_core::ids::Caip2;
use exitgap_core::proof::{Anchors, HISTORY_CONTRACT, HopParts, history_slot, history_window};
use exitgap_core::series::Slot;
use exitgap_tests::devchain::Rng;

use super::world::{ACCOUNTS, account, drawn, header, leaf, walked};
use super::{failed, float};
use crate::BenchError;
use crate::clock::nanoseconds;
use crate::report::Report;

const CHAIN: Caip2 = Caip2(1);
const NUMBER: u64 = 21_000_000;
/// Blocks per slot, at one block every twelve seconds.
const BLOCKS_PER_SLOT: u64 = 25;

/// Adds `anchor.hop_bytes`, a file that links to one older block; `anchor.day_bytes`, to those of a whole day; and
/// `anchor.day_verify_ms`.
pub fn measure(report: &mut Report) -> Result<(), BenchError> {
    let mut rng = Rng::new(31);
    let mut words = BTreeMap::new();
    for block in NUMBER - history_window(CHAIN)..NUMBER {
        words.insert(keccak256(history_slot(CHAIN, block)), leaf(drawn(&mut rng).0));
    }
    let mut accounts = BTreeMap::new();
    while accounts.len() < ACCOUNTS {
        accounts.insert(drawn(&mut rng), account(drawn(&mut rng)));
    }
    let contract = keccak256(HISTORY_CONTRACT.0);
    accounts.insert(contract, account(walked(&words, &[]).0));
    let (state_root, to_contract) = walked(&accounts, &[contract]);
    let header = header(B256::repeat_byte(3), state_root, NUMBER, Slot::FIRST.unix_s());
    let file = |blocks: &[u64]| -> Result<Vec<u8>, BenchError> {
        let keys: Vec<B256> =
            blocks.iter().map(|block| keccak256(history_slot(CHAIN, *block))).collect();
        let nodes = [to_contract.clone(), walked(&words, &keys).1].concat();
        let hop = HopParts { header: &header, blocks, nodes: &nodes };
        Anchors::file(CHAIN, Slot::FIRST.day(), &[hop]).map_err(failed)
    };
    report.add("anchor.hop_bytes", float(file(&[NUMBER - history_window(CHAIN)])?.len() as u64));
    let blocks: Vec<u64> =
        (1..=u64::from(Slot::PER_DAY)).rev().map(|slot| NUMBER - slot * BLOCKS_PER_SLOT).collect();
    let day = file(&blocks)?;
    report.add("anchor.day_bytes", float(day.len() as u64));
    report.add("anchor.day_verify_ms", nanoseconds(|| Anchors::from_bytes(&day).is_ok()) / 1e6);
    Ok(())
}
