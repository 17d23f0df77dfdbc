//! Makes a search's flows fit together to the unit: what arrives at a token is what its legs sell.
//!
//! The tokens are settled in the order in which they flow. The difference between what arrives at a token and what the
//! search sold there goes to the token's largest leg, the first among equals, as far as that takes it, and then to the
//! next largest.

use super::allot::{order_tokens, paid};
use super::network::{Edge, Network};
use super::replay::LegOrder;
use crate::stable_sort::sort;
use crate::wide::{U256, U512, product};

/// A leg while it is settled.
#[derive(Clone, Copy)]
struct Leg {
    edge: Edge,
    sold: U256,
}

/// The legs in an order in which they can be executed, with what they bring at the rounded values of cash; `None` if
/// they cannot be made to fit.
pub(super) fn settle(
    network: &Network<'_>,
    orders: &[LegOrder],
    amounts_in: &[U256],
) -> Option<(U512, Vec<LegOrder>)> {
    let leg = |order: &LegOrder| {
        let edge = network.edges[network.edge(order.pool, order.direction)?];
        Some(Leg { edge, sold: order.amount_in })
    };
    let mut legs: Vec<Leg> = orders.iter().map(leg).collect::<Option<_>>()?;
    let arrows: Vec<_> = legs.iter().map(|leg| (leg.edge.from, leg.edge.to)).collect();
    let mut held = vec![U256::ZERO; network.tokens.len()];
    for (sold, amount) in network.sold.iter().zip(amounts_in) {
        held[sold.at] = *amount;
    }
    let mut settled = Vec::with_capacity(legs.len());
    for token in order_tokens(&arrows, network.tokens.len())? {
        if network.cash_at(token).is_some() || held[token].is_zero() {
            continue;
        }
        let own: Vec<usize> = (0..legs.len()).filter(|leg| legs[*leg].edge.from == token).collect();
        spread(network, &mut legs, &own, held[token])?;
        for leg in own.into_iter().map(|leg| legs[leg]).filter(|leg| !leg.sold.is_zero()) {
            let out = paid(network.curve_of(&leg.edge), leg.sold)?;
            held[leg.edge.to] = held[leg.edge.to].saturating_add(out);
            let (pool, direction) = (leg.edge.pool, leg.edge.direction);
            settled.push(LegOrder { pool, direction, amount_in: leg.sold });
        }
    }
    let worth = |sum: U512, cash: &super::ValuedToken| sum + product(held[cash.at], cash.worth.low);
    let worth = network.cash.iter().fold(U512::ZERO, worth);
    (!worth.is_zero()).then_some((worth, settled))
}

/// Makes the legs of one token sell exactly `amount`, each of them paid something.
fn spread(network: &Network<'_>, legs: &mut [Leg], own: &[usize], amount: U256) -> Option<()> {
    let mut by_size = own.to_vec();
    sort(&mut by_size, |a, b| legs[*b].sold.cmp(&legs[*a].sold));
    let curve = |leg: &Leg| network.curve_of(&leg.edge);
    let is_paid = |leg: &Leg, sold: U256| paid(curve(leg), sold).is_some_and(|out| !out.is_zero());
    let mut left = amount;
    for leg in &by_size {
        let sold = legs[*leg].sold.min(left);
        let sold = if is_paid(&legs[*leg], sold) { sold } else { U256::ZERO };
        legs[*leg].sold = sold;
        left -= sold;
    }
    for leg in &by_size {
        if left.is_zero() {
            break;
        }
        let all = legs[*leg].sold.checked_add(left)?;
        let most =
            if is_paid(&legs[*leg], all) { all } else { curve(&legs[*leg]).most().0.min(all) };
        if most > legs[*leg].sold && is_paid(&legs[*leg], most) {
            left -= most - legs[*leg].sold;
            legs[*leg].sold = most;
        }
    }
    left.is_zero().then_some(())
}
