//! What a plan's legs bring, one after the other, as the contracts fill them.

use super::network::Network;
use super::values::Sale;
use crate::ids::Address;
use crate::pools::{Direction, FillError};
use crate::units::{Percent, UsdMicros};
use crate::wide::U256;

/// A sale of a plan: a pool, by its number in the network, and how much it sells there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LegOrder {
    /// The pool's number.
    pub pool: usize,
    /// The direction of the sale.
    pub direction: Direction,
    /// Raw units of the token sold there.
    pub amount_in: U256,
}

/// A leg as the contract fills it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanLeg {
    /// The sale.
    pub order: LegOrder,
    /// Raw units of the token bought.
    pub amount_out: U256,
}

/// What a plan brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanResult {
    /// The legs, in their order.
    pub legs: Vec<PlanLeg>,
    /// The cash received, raw units by token, ascending; tokens of which there is some.
    pub received: Vec<(Address, U256)>,
    /// The cash received at its oracle prices against the amounts sold at theirs. Positive is worse. `None` if it is
    /// too large for a percentage.
    pub gap: Option<Percent>,
    /// The cash received, in dollars, rounded down.
    pub received_usd: UsdMicros,
}

/// Why a plan cannot be executed. Legs are counted from 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The leg's direction lies on no path.
    #[error("leg {leg}: this direction of the pool is on no path to cash")]
    OffPath {
        /// The leg.
        leg: usize,
    },
    /// An earlier leg used the contract.
    #[error("leg {leg}: the pool's contract is used twice")]
    PoolTwice {
        /// The later leg.
        leg: usize,
    },
    /// The leg sells more than there is at its turn.
    #[error("leg {leg} sells {sold} units of which {held} are there")]
    NotHeld {
        /// The leg.
        leg: usize,
        /// What it sells.
        sold: U256,
        /// What the legs before it left.
        held: U256,
    },
    /// The contract refuses the sale.
    #[error("leg {leg}: {error}")]
    Refused {
        /// The leg.
        leg: usize,
        /// The contract's reason.
        error: FillError,
    },
    /// Units of a token that is not cash are left at the end.
    #[error("{left} units of {token} are left")]
    Left {
        /// The token.
        token: Address,
        /// How many units.
        left: U256,
    },
}

impl Network<'_> {
    /// Executes the legs one after the other, beginning with these amounts of the tokens sold. At the end only cash may be
    /// left.
    pub fn replay(
        &self,
        orders: &[LegOrder],
        amounts_in: &[U256],
    ) -> Result<PlanResult, ReplayError> {
        let mut held = vec![U256::ZERO; self.tokens.len()];
        for (sold, amount) in self.sold.iter().zip(amounts_in) {
            held[sold.at] = *amount;
        }
        let (mut legs, mut used) = (Vec::with_capacity(orders.len()), Vec::new());
        for (leg, order) in orders.iter().enumerate() {
            let LegOrder { pool, direction, amount_in } = *order;
            let edge = self.edge(pool, direction).ok_or(ReplayError::OffPath { leg })?;
            let edge = self.edges[edge];
            if used.contains(&edge.contract) {
                return Err(ReplayError::PoolTwice { leg });
            }
            used.push(edge.contract);
            let left = held[edge.from].checked_sub(amount_in).ok_or(ReplayError::NotHeld {
                leg,
                sold: amount_in,
                held: held[edge.from],
            })?;
            let state = self.pools[pool].priced.state;
            let fill = state.fill_once(direction, amount_in);
            let amount_out = fill.map_err(|error| ReplayError::Refused { leg, error })?.amount_out;
            held[edge.from] = left;
            held[edge.to] = held[edge.to].saturating_add(amount_out);
            legs.push(PlanLeg { order: *order, amount_out });
        }
        let is_cash = |token: &usize| self.cash_at(*token).is_some();
        let left = (0..held.len()).find(|token| !is_cash(token) && !held[*token].is_zero());
        if let Some(token) = left {
            return Err(ReplayError::Left { token: self.tokens[token], left: held[token] });
        }
        let amounts = self.cash.iter().map(|cash| (cash.token, held[cash.at]));
        let received: Vec<_> = amounts.filter(|(_, amount)| !amount.is_zero()).collect();
        let sale = self.sale(amounts_in, &received);
        let (gap, received_usd) = (sale.gap(), sale.received_micros());
        Ok(PlanResult { legs, received, gap, received_usd })
    }

    /// The sale of amounts of the tokens sold for these amounts of cash.
    pub(super) fn sale(&self, amounts_in: &[U256], received: &[(Address, U256)]) -> Sale<'_> {
        let worth = |(token, amount): &(Address, U256)| {
            let cash = self.cash.iter().find(|cash| cash.token == *token)?;
            Some((&cash.worth, *amount))
        };
        let received = received.iter().filter_map(worth).collect();
        Sale { sold: self.sold_amounts(amounts_in).collect(), received }
    }
}
