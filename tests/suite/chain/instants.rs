//! The last block up to an instant when several blocks have the same timestamp, as on layer-2 chains.

use alloy::primitives::U256;
use exitgap_core::series::Slot;
use exitgap_tests::devchain::{FIRST_SLOT, World};

use crate::scenes::chain::{
    assert_fills_equal, read, reader, scene, small_limits, snapshots, world_config,
};

#[tokio::test]
async fn of_blocks_of_one_timestamp_the_last_is_the_slots() {
    let (chain, world) = scene().await;
    let config = world_config(&chain, &world, &[chain.url()], [0, World::FIRST_V2]).await;
    let instant = Slot::new(FIRST_SLOT).unwrap().unix_s();
    chain.mine(instant - 1, &[]).await.unwrap();
    // Four blocks at exactly this instant, each with a different state.
    let pool = world.pools[0].pool;
    let mut last = chain.mine(instant, &[]).await.unwrap();
    for sold in 1..=3_u64 {
        let amount = U256::from(sold) * U256::from(10).pow(U256::from(6));
        let swap = chain.swap_tx(&pool, pool.token0, amount);
        last = chain.mine(instant, &[swap]).await.unwrap();
        assert_eq!(last.timestamp, instant, "the node makes blocks of one timestamp");
    }
    chain.mine(instant + 1, &[]).await.unwrap();
    let snapshots = snapshots(read(&mut reader(&config, small_limits()), FIRST_SLOT).await);
    for (snapshot, pool) in snapshots.iter().zip([0, World::FIRST_V2]) {
        let block = snapshot.observation().block();
        assert_eq!((block.number, block.hash.0), (last.number, last.hash.0));
        assert_fills_equal(&chain, &world.pools[pool].pool, snapshot.observation()).await;
    }
}
