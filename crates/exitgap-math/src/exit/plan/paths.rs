//! The paths that a search tries: simple paths of at most three pools from the token sold to a cash token.

use super::MAX_HOPS;
use super::network::Network;
use crate::pools::{FillError, SaleCurve};
use crate::stable_sort::sort;
use crate::wide::{U256, U512, product};

/// The most paths that a search starts with.
const MOST_PATHS: usize = 16;

/// A path, by its edges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Path {
    pub edges: Vec<usize>,
    /// What it alone pays for the whole amount, or, if a pool cannot take all that flows into it, for what it can take.
    pub alone: U512,
    /// Whether its pools take the whole amount.
    pub takes_all: bool,
}

/// The best paths by what each alone pays, the best first, and in the order of the pools among equals.
pub(super) fn find(network: &Network<'_>, amount_in: U256) -> Vec<Path> {
    let mut walk = Walk { network, edges: Vec::new(), found: Vec::new() };
    walk.extend(network.sold, amount_in, true);
    let mut found = walk.found;
    sort(&mut found, |a, b| b.alone.cmp(&a.alone));
    found.truncate(MOST_PATHS);
    found
}

struct Walk<'n, 'a> {
    network: &'n Network<'a>,
    edges: Vec<usize>,
    found: Vec<Path>,
}

impl Walk<'_, '_> {
    /// Continues the path from `token`, where `amount` arrives.
    fn extend(&mut self, token: usize, amount: U256, takes_all: bool) {
        for at in 0..self.network.edges.len() {
            let edge = self.network.edges[at];
            if edge.from != token || self.repeats(at) {
                continue;
            }
            let (out, took_all) = pays_most(self.network.curve_of(&edge), amount);
            let takes_all = takes_all && took_all;
            self.edges.push(at);
            if let Some(cash) = self.network.cash_at(edge.to) {
                let alone = product(out, cash.worth.low);
                self.found.push(Path { edges: self.edges.clone(), alone, takes_all });
            } else if self.edges.len() < MAX_HOPS {
                self.extend(edge.to, out, takes_all);
            }
            self.edges.pop();
        }
    }

    /// Whether the path was already at the edge's end, or in its contract.
    fn repeats(&self, at: usize) -> bool {
        let next = self.network.edges[at];
        let before = self.edges.iter().map(|edge| self.network.edges[*edge]);
        before.into_iter().any(|edge| edge.from == next.to || edge.contract == next.contract)
    }
}

/// What a pool pays for an amount, or for the most that it takes of it, and whether that is the whole amount.
fn pays_most(curve: &SaleCurve, amount: U256) -> (U256, bool) {
    match curve.fill(amount) {
        Ok(fill) => (fill.amount_out, true),
        Err(FillError::ZeroInput | FillError::ZeroOutput) => (U256::ZERO, true),
        Err(FillError::BeyondLiquidity { paid, .. }) => (paid, false),
    }
}
