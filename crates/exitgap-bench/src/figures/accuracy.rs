//! The time to compare a swap with its estimates: replayed, and estimated from eight slots.

use std::time::Instant;

use exitgap_core::U256;
use exitgap_core::analytics::accuracy::{
    AccuracyScan, PoolEvent, PoolLog, PriceAfter, SwapAmounts,
};
use exitgap_core::ids::Address;
use exitgap_core::pools::{Direction, PoolState};
use exitgap_core::snapshot::{BlockRef, Observation};

use super::{TICKS, failed};
use crate::BenchError;
use crate::effort::Effort;
use crate::evidence::slot;
use crate::market::BusyPool;

/// A day and an hour, so that all eight slots exist for most swaps.
const SLOTS: Effort<u32> = Effort::new(300, 30);

/// Number of swaps between two slots.
const SWAPS: u32 = 20;

/// Microseconds per swap of a pass, including its share of the slot.
pub fn us_per_swap() -> Result<f64, BenchError> {
    let entry = BusyPool::real(9, TICKS.get()).recorded(slot(0)?)?;
    let drawn = entry.reading.map_err(|_| failed("nothing was drawn"))?;
    let first = drawn.observation();
    let mut state = first.state().clone();
    let mut passed = vec![(seen(first, 0, &state)?, Vec::new())];
    for place in 1..SLOTS.get() {
        let mut logs = Vec::new();
        for n in 0..SWAPS {
            // Back and forth, so that the price stays within the ticks.
            let direction = if n % 2 == 0 { Direction::ZeroForOne } else { Direction::OneForZero };
            let (event, after) = swap(&state, direction)?;
            let block = block_of(place - 1) + 1 + u64::from(n / 4);
            logs.push(PoolLog {
                block,
                index: n,
                transaction: [1; 32],
                parties: [Address([0; 20]); 2],
                event,
            });
            state = after;
        }
        passed.push((seen(first, place, &state)?, logs));
    }
    let start = Instant::now();
    let mut scan = AccuracyScan::new();
    for (place, (observation, logs)) in (0..).zip(passed) {
        scan.add_slot(slot(place)?, observation, &logs).map_err(failed)?;
    }
    let told = scan.finish();
    let taken = start.elapsed().as_secs_f64() * 1e6;
    let all = (SLOTS.get() - 1) * SWAPS;
    if told.compared != all || told.stretches_incomplete != 0 {
        return Err(failed(format!("{} of {all} swaps are compared", told.compared)));
    }
    Ok(taken / f64::from(all))
}

fn block_of(place: u32) -> u64 {
    1_000 + u64::from(place) * 25
}

/// The pool in this state at the n-th slot.
fn seen(first: &Observation, place: u32, state: &PoolState) -> Result<Observation, BenchError> {
    let block = BlockRef { number: block_of(place), ..first.block() };
    let (tokens, oracles) = (first.tokens().clone(), first.oracles().to_vec());
    let (pool, chain) = (first.pool().clone(), first.chain());
    Observation::new(pool, chain, block, tokens, state.clone(), oracles, Vec::new()).map_err(failed)
}

/// A sale that moves the price a little, as the contract logs it, and the state after it.
fn swap(state: &PoolState, direction: Direction) -> Result<(PoolEvent, PoolState), BenchError> {
    let most = state.curve(direction).most().0;
    let fill = state.fill_once(direction, most >> 8).map_err(failed)?;
    let after = state.after(direction, &fill);
    let PoolState::Concentrated(pool) = &after else { return Err(failed("a pool of ranges")) };
    let mut amounts = SwapAmounts { sold: [U256::ZERO; 2], bought: [U256::ZERO; 2] };
    amounts.sold[direction.base_index()] = fill.amount_in;
    amounts.bought[direction.quote_index()] = fill.amount_out;
    let (sqrt_price_x96, tick) = (pool.sqrt_price_x96(), pool.tick());
    let price = PriceAfter { sqrt_price_x96, tick, liquidity: pool.liquidity() };
    Ok((PoolEvent::Swap(amounts, Some(price)), after))
}
