use alloy::sol_types::SolCall;
use exitgap_core::pools::{Direction, StableV2, VaultParts, Weighted};
use exitgap_core::series::MissingReason;

use super::*;
use crate::pools::curve::tests::pool as any_pool;

const POOL: Address = Address([7; 20]);
const VAULT: Address = Address([8; 20]);
const FACTORY: Address = Address([9; 20]);
const PROVIDER: Address = Address([5; 20]);
const TOKENS: [Address; 2] = [Address([1; 20]), Address([9; 20])];
const ONE: u64 = 1_000_000_000_000_000_000;

fn told<C: SolCall>(value: &C::Return) -> Answer {
    Answer::Returned(C::abi_encode_returns(value).into())
}

fn word(value: U256) -> Answer {
    Answer::Returned(value.to_be_bytes::<32>().to_vec().into())
}

fn plan(pair: Option<[u8; 2]>) -> PoolPlan {
    let name = format!("anvil:{POOL}");
    let contract: PoolId = name.parse().unwrap();
    let pair = pair.map(|[lower, higher]| Pair::new(lower, higher).unwrap());
    PoolPlan {
        id: contract.contract().pool(pair),
        key: None,
        base: Direction::ZeroForOne,
        fee: None,
        oracles: Vec::new(),
    }
}

/// A stable pool with tokens of six and eighteen decimals, its own token between them, where the second has a rate; or
/// a weighted pool of both.
fn reader(law: Law) -> BalancerReader {
    let (held, rate_providers) = match law {
        Law::Weighted => (TOKENS.to_vec(), vec![NOBODY; 2]),
        Law::ComposableStable => (vec![TOKENS[0], POOL, TOKENS[1]], vec![NOBODY, NOBODY, PROVIDER]),
    };
    let id = B256::repeat_byte(3);
    BalancerReader { pool: POOL, vault: VAULT, id, law, held, rate_providers }
}

fn factory(kind: FactoryKind) -> Factory {
    Factory { address: FACTORY, kind, fee_modules: Vec::new() }
}

/// The claim for a pool that each factory confirms or not, and that reports this version.
fn claim(known: &[Factory], is_its: &[bool], version: &str) -> Claim<BalancerReader> {
    let mut answers = vec![
        word(U256::from(3)),
        told::<BalancerPool::getVaultCall>(&wire(VAULT)),
        told::<BalancerPool::versionCall>(&version.to_owned()),
        Answer::Reverted,
    ];
    answers.extend(is_its.iter().map(told::<BalancerFactory::isPoolFromFactoryCall>));
    let plan = plan(None);
    let probes = BalancerReader::probes(&plan, known);
    assert_eq!(probes.len(), answers.len());
    BalancerReader::identify(&Candidate { plan: &plan, factories: known }, &answers)
}

fn refusal(claim: Claim<BalancerReader>) -> String {
    match claim {
        Claim::Refused(why) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_pool_is_its_factorys_and_of_a_known_version() {
    let weighted = [factory(FactoryKind::BalancerV2Weighted)];
    let stable = [factory(FactoryKind::BalancerV2ComposableStable)];
    let of = |name: &str, version: u64| format!(r#"{{"name":"{name}","version":{version}}}"#);
    for version in [3, 4] {
        let found = claim(&weighted, &[true], &of("WeightedPool", version));
        assert!(matches!(&found, Claim::Is(_)), "{found:?}");
    }
    for version in [3, 6] {
        let found = claim(&stable, &[true], &of("ComposableStablePool", version));
        assert!(matches!(&found, Claim::Is(_)), "{found:?}");
    }
    for (known, said) in [
        (&weighted, of("WeightedPool", 2)),
        (&weighted, of("ComposableStablePool", 3)),
        (&stable, of("ComposableStablePool", 4)),
        (&stable, of("ComposableStablePool", 5)),
        (&stable, "6".to_owned()),
        (&stable, String::new()),
        (&stable, "x".repeat(1_000)),
    ] {
        let why = refusal(claim(known, &[true], &said));
        assert!(why.starts_with("unverified_version: its version is"), "{why}");
        assert!(why.len() < 200, "{why}");
    }
    let why = refusal(claim(&weighted, &[false], &of("WeightedPool", 4)));
    assert!(why.contains("no known Balancer v2 factory"), "{why}");
    assert!(refusal(claim(&[], &[], "")).contains("no known Balancer v2 factory"));
    let both = [weighted[0].clone(), stable[0].clone()];
    let found = claim(&both, &[true, true], &of("WeightedPool", 4));
    assert!(matches!(&found, Claim::Partly), "{found:?}");
    let nobody = vec![Answer::Returned(Bytes::new()); 5];
    let foreign =
        BalancerReader::identify(&Candidate { plan: &plan(None), factories: &weighted }, &nobody);
    assert!(matches!(foreign, Claim::Foreign), "{foreign:?}");
}

fn holdings(tokens: &[Address], balances: &[u64]) -> Answer {
    told::<BalancerVault::getPoolTokensCall>(&BalancerVault::getPoolTokensReturn {
        tokens: tokens.iter().copied().map(wire).collect(),
        balances: balances.iter().copied().map(U256::from).collect(),
        lastChangeBlock: U256::from(1),
    })
}

#[test]
fn the_vault_says_which_tokens_a_pool_has() {
    let registered = |law: Law, pool: Address, held: &[Address], pair: Option<[u8; 2]>| {
        let mut reader = reader(law);
        reader.held.clear();
        let named = BalancerVault::getPoolReturn { pool: wire(pool), specialization: 0 };
        let named = told::<BalancerVault::getPoolCall>(&named);
        let balances = vec![1; held.len()];
        reader
            .confirm_registration(&plan(pair), &[named, holdings(held, &balances)])
            .map(|found| found.1)
    };
    let [first, second] = TOKENS;
    let with_own = [first, POOL, second];
    assert_eq!(registered(Law::Weighted, POOL, &TOKENS, None), Ok(TOKENS.to_vec()));
    assert_eq!(registered(Law::ComposableStable, POOL, &with_own, None), Ok(TOKENS.to_vec()));
    for (law, pool, held, pair, why) in [
        (Law::Weighted, FACTORY, &TOKENS[..], None, "it returned 0x0909"),
        (Law::Weighted, POOL, &with_own[..], None, "3 tokens for it, 1 of them its own"),
        (Law::ComposableStable, POOL, &TOKENS[..], None, "2 tokens for it, 0 of them its own"),
        (Law::ComposableStable, POOL, &[first, POOL][..], None, "lists 3 rate providers"),
        (
            Law::ComposableStable,
            POOL,
            &with_own[..],
            Some([0, 2]),
            "pool_token: the pool's own token",
        ),
        (Law::Weighted, POOL, &[first][..], None, "getPoolTokens returned 224 bytes"),
    ] {
        let refused = registered(law, pool, held, pair).unwrap_err();
        assert!(refused.contains(why), "{why}: {refused}");
    }
    let unanswered =
        reader(Law::Weighted).confirm_registration(&plan(None), &[Answer::Reverted; 0]);
    assert!(unanswered.unwrap_err().contains("was not queried"));
    let reverted = vec![Answer::Reverted; 2];
    let refused = reader(Law::Weighted).confirm_registration(&plan(None), &reverted).unwrap_err();
    assert!(refused.contains("registered under") && refused.contains("reverted"), "{refused}");
}

/// A pool's answers in order. The stable pool's cached rate is valid until second 100, and its provider returns 1.2.
fn state_answers(law: Law) -> Vec<Answer> {
    let paused = told::<BalancerVault::getPausedStateCall>(&BalancerVault::getPausedStateReturn {
        paused: false,
        pauseWindowEndTime: U256::ZERO,
        bufferPeriodEndTime: U256::ZERO,
    });
    let no = word(U256::ZERO);
    let fee = word(U256::from(ONE / 1_000));
    let (of_six, one) = (U256::from(ONE) * U256::from(10).pow(U256::from(12)), U256::from(ONE));
    let list = |numbers: Vec<U256>| told::<BalancerPool::getScalingFactorsCall>(&numbers);
    let mut answers = vec![paused.clone(), paused, no];
    match law {
        Law::Weighted => {
            let weights = vec![one / U256::from(4), one / U256::from(4) * U256::from(3)];
            let held = holdings(&TOKENS, &[5_000_000, ONE]);
            answers.extend([held, fee, list(vec![of_six, one]), list(weights)]);
        }
        Law::ComposableStable => {
            let held = holdings(&[TOKENS[0], POOL, TOKENS[1]], &[5_000_000, u64::MAX, 3 * ONE]);
            let kept = U256::from(ONE / 10 * 11);
            let amp = told::<BalancerPool::getAmplificationParameterCall>(
                &BalancerPool::getAmplificationParameterReturn {
                    value: U256::from(200_000),
                    isUpdating: false,
                    precision: U256::from(1_000),
                },
            );
            let cache = told::<BalancerPool::getTokenRateCacheCall>(
                &BalancerPool::getTokenRateCacheReturn {
                    rate: kept,
                    oldRate: one,
                    duration: U256::from(60),
                    expires: U256::from(100),
                },
            );
            let provided = word(U256::from(ONE / 10 * 12));
            answers.extend([held, fee, list(vec![of_six, one, kept]), amp, cache, provided]);
        }
    }
    answers
}

fn decoded(law: Law, at: u64, answers: &[Answer]) -> Result<DecodedState, ReadFailure> {
    let reader = reader(law);
    assert_eq!(reader.state_calls().len(), state_answers(law).len());
    reader.decode(&plan(None).id, at, answers)
}

fn parts(balances: [u64; 2], rate: u64) -> VaultParts {
    VaultParts {
        balances: balances.map(U256::from).to_vec(),
        live_balances: None,
        scaling_factors: vec![U256::from(10).pow(U256::from(12)), U256::ONE],
        rates: vec![U256::from(ONE), U256::from(rate)],
        swap_fee: ONE / 1_000,
    }
}

#[test]
fn a_pool_is_what_it_its_vault_and_its_providers_say() {
    let answers = state_answers(Law::Weighted);
    let Ok(DecodedState::Whole(found)) = decoded(Law::Weighted, 0, &answers) else { panic!() };
    let weights = vec![ONE / 4, ONE / 4 * 3];
    let expected = Weighted::new(parts([5_000_000, ONE], ONE), weights, None).unwrap();
    assert_eq!(found, expected.into());

    let answers = state_answers(Law::ComposableStable);
    for (at, tenths) in [(0, 11), (100, 11), (101, 12), (u64::MAX, 12)] {
        let Ok(DecodedState::Whole(found)) = decoded(Law::ComposableStable, at, &answers) else {
            panic!()
        };
        let parts = parts([5_000_000, 3 * ONE], ONE / 10 * tenths);
        assert_eq!(found, StableV2::new(parts, 200_000).unwrap().into(), "{at}");
    }
}

#[test]
fn what_no_pool_answers_is_refused_with_what_it_was() {
    let law = Law::ComposableStable;
    let at = |place: usize, answer: Answer, time: u64| {
        let mut answers = state_answers(law);
        answers[place] = answer;
        decoded(law, time, &answers).err().unwrap()
    };
    let yes = || word(U256::ONE);
    let paused = || {
        let words = [U256::ONE, U256::ZERO, U256::ZERO];
        Answer::Returned(words.iter().flat_map(U256::to_be_bytes::<32>).collect::<Vec<_>>().into())
    };
    let list = |numbers: [u64; 3]| {
        told::<BalancerPool::getScalingFactorsCall>(&numbers.map(U256::from).to_vec())
    };
    let amp = |precision: u64| {
        told::<BalancerPool::getAmplificationParameterCall>(
            &BalancerPool::getAmplificationParameterReturn {
                value: U256::MAX,
                isUpdating: true,
                precision: U256::from(precision),
            },
        )
    };
    let (unsupported, inconsistent) =
        (MissingReason::PoolUnsupported, MissingReason::StateInconsistent);
    let others = holdings(&[TOKENS[1], POOL, TOKENS[0]], &[1, 1, 1]);
    let empty = holdings(&[TOKENS[0], POOL, TOKENS[1]], &[0, 1, 1]);
    for (place, answer, time, reason, why) in [
        (0, paused(), 0, unsupported, "paused: its vault 0x0808"),
        (1, paused(), 0, unsupported, "paused: the pool allows no swaps"),
        (2, yes(), 0, unsupported, "recovery_mode"),
        (3, others, 0, inconsistent, "different tokens than before"),
        (3, empty, 0, inconsistent, "balance of token 0"),
        (3, holdings(&TOKENS, &[1, 1]), 0, inconsistent, "getPoolTokens"),
        (4, word(U256::MAX), 0, inconsistent, "is not below 10^18"),
        (5, list([ONE, ONE, ONE]), 0, inconsistent, "getScalingFactors returned"),
        (5, list([ONE * 3, ONE, ONE]), 0, inconsistent, "getScalingFactors returned"),
        (6, amp(100), 0, inconsistent, "unexpected precision 100"),
        (6, amp(1_000), 0, inconsistent, "amplification 18446744073709551615"),
        (7, Answer::Reverted, 0, MissingReason::CallReverted, "getTokenRateCache"),
        (8, Answer::Reverted, 101, MissingReason::CallReverted, "rate_unreadable"),
        (8, word(U256::ONE << 96), 101, inconsistent, "longer than 96 bits"),
        (8, word(U256::ZERO), 101, inconsistent, "rate of token 1 is zero"),
    ] {
        let missing = at(place, answer, time);
        assert_eq!(missing.reason, reason, "{missing}");
        assert!(missing.detail.contains(why), "{why}: {missing}");
    }
    // A provider that is not needed yet may fail.
    let mut answers = state_answers(law);
    answers[8] = Answer::Reverted;
    assert!(decoded(law, 100, &answers).is_ok());
    let missing = decoded(law, 0, &[]).err().unwrap();
    assert!(missing.detail.contains("its vault's getPausedState reverted"), "{missing}");
}

#[test]
fn a_trial_tells_a_pool_that_pays_from_one_that_does_not() {
    let sale = Sale {
        direction: Direction::OneForZero,
        pair: Pair::new(0, 1).unwrap(),
        amount_in: U256::from(10),
        amount_out: U256::from(9),
    };
    let reader = reader(Law::ComposableStable);
    let calls = reader.trial_calls(&sale);
    let asked = BalancerVault::queryBatchSwapCall::abi_decode(&calls[0]).unwrap();
    assert_eq!(asked.assets, [wire(TOKENS[1]), wire(TOKENS[0])], "without its own between them");
    let outcome = |success: bool, deltas: &[i64]| {
        let deltas = deltas.iter().map(|delta| I256::try_from(*delta).unwrap()).collect();
        let data = BalancerVault::queryBatchSwapCall::abi_encode_returns(&deltas);
        Outcome { success, data: data.into() }
    };
    let judged = |outcome: Outcome| reader.judge(&any_pool(), &sale, &[outcome]);
    assert_eq!(judged(outcome(true, &[10, -9])), Verdict::Same);
    for (deltas, why) in [([10, -8], "pays 8 for 10"), ([10, -10], "the computed fill is 9")] {
        let verdict = judged(outcome(true, &deltas));
        assert!(matches!(&verdict, Verdict::Other(found) if found.contains(why)), "{verdict:?}");
    }
    let untried = [outcome(false, &[10, -9]), outcome(true, &[10]), outcome(true, &[9, -9])];
    for untried in untried {
        assert!(matches!(judged(untried), Verdict::Unknown(_)));
    }
    assert!(matches!(reader.judge(&any_pool(), &sale, &[]), Verdict::Unknown(_)));
}
