//! Answers in the form of Algebra Integral's pools, and the refusals with their codes.

use alloy::primitives::{Bytes, U256 as Word};
use alloy::sol_types::SolValue;
use exitgap_core::pools::Direction;

use super::*;

const POOL: Address = Address([6; 20]);
const FACTORY: Address = Address([7; 20]);
const PLUGIN: Address = Address([8; 20]);
const SQRT_PRICE: u128 = 79_204_398_818_407_624_677_577_427_391;

fn plan() -> PoolPlan {
    PoolPlan {
        id: PoolId::new("base".parse().unwrap(), POOL),
        key: None,
        base: Direction::ZeroForOne,
        fee: None,
        oracles: Vec::new(),
    }
}

fn factory(kind: FactoryKind) -> Vec<Factory> {
    vec![Factory { address: FACTORY, kind, fee_modules: Vec::new() }]
}

fn returned(data: Vec<u8>) -> Answer {
    Answer::Returned(Bytes::from(data))
}

fn word(number: impl Into<Word>) -> Answer {
    returned(number.into().abi_encode())
}

fn address(address: Address) -> Answer {
    word(Word::from_be_slice(&address.0))
}

/// The answers to the state calls of a pool with this plugin and these flags.
fn state(plugin: Address, flags: u8) -> Vec<Answer> {
    let (price, tick, fee) = (Word::from(SQRT_PRICE), -7_i32, 500_u16);
    vec![
        returned((price, tick, fee, u32::from(flags), 100_u16, true).abi_encode()),
        word(Word::from(5)),
        word(Word::from(500)),
        word(Word::from(60)),
        address(plugin),
    ]
}

fn identify(factories: &[Factory], state: Vec<Answer>) -> Claim<LinkedReader> {
    let plan = plan();
    let tokens = [Address([1; 20]), Address([2; 20]), FACTORY].map(address);
    let answers: Vec<Answer> = tokens.into_iter().chain(state).collect();
    assert_eq!(LinkedReader::probes(&plan, factories).len(), answers.len());
    LinkedReader::identify(&Candidate { plan: &plan, factories }, &answers)
}

#[test]
fn a_pool_is_known_by_its_factory_and_refused_with_a_plugin() {
    let known = factory(FactoryKind::AlgebraIntegral);
    let Claim::Is(recognised) = identify(&known, state(NOBODY, 0)) else { panic!("it is") };
    assert_eq!(recognised.proof.unwrap().target, FACTORY);
    let refused = |factories: &[Factory], state: Vec<Answer>| match identify(factories, state) {
        Claim::Refused(why) => why,
        other => panic!("{other:?}"),
    };
    assert!(refused(&known, state(PLUGIN, BEFORE_SWAP)).starts_with("dynamic_fee: "));
    assert!(refused(&known, state(PLUGIN, DYNAMIC_FEE)).starts_with("dynamic_fee: "));
    assert!(refused(&known, state(PLUGIN, 1 << 6)).starts_with("hook: its plugin 0x0808"));
    for other in [&[][..], &factory(FactoryKind::PancakeV3)] {
        assert!(refused(other, state(NOBODY, 0)).contains("[[chain.factory]]"));
    }
    let mut foreign = state(NOBODY, 0);
    foreign[0] = returned(vec![0; 224]);
    assert!(matches!(identify(&known, foreign), Claim::Foreign));
}

#[test]
fn price_and_ticks_are_joined_though_ticks_are_off_the_spacing() {
    let (reader, pool) = (LinkedReader { pool: POOL }, plan().id);
    let Ok(DecodedState::Unfinished(price)) = reader.decode(&pool, 0, &state(NOBODY, 0)) else {
        panic!("it lacks its ticks")
    };
    let tick = |total: u64, net: i128| {
        let (total, zero) = (Word::from(total), Word::ZERO);
        returned((total, net, -887_272_i32, 887_272_i32, zero, zero).abi_encode())
    };
    let read = |answers: &[Answer]| reader.decode_parts(&pool, &[-11, 13], answers);
    let parts = read(&[tick(5, 5), tick(5, -5)]).unwrap();
    let parts: Parts = parts.into_iter().map(|(key, part)| (key, part.unwrap())).collect();
    let joined = price.join(&parts).unwrap();
    let linked = ConcentratedLinked::from_state(&joined).unwrap();
    assert_eq!((linked.fee_pips(), linked.ranges().tick_spacing()), (500, 60));
    assert_eq!(LinkedReader::parts_of(&joined), Some(parts));
    assert_eq!(read(&[tick(0, 0), tick(5, -5)]).unwrap()[0], (-11, None));
    assert!(read(&[Answer::Reverted, tick(5, -5)]).is_err());
    // A plugin that is added later is refused as well.
    let plugged = reader.decode(&pool, 0, &state(PLUGIN, 0)).err().unwrap();
    assert_eq!(plugged.reason, MissingReason::PoolUnsupported);
    assert!(plugged.detail.contains("hook: "), "{plugged}");
    // The bitmap is independent of the spacing, so all words are read.
    assert_eq!(reader.index_calls().len(), 6_932);
}
