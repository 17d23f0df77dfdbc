//! The parameters of a route, which sells one token, and of a portfolio, which sells several.

use super::RoutePass;
use crate::analytics::FigureError;
use crate::analytics::figure::Figure;
use crate::evidence::Base;
use crate::exit::{MAX_CASH_TOKENS, MAX_NETWORK_POOLS, MAX_SOLD_TOKENS};
use crate::ids::{Address, PoolId};
use crate::json::wire_struct;
use crate::series::Slot;
use crate::wide::U256;

/// A leg of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoutePlanLeg {
    /// Raw units of the token sold in the pool.
    pub amount_in: U256,
    /// The token sold in the pool.
    pub base: Base,
    /// The pool.
    pub pool: PoolId,
}

wire_struct!(RoutePlanLeg { amount_in, base, pool });

/// The price of a token that is not cash, in the plan's bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoutePrice {
    /// The token.
    pub token: Address,
    /// Of a raw unit, in `2^-160` dollars.
    pub value: U256,
}

wire_struct!(RoutePrice { token, value });

/// The amount of a token that is sold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SoldAmount {
    /// Raw units.
    pub amount_in: U256,
    /// The token.
    pub token: Address,
}

wire_struct!(SoldAmount { amount_in, token });

/// The validated parameters of a route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteTerms {
    /// Raw units of the token sold.
    pub amount_in: U256,
    /// The tokens that count as cash, ascending.
    pub cash: Vec<Address>,
    /// The plan, in an order in which it can be executed.
    pub legs: Vec<RoutePlanLeg>,
    /// All pools that count for the bound, used or not: on one chain, ascending.
    pub pools: Vec<PoolId>,
    /// The prices of the bound, ascending by token.
    pub prices: Vec<RoutePrice>,
    /// The slot.
    pub slot: Slot,
    /// The token sold.
    pub token: Address,
}

/// The validated parameters of a portfolio.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortfolioTerms {
    /// The tokens that count as cash, ascending.
    pub cash: Vec<Address>,
    /// The plan, in an order in which it can be executed.
    pub legs: Vec<RoutePlanLeg>,
    /// All pools that count for the bound, used or not: on one chain, ascending.
    pub pools: Vec<PoolId>,
    /// The prices of the bound, ascending by token.
    pub prices: Vec<RoutePrice>,
    /// The slot.
    pub slot: Slot,
    /// What is sold, ascending by token.
    pub sold: Vec<SoldAmount>,
}

/// The parameters of a route as a figure file spells them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteParameters {
    amount_in: U256,
    cash: Vec<Address>,
    legs: Vec<RoutePlanLeg>,
    pools: Vec<PoolId>,
    prices: Vec<RoutePrice>,
    slot: u64,
    token: Address,
}

wire_struct!(RouteParameters { amount_in, cash, legs, pools, prices, slot, token });

/// The parameters of a portfolio as a figure file spells them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortfolioParameters {
    cash: Vec<Address>,
    legs: Vec<RoutePlanLeg>,
    pools: Vec<PoolId>,
    prices: Vec<RoutePrice>,
    slot: u64,
    sold: Vec<SoldAmount>,
}

wire_struct!(PortfolioParameters { cash, legs, pools, prices, slot, sold });

/// Whether a list ascends without repetition.
fn ascends<T: Ord>(of: impl IntoIterator<Item = T>) -> bool {
    let mut items = of.into_iter();
    let Some(mut last) = items.next() else { return true };
    items.all(|next| core::mem::replace(&mut last, next) < last)
}

impl RouteTerms {
    /// The same as a portfolio of one token.
    pub(super) fn to_portfolio(&self) -> PortfolioTerms {
        let Self { amount_in, cash, legs, pools, prices, slot, token } = self.clone();
        PortfolioTerms {
            cash,
            legs,
            pools,
            prices,
            slot,
            sold: vec![SoldAmount { amount_in, token }],
        }
    }
}

impl PortfolioTerms {
    fn require_bounds(&self) -> Result<(), FigureError> {
        let wrong = |field, rule| Err(FigureError::Parameter { field, rule });
        let Self { cash, legs, pools, prices, sold, .. } = self;
        let first = pools.first().map(PoolId::chain);
        if !(1..=MAX_NETWORK_POOLS).contains(&pools.len()) || !ascends(pools) {
            return Err(FigureError::Venues { rule: "must be 1 to 24 pools, ascending" });
        }
        if pools.iter().any(|pool| Some(pool.chain()) != first) {
            return Err(FigureError::Venues { rule: "all pools must be on one chain" });
        }
        if !(1..=MAX_SOLD_TOKENS).contains(&sold.len())
            || !ascends(sold.iter().map(|one| one.token))
        {
            return wrong("sold", "must be 1 to 24 tokens, ascending");
        }
        let is_sold = |token: &Address| sold.iter().any(|one| one.token == *token);
        if !(1..=MAX_CASH_TOKENS).contains(&cash.len())
            || !ascends(cash)
            || cash.iter().any(is_sold)
        {
            return wrong("cash", "must be 1 to 8 tokens, ascending, none of them sold");
        }
        if !(1..=MAX_NETWORK_POOLS).contains(&legs.len()) {
            return wrong("legs", "must be 1 to 24 legs");
        }
        let amounts = legs.iter().map(|leg| leg.amount_in);
        if amounts.chain(sold.iter().map(|one| one.amount_in)).any(|amount| amount.is_zero()) {
            return wrong("amount_in", "must be positive");
        }
        let is_free = prices.iter().any(|price| price.value.is_zero());
        if prices.len() > 2 * MAX_NETWORK_POOLS
            || !ascends(prices.iter().map(|one| one.token))
            || is_free
        {
            return wrong("prices", "must be positive prices of at most 48 tokens, ascending");
        }
        Ok(())
    }
}

impl Figure for RouteTerms {
    const NAME: &'static str = super::ROUTE;

    type Parameters = RouteParameters;
    type Pass = RoutePass;

    fn validate(self) -> Result<Self, FigureError> {
        self.to_portfolio().require_bounds()?;
        Ok(self)
    }

    fn parameters(&self) -> RouteParameters {
        let Self { amount_in, cash, legs, pools, prices, slot, token } = self.clone();
        RouteParameters { amount_in, cash, legs, pools, prices, slot: slot.number().into(), token }
    }

    fn from_parameters(read: &RouteParameters) -> Result<Self, FigureError> {
        let RouteParameters { amount_in, cash, legs, pools, prices, slot, token } = read.clone();
        let slot = FigureError::slot("slot", slot)?;
        Self { amount_in, cash, legs, pools, prices, slot, token }.validate()
    }

    fn pools(&self) -> Vec<&PoolId> {
        self.pools.iter().collect()
    }

    fn period(&self) -> (Slot, Slot) {
        (self.slot, self.slot)
    }

    fn pass(self) -> Result<RoutePass, FigureError> {
        RoutePass::new(self.to_portfolio())
    }
}

impl Figure for PortfolioTerms {
    const NAME: &'static str = super::PORTFOLIO;

    type Parameters = PortfolioParameters;
    type Pass = RoutePass;

    fn validate(self) -> Result<Self, FigureError> {
        self.require_bounds()?;
        Ok(self)
    }

    fn parameters(&self) -> PortfolioParameters {
        let Self { cash, legs, pools, prices, slot, sold } = self.clone();
        PortfolioParameters { cash, legs, pools, prices, slot: slot.number().into(), sold }
    }

    fn from_parameters(read: &PortfolioParameters) -> Result<Self, FigureError> {
        let PortfolioParameters { cash, legs, pools, prices, slot, sold } = read.clone();
        let slot = FigureError::slot("slot", slot)?;
        Self { cash, legs, pools, prices, slot, sold }.validate()
    }

    fn pools(&self) -> Vec<&PoolId> {
        self.pools.iter().collect()
    }

    fn period(&self) -> (Slot, Slot) {
        (self.slot, self.slot)
    }

    fn pass(self) -> Result<RoutePass, FigureError> {
        RoutePass::new(self)
    }
}
