//! Headers and their hashes, and walks down tries to what is there or not: `headers.json`, `walks.json`.

use exitgap_core::ids::BlockHash;
use exitgap_core::proof::{BlockHeader, StateProof, WalkError, value_under};
use serde::Deserialize;

use crate::report::Report;
use crate::values::{Bytes, Hash, Hex, Text};

/// A header.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Header {
    chain: u64,
    number: u64,
    hash: BlockHash,
    rlp: Bytes,
}

/// Walks, and the nodes that they meet.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Walks {
    nodes: Vec<Bytes>,
    cases: Vec<Walk>,
}

/// What a walk is to, the root, the hash of the key, what it leads to (`-`: nothing), and the places of the nodes that it meets.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Walk(String, Text<Hash>, Text<Hash>, String, Vec<usize>);

/// Judges every header: its bytes have its hash, and no changed byte leaves it.
pub fn check_headers(headers: &[Header], report: &mut Report) {
    let mut differing = 0;
    for header in headers {
        if let Err(words) = header.judge() {
            differing += 1;
            let Header { chain, number, .. } = header;
            report.complain(format!("header of block {number} of chain {chain}: {words}"));
        }
    }
    report.add("reality.headers", headers.len());
    report.add("reality.headers_differing", differing);
}

impl Header {
    fn judge(&self) -> Result<(), String> {
        let header = BlockHeader::from_rlp(&self.rlp.0).ok_or("its bytes are not a header")?;
        let found = StateProof::block_of(&self.rlp.0);
        if found != Some(self.hash) || header.hash != self.hash {
            return Err(format!("it has the hash {found:?}, and must have {}", self.hash));
        }
        if header.number != self.number {
            return Err(format!("it has the number {}", header.number));
        }
        let mut changed = self.rlp.0.clone();
        for at in 0..changed.len() {
            let bit = 1 << (at % 8);
            changed[at] ^= bit;
            if StateProof::block_of(&changed) == Some(self.hash) {
                return Err(format!("it has the same hash where byte {at} is changed"));
            }
            changed[at] ^= bit;
        }
        Ok(())
    }
}

/// Judges every walk: it leads to what is there, and with a changed node, without one and with one more nowhere.
pub fn check_walks(walks: &Walks, report: &mut Report) {
    let mut failed = 0;
    for (at, walk) in walks.cases.iter().enumerate() {
        if let Err(words) = walk.judge(&walks.nodes) {
            failed += 1;
            report.complain(format!("walk {at}, {}: {words}", walk.0));
        }
    }
    report.add("reality.walks", walks.cases.len());
    report.add("reality.walks_failed", failed);
}

impl Walk {
    fn judge(&self, nodes: &[Bytes]) -> Result<(), String> {
        let Self(_, Text(root), Text(key), expected, places) = self;
        let met = places.iter().map(|place| nodes.get(*place).map(|node| node.0.clone()));
        let mut met =
            met.collect::<Option<Vec<_>>>().ok_or("a node is named that the file does not have")?;
        let expected = match expected.as_str() {
            "-" => None,
            digits => Some(digits.parse::<Hex>()?.0),
        };
        let walk = |nodes: &[Vec<u8>]| value_under(root.0, key.0, &nodes.concat());
        let found = walk(&met).map_err(|error| error.to_string())?;
        if found != expected {
            return Err(format!("it leads to {found:?}, and must lead to {expected:?}"));
        }
        for at in 0..met.len() {
            let place = (31 * at + 7) % met[at].len();
            met[at][place] ^= 4;
            if let Ok(found) = walk(&met) {
                return Err(format!("where node {at} is changed, it leads to {found:?}"));
            }
            met[at][place] ^= 4;
        }
        if walk(&met[..met.len().saturating_sub(1)]) != Err(WalkError::Absent) {
            return Err("it does not need its last node".to_owned());
        }
        met.push(vec![0x80]);
        if walk(&met).is_ok() {
            return Err("it takes a node that it does not meet".to_owned());
        }
        Ok(())
    }
}
