//! Core against the pool and against `QuoterV2`.

use alloy::primitives::U256;
use exitgap_core::pools::{Concentrated, Direction, PoolState, SaleCurve};

use super::bed::{Bed, Pool, Quote, Swapped};
use super::pool_to_make::PoolToMake;
use super::sizes::size;
use crate::evm::Revert;
use crate::{ParityError, Tally};
use exitgap_tests::devchain::Rng;
use exitgap_tests::parity::answer::{After, Answer};

/// States tried per pool, each reached from the one before by a real swap.
const STATES_PER_POOL: u64 = 4;

/// Sizes tried per state.
const SIZES_PER_STATE: u64 = 12;

/// Tries `cases` sizes on random pools. `heard` is called after each pool.
pub fn run(
    bed: &Bed,
    rng: &mut Rng,
    cases: u64,
    heard: &mut dyn FnMut(&Tally),
) -> Result<Tally, ParityError> {
    let mut tally = Tally::default();
    while tally.cases < cases {
        let mut pool = bed.pool(&PoolToMake::random(rng))?;
        for _ in 0..STATES_PER_POOL {
            let state = PoolState::Concentrated(pool.state()?);
            let curves = Direction::BOTH.map(|direction| state.curve(direction));
            for _ in 0..SIZES_PER_STATE.min(cases - tally.cases) {
                let curve = &curves[usize::from(rng.once_in(2))];
                let amount_in = size(rng, curve);
                try_sale(&mut pool, &state, curve, amount_in, &mut tally)?;
            }
            let curve = &curves[usize::from(rng.once_in(2))];
            // A swap that the pool refuses leaves the state as it is.
            let _moved = pool.swap(curve.direction(), size(rng, curve), true)?;
        }
        heard(&tally);
    }
    Ok(tally)
}

/// Sells `amount_in` for real and by the quoter, and compares core with both.
pub fn try_sale(
    pool: &mut Pool,
    state: &PoolState,
    curve: &SaleCurve,
    amount_in: U256,
    tally: &mut Tally,
) -> Result<(), ParityError> {
    let PoolState::Concentrated(before) = state else {
        return Err(ParityError::Machine("a v3 pool has concentrated liquidity".to_owned()));
    };
    let direction = curve.direction();
    let swapped = pool.swap(direction, amount_in, false)?;
    let quoted = pool.quote(direction, amount_in)?;
    let crossed = swapped.as_ref().map_or(0, |swapped| crossed(before, swapped));
    tally.count(crossed);
    let expected = match contract_answer(&swapped, amount_in, crossed) {
        Ok(expected) => expected,
        Err(reason) => {
            tally.differ(state, direction, amount_in, None, reason);
            return Ok(());
        }
    };
    let found = Answer::of_core(state, curve, amount_in);
    if found.as_ref() != Ok(&expected) {
        let reason = format!("the real swap says {expected:?}, core {found:?}");
        tally.differ(state, direction, amount_in, Some(expected), reason);
    } else if let Err(reason) = quoter_agrees(before, &swapped, &quoted) {
        tally.differ(state, direction, amount_in, Some(expected), reason);
    }
    Ok(())
}

/// The real swap's outcome as an [`Answer`], or a revert nobody expects.
fn contract_answer(
    swapped: &Result<Swapped, Revert>,
    amount_in: U256,
    ticks_crossed: u32,
) -> Result<Answer, String> {
    match swapped {
        Ok(swapped) if swapped.consumed == amount_in => Ok(Answer::Filled {
            amount_out: swapped.paid,
            after: Some(After {
                sqrt_price_x96: swapped.sqrt_price_after_x96,
                tick: swapped.tick_after,
                liquidity: swapped.liquidity_after,
                ticks_crossed,
            }),
        }),
        Ok(swapped) => {
            Ok(Answer::BeyondLiquidity { consumed: swapped.consumed, paid: swapped.paid })
        }
        // The price is at the contract's limit already.
        Err(revert) if revert.reason() == "SPL" => {
            Ok(Answer::BeyondLiquidity { consumed: U256::ZERO, paid: U256::ZERO })
        }
        Err(revert) => Err(format!("the swap reverted: {}", revert.reason())),
    }
}

/// Initialised ticks between the contract's tick before and after. A falling price that reaches a
/// tick leaves the contract one below it, so both directions exclude the lower end.
fn crossed(before: &Concentrated, swapped: &Swapped) -> u32 {
    let (low, high) = ordered(before.tick(), swapped.tick_after);
    let ticks = before.ticks().iter().filter(|tick| low < tick.tick && tick.tick <= high);
    u32::try_from(ticks.count()).expect("a pool has fewer ticks")
}

fn quoter_agrees(
    before: &Concentrated,
    swapped: &Result<Swapped, Revert>,
    quoted: &Result<Quote, Revert>,
) -> Result<(), String> {
    match (swapped, quoted) {
        (Ok(swapped), Ok(quote)) => {
            let expected = Quote {
                amount_out: swapped.paid,
                sqrt_price_after_x96: swapped.sqrt_price_after_x96,
                initialised_ticks_crossed: crossed_as_the_quoter_counts(before, swapped),
            };
            if *quote == expected {
                return Ok(());
            }
            Err(format!("the quoter says {quote:?}, the real swap {expected:?}"))
        }
        // The quoter refuses to be called back for nothing.
        (Ok(swapped), Err(_)) if swapped.consumed.is_zero() && swapped.paid.is_zero() => Ok(()),
        (Err(_), Err(_)) => Ok(()),
        _ => Err(format!("the quoter says {quoted:?}, the real swap {swapped:?}")),
    }
}

/// `PoolTicksCounter.countInitializedTicksCrossed`: it divides ticks by the spacing towards zero,
/// and so counts a tick too many for some prices between two multiples of the spacing.
fn crossed_as_the_quoter_counts(before: &Concentrated, swapped: &Swapped) -> u32 {
    let (spacing, start, end) = (before.tick_spacing(), before.tick(), swapped.tick_after);
    let (low, high) = ordered(start / spacing, end / spacing);
    let initialised =
        |tick: i32| before.ticks().binary_search_by_key(&tick, |tick| tick.tick).is_ok();
    let counted =
        before.ticks().iter().filter(|tick| (low..=high).contains(&(tick.tick / spacing)));
    let counted = u32::try_from(counted.count()).expect("a pool has fewer ticks");
    // Not crossed: the tick a falling price ends on, the tick a rising price starts on.
    counted
        - u32::from(end < start && initialised(end))
        - u32::from(start < end && initialised(start))
}

fn ordered(a: i32, b: i32) -> (i32, i32) {
    (a.min(b), a.max(b))
}
