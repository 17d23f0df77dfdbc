//! Pools that the reader accepts because their factory knows them: `PancakeSwap` v3's real contracts.

use alloy::primitives::{Address, Bytes, U256, hex};
use exitgap_chain::Severity;
use exitgap_chain::config::{Config, Factory, FactoryKind};
use exitgap_core::pools::{Concentrated, Direction};
use exitgap_core::series::MissingReason;
use exitgap_tests::devchain::{DevChain, FIRST_SLOT, PaidPool, Pool, PoolKind};

use crate::scenes::chain::{
    chain_config, deadline, pass_slot, pool_config, read, reader, scene, small_limits, snapshots,
};

/// Runtime code that forwards every call to `pool`.
pub fn passing_on(pool: Address) -> Bytes {
    let mut code = hex!("366000600037600060003660006000").to_vec();
    code.push(0x73);
    code.extend(pool);
    code.extend(hex!("5af13d600060003e6033573d6000fd5b3d6000f3"));
    code.into()
}

fn own(address: Address) -> exitgap_core::ids::Address {
    exitgap_core::ids::Address(address.into_array())
}

/// A pool with liquidity in overlapping ranges, and a configuration for it.
pub async fn pancake() -> (DevChain, PaidPool, Config) {
    let (chain, world) = scene().await;
    let tokens = chain.create_tokens(&[("ONE", 18), ("TWO", 18)]).await.unwrap();
    let pool = chain.create_pancake_pool([&tokens[0], &tokens[1]], 2_500).await.unwrap();
    for (ticks, liquidity) in [
        ([-887_250, 887_250], 10_u128.pow(18)),
        ([-500, 300], 7 * 10_u128.pow(20)),
        ([-50, 50], 123_456_789_012_345_678_901),
    ] {
        chain.mint_paid(&pool, ticks, liquidity).await.unwrap();
    }
    let mut config = chain_config(&chain, &world, &[chain.url()]).await;
    let (address, token0, token1) = (pool.address, pool.token0, pool.token1);
    let as_pool = Pool { address, token0, token1, fee: 2_500, kind: PoolKind::V3 };
    config.pool.push(pool_config(&as_pool, ["USDC", "USDC"]));
    config.chain[0].factory.push(Factory {
        address: own(pool.factory),
        kind: FactoryKind::PancakeV3,
        fee_modules: Vec::new(),
    });
    (chain, pool, config)
}

#[tokio::test]
async fn a_pancake_pool_is_read_followed_and_pays_what_is_computed() {
    let (chain, pool, config) = pancake().await;
    pass_slot(&chain, FIRST_SLOT).await;
    let mut reader = reader(&config, small_limits());
    let reading = read(&mut reader, FIRST_SLOT).await;
    assert!(reading.events.is_empty(), "{:?}", reading.events);
    let first = snapshots(reading).remove(0);
    let state = Concentrated::from_state(first.observation().state()).unwrap();
    assert_eq!((state.fee_pips(), state.tick_spacing(), state.ticks().len()), (2_500, 50, 6));

    // Real sales pay, one after the other, the amounts that core computes from the snapshot.
    let mut state = first.observation().state().clone();
    for (zero_for_one, units) in [(true, 3_u128), (false, 20), (true, 11)] {
        let direction = Direction::BOTH[usize::from(!zero_for_one)];
        let amount = U256::from(units * 10_u128.pow(17) + 1);
        let fill = state.fill_once(direction, amount).unwrap();
        let paid = chain.swap_paid(&pool, zero_for_one, amount).await.unwrap();
        assert_eq!(fill.amount_out, paid, "{direction:?} {amount}");
        state = state.after(direction, &fill);
    }
    // Following the pool's logs gives the same state as reading it in full.
    chain.mint_paid(&pool, [-1_000, 50], 5 * 10_u128.pow(19)).await.unwrap();
    pass_slot(&chain, FIRST_SLOT + 1).await;
    let reading = read(&mut reader, FIRST_SLOT + 1).await;
    assert!(reading.events.is_empty(), "{:?}", reading.events);
    let followed = snapshots(reading).remove(0);
    let mut fresh = crate::scenes::chain::reader(&config, small_limits());
    assert_eq!(followed, snapshots(read(&mut fresh, FIRST_SLOT + 1).await).remove(0));
    let ticked = Concentrated::from_state(followed.observation().state()).unwrap();
    assert_eq!(ticked.ticks().len(), 7);

    let infos = reader.describe(deadline()).await;
    let kind = infos[0].1.as_ref().unwrap().kind;
    assert_eq!(kind, "concentrated_liquidity of PancakeSwap v3");
    let findings = reader.check(deadline()).await;
    let tried = findings
        .iter()
        .find(|finding| finding.message.contains("pays exactly the computed amount"));
    assert_eq!(tried.unwrap().severity, Severity::Fine);
}

#[tokio::test]
async fn a_pool_that_only_looks_like_one_is_refused_by_name() {
    let (chain, pool, mut config) = pancake().await;
    // The imitation answers like the pool, including the factory address, but the factory does not know it.
    let imitation = Address::repeat_byte(0x77);
    chain.set_code(imitation, passing_on(pool.address)).await.unwrap();
    pass_slot(&chain, FIRST_SLOT).await;
    let mut second = config.pool[0].clone();
    second.address = own(imitation).into();
    config.pool.push(second);
    let reading = read(&mut reader(&config, small_limits()), FIRST_SLOT).await;
    assert!(reading.pools[0].1.is_ok(), "{:?}", reading.pools[0].1);
    let missing = reading.pools[1].1.as_ref().unwrap_err();
    assert_eq!(missing.reason, MissingReason::PoolUnsupported);
    let named = format!("it returned {}", own(pool.address));
    assert!(missing.detail.contains(&named), "{missing}");

    // A pool of an unknown factory is not treated as a Uniswap pool.
    config.chain[0].factory.clear();
    config.pool.pop();
    let reading = read(&mut reader(&config, small_limits()), FIRST_SLOT).await;
    let missing = reading.pools[0].1.as_ref().unwrap_err();
    assert_eq!(missing.reason, MissingReason::PoolUnsupported);
    for words in ["PancakeSwap v3", "[[chain.factory]]", &own(pool.factory).to_string()] {
        assert!(missing.detail.contains(words), "{words}: {missing}");
    }
}
