//! The examples of chains other than Ethereum, as far as they can be checked without these chains.

use std::path::Path;

use alloy::primitives::{Address, B256, U256, address, b256, keccak256};
use alloy::sol_types::SolValue;
use exitgap_core::snapshot::ChainKind;
use exitgap_server::config::CheckedConfig;

/// The factory of Uniswap v3 on Arbitrum One and OP Mainnet.
const UNISWAP: Address = address!("1F98431c8aD98523631AE4a59f267346ea31F984");
/// The factory of Uniswap v3 on Base.
const UNISWAP_ON_BASE: Address = address!("33128a8fC17869897dcE68Ed026d694621f6FDfD");
const UNISWAP_CODE: B256 =
    b256!("e34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54");
/// The deployer contract of `PancakeSwap` v3's pools.
const PANCAKE: Address = address!("41ff9AA7e16B8B1a8a8dc4f0eFacd93D02d071c9");
const PANCAKE_CODE: B256 =
    b256!("6ce8eb472fa82df5469c6ab6d485f17c3ad13c8cd7af59b3d4a8026c5ce0f7e2");
/// The init code hash of Uniswap v2's pairs.
const PAIR_CODE: B256 = b256!("96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f");
/// WETH on Base and on OP Mainnet.
const WETH: Address = address!("4200000000000000000000000000000000000006");

/// The address of a deployer's pool of these tokens and this fee.
fn placed(deployer: Address, code: B256, tokens: [Address; 2], fee: u32) -> String {
    let salt = keccak256((tokens[0], tokens[1], U256::from(fee)).abi_encode());
    format!("{:#x}", deployer.create2(salt, code))
}

/// The address of the pair of these tokens at a factory of Uniswap v2 pairs.
fn paired(factory: Address, tokens: [Address; 2]) -> String {
    format!("{:#x}", factory.create2(keccak256([tokens[0], tokens[1]].concat()), PAIR_CODE))
}

/// Reads an example; returns the chain's id and the contracts of its pools.
fn read(slug: &str) -> (u64, Vec<String>) {
    let name = format!("{slug}.toml");
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples"));
    let text = std::fs::read_to_string(folder.join(&name)).unwrap();
    let checked = CheckedConfig::parse(&text, Path::new(&name)).unwrap();
    let [chain] = checked.plan.chains() else { panic!("{name} has one chain") };
    assert_eq!((chain.slug().as_str(), chain.tag().kind), (slug, ChainKind::Live));
    assert!(chain.sequencer().is_some(), "{name}: the sequencer is watched");
    for line in text.lines() {
        if let Some((_, quoted)) = line.split_once("= \"0x")
            && quoted.len() == 41
        {
            let written = format!("0x{}", quoted.trim_end_matches('"'));
            Address::parse_checksummed(&written, None)
                .unwrap_or_else(|error| panic!("{written}: {error}"));
        }
    }
    let prefix = format!("{slug}:");
    let contract = |id: String| id.strip_prefix(&prefix).unwrap().to_owned();
    (chain.chain_id(), chain.pools().iter().map(|pool| contract(pool.id.to_string())).collect())
}

#[test]
fn the_pools_of_the_other_chains_are_where_their_factories_put_them() {
    // The addresses of these pools follow from no rule: Slipstream, Aerodrome, Velodrome, Curve and Balancer. The
    // configuration parser checks that the id of a Uniswap v4 pool is the hash of its key.
    let told = str::to_owned;
    let (usdc, sushi) = (
        address!("833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"),
        address!("c35DADB65012eC5796536bD9864eD8773aBc74C4"),
    );
    let base = [
        placed(UNISWAP_ON_BASE, UNISWAP_CODE, [WETH, usdc], 500),
        placed(PANCAKE, PANCAKE_CODE, [WETH, usdc], 100),
        told("0xb2cc224c1c9fee385f8ad6a55b4d94e92359dc59"),
        told("0x96d4b53a38337a5733179751781178a2613306063c511b78cd02684739288c0a"),
        placed(sushi, UNISWAP_CODE, [WETH, usdc], 500),
        told("0xcdac0d6c6c59727a65f871236188350531885c43"),
        paired(address!("8909Dc15e40173Ff4699343b6eB8132c65e18eC6"), [WETH, usdc]),
        told("0x011f26a479d686e64e35b939c64933b9e6c445c9"),
        told("0xaf5b7999f491c42c05b5a2ca80f1d200d617cc8c.1-4"),
    ];
    assert_eq!(read("base"), (8_453, base.to_vec()));
    let tokens = [
        address!("82aF49447D8a07e3bd95BD0d56f35241523fBab1"),
        address!("af88d065e77c8cC2239327C5EDb3A432268e5831"),
    ];
    let arbitrum = [
        placed(UNISWAP, UNISWAP_CODE, tokens, 500),
        placed(PANCAKE, PANCAKE_CODE, tokens, 500),
        placed(address!("1af415a1EbA07a4986a52B6f2e7dE7003D82231e"), UNISWAP_CODE, tokens, 500),
        told("0x864abca0a6202dba5b8868772308da953ff125b0f95015adbf89aaf579e903a8"),
        paired(address!("f1D7CC64Fb4452F05c498126312eBE29f30Fbcf9"), tokens),
        told("0xec090cf6dd891d2d014bea6edada6e05e025d93d"),
    ];
    assert_eq!(read("arbitrum"), (42_161, arbitrum.to_vec()));
    let tokens = [address!("0b2C639c533813f4Aa9D7837CAf62653d097Ff85"), WETH];
    let optimism = [
        placed(UNISWAP, UNISWAP_CODE, tokens, 500),
        told("0x51bf4cc5b8d9f7f759e41f572fe2a25bc2aeb42432bf12544a350595e5c8bb43"),
        paired(address!("0c3c1c532F1e39EdF36BE9Fe0bE1410313E074Bf"), tokens),
        told("0x0493bf8b6dbb159ce2db2e0e8403e753abd1235b"),
    ];
    assert_eq!(read("optimism"), (10, optimism.to_vec()));
}
