//! Whether the logs between two slots are all there are: replayed on the earlier state they give the later one.

use std::collections::BTreeMap;

use super::{PoolEvent, PriceAfter};
use crate::pools::{Concentrated, ConstantProduct, PoolState, Tick};

/// A state that logs are replayed on.
#[derive(Debug, Clone)]
pub(super) enum Replay {
    Ranges {
        price: PriceAfter,
        /// Net and gross liquidity by tick.
        ticks: BTreeMap<i32, (i128, u128)>,
        fee_pips: u32,
        tick_spacing: i32,
        /// A log that no such state can have.
        broken: bool,
    },
    Reserves {
        reserves: [u128; 2],
        pair: ConstantProduct,
        broken: bool,
    },
}

impl Replay {
    /// `None` where the kind's logs are not known.
    pub fn of(state: &PoolState) -> Option<Self> {
        match state {
            PoolState::Concentrated(pool) => Some(Self::Ranges {
                price: PriceAfter {
                    sqrt_price_x96: pool.sqrt_price_x96(),
                    tick: pool.tick(),
                    liquidity: pool.liquidity(),
                },
                ticks: pool
                    .ticks()
                    .iter()
                    .map(|tick| (tick.tick, (tick.liquidity_net, tick.liquidity_gross)))
                    .collect(),
                fee_pips: pool.fee_pips(),
                tick_spacing: pool.tick_spacing(),
                broken: false,
            }),
            PoolState::ConstantProduct(pair) => {
                Some(Self::Reserves { reserves: pair.reserves(), pair: *pair, broken: false })
            }
            _ => None,
        }
    }

    pub fn apply(&mut self, event: &PoolEvent) {
        match self {
            Self::Ranges { price, ticks, broken, .. } => match event {
                PoolEvent::Swap(_, Some(after)) => *price = *after,
                PoolEvent::Liquidity { lower, upper, delta } => {
                    *broken |= add(price, ticks, *lower, *upper, *delta).is_none();
                }
                PoolEvent::Swap(_, None) | PoolEvent::Reserves(_) => *broken = true,
            },
            Self::Reserves { reserves, broken, .. } => match event {
                PoolEvent::Reserves(found) => *reserves = *found,
                // Its reserves come in a log of their own.
                PoolEvent::Swap(_, None) => {}
                PoolEvent::Swap(_, Some(_)) | PoolEvent::Liquidity { .. } => *broken = true,
            },
        }
    }

    /// Whether it is this state, bit for bit.
    pub fn is(&self, state: &PoolState) -> bool {
        match (self, state) {
            (
                Self::Ranges { price, ticks, fee_pips, tick_spacing, broken },
                PoolState::Concentrated(pool),
            ) => {
                let ticks = ticks.iter().map(|(tick, (net, gross))| Tick {
                    tick: *tick,
                    liquidity_net: *net,
                    liquidity_gross: *gross,
                });
                let PriceAfter { sqrt_price_x96, tick, liquidity } = *price;
                let (ticks, fee_pips) = (ticks.collect(), *fee_pips);
                let made = Concentrated::new(
                    sqrt_price_x96,
                    tick,
                    liquidity,
                    fee_pips,
                    *tick_spacing,
                    ticks,
                );
                !broken && made.is_ok_and(|made| made == *pool)
            }
            (Self::Reserves { reserves, pair, broken }, PoolState::ConstantProduct(found)) => {
                let made = ConstantProduct::new(*reserves, pair.fee());
                !broken && made.is_ok_and(|made| made == *found)
            }
            _ => false,
        }
    }
}

/// Adds liquidity to a range; `None` where no contract could.
fn add(
    price: &mut PriceAfter,
    ticks: &mut BTreeMap<i32, (i128, u128)>,
    lower: i32,
    upper: i32,
    delta: i128,
) -> Option<()> {
    // A burn of nothing settles fees.
    if delta == 0 {
        return Some(());
    }
    for (at, net_delta) in [(lower, delta), (upper, delta.checked_neg()?)] {
        let (net, gross) = ticks.entry(at).or_default();
        *net = net.checked_add(net_delta)?;
        *gross = gross.checked_add_signed(delta)?;
        if *gross == 0 {
            ticks.remove(&at);
        }
    }
    if (lower..upper).contains(&price.tick) {
        price.liquidity = price.liquidity.checked_add_signed(delta)?;
    }
    Some(())
}
