//! Balancer v2's real vault, factories and pools: weighted and composable stable pools, changed fees, pauses, changing
//! and cached rates, imitations.

use alloy::primitives::{Address, Bytes, U256, hex};
use alloy::sol;
use exitgap_chain::config::{Config, Factory, FactoryKind, FeeConfig, PoolConfig};
use exitgap_chain::{Event, ReadFailure, Severity, SlotReading};
use exitgap_core::pools::{Direction, PoolState, StableV2, Weighted};
use exitgap_core::series::MissingReason;
use exitgap_core::snapshot::Snapshot;
use exitgap_tests::devchain::balancer::RatedHolding;
use exitgap_tests::devchain::{
    Balancer, BalancerAct, BalancerPool, DevChain, FIRST_SLOT, Pool, PoolKind, Rng, StandIn,
};

use super::factories::passing_on;
use crate::scenes::chain::{
    chain_config, deadline, pass_slot, pool_config, read, reader, scene, small_limits,
};

sol! {
    function getRate() returns (uint256);
    function isPoolFromFactory(address pool) returns (bool);
}

/// One token in units of 18 decimals.
const ONE: u64 = 1_000_000_000_000_000_000;
/// How long, in seconds, the stable pool caches the rate of its third token.
const KEPT_SECONDS: u64 = 400;

fn own(address: Address) -> exitgap_core::ids::Address {
    exitgap_core::ids::Address(address.into_array())
}

fn hundredths(rate: u64) -> U256 {
    U256::from(rate) * U256::from(ONE / 100)
}

/// A chain with a weighted pool of two tokens and a stable pool of three, one of which has a rate.
struct Scene {
    chain: DevChain,
    balancer: Balancer,
    weighted: BalancerPool,
    stable: BalancerPool,
    /// The rate provider.
    provider: StandIn,
    /// Configures the weighted pool and the three pairs of the stable pool.
    config: Config,
}

impl Scene {
    async fn new() -> Self {
        let (chain, world) = scene().await;
        let kinds = [("SIX", 6), ("FULL", 18), ("RATED", 18)];
        let tokens = chain.create_tokens(&kinds).await.unwrap();
        let [six, full, rated] = [&tokens[0], &tokens[1], &tokens[2]];
        let balancer = chain.deploy_balancer().await.unwrap();
        let provider = chain.stand_in(Address::repeat_byte(0x7a)).await.unwrap();
        chain.answer(provider, &getRateCall {}, &hundredths(105)).await.unwrap();
        let weighted = [
            (full, ONE / 5 * 4, full.units(4_003) + U256::from(17)),
            (six, ONE / 5, six.units(2_000_123)),
        ];
        let weighted =
            chain.create_balancer_weighted(&balancer, &weighted, ONE / 500).await.unwrap();
        let rates = Some((provider.address, KEPT_SECONDS));
        let stable: [RatedHolding<'_>; 3] = [
            (six, six.units(1_200_000), None),
            (full, full.units(765_432) + U256::from(1), None),
            (rated, rated.units(900_001), rates),
        ];
        let stable =
            chain.create_balancer_stable(&balancer, &stable, 200, ONE / 2_500).await.unwrap();
        let mut config = chain_config(&chain, &world, &[chain.url()]).await;
        config.pool.push(pool(weighted.address, None));
        for pair in [[0, 1], [0, 2], [1, 2]] {
            config.pool.push(pool(stable.address, Some(pair)));
        }
        config.chain[0].factory = factories(&balancer);
        Self { chain, balancer, weighted, stable, provider, config }
    }

    /// Reads the slot with a fresh reader.
    async fn read(&self, slot: u64) -> Vec<Snapshot> {
        pass_slot(&self.chain, slot).await;
        all(read(&mut reader(&self.config, small_limits()), slot).await)
    }

    async fn provide(&self, rate: u64) {
        self.chain.answer(self.provider, &getRateCall {}, &hundredths(rate)).await.unwrap();
    }

    /// Returns why no pair of this contract can be read; all pairs must have the same reason.
    async fn refusal(&self, slot: u64, pool: &BalancerPool) -> ReadFailure {
        pass_slot(&self.chain, slot).await;
        let reading = read(&mut reader(&self.config, small_limits()), slot).await;
        refused(&reading, pool)
    }
}

fn factories(balancer: &Balancer) -> Vec<Factory> {
    let kinds = [
        (balancer.weighted, FactoryKind::BalancerV2Weighted),
        (balancer.stable, FactoryKind::BalancerV2ComposableStable),
    ];
    let factory =
        |(address, kind)| Factory { address: own(address), kind, fee_modules: Vec::new() };
    kinds.into_iter().map(factory).collect()
}

fn pool(address: Address, pair: Option<[u8; 2]>) -> PoolConfig {
    let (token0, token1) = (Address::ZERO, Address::ZERO);
    let as_pool = Pool { address, token0, token1, fee: 0, kind: PoolKind::V3 };
    let mut config = pool_config(&as_pool, ["USDC", "USDC"]);
    config.pair = pair;
    config
}

fn all(reading: SlotReading) -> Vec<Snapshot> {
    assert!(reading.events.is_empty(), "{:?}", reading.events);
    reading.pools.into_iter().map(|(_, result)| result.unwrap()).collect()
}

fn refused(reading: &SlotReading, pool: &BalancerPool) -> ReadFailure {
    let of_pool =
        reading.pools.iter().filter(|(id, _)| id.contract().address() == Some(own(pool.address)));
    let mut missing: Vec<ReadFailure> =
        of_pool.map(|(_, result)| result.as_ref().unwrap_err().clone()).collect();
    let first = missing.remove(0);
    assert!(missing.iter().all(|other| other.reason == first.reason), "{missing:?}");
    first
}

fn state(snapshot: &Snapshot) -> &PoolState {
    snapshot.observation().state()
}

fn body(snapshot: &Snapshot) -> String {
    String::from_utf8(snapshot.to_canonical().unwrap().state).unwrap()
}

fn balances(state: &PoolState) -> &[U256] {
    let weighted = Weighted::from_state(state).map(Weighted::balances);
    weighted.or_else(|| StableV2::from_state(state).map(StableV2::balances)).unwrap()
}

/// Executes this number of swaps with random amounts in both directions; each one must pay the amount that core
/// computes from the snapshot. Returns the final state.
async fn sell(chain: &DevChain, pool: &BalancerPool, snapshot: &Snapshot, times: u32) -> PoolState {
    let mut rng = Rng::new(u64::from(times));
    let mut state = state(snapshot).clone();
    let pair = snapshot.observation().pair().indices();
    for number in 0..times {
        let direction = Direction::BOTH[usize::from(number % 2 == 0)];
        let places = [direction.base_index(), direction.quote_index()].map(|side| pair[side]);
        let balance = balances(&state)[places[0]];
        let share = U256::from(1 + rng.below(60_000));
        let amount = match number % 5 {
            0 => U256::from(1 + rng.below(100_000)),
            1 => balance * share / U256::from(300_000),
            _ => balance * share / U256::from(9_999_991),
        };
        let fill = state.fill_once(direction, amount).unwrap();
        let paid = chain.swap_balancer(pool, places, amount).await.unwrap();
        assert_eq!(fill.amount_out, paid, "{direction:?} {amount} of {state:?}");
        state = state.after(direction, &fill);
    }
    state
}

#[tokio::test]
async fn balancers_pools_are_read_and_pay_what_is_computed() {
    let scene = Scene::new().await;
    let (chain, mut config) = (&scene.chain, scene.config.clone());
    let first = scene.read(FIRST_SLOT).await;
    let names: Vec<String> =
        first.iter().map(|read| read.observation().pool().to_string()).collect();
    let [weighted, stable] = [&scene.weighted, &scene.stable].map(|pool| own(pool.address));
    assert_eq!(names[0], format!("anvil:{weighted}"));
    assert_eq!(names[1..], [".0-1", ".0-2", ".1-2"].map(|pair| format!("anvil:{stable}{pair}")));
    for other in &first[2..] {
        assert_eq!(other.to_canonical().unwrap(), first[1].to_canonical().unwrap());
    }
    let tokens = first[3].observation().contract_tokens();
    let tokens: Vec<_> = tokens.iter().map(|token| token.address).collect();
    let expected: Vec<_> = scene.stable.tokens.iter().map(|token| own(*token)).collect();
    assert_eq!(tokens, expected, "without the pool's own");

    let left = sell(chain, &scene.weighted, &first[0], 60).await;
    assert_eq!(state(&scene.read(FIRST_SLOT + 1).await[0]), &left);
    // Continues with each pair of one contract from the state that the previous pair left.
    for (place, slot) in (1..4).zip((FIRST_SLOT + 2..).step_by(2)) {
        let before = scene.read(slot).await;
        let left = sell(chain, &scene.stable, &before[place], 40).await;
        let after = scene.read(slot + 1).await;
        assert_eq!(balances(state(&after[place])), balances(&left));
    }

    let mut reader = reader(&config, small_limits());
    let kinds: Vec<&str> =
        reader.describe(deadline()).await.iter().map(|(_, it)| it.as_ref().unwrap().kind).collect();
    let stable = "stable_v2 of Balancer's composable stable pools";
    assert_eq!(kinds, ["weighted of Balancer v2", stable, stable, stable]);
    let findings = reader.check(deadline()).await;
    let tried = findings
        .iter()
        .filter(|finding| finding.message.contains("pays exactly the computed amount"));
    assert_eq!(tried.filter(|finding| finding.severity == Severity::Fine).count(), 4);
    // A single pair needs as many requests as all three.
    let slot = FIRST_SLOT + 30;
    pass_slot(chain, slot).await;
    let requests = read(&mut crate::scenes::chain::reader(&config, small_limits()), slot).await;
    config.pool.truncate(2);
    let alone = read(&mut crate::scenes::chain::reader(&config, small_limits()), slot).await;
    assert_eq!(alone.requests, requests.requests);
}

#[tokio::test]
async fn fees_pauses_and_recovery_are_read_at_every_slot() {
    let scene = Scene::new().await;
    let chain = &scene.chain;
    let mut remembering = reader(&scene.config, small_limits());
    pass_slot(chain, FIRST_SLOT).await;
    let first = all(read(&mut remembering, FIRST_SLOT).await);
    let some = |place: usize| balances(state(&first[place]))[0] / U256::from(1_000);
    let mut slot = FIRST_SLOT;
    for (pool, place) in [(&scene.weighted, 0), (&scene.stable, 1)] {
        chain.act_balancer(pool, BalancerAct::Fee(ONE / 40)).await.unwrap();
        slot += 1;
        let changed = scene.read(slot).await;
        let fill = state(&changed[place]).fill_once(Direction::ZeroForOne, some(place));
        assert_eq!(fill.unwrap().fee.numerator, ONE / 40);
        sell(chain, pool, &changed[place], 10).await;

        for (act, back, word, stops) in [
            (BalancerAct::Pause(true), BalancerAct::Pause(false), "paused: the pool allows", true),
            (BalancerAct::Recovery(true), BalancerAct::Recovery(false), "recovery_mode", false),
        ] {
            chain.act_balancer(pool, act).await.unwrap();
            let swapped = chain.swap_balancer(pool, [0, 1], some(place)).await;
            assert_eq!(swapped.is_err(), stops, "{word}: {swapped:?}");
            slot += 1;
            let missing = scene.refusal(slot, pool).await;
            assert_eq!(missing.reason, MissingReason::PoolUnsupported);
            assert!(missing.detail.contains(word), "{missing}");
            let known = refused(&read(&mut remembering, slot).await, pool);
            assert_eq!((known.reason, &known.detail), (missing.reason, &missing.detail));
            chain.act_balancer(pool, back).await.unwrap();
        }
    }
    chain.pause_balancer(scene.balancer.vault, true).await.unwrap();
    assert!(chain.swap_balancer(&scene.stable, [0, 1], some(1)).await.is_err());
    for pool in [&scene.weighted, &scene.stable] {
        slot += 1;
        let missing = scene.refusal(slot, pool).await;
        assert!(missing.detail.contains("paused: its vault"), "{missing}");
    }
    chain.pause_balancer(scene.balancer.vault, false).await.unwrap();
    let again = scene.read(slot + 1).await;
    sell(chain, &scene.weighted, &again[0], 4).await;
    sell(chain, &scene.stable, &again[3], 4).await;
}

#[tokio::test]
async fn a_rate_is_the_one_that_is_kept_until_it_expires() {
    let scene = Scene::new().await;
    let (chain, pool) = (&scene.chain, &scene.stable);
    let has = |snapshot: &Snapshot, rate: u64| {
        body(snapshot).contains(&format!("\"{}\"", hundredths(rate)))
    };
    // The rate was cached an hour ago, at a different value.
    scene.provide(110).await;
    let expired = scene.read(FIRST_SLOT).await;
    assert!(has(&expired[1], 110) && !has(&expired[1], 105), "{}", body(&expired[1]));
    for snapshot in &expired[1..] {
        let undone = chain.snapshot().await.unwrap();
        sell(chain, pool, snapshot, 10).await;
        assert!(chain.revert(undone).await.is_ok());
    }
    // The first swap caches the current rate. After that, neither a new rate nor a failing provider has an effect.
    chain.act_balancer(pool, BalancerAct::Refresh(rated(&scene))).await.unwrap();
    scene.provide(120).await;
    let kept = scene.read(FIRST_SLOT + 1).await;
    assert!(has(&kept[1], 110) && !has(&kept[1], 120), "{}", body(&kept[1]));
    chain.revert_call(scene.provider, &getRateCall {}).await.unwrap();
    let reading = read(&mut reader(&scene.config, small_limits()), FIRST_SLOT + 1).await;
    assert_eq!(all(reading)[1], kept[1]);
    sell(chain, pool, &kept[2], 10).await;

    let some = balances(state(&kept[1]))[0] / U256::from(1_000);
    let missing = scene.refusal(FIRST_SLOT + 2, pool).await;
    assert_eq!(missing.reason, MissingReason::CallReverted);
    assert!(missing.detail.contains("rate_unreadable"), "{missing}");
    assert!(chain.swap_balancer(pool, [0, 1], some).await.is_err());
    scene.provide(121).await;
    let again = scene.read(FIRST_SLOT + 3).await;
    assert!(has(&again[1], 121));
    sell(chain, pool, &again[3], 10).await;
    // A rate above the maximum that the contract can cache.
    chain.answer(scene.provider, &getRateCall {}, &(U256::ONE << 96)).await.unwrap();
    let missing = scene.refusal(FIRST_SLOT + 6, pool).await;
    assert_eq!(missing.reason, MissingReason::StateInconsistent, "{missing}");
    assert!(chain.swap_balancer(pool, [0, 1], some).await.is_err());
}

/// The token with a rate: the only one whose rate the pool updates on request.
fn rated(scene: &Scene) -> Address {
    let others = &scene.weighted.tokens;
    *scene.stable.tokens.iter().find(|token| !others.contains(token)).unwrap()
}

#[tokio::test]
async fn an_amplification_on_its_way_is_that_of_the_block() {
    let scene = Scene::new().await;
    let chain = &scene.chain;
    let end = chain.head().await.unwrap().timestamp + 2 * 86_400;
    chain.act_balancer(&scene.stable, BalancerAct::Amplify(390, end)).await.unwrap();
    let mut seen = Vec::new();
    for slot in FIRST_SLOT..FIRST_SLOT + 3 {
        let snapshots = scene.read(slot).await;
        let text = body(&snapshots[1]);
        let amp = text.split("\"amp\":").nth(1).unwrap().split([',', '}']).next().unwrap();
        seen.push(amp.parse::<u64>().unwrap());
        let block = snapshots[1].observation().block().number;
        for snapshot in &snapshots[1..] {
            let pair = snapshot.observation().pair().indices();
            let amount = balances(state(snapshot))[pair[0]] / U256::from(7);
            let fill = state(snapshot).fill_once(Direction::ZeroForOne, amount).unwrap();
            let asked = chain.query_balancer(&scene.stable, pair, amount, block).await.unwrap();
            assert_eq!(asked, fill.amount_out);
        }
    }
    assert!(seen.is_sorted_by(|a, b| a < b) && seen[0] > 200_000, "{seen:?}");
}

/// Code that answers every call with 18/16 of the token's own decimals answer, so that the rate depends on another
/// contract.
fn told_by(token: Address) -> Bytes {
    let mut code = hex!("63313ce567600052602060006004601c73").to_vec();
    code.extend(token);
    code.extend(hex!("5afa5060005166de0b6b3a7640000260005260206000f3"));
    code.into()
}

#[tokio::test]
async fn a_rate_that_its_token_tells_is_tried_with_the_token_itself() {
    let mut scene = Scene::new().await;
    let chain = &scene.chain;
    let tokens = chain.create_tokens(&[("SHARE", 18), ("ASSET", 18)]).await.unwrap();
    let provider = Address::repeat_byte(0x7c);
    chain.set_code(provider, told_by(tokens[0].address)).await.unwrap();
    let holdings = [
        (&tokens[0], tokens[0].units(10_000), Some((provider, 0))),
        (&tokens[1], tokens[1].units(12_000), None),
    ];
    let balancer = &scene.balancer;
    let pool_of_two =
        chain.create_balancer_stable(balancer, &holdings, 500, ONE / 1_000).await.unwrap();
    scene.config.pool = vec![pool(pool_of_two.address, None)];
    let snapshots = scene.read(FIRST_SLOT).await;
    assert!(body(&snapshots[0]).contains("\"1125000000000000000\""), "{}", body(&snapshots[0]));
    sell(&scene.chain, &pool_of_two, &snapshots[0], 40).await;
}

#[tokio::test]
async fn what_only_looks_like_balancers_is_refused_by_name() {
    let mut scene = Scene::new().await;
    // An imitation that answers like the pool; no factory knows it.
    let imitation = Address::repeat_byte(0x79);
    scene.chain.set_code(imitation, passing_on(scene.weighted.address)).await.unwrap();
    // If this factory is configured, it claims the imitation as its own.
    let liar = scene.chain.stand_in(Address::repeat_byte(0x7b)).await.unwrap();
    let asked = isPoolFromFactoryCall { pool: imitation };
    scene.chain.answer(liar, &asked, &true).await.unwrap();
    pass_slot(&scene.chain, FIRST_SLOT).await;
    let sound = scene.config.clone();
    let refusal = async |config: &Config, place: usize| {
        let reading = read(&mut reader(config, small_limits()), FIRST_SLOT).await;
        let untried = |event: &Event| matches!(event, Event::NotTried { .. });
        assert!(!reading.events.iter().any(untried), "{:?}", reading.events);
        let missing = reading.pools[place].1.as_ref().unwrap_err().clone();
        assert_eq!(missing.reason, MissingReason::PoolUnsupported, "{missing}");
        missing.detail
    };
    scene.config.pool.push(pool(imitation, None));
    let why = refusal(&scene.config, 4).await;
    assert!(why.contains("no known Balancer v2 factory"), "{why}");

    // A factory claims the contract, but in the vault the id belongs to another pool.
    let (address, kind) = (own(liar.address), FactoryKind::BalancerV2Weighted);
    scene.config.chain[0].factory.push(Factory { address, kind, fee_modules: Vec::new() });
    let why = refusal(&scene.config, 4).await;
    assert!(why.contains(&format!("it returned {}", own(scene.weighted.address))), "{why}");

    // Neither an unknown factory nor one of another kind is accepted.
    let mut config = sound.clone();
    config.chain[0].factory.clear();
    for place in 0..4 {
        let why = refusal(&config, place).await;
        for words in ["Balancer v2 pool", "[[chain.factory]]", "balancer_v2_weighted"] {
            assert!(why.contains(words), "{words}: {why}");
        }
    }
    config.chain[0].factory = sound.chain[0].factory.clone();
    config.chain[0].factory[0].kind = FactoryKind::BalancerV2ComposableStable;
    let why = refusal(&config, 0).await;
    assert!(
        why.contains("unverified_version: its version is") && why.contains("WeightedPool"),
        "{why}"
    );

    // Invalid configurations: a fee, which only a v2 pair needs; a pair for a pool without pairs; the pool's own token.
    config = sound.clone();
    config.pool[0].fee = Some(FeeConfig { numerator: 3, denominator: 1_000 });
    assert!(refusal(&config, 0).await.contains("remove `fee`"));
    config.pool[0] = pool(scene.weighted.address, Some([0, 1]));
    assert!(refusal(&config, 0).await.contains("pools two tokens; remove `pair`"));
    config.pool[1].pair = None;
    assert!(refusal(&config, 1).await.contains("pools 3 tokens"));
    config.pool[1].pair = Some([1, 3]);
    let why = refusal(&config, 1).await;
    assert!(why.contains("pool_token: the pool's own token cannot be sold"), "{why}");
}
