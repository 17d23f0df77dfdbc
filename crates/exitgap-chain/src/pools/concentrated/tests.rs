//! Pools of each dialect with answers like those of their contracts. Prices and ticks are those of a recorded pool;
//! values that no fill needs are arbitrary.

use alloy::primitives::{Bytes, U256 as Word};
use alloy::sol_types::SolValue;
use exitgap_core::U256;
use exitgap_core::pools::{Direction, Tick};

use super::*;
use crate::config::{FactoryKind, PoolPlan};

const POOL: Address = Address([6; 20]);
const FACTORY: Address = Address([7; 20]);
const MODULE: Address = Address([8; 20]);
const TOKENS: [Address; 2] = [Address([1; 20]), Address([2; 20])];
const SQRT_PRICE: u128 = 79_204_398_818_407_624_677_577_427_391;
const LIQUIDITY: u128 = 2_235_294_060_834_189_178_166;

fn pool() -> PoolId {
    PoolId::new("base".parse().unwrap(), POOL)
}

fn plan() -> PoolPlan {
    PoolPlan { id: pool(), key: None, base: Direction::ZeroForOne, fee: None, oracles: Vec::new() }
}

fn of(kind: FactoryKind) -> Dialect {
    Dialect::from_kind(kind).unwrap()
}

fn factory(kind: FactoryKind) -> Factory {
    Factory { address: FACTORY, kind, fee_modules: vec![MODULE] }
}

fn returned(data: Vec<u8>) -> Answer {
    Answer::Returned(Bytes::from(data))
}

fn slot0(dialect: Dialect) -> Answer {
    let (price, tick) = (Word::from(SQRT_PRICE), -7_i32);
    let (index, cardinality, next) = (3_u16, 10_u16, 11_u16);
    returned(match dialect {
        Dialect::Uniswap | Dialect::Sushi => {
            (price, tick, index, cardinality, next, 0x66_u32, true).abi_encode()
        }
        // Each direction's protocol fee has 16 bits.
        Dialect::Pancake => {
            (price, tick, index, cardinality, next, 216_272_100_u32, true).abi_encode()
        }
        Dialect::Slipstream => (price, tick, index, cardinality, next, true).abi_encode(),
    })
}

fn word(number: impl Into<Word>) -> Answer {
    returned(number.into().abi_encode())
}

/// The answers to the probes of a pool with tick spacing 1.
fn probed(slot0: Answer) -> Vec<Answer> {
    let address = |address: Address| word(Word::from_be_slice(&address.0));
    vec![
        address(TOKENS[0]),
        address(TOKENS[1]),
        address(FACTORY),
        slot0,
        word(Word::from(LIQUIDITY)),
        word(Word::from(100)),
        word(Word::ONE),
        word(Word::ZERO),
    ]
}

fn identify(factories: &[Factory], answers: &[Answer]) -> Claim<TickedReader> {
    let plan = plan();
    let candidate = Candidate { plan: &plan, factories };
    TickedReader::identify(&candidate, answers)
}

fn identified(kind: FactoryKind) -> (TickedReader, Option<Call>) {
    let answers = probed(slot0(of(kind)));
    let Claim::Is(recognised) = identify(&[factory(kind)], &answers) else { panic!() };
    assert_eq!(recognised.tokens, TOKENS);
    (recognised.reader, recognised.proof)
}

fn refused(factories: &[Factory], dialect: Dialect) -> String {
    match identify(factories, &probed(slot0(dialect))) {
        Claim::Refused(why) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_dialect_is_known_by_the_factory_and_never_by_its_shape() {
    let uniswap = identify(&[], &probed(slot0(Dialect::Uniswap)));
    assert!(matches!(uniswap, Claim::Is(RecognisedPool { proof: None, .. })), "{uniswap:?}");
    for (kind, name, foreign) in [
        (FactoryKind::PancakeV3, "PancakeSwap v3", Dialect::Slipstream),
        (FactoryKind::Slipstream, "Slipstream", Dialect::Uniswap),
    ] {
        let (reader, proof) = identified(kind);
        assert!(reader.name().ends_with(name), "{}", reader.name());
        // The factory is asked with the two tokens.
        let proof = proof.unwrap();
        assert_eq!((proof.target, proof.data.len()), (FACTORY, 4 + 3 * 32));
        let unknown = refused(&[], of(kind));
        assert!(unknown.contains(name) && unknown.contains("[[chain.factory]]"), "{unknown}");
        assert!(unknown.contains(&FACTORY.to_string()), "{unknown}");
        let other = refused(&[factory(kind)], foreign);
        assert!(other.contains("does not respond like a pool of that factory"), "{other}");
    }
    // A contract that answers none of these calls is not such a pool.
    assert!(matches!(identify(&[], &vec![Answer::Reverted; 8]), Claim::Foreign));
}

#[test]
fn prices_are_read_in_each_dialect() {
    for kind in [FactoryKind::PancakeV3, FactoryKind::Slipstream] {
        let (reader, _) = identified(kind);
        let mut answers = vec![slot0(of(kind)), word(Word::from(LIQUIDITY))];
        answers.push(word(Word::from(100)));
        if kind == FactoryKind::Slipstream {
            answers.push(word(Word::ZERO));
        }
        assert_eq!(reader.state_calls().len(), answers.len());
        let read = Price {
            sqrt_price_x96: U256::from(SQRT_PRICE),
            tick: -7,
            liquidity: LIQUIDITY,
            fee_pips: 100,
            tick_spacing: 1,
        };
        assert_eq!(reader.price(&pool(), &answers), Ok(read));
        // Words in another dialect's form are refused.
        let other = match kind {
            FactoryKind::PancakeV3 => Dialect::Slipstream,
            _ => Dialect::Pancake,
        };
        answers[0] = slot0(other);
        assert!(reader.price(&pool(), &answers).is_err());
    }
}

#[test]
fn a_fee_from_a_module_of_unknown_rules_is_refused_by_name() {
    let (reader, _) = identified(FactoryKind::Slipstream);
    let read = |module: Answer| {
        let answers = [
            slot0(Dialect::Slipstream),
            word(Word::from(LIQUIDITY)),
            word(Word::from(421)),
            module,
        ];
        reader.price(&pool(), &answers).err()
    };
    let of = |module: Address| word(Word::from_be_slice(&module.0));
    assert_eq!(read(of(MODULE)), None);
    assert_eq!(read(of(Address([0; 20]))), None);
    let unknown = read(of(Address([9; 20]))).unwrap();
    assert_eq!(unknown.reason, MissingReason::PoolUnsupported);
    assert!(unknown.detail.contains("dynamic_fee"), "{unknown}");
    assert_eq!(read(Answer::Reverted).unwrap().reason, MissingReason::CallReverted);
}

#[test]
fn ticks_are_read_in_each_dialect_and_their_other_words_touch_nothing() {
    let (gross, net) = (1_565_033_894_100_570_301_u128, -1_565_033_894_100_570_301_i128);
    let [a, b, c] = [11_u32, 12, 13].map(Word::from);
    let eight = returned((gross, net, a, b, -5_i64, c, 9_u32, true).abi_encode());
    let ten = returned((gross, net, -77_i128, a, b, c, -5_i64, c, 9_u32, true).abi_encode());
    let tick = Tick::new(5_600, net);
    for (kind, own, other) in
        [(FactoryKind::PancakeV3, &eight, &ten), (FactoryKind::Slipstream, &ten, &eight)]
    {
        let (reader, _) = identified(kind);
        let read =
            |answer: &Answer| reader.decode_parts(&pool(), &[5_600], core::slice::from_ref(answer));
        assert_eq!(ticks::pack_ticks(&[tick]), [(5_600, read(own).unwrap()[0].1.unwrap())].into());
        let wrong = read(other).unwrap_err();
        assert_eq!(wrong.reason, MissingReason::StateInconsistent);
    }
}
