use exitgap_core::pools::Direction;

use super::*;
use crate::pools::curve::tests::pool as any_pool;

const POOL: Address = Address([7; 20]);
const VAULT: Address = Address([8; 20]);

fn told<C: SolCall>(value: &C::Return) -> Answer {
    Answer::Returned(C::abi_encode_returns(value).into())
}

fn plan() -> PoolPlan {
    PoolPlan {
        id: format!("anvil:{POOL}").parse().unwrap(),
        key: None,
        base: Direction::ZeroForOne,
        fee: None,
        oracles: Vec::new(),
    }
}

/// A factory of each kind.
fn known() -> Vec<Factory> {
    let kinds = [FactoryKind::BalancerV3Weighted, FactoryKind::BalancerV3Stable];
    let factory =
        |(last, kind)| Factory { address: Address([last; 20]), kind, fee_modules: Vec::new() };
    (1..).zip(kinds).map(factory).collect()
}

/// The claim for a pool of the third vault that reports this version, and that each factory confirms or not.
fn claim(version: &str, is_its: [bool; 2]) -> Claim<ThirdVaultReader> {
    let mut answers = vec![
        Answer::Reverted,
        told::<BalancerPool::getVaultCall>(&wire(VAULT)),
        told::<BalancerPool::versionCall>(&version.to_owned()),
    ];
    for is_its in is_its {
        answers.push(told::<BalancerFactory::isPoolFromFactoryCall>(&is_its));
        answers.push(told::<BalancerFactory::getVaultCall>(&wire(VAULT)));
    }
    let (plan, factories) = (plan(), known());
    assert_eq!(ThirdVaultReader::probes(&plan, &factories).len(), answers.len());
    ThirdVaultReader::identify(&Candidate { plan: &plan, factories: &factories }, &answers)
}

fn law(claim: &Claim<ThirdVaultReader>) -> Option<Law> {
    match claim {
        Claim::Is(found) => Some(found.reader.law),
        _ => None,
    }
}

#[test]
fn a_pools_release_is_what_it_says_and_its_factory_makes() {
    let says = |name: &str, version: u64| format!(r#"{{"name":"{name}","version":{version}}}"#);
    let (weighted, stable) = ([true, false], [false, true]);
    for (version, is_its, expected) in [
        (says("WeightedPool", 1), weighted, Law::Weighted),
        (says("WeightedPool", 2), weighted, Law::WeightedWithLeast),
        (says("StablePool", 1), stable, Law::Stable(StableRelease::First)),
        (says("StablePool", 2), stable, Law::Stable(StableRelease::Second)),
        (says("StablePool", 3), stable, Law::Stable(StableRelease::Third)),
    ] {
        assert_eq!(law(&claim(&version, is_its)), Some(expected), "{version}");
    }
    for (version, is_its) in [
        (says("WeightedPool", 3), weighted),
        (says("WeightedPool", 0), weighted),
        (says("StablePool", 4), stable),
        (says("StablePool", 1), weighted),
        (says("ReClammPool", 2), weighted),
        ("1".to_owned(), stable),
    ] {
        let found = claim(&version, is_its);
        let Claim::Refused(why) = found else { panic!("{version}: {found:?}") };
        assert!(why.starts_with("unverified_version: its version is"), "{why}");
    }
    assert!(matches!(claim(&says("StablePool", 1), [true; 2]), Claim::Partly));
    // A pool that no factory confirms, and an address that is not a pool of the third vault.
    let found = claim(&says("GyroECLPPool", 1), [false; 2]);
    assert!(matches!(&found, Claim::Refused(why) if why.contains("GyroECLPPool")), "{found:?}");
    for version in ["v7.0.0", ""] {
        assert!(matches!(claim(version, [false; 2]), Claim::Foreign), "{version}");
    }
    let mut answers = vec![Answer::Reverted; 7];
    answers[0] = told::<BalancerPool::getPoolIdCall>(&[3; 32].into());
    answers[1] = told::<BalancerPool::getVaultCall>(&wire(VAULT));
    answers[2] = told::<BalancerPool::versionCall>(&says("WeightedPool", 4));
    let (plan, factories) = (plan(), known());
    let candidate = Candidate { plan: &plan, factories: &factories };
    let second = ThirdVaultReader::identify(&candidate, &answers);
    assert!(matches!(second, Claim::Foreign), "{second:?}");
}

#[test]
fn a_trial_tells_a_pool_that_pays_from_one_that_does_not() {
    let tokens = [1, 2, 3].map(|last| Address([last; 20])).to_vec();
    let reader = ThirdVaultReader { pool: POOL, vault: VAULT, law: Law::Weighted, tokens };
    let sale = Sale {
        direction: Direction::OneForZero,
        pair: Pair::new(0, 2).unwrap(),
        amount_in: U256::from(10),
        amount_out: U256::from(9),
    };
    let [unlock] = <[Vec<u8>; 1]>::try_from(reader.trial_calls(&sale)).unwrap();
    let unlock = BalancerV3Vault::unlockCall::abi_decode(&unlock).unwrap();
    let called_back = UnlockCallback::unlockCallbackCall::abi_decode(&unlock.data).unwrap();
    let swap = BalancerV3Vault::swapCall::abi_decode(&called_back.data).unwrap().vaultSwapParams;
    let [sold, bought] = [swap.tokenIn, swap.tokenOut].map(own);
    assert_eq!((sold, bought, swap.kind), (Address([3; 20]), Address([1; 20]), 0));
    assert_eq!((swap.amountGivenRaw, own(swap.pool)), (sale.amount_in, POOL));

    let outcome = |success: bool, words: &[u64]| {
        let words = words.iter().flat_map(|word| U256::from(*word).to_be_bytes::<32>());
        Outcome { success, data: words.collect::<Vec<u8>>().into() }
    };
    let judged = |outcome: Outcome| reader.judge(&any_pool(), &sale, &[outcome]);
    assert_eq!(judged(outcome(false, &[9, 10, 9])), Verdict::Same);
    let other = judged(outcome(false, &[8, 10, 8]));
    assert!(matches!(&other, Verdict::Other(why) if why.contains("pays 8 for 10")), "{other:?}");
    // A call that succeeds is not our trial. A partial amount, or a refusal, shows nothing.
    for untried in [(true, &[9, 10, 9][..]), (false, &[9, 5, 9]), (false, &[9, 10]), (false, &[])] {
        assert!(
            matches!(judged(outcome(untried.0, untried.1)), Verdict::Unknown(_)),
            "{untried:?}"
        );
    }
    assert!(matches!(reader.judge(&any_pool(), &sale, &[]), Verdict::Unknown(_)));
}
