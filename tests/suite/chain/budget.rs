//! The number of requests for reading a slot of a hundred v3 pools in steady state.

use alloy::primitives::U256;
use exitgap_chain::Limits;
use exitgap_chain::config::LogsCheck;
use exitgap_core::pools::{Concentrated, PoolState};
use exitgap_core::series::Slot;
use exitgap_tests::devchain::{
    DevChain, FIRST_SLOT, MintedPosition, Options, Pool, PositionSpec, SLOT_SECONDS, Tx, World,
    many_v3_pools,
};

use crate::scenes::chain::{chain_config, deadline, pool_config, reader, small_limits, snapshots};

const POOLS: usize = 100;
/// Number of slots between two full readings of a pool.
const SLOTS: u64 = 11;

/// In every slot, every pool trades; in a tenth of the pools, liquidity is added or removed.
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

/// A quarter of the pools has each tick spacing, so that full readings cost the maximum: a spacing of 1 takes 6,932
/// calls for the bitmap alone.
#[tokio::test]
async fn a_hundred_pools_stay_within_the_budget() {
    let chain = DevChain::start(Options::default()).await.unwrap();
    let world = World::deploy(&chain).await.unwrap();
    let pools = many_v3_pools(&chain, POOLS, 12, 4).await.unwrap();
    let mut config = chain_config(&chain, &world, &[chain.url()]).await;
    // Besides the requests that check logs: one for each block, and as many again for receipts.
    config.chain[0].check_logs_by = LogsCheck::Nothing;
    config.pool = pools.iter().map(|(pool, _)| pool_config(pool, ["ALT", "USDC"])).collect();
    let never = Limits { full_read_slots: 288, full_read_slots_most: 289, ..small_limits() };
    // The first reader only follows logs; the second reads every pool in full once an hour, as by default.
    let mut following = reader(&config, never);
    let mut comparing = reader(&config, small_limits());
    let (mut by_logs, mut with_full, mut ticks) = (Vec::new(), Vec::new(), 0);
    for slot in FIRST_SLOT..=FIRST_SLOT + SLOTS {
        let txs = slot_txs(&chain, &pools, slot);
        let (first, second) = txs.split_at(txs.len() / 2);
        chain.mine(slot * SLOT_SECONDS - 60, first).await.unwrap();
        chain.mine(slot * SLOT_SECONDS - 5, second).await.unwrap();
        chain.mine(slot * SLOT_SECONDS + 7, &[]).await.unwrap();
        let slot_of = Slot::new(slot).unwrap();
        let reading = following.read_slot(slot_of, deadline()).await;
        let compared = comparing.read_slot(slot_of, deadline()).await;
        assert!(compared.events.is_empty(), "{:?}", compared.events);
        let requests = (reading.requests, compared.requests);
        let (pools, same) = (snapshots(reading), snapshots(compared));
        assert_eq!(pools, same, "{slot}");
        if slot == FIRST_SLOT {
            println!("first reading: {} requests", requests.0);
            ticks = pools.iter().map(|pool| tick_count(pool.observation().state())).sum();
        } else {
            by_logs.push(requests.0);
            with_full.push(requests.1);
        }
    }
    let sum = |requests: &[u64]| requests.iter().sum::<u64>();
    println!(
        "{} ticks a pool; by logs alone {by_logs:?}, with full readings {with_full:?}",
        ticks / POOLS
    );
    let readings = SLOTS * POOLS as u64;
    assert!(10 * sum(&by_logs[1..]) <= readings, "{by_logs:?}");
    // The cost of an hour of full readings that the documentation of the configuration states.
    assert!(sum(&with_full) - sum(&by_logs) <= 150, "{with_full:?}");
    // The full readings are spread over several slots.
    let most = with_full.iter().max().copied().unwrap_or_default();
    assert!(most * SLOTS <= 2 * sum(&with_full), "{with_full:?}");
}

fn tick_count(state: &PoolState) -> usize {
    Concentrated::from_state(state).map_or(0, |state| state.ticks().len())
}
