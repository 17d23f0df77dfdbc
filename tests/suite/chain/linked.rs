//! Algebra Integral's real contracts, with and without a plugin.

use alloy::primitives::{Address, U256};
use exitgap_chain::Severity;
use exitgap_chain::config::{Config, Factory, FactoryKind};
use exitgap_core::pools::{ConcentratedLinked, Direction};
use exitgap_core::series::MissingReason;
use exitgap_tests::devchain::{DevChain, FIRST_SLOT, LinkedPool, Pool, PoolKind};

use crate::scenes::chain::{
    chain_config, deadline, pass_slot, pool_config, read, reader, scene, small_limits, snapshots,
};

fn own(address: Address) -> exitgap_core::ids::Address {
    exitgap_core::ids::Address(address.into_array())
}

/// A pool with liquidity in overlapping ranges, and a configuration for it.
async fn linked() -> (DevChain, LinkedPool, Config) {
    let (chain, world) = scene().await;
    let tokens = chain.create_tokens(&[("ONE", 18), ("TWO", 18)]).await.unwrap();
    let pool = chain.create_linked_pool([&tokens[0], &tokens[1]], 500, 10).await.unwrap();
    for (ticks, liquidity) in [
        ([-887_270, 887_270], 10_u128.pow(18)),
        ([-5_000, 3_000], 7 * 10_u128.pow(20)),
        ([-50, 50], 123_456_789_012_345_678_901),
    ] {
        chain.mint_linked(&pool, ticks, liquidity).await.unwrap();
    }
    let mut config = chain_config(&chain, &world, &[chain.url()]).await;
    let (address, token0, token1) = (pool.address, pool.token0, pool.token1);
    let as_pool = Pool { address, token0, token1, fee: 500, kind: PoolKind::V3 };
    config.pool.push(pool_config(&as_pool, ["USDC", "USDC"]));
    config.chain[0].factory.push(Factory {
        address: own(pool.factory),
        kind: FactoryKind::AlgebraIntegral,
        fee_modules: Vec::new(),
    });
    (chain, pool, config)
}

#[tokio::test]
async fn a_linked_pool_is_read_followed_and_pays_what_is_computed() {
    let (chain, pool, config) = linked().await;
    pass_slot(&chain, FIRST_SLOT).await;
    let mut reader = reader(&config, small_limits());
    let reading = read(&mut reader, FIRST_SLOT).await;
    assert!(reading.events.is_empty(), "{:?}", reading.events);
    let first = snapshots(reading).remove(0);
    let state = ConcentratedLinked::from_state(first.observation().state()).unwrap();
    assert_eq!((state.fee_pips(), state.ranges().tick_spacing()), (500, 10));
    assert_eq!(state.ranges().ticks().len(), 6);

    // Real sales take and pay the amounts that core computes from the snapshot, also across bitmap words without ticks.
    let mut state = first.observation().state().clone();
    for (zero_for_one, units) in [(true, 3_u128), (false, 120), (true, 211)] {
        let direction = Direction::BOTH[usize::from(!zero_for_one)];
        let amount = U256::from(units * 10_u128.pow(18) + 1);
        let fill = state.fill_once(direction, amount).unwrap();
        let swapped = chain.swap_linked(&pool, zero_for_one, amount).await.unwrap();
        assert_eq!([amount, fill.amount_out], swapped, "{direction:?} {amount}");
        state = state.after(direction, &fill);
    }
    // The tick spacing changes while the ticks stay; following the logs still works.
    chain.space_linked(&pool, 60).await.unwrap();
    chain.mint_linked(&pool, [-600, 60], 5 * 10_u128.pow(19)).await.unwrap();
    pass_slot(&chain, FIRST_SLOT + 1).await;
    let reading = read(&mut reader, FIRST_SLOT + 1).await;
    assert!(reading.events.is_empty(), "{:?}", reading.events);
    let followed = snapshots(reading).remove(0);
    let mut fresh = crate::scenes::chain::reader(&config, small_limits());
    assert_eq!(followed, snapshots(read(&mut fresh, FIRST_SLOT + 1).await).remove(0));
    let state = ConcentratedLinked::from_state(followed.observation().state()).unwrap();
    assert_eq!((state.ranges().tick_spacing(), state.ranges().ticks().len()), (60, 8));

    let infos = reader.describe(deadline()).await;
    assert_eq!(infos[0].1.as_ref().unwrap().kind, "concentrated_linked of Algebra Integral");
    let findings = reader.check(deadline()).await;
    let tried = findings
        .iter()
        .find(|finding| finding.message.contains("pays exactly the computed amount"));
    assert_eq!(tried.expect("it was tried").severity, Severity::Fine, "{findings:#?}");
}

#[tokio::test]
async fn a_pool_with_a_plugin_or_of_another_factory_is_refused_by_name() {
    let (chain, pool, mut config) = linked().await;
    pass_slot(&chain, FIRST_SLOT).await;
    let mut reader = reader(&config, small_limits());
    assert_eq!(snapshots(read(&mut reader, FIRST_SLOT).await).len(), 1);
    // The plugin is set after the pool was identified; the pool calls it before every swap.
    chain.plug_linked(&pool, Address::repeat_byte(8), 1).await.unwrap();
    pass_slot(&chain, FIRST_SLOT + 1).await;
    let mut fresh = crate::scenes::chain::reader(&config, small_limits());
    for reader in [&mut reader, &mut fresh] {
        let reading = read(reader, FIRST_SLOT + 1).await;
        let missing = reading.pools[0].1.as_ref().unwrap_err();
        assert_eq!(missing.reason, MissingReason::PoolUnsupported);
        assert!(missing.detail.contains("dynamic_fee: its plugin 0x0808"), "{missing}");
    }
    config.chain[0].factory.clear();
    let mut stranger = crate::scenes::chain::reader(&config, small_limits());
    let reading = read(&mut stranger, FIRST_SLOT + 1).await;
    let missing = reading.pools[0].1.as_ref().unwrap_err();
    assert!(missing.detail.contains(&own(pool.factory).to_string()), "{missing}");
}
