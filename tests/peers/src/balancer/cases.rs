//! Core against the vault and its pools.

use alloy::primitives::U256;
use exitgap_core::ids::Pair;

use super::bed::{Bed, Law, ONE, PoolToMake, READ_BITS, down};
use crate::market::try_pool;
use crate::{ParityError, Tally};
use exitgap_tests::devchain::Rng;
use exitgap_tests::parity::draw::log_uniform;

/// Whose pools are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Weighted pools.
    Weighted,
    /// Composable stable pools.
    Stable,
}

/// Pools that may refuse their first balances, one after the other.
const REFUSED_AT_MOST: u32 = 1_000;

/// Tries `cases` sizes on random pools. `heard` is called after each pool.
pub fn run(
    bed: &Bed,
    kind: Kind,
    rng: &mut Rng,
    cases: u64,
    heard: &mut dyn FnMut(&Tally),
) -> Result<Tally, ParityError> {
    let (mut tally, mut refused) = (Tally::default(), 0);
    while tally.cases < cases {
        match bed.pool(&random_pool(bed, kind, rng))? {
            Ok(mut pool) => {
                refused = 0;
                try_pool(&mut pool, rng, cases, &mut tally)?;
                heard(&tally);
            }
            Err(revert) if refused == REFUSED_AT_MOST => {
                let reason = format!("no pool takes its first balances: {}", revert.reason());
                return Err(ParityError::Machine(reason));
            }
            // Too little for a pool, or balances for which no invariant is found.
            Err(_) => refused += 1,
        }
    }
    Ok(tally)
}

fn index(rng: &mut Rng, below: usize) -> usize {
    usize::try_from(rng.below(below as u64)).expect("it is below a number of this size")
}

/// A pool of two to four tokens.
fn random_pool(bed: &Bed, kind: Kind, rng: &mut Rng) -> PoolToMake {
    let count = 2 + index(rng, 3);
    let mut places: Vec<usize> = (0..Bed::TOKENS).collect();
    while places.len() > count {
        places.remove(index(rng, places.len()));
    }
    let (law, tokens) = match kind {
        Kind::Weighted => (Law::Weighted(weights(rng, count)), far_apart(bed, rng, places)),
        Kind::Stable => {
            let amplification = rng.between(1, 5_000);
            let rates = (0..count).map(|_| rng.once_in(3).then(|| rng.between(ONE / 2, 2 * ONE)));
            let law = Law::Stable { amplification, rates: rates.collect() };
            (law, if rng.once_in(4) { far_apart(bed, rng, places) } else { near(bed, rng, places) })
        }
    };
    let swap_fee = match rng.below(3) {
        0 => ONE / 1_000_000,
        1 => ONE / 10,
        _ => rng.between(ONE / 1_000_000, ONE / 10),
    };
    let lower = index(rng, count - 1);
    let higher = lower + 1 + index(rng, count - 1 - lower);
    let [lower, higher] = [lower, higher].map(|place| u8::try_from(place).unwrap_or(0));
    let pair = Pair::new(lower, higher).expect("the first is lower");
    PoolToMake { law, tokens, swap_fee, pair }
}

/// Balances of every size that the vault holds and core reads, each its own.
fn far_apart(bed: &Bed, rng: &mut Rng, places: Vec<usize>) -> Vec<(usize, U256)> {
    let balance = |token| {
        let most = ((U256::ONE << READ_BITS) / down(bed.decimals(token))).min(U256::ONE << 111);
        (token, log_uniform(rng, most).max(U256::ONE))
    };
    places.into_iter().map(balance).collect()
}

/// About as much of each, as most stable pools have.
fn near(bed: &Bed, rng: &mut Rng, places: Vec<usize>) -> Vec<(usize, U256)> {
    let whole = log_uniform(rng, U256::ONE << 100);
    let balance = |token| {
        let scaled = whole / U256::from(rng.between(1, 5));
        (token, (scaled / down(bed.decimals(token))).max(U256::ONE))
    };
    places.into_iter().map(balance).collect()
}

/// Shares of `10^18` that sum to it, each at least a hundredth: round ones, whose powers are products,
/// and any.
fn weights(rng: &mut Rng, count: usize) -> Vec<u64> {
    let round = rng.once_in(2);
    let parts: Vec<u64> = (0..count)
        .map(|_| if round { [1, 2, 4][index(rng, 3)] } else { rng.between(1_000, 30_000) })
        .collect();
    let sum: u64 = parts.iter().sum();
    let mut weights: Vec<u64> = parts.iter().map(|part| ONE / sum * part).collect();
    weights[0] += ONE - weights.iter().sum::<u64>();
    weights
}
