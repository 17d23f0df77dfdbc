//! What reading a slot of a hundred v3 pools costs in steady state.

use std::time::Instant;

use alloy::primitives::U256;
use exitgap_core::pools::PoolState;
use exitgap_core::series::Slot;
use exitgap_tests::devchain::{
    DevChain, FIRST_SLOT, MintedPosition, Options, Pool, PositionSpec, SLOT_SECONDS, Tx, World,
    many_v3_pools,
};

use crate::chain_reader_scene::{
    chain_config, deadline, pool_config, reader, small_limits, snapshots,
};

const POOLS: usize = 100;
const SLOTS: u64 = 10;

/// CPU time of this thread in microseconds, as the kernel accounts it.
fn cpu_us() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    let nanoseconds: u64 = text.split(' ').next().unwrap().parse().unwrap();
    nanoseconds / 1_000
}

/// Every pool trades in every slot; in a tenth of them liquidity is added or pulled.
fn slot_txs(chain: &DevChain, pools: &[(Pool, Vec<MintedPosition>)], slot: u64) -> Vec<Tx> {
    let mut txs = Vec::new();
    for (index, (pool, positions)) in pools.iter().enumerate() {
        let token_in =
            if (slot + index as u64).is_multiple_of(2) { pool.token0 } else { pool.token1 };
        txs.push(chain.swap_tx(pool, token_in, U256::from(10_000)));
        if index as u64 % 10 == slot % 10 {
            let position = &positions[index % positions.len()];
            txs.push(chain.burn_tx(position, position.liquidity / 10));
            let again = PositionSpec {
                tick_lower: position.tick_lower,
                tick_upper: position.tick_upper,
                amount0: U256::from(10).pow(U256::from(9)),
                amount1: U256::from(10).pow(U256::from(9)),
            };
            txs.push(chain.mint_tx(&[(*pool, again)]));
        }
    }
    txs
}

#[tokio::test]
async fn a_hundred_pools_stay_within_the_budget() {
    let chain = DevChain::start(Options::default()).await.unwrap();
    let world = World::deploy(&chain).await.unwrap();
    let pools = many_v3_pools(&chain, POOLS, 12, 4).await.unwrap();
    let mut config = chain_config(&chain, &world, &[chain.url()]).await;
    config.pool = pools.iter().map(|(pool, _)| pool_config(pool, ["ALT", "USDC"])).collect();
    let mut following = reader(&config, small_limits());
    let (mut requests, mut cpu, mut wall, mut ticks) = (0, 0, 0, 0);
    for slot in FIRST_SLOT..=FIRST_SLOT + SLOTS {
        let txs = slot_txs(&chain, &pools, slot);
        let (first, second) = txs.split_at(txs.len() / 2);
        chain.mine(slot * SLOT_SECONDS - 60, first).await.unwrap();
        chain.mine(slot * SLOT_SECONDS - 5, second).await.unwrap();
        chain.mine(slot * SLOT_SECONDS + 7, &[]).await.unwrap();
        let (cpu_before, began) = (cpu_us(), Instant::now());
        let reading = following.read_slot(Slot::new(slot).unwrap(), deadline()).await;
        let (cpu_us, wall_us) = (cpu_us() - cpu_before, began.elapsed().as_micros());
        let sent = reading.requests;
        let pools = snapshots(reading);
        if slot == FIRST_SLOT {
            println!("first reading: {sent} requests, {cpu_us} µs CPU, {wall_us} µs");
            ticks = pools.iter().map(|pool| tick_count(pool.observation().state())).sum();
        } else {
            requests += sent;
            cpu += cpu_us;
            wall += wall_us;
        }
    }
    let readings = SLOTS * POOLS as u64;
    println!(
        "steady, per pool and slot: {requests}/{readings} requests, {} µs CPU, {} ticks; \
         {} µs per slot",
        cpu / readings,
        ticks / POOLS,
        wall / u128::from(SLOTS)
    );
    assert!(10 * requests <= readings, "{requests} requests for {readings} pools and slots");
    assert!(cpu <= 2_000 * readings, "{cpu} µs CPU for {readings} pools and slots");
}

fn tick_count(state: &PoolState) -> usize {
    match state {
        PoolState::Concentrated(state) => state.ticks().len(),
        PoolState::ConstantProduct(_) => 0,
    }
}
