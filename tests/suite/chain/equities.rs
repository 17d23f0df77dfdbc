//! Tokenized stocks: the data of their contracts, and how a pool of a real contract behaves when its balance changes
//! without a transfer.

use alloy::eips::BlockId;
use alloy::primitives::{Address as ChainAddress, B256, U256, keccak256};
use alloy::sol_types::SolValue;
use exitgap_chain::config::{Config, Plan};
use exitgap_core::analytics::equity::{EquityEvent, EquityPass, EquityResult, EquityTerms};
use exitgap_core::analytics::figure::FigurePass;
use exitgap_core::analytics::hours::HoursTerms;
use exitgap_core::evidence::Base;
use exitgap_core::exit::Exit;
use exitgap_core::ids::Address;
use exitgap_core::pools::Direction;
use exitgap_core::snapshot::Snapshot;
use exitgap_core::units::{GapLimit, SizeUsd};
use exitgap_tests::devchain::{DevChain, FIRST_SLOT, Pool, World};

use crate::scenes::chain::{
    deadline, pass_slot, read, reader, scene, small_limits, snapshots, world_config,
};
use crate::scenes::share::{Stands, configured, say, share};

/// WBTC/WETH 0.3%, a concentrated-liquidity pool.
const POOL: usize = 2;

const SIZE: &str = "100000";

/// Changes an account's balance of a token without a transfer, as a rebase does.
async fn rebase(chain: &DevChain, token: ChainAddress, account: ChainAddress, to: U256) {
    // The mapping of balances is in the contract's first storage slot.
    let place = U256::from_be_bytes(keccak256((account, U256::ZERO).abi_encode()).0);
    let params = (token, place, B256::from(to));
    let _: bool = chain.rpc("anvil_setStorageAt", params).await.unwrap();
    let found = chain.balance_of(token, account, BlockId::latest()).await.unwrap();
    assert_eq!(found, to);
}

async fn config(chain: &DevChain, world: &World, kind: &str, feed_prices: &str) -> Config {
    let mut config = world_config(chain, world, &[chain.url()], [POOL]).await;
    let pool = world.pools[POOL].pool.address;
    let (calendar, facts, equity) = configured(world, kind, feed_prices, pool);
    (config.token, config.fact, config.equity) = (vec![calendar], facts, vec![equity]);
    config
}

fn figure(config: &Config, world: &World, seen: &[Snapshot]) -> EquityResult {
    let plan = Plan::new(config).unwrap().into_chains().remove(0);
    let token = plan.equities()[&Address(share(world).into_array())];
    let first = seen[0].observation();
    let is_first = first.tokens()[0].address.0 == share(world).into_array();
    let of = HoursTerms {
        pool: first.pool().clone(),
        base: if is_first { Base::Token0 } else { Base::Token1 },
        from: seen[0].slot(),
        to: seen[seen.len() - 1].slot(),
        size: SIZE.parse().unwrap(),
        sessions: first.pool_sessions(),
    };
    let mut scan = EquityPass::new(EquityTerms { of, limit: GapLimit::DEPTH, token }).unwrap();
    for snapshot in seen {
        scan.add_snapshot(first.pool(), snapshot.slot(), snapshot.observation().clone()).unwrap();
    }
    scan.finish().unwrap()
}

fn told(events: &[EquityEvent]) -> Vec<&str> {
    events.iter().map(|event| event.event.as_str()).collect()
}

/// Core's amounts for buying or selling the stock for the size.
fn trade(seen: &Snapshot, pool: &Pool, token_in: ChainAddress) -> (U256, U256) {
    let direction =
        if token_in == pool.token0 { Direction::ZeroForOne } else { Direction::OneForZero };
    let size: SizeUsd = SIZE.parse().unwrap();
    let found = Exit::estimate_once(seen.observation(), direction, size).unwrap();
    (found.amount_in, found.amount_out)
}

#[tokio::test]
async fn a_balance_that_changes_under_a_pool_is_not_noticed_by_it_and_is_told() {
    let (chain, world) = scene().await;
    let (pool, bitcoin) = (world.pools[POOL].pool, share(&world));
    let ether = pool.other(bitcoin);
    let config = config(&chain, &world, "rebasing", "ui").await;
    let usual = Stands { now: 1_000_000, next: 0, since: 0, paused: false };
    say(&chain, usual).await;
    let mut reader = reader(&config, small_limits());
    let mut seen = Vec::new();
    let held_before = chain.balance_of(bitcoin, pool.address, BlockId::latest()).await.unwrap();
    for slot in 0..3 {
        if slot == 1 {
            // The pool is left with half a bitcoin.
            say(&chain, Stands { now: 100_000, ..usual }).await;
            rebase(&chain, bitcoin, pool.address, U256::from(50_000_000)).await;
        }
        if slot == 2 {
            say(&chain, Stands { now: 100_000, paused: true, ..usual }).await;
        }
        pass_slot(&chain, FIRST_SLOT + slot).await;
        seen.extend(snapshots(read(&mut reader, FIRST_SLOT + slot).await));
    }
    // The state of the contract is unchanged.
    assert_eq!(seen[0].observation().state(), seen[1].observation().state());
    let (paid_in, bought) = trade(&seen[1], &pool, ether);
    assert!(U256::from(50_000_000) < bought && bought < held_before, "{bought} {held_before}");

    let result = figure(&config, &world, &seen);
    assert_eq!(told(&result.events), ["multiplier_changed", "paused"]);
    assert_eq!((result.slots_corporate_action, result.slots_without_facts), (1, 0));
    assert_eq!(
        (result.exact, result.inexact_because.as_deref()),
        (false, Some("balances_change_unseen"))
    );
    let balance = result.balance.unwrap();
    assert_eq!((balance.slots, balance.slots_short), (3, 2));
    assert_eq!(balance.balance_raw.to_string(), "50000000");
    assert_eq!(balance.purchase_raw.unwrap().to_string(), bought.to_string());
    // Before the change, its balance sufficed.
    assert_eq!(figure(&config, &world, &seen[..1]).balance.unwrap().slots_short, 0);

    // This purchase reverts. The sale fills to the unit, and so does a purchase of less than the pool holds.
    let (sold, received) = trade(&seen[1], &pool, bitcoin);
    let refused = chain.swap_exact_in(&pool, ether, paid_in).await;
    assert!(refused.is_err(), "{refused:?}");
    let filled = chain.swap_exact_in(&pool, bitcoin, sold).await.unwrap();
    assert_eq!((filled.amount_in, filled.amount_out), (sold, received));
    let little = paid_in / U256::from(20);
    assert!(chain.swap_exact_in(&pool, ether, little).await.is_ok());
}

#[tokio::test]
async fn a_multiplier_that_is_due_and_changes_is_read_at_its_block() {
    let (chain, world) = scene().await;
    let config = config(&chain, &world, "scaled_ui", "raw").await;
    let due = (FIRST_SLOT + 1) * 300;
    let before = Stands { now: 1_000_000, next: 2_000_000, since: due, paused: false };
    say(&chain, before).await;
    let mut reader = reader(&config, small_limits());
    let mut seen = Vec::new();
    for slot in 0..3 {
        pass_slot(&chain, FIRST_SLOT + slot).await;
        seen.extend(snapshots(read(&mut reader, FIRST_SLOT + slot).await));
        if slot == 1 {
            say(&chain, Stands { now: 2_000_000, ..before }).await;
        }
    }
    // The block of the second slot is before the slot's instant: the change is still due there, and past in the third
    // slot.
    let result = figure(&config, &world, &seen);
    assert_eq!(told(&result.events), ["scheduled", "multiplier_changed"]);
    assert_eq!((result.slots_corporate_action, result.have_slots), (2, 3));
    assert!(result.exact && result.balance.is_none());
    let newest = result.newest.unwrap();
    assert_eq!(newest.multiplier_raw.unwrap().to_string(), "2000000");
    let [oracle, ui] = [newest.oracle_price_usd, newest.ui_price_usd.unwrap()]
        .map(|price| price.parse::<f64>().unwrap());
    assert!((oracle / ui - 2.0).abs() < 1e-9, "{oracle} {ui}");

    // The configuration check finds the pool price near the oracle price, and far from an oracle of another unit.
    let mut finding = async || -> String {
        let found = reader.check(deadline()).await;
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        let own = found.iter().find(|line| line.contains("equity WBTC in pool")).cloned();
        own.unwrap_or_else(|| panic!("{found:?}"))
    };
    let near = finding().await;
    assert!(near.starts_with("ok: ") && near.contains("scaled_ui; the pool's price is"), "{near}");
    let asset = &world.assets[World::WBTC];
    let round = chain.latest_round(&asset.feed).await.unwrap() + 1;
    let answer = asset.initial_answer.cast_signed() * 2;
    chain.mine_next(&[chain.answer_tx(&asset.feed, round, answer)]).await.unwrap();
    let far = finding().await;
    assert!(
        far.starts_with("warning: ") && far.contains("suggests that a feed for the raw unit"),
        "{far}"
    );
}
