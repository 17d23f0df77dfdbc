//! The crate `curve-math`: a pool of 3pool's generation. It computes the quotes of the pool's view function.

use alloy_primitives::U256;
use curve_math::Pool;
use exitgap_core::pools::StableSwapParts;

use super::{Peer, Run, time};
use crate::BenchError;

/// A pool in the crate's own form; token 0 is sold for token 1.
pub struct CurveMath {
    pool: Pool,
}

impl CurveMath {
    pub fn new(parts: &StableSwapParts) -> Self {
        let StableSwapParts { balances, rates, amp, fee, .. } = parts.clone();
        let (amp, fee) = (U256::from(amp), U256::from(fee));
        Self { pool: Pool::StableSwapV1 { balances, rates, amp, fee } }
    }
}

impl Peer for CurveMath {
    fn name(&self) -> &'static str {
        "curve_math"
    }

    fn run(&mut self, amounts: &[U256], repeats: u32) -> Result<Run, BenchError> {
        time(amounts, repeats, |amount_in| {
            let quoted = self.pool.get_amount_out(0, 1, amount_in);
            quoted.ok_or_else(|| BenchError::Peer("curve_math answers nothing".to_owned()))
        })
    }
}
