//! The crate `balancer-maths-rust`: a version 3 weighted pool, called as its vault does.

use alloy_primitives::U256;
use balancer_maths_rust::common::types::{
    BasePoolState, PoolState, PoolStateOrBuffer, SwapInput, SwapKind,
};
use balancer_maths_rust::pools::weighted::WeightedState;
use balancer_maths_rust::vault::Vault;
use exitgap_core::pools::VaultParts;

use super::{Peer, Run, time};
use crate::BenchError;

/// A pool in the crate's own form; token 0 is sold for token 1.
pub struct BalancerMaths {
    pool: PoolStateOrBuffer,
    input: SwapInput,
}

impl BalancerMaths {
    pub fn new(vault: &VaultParts, weights: &[u64]) -> Self {
        let VaultParts { balances, live_balances, scaling_factors, rates, swap_fee } =
            vault.clone();
        let name = |index: usize| format!("0x{index:040x}");
        let tokens = (0..balances.len()).map(name).collect();
        let base = BasePoolState {
            pool_address: name(99),
            pool_type: "WEIGHTED".to_owned(),
            tokens,
            scaling_factors,
            token_rates: rates,
            balances_live_scaled_18: live_balances.unwrap_or_default(),
            swap_fee: U256::from(swap_fee),
            aggregate_swap_fee: U256::ZERO,
            total_supply: U256::ZERO,
            supports_unbalanced_liquidity: true,
            hook_type: None,
        };
        let weights = weights.iter().copied().map(U256::from).collect();
        let state = PoolState::Weighted(WeightedState::new(base, weights));
        let input = SwapInput {
            amount_raw: U256::ZERO,
            swap_kind: SwapKind::GivenIn,
            token_in: name(0),
            token_out: name(1),
        };
        Self { pool: PoolStateOrBuffer::Pool(Box::new(state)), input }
    }
}

impl Peer for BalancerMaths {
    fn name(&self) -> &'static str {
        "balancer_maths"
    }

    fn run(&mut self, amounts: &[U256], repeats: u32) -> Result<Run, BenchError> {
        time(amounts, repeats, |amount_in| {
            self.input.amount_raw = amount_in;
            let swapped = Vault::new().swap(&self.input, &self.pool, None);
            swapped.map_err(|error| BenchError::Peer(format!("balancer_maths: {error:?}")))
        })
    }
}
