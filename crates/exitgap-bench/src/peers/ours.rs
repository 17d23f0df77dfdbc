//! exitgap's prepared curve.

use alloy_primitives::U256;
use exitgap_core::pools::{Direction, PoolState, SaleCurve};

use super::{Peer, Run, time};
use crate::BenchError;

/// The prepared curve of one direction.
pub struct Ours {
    curve: SaleCurve,
}

impl Ours {
    pub fn new(state: &PoolState, direction: Direction) -> Self {
        Self { curve: state.curve(direction) }
    }
}

impl Peer for Ours {
    fn name(&self) -> &'static str {
        "ours"
    }

    fn run(&mut self, amounts: &[U256], repeats: u32) -> Result<Run, BenchError> {
        time(amounts, repeats, |amount_in| {
            let fill = self.curve.fill(amount_in);
            fill.map(|fill| fill.amount_out).map_err(|error| BenchError::Peer(error.to_string()))
        })
    }
}
