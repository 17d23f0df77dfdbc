//! Anchors: files that lead from a trusted block to older ones, of a chain that is made up here.

use std::collections::{BTreeMap, BTreeSet};

use alloy_primitives::keccak256;
use exitgap_core::evidence::Verdict;
use exitgap_core::ids::{BlockHash, Caip2};
use exitgap_core::proof::{AnchorChain, Anchors, HISTORY_CONTRACT, HopParts, history_slot};
use serde_json::{Value, json};

use super::Result;
use super::forged_change::{below, change_bytes, change_structure, change_value};
use super::forged_kind::{Changed, Kind, Said, hex};
use super::forged_trie::{Trie, encode, string};
use crate::canonical::to_canonical_json;
use crate::devchain::Rng;

const CHAIN: Caip2 = Caip2(1);

/// Anchors of several days.
pub struct AnchorFiles {
    seeds: Vec<(BlockHash, Vec<u8>)>,
    signed: BTreeSet<String>,
}

/// A block whose history contract has these hashes.
struct Held {
    header: Vec<u8>,
    nodes: Vec<Vec<u8>>,
}

impl Held {
    fn new(number: u64, hashes: &BTreeMap<u64, BlockHash>) -> Self {
        let mut words: BTreeMap<[u8; 32], Vec<u8>> =
            (1..30).map(|n| (keccak256([1, n]).0, string(&[n; 32]))).collect();
        for (block, hash) in hashes {
            words.insert(keccak256(history_slot(CHAIN, *block)).0, string(&hash.0));
        }
        let storage = Trie::new(&words);
        let account = encode(&[string(&[1]), string(&[]), string(&storage.root), string(&[9; 32])]);
        let mut accounts: BTreeMap<[u8; 32], Vec<u8>> =
            (0..30).map(|n| (keccak256([n]).0, vec![0xc1, n])).collect();
        accounts.insert(keccak256(HISTORY_CONTRACT.0).0, account);
        let accounts = Trie::new(&accounts);
        let nodes = [accounts.nodes, storage.nodes].concat();
        Self { header: header(accounts.root, number), nodes }
    }

    fn hash(&self) -> BlockHash {
        BlockHash(keccak256(&self.header).0)
    }
}

/// A header with the fields that a reader needs.
fn header(state_root: [u8; 32], number: u64) -> Vec<u8> {
    let whole = |number: u64| {
        let bytes = number.to_be_bytes();
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        string(&bytes[zeros..])
    };
    let mut fields = vec![string(&[7; 32]); 15];
    fields[3] = string(&state_root);
    fields[8] = whole(number);
    fields[11] = whole(1_800_000_000 + number);
    encode(&fields)
}

fn hash_at(number: u64) -> BlockHash {
    // A first byte other than 0 keeps the word as long as the hash.
    let mut hash = keccak256(number.to_be_bytes()).0;
    hash[0] |= 1;
    BlockHash(hash)
}

impl AnchorFiles {
    /// Files of one and of two hops, from several blocks.
    pub fn new() -> Result<Self> {
        let mut kind = Self { seeds: Vec::new(), signed: BTreeSet::new() };
        for day in 0..6_u32 {
            let top = 40_000 + u64::from(day) * 500;
            let low: BTreeMap<u64, BlockHash> =
                (1..4).map(|n| top - 9_000 - n * 77).map(|block| (block, hash_at(block))).collect();
            let lower = Held::new(top - 8_000, &low);
            let mut high: BTreeMap<u64, BlockHash> =
                (1..4).map(|n| top - n * 99).map(|block| (block, hash_at(block))).collect();
            high.insert(top - 8_000, lower.hash());
            let upper = Held::new(top, &high);
            let [above, below]: [Vec<u64>; 2] =
                [&high, &low].map(|hashes| hashes.keys().copied().collect());
            let hops = [
                HopParts { header: &upper.header, blocks: &above, nodes: &upper.nodes },
                HopParts { header: &lower.header, blocks: &below, nodes: &lower.nodes },
            ];
            let hops = &hops[..if day % 2 == 0 { 2 } else { 1 }];
            kind.seeds.push((upper.hash(), Anchors::file(CHAIN, 20_800 + day, hops)?));
        }
        for seed in 0..kind.seeds.len() {
            let content = kind.content(&kind.whole(seed)).ok_or("anchors are not valid")?;
            kind.signed.extend(content.lines().map(str::to_owned));
        }
        Ok(kind)
    }

    /// The blocks that follow from the trusted one.
    fn content(&self, changed: &Changed) -> Option<String> {
        let anchors = Anchors::from_bytes(&changed.file).ok()?;
        let numbers: Vec<u64> = anchors.blocks().map(|(number, _)| number).collect();
        let trusted = self.seeds[changed.seed].0;
        let chain = AnchorChain::follow(CHAIN, trusted, vec![anchors]).ok()?;
        let line = |number: &u64| Some(format!("{trusted} {number} {}", chain.hash(*number)?));
        numbers.iter().map(line).collect::<Option<Vec<_>>>().map(|lines| lines.join("\n"))
    }
}

impl Kind for AnchorFiles {
    fn name(&self) -> &'static str {
        "anchors"
    }

    fn seeds(&self) -> usize {
        self.seeds.len()
    }

    fn whole(&self, seed: usize) -> Changed {
        Changed::new(seed, self.seeds[seed].1.clone(), "anchors as they are")
    }

    fn change(&self, seed: usize, rng: &mut Rng) -> Changed {
        let file = &self.seeds[seed].1;
        let other = &self.seeds[below(rng, self.seeds.len())].1;
        let [end, theirs] = [file, other]
            .map(|file| file.iter().position(|byte| *byte == b'\n').unwrap_or_default());
        let line = &file[..end];
        let (bytes, what) = match rng.below(6) {
            0 => match change_structure(rng, line) {
                Some((line, what)) => ([&line, &file[end..]].concat(), what),
                None => change_bytes(rng, file, other),
            },
            1..=3 => {
                let mut value: Value = serde_json::from_slice(line).unwrap_or_default();
                let other = serde_json::from_slice(&other[..theirs]).ok();
                let what = change_value(rng, &mut value, other.as_ref());
                let line = to_canonical_json(&value).unwrap_or_default();
                ([&line, &file[end..]].concat(), what)
            }
            4 => ([line, &other[theirs..]].concat(), "the nodes of another day".to_owned()),
            _ => change_bytes(rng, file, other),
        };
        Changed::new(seed, bytes, what)
    }

    fn readers(&self) -> &'static [&'static str] {
        &["core"]
    }

    fn read(&self, _reader: usize, changed: &Changed) -> Said {
        match self.content(changed) {
            Some(content) => Said::valid(content),
            None => Said::not_valid(Verdict::Invalid),
        }
    }

    fn ask_second(&self, changed: &Changed) -> Option<Value> {
        let trusted = self.seeds[changed.seed].0.to_string();
        let file = hex(&changed.file);
        Some(
            json!({"kind": "anchors", "file": file, "chain": CHAIN.to_string(), "trusted": trusted}),
        )
    }

    fn is_true(&self, stated: &str) -> bool {
        stated.lines().all(|line| self.signed.contains(line))
    }
}
