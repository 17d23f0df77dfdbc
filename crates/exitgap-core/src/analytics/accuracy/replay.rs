//! Checks that the logs between two slots are complete: each must be possible in the state before it, and together they
//! must lead to the later slot's state.

use std::borrow::Cow;

use super::events::{SwapAmounts, SwapKind};
use super::judge::{Sale, pays_at_most};
use super::{PoolEvent, PriceAfter};
use crate::pools::{Concentrated, ConstantProduct, Direction, Fill, PoolState, Tick};
use crate::wide::U256;

/// A state on which logs are replayed. `None` after a log that is not possible in the state before it.
#[derive(Debug, Clone)]
pub(super) enum Replay {
    Ranges(Option<PoolState>),
    Reserves(Option<Reserves>),
}

/// The state of a constant-product pair between two logs.
#[derive(Debug, Clone)]
pub(super) struct Reserves {
    pair: ConstantProduct,
    /// The reserves before the last change, if no log has explained that change yet.
    unexplained: Option<[u128; 2]>,
}

impl Replay {
    /// `None` if this kind of pool's logs are not supported.
    pub fn from_state(state: &PoolState) -> Option<Self> {
        match state {
            PoolState::Concentrated(_) => Some(Self::Ranges(Some(state.clone()))),
            PoolState::ConstantProduct(pair) => {
                Some(Self::Reserves(Some(Reserves { pair: *pair, unexplained: None })))
            }
            _ => None,
        }
    }

    pub fn apply(&mut self, event: &PoolEvent) {
        match self {
            Self::Ranges(state) => *state = state.take().and_then(|state| after(&state, event)),
            Self::Reserves(pair) => *pair = pair.take().and_then(|pair| pair.after(event)),
        }
    }

    /// Whether a swap ended at an output that the trader fixed: it is not the contract's fill of the amount sold, and in
    /// the state before it, the amount sold pays at least the amount received, and one raw unit less at most that.
    pub fn is_for_output(&self, event: &PoolEvent) -> bool {
        let PoolEvent::Swap(amounts, price) = event else { return false };
        let SwapKind::Sale { direction, amount_in, amount_out } = amounts.kind() else {
            return false;
        };
        let Some(state) = self.state_before_swap() else { return false };
        let Ok(sold) = state.fill_once(direction, amount_in) else { return false };
        let leaves_price =
            || price.is_none_or(|price| price_of(&state.after(direction, &sold)) == Some(price));
        if sold.amount_out == amount_out && leaves_price() {
            return false;
        }
        let sale = Sale { direction, amount_in, amount_out, is_for_output: true };
        sold.amount_out >= amount_out && pays_at_most(&state, &sale)
    }

    /// The state in which a swap that is logged now took place.
    fn state_before_swap(&self) -> Option<Cow<'_, PoolState>> {
        match self {
            Self::Ranges(state) => state.as_ref().map(Cow::Borrowed),
            // The reserves after the swap are logged before the swap.
            Self::Reserves(pair) => {
                let Reserves { pair, unexplained } = pair.as_ref()?;
                let before = ConstantProduct::new((*unexplained)?, pair.fee()).ok()?;
                Some(Cow::Owned(before.into()))
            }
        }
    }

    /// Whether the replayed state equals this one, bit for bit.
    pub fn matches_state(self, state: &PoolState) -> bool {
        match (self, state) {
            (Self::Ranges(Some(made)), PoolState::Concentrated(_)) => made == *state,
            (Self::Reserves(Some(made)), PoolState::ConstantProduct(found)) => {
                made.settle_unexplained().is_some_and(|made| made.pair == *found)
            }
            _ => false,
        }
    }
}

/// A concentrated-liquidity pool after a log.
fn after(state: &PoolState, event: &PoolEvent) -> Option<PoolState> {
    let PoolState::Concentrated(pool) = state else { return None };
    match event {
        PoolEvent::Swap(amounts, Some(price)) => after_swap(state, pool, amounts, *price),
        PoolEvent::Liquidity { lower, upper, delta } => with(pool, *lower, *upper, *delta),
        _ => None,
    }
}

/// A concentrated-liquidity pool after a swap, if the contract can have made that swap. If nothing went in or nothing
/// came out, any price is accepted.
fn after_swap(
    state: &PoolState,
    pool: &Concentrated,
    amounts: &SwapAmounts,
    price: PriceAfter,
) -> Option<PoolState> {
    let moved = || at(pool, price, pool.ticks().to_vec());
    let SwapKind::Sale { direction, amount_in, amount_out } = amounts.kind() else {
        return moved();
    };
    let sold = state.fill_once(direction, amount_in).ok()?;
    let next = state.after(direction, &sold);
    if sold.amount_out == amount_out && price_of(&next) == Some(price) {
        return Some(next);
    }
    // A swap that stopped at a price or an output: its input lies between this sale's and one smaller by at most the
    // units that the contract rounds up.
    let slack = rounded_up(pool, price.tick);
    let less = amount_in.checked_sub(slack).filter(|less| !less.is_zero());
    let less = less.and_then(|less| state.fill_once(direction, less).ok());
    let least = less.as_ref().map_or(U256::ZERO, |fill| fill.amount_out);
    let from = less.as_ref().and_then(Fill::sqrt_price_after_x96).unwrap_or(pool.sqrt_price_x96());
    let to = sold.sqrt_price_after_x96()?;
    // If no liquidity is left, the price moves without any amount.
    let ran_dry = price.liquidity == 0 && price_of(&next)?.liquidity == 0;
    let is_between = match direction {
        Direction::ZeroForOne => {
            price.sqrt_price_x96 <= from && (ran_dry || price.sqrt_price_x96 >= to)
        }
        Direction::OneForZero => {
            price.sqrt_price_x96 >= from && (ran_dry || price.sqrt_price_x96 <= to)
        }
    };
    let can_be = (least..=sold.amount_out).contains(&amount_out) && is_between;
    if can_be { moved() } else { None }
}

/// The most units by which a swap to a tick is rounded up: its amount and its fee, at each stop on the way.
fn rounded_up(pool: &Concentrated, tick: i32) -> U256 {
    const MILLION: u64 = 1_000_000;
    let [low, high] = [pool.tick().min(tick), pool.tick().max(tick)];
    let words =
        u64::from(low.abs_diff(high)) / (256 * u64::from(pool.tick_spacing().unsigned_abs()));
    let ticks = pool.ticks().iter().filter(|at| (low..=high).contains(&at.tick)).count() as u64;
    let each = 2 + MILLION.div_ceil(MILLION.saturating_sub(pool.fee_pips().into()).max(1));
    U256::from(each * (words + ticks + 2))
}

fn price_of(state: &PoolState) -> Option<PriceAfter> {
    let PoolState::Concentrated(pool) = state else { return None };
    let (sqrt_price_x96, tick, liquidity) = (pool.sqrt_price_x96(), pool.tick(), pool.liquidity());
    Some(PriceAfter { sqrt_price_x96, tick, liquidity })
}

/// The same pool at another price, with these ticks.
fn at(pool: &Concentrated, price: PriceAfter, ticks: Vec<Tick>) -> Option<PoolState> {
    let PriceAfter { sqrt_price_x96, tick, liquidity } = price;
    let (fee_pips, spacing) = (pool.fee_pips(), pool.tick_spacing());
    let made = Concentrated::new(sqrt_price_x96, tick, liquidity, fee_pips, spacing, ticks);
    made.ok().map(PoolState::from)
}

/// The same pool with liquidity added to or removed from a range; `None` if no contract can have that state.
fn with(pool: &Concentrated, lower: i32, upper: i32, delta: i128) -> Option<PoolState> {
    let mut ticks = pool.ticks().to_vec();
    // A burn of zero only collects fees.
    let changes = [(lower, delta), (upper, delta.checked_neg()?)];
    for (tick, net) in changes.into_iter().filter(|_| delta != 0) {
        let place = ticks.partition_point(|known| known.tick < tick);
        if ticks.get(place).is_none_or(|known| known.tick != tick) {
            ticks.insert(place, Tick { tick, liquidity_net: 0, liquidity_gross: 0 });
        }
        let known = &mut ticks[place];
        known.liquidity_net = known.liquidity_net.checked_add(net)?;
        known.liquidity_gross = known.liquidity_gross.checked_add_signed(delta)?;
        if known.liquidity_gross == 0 {
            ticks.remove(place);
        }
    }
    let mut price = price_of(&PoolState::from(pool.clone()))?;
    if (lower..upper).contains(&price.tick) {
        price.liquidity = price.liquidity.checked_add_signed(delta)?;
    }
    at(pool, price, ticks)
}

impl Reserves {
    /// The pair after a log. The contract first logs the new reserves, then the event that changed them.
    fn after(self, event: &PoolEvent) -> Option<Self> {
        let now = self.pair.reserves();
        if let PoolEvent::Reserves(found) = event {
            let Self { pair, .. } = self.settle_unexplained()?;
            let pair = ConstantProduct::new(*found, pair.fee()).ok()?;
            return Some(Self { pair, unexplained: Some(now) });
        }
        let before = self.unexplained?.map(U256::from);
        let now = now.map(U256::from);
        let explains = (0..2).all(|token| match event {
            PoolEvent::Swap(SwapAmounts { sold, bought }, None) => {
                before[token]
                    .checked_add(sold[token])
                    .and_then(|all| all.checked_sub(bought[token]))
                    == Some(now[token])
            }
            PoolEvent::Deposit(amounts) => {
                before[token].checked_add(amounts[token]) == Some(now[token])
            }
            // Tokens sent to the pair before the withdrawal stay in it.
            PoolEvent::Withdrawal(amounts) => {
                now[token].checked_add(amounts[token]).is_some_and(|all| all >= before[token])
            }
            _ => false,
        });
        explains.then_some(Self { pair: self.pair, unexplained: None })
    }

    /// The pair, if a change without an explaining log can be a plain transfer to the pair (a gift).
    fn settle_unexplained(self) -> Option<Self> {
        let now = self.pair.reserves();
        let is_gift = |before: [u128; 2]| now[0] >= before[0] && now[1] >= before[1];
        self.unexplained.is_none_or(is_gift).then_some(self)
    }
}
