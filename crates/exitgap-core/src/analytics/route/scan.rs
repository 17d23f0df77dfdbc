//! The snapshots of the slot, and the plan executed on them.

use super::{PortfolioTerms, RouteResult};
use crate::analytics::FigureError;
use crate::analytics::figure::{Figure, FigurePass, part};
use crate::evidence::DocumentError;
use crate::exit::{LegOrder, Network, NetworkPool, PricedPool, TokenPrice};
use crate::ids::{Address, PoolId};
use crate::json::Part;
use crate::pools::Direction;
use crate::series::Slot;
use crate::snapshot::Observation;
use crate::wide::U256;

/// The pass. The caller adds the snapshot of every pool in the slot, in the order of the pools.
#[derive(Debug)]
pub struct RoutePass {
    terms: PortfolioTerms,
    held: Vec<Observation>,
}

/// The network of these observations, which must be of one block, for sales of the tokens `sold`.
pub fn network_of<'o>(
    observations: &'o [Observation],
    sold: &[Address],
    cash: &[Address],
) -> Result<Network<'o>, FigureError> {
    let first = observations.first().map(Observation::block);
    let other = observations.iter().find(|one| Some(one.block()) != first);
    if let Some(other) = other {
        return Err(FigureError::RouteBlock { pool: other.pool().clone() });
    }
    let pool = |observation: &'o Observation| {
        let tokens = observation.tokens().each_ref().map(|token| token.address);
        NetworkPool::new(observation.pool().clone(), tokens, PricedPool::from(observation))
    };
    let pools = observations.iter().map(pool).collect();
    Network::new(pools, sold, cash).map_err(FigureError::RouteNetwork)
}

impl RoutePass {
    /// A pass with these parameters, which are validated first.
    pub fn new(terms: PortfolioTerms) -> Result<Self, FigureError> {
        Ok(Self { terms: terms.validate()?, held: Vec::new() })
    }

    /// Requires that the lists are exactly those that the pools of the slot give.
    fn require_exact_lists(&self, network: &Network<'_>) -> Result<(), FigureError> {
        let off_path = |at: &usize| !network.is_on_path(*at);
        if let Some(at) = (0..self.terms.pools.len()).find(off_path) {
            return Err(FigureError::RouteOffPath { pool: self.terms.pools[at].clone() });
        }
        if !self.terms.cash.iter().all(|token| network.reaches(*token)) {
            let rule = "must be at the end of a path of the pools";
            return Err(FigureError::Parameter { field: "cash", rule });
        }
        let named = self.terms.prices.iter().map(|price| price.token);
        let needed = if network.has_bound() { network.priced_tokens() } else { Vec::new() };
        if !named.eq(needed) {
            return Err(FigureError::RoutePrices);
        }
        Ok(())
    }

    /// The plan's legs by the numbers of their pools.
    fn orders(&self) -> Result<Vec<LegOrder>, FigureError> {
        let order = |leg: &super::RoutePlanLeg| {
            let pool = self.terms.pools.iter().position(|pool| *pool == leg.pool);
            let pool = pool.ok_or(FigureError::RouteOffPath { pool: leg.pool.clone() })?;
            Ok(LegOrder { pool, direction: Direction::from(leg.base), amount_in: leg.amount_in })
        };
        self.terms.legs.iter().map(order).collect()
    }
}

impl FigurePass for RoutePass {
    type Result = RouteResult;

    fn add_snapshot(
        &mut self,
        pool: &PoolId,
        slot: Slot,
        of: Observation,
    ) -> Result<(), FigureError> {
        if slot != self.terms.slot {
            return Err(FigureError::OutOfOrder { slot });
        }
        // A pool before this one, or this one, has no snapshot in the slot.
        let expected = self.terms.pools.get(self.held.len());
        if expected != Some(pool) {
            let missing = expected.unwrap_or(pool).clone();
            return Err(FigureError::RouteMissing { pool: missing });
        }
        self.held.push(of);
        Ok(())
    }

    fn finish(self) -> Result<RouteResult, FigureError> {
        if let Some(missing) = self.terms.pools.get(self.held.len()) {
            return Err(FigureError::RouteMissing { pool: missing.clone() });
        }
        let sold: Vec<Address> = self.terms.sold.iter().map(|one| one.token).collect();
        let amounts_in: Vec<U256> = self.terms.sold.iter().map(|one| one.amount_in).collect();
        let network = network_of(&self.held, &sold, &self.terms.cash)?;
        self.require_exact_lists(&network)?;
        let brought = network.replay(&self.orders()?, &amounts_in);
        let brought = brought.map_err(FigureError::RoutePlan)?;
        let gap = brought.gap.ok_or(FigureError::RouteGap)?;
        let price =
            |price: &super::RoutePrice| TokenPrice { token: price.token, value: price.value };
        let prices: Vec<_> = self.terms.prices.iter().map(price).collect();
        let bound = network.bound(&prices, &amounts_in, &brought);
        if bound.is_none() && network.has_bound() {
            return Err(FigureError::RouteGap);
        }
        let is_live = self.held.iter().all(|one| one.chain().kind.is_live());
        Ok(RouteResult::new(&brought, gap, bound, is_live))
    }

    fn document(result: &RouteResult) -> Result<Part, DocumentError> {
        part(result)
    }
}
