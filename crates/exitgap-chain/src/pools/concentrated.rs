//! Uniswap v3's pool: price, liquidity, and the ticks that its bitmap says are initialised.

use std::ops::RangeInclusive;

use alloy::primitives::aliases::I24;
use exitgap_core::U256;
use exitgap_core::ids::Address;
use exitgap_core::pools::{Concentrated, ConcentratedError, MAX_TICK, Tick};
use exitgap_core::series::MissingReason;

use super::unanswered;
use crate::abi::{Answer, Call, V3Pool};
use crate::missing::Missing;

/// Words of `slot0`'s answer.
pub(super) const SLOT0_WORDS: usize = 7;
/// Words of `ticks`' answer.
const TICK_WORDS: usize = 8;
/// Calls that read what changes with every swap.
pub(crate) const PRICE_CALLS: usize = 3;

/// What changes with every swap; and the fee, which some forks let their owner change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Price {
    sqrt_price_x96: U256,
    tick: i32,
    liquidity: u128,
    fee_pips: u32,
}

pub(super) fn price_calls(pool: Address) -> [Call; PRICE_CALLS] {
    [
        Call::new(pool, &V3Pool::slot0Call {}, SLOT0_WORDS),
        Call::new(pool, &V3Pool::liquidityCall {}, 1),
        Call::new(pool, &V3Pool::feeCall {}, 1),
    ]
}

/// Reads the answers to [`price_calls`].
pub(crate) fn decode_price(pool: Address, answers: &[Answer]) -> Result<Price, Missing> {
    let [slot0, liquidity, fee] = answers else {
        return Err(unanswered(pool, "slot0", &Answer::Reverted));
    };
    let price = slot0
        .exact::<V3Pool::slot0Call>(SLOT0_WORDS)
        .ok_or_else(|| unanswered(pool, "slot0", slot0))?;
    let liquidity = liquidity
        .exact::<V3Pool::liquidityCall>(1)
        .ok_or_else(|| unanswered(pool, "liquidity", liquidity))?;
    let fee = fee.exact::<V3Pool::feeCall>(1).ok_or_else(|| unanswered(pool, "fee", fee))?;
    Ok(Price {
        sqrt_price_x96: U256::from(price.sqrtPriceX96),
        tick: price.tick.as_i32(),
        liquidity,
        fee_pips: fee.to(),
    })
}

/// Joins price and ticks; every invariant between them is checked.
pub(crate) fn join(
    price: Price,
    tick_spacing: i32,
    ticks: Vec<Tick>,
) -> Result<Concentrated, ConcentratedError> {
    let Price { sqrt_price_x96, tick, liquidity, fee_pips } = price;
    Concentrated::new(sqrt_price_x96, tick, liquidity, fee_pips, tick_spacing, ticks)
}

/// Whether other ticks may mend the error.
pub(crate) fn is_about_ticks(error: ConcentratedError) -> bool {
    match error {
        ConcentratedError::NotInitialised
        | ConcentratedError::SqrtPriceOutOfRange { .. }
        | ConcentratedError::TickNotAtPrice { .. }
        | ConcentratedError::FeeOutOfRange { .. }
        | ConcentratedError::TickSpacingOutOfRange { .. } => false,
        ConcentratedError::TooManyTicks { .. }
        | ConcentratedError::TickOutOfPlace { .. }
        | ConcentratedError::TicksOutOfOrder { .. }
        | ConcentratedError::GrossLiquidity { .. }
        | ConcentratedError::NetLiquidityOutOfRange { .. }
        | ConcentratedError::NetLiquidityNotBalanced { .. }
        | ConcentratedError::LiquidityMismatch { .. } => true,
    }
}

/// The bitmap words that can hold an initialised tick: 6,932 for spacing 1, 36 for 200.
pub(crate) fn words(tick_spacing: i32) -> RangeInclusive<i16> {
    let last = MAX_TICK / tick_spacing.max(1);
    // 887,272 ÷ 256 is well within 16 bits.
    let word = |compressed: i32| i16::try_from(compressed >> 8).unwrap_or(i16::MAX);
    word(-last)..=word(last)
}

pub(crate) fn word_call(pool: Address, word: i16) -> Call {
    Call::new(pool, &V3Pool::tickBitmapCall { wordPosition: word }, 1)
}

/// The ticks whose bits are set in `word`, ascending.
pub(crate) fn ticks_of_word(
    pool: Address,
    word: i16,
    tick_spacing: i32,
    answer: &Answer,
) -> Result<Vec<i32>, Missing> {
    let bits = answer
        .exact::<V3Pool::tickBitmapCall>(1)
        .ok_or_else(|| unanswered(pool, "tickBitmap", answer))?;
    let first = i32::from(word) * 256;
    (0..256_i32)
        .filter(|bit| bits.bit(bit.unsigned_abs() as usize))
        .map(|bit| {
            let tick = (first + bit) * tick_spacing;
            if tick.abs() <= MAX_TICK { Ok(tick) } else { Err(out_of_bounds(pool, tick)) }
        })
        .collect()
}

fn out_of_bounds(pool: Address, tick: i32) -> Missing {
    let error = ConcentratedError::TickOutOfPlace { tick };
    Missing::new(MissingReason::StateInconsistent, format!("pool {pool}: {error}"))
}

pub(crate) fn tick_call(pool: Address, tick: i32) -> Call {
    let tick = I24::try_from(tick).unwrap_or(I24::MAX);
    Call::new(pool, &V3Pool::ticksCall { tick }, TICK_WORDS)
}

/// The tick's net liquidity, or `None` where it is not initialised.
pub(crate) fn decode_tick(
    pool: Address,
    tick: i32,
    answer: &Answer,
) -> Result<Option<Tick>, Missing> {
    let data = answer
        .exact::<V3Pool::ticksCall>(TICK_WORDS)
        .ok_or_else(|| unanswered(pool, &format!("ticks({tick})"), answer))?;
    if data.initialized != (data.liquidityGross != 0) {
        let detail = format!(
            "pool {pool}: tick {tick} has gross liquidity {} and initialized {}",
            data.liquidityGross, data.initialized
        );
        return Err(Missing::new(MissingReason::StateInconsistent, detail));
    }
    let (liquidity_net, liquidity_gross) = (data.liquidityNet, data.liquidityGross);
    Ok(data.initialized.then_some(Tick { tick, liquidity_net, liquidity_gross }))
}

#[cfg(test)]
mod tests {
    use alloy::primitives::{Bytes, U256 as Word};
    use alloy::sol_types::SolValue;

    use super::*;

    const POOL: Address = Address([6; 20]);

    #[test]
    fn the_words_cover_every_usable_tick_and_no_more() {
        for (spacing, count) in [(1, 6_932), (10, 694), (60, 116), (200, 36)] {
            let range = words(spacing);
            assert_eq!(range.clone().count(), count, "{spacing}");
            let last = MAX_TICK / spacing;
            assert!(range.contains(&i16::try_from(last >> 8).unwrap()));
            assert!(range.contains(&i16::try_from(-last >> 8).unwrap()));
        }
    }

    #[test]
    fn bits_are_ticks() {
        let answer = |word: Word| Answer::Returned(Bytes::from(word.abi_encode()));
        let bits = (Word::from(1) << 255) | Word::from(0b101);
        assert_eq!(
            ticks_of_word(POOL, -1, 60, &answer(bits)).unwrap(),
            [-256 * 60, -254 * 60, -60]
        );
        // The last word of spacing 60 reaches beyond the last tick.
        let wrong = ticks_of_word(POOL, 57, 60, &answer(Word::MAX)).unwrap_err();
        assert_eq!(wrong.reason, MissingReason::StateInconsistent);
        let short = Answer::Returned(Bytes::from(vec![0; 31]));
        assert_eq!(
            ticks_of_word(POOL, 0, 60, &short).unwrap_err().reason,
            MissingReason::StateInconsistent
        );
        assert_eq!(
            ticks_of_word(POOL, 0, 60, &Answer::Reverted).unwrap_err().reason,
            MissingReason::CallReverted
        );
    }

    #[test]
    fn a_tick_that_contradicts_itself_is_refused() {
        let data = |gross: u128, net: i128, initialized: bool| {
            let zero = Word::ZERO;
            let data = (gross, net, zero, zero, zero, zero, zero, initialized).abi_encode();
            Answer::Returned(Bytes::from(data))
        };
        assert_eq!(decode_tick(POOL, 60, &data(5, -5, true)).unwrap(), Some(Tick::new(60, -5)));
        assert_eq!(
            decode_tick(POOL, 60, &data(9, -5, true)).unwrap(),
            Some(Tick { tick: 60, liquidity_net: -5, liquidity_gross: 9 })
        );
        assert_eq!(decode_tick(POOL, 60, &data(0, 0, false)).unwrap(), None);
        for wrong in [data(0, 0, true), data(5, 5, false)] {
            assert_eq!(
                decode_tick(POOL, 60, &wrong).unwrap_err().reason,
                MissingReason::StateInconsistent
            );
        }
    }
}
