//! An upper bound on the proceeds of every plan for an amount, including plans over pools that the found plan does not
//! use.
//!
//! Each token that is not cash has a price `ν`; cash has its oracle price. The proceeds of a plan are the amounts sold
//! at their prices plus the gain of each pool: the value of its output less the value of its input. The prices of
//! intermediate tokens cancel out, because everything that arrives at such a token leaves it again. No pool gains more
//! than `max ν(out)·F(d) − ν(in)·d`, where `F` is its output without roundings. So for any prices, no plan brings more
//! than `Σ ν(sold)·N + Σ over contracts max(gain of a direction)`.
//!
//! The prices start where the plan's own last units are: a token is worth what one more unit brings through the largest
//! leg out of it, or, if no leg sells it, through the best direction. Then unused directions gain nothing or little,
//! and used ones about as much as they do in the plan.

use super::MAX_HOPS;
use super::allot::paid;
use super::gain::most_gain;
use super::network::{Edge, Network};
use super::replay::{LegOrder, PlanResult};
use super::values::micros_up;
use crate::ids::Address;
use crate::pools::{ConstantProduct, UnitValues};
use crate::units::{Percent, UsdMicros};
use crate::wide::{U256, U1024, narrow};

/// The price of a token that is not cash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenPrice {
    /// The token.
    pub token: Address,
    /// Of a raw unit, in `2^-160` dollars; positive.
    pub value: U256,
}

/// What no plan exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanBound {
    /// No plan of the amount over these pools brings more, in `2^-160` dollars.
    pub most: U256,
    /// No plan of the amount over these pools brings more, in dollars, rounded up.
    pub most_usd: UsdMicros,
    /// No plan has a gap that is lower by more than this. Rounded up, never negative.
    pub optimality_gap: Percent,
}

/// A plan whose bound is further away than this has its prices improved: a millionth of the amount sold.
pub(super) const NEAR: Percent = Percent(100);
/// How often one price is changed at most, each time by a smaller share.
const SHARES: [usize; 12] = [4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 28];
/// How many of a pool's gains an improvement computes at most, a formula without a closed maximum counting as many.
const MOST_GAINS: usize = 1_500;
const FORMULA_GAINS: usize = 40;

impl Network<'_> {
    /// The tokens that have a price in a bound: those of the directions that count that are not cash, ascending.
    pub fn priced_tokens(&self) -> Vec<Address> {
        self.priced().into_iter().map(|token| self.tokens[token]).collect()
    }

    fn priced(&self) -> Vec<usize> {
        let is_used =
            |token: &usize| self.edges.iter().any(|edge| edge.from == *token || edge.to == *token);
        let is_cash = |token: &usize| self.cash_at(*token).is_some();
        (0..self.tokens.len()).filter(|token| is_used(token) && !is_cash(token)).collect()
    }

    /// Whether the laws of all pools are known to be concave, in the directions that count.
    pub fn has_bound(&self) -> bool {
        self.edges.iter().all(|edge| self.pools[edge.pool].is_concave(edge.direction))
    }

    /// The bound at these prices; `None` if the law of a pool is not known to be concave, if a token has no price, or
    /// if the bound is too large for a percentage.
    pub fn bound(
        &self,
        prices: &[TokenPrice],
        amounts_in: &[U256],
        result: &PlanResult,
    ) -> Option<PlanBound> {
        let values = self.values(prices)?;
        let gains: Vec<U1024> =
            (0..self.edges.len()).map(|edge| self.gain(edge, &values)).collect::<Option<_>>()?;
        let most = self.sum(&values, &gains, amounts_in);
        let optimality_gap = self.distance(most, amounts_in, result)?;
        Some(PlanBound { most: narrow(most)?, most_usd: micros_up(most), optimality_gap })
    }

    /// The value of a raw unit of every token; zero for tokens on no path.
    fn values(&self, prices: &[TokenPrice]) -> Option<Vec<U256>> {
        let mut values = vec![U256::ZERO; self.tokens.len()];
        for cash in &self.cash {
            values[cash.at] = cash.worth.high;
        }
        for token in self.priced() {
            let price = prices.iter().find(|price| price.token == self.tokens[token])?;
            values[token] = price.value;
        }
        Some(values)
    }

    fn gain(&self, edge: usize, values: &[U256]) -> Option<U1024> {
        let Edge { pool, direction, from, to, .. } = self.edges[edge];
        let values = UnitValues { sold: values[from], bought: values[to] };
        most_gain(&self.pools[pool], direction, values)
    }

    /// The bound, from the gains by edge. A plan uses one direction of one pool of each contract.
    fn sum(&self, values: &[U256], gains: &[U1024], amounts_in: &[U256]) -> U1024 {
        let mut by_contract = vec![U1024::ZERO; self.pools.len()];
        for (edge, gain) in self.edges.iter().zip(gains) {
            by_contract[edge.contract] = by_contract[edge.contract].max(*gain);
        }
        let start = |(sold, amount): (&super::ValuedToken, &U256)| {
            U1024::from(values[sold.at]) * U1024::from(*amount)
        };
        let starts = self.sold.iter().zip(amounts_in).map(start);
        starts.chain(by_contract).fold(U1024::ZERO, |sum, one| sum + one)
    }

    /// How far a bound is above what was received, as a share of the amounts sold at their oracle prices.
    fn distance(&self, most: U1024, amounts_in: &[U256], result: &PlanResult) -> Option<Percent> {
        let sale = self.sale(amounts_in, &result.received);
        let (received, sold) = (sale.received_low(), sale.sold_low());
        let above = most.checked_sub(received).unwrap_or(U1024::ZERO);
        let share = narrow((above * U1024::from(100_000_000_u32)).div_ceil(sold))?;
        let share = i128::try_from(share).ok().filter(|share| *share < Percent::BOUND)?;
        Some(Percent(share))
    }
}

/// The prices for the bound of a plan, ascending by token; none if there is no bound.
pub(super) fn prices_at(
    network: &Network<'_>,
    orders: &[LegOrder],
    amounts_in: &[U256],
    result: &PlanResult,
) -> Vec<TokenPrice> {
    if !network.has_bound() {
        return Vec::new();
    }
    let own = largest_legs(network, orders);
    let (mut values, _) = value_tokens(network, &marginals(network, orders), &own);
    improve(network, &mut values, amounts_in, result);
    let price = |token: usize| TokenPrice { token: network.tokens[token], value: values[token] };
    network.priced().into_iter().map(price).collect()
}

/// Lowers the bound by changing one price after the other: it is convex in each.
fn improve(network: &Network<'_>, values: &mut [U256], amounts_in: &[U256], result: &PlanResult) {
    let gains = (0..network.edges.len()).map(|edge| network.gain(edge, values));
    let Some(mut gains) = gains.collect::<Option<Vec<U1024>>>() else { return };
    let mut most = network.sum(values, &gains, amounts_in);
    let mut left = MOST_GAINS;
    for share in SHARES {
        for token in network.priced() {
            let is_far = network.distance(most, amounts_in, result).is_none_or(|gap| gap > NEAR);
            if !is_far {
                return;
            }
            let touched: Vec<usize> = (0..network.edges.len())
                .filter(|edge| {
                    [network.edges[*edge].from, network.edges[*edge].to].contains(&token)
                })
                .collect();
            let cost = |edge: &usize| {
                let pool = &network.pools[network.edges[*edge].pool];
                if pool.priced.state.has_closed_gain() { 1 } else { FORMULA_GAINS }
            };
            let cost: usize = touched.iter().map(cost).sum();
            for is_up in [true, false] {
                let Some(rest) = left.checked_sub(cost) else { return };
                left = rest;
                let before = (values[token], gains.clone());
                let change = values[token] >> share;
                values[token] = if is_up {
                    values[token].saturating_add(change)
                } else {
                    (values[token] - change).max(U256::ONE)
                };
                for edge in &touched {
                    gains[*edge] = network.gain(*edge, values).unwrap_or(gains[*edge]);
                }
                let found = network.sum(values, &gains, amounts_in);
                if found < most {
                    most = found;
                } else {
                    (values[token], gains) = before;
                }
            }
        }
    }
}

/// What one more unit brings by edge, as a fraction, after the flows of a plan.
type Marginal = (U1024, U1024);

fn marginals(network: &Network<'_>, orders: &[LegOrder]) -> Vec<Marginal> {
    let flow = |edge: &Edge| {
        let is_own =
            |order: &&LegOrder| order.pool == edge.pool && order.direction == edge.direction;
        orders.iter().find(is_own).map_or(U256::ZERO, |order| order.amount_in)
    };
    network.edges.iter().map(|edge| marginal(network, edge, flow(edge))).collect()
}

fn marginal(network: &Network<'_>, edge: &Edge, sold: U256) -> Marginal {
    let pool = &network.pools[edge.pool];
    if let Some(pair) = ConstantProduct::from_state(pool.priced.state) {
        // The derivative of `y·k ÷ (x·D + k)`, with `k` what the fee leaves of the amount in parts of its denominator.
        let [x, y] = [edge.direction.base_index(), edge.direction.quote_index()]
            .map(|token| U1024::from(pair.reserves()[token]));
        let (fee, all) = (pair.fee(), U1024::from(pair.fee().denominator));
        let kept = U1024::from(fee.denominator - fee.numerator);
        let sum = x * all + U1024::from(sold) * kept;
        return (x * y * all * kept, sum * sum);
    }
    let curve = network.curve_of(edge);
    let fill = curve.fill(sold).ok();
    let price = fill.as_ref().map_or_else(|| curve.mid(), |fill| curve.mid_after(fill));
    let fee = fill.map_or_else(|| curve.least_fee(), |fill| fill.fee);
    let kept = U1024::from(fee.denominator - fee.numerator);
    let all = U1024::from(fee.denominator);
    (U1024::from(price.numerator()) * kept, U1024::from(price.denominator()) * all)
}

/// The value of a unit bought, through an edge, in units sold.
fn through(value: U256, (numerator, denominator): Marginal) -> U256 {
    if denominator.is_zero() {
        return U256::ZERO;
    }
    narrow(U1024::from(value) * numerator / denominator).unwrap_or(U256::MAX)
}

/// The value of a unit of every token: of cash, its oracle price; of others, what one more unit brings through a
/// direction of its own if `own` names one, or else through the best one; and that direction. Directions are followed
/// once more often than a path has pools, because several paths share pools.
fn value_tokens(
    network: &Network<'_>,
    marginals: &[Marginal],
    own: &[Option<usize>],
) -> (Vec<U256>, Vec<Option<usize>>) {
    let mut values = vec![U256::ZERO; network.tokens.len()];
    let mut best = own.to_vec();
    for cash in &network.cash {
        values[cash.at] = cash.worth.high;
    }
    for _ in 0..=MAX_HOPS {
        let before = values.clone();
        for (at, edge) in network.edges.iter().enumerate() {
            let value = through(before[edge.to], marginals[at]);
            let is_own = own[edge.from] == Some(at);
            if is_own || (own[edge.from].is_none() && value > values[edge.from]) {
                values[edge.from] = value;
                best[edge.from] = Some(at);
            }
        }
    }
    for token in network.priced() {
        values[token] = values[token].max(U256::ONE);
    }
    (values, best)
}

/// By token, the direction of the largest leg that sells it, the first among equals. One whose pool is nearly full counts
/// only if there is no other: it would take no further unit at its last price.
fn largest_legs(network: &Network<'_>, orders: &[LegOrder]) -> Vec<Option<usize>> {
    /// The share of its amount that a leg must take on top.
    const SHARE: usize = 12;
    let mut largest: Vec<Option<(bool, U256, usize)>> = vec![None; network.tokens.len()];
    for order in orders {
        let Some(at) = network.edge(order.pool, order.direction) else { continue };
        let edge = &network.edges[at];
        let more = (order.amount_in >> SHARE).saturating_add(U256::ONE);
        let more = order.amount_in.saturating_add(more);
        let takes_more = paid(network.curve_of(edge), more).is_some();
        let own = &mut largest[edge.from];
        if own.is_none_or(|(takes, most, _)| (takes_more, order.amount_in) > (takes, most)) {
            *own = Some((takes_more, order.amount_in, at));
        }
    }
    largest.into_iter().map(|leg| leg.map(|(.., at)| at)).collect()
}

/// For each token sold, the path on which one more unit brings most, if that is more than on the worst used direction out
/// of one of its tokens. Only through edges that are open.
pub(super) fn best_paths(
    network: &Network<'_>,
    orders: &[LegOrder],
    is_open: &[bool],
) -> Vec<(usize, Vec<usize>)> {
    let mut marginals = marginals(network, orders);
    for (marginal, _) in marginals.iter_mut().zip(is_open).filter(|(_, is_open)| !**is_open) {
        *marginal = (U1024::ZERO, U1024::ONE);
    }
    let none = vec![None; network.tokens.len()];
    let (values, best) = value_tokens(network, &marginals, &none);
    let search = BestPath { network, orders, marginals, values, best };
    (0..network.sold.len()).filter_map(|sold| Some((sold, search.of(sold)?))).collect()
}

/// The prices after the flows of a plan, and the best direction out of each token.
struct BestPath<'n, 'a> {
    network: &'n Network<'a>,
    orders: &'n [LegOrder],
    marginals: Vec<Marginal>,
    values: Vec<U256>,
    best: Vec<Option<usize>>,
}

impl BestPath<'_, '_> {
    fn of(&self, sold: usize) -> Option<Vec<usize>> {
        /// A price that is better by less is not followed.
        const SHARE: usize = 16;
        let Self { network, values, marginals, .. } = self;
        let (mut token, mut path, mut is_better) = (network.sold[sold].at, Vec::new(), false);
        while network.cash_at(token).is_none() {
            let next = self.best[token].filter(|_| path.len() < MAX_HOPS)?;
            let used = network.edges.iter().enumerate();
            let used = used.filter(|(_, edge)| edge.from == token && self.is_used(edge));
            let worst = used.map(|(at, edge)| through(values[edge.to], marginals[at])).min();
            let margin = values[token] - (values[token] >> SHARE);
            is_better |= worst.is_some_and(|worst| worst < margin);
            path.push(next);
            token = network.edges[next].to;
        }
        let edge = |at: usize| &network.edges[path[at]];
        let repeats = |at: usize| {
            let (before, next) = ((0..at).map(edge), edge(at));
            before.into_iter().any(|one| one.from == next.to || one.contract == next.contract)
        };
        let is_simple = !(1..path.len()).any(repeats);
        (is_better && is_simple && path.iter().all(|edge| self.takes_more(*edge))).then_some(path)
    }

    fn is_used(&self, edge: &Edge) -> bool {
        let is_its =
            |order: &LegOrder| order.pool == edge.pool && order.direction == edge.direction;
        self.orders.iter().any(is_its)
    }

    /// A pool that is full takes no more, whatever its price was.
    fn takes_more(&self, edge: usize) -> bool {
        let edge = &self.network.edges[edge];
        let own = self.orders.iter().find(|order| order.pool == edge.pool);
        let sold = own.map_or(U256::ZERO, |order| order.amount_in);
        paid(self.network.curve_of(edge), sold.saturating_add(U256::ONE)).is_some()
    }
}
