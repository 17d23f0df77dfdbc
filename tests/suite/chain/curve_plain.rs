//! Curve's plain pools: the pool's own address or the implementation that its factory names determines its rules. The
//! stand-ins here return fixed answers, including recorded ones, and compute nothing.

use alloy::primitives::{Address, U256};
use alloy::sol;
use alloy::sol_types::SolCall;
use exitgap_chain::config::{Config, Factory, FactoryKind, FeeConfig};
use exitgap_core::series::MissingReason;
use exitgap_tests::devchain::{DevChain, FIRST_SLOT, StandIn};

use crate::scenes::chain::{chain_config, pass_slot, read, reader, scene, small_limits};
use crate::scenes::vectors::{Fields, Recorded, first_pair, place, token};

sol! {
    function A() returns (uint256);
    function A_precise() returns (uint256);
    function fee() returns (uint256);
    function admin_fee() returns (uint256);
    function coins(uint256 i) returns (address);
    function balances(uint256 i) returns (uint256);
    function get_implementation_address(address pool) returns (address);
    function get_coins(address pool) returns (address[4] memory);
    function is_meta(address pool) returns (bool);
    function version() returns (string);
    function base_pool() returns (address);
}

/// The first pools use signed coin indices.
mod old {
    alloy::sol! {
        function coins(int128 i) returns (address);
        function balances(int128 i) returns (uint256);
        function underlying_coins(int128 i) returns (address);
    }
}

const FACTORY: Address = Address::repeat_byte(0xcf);
/// The address by which Curve's contracts denote the chain's native coin.
const NATIVE: Address = Address::repeat_byte(0xee);

/// The implementations for two, three and four coins.
const IMPLEMENTATIONS: [(Address, FactoryKind); 3] = [
    (Address::repeat_byte(0xc2), FactoryKind::CurvePlain2Basic),
    (Address::repeat_byte(0xc3), FactoryKind::CurvePlain3Basic),
    (Address::repeat_byte(0xc4), FactoryKind::CurvePlain4Basic),
];

/// The kind of pool for entries that name the pool's own address, by the first part of the recorded name.
const OWN: [(&str, FactoryKind); 4] = [
    ("3pool", FactoryKind::Curve3pool),
    ("hbtc", FactoryKind::CurveHbtc),
    ("susd", FactoryKind::CurveSusd),
    ("eurs", FactoryKind::CurveEurs),
];

fn entry(address: Address, kind: FactoryKind) -> Factory {
    let address = exitgap_core::ids::Address(address.into_array());
    Factory { address, kind, fee_modules: Vec::new() }
}

/// A chain with Curve's factory and no pool yet.
struct Curve {
    chain: DevChain,
    factory: StandIn,
    config: Config,
}

impl Curve {
    async fn new() -> Self {
        let (chain, world) = scene().await;
        let factory = chain.stand_in(FACTORY).await.unwrap();
        let mut config = chain_config(&chain, &world, &[chain.url()]).await;
        config.chain[0].factory = vec![entry(FACTORY, FactoryKind::CurvePlain)];
        let known = IMPLEMENTATIONS.map(|(address, kind)| entry(address, kind));
        config.chain[0].factory.extend(known);
        Self { chain, factory, config }
    }

    async fn tell<C: SolCall>(&self, stand_in: StandIn, call: &C, answer: &C::Return) {
        self.chain.answer(stand_in, call, answer).await.unwrap();
    }

    /// Makes the factory return these coins and this implementation for the pool.
    async fn register(&self, pool: Address, coins: &[Address], implementation: Address) {
        let mut four = [Address::ZERO; 4];
        four[..coins.len()].copy_from_slice(coins);
        self.tell(self.factory, &get_coinsCall { pool }, &four).await;
        self.tell(self.factory, &get_implementation_addressCall { pool }, &implementation).await;
        self.tell(self.factory, &is_metaCall { pool }, &false).await;
    }

    /// Adds a pool with this recorded state; returns its coins.
    async fn add(&mut self, place: Address, name: &str, state: &Fields<'_>) -> Vec<Address> {
        let mut coins = Vec::new();
        for (index, decimals) in state.numbers("decimals").into_iter().enumerate() {
            coins.push(token(&self.chain, index, decimals.to()).await);
        }
        let pool = self.chain.stand_in(place).await.unwrap();
        self.tell(pool, &feeCall {}, &state.number("fee")).await;
        self.tell(pool, &admin_feeCall {}, &state.number("admin_fee")).await;
        let amp = state.number("amp");
        if state.number("a_precision") == U256::from(100) {
            self.tell(pool, &A_preciseCall {}, &amp).await;
            self.tell(pool, &ACall {}, &(amp / U256::from(100))).await;
        } else {
            self.tell(pool, &ACall {}, &amp).await;
        }
        let balances = state.numbers("balances");
        for (i, (coin, balance)) in coins.iter().zip(balances).enumerate() {
            if name == "susd" {
                let i = i128::try_from(i).unwrap();
                self.tell(pool, &old::coinsCall { i }, coin).await;
                self.tell(pool, &old::balancesCall { i }, &balance).await;
            } else {
                let i = U256::from(i);
                self.tell(pool, &coinsCall { i }, coin).await;
                self.tell(pool, &balancesCall { i }, &balance).await;
            }
        }
        match OWN.iter().find(|(own, _)| *own == name) {
            Some((_, kind)) => self.config.chain[0].factory.push(entry(place, *kind)),
            None => self.register(place, &coins, IMPLEMENTATIONS[coins.len() - 2].0).await,
        }
        self.config.pool.push(first_pair(place, coins.len()));
        coins
    }

    /// Returns why the first pool cannot be read.
    async fn refusal(&self, slot: u64) -> String {
        pass_slot(&self.chain, slot).await;
        let reading = read(&mut reader(&self.config, small_limits()), slot).await;
        let missing = reading.pools.into_iter().next().unwrap().1.unwrap_err();
        assert_eq!(missing.reason, MissingReason::PoolUnsupported, "{missing}");
        missing.detail
    }
}

/// Every recorded state, answered by a stand-in of its contract, reads as it was recorded, by the rules of that
/// contract, and gives the recorded fills.
#[tokio::test]
async fn recorded_states_are_read_by_their_own_rules_and_fill_as_their_contracts_did() {
    let recorded = Recorded::of("curve_plain");
    let mut curve = Curve::new().await;
    for (index, (pool, state)) in recorded.pools().enumerate() {
        let (name, _) = pool.id.split_once('-').unwrap();
        curve.add(place(0x40, index), name, &state).await;
    }
    assert!(curve.config.chain[0].factory.len() <= Config::MAX_FACTORIES);
    let cases = recorded.hold(&curve.chain, &curve.config).await;
    assert!(cases > 3_000, "{cases} cases");
}

/// A pool of two coins that the factory made.
async fn made() -> (Curve, Vec<Address>) {
    let recorded = Recorded::of("curve_plain");
    let mut curve = Curve::new().await;
    let mut pools = recorded.pools();
    let (_, state) = pools.find(|(pool, _)| pool.id.starts_with("plain2basic")).unwrap();
    let coins = curve.add(place(0x40, 0), "plain2basic", &state).await;
    (curve, coins)
}

#[tokio::test]
async fn what_a_factory_says_of_a_pool_decides_by_which_rule_it_is_read() {
    let (mut curve, coins) = made().await;
    let pool = place(0x40, 0);
    pass_slot(&curve.chain, FIRST_SLOT).await;
    let mut reader = reader(&curve.config, small_limits());
    assert!(read(&mut reader, FIRST_SLOT).await.pools[0].1.is_ok());
    let kind = reader.describe(crate::scenes::chain::deadline()).await.remove(0).1.unwrap().kind;
    assert_eq!(kind, "stableswap of Curve's plain pools");

    let other = Address::repeat_byte(0xc5);
    curve.register(pool, &coins, other).await;
    let why = curve.refusal(FIRST_SLOT + 1).await;
    assert!(
        why.contains("unverified_version: according to its factory its code is 0xc5c5"),
        "{why}"
    );
    curve.register(pool, &coins, IMPLEMENTATIONS[0].0).await;
    curve.tell(curve.factory, &is_metaCall { pool }, &true).await;
    assert!(curve.refusal(FIRST_SLOT + 2).await.contains("metapool: "));
    curve.register(pool, &[NATIVE, coins[1]], IMPLEMENTATIONS[0].0).await;
    assert!(curve.refusal(FIRST_SLOT + 3).await.contains("native_pool: "));
    // The number of coins differs from that of the implementation.
    curve.register(pool, &coins, IMPLEMENTATIONS[1].0).await;
    assert!(curve.refusal(FIRST_SLOT + 4).await.contains("not a supported kind of pool"));
    curve.register(pool, &coins, IMPLEMENTATIONS[0].0).await;
    curve.config.pool[0].fee = Some(FeeConfig { numerator: 3, denominator: 1_000 });
    assert!(curve.refusal(FIRST_SLOT + 5).await.contains("remove `fee`"));
}

#[tokio::test]
async fn what_only_answers_as_a_plain_pool_does_is_refused_by_name() {
    let (curve, coins) = made().await;
    let pool = StandIn { address: place(0x40, 0) };
    curve.register(pool.address, &[], Address::ZERO).await;
    let why = curve.refusal(FIRST_SLOT).await;
    assert!(why.contains("unverified_version: it looks like a plain Curve pool"), "{why}");
    curve.tell(pool, &old::underlying_coinsCall { i: 0 }, &coins[0]).await;
    assert!(curve.refusal(FIRST_SLOT + 1).await.contains("lending_coins: "));
    curve.tell(pool, &base_poolCall {}, &coins[0]).await;
    assert!(curve.refusal(FIRST_SLOT + 2).await.contains("metapool: "));
    curve.tell(pool, &coinsCall { i: U256::ZERO }, &NATIVE).await;
    assert!(curve.refusal(FIRST_SLOT + 3).await.contains("native_pool: "));
    // A contract with a version belongs to another generation, which this kind must not claim.
    curve.tell(pool, &versionCall {}, &"v6.0.0".to_owned()).await;
    let why = curve.refusal(FIRST_SLOT + 4).await;
    assert!(why.contains("not a supported kind of pool"), "{why}");
}
