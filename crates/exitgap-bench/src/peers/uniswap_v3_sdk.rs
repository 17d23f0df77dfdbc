//! The crate `uniswap-v3-sdk`, with its swap loop called directly on its tick list.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use alloy_primitives::{I256, U160, U256, aliases::U24};
use uniswap_v3_sdk::prelude::{Tick, TickListDataProvider, v3_swap};

use super::{Peer, Run, time};
use crate::BenchError;
use crate::scene::Scene;

/// A pool in the crate's own form.
pub struct UniswapV3Sdk {
    fee: U24,
    sqrt_price_x96: U160,
    tick: i32,
    liquidity: u128,
    tick_spacing: i32,
    ticks: TickListDataProvider,
}

impl UniswapV3Sdk {
    pub fn new(scene: &Scene) -> Self {
        let pool = &scene.pool;
        let ticks = pool.ticks().iter();
        // A swap does not read the gross liquidity.
        let ticks = ticks.map(|net| Tick::new(net.tick, 1, net.liquidity_net)).collect();
        Self {
            fee: U24::from(pool.fee_pips()),
            sqrt_price_x96: U160::from(pool.sqrt_price_x96()),
            tick: pool.tick(),
            liquidity: pool.liquidity(),
            tick_spacing: pool.tick_spacing(),
            ticks: TickListDataProvider::new(ticks, pool.tick_spacing()),
        }
    }
}

impl Peer for UniswapV3Sdk {
    fn name(&self) -> &'static str {
        "uniswap_v3_sdk"
    }

    fn run(&mut self, amounts: &[U256], repeats: u32) -> Result<Run, BenchError> {
        time(amounts, repeats, |amount_in| {
            let swap = pin!(v3_swap(
                self.fee,
                self.sqrt_price_x96,
                self.tick,
                self.liquidity,
                self.tick_spacing,
                &self.ticks,
                true,
                I256::from_raw(amount_in),
                None,
            ));
            // Its ticks are in memory, so it never waits.
            match swap.poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(Ok(end)) => Ok((-end.amount_calculated).into_raw()),
                Poll::Ready(Err(error)) => Err(BenchError::Peer(error.to_string())),
                Poll::Pending => Err(BenchError::Peer("a list in memory waited".to_owned())),
            }
        })
    }
}
