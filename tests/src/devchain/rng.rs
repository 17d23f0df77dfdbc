//! A small deterministic random number generator, so that a seed gives the same results on every machine.

/// `SplitMix64` (Steele, Lea and Flood, 2014): one 64-bit state, every seed is good.
#[derive(Debug, Clone)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// The sequence of this seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which must not be 0. The bias is below 2⁻³² for small bounds.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next_u64() % bound
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// `true` once in `n` draws on average.
    pub fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// A number from `-amplitude` to `amplitude`, the mean of three uniform draws: small values are more likely.
    pub fn bell(&mut self, amplitude: u32) -> i64 {
        let width = 2 * u64::from(amplitude) + 1;
        let sum = self.below(width) + self.below(width) + self.below(width);
        (sum / 3).cast_signed() - i64::from(amplitude)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_the_published_one() {
        let mut rng = Rng::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| rng.next_u64()).collect();
        assert_eq!(
            first,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn draws_stay_in_their_bounds() {
        let mut rng = Rng::new(1);
        for _ in 0..10_000 {
            assert!((3..=5).contains(&rng.between(3, 5)));
            let bell = rng.bell(7);
            assert!((-7..=7).contains(&bell), "{bell}");
        }
    }
}
