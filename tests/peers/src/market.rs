//! Sales on a pool that fills them whole or not at all, whoever's it is.

use alloy::primitives::U256;
use exitgap_core::pools::{Direction, PoolState, SaleCurve};

use crate::evm::Revert;
use crate::{ParityError, Tally};
use exitgap_tests::devchain::Rng;
use exitgap_tests::parity::answer::Answer;
use exitgap_tests::parity::draw::{around, even, log_uniform};

/// States tried per pool, each reached from the one before by a real sale.
const STATES_PER_POOL: u64 = 3;

/// Sizes tried per state.
const SIZES_PER_STATE: u64 = 16;

/// A pool on a machine of its own.
pub trait Market {
    /// Its state, as its contracts tell it; the inner error why core refuses it.
    fn state(&mut self) -> Result<Result<PoolState, String>, ParityError>;

    /// The most raw units that the seller has.
    fn affordable(&mut self, direction: Direction) -> Result<U256, ParityError>;

    /// Of a sale that is kept, the most raw units after which core still reads the pool: it computes
    /// with balances of no more bits than a real pool has, which a contract need not refuse.
    fn readable(&mut self, _direction: Direction) -> Result<U256, ParityError> {
        Ok(U256::MAX)
    }

    /// What the pool pays for an amount; undone unless `keep`. The inner error is why it refuses.
    fn sell(
        &mut self,
        direction: Direction,
        amount_in: U256,
        keep: bool,
    ) -> Result<Result<U256, Revert>, ParityError>;
}

/// Tries sizes on a pool, up to `cases` in all, and goes on from state to state.
pub fn try_pool(
    pool: &mut impl Market,
    rng: &mut Rng,
    cases: u64,
    tally: &mut Tally,
) -> Result<(), ParityError> {
    for _ in 0..STATES_PER_POOL {
        let Ok(state) = pool.state()? else {
            return refused_by_both(pool);
        };
        let curves = Direction::BOTH.map(|direction| state.curve(direction));
        for _ in 0..SIZES_PER_STATE.min(cases - tally.cases) {
            let curve = &curves[usize::from(rng.once_in(2))];
            let amount_in = size(rng, curve).min(pool.affordable(curve.direction())?);
            try_sale(pool, &state, curve, amount_in, tally)?;
        }
        let curve = &curves[usize::from(rng.once_in(2))];
        let direction = curve.direction();
        let most = pool.affordable(direction)?.min(pool.readable(direction)?);
        let amount_in = size(rng, curve).min(most);
        go_on(pool, &state, curve, amount_in, tally)?;
    }
    Ok(())
}

/// Sizes of every order of magnitude.
fn magnitudes() -> impl Iterator<Item = U256> {
    (0..=120_usize).step_by(10).map(|bits| U256::ONE << bits)
}

/// What core refuses to compute with pays nothing.
fn refused_by_both(pool: &mut impl Market) -> Result<(), ParityError> {
    for direction in Direction::BOTH {
        for amount_in in magnitudes() {
            let paid = pool.sell(direction, amount_in, false)?.unwrap_or_default();
            if !paid.is_zero() {
                let reason = format!("core refuses a pool that pays {paid} {direction:?}");
                return Err(ParityError::Machine(reason));
            }
        }
    }
    Ok(())
}

/// Whether core fills nothing of this.
fn pays_nothing(state: &PoolState) -> bool {
    Direction::BOTH.into_iter().all(|direction| {
        magnitudes().all(|amount_in| {
            state.fill_once(direction, amount_in).map_or(true, |fill| fill.amount_out.is_zero())
        })
    })
}

/// Sells `amount_in` for real, and compares core with what the pool paid.
fn try_sale(
    pool: &mut impl Market,
    state: &PoolState,
    curve: &SaleCurve,
    amount_in: U256,
    tally: &mut Tally,
) -> Result<(), ParityError> {
    tally.count(0);
    let direction = curve.direction();
    let Some(found) = tally.core_says(state, curve, amount_in) else { return Ok(()) };
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
    pool: &mut impl Market,
    direction: Direction,
    most: U256,
    paid: U256,
) -> Result<bool, ParityError> {
    let at = pool.sell(direction, most, false)?;
    let past = pool.sell(direction, most + U256::ONE, false)?;
    let at_agrees = at.map_or(paid.is_zero(), |given| given == paid);
    Ok(at_agrees && past.is_err())
}

/// Sells and keeps what that did: core's state after is the contract's, and pays nothing where core
/// refuses that one.
fn go_on(
    pool: &mut impl Market,
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
    let agrees = match &found {
        Ok(found) => *found == expected,
        Err(_) => pays_nothing(&expected),
    };
    if !agrees {
        let reason = format!("core leaves {expected:?}, the pool {found:?}");
        tally.differ(state, curve.direction(), amount_in, None, reason);
    }
    Ok(())
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
