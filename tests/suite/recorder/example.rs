//! `examples/mainnet.toml`, as far as it can be checked without Ethereum.

use std::path::Path;

use alloy::primitives::{Address, B256, U256, address, b256, keccak256};
use alloy::sol_types::SolValue;
use exitgap_chain::config::FactoryKind;
use exitgap_core::ids::Pair;
use exitgap_core::snapshot::{ChainKind, OracleRole};
use exitgap_server::config::{CheckedConfig, EXAMPLE};

const USDC: Address = address!("A0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48");
const USDT: Address = address!("dAC17F958D2ee523a2206206994597C13D831ec7");
const WBTC: Address = address!("2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599");
const WETH: Address = address!("C02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2");

/// Curve's 3pool and sUSD pool, which do not come from a factory.
const THREE: Address = address!("bEbc44782C7dB0a1A60Cb6fe97d0b483032FF1C7");
const SUSD: Address = address!("A5407eAE9Ba41422680e2e00537571bcC53efBfD");
/// Pools whose address does not follow from a rule: Curve's PYUSD/USDC pool, its Tricrypto-NG pool, and Balancer's
/// pools of wstETH and AAVE.
const PYUSD: Address = address!("383E6b4437b59fff47B619CBA855CA29342A8559");
const TRICRYPTO: Address = address!("7F86Bf177Dd4F3494b841a37e810A34dD56c829B");
const SAFETY: Address = address!("3de27EFa2F1AA663Ae5D458857e731c129069F29");
/// The init code hash of Uniswap v3's pools, which `SushiSwap` shares, and of `PancakeSwap`'s.
const V3_CODE: B256 = b256!("e34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54");
const PANCAKE_CODE: B256 =
    b256!("6ce8eb472fa82df5469c6ab6d485f17c3ad13c8cd7af59b3d4a8026c5ce0f7e2");

/// The address of a pool of a v3 deployer (`PoolAddress.sol`).
fn placed(deployer: Address, code: B256, tokens: [Address; 2], fee: u32) -> Address {
    let salt = keccak256((tokens[0], tokens[1], U256::from(fee)).abi_encode());
    deployer.create2(salt, code)
}

fn v3(tokens: [Address; 2], fee: u32) -> Address {
    placed(address!("1F98431c8aD98523631AE4a59f267346ea31F984"), V3_CODE, tokens, fee)
}

fn sushi(tokens: [Address; 2], fee: u32) -> Address {
    placed(address!("bACEB8eC6b9355Dfc0269C18bac9d6E2Bdc29C4F"), V3_CODE, tokens, fee)
}

fn pancake(tokens: [Address; 2], fee: u32) -> Address {
    placed(address!("41ff9AA7e16B8B1a8a8dc4f0eFacd93D02d071c9"), PANCAKE_CODE, tokens, fee)
}

/// The address of a pair of the v2 factory (`UniswapV2Library.sol`).
fn v2(tokens: [Address; 2]) -> Address {
    const FACTORY: Address = address!("5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f");
    const INIT_CODE_HASH: B256 =
        b256!("96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f");
    FACTORY.create2(keccak256([tokens[0], tokens[1]].concat()), INIT_CODE_HASH)
}

#[test]
fn the_pools_are_where_the_factories_put_them_and_each_token_has_its_own_oracle() {
    let checked = CheckedConfig::parse(EXAMPLE, Path::new("mainnet.toml")).unwrap();
    let chain = &checked.plan.chains()[0];
    assert_eq!((chain.chain_id(), chain.tag().kind), (1, ChainKind::Live));
    let dollar_ether = ["usdc-usd", "eth-usd"];
    let expected = [
        (v3([USDC, WETH], 500).to_string(), dollar_ether),
        (v3([USDC, WETH], 3000).to_string(), dollar_ether),
        (v3([WETH, USDT], 3000).to_string(), ["eth-usd", "usdt-usd"]),
        (v3([WBTC, WETH], 3000).to_string(), ["wbtc-btc btc-usd", "eth-usd"]),
        (format!("{THREE}.0-1"), ["dai-usd", "usdc-usd"]),
        (format!("{THREE}.1-2"), ["usdc-usd", "usdt-usd"]),
        (v2([USDC, WETH]).to_string(), dollar_ether),
        // The configuration parser checks that this id is the hash of the pool's key.
        (
            "0x21c67e77068de97969ba93d4aab21826d33ca12bb9f565d8496e8fda8a82ca27".to_owned(),
            ["eth-usd", "usdc-usd"],
        ),
        (pancake([USDC, WETH], 500).to_string(), dollar_ether),
        (sushi([USDC, WETH], 500).to_string(), dollar_ether),
        (PYUSD.to_string(), ["pyusd-usd", "usdc-usd"]),
        (format!("{SUSD}.0-1"), ["dai-usd", "usdc-usd"]),
        (format!("{TRICRYPTO}.0-2"), dollar_ether),
        (SAFETY.to_string(), ["wsteth-usd", "aave-usd"]),
    ];
    assert_eq!(chain.pools().len(), expected.len());
    for (pool, (place, oracles)) in chain.pools().iter().zip(expected) {
        assert_eq!(pool.id.to_string(), format!("ethereum:{}", place.to_lowercase()));
        let of = |token| {
            let role = OracleRole::TokenUsd(token);
            let oracles = pool.oracles.iter().filter(move |oracle| oracle.role == role);
            oracles.map(|oracle| oracle.name.as_str()).collect::<Vec<_>>().join(" ")
        };
        let pair = pool.id.pair().map_or([0, 1], Pair::bytes);
        assert_eq!(pair.map(of), oracles, "{}", pool.id);
    }
    for (kind, configured) in [(FactoryKind::Curve3pool, THREE), (FactoryKind::CurveSusd, SUSD)] {
        let known = chain.factories().iter().filter(|known| known.kind == kind);
        let known: Vec<_> = known.map(|known| known.address.0).collect();
        assert_eq!(known, [configured.into_array()], "what is configured is what is known");
    }
}
