//! Aerodrome v2's real contracts: volatile and stable pools, changed fees, a pause, imitations.

use alloy::primitives::{Address, U256};
use exitgap_chain::config::{Config, Factory, FactoryKind, FeeConfig};
use exitgap_chain::{ReadFailure, Severity};
use exitgap_core::pools::{Direction, FeeRate, PoolState, Solidly};
use exitgap_core::series::MissingReason;
use exitgap_core::snapshot::Snapshot;
use exitgap_tests::devchain::{DevChain, FIRST_SLOT, Pool, PoolKind, Rng, SolidlyPool};

use super::factories::passing_on;
use crate::scenes::chain::{
    chain_config, deadline, pass_slot, pool_config, read, reader, scene, small_limits, snapshots,
};

fn own(address: Address) -> exitgap_core::ids::Address {
    exitgap_core::ids::Address(address.into_array())
}

/// An unbalanced stable pool of 6 and 18 decimals, a volatile pool of 18 and 8 decimals, in this order, and a
/// configuration for both.
pub async fn solidly() -> (DevChain, [SolidlyPool; 2], Config) {
    let (chain, world) = scene().await;
    let tokens = chain.create_tokens(&[("SIX", 6), ("FULL", 18), ("EIGHT", 8)]).await.unwrap();
    let factory = chain.deploy_solidly().await.unwrap();
    let [six, full, eight] = [&tokens[0], &tokens[1], &tokens[2]];
    let stable = chain.create_solidly_pool(factory, [six, full], true).await.unwrap();
    let volatile = chain.create_solidly_pool(factory, [full, eight], false).await.unwrap();
    let in_order = |pool: &SolidlyPool, first: Address, amounts: [U256; 2]| {
        let [a, b] = amounts;
        if pool.token0 == first { [a, b] } else { [b, a] }
    };
    let equal = in_order(&stable, six.address, [six.units(2_000_000), full.units(2_000_000)]);
    chain.mint_solidly(&stable, equal).await.unwrap();
    let more = in_order(&stable, six.address, [six.units(1), full.units(654_321) + U256::from(7)]);
    chain.donate_solidly(&stable, more).await.unwrap();
    let both = in_order(&volatile, full.address, [full.units(3_001), eight.units(95)]);
    chain.mint_solidly(&volatile, both).await.unwrap();
    let mut config = chain_config(&chain, &world, &[chain.url()]).await;
    for SolidlyPool { address, token0, token1, .. } in [stable, volatile] {
        let as_pool = Pool { address, token0, token1, fee: 0, kind: PoolKind::V3 };
        config.pool.push(pool_config(&as_pool, ["USDC", "USDC"]));
    }
    let (address, kind) = (own(factory), FactoryKind::AerodromeV2);
    config.chain[0].factory.push(Factory { address, kind, fee_modules: Vec::new() });
    (chain, [stable, volatile], config)
}

/// Reads both pools' states at a slot with a fresh reader.
pub async fn recorded(config: &Config, slot: u64) -> Vec<PoolState> {
    let reading = read(&mut reader(config, small_limits()), slot).await;
    assert!(reading.events.is_empty(), "{:?}", reading.events);
    let states = snapshots(reading).into_iter();
    states.map(|snapshot| snapshot.observation().state().clone()).collect()
}

/// Executes this number of sales of random shares of the reserves in both directions; each one must pay the amount that
/// core computes from the snapshot. Returns the final state.
pub async fn sell(
    chain: &DevChain,
    pool: &SolidlyPool,
    state: &PoolState,
    times: u32,
) -> PoolState {
    let mut rng = Rng::new(u64::from(times));
    let mut state = state.clone();
    for number in 0..times {
        let zero_for_one = rng.once_in(2);
        let direction = Direction::BOTH[usize::from(!zero_for_one)];
        let reserve = Solidly::from_state(&state).unwrap().reserves()[direction.base_index()];
        let share = U256::from(1 + rng.below(60_000));
        let amount =
            reserve * share / U256::from(if number % 3 == 0 { 300_000 } else { 9_999_991 });
        let fill = state.fill_once(direction, amount).unwrap();
        let paid = chain.swap_solidly(pool, zero_for_one, amount).await.unwrap();
        assert_eq!(fill.amount_out, paid, "{direction:?} {amount} of {state:?}");
        state = state.after(direction, &fill);
    }
    state
}

fn fee_of(state: &PoolState) -> FeeRate {
    state.curve(Direction::ZeroForOne).fill(U256::from(1_u64 << 40)).unwrap().fee
}

#[tokio::test]
async fn solidly_pools_are_read_and_pay_what_is_computed() {
    let (chain, pools, config) = solidly().await;
    pass_slot(&chain, FIRST_SLOT).await;
    let first = recorded(&config, FIRST_SLOT).await;
    assert_eq!(fee_of(&first[0]), FeeRate { numerator: 5, denominator: 10_000 });
    assert_eq!(fee_of(&first[1]), FeeRate { numerator: 30, denominator: 10_000 });
    let mut left = Vec::new();
    for (pool, state) in pools.iter().zip(&first) {
        left.push(sell(&chain, pool, state, 60).await);
    }
    pass_slot(&chain, FIRST_SLOT + 1).await;
    assert_eq!(recorded(&config, FIRST_SLOT + 1).await, left);

    // A pool-specific fee, and a fee of zero.
    chain.set_solidly_fee(&pools[0], 299).await.unwrap();
    chain.set_solidly_fee(&pools[1], 420).await.unwrap();
    pass_slot(&chain, FIRST_SLOT + 2).await;
    let changed = recorded(&config, FIRST_SLOT + 2).await;
    assert_eq!(fee_of(&changed[0]), FeeRate { numerator: 299, denominator: 10_000 });
    assert_eq!(fee_of(&changed[1]), FeeRate { numerator: 0, denominator: 10_000 });
    for (pool, state) in pools.iter().zip(&changed) {
        sell(&chain, pool, state, 20).await;
    }

    let mut reader = reader(&config, small_limits());
    let kinds: Vec<&str> =
        reader.describe(deadline()).await.iter().map(|(_, it)| it.as_ref().unwrap().kind).collect();
    assert_eq!(kinds, ["solidly of Aerodrome v2, stable", "solidly of Aerodrome v2, volatile"]);
    let findings = reader.check(deadline()).await;
    let tried = findings
        .iter()
        .filter(|finding| finding.message.contains("pays exactly the computed amount"));
    assert_eq!(tried.filter(|finding| finding.severity == Severity::Fine).count(), 2);
}

#[tokio::test]
async fn a_paused_factorys_pools_are_missing_by_name_until_they_go_on() {
    let (chain, pools, config) = solidly().await;
    pass_slot(&chain, FIRST_SLOT).await;
    let mut reader = reader(&config, small_limits());
    let before = snapshots(read(&mut reader, FIRST_SLOT).await);
    chain.pause_solidly(pools[0].factory, true).await.unwrap();
    // The contracts reject the swaps that core also rejects; the tokens that were already sent to the pool remain
    // there.
    let paid = U256::from(1_u64 << 40);
    for pool in &pools {
        assert!(chain.swap_solidly(pool, true, paid).await.is_err());
    }
    pass_slot(&chain, FIRST_SLOT + 1).await;
    let mut fresh = crate::scenes::chain::reader(&config, small_limits());
    for reader in [&mut reader, &mut fresh] {
        for (_, result) in read(reader, FIRST_SLOT + 1).await.pools {
            let missing = result.unwrap_err();
            assert_eq!(missing.reason, MissingReason::PoolUnsupported);
            assert!(missing.detail.contains("paused"), "{missing}");
        }
    }
    chain.pause_solidly(pools[0].factory, false).await.unwrap();
    for pool in &pools {
        chain.donate_solidly(pool, [U256::ZERO; 2]).await.unwrap();
    }
    pass_slot(&chain, FIRST_SLOT + 2).await;
    let again = snapshots(read(&mut reader, FIRST_SLOT + 2).await);
    for ((pool, before), after) in pools.iter().zip(before).zip(again) {
        let reserves =
            |of: &Snapshot| Solidly::from_state(of.observation().state()).unwrap().reserves();
        let [of_0, of_1] = reserves(&before);
        assert_eq!(reserves(&after), [of_0 + paid, of_1]);
        sell(&chain, pool, after.observation().state(), 4).await;
    }
}

fn refusal<T>(result: &Result<T, ReadFailure>) -> &str {
    let missing = result.as_ref().err().unwrap();
    assert_eq!(missing.reason, MissingReason::PoolUnsupported);
    &missing.detail
}

#[tokio::test]
async fn what_only_looks_like_a_solidly_pool_is_refused_by_name() {
    let (chain, pools, mut config) = solidly().await;
    // The imitation answers like the pool, including the factory address, but the factory does not know it.
    let imitation = Address::repeat_byte(0x78);
    chain.set_code(imitation, passing_on(pools[0].address)).await.unwrap();
    pass_slot(&chain, FIRST_SLOT).await;
    config.pool[1].address = own(imitation).into();
    let reading = read(&mut reader(&config, small_limits()), FIRST_SLOT).await;
    assert!(reading.pools[0].1.is_ok(), "{:?}", reading.pools[0].1);
    let refused = refusal(&reading.pools[1].1);
    assert!(refused.contains(&format!("it returned {}", own(pools[0].address))), "{refused}");

    // A fee, which only a v2 pair needs.
    config.pool[1] = config.pool[0].clone();
    config.pool[1].address = own(pools[1].address).into();
    config.pool[1].fee = Some(FeeConfig { numerator: 3, denominator: 1_000 });
    let reading = read(&mut reader(&config, small_limits()), FIRST_SLOT).await;
    let refused = refusal(&reading.pools[1].1);
    assert!(refused.contains("remove `fee`"), "{refused}");

    // Neither an unknown factory nor one of another kind is treated as Aerodrome's.
    for kind in [None, Some(FactoryKind::AlgebraIntegral)] {
        let address = own(pools[0].factory);
        let factory = kind.map(|kind| Factory { address, kind, fee_modules: Vec::new() });
        config.chain[0].factory = factory.into_iter().collect();
        let reading = read(&mut reader(&config, small_limits()), FIRST_SLOT).await;
        let refused = refusal(&reading.pools[0].1);
        for words in ["Solidly-type", "[[chain.factory]]", &address.to_string()] {
            assert!(refused.contains(words), "{words}: {refused}");
        }
    }
}
