//! Pools of the Balancer v3 vault, according to its published interfaces. Its contracts are in no package: the
//! stand-ins here return fixed answers, including recorded ones, and compute nothing.

use alloy::primitives::{Address, Bytes, U256, hex};
use alloy::sol;
use exitgap_chain::config::{Config, Factory, FactoryKind, FeeConfig};
use exitgap_chain::{Event, ReadFailure};
use exitgap_core::pools::{Direction, PoolState};
use exitgap_core::series::MissingReason;
use exitgap_core::snapshot::Snapshot;
use exitgap_tests::devchain::{DevChain, FIRST_SLOT, StandIn};

use crate::scenes::chain::{chain_config, pass_slot, read, reader, scene, small_limits, snapshots};
use crate::scenes::vectors::{Fields, Recorded, first_pair, place, token};

sol! {
    struct TokenInfo { uint8 tokenType; address rateProvider; bool paysYieldFees; }
    struct Hooks { bool adjusts; bool beforeInitialize; bool afterInitialize; bool dynamicFee; bool beforeSwap; bool afterSwap; bool beforeAdd; bool afterAdd; bool beforeRemove; bool afterRemove; address hooksContract; }
    struct Swap { uint8 kind; address pool; address tokenIn; address tokenOut; uint256 amountGivenRaw; uint256 limitRaw; bytes userData; }
    function isVaultPaused() returns (bool);
    function isPoolPaused(address pool) returns (bool);
    function isPoolInRecoveryMode(address pool) returns (bool);
    function getHooksConfig(address pool) returns (Hooks memory);
    function getPoolTokenInfo(address pool) returns (address[] memory, TokenInfo[] memory, uint256[] memory, uint256[] memory);
    function getPoolTokenRates(address pool) returns (uint256[] memory, uint256[] memory);
    function getCurrentLiveBalances(address pool) returns (uint256[] memory);
    function getStaticSwapFeePercentage(address pool) returns (uint256);
    function isERC4626BufferInitialized(address wrappedToken) returns (bool);
    function swap(Swap memory params) returns (uint256, uint256, uint256);
    function isPoolFromFactory(address pool) returns (bool);
    function getVault() returns (address);
    function version() returns (string);
    function getNormalizedWeights() returns (uint256[] memory);
    function getMinTokenBalances() returns (uint256[] memory);
    function getAmplificationParameter() returns (uint256, bool, uint256);
}

const VAULT: Address = Address::repeat_byte(0xba);
/// The contract that holds the vault's answers. The vault itself implements only `unlock` and forwards every other
/// call.
const ANSWERS: Address = Address::repeat_byte(0xbb);
const FACTORY: Address = Address::repeat_byte(0xbf);

fn own(address: Address) -> exitgap_core::ids::Address {
    exitgap_core::ids::Address(address.into_array())
}

/// Runtime code that, like the vault, calls its caller back on `unlock(bytes)` with these bytes and reverts with the
/// callback's revert data. It forwards every other call to `answers`.
fn unlocking(answers: Address) -> Bytes {
    let mut code = hex!("5f3560e01c 6348c89491 14 603c 57 365f5f37 5f5f365f5f 73").to_vec();
    code.extend(answers);
    code.extend(hex!("5af1 3d5f5f3e 6038 57 3d5ffd 5b 3d5ff3"));
    code.extend(hex!("5b 602435 80 6044 5f37 5f5f 91 5f5f 33 5af1 50 3d5f5f3e 3d5ffd"));
    code.into()
}

/// The vault and a factory of these pools.
struct Vault {
    chain: DevChain,
    answers: StandIn,
    factory: StandIn,
    config: Config,
}

impl Vault {
    async fn new(kind: FactoryKind) -> Self {
        let (chain, world) = scene().await;
        let answers = chain.stand_in(ANSWERS).await.unwrap();
        chain.set_code(VAULT, unlocking(ANSWERS)).await.unwrap();
        let factory = chain.stand_in(FACTORY).await.unwrap();
        chain.answer(factory, &getVaultCall {}, &VAULT).await.unwrap();
        chain.answer(answers, &isVaultPausedCall {}, &false).await.unwrap();
        let mut config = chain_config(&chain, &world, &[chain.url()]).await;
        config.chain[0].factory =
            vec![Factory { address: own(FACTORY), kind, fee_modules: Vec::new() }];
        Self { chain, answers, factory, config }
    }

    /// Registers a pool with this state, with answers from the vault, the factory and the pool.
    async fn register(&mut self, pool: Address, state: &Fields<'_>) -> Vec<Address> {
        let mut tokens = Vec::new();
        for (index, decimals) in state.numbers("decimals").into_iter().enumerate() {
            let token = token(&self.chain, index, decimals.to()).await;
            let wrapped_token = isERC4626BufferInitializedCall { wrappedToken: token };
            self.chain.answer(self.answers, &wrapped_token, &false).await.unwrap();
            tokens.push(token);
        }
        let Self { chain, answers, factory, .. } = &*self;
        chain.answer(*factory, &isPoolFromFactoryCall { pool }, &true).await.unwrap();
        chain.answer(*answers, &isPoolPausedCall { pool }, &false).await.unwrap();
        chain.answer(*answers, &isPoolInRecoveryModeCall { pool }, &false).await.unwrap();
        chain.answer(*answers, &getHooksConfigCall { pool }, &no_hooks()).await.unwrap();
        let raw = state.numbers("balances_raw");
        let info = TokenInfo { tokenType: 0, rateProvider: Address::ZERO, paysYieldFees: false };
        let holdings = getPoolTokenInfoReturn {
            _0: tokens.clone(),
            _1: vec![info; tokens.len()],
            _2: raw.clone(),
            // The last stored balances do not describe the current state.
            _3: vec![U256::from(1); tokens.len()],
        };
        chain.answer(*answers, &getPoolTokenInfoCall { pool }, &holdings).await.unwrap();
        let rates = getPoolTokenRatesReturn {
            _0: state.numbers("scaling_factors"),
            _1: state.numbers("rates"),
        };
        chain.answer(*answers, &getPoolTokenRatesCall { pool }, &rates).await.unwrap();
        let live = state.numbers("balances_live_scaled18");
        chain.answer(*answers, &getCurrentLiveBalancesCall { pool }, &live).await.unwrap();
        let fee = getStaticSwapFeePercentageCall { pool };
        chain.answer(*answers, &fee, &state.number("swap_fee")).await.unwrap();

        let own = chain.stand_in(pool).await.unwrap();
        chain.answer(own, &getVaultCall {}, &VAULT).await.unwrap();
        let (kind, release) = state.text("version").split_once(" v").unwrap();
        let name = if kind == "stable" { "StablePool" } else { "WeightedPool" };
        let release = &release[..1];
        let said = format!(r#"{{"name":"{name}","version":{release},"deployment":"2024"}}"#);
        chain.answer(own, &versionCall {}, &said).await.unwrap();
        if state.has("amp") {
            let amp = (state.number("amp"), false, U256::from(1_000)).into();
            chain.answer(own, &getAmplificationParameterCall {}, &amp).await.unwrap();
        } else {
            let weights = state.numbers("weights");
            chain.answer(own, &getNormalizedWeightsCall {}, &weights).await.unwrap();
        }
        if state.has("min_balances_scaled18") {
            let least = state.numbers("min_balances_scaled18");
            chain.answer(own, &getMinTokenBalancesCall {}, &least).await.unwrap();
        }
        self.config.pool.push(first_pair(pool, tokens.len()));
        tokens
    }

    /// Reads the first pool with a fresh reader.
    async fn next(&self, slot: u64) -> Result<Snapshot, ReadFailure> {
        pass_slot(&self.chain, slot).await;
        let reading = read(&mut reader(&self.config, small_limits()), slot).await;
        reading.pools.into_iter().next().unwrap().1
    }

    /// Returns why the first pool cannot be read.
    async fn refusal(&self, slot: u64) -> String {
        let missing = self.next(slot).await.unwrap_err();
        assert_eq!(missing.reason, MissingReason::PoolUnsupported, "{missing}");
        missing.detail
    }
}

fn no_hooks() -> Hooks {
    Hooks {
        adjusts: false,
        beforeInitialize: false,
        afterInitialize: false,
        dynamicFee: false,
        beforeSwap: false,
        afterSwap: false,
        beforeAdd: false,
        afterAdd: false,
        beforeRemove: false,
        afterRemove: false,
        hooksContract: Address::ZERO,
    }
}

/// Every recorded state, answered by the stand-ins of the vault and the pool, reads as it was recorded and gives the
/// recorded fills.
#[tokio::test]
async fn recorded_states_are_read_and_fill_as_their_contracts_did() {
    for (file, kind, least) in [
        ("balancer_v3_weighted", FactoryKind::BalancerV3Weighted, 1_800),
        ("balancer_v3_stable", FactoryKind::BalancerV3Stable, 1_700),
    ] {
        let recorded = Recorded::of(file);
        let mut vault = Vault::new(kind).await;
        for (index, (_, state)) in recorded.pools().enumerate() {
            vault.register(place(0x30, index), &state).await;
        }
        let cases = recorded.hold(&vault.chain, &vault.config).await;
        assert!(cases > least, "{file}: {cases} cases");
    }
}

/// A vault with only the first recorded pool of a file, and its tokens.
async fn first_of(file: &str, kind: FactoryKind) -> (Vault, Vec<Address>) {
    let recorded = Recorded::of(file);
    let mut vault = Vault::new(kind).await;
    let (_, state) = recorded.pools().next().unwrap();
    let tokens = vault.register(place(0x30, 0), &state).await;
    (vault, tokens)
}

#[tokio::test]
async fn what_moves_without_a_log_is_read_at_every_slot() {
    let (vault, _) = first_of("balancer_v3_stable", FactoryKind::BalancerV3Stable).await;
    let (chain, pool) = (&vault.chain, place(0x30, 0));
    pass_slot(chain, FIRST_SLOT).await;
    let mut reader = reader(&vault.config, small_limits());
    let body =
        |snapshot: &Snapshot| String::from_utf8(snapshot.to_canonical().unwrap().state).unwrap();
    let first = snapshots(read(&mut reader, FIRST_SLOT).await).remove(0);
    assert!(
        body(&first).contains("\"amp\":100000") && body(&first).contains("1124041777383536243")
    );

    // Changes the rate, and with it the live balance, the amplification and the fee.
    let rates = getPoolTokenRatesReturn {
        _0: vec![U256::from(1); 2],
        _1: vec![
            U256::from(1_200_000_000_000_000_000_u64),
            U256::from(1_000_000_000_000_000_000_u64),
        ],
    };
    chain.answer(vault.answers, &getPoolTokenRatesCall { pool }, &rates).await.unwrap();
    let live = vec![
        U256::from(1_866_071_912_711_581_550_121_u128),
        U256::from(4_385_449_718_969_912_172_632_u128),
    ];
    chain.answer(vault.answers, &getCurrentLiveBalancesCall { pool }, &live).await.unwrap();
    let ramped = (U256::from(99_900), true, U256::from(1_000)).into();
    let own = StandIn { address: pool };
    chain.answer(own, &getAmplificationParameterCall {}, &ramped).await.unwrap();
    let fee = getStaticSwapFeePercentageCall { pool };
    chain.answer(vault.answers, &fee, &U256::from(7_000_000_000_000_000_u64)).await.unwrap();
    pass_slot(chain, FIRST_SLOT + 1).await;
    let second = snapshots(read(&mut reader, FIRST_SLOT + 1).await).remove(0);
    let text = body(&second);
    for part in [
        "\"amp\":99900",
        "\"1200000000000000000\"",
        "\"7000000000000000\"",
        "1866071912711581550121",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }

    chain.revert_call(vault.answers, &getPoolTokenRatesCall { pool }).await.unwrap();
    chain.revert_call(vault.answers, &getCurrentLiveBalancesCall { pool }).await.unwrap();
    pass_slot(chain, FIRST_SLOT + 2).await;
    let missing = read(&mut reader, FIRST_SLOT + 2).await.pools.remove(0).1.unwrap_err();
    assert_eq!(missing.reason, MissingReason::CallReverted);
    assert!(missing.detail.contains("rate_unreadable"), "{missing}");
}

#[tokio::test]
async fn what_cannot_be_answered_for_is_refused_by_name() {
    let (mut vault, tokens) =
        first_of("balancer_v3_weighted", FactoryKind::BalancerV3Weighted).await;
    let (pool, own_pool) = (place(0x30, 0), StandIn { address: place(0x30, 0) });
    let mut slot = FIRST_SLOT;
    assert!(vault.next(slot).await.is_ok());
    macro_rules! refused {
        ($by:expr, $call:expr, $wrong:expr, $right:expr, $($words:expr),+) => {
            vault.chain.answer($by, &$call, &$wrong).await.unwrap();
            slot += 1;
            let why = vault.refusal(slot).await;
            for words in [$($words),+] {
                assert!(why.contains(words), "{words}: {why}");
            }
            vault.chain.answer($by, &$call, &$right).await.unwrap();
        };
    }
    let answers = vault.answers;
    refused!(answers, isVaultPausedCall {}, true, false, "paused: its vault 0xbaba");
    refused!(
        answers,
        isPoolPausedCall { pool },
        true,
        false,
        "paused: its vault allows no swaps in"
    );
    refused!(answers, isPoolInRecoveryModeCall { pool }, true, false, "recovery_mode: ");
    let hooks = getHooksConfigCall { pool };
    let hooked =
        Hooks { beforeSwap: true, hooksContract: Address::repeat_byte(0x40), ..no_hooks() };
    refused!(answers, hooks, hooked, no_hooks(), "hook: the pool calls the hooks contract 0x4040");
    let priced = Hooks { dynamicFee: true, ..hooked.clone() };
    refused!(answers, hooks, priced, no_hooks(), "dynamic_fee: its hooks contract 0x4040");
    let wrapped_token = isERC4626BufferInitializedCall { wrappedToken: tokens[1] };
    refused!(answers, wrapped_token, true, false, "boosted: its token 0x0202");
    let says = |name: &str, version: u64| format!(r#"{{"name":"{name}","version":{version}}}"#);
    let known = says("WeightedPool", 1);
    refused!(
        own_pool,
        versionCall {},
        says("WeightedPool", 3),
        known.clone(),
        "unverified_version: its version is"
    );
    refused!(
        own_pool,
        versionCall {},
        says("StablePool", 1),
        known,
        "unverified_version: its version is"
    );

    // Pools of unknown factories are rejected, such as Gyro and reCLAMM pools.
    let gyro = says("Gyro2CLPPool", 1);
    vault.chain.answer(own_pool, &versionCall {}, &gyro).await.unwrap();
    vault.chain.answer(vault.factory, &isPoolFromFactoryCall { pool }, &false).await.unwrap();
    slot += 1;
    let why = vault.refusal(slot).await;
    for words in ["unverified_version", "Gyro2CLPPool", "balancer_v3_stable"] {
        assert!(why.contains(words), "{words}: {why}");
    }
    vault.chain.answer(own_pool, &versionCall {}, &says("WeightedPool", 1)).await.unwrap();
    vault.chain.answer(vault.factory, &isPoolFromFactoryCall { pool }, &true).await.unwrap();

    // A pool that its factory's vault does not know; and a fee, which only a v2 pair needs.
    vault.chain.revert_call(answers, &getPoolTokenInfoCall { pool }).await.unwrap();
    slot += 1;
    assert!(vault.refusal(slot).await.contains("it is not registered in"));
    vault.config.pool[0].fee = Some(FeeConfig { numerator: 3, denominator: 1_000 });
    slot += 1;
    assert!(vault.refusal(slot).await.contains("remove `fee`"));
}

/// Makes the vault answer the probe swap of the pool (at most 1/20 of the maximum output) with core's fill plus `more`.
async fn swaps(vault: &Vault, state: &PoolState, tokens: &[Address], more: u64) {
    for direction in Direction::BOTH {
        let curve = state.curve(direction);
        let (most, most_out) = curve.most();
        let mut fills = (0..256_usize).map(|halved| curve.fill(most >> halved).unwrap());
        let enough = most_out / U256::from(20);
        let fill = fills.find(|fill| fill.amount_out <= enough).unwrap();
        let params = Swap {
            kind: 0,
            pool: place(0x30, 0),
            tokenIn: tokens[direction.base_index()],
            tokenOut: tokens[direction.quote_index()],
            amountGivenRaw: fill.amount_in,
            limitRaw: U256::ZERO,
            userData: Bytes::new(),
        };
        let paid = fill.amount_out + U256::from(more);
        let told = (paid, fill.amount_in, paid).into();
        vault.chain.answer(vault.answers, &swapCall { params }, &told).await.unwrap();
    }
}

#[tokio::test]
async fn the_unlocked_vaults_own_swap_shows_a_pool_that_pays_otherwise() {
    let (vault, tokens) = first_of("balancer_v3_weighted", FactoryKind::BalancerV3Weighted).await;
    pass_slot(&vault.chain, FIRST_SLOT).await;
    let reading = read(&mut reader(&vault.config, small_limits()), FIRST_SLOT).await;
    let untried = |event: &Event| matches!(event, Event::NotTried { .. });
    assert!(reading.events.iter().any(untried), "it swaps nothing yet: {:?}", reading.events);
    let state = snapshots(reading).remove(0).observation().state().clone();
    swaps(&vault, &state, &tokens, 0).await;
    pass_slot(&vault.chain, FIRST_SLOT + 1).await;
    let reading = read(&mut reader(&vault.config, small_limits()), FIRST_SLOT + 1).await;
    assert!(reading.events.is_empty(), "it pays what is computed: {:?}", reading.events);
    assert!(reading.pools[0].1.is_ok());
    swaps(&vault, &state, &tokens, 1).await;
    assert!(vault.refusal(FIRST_SLOT + 2).await.contains("its vault pays"));
}
