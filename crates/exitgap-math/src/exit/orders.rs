//! One exit in several orders.

use super::{Estimate, Exit, Refusal};
use crate::units::{DecimalError, Percent, PercentError, SizeUsd};
use crate::wide::{U256, over, remainder};

/// How an exit is divided into orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderPlan {
    size: SizeUsd,
    parts: u32,
    recovery_e8: u32,
    interval_s: u32,
}

/// Why numbers are not a valid plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OrderPlanError {
    /// The number of parts is not between 1 and 1000.
    #[error("{found} orders given; the number must be from 1 to {most}", most = OrderPlan::MAX_PARTS)]
    Parts {
        /// The requested number of parts.
        found: u32,
    },
    /// The recovery is not a percentage from 0 to 100.
    #[error("recovery_pct: {0}")]
    Recovery(#[from] PercentError),
    /// The recovery is not a plain decimal with at most six decimals.
    #[error("recovery_pct: {0}")]
    Decimal(#[from] DecimalError),
}

impl OrderPlan {
    /// The maximum number of parts of a plan.
    pub const MAX_PARTS: u32 = 1_000;

    /// Sells `size` in `parts` orders. Between two orders √price moves back by `recovery` (a percentage from 0 to 100)
    /// of its distance from its value before the first order. `interval_s` is only returned unchanged: the recovery
    /// represents it, and nothing models it.
    pub fn new(
        size: SizeUsd,
        parts: u32,
        recovery: Percent,
        interval_s: u32,
    ) -> Result<Self, OrderPlanError> {
        const WHOLE: i128 = 100_000_000;
        if !(1..=Self::MAX_PARTS).contains(&parts) {
            return Err(OrderPlanError::Parts { found: parts });
        }
        let recovery_e8 =
            u32::try_from(recovery.0).ok().filter(|share| i128::from(*share) <= WHOLE).ok_or(
                PercentError::OutOfRange { found: recovery, min: Percent(0), max: Percent(WHOLE) },
            )?;
        Ok(Self { size, parts, recovery_e8, interval_s })
    }

    /// The whole exit's size.
    pub fn size(&self) -> SizeUsd {
        self.size
    }

    /// The number of orders.
    pub fn parts(&self) -> u32 {
        self.parts
    }

    /// The share of its displacement that √price recovers between two orders.
    pub fn recovery(&self) -> Percent {
        Percent(self.recovery_e8.into())
    }

    /// The seconds between orders, as the caller gave them.
    pub fn interval_s(&self) -> u32 {
        self.interval_s
    }
}

/// One order of a simulated exit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartFill {
    /// Raw units of the token sold in this order.
    pub amount_in: U256,
    /// Raw units of the token bought.
    pub amount_out: U256,
    /// The gap of this order against the same oracle price.
    pub gap: Percent,
}

/// An exit in several orders, and the same exit in one sale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simulation {
    /// The plan simulated.
    pub plan: OrderPlan,
    /// All orders, in sequence.
    pub parts: Vec<PartFill>,
    /// Raw units sold by all orders: the amount of the size.
    pub amount_in: U256,
    /// Raw units bought by all orders.
    pub amount_out: U256,
    /// The gap of all orders together.
    pub gap: Percent,
    /// The estimate of the same size in one sale, or why there is none.
    pub at_once: Result<Estimate, Refusal>,
}

/// An order that cannot be filled. The maximum amounts in `refusal` apply only to this order, after the previous ones.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("order {part} of {parts}: {refusal}")]
pub struct OrdersRefused {
    /// The number of the order, from 1.
    pub part: u32,
    /// The number of all orders.
    pub parts: u32,
    /// The reason.
    pub refusal: Refusal,
}

impl Exit {
    /// Simulates the plan's orders one after the other. The amounts differ by at most one unit, the larger ones first;
    /// oracle price and liquidity stay unchanged. Without recovery the orders together fill like one sale, except for
    /// rounding.
    pub fn simulate_orders(&self, plan: OrderPlan) -> Result<Simulation, OrdersRefused> {
        let refused = |part, refusal| OrdersRefused { part, parts: plan.parts, refusal };
        if plan.parts > 1 && !self.state.is_followed() {
            return Err(refused(2, Refusal::NotFollowed));
        }
        let amount_in = self.amount_in(plan.size).map_err(|refusal| refused(1, refusal))?;
        let parts = U256::from(plan.parts);
        let (each, one_more) = (over(amount_in, parts), remainder(amount_in, parts));
        let direction = self.direction();
        let mut state = self.state.clone();
        let mut parts = Vec::with_capacity(plan.parts as usize);
        let mut amount_out = U256::ZERO;
        for part in 1..=plan.parts {
            let extra = U256::from(u8::from(U256::from(part) <= one_more));
            let fill = state
                .fill_once(direction, each + extra)
                .map_err(|error| refused(part, self.refusal(&error)))?;
            let gap = self.gap(&fill).map_err(|refusal| refused(part, refusal))?;
            amount_out += fill.amount_out;
            state = state.after(direction, &fill).with_recovery(
                &self.state,
                direction,
                plan.recovery_e8,
            );
            parts.push(PartFill { amount_in: fill.amount_in, amount_out: fill.amount_out, gap });
        }
        if amount_out.is_zero() {
            return Err(refused(plan.parts, Refusal::NoOutput));
        }
        let gap = self
            .terms
            .gap(amount_in, amount_out)
            .ok_or_else(|| refused(plan.parts, Refusal::GapOutOfRange))?;
        let at_once = self.estimate(plan.size);
        Ok(Simulation { plan, parts, amount_in, amount_out, gap, at_once })
    }
}
