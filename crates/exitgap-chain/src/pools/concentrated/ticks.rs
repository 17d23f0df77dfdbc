//! Reads ticks: which ticks are initialised according to the bitmap, and their liquidity.

use std::ops::RangeInclusive;

use alloy_rpc_types_eth::Log;
use exitgap_core::U256;
use exitgap_core::ids::{Address, PoolId};
use exitgap_core::pools::{Concentrated, ConcentratedError, MAX_TICK, Tick};
use exitgap_core::series::MissingReason;

use super::{TickedReader, logs};
use crate::abi::{Answer, Call, V3Pool};
use crate::pools::call_failure;
use crate::pools::reader::{Part, PartReader, Parts, Watch};
use crate::read_failure::ReadFailure;
use crate::rpc::RpcError;

/// The bitmap words that can have an initialised tick: 6,932 for spacing 1, 36 for spacing 200.
pub(in crate::pools) fn words(tick_spacing: i32) -> RangeInclusive<i16> {
    let last = MAX_TICK / tick_spacing.max(1);
    // 887,272 ÷ 256 is well within 16 bits.
    let word = |compressed: i32| i16::try_from(compressed >> 8).unwrap_or(i16::MAX);
    word(-last)..=word(last)
}

pub(super) fn word_call(pool: Address, word: i16) -> Call {
    Call::new(pool, &V3Pool::tickBitmapCall { wordPosition: word }, 1)
}

/// The ticks whose bits are set in a bitmap word, ascending.
fn ticks_of_word(
    pool: &PoolId,
    word: i16,
    tick_spacing: i32,
    bits: U256,
) -> Result<Vec<i32>, ReadFailure> {
    let first = i32::from(word) * 256;
    (0..256_i32)
        .filter(|bit| bits.bit(bit.unsigned_abs() as usize))
        .map(|bit| {
            let tick = (first + bit) * tick_spacing;
            let error = ConcentratedError::TickOutOfPlace { tick };
            if tick.abs() <= MAX_TICK { Ok(tick) } else { Err(inconsistent(pool, error)) }
        })
        .collect()
}

/// The ticks in all bitmap words of a pool. Fails if there are more than core accepts, before they are read one by one.
pub(in crate::pools) fn ticks_of_words(
    pool: &PoolId,
    tick_spacing: i32,
    bits: impl Iterator<Item = Result<U256, ReadFailure>>,
) -> Result<Vec<i32>, ReadFailure> {
    let mut ticks = Vec::new();
    for (word, bits) in words(tick_spacing).zip(bits) {
        ticks.extend(ticks_of_word(pool, word, tick_spacing, bits?)?);
    }
    let (found, most) = (ticks.len(), Concentrated::MAX_TICKS);
    if found <= most {
        return Ok(ticks);
    }
    Err(inconsistent(pool, ConcentratedError::TooManyTicks { found, most }))
}

fn inconsistent(pool: &PoolId, what: impl core::fmt::Display) -> ReadFailure {
    ReadFailure::new(MissingReason::StateInconsistent, format!("pool {pool}: {what}"))
}

/// A tick's liquidity in one word: the gross liquidity in the low half, and the net liquidity in two's complement in
/// the high half.
pub(in crate::pools) fn part_of(tick: &Tick) -> Part {
    let net = U256::from(u128::from_be_bytes(tick.liquidity_net.to_be_bytes()));
    (net << 128) | U256::from(tick.liquidity_gross)
}

/// Ticks in the packed form of the cache.
pub(in crate::pools) fn pack_ticks(ticks: &[Tick]) -> Parts {
    ticks.iter().map(|tick| (tick.tick, part_of(tick))).collect()
}

/// Converts packed ticks to core's form, ascending.
pub(in crate::pools) fn unpack_ticks(parts: &Parts) -> Vec<Tick> {
    let half = |part: &Part, shift: usize| (*part >> shift).wrapping_to::<u128>();
    let tick = |(tick, part): (&i32, &Part)| Tick {
        tick: *tick,
        liquidity_net: i128::from_be_bytes(half(part, 128).to_be_bytes()),
        liquidity_gross: half(part, 0),
    };
    parts.iter().map(tick).collect()
}

impl PartReader for TickedReader {
    fn watch(&self) -> Watch {
        logs::watch(self.pool)
    }

    fn named_by(&self, log: &Log) -> Result<Vec<i32>, RpcError> {
        logs::bounds_of(log)
    }

    fn part_calls(&self, parts: &[i32]) -> Vec<Call> {
        parts.iter().map(|tick| self.dialect().tick_call(self.pool, *tick)).collect()
    }

    fn decode_parts(
        &self,
        pool: &PoolId,
        parts: &[i32],
        answers: &[Answer],
    ) -> Result<Vec<(i32, Option<Part>)>, ReadFailure> {
        let decode = |(tick, answer): (&i32, &Answer)| {
            let told = self.dialect().tick(answer);
            let told = told.ok_or_else(|| call_failure(pool, &format!("ticks({tick})"), answer))?;
            let tick_there = told.at(*tick).map_err(|what| inconsistent(pool, what))?;
            Ok((*tick, tick_there.as_ref().map(part_of)))
        };
        parts.iter().zip(answers).map(decode).collect()
    }

    fn index_calls(&self) -> Vec<Call> {
        words(self.tick_spacing).map(|word| word_call(self.pool, word)).collect()
    }

    fn decode_index(&self, pool: &PoolId, answers: &[Answer]) -> Result<Vec<i32>, ReadFailure> {
        let bits = answers.iter().map(|answer| {
            let bits = answer.exact::<V3Pool::tickBitmapCall>(1);
            bits.ok_or_else(|| call_failure(pool, "tickBitmap", answer))
        });
        ticks_of_words(pool, self.tick_spacing, bits)
    }
}

#[cfg(test)]
mod tests {
    use alloy::primitives::{Bytes, U256 as Word};
    use alloy::sol_types::SolValue;

    use super::*;

    const POOL: Address = Address([6; 20]);
    const UNISWAP: TickedReader = TickedReader { pool: POOL, tick_spacing: 60, factory: None };

    fn pool() -> PoolId {
        PoolId::new("base".parse().unwrap(), POOL)
    }

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
        let bits = (U256::ONE << 255) | U256::from(0b101);
        let ticks = |word: i16, bits: U256| ticks_of_word(&pool(), word, 60, bits);
        assert_eq!(ticks(-1, bits).unwrap(), [-256 * 60, -254 * 60, -60]);
        // The last word of spacing 60 extends beyond the last valid tick.
        assert_eq!(ticks(57, U256::MAX).unwrap_err().reason, MissingReason::StateInconsistent);
        let mut answers = vec![Answer::Returned(Bytes::from(vec![0; 32])); 116];
        assert_eq!(UNISWAP.index_calls().len(), answers.len());
        assert!(UNISWAP.decode_index(&pool(), &answers).unwrap().is_empty());
        answers[3] = Answer::Returned(Bytes::from(vec![0; 31]));
        let refused = |answers: &[Answer]| UNISWAP.decode_index(&pool(), answers).unwrap_err();
        assert_eq!(refused(&answers).reason, MissingReason::StateInconsistent);
        answers[3] = Answer::Reverted;
        assert_eq!(refused(&answers).reason, MissingReason::CallReverted);
    }

    #[test]
    fn ticks_are_remembered_whole() {
        let ticks = [
            Tick { tick: -60, liquidity_net: i128::MIN, liquidity_gross: u128::MAX },
            Tick { tick: 0, liquidity_net: 0, liquidity_gross: 7 },
            Tick::new(60, -1),
        ];
        assert_eq!(unpack_ticks(&pack_ticks(&ticks)), ticks);
    }

    #[test]
    fn a_tick_that_contradicts_itself_is_refused() {
        let data = |gross: u128, net: i128, initialized: bool| {
            let zero = Word::ZERO;
            let data = (gross, net, zero, zero, zero, zero, zero, initialized).abi_encode();
            Answer::Returned(Bytes::from(data))
        };
        let read = |answer: Answer| UNISWAP.decode_parts(&pool(), &[60], &[answer]);
        let gross = Tick { tick: 60, liquidity_net: -5, liquidity_gross: 9 };
        for tick in [Tick::new(60, -5), gross] {
            let answer = data(tick.liquidity_gross, tick.liquidity_net, true);
            assert_eq!(read(answer).unwrap(), [(60, Some(part_of(&tick)))]);
        }
        assert_eq!(read(data(0, 0, false)).unwrap(), [(60, None)]);
        for wrong in [data(0, 0, true), data(5, 5, false)] {
            assert_eq!(read(wrong).unwrap_err().reason, MissingReason::StateInconsistent);
        }
    }
}
