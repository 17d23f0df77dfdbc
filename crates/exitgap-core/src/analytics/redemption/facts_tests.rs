//! Facts replace numbers of the terms, and a missing fact leaves no answer.

use super::*;
use crate::analytics::made_up::{observation, ranges, slot};
use crate::analytics::redemption::{RedemptionAsset, redemption};
use crate::exit::Exit;
use crate::ids::{Address, Word};
use crate::snapshot::Token;
use crate::units::SizeUsd;

const DOLLAR: u64 = 1_000_000;

/// A number as a 32-byte word, most significant byte first.
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

/// A pool of two tokens with six decimals worth two dollars each, with these facts.
fn with(facts: Vec<Fact>) -> Observation {
    let of = observation(slot(0), ranges(0, 5_000_000_000_000, 90_000_000_000_000));
    let (pool, chain, block) = (of.pool().clone(), of.chain(), of.block());
    let (state, oracles) = (of.state().clone(), of.oracles().to_vec());
    Observation::new(pool, chain, block, of.contract_tokens().to_vec(), state, oracles, facts)
        .unwrap()
}

fn terms() -> RedemptionTerms {
    let pays = Pays::InTurn { ahead: UsdMicros(0), per_day: [UsdMicros(1_000 * DOLLAR); 3] };
    RedemptionTerms { pays, fee_e8: 0, minimum: UsdMicros(0), capacity: None, worth: None }
}

fn names() -> RedemptionFacts {
    let name = |name: &str| name.parse().unwrap();
    RedemptionFacts {
        capacity: Some(name("has")),
        ahead: Some(name("ahead")),
        fee: Some((name("fee"), 4)),
        paused: Some(name("paused")),
        ..RedemptionFacts::default()
    }
}

fn told(has: u64, ahead: u64, fee: u64, paused: u64) -> Vec<Fact> {
    let of = |name, word: u64| fact(name, 9, U256::from(word));
    vec![of("ahead", ahead), of("fee", fee), of("has", has), of("paused", paused)]
}

#[test]
fn what_the_facts_say_counts_in_dollars_by_the_oracle() {
    let observation = with(told(300 * DOLLAR, 1_000 * DOLLAR, 25, 0));
    let (used, said) = names().said(&terms(), &observation, Direction::ZeroForOne, None);
    let said = said.unwrap();
    assert_eq!(said.capacity, Some(UsdMicros(600 * DOLLAR)), "two dollars each");
    assert_eq!(said.fee_e8, 250_000, "25 of ten thousand");
    let Pays::InTurn { ahead, .. } = said.pays else { panic!("in turn") };
    assert_eq!(ahead, UsdMicros(2_000 * DOLLAR));
    let says: Vec<&str> = used.iter().map(|one| one.says.as_str()).collect();
    assert_eq!(says, ["paused", "capacity", "ahead", "fee"]);
    assert_eq!(used[1].word, U256::from(300 * DOLLAR));
    assert_eq!(used[1].fact, observation.facts()[2], "it is the snapshot's");
    // 600 are redeemed behind a queue of 2,000, at a thousand a day; the rest is sold.
    let exit = Exit::from_pool(&observation, Direction::ZeroForOne);
    let size = SizeUsd::from_micros(1_000 * DOLLAR).unwrap();
    let found = redemption(&exit, size, &said, 0).unwrap();
    assert_eq!(found.redeemed, UsdMicros(600 * DOLLAR));
    assert_eq!(found.wait_s[0], Some(2_600 * 86_400 / 1_000));
}

#[test]
fn where_it_is_paused_nobody_is_paid() {
    let observation = with(told(1, 1, 1, 1));
    let (used, said) = names().said(&terms(), &observation, Direction::ZeroForOne, None);
    assert_eq!(said, Err(FactError::Paused("paused".parse().unwrap())));
    assert_eq!((used.len(), used[0].word), (1, U256::ONE));
}

#[test]
fn a_fact_that_is_missing_is_never_zero() {
    let of = |facts| names().said(&terms(), &with(facts), Direction::ZeroForOne, None).1;
    for missing in ["ahead", "fee", "has", "paused"] {
        let mut facts = told(1, 1, 1, 0);
        facts.retain(|fact| fact.name.as_str() != missing);
        assert_eq!(of(facts), Err(FactError::Missing(missing.parse().unwrap())));
    }
    // Two facts with one name are ambiguous.
    let mut two = told(1, 1, 1, 0);
    two.push(fact("paused", 10, U256::ZERO));
    assert_eq!(of(two), Err(FactError::Missing("paused".parse().unwrap())));
    let mut empty = told(1, 1, 1, 0);
    empty[2].words.clear();
    assert_eq!(of(empty), Err(FactError::Missing("has".parse().unwrap())));
    let none = RedemptionFacts::default();
    let (used, said) = none.said(&terms(), &with(Vec::new()), Direction::ZeroForOne, None);
    assert_eq!((used, said), (Vec::new(), Ok(terms())));
}

#[test]
fn any_word_has_an_answer() {
    assert_eq!(share_e8(U256::from(10_000_u64), 4), Some(100_000_000));
    assert_eq!(share_e8(U256::from(10_001_u64), 4), None);
    assert_eq!(share_e8(U256::from(1_u64), 9), Some(1), "up");
    assert_eq!(share_e8(U256::MAX, 36), None);
    let fee = told(1, 1, 10_001, 0);
    let (_, said) = names().said(&terms(), &with(fee), Direction::ZeroForOne, None);
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
    // A token is worth two dollars, so half a token is a dollar. Values around half of a millionth, with both
    // roundings.
    let half = 500_000_000_000_u64;
    for (raw, down, up) in [(0, 0, 0), (1, 0, 1), (half - 1, 0, 1), (half, 1, 1), (half + 1, 1, 2)]
    {
        let (_, said) =
            names().said(&terms(), &with(told(raw, raw, 0, 0)), Direction::ZeroForOne, None);
        let said = said.unwrap();
        let Pays::InTurn { ahead, .. } = said.pays else { panic!("{said:?}") };
        assert_eq!((said.capacity, ahead), (Some(UsdMicros(down)), UsdMicros(up)), "{raw}");
    }
    let most = in_usd(U256::MAX, &with(Vec::new()), 0, false);
    assert_eq!(most, UsdMicros(u64::MAX), "more than there is of dollars");
}

/// Fact names for amounts in an asset.
fn in_asset(asset: RedemptionAsset) -> RedemptionFacts {
    let name = |name: &str| Some(name.parse().unwrap());
    RedemptionFacts {
        nav: name("nav"),
        capacity_asset: name("held"),
        asset: Some(asset),
        ..RedemptionFacts::default()
    }
}

fn at_once() -> RedemptionTerms {
    RedemptionTerms { pays: Pays::AtOnce, ..terms() }
}

#[test]
fn a_vault_pays_by_its_own_word_and_as_far_as_it_holds_the_asset() {
    // A token worth two dollars pays 1.05 of an asset with eighteen decimals worth 1.90. The vault holds 210 of the
    // asset.
    let e18 = 1_000_000_000_000_000_000_u64;
    let asset = RedemptionAsset::Priced { decimals: 18, usd: UsdMicros(1_900_000) };
    let held = U256::from(u128::from(e18) * 210);
    let of = with(vec![fact("held", 9, held), fact("nav", 9, U256::from(e18 / 100 * 105))]);
    let (used, said) = in_asset(asset).said(&at_once(), &of, Direction::ZeroForOne, None);
    let said = said.unwrap();
    let says: Vec<&str> = used.iter().map(|one| one.says.as_str()).collect();
    assert_eq!(says, ["nav", "capacity_asset"]);
    // 210 of the asset pay for 200 tokens, which are worth 400 dollars at the oracle price and bring 399.
    assert_eq!(said.capacity, Some(UsdMicros(400 * DOLLAR)));
    assert_eq!(said.worth.unwrap().of_token(of.prices()[0]), UsdMicros(1_995_000));
    let exit = Exit::from_pool(&of, Direction::ZeroForOne);
    let found = |usd: u64| {
        redemption(&exit, SizeUsd::from_micros(usd * DOLLAR).unwrap(), &said, 0).unwrap()
    };
    assert_eq!(found(400).later, Some(UsdMicros(399 * DOLLAR)));
    assert_eq!((found(400).redeemed, found(400).beside.is_none()), (UsdMicros(400 * DOLLAR), true));
    assert_eq!(found(500).redeemed, UsdMicros(400 * DOLLAR));
    // The fee is deducted from the payout.
    let dear = RedemptionTerms { fee_e8: 50_000_000, ..said.clone() };
    let half = redemption(&exit, SizeUsd::from_micros(400 * DOLLAR).unwrap(), &dear, 0).unwrap();
    assert_eq!(half.later, Some(UsdMicros(199_500_000)));
}

#[test]
fn an_asset_is_a_token_of_the_pool_or_has_a_price_of_its_own() {
    let facts =
        vec![fact("held", 9, U256::from(9 * DOLLAR)), fact("nav", 9, U256::from(DOLLAR / 2))];
    let of = with(facts);
    let other = of.tokens()[1].address;
    // A token worth two dollars pays half a token worth two dollars: nine of those pay for eighteen.
    let token = in_asset(RedemptionAsset::Token(other));
    let said = token.said(&at_once(), &of, Direction::ZeroForOne, None).1.unwrap();
    assert_eq!(said.worth.unwrap().of_token(of.prices()[0]), UsdMicros(DOLLAR));
    assert_eq!(said.capacity, Some(UsdMicros(36 * DOLLAR)));
    // Without the rate fact, a dollar pays a dollar.
    let held = RedemptionFacts { nav: None, ..token };
    let said = held.said(&at_once(), &of, Direction::ZeroForOne, None).1.unwrap();
    assert_eq!((said.worth, said.capacity), (None, Some(UsdMicros(18 * DOLLAR))));
    let stranger = Address([0x77; 20]);
    let said = in_asset(RedemptionAsset::Token(stranger)).said(
        &at_once(),
        &of,
        Direction::ZeroForOne,
        None,
    );
    assert_eq!(said, (Vec::new(), Err(FactError::UnknownAsset(stranger))));
    // A token that pays nothing is invalid. Arbitrary words never cause a panic.
    let priced = RedemptionAsset::Priced { decimals: 0, usd: UsdMicros(u64::MAX) };
    let of = |nav, held| {
        let facts = with(vec![fact("held", 9, held), fact("nav", 9, nav)]);
        in_asset(priced).said(&at_once(), &facts, Direction::ZeroForOne, None).1
    };
    assert_eq!(of(U256::ZERO, U256::MAX), Err(FactError::Invalid("nav".parse().unwrap())));
    let said = of(U256::MAX, U256::MAX).unwrap();
    assert_eq!(said.worth.unwrap().of_token(with(Vec::new()).prices()[0]), UsdMicros(u64::MAX));
    assert_eq!(of(U256::ONE, U256::ZERO).unwrap().capacity, Some(UsdMicros(0)));
}

#[test]
fn a_recorded_pace_takes_the_place_of_the_terms() {
    let names = RedemptionFacts { recorded_pace: true, ..names() };
    let of = with(told(300 * DOLLAR, 1_000 * DOLLAR, 0, 0));
    let said = |pace| names.said(&terms(), &of, Direction::ZeroForOne, pace).1;
    assert_eq!(said(None), Err(FactError::UnknownPace));
    let raw = |number: u64| U256::from(number);
    let paced = said(Some(Pace([raw(0), raw(10 * DOLLAR), raw(25 * DOLLAR + 1)]))).unwrap();
    let Pays::InTurn { per_day, .. } = paced.pays else { panic!("in turn") };
    assert_eq!(per_day, [0, 20 * DOLLAR, 50 * DOLLAR + 2].map(UsdMicros));
    // If the terms contain a pace of their own, the recorded pace is ignored.
    let own = RedemptionFacts { recorded_pace: false, ..names };
    let paced = own.said(&terms(), &of, Direction::ZeroForOne, Some(Pace([raw(1); 3]))).1.unwrap();
    let Pays::InTurn { per_day, .. } = paced.pays else { panic!("in turn") };
    assert_eq!(per_day, [UsdMicros(1_000 * DOLLAR); 3]);
}
