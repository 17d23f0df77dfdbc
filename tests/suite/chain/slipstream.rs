//! Slipstream's real contracts: reading them, following them, and comparing their payments with core, with a fee of the
//! factory and with a fee of a module.

use alloy::primitives::{Address, U256};
use exitgap_chain::Severity;
use exitgap_chain::config::{Config, Factory, FactoryKind};
use exitgap_core::pools::{Concentrated, Direction};
use exitgap_core::series::MissingReason;
use exitgap_core::snapshot::Snapshot;
use exitgap_tests::devchain::{DevChain, FIRST_SLOT, PaidPool, Pool, PoolKind};

use crate::scenes::chain::{
    chain_config, deadline, pass_slot, pool_config, read, reader, scene, small_limits, snapshots,
};

/// The address of the fee module.
const MODULE: Address = Address::repeat_byte(0x66);

fn own(address: Address) -> exitgap_core::ids::Address {
    exitgap_core::ids::Address(address.into_array())
}

/// A pool of tick spacing 50 with overlapping ranges, and a configuration for it.
pub async fn slipstream() -> (DevChain, PaidPool, Config) {
    let (chain, world) = scene().await;
    let tokens = chain.create_tokens(&[("ONE", 18), ("TWO", 18)]).await.unwrap();
    let pool = chain.create_slipstream_pool([&tokens[0], &tokens[1]], 50).await.unwrap();
    for (ticks, liquidity) in [
        ([-887_250, 887_250], 10_u128.pow(18)),
        ([-500, 300], 7 * 10_u128.pow(20)),
        ([-50, 50], 123_456_789_012_345_678_901),
    ] {
        chain.mint_paid(&pool, ticks, liquidity).await.unwrap();
    }
    let mut config = chain_config(&chain, &world, &[chain.url()]).await;
    let (address, token0, token1) = (pool.address, pool.token0, pool.token1);
    let as_pool = Pool { address, token0, token1, fee: 500, kind: PoolKind::V3 };
    config.pool.push(pool_config(&as_pool, ["USDC", "USDC"]));
    let (address, kind) = (own(pool.factory), FactoryKind::Slipstream);
    config.chain[0].factory.push(Factory { address, kind, fee_modules: Vec::new() });
    (chain, pool, config)
}

/// Executes one real sale after the other and compares the payments with the fills that core computes from the
/// snapshot.
async fn sells_as_read(chain: &DevChain, pool: &PaidPool, snapshot: &Snapshot) {
    let mut state = snapshot.observation().state().clone();
    for (zero_for_one, units) in [(true, 3_u128), (false, 20), (true, 11)] {
        let direction = Direction::BOTH[usize::from(!zero_for_one)];
        let amount = U256::from(units * 10_u128.pow(17) + 1);
        let fill = state.fill_once(direction, amount).unwrap();
        let paid = chain.swap_paid(pool, zero_for_one, amount).await.unwrap();
        assert_eq!(fill.amount_out, paid, "{direction:?} {amount}");
        state = state.after(direction, &fill);
    }
}

#[tokio::test]
async fn a_slipstream_pool_is_read_followed_and_pays_what_is_computed() {
    let (chain, pool, config) = slipstream().await;
    pass_slot(&chain, FIRST_SLOT).await;
    let mut reader = reader(&config, small_limits());
    let reading = read(&mut reader, FIRST_SLOT).await;
    assert!(reading.events.is_empty(), "{:?}", reading.events);
    let first = snapshots(reading).remove(0);
    let state = Concentrated::from_state(first.observation().state()).unwrap();
    assert_eq!((state.fee_pips(), state.tick_spacing(), state.ticks().len()), (500, 50, 6));
    sells_as_read(&chain, &pool, &first).await;

    // Following the pool's logs gives the same state as reading everything.
    chain.mint_paid(&pool, [-1_000, 50], 5 * 10_u128.pow(19)).await.unwrap();
    pass_slot(&chain, FIRST_SLOT + 1).await;
    let reading = read(&mut reader, FIRST_SLOT + 1).await;
    assert!(reading.events.is_empty(), "{:?}", reading.events);
    let followed = snapshots(reading).remove(0);
    let mut fresh = crate::scenes::chain::reader(&config, small_limits());
    assert_eq!(followed, snapshots(read(&mut fresh, FIRST_SLOT + 1).await).remove(0));
    assert_eq!(Concentrated::from_state(followed.observation().state()).unwrap().ticks().len(), 7);

    let infos = reader.describe(deadline()).await;
    assert_eq!(infos[0].1.as_ref().unwrap().kind, "concentrated_liquidity of Slipstream");
    let findings = reader.check(deadline()).await;
    let tried = findings
        .iter()
        .find(|finding| finding.message.contains("pays exactly the computed amount"));
    assert_eq!(tried.unwrap().severity, Severity::Fine);
}

#[tokio::test]
async fn a_fee_of_a_module_is_taken_where_the_module_is_named_and_refused_where_not() {
    let (chain, pool, mut config) = slipstream().await;
    chain.module_slipstream(&pool, MODULE, 4_321).await.unwrap();
    pass_slot(&chain, FIRST_SLOT).await;
    let reading = read(&mut reader(&config, small_limits()), FIRST_SLOT).await;
    let missing = reading.pools[0].1.as_ref().unwrap_err();
    assert_eq!(missing.reason, MissingReason::PoolUnsupported);
    for words in ["dynamic_fee", &own(MODULE).to_string()] {
        assert!(missing.detail.contains(words), "{words}: {missing}");
    }

    config.chain[0].factory[0].fee_modules = vec![own(MODULE)];
    let mut reader = reader(&config, small_limits());
    let first = snapshots(read(&mut reader, FIRST_SLOT).await).remove(0);
    assert_eq!(Concentrated::from_state(first.observation().state()).unwrap().fee_pips(), 4_321);
    sells_as_read(&chain, &pool, &first).await;

    // A changed module fee takes effect in the next slot; above 10%, the factory's own fee applies.
    for (said, slot, taken) in [(77, 1, 77), (100_001, 2, 500)] {
        chain.module_slipstream(&pool, MODULE, said).await.unwrap();
        pass_slot(&chain, FIRST_SLOT + slot).await;
        let read = snapshots(read(&mut reader, FIRST_SLOT + slot).await).remove(0);
        assert_eq!(Concentrated::from_state(read.observation().state()).unwrap().fee_pips(), taken);
        sells_as_read(&chain, &pool, &read).await;
    }
}
