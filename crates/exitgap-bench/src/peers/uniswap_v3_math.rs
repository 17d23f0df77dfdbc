//! The crate `uniswap_v3_math`: a simple loop written with its primitives.

use std::collections::HashMap;

use alloy_primitives::{I256, U256};
use exitgap_core::pools::{MAX_TICK, MIN_SQRT_RATIO, MIN_TICK};
use uniswap_v3_math::error::UniswapV3MathError;
use uniswap_v3_math::liquidity_math::add_delta;
use uniswap_v3_math::swap_math::compute_swap_step;
use uniswap_v3_math::tick_bitmap::{flip_tick, next_initialized_tick_within_one_word};
use uniswap_v3_math::tick_math::{get_sqrt_ratio_at_tick, get_tick_at_sqrt_ratio};

use super::{Peer, Run, time};
use crate::BenchError;
use crate::scene::Scene;

/// A pool in the crate's own form.
pub struct UniswapV3Math {
    fee_pips: u32,
    sqrt_price_x96: U256,
    tick: i32,
    liquidity: u128,
    tick_spacing: i32,
    bitmap: HashMap<i16, U256>,
    nets: HashMap<i32, i128>,
}

impl UniswapV3Math {
    pub fn new(scene: &Scene) -> Self {
        let pool = &scene.pool;
        let mut bitmap = HashMap::new();
        for net in pool.ticks() {
            flip_tick(&mut bitmap, net.tick, pool.tick_spacing()).expect("the tick is in place");
        }
        Self {
            fee_pips: pool.fee_pips(),
            sqrt_price_x96: pool.sqrt_price_x96(),
            tick: pool.tick(),
            liquidity: pool.liquidity(),
            tick_spacing: pool.tick_spacing(),
            bitmap,
            nets: pool.ticks().iter().map(|net| (net.tick, net.liquidity_net)).collect(),
        }
    }

    /// Sells `amount_in` of token 0: the contract's loop, for falling prices only.
    fn sell_token0(&self, amount_in: U256) -> Result<U256, UniswapV3MathError> {
        let limit = MIN_SQRT_RATIO + U256::ONE;
        let (mut price, mut tick, mut liquidity) = (self.sqrt_price_x96, self.tick, self.liquidity);
        let (mut remaining, mut paid) = (amount_in, U256::ZERO);
        while !remaining.is_zero() && price != limit {
            let (next, initialised) =
                next_initialized_tick_within_one_word(&self.bitmap, tick, self.tick_spacing, true)?;
            let next = next.clamp(MIN_TICK, MAX_TICK);
            let at_next = get_sqrt_ratio_at_tick(next)?;
            let start = price;
            let (end, taken, out, fee) = compute_swap_step(
                price,
                at_next.max(limit),
                liquidity,
                I256::from_raw(remaining),
                self.fee_pips,
            )?;
            price = end;
            remaining -= taken + fee;
            paid += out;
            if price == at_next {
                if initialised {
                    let net = self.nets.get(&next).copied().unwrap_or_default();
                    liquidity = add_delta(liquidity, -net)?;
                }
                tick = next - 1;
            } else if price != start {
                tick = get_tick_at_sqrt_ratio(price)?;
            }
        }
        std::hint::black_box(tick);
        Ok(paid)
    }
}

impl Peer for UniswapV3Math {
    fn name(&self) -> &'static str {
        "uniswap_v3_math"
    }

    fn run(&mut self, amounts: &[U256], repeats: u32) -> Result<Run, BenchError> {
        time(amounts, repeats, |amount_in| {
            self.sell_token0(amount_in).map_err(|error| BenchError::Peer(error.to_string()))
        })
    }
}
