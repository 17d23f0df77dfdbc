//! Amounts of one step at constant liquidity. Sources: `SqrtPriceMath.sol` and `SwapMath.sol` of Uniswap v3. Every
//! division rounds like there, against the trader.
//!
//! √prices are Q64.96 and below `2^160`, and liquidity is below `2^128`, so every amount between two √prices is below
//! `2^224`.

use super::steps::Step;
use crate::pools::Direction;
use crate::wide::{
    U256, U512, U1024, checked_times, mul_div, mul_div_up, narrow, over, over_up, product, times,
};

/// The amount of token 0 between two √prices, `low ≤ high`: `L · 2^96 · (high − low) ÷ high ÷ low`, with both divisions
/// rounded in the same direction.
fn amount0(low: U256, high: U256, liquidity: u128, round_up: bool) -> U256 {
    let numerator: U256 = U256::from(liquidity) << 96;
    // (high − low) ÷ high is below one, so the quotient is at most the numerator.
    if round_up {
        over_up(mul_div_up(numerator, high - low, high).unwrap_or(numerator), low)
    } else {
        over(mul_div(numerator, high - low, high).unwrap_or(numerator), low)
    }
}

/// The amount of token 1 between two √prices, `low ≤ high`: `L · (high − low) ÷ 2^96`.
fn amount1(low: U256, high: U256, liquidity: u128, round_up: bool) -> U256 {
    // 128 + 160 − 96 bits.
    let product = product(U256::from(liquidity), high - low);
    let floor = narrow(product >> 96).unwrap_or(U256::MAX);
    let exact = product.trailing_zeros() >= 96;
    if round_up && !exact { floor + U256::ONE } else { floor }
}

/// The input for moving the √price from `start` to `target`, without fee, rounded up.
pub(super) fn amount_in(direction: Direction, start: U256, target: U256, liquidity: u128) -> U256 {
    match direction {
        Direction::ZeroForOne => amount0(target, start, liquidity, true),
        Direction::OneForZero => amount1(start, target, liquidity, true),
    }
}

/// The output of moving the √price from `start` to `target`, rounded down.
pub(super) fn amount_out(direction: Direction, start: U256, target: U256, liquidity: u128) -> U256 {
    match direction {
        Direction::ZeroForOne => amount1(target, start, liquidity, false),
        Direction::OneForZero => amount0(start, target, liquidity, false),
    }
}

/// The fee added to a full step's `amount_in`, rounded up.
pub(super) fn fee_on(amount_in: U256, fee_pips: u32) -> U256 {
    // 224 + 20 bits.
    over_up(times(amount_in, U256::from(fee_pips)), U256::from(1_000_000 - fee_pips))
}

/// A step with input `remaining`, which is less than the input of the full step: returns the √price at its end and its
/// output. Any part of `remaining` that does not move the price is fee.
pub(super) fn partial(
    direction: Direction,
    step: &Step,
    fee_pips: u32,
    remaining: U256,
) -> (U256, U256) {
    let start = step.sqrt_price_start_x96;
    // Rounded down; less than 2^224 · 2^20.
    let kept = times(remaining, U256::from(1_000_000 - fee_pips));
    let less_fee = over(kept, U256::from(1_000_000));
    let end = next_sqrt_price(direction, start, step.liquidity, less_fee);
    (end, amount_out(direction, start, end, step.liquidity))
}

/// The output for `amount_in` from the step's start without any rounding, in units of `2^-64`, rounded up. With
/// `a = amount_in · (10^6 − fee)` and the √price `P`: `L·P²·a ÷ (2^96·(10^6·2^96·L + a·P))` when selling token 0, and
/// `2^192·L·a ÷ (P·(10^6·P·L + 2^96·a))` when selling token 1.
pub(super) fn ideal_out(direction: Direction, step: &Step, fee_pips: u32, amount_in: U256) -> U512 {
    // 192 + 20, 160 and 128 bits; the largest product has 724.
    let amount = U1024::from(times(amount_in, U256::from(1_000_000 - fee_pips)));
    let price = U1024::from(step.sqrt_price_start_x96);
    let liquidity = U1024::from(step.liquidity);
    let million = U1024::from(1_000_000_u32);
    let (paid, per) = match direction {
        Direction::ZeroForOne => (
            liquidity * price * price * amount,
            (((million * liquidity) << 96) + amount * price) << 96,
        ),
        Direction::OneForZero => {
            ((liquidity * amount) << 192, price * (million * price * liquidity + (amount << 96)))
        }
    };
    // Only a step without liquidity divides by zero, and its input and output are zero.
    let ideal = if per.is_zero() { U1024::ZERO } else { (paid << 64).div_ceil(per) };
    U512::low_bits_of(ideal.as_limbs())
}

/// The √price after selling `amount` more, rounded so that the price never moves further than the amount pays for.
fn next_sqrt_price(direction: Direction, start: U256, liquidity: u128, amount: U256) -> U256 {
    if amount.is_zero() || liquidity == 0 {
        return start;
    }
    match direction {
        Direction::OneForZero => {
            let liquidity = U256::from(liquidity);
            // Near the highest price, high liquidity takes amounts of more than 160 bits.
            let moved = if amount.bit_len() <= 160 {
                over(amount << 96, liquidity)
            } else {
                // Less than a full step moves the price by less than the step does.
                mul_div(amount, U256::ONE << 96, liquidity).unwrap_or(U256::ZERO)
            };
            start + moved
        }
        Direction::ZeroForOne => {
            let numerator: U256 = U256::from(liquidity) << 96;
            let denominator =
                checked_times(amount, start).and_then(|product| numerator.checked_add(product));
            match denominator {
                // At most `start`, because the denominator is at least the numerator.
                Some(denominator) => mul_div_up(numerator, start, denominator).unwrap_or(start),
                // How the contract avoids a product of more than 256 bits.
                None => over_up(numerator, over(numerator, start) + amount),
            }
        }
    }
}
