//! Sizes to sell, chosen where something can go wrong.

use alloy::primitives::U256;
use exitgap_core::pools::Curve;

use crate::devchain::Rng;

/// The most a swap can be asked for: the contract's amount is signed.
const MOST: U256 = U256::from_limbs([u64::MAX, u64::MAX, u64::MAX, u64::MAX >> 1]);

/// A size for this curve, from 1 unit to far beyond the pool.
pub fn size(rng: &mut Rng, curve: &Curve) -> U256 {
    let most = curve.most().0;
    let size = match rng.below(16) {
        0 => U256::from(1 + rng.below(5)),
        // A stop of the contract's loop, a tick or a word's edge: there, one before, one after.
        1..=6 => around(rng, edge(rng, curve)),
        7 => around(rng, most),
        8 => most.saturating_add(log_uniform(rng, MOST)),
        9 => MOST - U256::from(rng.below(2)),
        // Evenly over what the pool takes: mostly many ticks.
        10..=12 => even(rng, most),
        _ => log_uniform(rng, most),
    };
    size.clamp(U256::ONE, MOST)
}

/// One of `n − 1`, `n`, `n + 1`.
fn around(rng: &mut Rng, n: U256) -> U256 {
    match rng.below(3) {
        0 => n.saturating_sub(U256::ONE),
        1 => n,
        _ => n.saturating_add(U256::ONE),
    }
}

fn edge(rng: &mut Rng, curve: &Curve) -> U256 {
    let count = curve.segment_count() as u64;
    if count == 0 {
        return U256::ONE;
    }
    let index = usize::try_from(rng.below(count)).expect("an index");
    curve.segment(index).in_end
}

/// Any size up to `most`, each as likely.
pub fn even(rng: &mut Rng, most: U256) -> U256 {
    let parts = [rng.next_u64(), rng.next_u64(), rng.next_u64(), rng.next_u64()];
    U256::from_limbs(parts).checked_rem(most).unwrap_or(U256::ONE)
}

/// Any size up to `most`, each number of digits as likely.
pub fn log_uniform(rng: &mut Rng, most: U256) -> U256 {
    let bits = rng.below(most.bit_len() as u64 + 1);
    let power = U256::ONE << usize::try_from(bits).expect("at most 256");
    (power + even(rng, power)).min(most)
}
