//! What facts say in place of a file of terms, and that none says nothing.

use super::*;
use crate::analytics::made_up::{observation, ranges, slot};
use crate::analytics::redemption::redemption;
use crate::exit::Exit;
use crate::ids::{Address, Word};
use crate::snapshot::Token;
use crate::units::SizeUsd;

const DOLLAR: u64 = 1_000_000;

/// A number as a word: the most significant byte first.
fn written(number: U256) -> Word {
    let mut bytes = [0; 32];
    for (eight, limb) in bytes.as_chunks_mut::<8>().0.iter_mut().rev().zip(number.as_limbs()) {
        *eight = limb.to_be_bytes();
    }
    Word(bytes)
}

fn fact(name: &str, contract: u8, word: U256) -> Fact {
    Fact {
        name: name.parse().unwrap(),
        contract: Address([contract; 20]),
        call: "0x5c975abb".to_owned(),
        words: vec![written(word), Word([0xff; 32])],
    }
}

/// A pool of tokens of six decimals worth two dollars each, with these facts.
fn with(facts: Vec<Fact>) -> Observation {
    let of = observation(slot(0), ranges(0, 5_000_000_000_000, 90_000_000_000_000));
    let (pool, chain, block) = (of.pool().clone(), of.chain(), of.block());
    let (state, oracles) = (of.state().clone(), of.oracles().to_vec());
    Observation::new(pool, chain, block, of.contract_tokens().to_vec(), state, oracles, facts)
        .unwrap()
}

fn terms() -> RedemptionTerms {
    let pays = Pays::InTurn { ahead: UsdMicros(0), per_day: [UsdMicros(1_000 * DOLLAR); 3] };
    RedemptionTerms { pays, fee_e8: 0, minimum: UsdMicros(0), capacity: None }
}

fn names() -> RedemptionFacts {
    let name = |name: &str| name.parse().unwrap();
    RedemptionFacts {
        capacity: Some(name("has")),
        ahead: Some(name("ahead")),
        fee: Some((name("fee"), 4)),
        paused: Some(name("paused")),
    }
}

fn told(has: u64, ahead: u64, fee: u64, paused: u64) -> Vec<Fact> {
    let of = |name, word: u64| fact(name, 9, U256::from(word));
    vec![of("ahead", ahead), of("fee", fee), of("has", has), of("paused", paused)]
}

#[test]
fn what_the_facts_say_counts_in_dollars_by_the_oracle() {
    let observation = with(told(300 * DOLLAR, 1_000 * DOLLAR, 25, 0));
    let (used, said) = names().said(&terms(), &observation, Direction::ZeroForOne);
    let said = said.unwrap();
    assert_eq!(said.capacity, Some(UsdMicros(600 * DOLLAR)), "two dollars each");
    assert_eq!(said.fee_e8, 250_000, "25 of ten thousand");
    let Pays::InTurn { ahead, .. } = said.pays else { panic!("in turn") };
    assert_eq!(ahead, UsdMicros(2_000 * DOLLAR));
    let says: Vec<&str> = used.iter().map(|one| one.says.as_str()).collect();
    assert_eq!(says, ["paused", "capacity", "ahead", "fee"]);
    assert_eq!(used[1].word, U256::from(300 * DOLLAR));
    assert_eq!(used[1].fact, observation.facts()[2], "it is the snapshot's");
    // 600 are redeemed after 2,000 others, a thousand a day; the rest is sold.
    let exit = Exit::of(&observation, Direction::ZeroForOne);
    let size = SizeUsd::from_micros(1_000 * DOLLAR).unwrap();
    let found = redemption(&exit, size, &said, 0).unwrap();
    assert_eq!(found.redeemed, UsdMicros(600 * DOLLAR));
    assert_eq!(found.wait_s[0], Some(2_600 * 86_400 / 1_000));
}

#[test]
fn where_it_is_paused_nobody_is_paid() {
    let observation = with(told(1, 1, 1, 1));
    let (used, said) = names().said(&terms(), &observation, Direction::ZeroForOne);
    assert_eq!(said, Err(FactError::Paused("paused".parse().unwrap())));
    assert_eq!((used.len(), used[0].word), (1, U256::ONE));
}

#[test]
fn a_fact_that_is_missing_is_never_zero() {
    let of = |facts| names().said(&terms(), &with(facts), Direction::ZeroForOne).1;
    for missing in ["ahead", "fee", "has", "paused"] {
        let mut facts = told(1, 1, 1, 0);
        facts.retain(|fact| fact.name.as_str() != missing);
        assert_eq!(of(facts), Err(FactError::Missing(missing.parse().unwrap())));
    }
    // Of two of one name nobody says which.
    let mut two = told(1, 1, 1, 0);
    two.push(fact("paused", 10, U256::ZERO));
    assert_eq!(of(two), Err(FactError::Missing("paused".parse().unwrap())));
    let mut empty = told(1, 1, 1, 0);
    empty[2].words.clear();
    assert_eq!(of(empty), Err(FactError::Missing("has".parse().unwrap())));
    let none = RedemptionFacts::default();
    let (used, said) = none.said(&terms(), &with(Vec::new()), Direction::ZeroForOne);
    assert_eq!((used, said), (Vec::new(), Ok(terms())));
}

#[test]
fn any_word_has_an_answer() {
    assert_eq!(share_e8(U256::from(10_000_u64), 4), Some(100_000_000));
    assert_eq!(share_e8(U256::from(10_001_u64), 4), None);
    assert_eq!(share_e8(U256::from(1_u64), 9), Some(1), "up");
    assert_eq!(share_e8(U256::MAX, 36), None);
    let fee = told(1, 1, 10_001, 0);
    let (_, said) = names().said(&terms(), &with(fee), Direction::ZeroForOne);
    assert_eq!(said, Err(FactError::Invalid("fee".parse().unwrap())));
    let observation = with(Vec::new());
    assert_eq!(in_usd(U256::MAX, &observation, 0, true), UsdMicros(u64::MAX));
    assert_eq!(in_usd(U256::ZERO, &observation, 0, true), UsdMicros(0));
}

#[test]
fn a_capacity_is_rounded_down_and_a_queue_up() {
    let of = with(Vec::new());
    let tokens = of.contract_tokens().to_vec();
    let tokens: Vec<_> = tokens.into_iter().map(|token| Token { decimals: 18, ..token }).collect();
    let (pool, chain, block) = (of.pool().clone(), of.chain(), of.block());
    let (state, oracles) = (of.state().clone(), of.oracles().to_vec());
    let with = |facts| {
        let (pool, tokens) = (pool.clone(), tokens.clone());
        let (state, oracles) = (state.clone(), oracles.clone());
        Observation::new(pool, chain, block, tokens, state, oracles, facts).unwrap()
    };
    // A token is worth two dollars: half of a millionth of one, and a unit more.
    let half = 500_000_000_000_u64;
    for (raw, down, up) in [(0, 0, 0), (1, 0, 1), (half - 1, 0, 1), (half, 1, 1), (half + 1, 1, 2)]
    {
        let (_, said) = names().said(&terms(), &with(told(raw, raw, 0, 0)), Direction::ZeroForOne);
        let said = said.unwrap();
        let Pays::InTurn { ahead, .. } = said.pays else { panic!("{said:?}") };
        assert_eq!((said.capacity, ahead), (Some(UsdMicros(down)), UsdMicros(up)), "{raw}");
    }
    let most = in_usd(U256::MAX, &with(Vec::new()), 0, false);
    assert_eq!(most, UsdMicros(u64::MAX), "more than there is of dollars");
}
