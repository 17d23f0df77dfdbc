//! Random amounts that cover every order of magnitude, and every edge.

use alloy::primitives::U256;

use crate::devchain::Rng;

/// One of `n − 1`, `n`, `n + 1`.
pub fn around(rng: &mut Rng, n: U256) -> U256 {
    match rng.below(3) {
        0 => n.saturating_sub(U256::ONE),
        1 => n,
        _ => n.saturating_add(U256::ONE),
    }
}

/// Any number below `most`, uniformly distributed; 1 if there is none.
pub fn even(rng: &mut Rng, most: U256) -> U256 {
    let parts = [rng.next_u64(), rng.next_u64(), rng.next_u64(), rng.next_u64()];
    U256::from_limbs(parts).checked_rem(most).unwrap_or(U256::ONE)
}

/// Any number up to `most`, which is below `2^255`, with the number of digits uniformly distributed.
pub fn log_uniform(rng: &mut Rng, most: U256) -> U256 {
    let bits = rng.below(most.bit_len() as u64 + 1);
    let power = U256::ONE << usize::try_from(bits).expect("at most 256");
    (power + even(rng, power)).min(most)
}
