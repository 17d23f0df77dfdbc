//! Sizes to sell, chosen where something can go wrong.

use alloy::primitives::U256;
use exitgap_core::pools::SaleCurve;

use exitgap_tests::devchain::Rng;
use exitgap_tests::parity::draw::{around, even, log_uniform};

/// The most a swap can be asked for: the contract's amount is signed.
const MOST: U256 = U256::from_limbs([u64::MAX, u64::MAX, u64::MAX, u64::MAX >> 1]);

/// Beyond this many stops of the contract's loop only one size in four is drawn: a swap through
/// all 3,466 words of a bitmap takes the machine as long as a hundred others.
const NEAR: u64 = 200;

/// A size for this curve, from 1 unit to far beyond the pool.
pub fn size(rng: &mut Rng, curve: &SaleCurve) -> U256 {
    let stops = curve.segment_count() as u64;
    let reach = if rng.once_in(4) { stops } else { stops.min(NEAR) };
    let most = edge(curve, reach);
    let size = match rng.below(16) {
        0 => U256::from(1 + rng.below(5)),
        // A stop of the contract's loop, a tick or a word's edge: there, one before, one after.
        1..=7 => {
            let stop = 1 + rng.below(reach.max(1));
            around(rng, edge(curve, stop.min(reach)))
        }
        8 => around(rng, curve.most().0),
        9 => match rng.below(4) {
            0 => MOST - U256::from(rng.below(2)),
            _ => curve.most().0.saturating_add(log_uniform(rng, MOST)),
        },
        // Evenly over what the pool takes: mostly many ticks.
        10..=12 => even(rng, most),
        _ => log_uniform(rng, most),
    };
    size.clamp(U256::ONE, MOST)
}

/// What the first `stops` steps of the contract's loop take.
fn edge(curve: &SaleCurve, stops: u64) -> U256 {
    let last = usize::try_from(stops).expect("a count of steps").checked_sub(1);
    last.map_or(U256::ZERO, |last| curve.segment(last).in_end)
}
