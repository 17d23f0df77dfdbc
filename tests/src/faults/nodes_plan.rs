//! Which changes are tried with which methods: every change that a method's answers can carry.

use std::collections::BTreeMap;

use alloy::primitives::Address;

use super::nodes_change::Change;
use super::nodes_front::Fault;
use crate::devchain::Rng;

/// The methods that a recorder asks nodes for. A run fails if it asks for another one, or not for one of these.
pub const METHODS: [&str; 5] =
    ["eth_call", "eth_chainId", "eth_getBlockByNumber", "eth_getLogs", "eth_getProof"];

/// A method that is asked for only in slots in which blooms name many pools. Its answers are not changed here: the recorder
/// takes only those that have the root of the block's header, which the tests of the reader try.
pub const UNCHANGED: &str = "eth_getBlockReceipts";

/// A change of the answers to a method.
#[derive(Debug, Clone, Copy)]
pub struct Pair {
    /// The method.
    pub method: &'static str,
    /// The change.
    pub change: Change,
}

impl Pair {
    /// The fault of a slot, in the data of one of these contracts.
    pub fn fault(&self, pools: &[Address], others: &[Address], rng: &mut Rng) -> Fault {
        let list = if others.is_empty() || !rng.once_in(4) { pools } else { others };
        let at = usize::try_from(rng.below(list.len().max(1) as u64)).unwrap_or(0);
        let contract = list.get(at).copied().unwrap_or_default();
        let (method, change) = (self.method.to_owned(), self.change);
        Fault { method, change, contract, seed: rng.next_u64() }
    }
}

/// Every pair, in random order.
pub fn all_pairs(rng: &mut Rng) -> Vec<Pair> {
    let changes = Change::all();
    let pairs = METHODS.into_iter().flat_map(|method| {
        let of_method = changes.iter().filter(move |change| is_carried(method, change));
        of_method.map(move |change| Pair { method, change: *change })
    });
    shuffled(pairs.collect(), rng)
}

/// Of every method and kind, at most this many pairs, in the same order.
pub fn some_of_each(pairs: &[Pair], most: usize) -> Vec<Pair> {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let is_chosen = |pair: &&Pair| {
        let count = counts.entry((pair.method, pair.change.kind)).or_default();
        *count += 1;
        *count <= most
    };
    pairs.iter().filter(is_chosen).copied().collect()
}

fn shuffled<T>(mut list: Vec<T>, rng: &mut Rng) -> Vec<T> {
    for end in (1..list.len()).rev() {
        let other = usize::try_from(rng.below(end as u64 + 1)).unwrap_or(end);
        list.swap(end, other);
    }
    list
}

/// Whether answers to a method can have a change: a chain id has no fields, a header is not of a contract, a call's
/// results have one type and no lists.
fn is_carried(method: &str, change: &Change) -> bool {
    let not: &[&str] = match method {
        "eth_chainId" => &[
            "answer_of_other_block",
            "records_missing",
            "field_missing",
            "item_twice",
            "records_reversed",
            "items_reversed",
            "block_removed",
            "block_other",
        ],
        "eth_getBlockByNumber" => &["records_missing", "records_reversed", "block_removed"],
        "eth_call" => &[
            "field_number",
            "field_list",
            "field_text",
            "field_odd",
            "item_twice",
            "items_reversed",
            "block_removed",
            "block_other",
        ],
        "eth_getLogs" => &["block_other"],
        _ => &["records_missing", "records_reversed", "block_removed", "block_other"],
    };
    !not.contains(&change.name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::nodes_change::KINDS;
    use super::*;

    #[test]
    fn every_method_carries_every_kind() {
        let pairs = all_pairs(&mut Rng::new(3));
        let carried: BTreeSet<_> =
            pairs.iter().map(|pair| (pair.method, pair.change.kind)).collect();
        assert_eq!(carried.len(), METHODS.len() * KINDS.len());
        let names: BTreeSet<_> = pairs.iter().map(|pair| (pair.method, pair.change.name)).collect();
        assert_eq!(names.len(), pairs.len());
        assert_eq!(some_of_each(&pairs, 1).len(), carried.len());
    }
}
