//! `SushiSwap` v3's pools: the real contracts of Uniswap v3 with another factory.

use alloy::primitives::U256;
use exitgap_api::PoolLabels;
use exitgap_chain::Severity;
use exitgap_chain::config::{Factory, FactoryKind};
use exitgap_core::pools::{Concentrated, Direction};
use exitgap_tests::devchain::{FIRST_SLOT, Pool, PoolKind};

use crate::scenes::chain::{
    chain_config, deadline, pass_slot, pool_config, read, reader, scene, small_limits, snapshots,
};

#[tokio::test]
async fn a_sushi_pool_is_named_as_its_venues_and_pays_what_is_computed() {
    let (chain, world) = scene().await;
    let tokens = chain.create_tokens(&[("ONE", 18), ("TWO", 18)]).await.unwrap();
    let pool = chain.create_sushi_pool([&tokens[0], &tokens[1]], 500).await.unwrap();
    for (ticks, liquidity) in [
        ([-887_270, 887_270], 10_u128.pow(18)),
        ([-500, 300], 7 * 10_u128.pow(20)),
        ([-50, 50], 123_456_789_012_345_678_901),
    ] {
        chain.mint_paid(&pool, ticks, liquidity).await.unwrap();
    }
    let mut config = chain_config(&chain, &world, &[chain.url()]).await;
    let (address, token0, token1) = (pool.address, pool.token0, pool.token1);
    let as_pool = Pool { address, token0, token1, fee: 500, kind: PoolKind::V3 };
    config.pool.push(pool_config(&as_pool, ["USDC", "USDC"]));
    let factory = Factory {
        address: exitgap_core::ids::Address(pool.factory.into_array()),
        kind: FactoryKind::SushiV3,
        fee_modules: Vec::new(),
    };
    config.chain[0].factory.push(factory);

    pass_slot(&chain, FIRST_SLOT).await;
    let mut sushi = reader(&config, small_limits());
    let reading = read(&mut sushi, FIRST_SLOT).await;
    assert!(reading.events.is_empty(), "{:?}", reading.events);
    let first = snapshots(reading).remove(0);
    assert_eq!(
        PoolLabels::from_observation(first.observation()).naming.name(),
        "SushiSwap v3 0.05%"
    );
    let kind = sushi.describe(deadline()).await.remove(0).1.unwrap().kind;
    assert_eq!(kind, "concentrated_liquidity of SushiSwap v3");

    // Real sales pay, one after the other, the amounts that core computes from the snapshot, and the reader follows
    // them.
    let mut state = first.observation().state().clone();
    for (zero_for_one, units) in [(true, 3_u128), (false, 20), (true, 11)] {
        let direction = Direction::BOTH[usize::from(!zero_for_one)];
        let amount = U256::from(units * 10_u128.pow(17) + 1);
        let fill = state.fill_once(direction, amount).unwrap();
        let paid = chain.swap_paid(&pool, zero_for_one, amount).await.unwrap();
        assert_eq!(fill.amount_out, paid, "{direction:?} {amount}");
        state = state.after(direction, &fill);
    }
    chain.mint_paid(&pool, [-1_000, 50], 5 * 10_u128.pow(19)).await.unwrap();
    pass_slot(&chain, FIRST_SLOT + 1).await;
    let followed = snapshots(read(&mut sushi, FIRST_SLOT + 1).await).remove(0);
    assert_eq!(Concentrated::from_state(followed.observation().state()).unwrap().ticks().len(), 7);
    let findings = sushi.check(deadline()).await;
    let tried = findings
        .iter()
        .find(|finding| finding.message.contains("pays exactly the computed amount"));
    assert_eq!(tried.unwrap().severity, Severity::Fine);

    // A factory determines the venue of its pools. Without a factory, a pool has no venue.
    for (kind, name) in [
        (FactoryKind::UniswapV3, "Uniswap v3 0.05%"),
        (FactoryKind::PancakeV3, "PancakeSwap v3 0.05%"),
    ] {
        config.chain[0].factory[0].kind = kind;
        let reading = read(&mut reader(&config, small_limits()), FIRST_SLOT + 1).await;
        let of_other = snapshots(reading).remove(0);
        assert_eq!(PoolLabels::from_observation(of_other.observation()).naming.name(), name);
    }
    config.chain[0].factory.clear();
    let reading = read(&mut reader(&config, small_limits()), FIRST_SLOT + 1).await;
    let of_none = snapshots(reading).remove(0);
    assert_eq!(
        PoolLabels::from_observation(of_none.observation()).naming.name(),
        "v3-type pool 0.05%"
    );
}
