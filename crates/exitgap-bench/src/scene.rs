//! The pool used for most measurements: about 1,200 initialised ticks, created with the real contracts.

use alloy_primitives::U256;
use exitgap_core::pools::{Concentrated, Direction, PoolState, sqrt_ratio_at_tick};
use exitgap_peers::v3::{Bed, Pool, PoolToMake, Position};
use exitgap_tests::devchain::Rng;

use crate::BenchError;

/// All measurements sell token 0.
pub const DIRECTION: Direction = Direction::ZeroForOne;

/// Numbers of initialised ticks that the measured quotes cross.
pub const TICKS_CROSSED: [u32; 5] = [0, 1, 10, 100, 500];

/// Number of different sizes per number of ticks crossed, so that no quote repeats the previous one.
pub const SIZES: u32 = 32;

/// Half the number of the pool's ticks.
const HALF: i32 = 600;

/// Fee and tick spacing of the pool.
const TIER: (u32, i32) = (500, 10);

/// The pool, and the questions about it.
pub struct Scene {
    bed: Bed,
    plan: PoolToMake,
    /// Its state, read back from the contract.
    pub pool: Concentrated,
    /// The same, in the form used by the core.
    pub state: PoolState,
}

impl Scene {
    /// Deploys the contracts and creates the pool.
    pub fn new() -> Result<Self, BenchError> {
        let bed = Bed::deploy()?;
        let plan = plan();
        let pool = bed.pool(&plan)?.state()?;
        let state = PoolState::Concentrated(pool.clone());
        Ok(Self { bed, plan, pool, state })
    }

    /// The pool's contract, created again in a separate EVM.
    pub fn contract(&self) -> Result<Pool, BenchError> {
        Ok(self.bed.pool(&self.plan)?)
    }

    /// Sizes that cross this many ticks and end within a step.
    pub fn amounts(&self, ticks_crossed: u32) -> Result<Vec<U256>, BenchError> {
        let curve = self.state.curve(DIRECTION);
        let inside = (0..curve.segment_count()).map(|index| curve.segment(index)).find(|segment| {
            let middle = segment.in_start + ((segment.in_end - segment.in_start) >> 1);
            curve.fill(middle).is_ok_and(|fill| fill.ticks_crossed() == Some(ticks_crossed))
        });
        let segment = inside.ok_or(BenchError::NoSuchStep(ticks_crossed))?;
        let width = (segment.in_end - segment.in_start) / U256::from(SIZES + 1);
        Ok((1..=SIZES).map(|part| segment.in_start + width * U256::from(part)).collect())
    }

    /// The amounts that the contract pays for these sizes.
    pub fn amounts_out(&self, amounts: &[U256]) -> Result<Vec<U256>, BenchError> {
        let mut contract = self.contract()?;
        let mut paid = Vec::new();
        for amount in amounts {
            let swapped = contract.swap(DIRECTION, *amount, false)?;
            paid.push(swapped.map_err(|revert| BenchError::Peer(revert.reason()))?.paid);
        }
        Ok(paid)
    }
}

/// Overlapping positions with all ends different: every one of the 1,200 ticks around the price is initialised, and
/// half of the positions are active.
fn plan() -> PoolToMake {
    let mut rng = Rng::new(1);
    let (fee_pips, tick_spacing) = TIER;
    let positions = (0..HALF).map(|index| Position {
        lower: (index - HALF) * tick_spacing,
        upper: index * tick_spacing,
        liquidity: u128::from(rng.between(1, 1_000)) * 10_u128.pow(18),
    });
    let positions = positions.collect();
    let sqrt_price_x96 = sqrt_ratio_at_tick(5).expect("5 is a tick");
    PoolToMake { fee_pips, tick_spacing, sqrt_price_x96, protocol_fee: 0, positions }
}
