//! The calls of trials of Curve's pools, and the conclusions from their outcomes.

use alloy::sol_types::SolCall;
use exitgap_core::U256;
use exitgap_core::ids::{Address, BlockHash};
use exitgap_core::pools::{DRule, Direction, NgParts};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{
    BlockRef, ChainKind, ChainTag, Observation, OracleReading, OracleRole, OracleSource, Symbol,
    Token,
};

use super::*;
use crate::abi::CurvePool;
use crate::pools::reader::PoolReader;
use crate::trial::{Outcome, Verdict};

const POOL: Address = Address([0x3c; 20]);

/// A sale of the contract's last coin for its first, a thousand units for 999.
fn sale() -> Sale {
    Sale {
        direction: Direction::OneForZero,
        pair: Pair::new(0, 2).unwrap(),
        amount_in: U256::from(1_000),
        amount_out: U256::from(999),
    }
}

fn returned(word: u64) -> Outcome {
    Outcome { success: true, data: U256::from(word).to_be_bytes::<32>().to_vec().into() }
}

fn failed() -> Outcome {
    Outcome { success: false, ..returned(999) }
}

/// An NG pool of three coins, with administrator's balances, viewed as the pair of the first and last coin.
pub(in crate::pools) fn pool() -> Observation {
    let parts = StableSwapParts {
        balances: vec![U256::from(2_000_000); 3],
        rates: vec![U256::from(10_u128.pow(30)); 3],
        amp: 20_000,
        a_precision: 100,
        d_rule: DRule::NPowN,
        less_one: true,
        fee: 1_000_000,
        admin_fee: 0,
        ng: Some(NgParts {
            offpeg_fee_multiplier: 20_000_000_000,
            admin_balances: [7, 8, 9].map(U256::from).to_vec(),
            asset_types: vec![0; 3],
        }),
    };
    let token =
        |last| Token { address: Address([last; 20]), decimals: 6, symbol: Symbol::clean("USD") };
    let reading = |token| OracleReading {
        role: OracleRole::TokenUsd(token),
        answer: U256::ONE,
        decimals: 0,
        source: OracleSource::Fixed,
    };
    let timestamp = Slot::FIRST.unix_s();
    Observation::new(
        format!("anvil:{POOL}.0-2").parse().unwrap(),
        ChainTag { caip2: "eip155:31337".parse().unwrap(), kind: ChainKind::Preview },
        BlockRef { hash: BlockHash([1; 32]), number: 1, timestamp },
        [1, 2, 3].map(token),
        StableSwap::new(parts).unwrap().into(),
        [0, 2].map(reading).to_vec(),
        Vec::new(),
    )
    .unwrap()
}

#[test]
fn ng_is_tried_with_the_coins_own_numbers_and_the_balance_that_was_sent() {
    let reader = NgReader { pool: POOL, asset_types: vec![0; 3] };
    let [call, rates] = <[Vec<u8>; 2]>::try_from(reader.trial_calls(&sale())).unwrap();
    assert!(CurvePool::stored_ratesCall::abi_decode(&rates).is_ok());
    let asked = CurvePool::exchange_receivedCall::abi_decode(&call).unwrap();
    assert_eq!((asked.i, asked.j, asked.dx), (2, 0, U256::from(1_000)));
    // The contract computes the amount sent as its balance minus its recorded balances, including the administrator's.
    let held = |token| reader.trial_balance(&pool(), &sale(), token);
    assert_eq!(held(1), Some(U256::from(2_000_000 + 9 + 1_000)));
    assert_eq!(held(0), Some(U256::from(2_000_000 + 7)));

    let judged = |outcome| reader.judge(&pool(), &sale(), &[outcome, rates_of(30)]);
    assert_eq!(judged(returned(999)), Verdict::Same);
    for other in [998, 1_000] {
        let verdict = judged(returned(other));
        let words = format!("pays {other} for 1000, but the computed fill is 999");
        assert!(matches!(&verdict, Verdict::Other(why) if why.contains(&words)), "{verdict:?}");
        // A vault replaced by our ledger reports another rate, so another amount is paid.
        let verdict = reader.judge(&pool(), &sale(), &[returned(other), rates_of(29)]);
        assert!(matches!(&verdict, Verdict::Unknown(why) if why.contains("rates")), "{verdict:?}");
        let verdict = reader.judge(&pool(), &sale(), &[returned(other), failed()]);
        assert!(matches!(verdict, Verdict::Unknown(_)), "{verdict:?}");
    }
    assert!(matches!(judged(failed()), Verdict::Unknown(_)), "a ledger of ours it did not like");
    assert!(matches!(reader.judge(&pool(), &sale(), &[]), Verdict::Unknown(_)));
}

/// The contract's answer with three rates of ten to this power.
fn rates_of(exponent: u32) -> Outcome {
    let rates = vec![U256::from(10_u128.pow(exponent)); 3];
    Outcome { success: true, data: CurvePool::stored_ratesCall::abi_encode_returns(&rates).into() }
}

#[test]
fn the_quote_of_three_is_its_fill_to_one_unit() {
    let coins = [1, 2, 3].map(|last| Address([last; 20])).to_vec();
    let rule = plain::PlainRule::THREE;
    let reader = PlainReader { pool: POOL, coins, rule };
    let [call] = <[Vec<u8>; 1]>::try_from(reader.trial_calls(&sale())).unwrap();
    let asked = CurvePool::get_dyCall::abi_decode(&call).unwrap();
    assert_eq!((asked.i, asked.j, asked.dx), (2, 0, U256::from(1_000)));
    let judged = |outcome| reader.judge(&pool(), &sale(), &[outcome]);
    for near in [998, 999, 1_000] {
        assert_eq!(judged(returned(near)), Verdict::Same, "{near}");
    }
    for far in [997, 1_001] {
        assert!(matches!(judged(returned(far)), Verdict::Other(_)), "{far}");
    }
    assert!(matches!(judged(failed()), Verdict::Unknown(_)));
}
