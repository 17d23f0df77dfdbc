use exitgap_core::U256;
use exitgap_core::ids::{Address, BlockHash, Caip2, Word};
use exitgap_core::pools::{Concentrated, ConstantProduct, FeeRate, PoolState};
use exitgap_core::snapshot::{
    BlockRef, ChainKind, ChainTag, OracleReading, OracleRole, OracleSource, Symbol, Token,
};

use super::*;

/// A pool at this address, with these symbols and the fact of a factory.
fn observed(place: u8, symbols: [&str; 2], word: Option<&str>, state: PoolState) -> Observation {
    let token = |index: u8| Token {
        address: Address([index + 1; 20]),
        decimals: 18,
        symbol: Symbol::clean(symbols[usize::from(index)]),
    };
    let reading = |index: u8| OracleReading {
        role: OracleRole::TokenUsd(index),
        answer: U256::ONE,
        decimals: 0,
        source: OracleSource::Fixed,
    };
    let fact = word.map(|name| Fact {
        name: name.parse().unwrap(),
        contract: Address([9; 20]),
        call: "0x12345678".to_owned(),
        words: vec![Word([place; 32])],
    });
    Observation::new(
        PoolId::new("anvil".parse().unwrap(), Address([place; 20])),
        ChainTag { caip2: Caip2(31_337), kind: ChainKind::Preview },
        BlockRef { hash: BlockHash([1; 32]), number: 1, timestamp: 1 },
        [token(0), token(1)],
        state,
        vec![reading(0), reading(1)],
        fact.into_iter().collect(),
    )
    .unwrap()
}

fn ranges(fee_pips: u32) -> PoolState {
    Concentrated::new(U256::ONE << 96, 0, 0, fee_pips, 60, Vec::new()).unwrap().into()
}

fn pair(numerator: u64, denominator: u64) -> PoolState {
    ConstantProduct::new([1, 1], FeeRate { numerator, denominator }).unwrap().into()
}

fn name(word: Option<&str>, state: PoolState) -> String {
    PoolName::from_observation(&observed(7, ["ONE", "TWO"], word, state)).name()
}

#[test]
fn venue_and_fee_are_the_name() {
    for (word, state, expected) in [
        (Some("uniswap_v3"), ranges(500), "Uniswap v3 0.05%"),
        (Some("uniswap_v3"), ranges(3_000), "Uniswap v3 0.3%"),
        (Some("pancake_v3"), ranges(500), "PancakeSwap v3 0.05%"),
        (Some("sushi_v3"), ranges(10_000), "SushiSwap v3 1%"),
        (Some("slipstream"), ranges(1), "Aerodrome Slipstream 0.0001%"),
        (Some("uniswap_v2"), pair(3, 1_000), "Uniswap v2 0.3%"),
        (Some("uniswap_v2"), pair(0, 1_000), "Uniswap v2 0%"),
        // The venue is unknown if there is no factory fact, or only one for another kind of pool.
        (None, ranges(500), "v3-type pool 0.05%"),
        (Some("uniswap_v2"), ranges(500), "v3-type pool 0.05%"),
        (Some("uniswap_v9"), ranges(500), "v3-type pool 0.05%"),
        (None, pair(1, 3), "v2-type pool 33.33333333%"),
    ] {
        assert_eq!(name(word, state), expected);
    }
    let known =
        PoolName::from_observation(&observed(7, ["ONE", "TWO"], Some("uniswap_v3"), ranges(500)));
    assert_eq!(known.venue.as_deref(), Some("Uniswap v3"));
    assert_eq!(known.fee_pct.unwrap().as_str(), "0.05");
    assert!(known.is_lasting);
    let unknown = PoolName::from_observation(&observed(7, ["ONE", "TWO"], None, ranges(500)));
    assert_eq!((unknown.venue, unknown.is_lasting), (None, false));
}

#[test]
fn the_venues_of_a_kind_are_told_by_variety_and_chain() {
    let told = |protocol, chain, variety| venue(protocol, None, chain, variety).unwrap();
    assert_eq!(told("concentrated_v4", 1, None), "Uniswap v4");
    assert_eq!(told("concentrated_linked", 1, None), "Algebra Integral");
    assert_eq!(told("solidly", 8_453, Some("stable")), "Aerodrome v2 stable");
    assert_eq!(told("solidly", 10, Some("volatile")), "Velodrome v2 volatile");
    assert_eq!(told("stableswap", 1, Some("StableSwap-NG")), "Curve StableSwap-NG");
    assert_eq!(told("cryptoswap", 1, Some("Tricrypto-NG")), "Curve Tricrypto-NG");
    assert_eq!(told("weighted", 1, Some("v2")), "Balancer v2 weighted");
    assert_eq!(told("stable_v3", 1, Some("v3")), "Balancer v3 stable");
    assert_eq!(venue("constant_product", None, 1, None), None);
}

#[test]
fn no_two_rows_have_one_name() {
    let pools = [
        observed(0x10, ["ONE", "TWO"], Some("uniswap_v3"), ranges(500)),
        observed(0x11, ["ONE", "TWO"], Some("uniswap_v3"), ranges(3_000)),
        observed(0x12, ["ONE", "TWO"], Some("pancake_v3"), ranges(500)),
        // Two pools that look the same; one of them has the tokens in the other order.
        observed(0x13, ["ONE", "TWO"], Some("uniswap_v3"), ranges(500)),
        observed(0x14, ["TWO", "ONE"], Some("uniswap_v3"), ranges(500)),
        observed(0x15, ["ONE", "SIX"], Some("uniswap_v3"), ranges(500)),
    ];
    let labels: Vec<_> =
        pools.iter().map(|pool| (pool.pool(), PoolLabels::from_observation(pool))).collect();
    let listed: Vec<_> = labels.iter().map(|(pool, labels)| (*pool, labels)).collect();
    let short =
        |digits: &str| format!("Uniswap v3 0.05% (0x{}…{digits}{digits})", digits.repeat(2));
    assert_eq!(
        names_apart(&listed),
        [
            short("10"),
            "Uniswap v3 0.3%".to_owned(),
            "PancakeSwap v3 0.05%".to_owned(),
            short("13"),
            short("14"),
            "Uniswap v3 0.05%".to_owned(),
        ]
    );

    // Someone can create addresses with the same first and last digits on purpose. Then the full address is shown.
    let ids = ["00", "11"].map(|middle| format!("anvil:0x{:0<20}{middle}{:0<18}", "12", "34"));
    let ids = ids.map(|id| id.parse::<PoolId>().unwrap());
    let twins: Vec<_> = ids.iter().map(|id| (id, &labels[0].1)).collect();
    let names = names_apart(&twins);
    assert_ne!(names[0], names[1]);
    assert!(
        names[0].ends_with(&format!("({})", &ids[0].to_string()["anvil:".len()..])),
        "{names:?}"
    );
    // Two pairs of one contract.
    let pairs = ["0-1", "1-2"].map(|pair| format!("{}.{pair}", ids[0]).parse::<PoolId>().unwrap());
    let twins: Vec<_> = pairs.iter().map(|id| (id, &labels[0].1)).collect();
    assert_eq!(names_apart(&twins)[1], "Uniswap v3 0.05% (0x1200…0000.1-2)");
}
