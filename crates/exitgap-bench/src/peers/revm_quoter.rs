//! The contract itself: `QuoterV2` in an EVM in this process.

use alloy_primitives::U256;
use exitgap_peers::v3::Pool;

use super::{Peer, Run, time};
use crate::BenchError;
use crate::scene::{DIRECTION, Scene};

/// The pool that the scene was read from, created again.
pub struct RevmQuoter {
    pool: Pool,
}

impl RevmQuoter {
    pub fn new(scene: &Scene) -> Result<Self, BenchError> {
        Ok(Self { pool: scene.contract()? })
    }
}

impl Peer for RevmQuoter {
    fn name(&self) -> &'static str {
        "revm_quoter"
    }

    fn run(&mut self, amounts: &[U256], repeats: u32) -> Result<Run, BenchError> {
        time(amounts, repeats, |amount_in| {
            let quote = self.pool.quote(DIRECTION, amount_in)?;
            quote.map(|quote| quote.amount_out).map_err(|revert| BenchError::Peer(revert.reason()))
        })
    }
}
