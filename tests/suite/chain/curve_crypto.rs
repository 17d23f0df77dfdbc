//! Curve's crypto pools, Twocrypto-NG and Tricrypto-NG, according to their published interfaces. The stand-ins here
//! return fixed answers, including recorded ones, and compute nothing.

use alloy::primitives::{Address, U256};
use alloy::sol;
use alloy::sol_types::SolCall;
use exitgap_chain::Event;
use exitgap_chain::config::{Config, Factory, FactoryKind, FeeConfig};
use exitgap_core::exit::Exit;
use exitgap_core::pools::Direction;
use exitgap_core::series::MissingReason;
use exitgap_core::units::GapLimit;
use exitgap_tests::devchain::{DevChain, FIRST_SLOT, SLOT_SECONDS, StandIn};

use crate::scenes::chain::{chain_config, pass_slot, read, reader, scene, small_limits, snapshots};
use crate::scenes::vectors::{Fields, Recorded, first_pair, place, token};

sol! {
    function version() returns (string);
    function MATH() returns (address);
    function A() returns (uint256);
    function gamma() returns (uint256);
    function D() returns (uint256);
    function mid_fee() returns (uint256);
    function out_fee() returns (uint256);
    function fee_gamma() returns (uint256);
    function future_A_gamma_time() returns (uint256);
    function balances(uint256 i) returns (uint256);
    function price_scale() returns (uint256);
    function last_prices() returns (uint256);
    function get_dy(uint256 i, uint256 j, uint256 dx) returns (uint256);
    function get_coins(address pool) returns (address[2] memory);
    function get_decimals(address pool) returns (uint256[2] memory);
}

/// The interfaces of pools of three coins and of their factory.
mod three {
    alloy::sol! {
        function price_scale(uint256 k) returns (uint256);
        function last_prices(uint256 k) returns (uint256);
        function get_coins(address pool) returns (address[3] memory);
        function get_decimals(address pool) returns (uint256[3] memory);
    }
}

pub const FACTORY: Address = Address::repeat_byte(0xcf);
const FORMULAS: Address = Address::repeat_byte(0xce);

/// A chain with a factory of crypto pools and the math contract that they use.
pub struct Crypto {
    pub chain: DevChain,
    pub config: Config,
    factory: StandIn,
    formulas: StandIn,
    version: &'static str,
}

impl Crypto {
    pub async fn new(kind: FactoryKind) -> Self {
        let (chain, world) = scene().await;
        let factory = chain.stand_in(FACTORY).await.unwrap();
        let formulas = chain.stand_in(FORMULAS).await.unwrap();
        let version = if kind == FactoryKind::CurveTwocryptoNg { "v2.1.0" } else { "v2.0.0" };
        chain.answer(formulas, &versionCall {}, &version.to_owned()).await.unwrap();
        let mut config = chain_config(&chain, &world, &[chain.url()]).await;
        let address = exitgap_core::ids::Address(FACTORY.into_array());
        config.chain[0].factory = vec![Factory { address, kind, fee_modules: Vec::new() }];
        Self { chain, config, factory, formulas, version }
    }

    async fn tell<C: SolCall>(&self, stand_in: StandIn, call: &C, answer: &C::Return) {
        self.chain.answer(stand_in, call, answer).await.unwrap();
    }

    /// Adds a pool with this recorded state.
    pub async fn add(&mut self, place: Address, state: &Fields<'_>) {
        let decimals = state.numbers("decimals");
        let mut coins = Vec::new();
        for (index, decimals) in decimals.iter().enumerate() {
            coins.push(token(&self.chain, index, decimals.to()).await);
        }
        let pool = self.chain.stand_in(place).await.unwrap();
        self.tell(pool, &versionCall {}, &self.version.to_owned()).await;
        self.tell(pool, &MATHCall {}, &FORMULAS).await;
        self.tell(pool, &future_A_gamma_timeCall {}, &U256::ZERO).await;
        self.tell(pool, &ACall {}, &state.number("A")).await;
        self.tell(pool, &gammaCall {}, &state.number("gamma")).await;
        self.tell(pool, &DCall {}, &state.number("D")).await;
        self.tell(pool, &mid_feeCall {}, &state.number("mid_fee")).await;
        self.tell(pool, &out_feeCall {}, &state.number("out_fee")).await;
        self.tell(pool, &fee_gammaCall {}, &state.number("fee_gamma")).await;
        for (i, balance) in state.numbers("balances").into_iter().enumerate() {
            self.tell(pool, &balancesCall { i: U256::from(i) }, &balance).await;
        }
        let (scales, last) = (state.numbers("price_scale"), state.numbers("last_prices"));
        let of = place;
        if let Ok(coins) = <[Address; 2]>::try_from(coins.clone()) {
            self.tell(pool, &price_scaleCall {}, &scales[0]).await;
            self.tell(pool, &last_pricesCall {}, &last[0]).await;
            self.tell(self.factory, &get_coinsCall { pool: of }, &coins).await;
            let decimals = <[U256; 2]>::try_from(decimals).unwrap();
            self.tell(self.factory, &get_decimalsCall { pool: of }, &decimals).await;
        } else {
            for k in 0..2 {
                let index = U256::from(k);
                self.tell(pool, &three::price_scaleCall { k: index }, &scales[k]).await;
                self.tell(pool, &three::last_pricesCall { k: index }, &last[k]).await;
            }
            let coins = <[Address; 3]>::try_from(coins.clone()).unwrap();
            self.tell(self.factory, &three::get_coinsCall { pool: of }, &coins).await;
            let decimals = <[U256; 3]>::try_from(decimals).unwrap();
            self.tell(self.factory, &three::get_decimalsCall { pool: of }, &decimals).await;
        }
        self.config.pool.push(first_pair(place, coins.len()));
    }

    /// A chain with only the first recorded pool of two coins.
    pub async fn one() -> Self {
        let recorded = Recorded::of("curve_twocrypto_ng");
        let mut crypto = Self::new(FactoryKind::CurveTwocryptoNg).await;
        let (_, state) = recorded.pools().next().unwrap();
        crypto.add(place(0x50, 0), &state).await;
        crypto
    }

    /// Returns why the pool cannot be read.
    async fn refusal(&self, slot: u64) -> String {
        pass_slot(&self.chain, slot).await;
        let reading = read(&mut reader(&self.config, small_limits()), slot).await;
        let missing = reading.pools.into_iter().next().unwrap().1.unwrap_err();
        assert_eq!(missing.reason, MissingReason::PoolUnsupported, "{missing}");
        missing.detail
    }
}

/// Every recorded state, answered by a stand-in of its contract, reads as it was recorded and gives the recorded fills,
/// except where the contract's price update after the fill reverts.
#[tokio::test]
async fn recorded_states_are_read_and_fill_as_their_contracts_did() {
    for (file, kind, least) in [
        ("curve_twocrypto_ng", FactoryKind::CurveTwocryptoNg, 1_500),
        ("curve_tricrypto_ng", FactoryKind::CurveTricryptoNg, 3_000),
    ] {
        let recorded = Recorded::of(file);
        let mut crypto = Crypto::new(kind).await;
        for (index, (_, state)) in recorded.pools().enumerate() {
            crypto.add(place(0x50, index), &state).await;
        }
        let cases = recorded.hold(&crypto.chain, &crypto.config).await;
        assert!(cases > least, "{file}: {cases} cases");
    }
}

#[tokio::test]
async fn fills_are_answered_and_sizes_are_refused_by_name() {
    let crypto = Crypto::one().await;
    pass_slot(&crypto.chain, FIRST_SLOT).await;
    let reading = read(&mut reader(&crypto.config, small_limits()), FIRST_SLOT).await;
    let snapshot = snapshots(reading).remove(0);
    for direction in Direction::BOTH {
        let exit = Exit::from_pool(snapshot.observation(), direction);
        assert!(exit.estimate("1000".parse().unwrap()).is_ok());
        let refused = exit.max_size_for(GapLimit::DEPTH).unwrap_err();
        assert_eq!(refused.code(), "sizing_not_exact");
        assert_eq!(exit.depth_usd(GapLimit::DEPTH).unwrap_err().code(), "sizing_not_exact");
    }
}

#[tokio::test]
async fn what_cannot_be_answered_for_is_refused_by_name() {
    let mut crypto = Crypto::one().await;
    let pool = StandIn { address: place(0x50, 0) };
    let mut slot = FIRST_SLOT;
    let ends = U256::from((slot + 10) * SLOT_SECONDS);
    crypto.tell(pool, &future_A_gamma_timeCall {}, &ends).await;
    let why = crypto.refusal(slot).await;
    assert!(why.contains("ramping: until "), "{why}");
    // A ramp that has ended has no effect.
    slot += 12;
    pass_slot(&crypto.chain, slot).await;
    let reading = read(&mut reader(&crypto.config, small_limits()), slot).await;
    assert!(reading.pools[0].1.is_ok(), "{:?}", reading.pools[0].1);

    let wrong = "v3.0.0".to_owned();
    let right = crypto.version.to_owned();
    crypto.tell(pool, &versionCall {}, &wrong).await;
    let why = crypto.refusal(slot + 1).await;
    assert!(why.contains("unverified_version: its version is \"v3.0.0\""), "{why}");
    crypto.tell(pool, &versionCall {}, &right).await;
    // A math contract of another version may compute other results.
    crypto.tell(crypto.formulas, &versionCall {}, &"v0.1.1".to_owned()).await;
    let why = crypto.refusal(slot + 2).await;
    assert!(why.contains("unverified_version: the version of its math contract 0xcece"), "{why}");
    crypto.tell(crypto.formulas, &versionCall {}, &right).await;
    let of = pool.address;
    crypto.tell(crypto.factory, &get_coinsCall { pool: of }, &[Address::ZERO; 2]).await;
    let why = crypto.refusal(slot + 3).await;
    for words in ["no known factory of such pools", "curve_tricrypto_ng"] {
        assert!(why.contains(words), "{words}: {why}");
    }
    crypto.config.pool[0].fee = Some(FeeConfig { numerator: 3, denominator: 1_000 });
    let coins = [token(&crypto.chain, 0, 18).await, token(&crypto.chain, 1, 18).await];
    crypto.tell(crypto.factory, &get_coinsCall { pool: of }, &coins).await;
    assert!(crypto.refusal(slot + 4).await.contains("remove `fee`"));
}

/// A quote equals the fill to the unit: a contract whose quote differs is rejected.
#[tokio::test]
async fn a_contract_that_quotes_something_else_is_missed() {
    let crypto = Crypto::one().await;
    let pool = StandIn { address: place(0x50, 0) };
    pass_slot(&crypto.chain, FIRST_SLOT).await;
    let reading = read(&mut reader(&crypto.config, small_limits()), FIRST_SLOT).await;
    let untried = |event: &Event| matches!(event, Event::NotTried { .. });
    assert!(reading.events.iter().any(untried), "it quotes nothing yet: {:?}", reading.events);
    let state = snapshots(reading).remove(0).observation().state().clone();
    for (more, slot) in [(0, FIRST_SLOT + 1), (1, FIRST_SLOT + 2)] {
        for direction in Direction::BOTH {
            let curve = state.curve(direction);
            let (most, most_out) = curve.most();
            let mut fills = (0..256_usize).map(|halved| curve.fill(most >> halved).unwrap());
            let enough = most_out / U256::from(20);
            let fill = fills.find(|fill| fill.amount_out <= enough).unwrap();
            let [i, j] = [direction.base_index(), direction.quote_index()].map(U256::from);
            let asked = get_dyCall { i, j, dx: fill.amount_in };
            crypto.tell(pool, &asked, &(fill.amount_out + U256::from(more))).await;
        }
        if more == 0 {
            pass_slot(&crypto.chain, slot).await;
            let reading = read(&mut reader(&crypto.config, small_limits()), slot).await;
            assert!(reading.events.is_empty(), "its quote is its fill: {:?}", reading.events);
            assert!(reading.pools[0].1.is_ok());
        } else {
            assert!(crypto.refusal(slot).await.contains("its contract quotes"));
        }
    }
}
