//! All implementations that can quote: ours and its peers, each used in its fastest way.

mod balancer_maths;
mod curve_math;
pub mod js_sdk;
mod ours;
mod revm_quoter;
mod uniswap_v3_math;
mod uniswap_v3_sdk;

use std::time::{Duration, Instant};

use alloy_primitives::U256;

use crate::BenchError;
use crate::scene::{DIRECTION, Scene};

pub use balancer_maths::BalancerMaths;
pub use curve_math::CurveMath;
pub use ours::Ours;
pub use uniswap_v3_sdk::UniswapV3Sdk;

/// One way to quote the scene's pool.
pub trait Peer {
    /// Its name in the results.
    fn name(&self) -> &'static str;

    /// Quotes every amount `repeats` times.
    fn run(&mut self, amounts: &[U256], repeats: u32) -> Result<Run, BenchError>;
}

/// The result of a run.
pub struct Run {
    /// Wall time of all quotes together.
    pub took: Duration,
    /// The fill of each amount.
    pub amounts_out: Vec<U256>,
}

/// All peers, ours first.
pub fn all(scene: &Scene) -> Result<Vec<Box<dyn Peer>>, BenchError> {
    Ok(vec![
        Box::new(Ours::new(&scene.state, DIRECTION)),
        Box::new(UniswapV3Sdk::new(scene)),
        Box::new(uniswap_v3_math::UniswapV3Math::new(scene)),
        Box::new(revm_quoter::RevmQuoter::new(scene)?),
        Box::new(js_sdk::JsSdk::start(scene)?),
    ])
}

/// Times `quote` over all amounts, for peers in this process.
fn time(
    amounts: &[U256],
    repeats: u32,
    mut quote: impl FnMut(U256) -> Result<U256, BenchError>,
) -> Result<Run, BenchError> {
    let mut amounts_out = vec![U256::ZERO; amounts.len()];
    let start = Instant::now();
    for _ in 0..repeats {
        for (amount_in, amount_out) in amounts.iter().zip(&mut amounts_out) {
            *amount_out = quote(std::hint::black_box(*amount_in))?;
        }
    }
    Ok(Run { took: start.elapsed(), amounts_out })
}
