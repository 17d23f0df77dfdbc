//! Answers in the form of the manager's, and the refusals with their codes. The words are those of a recorded pool.

use alloy::primitives::{B256, LogData, U256 as Number, keccak256};
use alloy::sol_types::SolValue;
use exitgap_core::pools::{FeeRate, Tick};

use super::*;

const MANAGER: Address = Address([9; 20]);
const SQRT_PRICE: u128 = 79_204_398_818_407_624_677_577_427_391;
const KEY: PoolKey = PoolKey {
    currency0: NOBODY,
    currency1: Address([2; 20]),
    fee: 500,
    tick_spacing: 10,
    hooks: NOBODY,
};

fn plan(key: PoolKey) -> PoolPlan {
    PoolPlan {
        id: PoolId::from_manager_id("base".parse().unwrap(), key.id().unwrap()),
        key: Some(key),
        base: Direction::ZeroForOne,
        fee: None,
        oracles: Vec::new(),
    }
}

fn manager() -> Vec<Factory> {
    let kind = FactoryKind::UniswapV4;
    vec![Factory { address: MANAGER, kind, fee_modules: Vec::new() }]
}

fn words(words: &[Number]) -> Answer {
    let words: Vec<B256> = words.iter().map(|word| B256::from(*word)).collect();
    Answer::Returned(words.abi_encode().into())
}

/// Price, a tick of −7, protocol fees of 704 and 385 millionths, and the fee.
fn slot0(fee: u32) -> Number {
    let tick = Number::from(0xff_fff9_u32);
    let protocol = Number::from(385_u32 * (1 << 12) + 704);
    Number::from(SQRT_PRICE) | tick << 160 | protocol << 184 | Number::from(fee) << 208
}

fn identify(plan: &PoolPlan, factories: &[Factory], answers: &[Answer]) -> Claim<ManagedReader> {
    ManagedReader::identify(&Candidate { plan, factories }, answers)
}

fn reader() -> ManagedReader {
    let plan = plan(KEY);
    let probes = ManagedReader::probes(&plan, &manager());
    assert_eq!((probes.len(), probes[0].call.target), (1, MANAGER));
    let claim = identify(&plan, &manager(), &[words(&[slot0(500), Number::from(5)])]);
    let Claim::Is(recognised) = claim else { panic!("{claim:?}") };
    assert_eq!(recognised.tokens, [NOBODY, Address([2; 20])]);
    recognised.reader
}

#[test]
fn what_a_hook_may_change_is_refused_by_name() {
    let refused = |plan: &PoolPlan, factories: &[Factory], slot0: Number| match identify(
        plan,
        factories,
        &[words(&[slot0, Number::ZERO])],
    ) {
        Claim::Refused(why) => why,
        other => panic!("{other:?}"),
    };
    let hooked = plan(PoolKey { hooks: Address([3; 20]), ..KEY });
    assert!(refused(&hooked, &manager(), slot0(500)).starts_with("hook: 0x0303"));
    let dynamic = plan(PoolKey { fee: PoolKey::DYNAMIC_FEE, ..KEY });
    assert!(refused(&dynamic, &manager(), slot0(500)).starts_with("dynamic_fee: "));
    assert!(refused(&plan(KEY), &[], slot0(500)).contains("[[chain.factory]]"));
    assert!(refused(&plan(KEY), &manager(), Number::ZERO).contains("has no pool with this id"));
    let with_fee = FeeRate { numerator: 3, denominator: 1_000 };
    let told = PoolPlan { fee: Some(with_fee), ..plan(KEY) };
    assert!(refused(&told, &manager(), slot0(500)).contains("remove `fee`"));
    // A pool in a contract of its own is of another kind.
    let other = PoolPlan {
        id: "base:0x0000000000000000000000000000000000000001".parse().unwrap(),
        key: None,
        ..plan(KEY)
    };
    assert!(matches!(identify(&other, &manager(), &[]), Claim::Foreign));
    assert!(ManagedReader::probes(&other, &manager()).is_empty());
}

#[test]
fn the_words_are_price_tick_and_fees_by_direction() {
    let (reader, pool) = (reader(), plan(KEY).id);
    let liquidity = 2_235_294_060_834_189_178_166_u128;
    let read = |slot0: Number, liquidity: Number| {
        reader.decode(&pool, 0, &[words(&[slot0, liquidity])]).map_err(|missing| missing.detail)
    };
    let Ok(DecodedState::Unfinished(price)) = read(slot0(500), Number::from(liquidity)) else {
        panic!("it lacks its ticks")
    };
    let net = i128::try_from(liquidity).unwrap();
    let ticks = ticks::pack_ticks(&[Tick::new(-10, net), Tick::new(10, -net)]);
    let state = price.join(&ticks).unwrap();
    let pool_read = ConcentratedV4::from_state(&state).unwrap();
    assert_eq!((pool_read.lp_fee_pips(), pool_read.protocol_fee()), (500, [704, 385]));
    assert_eq!((pool_read.ranges().tick(), pool_read.ranges().liquidity()), (-7, liquidity));
    assert_eq!(pool_read.ranges().sqrt_price_x96(), U256::from(SQRT_PRICE));
    assert_eq!(ManagedReader::parts_of(&state), Some(ticks));
    let short = price.join(&Parts::new()).unwrap_err();
    assert!(short.about_parts, "{short:?}");

    assert!(read(slot0(501), Number::from(liquidity)).err().unwrap().contains("its key has 500"));
    assert!(read(slot0(500), Number::ONE << 128).err().unwrap().contains("128 bits"));
    for wrong in [Answer::Reverted, words(&[Number::ONE]), words(&[Number::ONE; 3])] {
        assert!(reader.decode(&pool, 0, &[wrong]).is_err());
    }
}

#[test]
fn words_lie_where_the_managers_source_says() {
    let reader = reader();
    let base = keccak256((B256::from(reader.id.0), Number::from(6)).abi_encode());
    let [slot0, liquidity] = reader.storage.price();
    let base_number = Number::from_be_bytes(base.0);
    assert_eq!((slot0, Number::from_be_bytes(liquidity.0)), (base, base_number + Number::from(3)));
    let mut key = [0xff; 32];
    key[31] = 0xf6;
    let in_mapping = |offset: u32| {
        let slot = (base_number + Number::from(offset)).to_be_bytes::<32>();
        keccak256([key, slot].concat())
    };
    assert_eq!(reader.storage.tick(-10), in_mapping(4));
    assert_eq!(reader.storage.bitmap(-10), in_mapping(5));
}

#[test]
fn a_log_and_the_key_name_what_they_should() {
    let reader = reader();
    let watch = reader.watch();
    assert_eq!((watch.emitter, watch.id), (MANAGER, Some(KEY.id().unwrap())));
    let log = |data: Vec<u8>| {
        let topics = vec![watch.events[0], B256::from(reader.id.0), B256::ZERO];
        let data = LogData::new_unchecked(topics, data.into());
        let address = crate::abi::wire(MANAGER);
        Log { inner: alloy::primitives::Log { address, data }, ..Log::default() }
    };
    let good = (-20_i32, 887_270_i32, Number::ONE, B256::ZERO).abi_encode();
    assert_eq!(reader.named_by(&log(good.clone())), Ok(vec![-20, 887_270]));
    assert!(reader.named_by(&log(good[..63].to_vec())).is_err());
    assert!(reader.named_by(&log([0x7f; 128].to_vec())).is_err());

    let [fact] = &reader.facts()[..] else { panic!("one") };
    assert_eq!((fact.name.as_str(), fact.contract), ("pool_key", MANAGER));
    let bytes: Vec<u8> = fact.words.iter().flat_map(|word| word.0).collect();
    assert_eq!(keccak256(bytes).0, reader.id.0);
}

#[test]
fn a_list_of_words_is_as_long_as_it_was_asked() {
    let (reader, pool) = (reader(), plan(KEY).id);
    let calls = reader.index_calls();
    // 694 bitmap words, 64 per call.
    assert_eq!(calls.len(), 11);
    let mut answers = vec![words(&[Number::ZERO; 64]); 10];
    answers.push(words(&[Number::ZERO; 54]));
    assert_eq!(reader.decode_index(&pool, &answers), Ok(Vec::new()));
    answers[10] = words(&[Number::ZERO; 53]);
    assert!(reader.decode_index(&pool, &answers).is_err());
    let ticks = reader.decode_parts(&pool, &[10, 20], &[words(&[Number::ZERO, Number::from(7)])]);
    assert_eq!(ticks, Ok(vec![(10, None), (20, Some(Part::from(7)))]));
}
