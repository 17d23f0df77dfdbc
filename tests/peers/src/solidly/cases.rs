//! Core against the pool and its factory.

use alloy::primitives::U256;

use super::bed::{Bed, PoolToMake};
use crate::market::try_pool;
use crate::{ParityError, Tally};
use exitgap_tests::devchain::Rng;
use exitgap_tests::parity::draw::log_uniform;

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
        try_pool(&mut pool, rng, cases, &mut tally)?;
        heard(&tally);
    }
    Ok(tally)
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
