//! `examples/mainnet.toml`, as far as it can be checked without Ethereum.

use std::path::Path;

use alloy::primitives::{Address, B256, U256, address, b256, keccak256};
use alloy::sol_types::SolValue;
use exitgap_chain::config::FactoryKind;
use exitgap_core::ids::Pair;
use exitgap_core::snapshot::{ChainKind, OracleRole};
use exitgap_server::config::{Checked, EXAMPLE};

const USDC: Address = address!("A0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48");
const USDT: Address = address!("dAC17F958D2ee523a2206206994597C13D831ec7");
const WBTC: Address = address!("2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599");
const WETH: Address = address!("C02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2");

/// Curve's 3pool, which no factory made.
const THREE: Address = address!("bEbc44782C7dB0a1A60Cb6fe97d0b483032FF1C7");

/// The address the v3 factory gives a pool (`PoolAddress.sol`).
fn v3(tokens: [Address; 2], fee: u32) -> Address {
    const FACTORY: Address = address!("1F98431c8aD98523631AE4a59f267346ea31F984");
    const INIT_CODE_HASH: B256 =
        b256!("e34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54");
    let salt = keccak256((tokens[0], tokens[1], U256::from(fee)).abi_encode());
    FACTORY.create2(salt, INIT_CODE_HASH)
}

/// The address the v2 factory gives a pair (`UniswapV2Library.sol`).
fn v2(tokens: [Address; 2]) -> Address {
    const FACTORY: Address = address!("5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f");
    const INIT_CODE_HASH: B256 =
        b256!("96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f");
    FACTORY.create2(keccak256([tokens[0], tokens[1]].concat()), INIT_CODE_HASH)
}

#[test]
fn the_pools_are_where_the_factories_put_them_and_each_token_has_its_own_oracle() {
    let checked = Checked::parse(EXAMPLE, Path::new("mainnet.toml")).unwrap();
    let chain = &checked.plan.chains()[0];
    assert_eq!((chain.chain_id(), chain.tag().kind), (1, ChainKind::Live));
    let expected = [
        (v3([USDC, WETH], 500), ["usdc-usd", "eth-usd"]),
        (v3([USDC, WETH], 3000), ["usdc-usd", "eth-usd"]),
        (v3([WETH, USDT], 3000), ["eth-usd", "usdt-usd"]),
        (v3([WBTC, WETH], 3000), ["wbtc-btc btc-usd", "eth-usd"]),
        (THREE, ["dai-usd", "usdc-usd"]),
        (THREE, ["usdc-usd", "usdt-usd"]),
        (v2([USDC, WETH]), ["usdc-usd", "eth-usd"]),
    ];
    assert_eq!(chain.pools().len(), expected.len());
    for (pool, (address, oracles)) in chain.pools().iter().zip(expected) {
        assert_eq!(pool.id.contract().address().unwrap().0, address.into_array(), "{}", pool.id);
        let of = |token| {
            let role = OracleRole::TokenUsd(token);
            let oracles = pool.oracles.iter().filter(move |oracle| oracle.role == role);
            oracles.map(|oracle| oracle.name.as_str()).collect::<Vec<_>>().join(" ")
        };
        let pair = pool.id.pair().map_or([0, 1], Pair::bytes);
        assert_eq!(pair.map(of), oracles, "{}", pool.id);
    }
    let known = chain.factories().iter().filter(|known| known.kind == FactoryKind::Curve3pool);
    let known: Vec<_> = known.map(|known| known.address.0).collect();
    assert_eq!(known, [THREE.into_array()], "what is configured is what is known");
}
