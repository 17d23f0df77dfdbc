//! The search: equal steps of each token's amount, each to the path that brings most for it, the tokens in turn. A pool
//! on several paths continues from where it stands. Then every path gives back one step, and the steps shrink to an
//! eighth.
//!
//! While steps are assigned, flows only grow and no step brings more than it would have brought before, except for
//! rounding. So a gain that was computed earlier is an upper bound, and only the path with the highest one is computed
//! again.

use super::dual;
use super::network::Network;
use super::paths::Path;
use super::replay::LegOrder;
use super::settle::settle;
use super::{MAX_HOPS, PlanError, Work};
use crate::pools::{FillError, SaleCurve};
use crate::wide::{U256, U512, product};

/// Steps shrink by `2^3` from an eighth of the amount to `2^-21` of it.
const STEP_BITS: usize = 3;
const LEVELS: usize = 7;
/// How often the levels are repeated at most, each time with the path that would bring most if the first ones left it
/// out.
const ROUNDS: usize = 9;

/// The legs of the best plan found, in an order in which they can be executed.
pub(super) fn allot(
    network: &Network<'_>,
    found: &[Path],
    amounts_in: &[U256],
    is_open: &[bool],
    work: &Work,
) -> Result<Vec<LegOrder>, PlanError> {
    let mut best: Option<(U512, Vec<LegOrder>)> = None;
    let mut search = Search::new(network, found.to_vec(), amounts_in, work);
    let (mut taken, mut in_vain) = (Vec::new(), 0);
    for round in 0..ROUNDS {
        taken = search.assign((round + 1).min(LEVELS));
        let Some((worth, orders)) = settle(network, &search.orders(), amounts_in) else { break };
        let next = dual::best_paths(network, &orders, is_open);
        if best.as_ref().is_none_or(|(most, _)| worth > *most) {
            (best, in_vain) = (Some((worth, orders)), 0);
        } else {
            in_vain += 1;
        }
        // Steps of shared pools may need more than one pass to meet at one price.
        if next.is_empty() || in_vain >= 2 || work.is_spent() {
            break;
        }
        for (sold, edges) in next {
            search.add(sold, edges);
        }
    }
    if let [amount_in] = amounts_in {
        for path in found.iter().filter(|path| path.takes_all) {
            if best.as_ref().is_none_or(|(most, _)| path.alone > *most) {
                let orders = whole(network, path, *amount_in);
                best = settle(network, &orders, amounts_in).or(best);
            }
        }
    }
    match best {
        Some((_, orders)) => Ok(orders),
        None if taken.iter().zip(amounts_in).any(|(taken, amount)| taken < amount) => {
            Err(PlanError::BeyondLiquidity { max_amounts_in: taken })
        }
        None => Err(PlanError::NoOutput),
    }
}

/// The legs of one path that takes everything. What the later ones sell is what the earlier ones pay.
fn whole(network: &Network<'_>, path: &Path, amount_in: U256) -> Vec<LegOrder> {
    let (mut orders, mut amount) = (Vec::new(), amount_in);
    for edge in path.edges.iter().map(|edge| network.edges[*edge]) {
        orders.push(LegOrder { pool: edge.pool, direction: edge.direction, amount_in: amount });
        amount = paid(network.curve_of(&edge), amount).unwrap_or(U256::ZERO);
    }
    orders
}

/// A pool's output: zero for zero or for an amount that rounds to nothing; `None` if it cannot take the amount.
pub(super) fn paid(curve: &SaleCurve, amount: U256) -> Option<U256> {
    match curve.fill(amount) {
        Ok(fill) => Some(fill.amount_out),
        Err(FillError::ZeroInput | FillError::ZeroOutput) => Some(U256::ZERO),
        Err(FillError::BeyondLiquidity { .. }) => None,
    }
}

/// What flows through an edge.
#[derive(Clone, Copy)]
struct Flow {
    sold: U256,
    bought: U256,
    /// How many paths that have steps use it.
    users: usize,
}

/// What one more step along a path would bring, and the flows after it.
#[derive(Clone, Copy)]
struct Probe {
    gain: U512,
    flows: [(U256, U256); MAX_HOPS],
}

struct Search<'n, 'a> {
    network: &'n Network<'a>,
    /// What is to be sold of each token.
    amounts: &'n [U256],
    work: &'n Work,
    paths: Vec<Path>,
    /// The steps that each path has, in units of its token.
    parts: Vec<U256>,
    flows: Vec<Flow>,
}

impl<'n, 'a> Search<'n, 'a> {
    fn new(
        network: &'n Network<'a>,
        paths: Vec<Path>,
        amounts: &'n [U256],
        work: &'n Work,
    ) -> Self {
        let none = Flow { sold: U256::ZERO, bought: U256::ZERO, users: 0 };
        let (parts, flows) = (vec![U256::ZERO; paths.len()], vec![none; network.edges.len()]);
        Self { network, amounts, work, paths, parts, flows }
    }

    /// Adds a path, unless it is there.
    fn add(&mut self, sold: usize, edges: Vec<usize>) {
        if self.paths.iter().all(|path| path.edges != edges) {
            self.paths.push(Path { sold, edges, alone: U512::ZERO, takes_all: false });
            self.parts.push(U256::ZERO);
        }
    }

    /// The steps of each token at a level.
    fn steps_of(&self, level: usize) -> Vec<U256> {
        self.amounts.iter().map(|amount| (*amount >> (STEP_BITS * level)).max(U256::ONE)).collect()
    }

    /// What the paths of each token do not take yet.
    fn left(&self) -> Vec<U256> {
        let mut left = self.amounts.to_vec();
        for (path, part) in self.paths.iter().zip(&self.parts) {
            left[path.sold] -= *part;
        }
        left
    }

    /// Assigns the amounts from a level on, the first of which starts from nothing. Returns what the paths took of each.
    fn assign(&mut self, first: usize) -> Vec<U256> {
        for level in first..=LEVELS {
            if level > 1 {
                let before = self.steps_of(level - 1);
                for path in 0..self.paths.len() {
                    let step = before[self.paths[path].sold];
                    if self.parts[path] >= step {
                        self.give_back(path, step);
                    }
                }
                self.balance();
            }
            let steps = self.steps_of(level);
            self.hand_out(&steps);
            if steps.iter().all(|step| *step == U256::ONE) {
                break;
            }
        }
        // What is left is less than a step, or more than the paths take in such steps.
        let mut steps = self.left();
        while steps.iter().any(|step| !step.is_zero()) {
            let left = self.left();
            if left.iter().all(U256::is_zero) {
                break;
            }
            let fitting: Vec<U256> =
                steps.iter().zip(left).map(|(step, left)| (*step).min(left)).collect();
            self.hand_out(&fitting);
            for step in &mut steps {
                *step >>= STEP_BITS;
            }
        }
        let left = self.left();
        self.amounts.iter().zip(left).map(|(amount, left)| *amount - left).collect()
    }

    /// Whether a step of one path changes what a step of another brings.
    fn meet(&self, one: usize, other: usize) -> bool {
        let contract = |edge: &usize| self.network.edges[*edge].contract;
        let [one, other] = [one, other].map(|path| &self.paths[path].edges);
        one.iter().any(|one| other.iter().any(|other| contract(one) == contract(other)))
    }

    /// Gives each token's steps to that of its paths that gains most, while a step of it is left and a path takes it. A
    /// step of the token of which most steps are left comes first.
    fn hand_out(&mut self, steps: &[U256]) {
        let mut left = self.left();
        let mut probes: Vec<Option<Probe>> =
            (0..self.paths.len()).map(|path| self.probe(path, steps)).collect();
        let mut is_old = vec![false; self.paths.len()];
        let mut is_stuck = vec![false; steps.len()];
        while let Some(sold) = next_sold(&left, steps, &is_stuck) {
            let mut best: Option<(U512, usize)> = None;
            for (path, probe) in probes.iter().enumerate() {
                let own = probe.filter(|_| self.paths[path].sold == sold);
                let better = own.filter(|own| best.is_none_or(|(most, _)| own.gain > most));
                best = better.map(|better| (better.gain, path)).or(best);
            }
            let Some((_, path)) = best else {
                is_stuck[sold] = true;
                continue;
            };
            // A path that shares no pool may have closed this one's circle.
            if is_old[path] || !self.is_open(path) {
                probes[path] = self.probe(path, steps);
                is_old[path] = false;
                continue;
            }
            let Some(probe) = probes[path] else { break };
            self.take(path, steps[sold], &probe);
            left[sold] -= steps[sold];
            for (other, is_old) in is_old.iter_mut().enumerate() {
                *is_old |= self.meet(path, other);
            }
        }
    }

    /// What one more step brings along a path; `None` if a pool cannot take it, or is used in another way.
    fn probe(&self, path: usize, steps: &[U256]) -> Option<Probe> {
        let step = steps[self.paths[path].sold];
        if step.is_zero() || !self.is_open(path) {
            return None;
        }
        let path = &self.paths[path];
        self.work.add(path.edges.len());
        let mut flows = [(U256::ZERO, U256::ZERO); MAX_HOPS];
        let (mut amount, mut end) = (step, None);
        for (at, index) in path.edges.iter().enumerate() {
            let (edge, flow) = (self.network.edges[*index], self.flows[*index]);
            let sold = flow.sold.checked_add(amount)?;
            let bought = if amount.is_zero() {
                flow.bought
            } else {
                paid(self.network.curve_of(&edge), sold)?
            };
            flows[at] = (sold, bought);
            amount = bought.saturating_sub(flow.bought);
            end = self.network.cash_at(edge.to);
        }
        let gain = product(amount, end?.worth.low);
        Some(Probe { gain, flows })
    }

    /// Whether a path uses no contract in another way than the flows do, and none of its tokens flows in a circle.
    fn is_open(&self, path: usize) -> bool {
        let edges = &self.paths[path].edges;
        let of = |edge: usize| &self.network.edges[edge];
        let is_blocked = |edge: &usize| {
            let used = (0..self.flows.len()).filter(|other| self.flows[*other].users > 0);
            used.into_iter().any(|other| other != *edge && of(other).contract == of(*edge).contract)
        };
        if edges.iter().any(is_blocked) {
            return false;
        }
        if edges.iter().all(|edge| self.flows[*edge].users > 0) {
            return true;
        }
        let leads = |edge: &usize| (of(*edge).from, of(*edge).to);
        let used = (0..self.flows.len()).filter(|edge| self.flows[*edge].users > 0);
        let arrows: Vec<_> = used.chain(edges.iter().copied()).map(|edge| leads(&edge)).collect();
        order_tokens(&arrows, self.network.tokens.len()).is_some()
    }

    fn take(&mut self, path: usize, step: U256, probe: &Probe) {
        let is_first = self.parts[path].is_zero();
        self.parts[path] += step;
        for (index, (sold, bought)) in self.paths[path].edges.iter().zip(probe.flows) {
            let flow = &mut self.flows[*index];
            (flow.sold, flow.bought) = (sold, bought);
            flow.users += usize::from(is_first);
        }
    }

    /// Takes a step out of the end of each pool's flow. The end of an earlier pool's flow brings less than the step
    /// brought when it was given, so the later pools keep some of it.
    fn give_back(&mut self, path: usize, step: U256) {
        self.parts[path] -= step;
        let is_last = self.parts[path].is_zero();
        let mut amount = step;
        for index in &self.paths[path].edges {
            let curve = self.network.curve_of(&self.network.edges[*index]);
            let flow = &mut self.flows[*index];
            flow.users -= usize::from(is_last);
            flow.sold = flow.sold.saturating_sub(amount);
            let before = flow.bought;
            flow.bought = paid(curve, flow.sold).unwrap_or(U256::ZERO);
            if flow.users == 0 {
                (flow.sold, flow.bought) = (U256::ZERO, U256::ZERO);
            }
            amount = before.saturating_sub(flow.bought);
        }
    }

    /// Makes the pools that sell a token sell what arrives there: a pool that no path uses any more leaves what it sold
    /// to the largest one.
    fn balance(&mut self) {
        let is_used = |flow: &Flow| flow.users > 0;
        let edges = &self.network.edges;
        let used: Vec<usize> =
            (0..edges.len()).filter(|edge| is_used(&self.flows[*edge])).collect();
        let arrows: Vec<_> = used.iter().map(|edge| (edges[*edge].from, edges[*edge].to)).collect();
        let Some(order) = order_tokens(&arrows, self.network.tokens.len()) else { return };
        let begun = self.begun();
        let sum = |values: &mut dyn Iterator<Item = U256>| values.fold(U256::ZERO, |a, b| a + b);
        for token in order {
            let into = used.iter().filter(|edge| edges[**edge].to == token);
            let arrived = sum(&mut into.map(|edge| self.flows[*edge].bought)) + begun[token];
            let out: Vec<usize> =
                used.iter().copied().filter(|edge| edges[*edge].from == token).collect();
            let sold = sum(&mut out.iter().map(|edge| self.flows[*edge].sold));
            if arrived == sold {
                continue;
            }
            let Some(largest) = out.into_iter().max_by_key(|edge| self.flows[*edge].sold) else {
                continue;
            };
            let flow = &mut self.flows[largest];
            let wanted = if arrived > sold {
                flow.sold.saturating_add(arrived - sold)
            } else {
                flow.sold.saturating_sub(sold - arrived)
            };
            if let Some(bought) = paid(self.network.curve_of(&edges[largest]), wanted) {
                (flow.sold, flow.bought) = (wanted, bought);
            }
        }
    }

    /// The part of each token's amount that the paths have.
    fn begun(&self) -> Vec<U256> {
        let mut begun = vec![U256::ZERO; self.network.tokens.len()];
        for (path, part) in self.paths.iter().zip(&self.parts) {
            begun[self.network.sold[path.sold].at] += *part;
        }
        begun
    }

    /// The flows as legs, in no order.
    fn orders(&self) -> Vec<LegOrder> {
        let used = self.network.edges.iter().zip(&self.flows);
        let used = used.filter(|(_, flow)| flow.users > 0 && !flow.sold.is_zero());
        used.map(|(edge, flow)| LegOrder {
            pool: edge.pool,
            direction: edge.direction,
            amount_in: flow.sold,
        })
        .collect()
    }
}

/// The token of which most steps are left, at least one, the first among equals; of those that some path takes. Steps
/// are counted by their lengths in bits, because all are the same parts of their amounts or have one unit.
fn next_sold(left: &[U256], steps: &[U256], is_stuck: &[bool]) -> Option<usize> {
    let mut most: Option<(usize, usize)> = None;
    for (sold, (left, step)) in left.iter().zip(steps).enumerate() {
        if is_stuck[sold] || step.is_zero() || left < step {
            continue;
        }
        let count = left.bit_len() - step.bit_len();
        if most.is_none_or(|(most, _)| count > most) {
            most = Some((count, sold));
        }
    }
    most.map(|(_, sold)| sold)
}

/// The tokens in an order in which every arrow leads to a later one; `None` if there is none.
pub(super) fn order_tokens(arrows: &[(usize, usize)], tokens: usize) -> Option<Vec<usize>> {
    let mut order = Vec::with_capacity(tokens);
    let mut is_placed = vec![false; tokens];
    while order.len() < tokens {
        let is_free = |token: &usize| {
            !is_placed[*token] && arrows.iter().all(|(from, to)| to != token || is_placed[*from])
        };
        let next = (0..tokens).find(is_free)?;
        is_placed[next] = true;
        order.push(next);
    }
    Some(order)
}
