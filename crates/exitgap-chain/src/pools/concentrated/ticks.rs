//! Reading ticks: all that the bitmap says are initialised, or some again.

use std::ops::RangeInclusive;

use exitgap_core::ids::Address;
use exitgap_core::pools::{Concentrated, ConcentratedError, MAX_TICK, Tick};
use exitgap_core::series::MissingReason;

use super::TickedReader;
use crate::abi::{Answer, Call, V3Pool};
use crate::missing::Missing;
use crate::multicall::Multicall;
use crate::pools::unanswered;

/// The bitmap words that can hold an initialised tick: 6,932 for spacing 1, 36 for 200.
fn words(tick_spacing: i32) -> RangeInclusive<i16> {
    let last = MAX_TICK / tick_spacing.max(1);
    // 887,272 ÷ 256 is well within 16 bits.
    let word = |compressed: i32| i16::try_from(compressed >> 8).unwrap_or(i16::MAX);
    word(-last)..=word(last)
}

pub(super) fn word_call(pool: Address, word: i16) -> Call {
    Call::new(pool, &V3Pool::tickBitmapCall { wordPosition: word }, 1)
}

/// The ticks whose bits are set in `word`, ascending.
fn ticks_of_word(
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
            let error = ConcentratedError::TickOutOfPlace { tick };
            if tick.abs() <= MAX_TICK { Ok(tick) } else { Err(inconsistent(pool, error)) }
        })
        .collect()
}

fn inconsistent(pool: Address, what: impl core::fmt::Display) -> Missing {
    Missing::new(MissingReason::StateInconsistent, format!("pool {pool}: {what}"))
}

impl TickedReader {
    /// The call that reads one tick.
    pub(crate) fn tick_call(&self, pool: Address, tick: i32) -> Call {
        self.dialect().tick_call(pool, tick)
    }

    /// What the answer to that says; `None` where the tick is not initialised.
    pub(crate) fn decode_tick(
        &self,
        pool: Address,
        tick: i32,
        answer: &Answer,
    ) -> Result<Option<Tick>, Missing> {
        let told = self
            .dialect()
            .tick(answer)
            .ok_or_else(|| unanswered(pool, &format!("ticks({tick})"), answer))?;
        told.at(tick).map_err(|what| inconsistent(pool, what))
    }
}

/// A pool whose ticks are to be read in full.
#[derive(Debug, Clone)]
pub(crate) struct FullRead {
    pub(crate) pool: Address,
    pub(crate) reader: TickedReader,
}

/// Calls of pools that are read together. Enough to fill the requests in flight; few enough that
/// a deadline that passes loses little.
const CALLS_TOGETHER: usize = 16_000;

/// Reads all initialised ticks of these pools, in their order.
pub(crate) async fn read_in_full(
    multicall: &Multicall<'_>,
    pools: &[FullRead],
) -> Vec<Result<Vec<Tick>, Missing>> {
    let mut results = Vec::with_capacity(pools.len());
    let mut rest = pools;
    while !rest.is_empty() {
        let mut calls = 0;
        let count = rest
            .iter()
            .take_while(|read| {
                calls += words(read.reader.tick_spacing).count();
                calls <= CALLS_TOGETHER
            })
            .count()
            .max(1);
        let (group, later) = rest.split_at(count);
        rest = later;
        match read_group(multicall, group).await {
            Ok(ticks) => results.extend(ticks),
            Err(failure) => {
                // The nodes fail: asking them for the other pools would fail as well.
                let missing = Missing::from(failure);
                results.resize(pools.len(), Err(missing));
                break;
            }
        }
    }
    results
}

async fn read_group(
    multicall: &Multicall<'_>,
    pools: &[FullRead],
) -> Result<Vec<Result<Vec<Tick>, Missing>>, crate::rpc::Failure> {
    let calls: Vec<Call> = pools
        .iter()
        .flat_map(|read| words(read.reader.tick_spacing).map(|word| word_call(read.pool, word)))
        .collect();
    let answers = multicall.read(&calls).await?;
    let mut answers = answers.iter();
    let initialised: Vec<Result<Vec<i32>, Missing>> = pools
        .iter()
        .map(|read| {
            let words = words(read.reader.tick_spacing);
            let here: Vec<_> = words.clone().zip(answers.by_ref().take(words.count())).collect();
            let mut ticks = Vec::new();
            for (word, answer) in here {
                ticks.extend(ticks_of_word(read.pool, word, read.reader.tick_spacing, answer)?);
            }
            within_bound(read.pool, ticks)
        })
        .collect();
    let calls: Vec<Call> = pools
        .iter()
        .zip(&initialised)
        .flat_map(|(read, ticks)| {
            ticks.iter().flatten().map(|tick| read.reader.tick_call(read.pool, *tick))
        })
        .collect();
    let answers = multicall.read(&calls).await?;
    let mut answers = answers.iter();
    Ok(pools
        .iter()
        .zip(initialised)
        .map(|(read, ticks)| {
            let ticks = ticks?;
            let here: Vec<_> = answers.by_ref().take(ticks.len()).collect();
            ticks
                .into_iter()
                .zip(here)
                .map(|(tick, answer)| {
                    read.reader.decode_tick(read.pool, tick, answer)?.ok_or_else(|| {
                        let what = format!("tick {tick} is set in the bitmap and not initialised");
                        inconsistent(read.pool, what)
                    })
                })
                .collect()
        })
        .collect())
}

/// Refuses more ticks than core accepts before they are read one by one.
fn within_bound(pool: Address, ticks: Vec<i32>) -> Result<Vec<i32>, Missing> {
    let (found, most) = (ticks.len(), Concentrated::MAX_TICKS);
    if found <= most {
        return Ok(ticks);
    }
    Err(inconsistent(pool, ConcentratedError::TooManyTicks { found, most }))
}

#[cfg(test)]
mod tests {
    use alloy::primitives::{Bytes, U256 as Word};
    use alloy::sol_types::SolValue;

    use super::*;

    const POOL: Address = Address([6; 20]);
    const UNISWAP: TickedReader = TickedReader { tick_spacing: 60, factory: None };

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
        assert_eq!(
            UNISWAP.decode_tick(POOL, 60, &data(5, -5, true)).unwrap(),
            Some(Tick::new(60, -5))
        );
        assert_eq!(
            UNISWAP.decode_tick(POOL, 60, &data(9, -5, true)).unwrap(),
            Some(Tick { tick: 60, liquidity_net: -5, liquidity_gross: 9 })
        );
        assert_eq!(UNISWAP.decode_tick(POOL, 60, &data(0, 0, false)).unwrap(), None);
        for wrong in [data(0, 0, true), data(5, 5, false)] {
            assert_eq!(
                UNISWAP.decode_tick(POOL, 60, &wrong).unwrap_err().reason,
                MissingReason::StateInconsistent
            );
        }
    }
}
