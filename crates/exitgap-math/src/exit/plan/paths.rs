//! The paths that a search tries: simple paths of at most three pools from a token sold to a cash token.

use super::network::Network;
use super::{MAX_HOPS, PlanError, Work};
use crate::pools::{FillError, SaleCurve};
use crate::stable_sort::sort;
use crate::wide::{U256, U512, product};

/// The most paths of a token sold that a search starts with.
const MOST_PATHS: usize = 16;
/// The most of several tokens together, of which each has at least the second number.
const MOST_PATHS_OF_ALL: usize = 96;
const LEAST_PATHS: usize = 4;

/// A path, by its edges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Path {
    /// The number of its first token among the tokens sold.
    pub sold: usize,
    pub edges: Vec<usize>,
    /// What it alone pays for the whole amount, or, if a pool cannot take all that flows into it, for what it can take.
    pub alone: U512,
    /// Whether its pools take the whole amount.
    pub takes_all: bool,
}

/// The best paths of each token sold by what each alone pays, the best first, and in the order of the pools among equals.
///
/// Only through edges that are open.
pub(super) fn find(
    network: &Network<'_>,
    amounts_in: &[U256],
    is_open: &[bool],
    work: &Work,
) -> Result<Vec<Path>, PlanError> {
    let most = MOST_PATHS.min((MOST_PATHS_OF_ALL / network.sold.len()).max(LEAST_PATHS));
    let mut paths = Vec::new();
    for (sold, (token, amount)) in network.sold.iter().zip(amounts_in).enumerate() {
        let mut walk = Walk { network, is_open, work, sold, edges: Vec::new(), found: Vec::new() };
        walk.extend(token.at, *amount, true);
        let mut found = walk.found;
        if found.is_empty() {
            return Err(PlanError::NoPath { token: token.token });
        }
        sort(&mut found, |a, b| b.alone.cmp(&a.alone));
        found.truncate(most);
        paths.append(&mut found);
    }
    Ok(paths)
}

struct Walk<'n, 'a> {
    network: &'n Network<'a>,
    is_open: &'n [bool],
    work: &'n Work,
    sold: usize,
    edges: Vec<usize>,
    found: Vec<Path>,
}

impl Walk<'_, '_> {
    /// Continues the path from `token`, where `amount` arrives.
    fn extend(&mut self, token: usize, amount: U256, takes_all: bool) {
        for at in 0..self.network.edges.len() {
            let edge = self.network.edges[at];
            if edge.from != token || !self.is_open[at] || self.repeats(at) {
                continue;
            }
            self.work.add(1);
            let (out, took_all) = pays_most(self.network.curve_of(&edge), amount);
            let takes_all = takes_all && took_all;
            self.edges.push(at);
            if let Some(cash) = self.network.cash_at(edge.to) {
                let alone = product(out, cash.worth.low);
                let (sold, edges) = (self.sold, self.edges.clone());
                self.found.push(Path { sold, edges, alone, takes_all });
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
