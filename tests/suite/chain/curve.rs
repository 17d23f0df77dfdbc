//! Curve's pools, according to their published interfaces. Their contracts are in no package: the stand-ins here return
//! fixed answers and compute nothing.

use alloy::primitives::{Address, U256};
use alloy::sol;
use exitgap_chain::config::{Config, ConfigError, Factory, FactoryKind, OracleConfig, Plan};
use exitgap_chain::{Event, SlotReading};
use exitgap_core::pools::{Direction, StableSwap};
use exitgap_core::series::MissingReason;
use exitgap_core::snapshot::{Snapshot, Token};
use exitgap_tests::devchain::{DevChain, FIRST_SLOT, Pool, PoolKind, StandIn};

use crate::scenes::chain::{
    chain_config, deadline, pass_slot, pool_config, read, reader, scene, small_limits,
};
use crate::scenes::vectors::{Recorded, first_pair, place, token};

sol! {
    function version() returns (string);
    function coins(uint256 i) returns (address);
    function A() returns (uint256);
    function A_precise() returns (uint256);
    function fee() returns (uint256);
    function admin_fee() returns (uint256);
    function offpeg_fee_multiplier() returns (uint256);
    function balances(uint256 i) returns (uint256);
    function admin_balances(uint256 i) returns (uint256);
    function get_balances() returns (uint256[] memory);
    function stored_rates() returns (uint256[] memory);
    function get_dy(int128 i, int128 j, uint256 dx) returns (uint256);
    function get_coins(address pool) returns (address[] memory);
    function is_meta(address pool) returns (bool);
    function get_pool_asset_types(address pool) returns (uint8[] memory);
}

const POOL: Address = Address::repeat_byte(0x3c);
const FACTORY: Address = Address::repeat_byte(0x3f);

fn own(address: Address) -> exitgap_core::ids::Address {
    exitgap_core::ids::Address(address.into_array())
}

fn units(whole: u64, decimals: u32) -> U256 {
    U256::from(whole) * U256::from(10).pow(U256::from(decimals))
}

/// A chain with three dollar tokens, a contract that answers like a pool of them, another that answers like its
/// factory, and the configuration of all their pairs.
struct Curve {
    chain: DevChain,
    pool: StandIn,
    factory: StandIn,
    tokens: Vec<Address>,
    config: Config,
    /// The last slot so far.
    slot: u64,
}

impl Curve {
    async fn new(kind: FactoryKind) -> Self {
        let (chain, world) = scene().await;
        let tokens = chain.create_tokens(&[("ONE", 18), ("TWO", 6), ("THREE", 6)]).await.unwrap();
        let tokens: Vec<Address> = tokens.iter().map(|token| token.address).collect();
        let pool = chain.stand_in(POOL).await.unwrap();
        let factory = chain.stand_in(FACTORY).await.unwrap();
        let mut config = chain_config(&chain, &world, &[chain.url()]).await;
        for pair in [[0, 1], [0, 2], [1, 2]] {
            config.pool.push(pair_config(pair, ["USDC", "USDC"]));
        }
        let address = own(if kind == FactoryKind::Curve3pool { POOL } else { FACTORY });
        config.chain[0].factory.push(Factory { address, kind, fee_modules: Vec::new() });
        Self { chain, pool, factory, tokens, config, slot: FIRST_SLOT - 1 }
    }

    /// A stand-in that answers like `StableSwap`-NG.
    async fn ng() -> Self {
        let curve = Self::new(FactoryKind::CurveStableNg).await;
        let Self { chain, pool, factory, tokens, .. } = &curve;
        let of = POOL;
        chain.answer(*factory, &get_coinsCall { pool: of }, tokens).await.unwrap();
        chain.answer(*factory, &is_metaCall { pool: of }, &false).await.unwrap();
        let types = vec![0, 1, 3];
        chain.answer(*factory, &get_pool_asset_typesCall { pool: of }, &types).await.unwrap();
        chain.answer(*pool, &versionCall {}, &"v7.0.0".to_owned()).await.unwrap();
        curve.rates(104).await;
        let balances = vec![units(1_000_000, 18), units(900_000, 6), units(1_100_000, 6)];
        chain.answer(*pool, &get_balancesCall {}, &balances).await.unwrap();
        chain.answer(*pool, &A_preciseCall {}, &U256::from(20_000)).await.unwrap();
        chain.answer(*pool, &feeCall {}, &U256::from(1_000_000)).await.unwrap();
        chain.answer(*pool, &admin_feeCall {}, &U256::from(5_000_000_000_u64)).await.unwrap();
        let multiplier = U256::from(20_000_000_000_u64);
        chain.answer(*pool, &offpeg_fee_multiplierCall {}, &multiplier).await.unwrap();
        for i in 0..3_u64 {
            let call = admin_balancesCall { i: U256::from(i) };
            chain.answer(*pool, &call, &U256::from(i)).await.unwrap();
        }
        curve
    }

    /// Sets the rates of the second and the third coin, in hundredths.
    async fn rates(&self, hundredths: u64) {
        let rates = vec![units(1, 18), units(hundredths, 28), units(1, 30)];
        self.chain.answer(self.pool, &stored_ratesCall {}, &rates).await.unwrap();
    }

    /// Reads the next slot with a fresh reader.
    async fn next_slot(&mut self) -> SlotReading {
        self.slot += 1;
        pass_slot(&self.chain, self.slot).await;
        read(&mut reader(&self.config, small_limits()), self.slot).await
    }

    /// Returns why no pair of the contract can be read.
    async fn refusal(&mut self) -> String {
        let reading = self.next_slot().await;
        let missing: Vec<_> = reading.pools.iter().map(|(_, result)| result.clone()).collect();
        let first = missing[0].clone().unwrap_err();
        for other in &missing {
            assert_eq!(other.as_ref().unwrap_err().reason, first.reason);
        }
        assert_eq!(first.reason, MissingReason::PoolUnsupported, "{first}");
        first.detail
    }
}

fn pair_config(pair: [u8; 2], oracles: [&str; 2]) -> exitgap_chain::config::PoolConfig {
    let as_pool = Pool {
        address: POOL,
        token0: Address::ZERO,
        token1: Address::ZERO,
        fee: 0,
        kind: PoolKind::V3,
    };
    let mut config = pool_config(&as_pool, oracles);
    config.pair = Some(pair);
    config
}

fn all(reading: SlotReading) -> Vec<Snapshot> {
    reading.pools.into_iter().map(|(_, result)| result.unwrap()).collect()
}

/// Every recorded state of `StableSwap`-NG, answered by the stand-ins of its contract and its factory, reads as it was
/// recorded and gives the recorded fills.
#[tokio::test]
async fn recorded_states_are_read_and_fill_as_their_contracts_did() {
    let recorded = Recorded::of("curve_ng");
    let (chain, world) = scene().await;
    let factory = chain.stand_in(FACTORY).await.unwrap();
    let mut config = chain_config(&chain, &world, &[chain.url()]).await;
    let (address, kind) = (own(FACTORY), FactoryKind::CurveStableNg);
    config.chain[0].factory.push(Factory { address, kind, fee_modules: Vec::new() });
    for (index, (_, state)) in recorded.pools().enumerate() {
        let of = place(0x3c, index);
        let mut coins = Vec::new();
        for (coin, decimals) in state.numbers("decimals").into_iter().enumerate() {
            coins.push(token(&chain, coin, decimals.to()).await);
        }
        let types = state.numbers("asset_types").iter().map(|kind| kind.to::<u8>()).collect();
        chain.answer(factory, &get_coinsCall { pool: of }, &coins).await.unwrap();
        chain.answer(factory, &is_metaCall { pool: of }, &false).await.unwrap();
        chain.answer(factory, &get_pool_asset_typesCall { pool: of }, &types).await.unwrap();
        let pool = chain.stand_in(of).await.unwrap();
        chain.answer(pool, &versionCall {}, &"v7.0.0".to_owned()).await.unwrap();
        let (balances, rates) = (state.numbers("balances"), state.numbers("rates"));
        chain.answer(pool, &get_balancesCall {}, &balances).await.unwrap();
        chain.answer(pool, &stored_ratesCall {}, &rates).await.unwrap();
        chain.answer(pool, &A_preciseCall {}, &state.number("amp")).await.unwrap();
        chain.answer(pool, &feeCall {}, &state.number("fee")).await.unwrap();
        chain.answer(pool, &admin_feeCall {}, &state.number("admin_fee")).await.unwrap();
        let multiplier = state.number("offpeg_fee_multiplier");
        chain.answer(pool, &offpeg_fee_multiplierCall {}, &multiplier).await.unwrap();
        for (i, balance) in state.numbers("admin_balances").iter().enumerate() {
            let call = admin_balancesCall { i: U256::from(i) };
            chain.answer(pool, &call, balance).await.unwrap();
        }
        config.pool.push(first_pair(of, coins.len()));
    }
    let cases = recorded.hold(&chain, &config).await;
    assert!(cases > 2_000, "{cases} cases");
}

#[tokio::test]
async fn every_pair_of_a_contract_is_read_at_once_and_says_the_same() {
    let mut curve = Curve::ng().await;
    let reading = curve.next_slot().await;
    let requests = reading.requests;
    let snapshots = all(reading);
    let documents: Vec<_> = snapshots.iter().map(|read| read.to_canonical().unwrap()).collect();
    assert!(documents.iter().all(|other| *other == documents[0]));
    let names: Vec<String> =
        snapshots.iter().map(|read| read.observation().pool().to_string()).collect();
    let address = own(POOL);
    assert_eq!(names, [".0-1", ".0-2", ".1-2"].map(|pair| format!("anvil:{address}{pair}")));
    let symbols = |tokens: &[Token]| -> Vec<String> {
        tokens.iter().map(|token| token.symbol.to_string()).collect()
    };
    assert_eq!(symbols(snapshots[2].observation().tokens()), ["TWO", "THREE"]);
    assert_eq!(symbols(snapshots[2].observation().contract_tokens()), ["ONE", "TWO", "THREE"]);
    // 1.04 units of the second coin equal one unit of the third: an exchange pays that, less its fee.
    let state = snapshots[2].observation().state();
    let paid = state.fill_once(Direction::ZeroForOne, units(100, 6)).unwrap().amount_out;
    assert!(paid > units(103, 6) && paid < units(105, 6), "{paid}");

    // A single pair needs as many requests.
    let mut alone = curve.config.clone();
    alone.pool.truncate(1);
    let reading = read(&mut reader(&alone, small_limits()), FIRST_SLOT).await;
    assert_eq!(reading.requests, requests);
    let infos = reader(&curve.config, small_limits()).describe(deadline()).await;
    assert_eq!(infos[0].1.as_ref().unwrap().kind, "stableswap of Curve's StableSwap-NG");
}

#[tokio::test]
async fn what_moves_without_a_log_is_read_at_every_slot() {
    let curve = Curve::ng().await;
    pass_slot(&curve.chain, FIRST_SLOT).await;
    let mut reader = reader(&curve.config, small_limits());
    let first = all(read(&mut reader, FIRST_SLOT).await);
    curve.rates(105).await;
    curve.chain.answer(curve.pool, &A_preciseCall {}, &U256::from(19_999)).await.unwrap();
    pass_slot(&curve.chain, FIRST_SLOT + 1).await;
    let second = all(read(&mut reader, FIRST_SLOT + 1).await);
    let body =
        |snapshot: &Snapshot| String::from_utf8(snapshot.to_canonical().unwrap().state).unwrap();
    assert!(
        body(&first[0]).contains("\"amp\":20000") && body(&second[0]).contains("\"amp\":19999")
    );
    let rate = |hundredths: u64| format!("\"{}\"", units(hundredths, 28));
    assert!(body(&first[0]).contains(&rate(104)) && body(&second[0]).contains(&rate(105)));

    curve.chain.revert_call(curve.pool, &stored_ratesCall {}).await.unwrap();
    pass_slot(&curve.chain, FIRST_SLOT + 2).await;
    for (_, result) in read(&mut reader, FIRST_SLOT + 2).await.pools {
        let missing = result.unwrap_err();
        assert_eq!(missing.reason, MissingReason::CallReverted);
        assert!(missing.detail.contains("rate_unreadable"), "{missing}");
    }
}

#[tokio::test]
async fn a_price_that_cannot_be_read_is_missed_by_its_own_pairs_alone() {
    let mut curve = Curve::ng().await;
    let feed = own(Address::repeat_byte(0x77));
    let chain = "anvil".parse().unwrap();
    let name = "NONE".to_owned();
    let none = OracleConfig::Chainlink { name, chain, feed, heartbeat_s: 60, heartbeat_grace_s: 0 };
    curve.config.oracle.push(none);
    curve.config.pool = [([0, 1], "USDC"), ([0, 2], "NONE"), ([1, 2], "NONE")]
        .map(|(pair, oracle)| pair_config(pair, ["USDC", oracle]))
        .to_vec();
    let pools = curve.next_slot().await.pools;
    let first = pools[0].1.as_ref().unwrap();
    assert_eq!(first.observation().oracles().len(), 2, "its own two tokens' alone");
    for (_, result) in &pools[1..] {
        let missing = result.as_ref().unwrap_err();
        assert_eq!(missing.reason, MissingReason::OracleInvalid, "{missing}");
        assert!(missing.detail.contains("\"NONE\""), "{missing}");
    }
    // A configuration with two prices for one token is invalid.
    curve.config.pool[1] = pair_config([0, 2], ["NONE", "NONE"]);
    let refused = Plan::new(&curve.config).unwrap_err();
    assert!(matches!(refused, ConfigError::OraclesDiffer { token: 0, .. }), "{refused}");
    for pair in [[1, 0], [1, 1], [0, 8]] {
        curve.config.pool = vec![pair_config(pair, ["USDC", "USDC"])];
        let refused = Plan::new(&curve.config).unwrap_err();
        assert!(matches!(refused, ConfigError::Pair { .. }), "{refused}");
    }
}

#[tokio::test]
async fn what_cannot_be_answered_for_is_refused_by_name() {
    let mut curve = Curve::ng().await;
    assert_eq!(all(curve.next_slot().await).len(), 3);
    let (pool, factory, of) = (curve.pool, curve.factory, POOL);
    let (meta, types) = (is_metaCall { pool: of }, get_pool_asset_typesCall { pool: of });

    curve.chain.answer(factory, &types, &vec![0, 2, 0]).await.unwrap();
    assert!(curve.refusal().await.contains("rebasing: its coin 1 rebases"));
    curve.chain.answer(factory, &types, &vec![0, 0, 0]).await.unwrap();
    curve.chain.answer(pool, &versionCall {}, &"v6.0.1".to_owned()).await.unwrap();
    assert!(curve.refusal().await.contains("unverified_version: its version is \"v6.0.1\""));
    curve.chain.answer(factory, &meta, &true).await.unwrap();
    assert!(curve.refusal().await.contains("metapool"));
    curve.chain.answer(pool, &versionCall {}, &"v7.0.0".to_owned()).await.unwrap();
    curve.chain.answer(factory, &get_coinsCall { pool: of }, &Vec::new()).await.unwrap();
    assert!(curve.refusal().await.contains("no known Curve factory"));

    // A contract of three coins has no pool id of its own, and a contract of two has no pairs.
    curve.chain.answer(factory, &meta, &false).await.unwrap();
    curve.chain.answer(factory, &get_coinsCall { pool: of }, &curve.tokens).await.unwrap();
    curve.config.pool.truncate(1);
    curve.config.pool[0].pair = None;
    let refused = curve.refusal().await;
    let expected = "pools 3 tokens (0 ONE, 1 TWO, 2 THREE); choose two of them";
    assert!(refused.contains(expected), "{refused}");
    let two = curve.tokens[..2].to_vec();
    curve.chain.answer(factory, &get_coinsCall { pool: of }, &two).await.unwrap();
    curve.chain.answer(factory, &types, &vec![0, 0]).await.unwrap();
    curve.config.pool[0].pair = Some([0, 1]);
    assert!(curve.refusal().await.contains("pools two tokens; remove `pair`"));
}

/// A stand-in that answers like 3pool, with these balances.
async fn three(balances: [U256; 3]) -> Curve {
    let curve = Curve::new(FactoryKind::Curve3pool).await;
    let Curve { chain, pool, tokens, .. } = &curve;
    for (i, (coin, balance)) in tokens.iter().zip(balances).enumerate() {
        let i = U256::from(i);
        chain.answer(*pool, &coinsCall { i }, coin).await.unwrap();
        chain.answer(*pool, &balancesCall { i }, &balance).await.unwrap();
    }
    chain.answer(*pool, &ACall {}, &U256::from(2_000)).await.unwrap();
    chain.answer(*pool, &feeCall {}, &U256::from(1_000_000)).await.unwrap();
    chain.answer(*pool, &admin_feeCall {}, &U256::from(5_000_000_000_u64)).await.unwrap();
    curve
}

#[tokio::test]
async fn three_coins_without_a_factory_are_known_by_their_own_address() {
    let balances = [units(170, 18), units(165, 6), units(163, 6)];
    let mut curve = three(balances).await;
    let snapshots = all(curve.next_slot().await);
    let state = StableSwap::from_state(snapshots[0].observation().state()).unwrap();
    assert_eq!(state.balances(), balances);
    let fill = |pair: usize, amount: U256| {
        let state = snapshots[pair].observation().state();
        state.fill_once(Direction::ZeroForOne, amount).unwrap().amount_out
    };
    // Each dollar token, whatever its decimals, pays nearly one of another.
    for (pair, decimals) in [(0, 18), (1, 18), (2, 6)] {
        let paid = fill(pair, units(1, decimals));
        assert!((999_800..999_950).contains(&paid.to::<u64>()), "{pair}: {paid}");
    }

    curve.config.chain[0].factory.clear();
    assert!(curve.refusal().await.contains("unverified_version: it looks like a plain Curve pool"));
}

/// Makes the contract quote core's fill plus `more` for the probe amounts of the pair: 1/20 of the balance, or slightly
/// less.
async fn quote(curve: &Curve, snapshot: &Snapshot, more: u64) {
    let state = snapshot.observation().state();
    let [zero, one] = snapshot.observation().pair().bytes().map(i128::from);
    for (direction, [i, j]) in Direction::BOTH.into_iter().zip([[zero, one], [one, zero]]) {
        let sale = state.curve(direction);
        let (most, most_out) = sale.most();
        let amounts = (0..256_usize).map(|halved| most >> halved);
        let mut paid = amounts.map(|dx| (dx, sale.fill(dx).unwrap().amount_out));
        let (dx, paid) = paid.find(|(_, paid)| *paid <= most_out / U256::from(20)).unwrap();
        let answer = paid + U256::from(more);
        curve.chain.answer(curve.pool, &get_dyCall { i, j, dx }, &answer).await.unwrap();
    }
}

#[tokio::test]
async fn a_contract_that_quotes_something_else_is_missed_in_all_its_pairs() {
    let mut curve = three([units(170, 18), units(165, 6), units(163, 6)]).await;
    let reading = curve.next_slot().await;
    let untried = |event: &Event| matches!(event, Event::NotTried { .. });
    assert!(reading.events.iter().any(untried), "it quotes nothing yet: {:?}", reading.events);
    let snapshots = all(reading);
    for snapshot in &snapshots {
        quote(&curve, snapshot, 1).await;
    }
    let reading = curve.next_slot().await;
    assert!(reading.events.is_empty(), "its quote is its fill: {:?}", reading.events);
    assert_eq!(all(reading).len(), 3);
    // A wrong quote of one pair suffices, and the first pair is probed first.
    quote(&curve, &snapshots[0], 2).await;
    let refused = curve.refusal().await;
    assert!(refused.contains("its contract quotes"), "{refused}");
}
