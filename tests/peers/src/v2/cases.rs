//! Core against the pair and the router.

use alloy::primitives::U256;
use exitgap_core::pools::{ConstantProduct, Direction, PoolState, SaleCurve};

use super::bed::{Bed, Pair, Refused, Swapped};
use crate::{ParityError, Tally};
use exitgap_tests::devchain::Rng;
use exitgap_tests::parity::answer::Answer;
use exitgap_tests::parity::draw::{around, even, log_uniform};

/// States tried per pair, each reached from the one before by a real swap.
const STATES_PER_PAIR: u64 = 3;

/// Sizes tried per state.
const SIZES_PER_STATE: u64 = 16;

/// The pair burns the first thousand of its shares, so the root of the first product exceeds it.
const LEAST_ROOT: u64 = 1_001;

/// Tries `cases` sizes on random pairs. `heard` is called after each pair.
pub fn run(
    bed: &Bed,
    rng: &mut Rng,
    cases: u64,
    heard: &mut dyn FnMut(&Tally),
) -> Result<Tally, ParityError> {
    let mut tally = Tally::default();
    while tally.cases < cases {
        let mut pair = random_pair(bed, rng)?;
        for _ in 0..STATES_PER_PAIR {
            let state = PoolState::ConstantProduct(pair.state()?);
            let curves = Direction::BOTH.map(|direction| state.curve(direction));
            for _ in 0..SIZES_PER_STATE.min(cases - tally.cases) {
                let curve = &curves[usize::from(rng.once_in(2))];
                let amount_in = size(rng, curve);
                try_sale(&mut pair, &state, curve, amount_in, &mut tally)?;
            }
            let curve = &curves[usize::from(rng.once_in(2))];
            // A swap that the pair refuses leaves the state as it is.
            let _moved = pair.swap(curve.direction(), size(rng, curve), true)?;
        }
        heard(&tally);
    }
    Ok(tally)
}

/// Sells `amount_in` for real and by the router's quote, and compares core with both.
pub fn try_sale(
    pair: &mut Pair,
    state: &PoolState,
    curve: &SaleCurve,
    amount_in: U256,
    tally: &mut Tally,
) -> Result<(), ParityError> {
    tally.count(0);
    let direction = curve.direction();
    let Some(found) = tally.core_says(state, curve, amount_in) else { return Ok(()) };
    let swapped = pair.swap(direction, amount_in, false)?;
    let quoted = pair.quote(direction, amount_in)?;
    let verdict = match &found {
        Answer::Filled { amount_out, after: None } => {
            let all = Swapped { consumed: amount_in, paid: *amount_out };
            agrees(swapped == Ok(all) && quoted == Ok(*amount_out))
        }
        Answer::ZeroInput => agrees(swapped == Err(Refused::ZeroInput)),
        Answer::ZeroOutput => {
            agrees(swapped == Err(Refused::ZeroOutput) && quoted == Ok(U256::ZERO))
        }
        Answer::BeyondLiquidity { consumed, paid } => {
            agrees(swapped.is_err() && limit_is(pair, direction, *consumed, *paid)?)
        }
        Answer::Filled { after: Some(_), .. } => Err("a pair has no price to end on"),
    };
    if let Err(reason) = verdict {
        let reason = format!("{reason}: core {found:?}, swap {swapped:?}, quote {quoted:?}");
        let expected =
            swapped.ok().map(|swapped| Answer::Filled { amount_out: swapped.paid, after: None });
        tally.differ(state, direction, amount_in, expected, reason);
    }
    Ok(())
}

fn agrees(agrees: bool) -> Result<(), &'static str> {
    if agrees { Ok(()) } else { Err("core and contract differ") }
}

/// Whether the pair takes `most` and pays `paid` for it, and refuses one unit more.
fn limit_is(
    pair: &mut Pair,
    direction: Direction,
    most: U256,
    paid: U256,
) -> Result<bool, ParityError> {
    let at = pair.swap(direction, most, false)?;
    let at_agrees = match at {
        Ok(swapped) => swapped == Swapped { consumed: most, paid },
        Err(Refused::ZeroOutput) => paid.is_zero() && !most.is_zero(),
        Err(Refused::ZeroInput) => paid.is_zero() && most.is_zero(),
        Err(_) => false,
    };
    // Where even the most pays nothing, one more unit is refused for that first.
    let past = pair.swap(direction, most + U256::ONE, false)?;
    let past_agrees = match past {
        Err(Refused::Overflow) => true,
        Err(Refused::ZeroOutput) => paid.is_zero(),
        _ => false,
    };
    Ok(at_agrees && past_agrees)
}

/// A pair with reserves from 1 unit to the contract's 112 bits.
pub fn random_pair(bed: &Bed, rng: &mut Rng) -> Result<Pair, ParityError> {
    let most = U256::from(ConstantProduct::MAX_RESERVE);
    let first = log_uniform(rng, most);
    let least = U256::from(LEAST_ROOT * LEAST_ROOT).div_ceil(first);
    let second = log_uniform(rng, most).max(least);
    let mut donated = [U256::ZERO; 2];
    for (donated, minted) in donated.iter_mut().zip([first, second]) {
        let room = most - minted;
        *donated = match rng.below(8) {
            0 => room,
            1 => room.saturating_sub(U256::from(1 + rng.below(1_000))),
            2 => log_uniform(rng, room.max(U256::ONE)).min(room),
            _ => U256::ZERO,
        };
    }
    if rng.once_in(2) {
        bed.pair([first, second], donated)
    } else {
        donated.reverse();
        bed.pair([second, first], donated)
    }
}

/// A pair so small that every amount that makes sense can be tried.
pub fn tiny_pair(bed: &Bed, rng: &mut Rng) -> Result<Pair, ParityError> {
    let first = rng.between(300, 4_000);
    let second = (LEAST_ROOT * LEAST_ROOT).div_ceil(first) + rng.below(500);
    bed.pair([U256::from(first), U256::from(second)], [U256::ZERO; 2])
}

fn size(rng: &mut Rng, curve: &SaleCurve) -> U256 {
    let most = curve.most().0;
    match rng.below(12) {
        0 => U256::from(rng.below(4)),
        1 | 2 => around(rng, most),
        3 => most + log_uniform(rng, U256::ONE << 200),
        // More than the contract can multiply.
        4 => (U256::ONE << 254) - U256::from(rng.below(3)),
        5 | 6 => around_a_unit(rng, curve, most),
        7 => even(rng, most),
        _ => log_uniform(rng, most),
    }
}

/// Around the least input that pays one more unit than some other does.
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
