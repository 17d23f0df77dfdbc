//! Words of contracts, proven by nodes of real blocks: `proofs.json`.

use exitgap_core::ids::{Address, BlockHash, Caip2};
use exitgap_core::proof::{
    Anchors, FeedLayout, FeedSubject, HISTORY_CONTRACT, HopParts, Layout, ProofParts, ProofSubject,
    ProvenWords, RangeSubject, StateProof, TickRange,
};
use serde::Deserialize;

use crate::report::Report;
use crate::values::{Bytes, Hash, Slot, Text};

/// Every how many bytes of a file one is changed.
const CHANGED_EVERY: usize = 97;

/// Proofs, and the nodes that they are made of.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Proofs {
    nodes: Vec<Bytes>,
    /// What is proven.
    pub cases: Vec<Case>,
}

/// A contract's words after a block.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Case {
    chain: u64,
    /// The contract.
    pub address: Address,
    layout: String,
    words: Vec<Text<Slot>>,
    header: Bytes,
    child: Bytes,
    nodes: Vec<usize>,
    /// The hash of its code.
    pub code_hash: Option<Text<Hash>>,
    /// Of the contract that keeps blocks' hashes: which block's.
    block: Option<u64>,
    range: Option<[i32; 2]>,
    tick_spacing: Option<i32>,
    ticks: Option<Vec<i32>>,
    #[serde(default)]
    feeds: Vec<Feed>,
}

/// A proxy, the aggregator behind it, its layout, and its newest round.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Feed(Address, Address, String, u32);

/// Judges every case.
pub fn check(proofs: &Proofs, report: &mut Report) {
    let mut failed = 0;
    for (at, case) in proofs.cases.iter().enumerate() {
        if let Err(words) = case.judge(&proofs.nodes) {
            failed += 1;
            report.complain(format!("proof {at}, of {}: {words}", case.address));
        }
    }
    report.add("reality.proofs", proofs.cases.len());
    report.add("reality.proofs_failed", failed);
}

impl Proofs {
    /// The proof of a case.
    pub fn prove(&self, case: &Case) -> Result<StateProof, String> {
        let file = case.file(&case.own_nodes(&self.nodes)?)?;
        StateProof::from_bytes(&file).map_err(|error| error.to_string())
    }
}

impl Case {
    fn own_nodes(&self, nodes: &[Bytes]) -> Result<Vec<Vec<u8>>, String> {
        let own = self.nodes.iter().map(|place| nodes.get(*place).map(|node| node.0.clone()));
        own.collect::<Option<_>>()
            .ok_or_else(|| "a node is named that the file does not have".to_owned())
    }

    fn judge(&self, nodes: &[Bytes]) -> Result<(), String> {
        let nodes = self.own_nodes(nodes)?;
        if self.layout == "history" {
            return self.judge_history(&nodes);
        }
        let file = self.file(&nodes)?;
        let proof = StateProof::from_bytes(&file).map_err(|error| error.to_string())?;
        self.compare_words(&proof)?;
        let expected = self.code_hash.map(|hash| hash.0.0);
        if expected.is_some() && proof.code_hash != expected {
            return Err("the hash of its code is another one".to_owned());
        }
        let read: Vec<u32> = proof.readings.iter().map(|one| low_bits(one.round)).collect();
        let named: Vec<u32> = proof.subject.feeds.iter().map(|feed| feed.round).collect();
        if read != named || named.len() != self.feeds.len() {
            return Err(format!("its feeds have the rounds {read:?}, and must have {named:?}"));
        }
        for at in 0..nodes.len() {
            if let Ok(other) = self.file(&with_change(&nodes, at)) {
                let is_needless = other == file;
                let words =
                    if is_needless { "is not needed" } else { "leads elsewhere when changed" };
                return Err(format!("node {at} {words}"));
            }
        }
        let mut changed = file.clone();
        for at in (0..changed.len()).step_by(CHANGED_EVERY) {
            let bit = 1 << (at % 8);
            changed[at] ^= bit;
            if StateProof::from_bytes(&changed).is_ok_and(|other| is_same(&other, &proof)) {
                return Err(format!("it is the same where byte {at} is changed"));
            }
            changed[at] ^= bit;
        }
        Ok(())
    }

    /// The hash of an earlier block, which the chain itself keeps.
    fn judge_history(&self, nodes: &[Vec<u8>]) -> Result<(), String> {
        let (Some(block), [expected]) = (self.block, self.words.as_slice()) else {
            return Err("it does not have the hash of one block".to_owned());
        };
        if self.address != HISTORY_CONTRACT {
            return Err("the chain keeps hashes of blocks elsewhere".to_owned());
        }
        let blocks = [block];
        let file = |nodes: &[Vec<u8>]| {
            let hop = HopParts { header: &self.header.0, blocks: &blocks, nodes };
            Anchors::file(Caip2(self.chain), 0, &[hop]).map_err(|error| error.to_string())
        };
        let anchors = Anchors::from_bytes(&file(nodes)?).map_err(|error| error.to_string())?;
        let found = anchors.hash(block);
        if found != Some(BlockHash(expected.0.0.0)) {
            return Err(format!("block {block} has the hash {found:?}"));
        }
        let taken = (0..nodes.len()).find(|at| file(&with_change(nodes, *at)).is_ok());
        taken.map_or(Ok(()), |at| Err(format!("it is proven where node {at} is changed")))
    }

    fn subject(&self) -> Result<ProofSubject, String> {
        let unknown = |code: &str| format!("the layout {code} is not known");
        let feed = |Feed(feed, aggregator, code, round): &Feed| {
            let layout = FeedLayout::ALL.into_iter().find(|layout| layout.code() == code);
            let layout = layout.ok_or_else(|| unknown(code))?;
            Ok::<_, String>(FeedSubject {
                feed: *feed,
                aggregator: *aggregator,
                layout,
                round: *round,
            })
        };
        let ranges = self.range.zip(self.tick_spacing).map(|([low, high], tick_spacing)| {
            let ticks = self.ticks.clone().unwrap_or_default();
            RangeSubject { range: TickRange { low, high }, tick_spacing, ticks }
        });
        Ok(ProofSubject {
            chain: Caip2(self.chain),
            address: self.address,
            id: None,
            layout: Layout::of_code(&self.layout).ok_or_else(|| unknown(&self.layout))?,
            ranges,
            feeds: self.feeds.iter().map(feed).collect::<Result<_, _>>()?,
        })
    }

    fn file(&self, nodes: &[Vec<u8>]) -> Result<Vec<u8>, String> {
        let parts = ProofParts { header: &self.header.0, child: &self.child.0, nodes };
        self.subject()?.file(&parts).map_err(|error| error.to_string())
    }

    /// Requires that the proven words are those of the case, which come in the order of the subject's slots: price and
    /// liquidity, the bitmap, ticks.
    fn compare_words(&self, proof: &StateProof) -> Result<(), String> {
        let expected: Vec<_> = self.words.iter().map(|word| word.0.0).collect();
        let is_equal = match &proof.words {
            ProvenWords::Reserves(words) => *words == expected,
            ProvenWords::Ranges { price, liquidity, ticks } => {
                let of_ticks = expected.len().saturating_sub(ticks.len());
                expected.len() >= 2
                    && [*price, *liquidity] == expected[..2]
                    && *ticks == expected[of_ticks..]
            }
        };
        is_equal.then_some(()).ok_or_else(|| format!("its words are {:?}", proof.words))
    }
}

/// The aggregator's own number of a round.
fn low_bits(round: u128) -> u32 {
    u32::try_from(round & u128::from(u32::MAX)).unwrap_or_default()
}

/// The nodes with one of them changed.
fn with_change(nodes: &[Vec<u8>], at: usize) -> Vec<Vec<u8>> {
    let mut changed = nodes.to_vec();
    let place = (31 * at + 7) % changed[at].len();
    changed[at][place] ^= 4;
    changed
}

/// Whether two files prove the same. Of the next header no more is known than that it follows, of the chain's name nothing, and
/// that no tick lies in a longer range of the same words is as true (decision 48).
fn is_same(other: &StateProof, proof: &StateProof) -> bool {
    let mut other = other.clone();
    let differs_in_statement = other.child != proof.child
        || other.subject.chain != proof.subject.chain
        || other.subject.ranges.as_ref().map(|ranges| ranges.range)
            != proof.subject.ranges.as_ref().map(|ranges| ranges.range);
    (other.child, other.subject.chain) = (proof.child, proof.subject.chain);
    if let (Some(of), Some(own)) = (&mut other.subject.ranges, &proof.subject.ranges) {
        of.range = own.range;
    }
    other == *proof && !differs_in_statement
}
