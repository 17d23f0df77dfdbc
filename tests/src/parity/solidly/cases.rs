//! Core against the pool and its factory.

use alloy::primitives::U256;
use exitgap_core::pools::{Direction, PoolState, SaleCurve, Solidly};

use super::bed::{Bed, Pool, PoolToMake};
use crate::devchain::Rng;
use crate::parity::answer::Answer;
use crate::parity::draw::{around, even, log_uniform};
use crate::parity::evm::Revert;
use crate::parity::{ParityError, Tally};

/// States tried per pool, each reached from the one before by a real sale.
const STATES_PER_POOL: u64 = 3;

/// Sizes tried per state.
const SIZES_PER_STATE: u64 = 16;

/// Tries `cases` sizes on random pools. `heard` is called after each pool.
pub fn run(
    bed: &Bed,
    rng: &mut Rng,
    cases: u64,
    heard: &mut dyn FnMut(&Tally),
) -> Result<Tally, ParityError> {
    let mut tally = Tally::default();
    while tally.cases < cases {
        let mut pool = bed.pool(&random_pool(bed, rng))?;
        for _ in 0..STATES_PER_POOL {
            let Ok(state) = pool.state()? else {
                refused_by_both(&mut pool)?;
                break;
            };
            let state = PoolState::from(state);
            let curves = Direction::BOTH.map(|direction| state.curve(direction));
            for _ in 0..SIZES_PER_STATE.min(cases - tally.cases) {
                let curve = &curves[usize::from(rng.once_in(2))];
                let amount_in = size(rng, curve).min(pool.affordable(curve.direction())?);
                try_sale(&mut pool, &state, curve, amount_in, &mut tally)?;
            }
            let curve = &curves[usize::from(rng.once_in(2))];
            let amount_in = size(rng, curve).min(pool.affordable(curve.direction())?);
            go_on(&mut pool, &state, curve, amount_in, &mut tally)?;
        }
        heard(&tally);
    }
    Ok(tally)
}

/// What core refuses to compute with, the contract does too.
fn refused_by_both(pool: &mut Pool) -> Result<(), ParityError> {
    for direction in Direction::BOTH {
        if let Ok(paid) = pool.sell(direction, U256::from(1_u64 << 40), false)? {
            let reason = format!("core refuses a pool that pays {paid} {direction:?}");
            return Err(ParityError::Machine(reason));
        }
    }
    Ok(())
}

/// Sells `amount_in` for real, and compares core with what the pool paid.
fn try_sale(
    pool: &mut Pool,
    state: &PoolState,
    curve: &SaleCurve,
    amount_in: U256,
    tally: &mut Tally,
) -> Result<(), ParityError> {
    tally.count(0);
    let direction = curve.direction();
    let found = match Answer::of_core(state, curve, amount_in) {
        Ok(found) => found,
        Err(reason) => {
            tally.differ(state, direction, amount_in, None, reason);
            return Ok(());
        }
    };
    let sold = pool.sell(direction, amount_in, false)?;
    let agrees = match &found {
        Answer::Filled { amount_out, .. } => sold == Ok(*amount_out),
        Answer::ZeroInput | Answer::ZeroOutput => sold.is_err(),
        Answer::BeyondLiquidity { consumed, paid } => {
            sold.is_err() && limit_is(pool, direction, *consumed, *paid)?
        }
    };
    if !agrees {
        let said = sold.as_ref().map_err(Revert::reason);
        let reason = format!("core {found:?}, the pool {said:?}");
        let expected = sold.ok().map(|amount_out| Answer::Filled { amount_out, after: None });
        tally.differ(state, direction, amount_in, expected, reason);
    }
    Ok(())
}

/// Whether the pool pays `paid` for `most`, and refuses one unit more.
fn limit_is(
    pool: &mut Pool,
    direction: Direction,
    most: U256,
    paid: U256,
) -> Result<bool, ParityError> {
    let at = pool.sell(direction, most, false)?;
    let past = pool.sell(direction, most + U256::ONE, false)?;
    let at_agrees = at.map_or(paid.is_zero(), |given| given == paid);
    Ok(at_agrees && past.is_err())
}

/// Sells and keeps what that did: core's state after is the contract's.
fn go_on(
    pool: &mut Pool,
    state: &PoolState,
    curve: &SaleCurve,
    amount_in: U256,
    tally: &mut Tally,
) -> Result<(), ParityError> {
    // A sale that the pool refuses leaves the state as it is.
    let (Ok(fill), Ok(_)) = (curve.fill(amount_in), pool.sell(curve.direction(), amount_in, true)?)
    else {
        return Ok(());
    };
    let (expected, found) = (state.after(curve.direction(), &fill), pool.state()?);
    if found.as_ref().ok() != Solidly::of(&expected) {
        let reason = format!("core leaves {expected:?}, the pool {found:?}");
        tally.differ(state, curve.direction(), amount_in, None, reason);
    }
    Ok(())
}

/// A pool with reserves up to what its contract computes with and somewhat more, in balance and off.
fn random_pool(bed: &Bed, rng: &mut Rng) -> PoolToMake {
    let index = |rng: &mut Rng, below: usize| {
        usize::try_from(rng.below(below as u64)).expect("it is below a number of this size")
    };
    let first = index(rng, Bed::TOKENS);
    let second = (first + 1 + index(rng, Bed::TOKENS - 1)) % Bed::TOKENS;
    let (stable, tokens) = (rng.once_in(2), [first, second]);
    let fee = match rng.below(4) {
        0 => None,
        1 => Some(0),
        _ => Some(rng.between(1, 301).min(300)),
    };
    let one_of = |rng: &mut Rng, token: usize| {
        let unit = U256::from(10).pow(U256::from(bed.decimals(token)));
        // With eighteen decimals, up to 2^95 of either.
        let most = (U256::ONE << 95) / U256::from(10).pow(U256::from(18)) * unit;
        if stable { log_uniform(rng, most) } else { log_uniform(rng, U256::ONE << 128) }
    };
    let mut donated = tokens.map(|token| one_of(rng, token));
    // As most stable pools are: of either about as much.
    if stable && rng.below(4) != 0 {
        let [of_first, of_second] =
            tokens.map(|token| U256::from(10).pow(U256::from(bed.decimals(token))));
        donated[1] = donated[0] / of_first * of_second / U256::from(1 + rng.below(5));
    }
    PoolToMake { stable, tokens, fee, donated }
}

fn size(rng: &mut Rng, curve: &SaleCurve) -> U256 {
    let most = curve.most().0;
    match rng.below(12) {
        0 => U256::from(rng.below(4)),
        1 | 2 => around(rng, most),
        3 => most.saturating_add(log_uniform(rng, U256::ONE << 200)),
        4 | 5 => around_a_unit(rng, curve, most),
        6 => even(rng, most),
        // What pools of sensible size are sold.
        7..=9 => log_uniform(rng, most.min(U256::ONE << 90)),
        _ => log_uniform(rng, most),
    }
}

/// Around an input at which the pool pays another unit than just below.
fn around_a_unit(rng: &mut Rng, curve: &SaleCurve, most: U256) -> U256 {
    let start = if rng.once_in(2) { U256::ONE } else { log_uniform(rng, most) };
    let paid = |amount_in| curve.fill(amount_in).map_or(U256::ZERO, |fill| fill.amount_out);
    let (mut low, mut high, base) = (start, most, paid(start));
    while low < high {
        let middle: U256 = low + ((high - low) >> 1);
        if paid(middle) > base { high = middle } else { low = middle + U256::ONE }
    }
    around(rng, low)
}
