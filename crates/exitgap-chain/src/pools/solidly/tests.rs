use exitgap_core::ids::Pair;
use exitgap_core::pools::Direction;

use super::*;
use crate::pools::curve::tests::pool as any_pool;

fn words(words: &[U256]) -> Answer {
    let data: Vec<u8> = words.iter().flat_map(U256::to_be_bytes::<32>).collect();
    Answer::Returned(data.into())
}

const TOKENS: [Address; 2] = [Address([1; 20]), Address([2; 20])];

fn reader() -> SolidlyReader {
    let (pool, factory) = (Address([7; 20]), Address([8; 20]));
    SolidlyReader { pool, factory, tokens: TOKENS, stable: true }
}

/// The answers of a stable pool with 6 and 18 decimals; its factory's fee, and whether it is paused.
fn answers(units: [U256; 2], stable: u8, fee: U256, paused: u8) -> [Answer; 3] {
    let token = |token: Address| U256::from_be_slice(&token.0);
    let reserves = [U256::from(5_000_000), U256::from(4_000_000_000_000_000_000_u64)];
    let metadata = [
        units[0],
        units[1],
        reserves[0],
        reserves[1],
        U256::from(stable),
        token(TOKENS[0]),
        token(TOKENS[1]),
    ];
    [words(&metadata), words(&[fee]), words(&[U256::from(paused)])]
}

fn units() -> [U256; 2] {
    [U256::from(1_000_000), U256::from(1_000_000_000_000_000_000_u64)]
}

fn decoded(answers: &[Answer]) -> Result<Solidly, ReadFailure> {
    let pool: PoolId = "anvil:0x0707070707070707070707070707070707070707".parse().unwrap();
    match reader().decode(&pool, 0, answers)? {
        DecodedState::Whole(state) => Ok(*Solidly::from_state(&state).unwrap()),
        DecodedState::Unfinished(_) => panic!("nothing of it is remembered"),
    }
}

#[test]
fn a_pool_is_what_it_and_its_factory_say() {
    let found = decoded(&answers(units(), 1, U256::from(5), 0)).unwrap();
    let reserves = [U256::from(5_000_000), U256::from(4_000_000_000_000_000_000_u64)];
    let fee = FeeRate { numerator: 5, denominator: 10_000 };
    assert_eq!(found, Solidly::new(true, reserves, [6, 18], fee).unwrap());
}

#[test]
fn what_no_pool_answers_is_refused_with_what_it_was() {
    let fee = U256::from(5);
    let refusal = |answers: &[Answer]| decoded(answers).unwrap_err();
    let paused = refusal(&answers(units(), 1, fee, 1));
    assert_eq!(paused.reason, MissingReason::PoolUnsupported);
    assert!(paused.detail.contains("paused: its factory 0x0808"), "{paused}");

    let odd = [U256::from(1_000_001), units()[1]];
    let huge = [U256::MAX, units()[1]];
    for (answers, why) in [
        (answers(units(), 0, fee, 0), "a different pair"),
        (answers(odd, 1, fee, 0), "not powers of ten"),
        (answers(huge, 1, fee, 0), "not powers of ten"),
        (answers([U256::from(10).pow(U256::from(25)), units()[1]], 1, fee, 0), "at most 24"),
        (answers(units(), 1, U256::from(10_000), 0), "must be below 1"),
        (answers(units(), 1, U256::MAX, 0), "must be below 1"),
    ] {
        let refused = refusal(&answers);
        assert_eq!(refused.reason, MissingReason::StateInconsistent);
        assert!(refused.detail.contains(why), "{refused}");
    }
    // A word that is not a boolean, a missing word, and a call that reverts.
    for (place, answer, reason, why) in [
        (2, words(&[U256::from(2)]), MissingReason::StateInconsistent, "isPaused"),
        (1, words(&[]), MissingReason::StateInconsistent, "getFee"),
        (0, Answer::Reverted, MissingReason::CallReverted, "metadata"),
    ] {
        let mut answers = answers(units(), 1, fee, 0);
        answers[place] = answer;
        let refused = refusal(&answers);
        assert_eq!(refused.reason, reason);
        assert!(refused.detail.contains(why), "{refused}");
    }
}

#[test]
fn a_trial_tells_a_pool_that_pays_from_one_that_does_not() {
    let sale = Sale {
        direction: Direction::ZeroForOne,
        pair: Pair::new(0, 1).unwrap(),
        amount_in: U256::from(10),
        amount_out: U256::from(9),
    };
    let outcome = |success: bool, data: &[u8]| Outcome { success, data: data.to_vec().into() };
    let quote = |told: u64| outcome(true, &U256::from(told).to_be_bytes::<32>());
    let (yes, no) = (|| outcome(true, &[]), || outcome(false, &[]));
    let judged = |outcomes: &[Outcome]| reader().judge(&any_pool(), &sale, outcomes);
    assert_eq!(judged(&[quote(9), yes(), yes()]), Verdict::Same);
    assert!(
        matches!(judged(&[quote(8), yes(), yes()]), Verdict::Other(why) if why.contains("quotes 8"))
    );
    assert!(
        matches!(judged(&[quote(9), no(), yes()]), Verdict::Other(why) if why.contains("not pay the 9"))
    );
    for untried in [[quote(9), yes(), no()], [no(), yes(), yes()], [yes(), yes(), yes()]] {
        assert!(matches!(judged(&untried), Verdict::Unknown(_)));
    }
    assert!(matches!(judged(&[]), Verdict::Unknown(_)));
}
