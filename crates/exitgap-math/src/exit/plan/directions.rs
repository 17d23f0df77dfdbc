//! Which way a plan flows between two tokens.
//!
//! No token flows in a circle, so a step that takes one way between two tokens closes the other way to every later step.
//! The first way is not always the better one. Where a plan stays away from its bound, it is searched again with each way
//! that it uses closed, if pools also lead the other way.

use super::network::{Edge, Network};
use super::replay::LegOrder;
use super::{PlanError, Work, allot, paths};
use crate::wide::{U256, U1024};

/// How often a plan is searched again at most.
const MOST_TRIES: usize = 12;

/// A way between two tokens, by their numbers.
type Way = (usize, usize);

/// What a search found: the legs and what they bring, or why there are none.
type Found = Result<(U1024, Vec<LegOrder>), PlanError>;

/// The legs of the best plan that a search finds without these ways.
pub(super) fn search(
    network: &Network<'_>,
    amounts_in: &[U256],
    closed: &[Way],
    work: &Work,
) -> Result<Vec<LegOrder>, PlanError> {
    let is_open = |edge: &Edge| !closed.contains(&(edge.from, edge.to));
    let is_open: Vec<bool> = network.edges.iter().map(is_open).collect();
    let found = paths::find(network, amounts_in, &is_open, work)?;
    allot::allot(network, &found, amounts_in, &is_open, work)
}

/// Searches again with ways closed, one after the other, and keeps closed what brings more.
pub(super) fn search_other_ways(
    network: &Network<'_>,
    amounts_in: &[U256],
    first: Result<Vec<LegOrder>, PlanError>,
    work: &Work,
) -> Result<Vec<LegOrder>, PlanError> {
    let mut best = valued(network, amounts_in, first);
    let (mut closed, mut tried): (Vec<Way>, Vec<Way>) = (Vec::new(), Vec::new());
    for _ in 0..MOST_TRIES {
        let is_new = |way: &Way| !tried.contains(way);
        let way = ways_of(network, &best).into_iter().find(is_new);
        let Some(way) = way.filter(|_| !work.is_spent()) else { break };
        tried.push(way);
        let with: Vec<Way> = closed.iter().copied().chain([way]).collect();
        let found = valued(network, amounts_in, search(network, amounts_in, &with, work));
        if is_better(network, &found, &best) {
            (best, closed) = (found, with);
        }
    }
    best.map(|(_, legs)| legs)
}

fn valued(
    network: &Network<'_>,
    amounts_in: &[U256],
    found: Result<Vec<LegOrder>, PlanError>,
) -> Found {
    let legs = found?;
    let result = network.replay(&legs, amounts_in).map_err(|_| PlanError::NoOutput)?;
    Ok((network.sale(amounts_in, &result.received).received_low(), legs))
}

/// The ways of a plan, or all ways if there is none, between tokens that pools also lead the other way.
fn ways_of(network: &Network<'_>, found: &Found) -> Vec<Way> {
    let is_used = |edge: &Edge| match found {
        Ok((_, legs)) => {
            legs.iter().any(|leg| leg.pool == edge.pool && leg.direction == edge.direction)
        }
        Err(_) => true,
    };
    let leads_back = |way: &Way| network.edges.iter().any(|edge| (edge.to, edge.from) == *way);
    let mut ways: Vec<Way> = Vec::new();
    for edge in network.edges.iter().filter(|edge| is_used(edge)) {
        let way = (edge.from, edge.to);
        if leads_back(&way) && !ways.contains(&way) {
            ways.push(way);
        }
    }
    ways
}

/// Whether a plan brings more than another, or takes more if neither takes all.
fn is_better(network: &Network<'_>, found: &Found, best: &Found) -> bool {
    match (found, best) {
        (Ok((worth, _)), Ok((most, _))) => worth > most,
        (Ok(_), Err(_)) => true,
        (
            Err(PlanError::BeyondLiquidity { max_amounts_in: taken }),
            Err(PlanError::BeyondLiquidity { max_amounts_in: most }),
        ) => network.size_of(taken) > network.size_of(most),
        _ => false,
    }
}
