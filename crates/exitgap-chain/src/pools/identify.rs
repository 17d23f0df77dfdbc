//! Identifies the kind of a pool's contract from its answers, without assumptions.

use core::pin::pin;
use std::collections::BTreeMap;

use exitgap_core::ids::{Address, Code, Word};
use exitgap_core::series::MissingReason;
use exitgap_core::snapshot::{Fact, Token};
use futures_util::stream::{self, StreamExt};
use tokio::time::Instant;

use super::kinds::{self, Reader};
use super::reader::{Candidate, Claim, Probe, RecognisedPool};
use super::{Identity, tokens};
use crate::abi::{Answer, Call, V3Factory, own};
use crate::config::{Factory, NOBODY, PoolPlan};
use crate::multicall::Multicall;
use crate::read_failure::ReadFailure;
use crate::rpc::Failure;

/// Identifies the pools of `plans`: kind, tokens, constant rules. A contract that is not a pool, or whose tokens cannot
/// be used, is refused with a code and does not affect the others.
pub(crate) async fn identify(
    multicall: &Multicall<'_>,
    factories: &[Factory],
    plans: &[&PoolPlan],
) -> Result<Vec<Result<Identity, ReadFailure>>, Failure> {
    let probes: Vec<Vec<Probe>> = plans.iter().map(|plan| kinds::probes(plan, factories)).collect();
    let calls: Vec<Call> = probes.iter().flat_map(|probes| calls_of(probes)).collect();
    let mut answers = multicall.read_once(&calls).await?.into_iter();
    let (mut seen, mut again) = (Vec::with_capacity(plans.len()), Vec::new());
    for (place, (plan, probes)) in plans.iter().zip(probes).enumerate() {
        let answered = probes.iter().cloned().zip(answers.by_ref()).collect::<Vec<_>>();
        let recognised = recognise(plan, factories, &answered);
        let is_unknown = recognised
            .as_ref()
            .is_err_and(|missing| missing.reason == MissingReason::PoolUnsupported);
        if is_unknown && plans.len() > 1 && !probes.is_empty() {
            again.push((place, probes));
        }
        seen.push(recognised);
    }
    recognise_alone(multicall, factories, plans, again, &mut seen).await;
    let words = prove(multicall, factories, plans, &mut seen).await?;
    register(multicall, plans, &mut seen).await?;
    let tokens = seen.iter().flatten().flat_map(|recognised| recognised.tokens.iter().copied());
    let tokens = read_tokens(multicall, tokens).await?;
    Ok(plans
        .iter()
        .zip(seen)
        .zip(words)
        .map(|((plan, recognised), word)| {
            let RecognisedPool { reader, tokens: addresses, .. } = recognised?;
            let mut facts = reader.facts();
            facts.extend(word);
            facts.sort();
            let token = |address: Address| -> Result<Token, ReadFailure> {
                tokens.get(&address).cloned().unwrap_or_else(|| {
                    Err(refuse_pool(plan, &format!("token {address} was not read")))
                })
            };
            let tokens = addresses.into_iter().map(token).collect::<Result<Vec<_>, _>>()?;
            let identity = Identity { reader, tokens, facts };
            if identity.pair(&plan.id).is_none() {
                return Err(refuse_pool(plan, &other_pair(&identity.tokens)));
            }
            Ok(identity)
        })
        .collect())
}

/// Asks pools that were not recognised once more, each by itself: in a multicall, a call may fail because others used up the
/// gas. Together they have half of the time, and none of them more than its share, so that they delay no other pool.
async fn recognise_alone(
    multicall: &Multicall<'_>,
    factories: &[Factory],
    plans: &[&PoolPlan],
    again: Vec<(usize, Vec<Probe>)>,
    seen: &mut [Result<RecognisedPool<Reader>, ReadFailure>],
) {
    let together = multicall.concurrency();
    let rounds = u32::try_from(again.len().div_ceil(together)).unwrap_or(u32::MAX).max(1);
    let share = multicall.deadline().saturating_duration_since(Instant::now()) / 2 / rounds;
    let asked = stream::iter(again).map(|(place, probes)| async move {
        let calls = calls_of(&probes);
        let answers = multicall.until(Instant::now() + share).read_once(&calls).await;
        (place, probes, answers)
    });
    let mut asked = pin!(asked.buffer_unordered(together));
    while let Some((place, probes, answers)) = asked.next().await {
        let plan = plans[place];
        seen[place] = match answers {
            Ok(answers) => {
                let answered = probes.into_iter().zip(answers).collect::<Vec<_>>();
                recognise(plan, factories, &answered)
            }
            Err(failure) => {
                let ReadFailure { reason, detail } = failure.into();
                Err(ReadFailure::new(reason, format!("pool {}: {detail}", plan.id)))
            }
        };
    }
}

/// Why a pool's pair does not fit a contract with these tokens.
fn other_pair(tokens: &[Token]) -> String {
    if tokens.len() == 2 {
        return "its contract pools two tokens; remove `pair`".to_owned();
    }
    let listed = tokens.iter().enumerate();
    let listed: Vec<_> =
        listed.map(|(index, token)| format!("{index} {}", token.symbol.as_str())).collect();
    format!(
        "its contract pools {} tokens ({}); choose two of them, as in `pair = [0, 1]`",
        tokens.len(),
        listed.join(", ")
    )
}

fn calls_of(probes: &[Probe]) -> Vec<Call> {
    probes.iter().map(|probe| probe.call.clone()).collect()
}

/// Asks factories whether pools are theirs, if that must be proven. The answer becomes a fact if there is a name for
/// it.
async fn prove(
    multicall: &Multicall<'_>,
    factories: &[Factory],
    plans: &[&PoolPlan],
    seen: &mut [Result<RecognisedPool<Reader>, ReadFailure>],
) -> Result<Vec<Option<Fact>>, Failure> {
    let calls: Vec<Call> =
        seen.iter().flatten().filter_map(|recognised| recognised.proof.clone()).collect();
    let answers = multicall.read_calls(&calls).await?;
    let mut answers = answers.iter();
    let mut words = vec![None; plans.len()];
    for ((plan, recognised), word) in plans.iter().zip(seen).zip(&mut words) {
        let Some(proof) = recognised.as_ref().ok().and_then(|it| it.proof.as_ref()) else {
            continue;
        };
        let answer = answers.next().unwrap_or(&Answer::Reverted);
        // Whatever the call's name is at this factory, its answer is one address.
        let named = answer.exact::<V3Factory::getPoolCall>(1).map(own);
        if named.is_none() || named != plan.id.contract().address() {
            let (factory, words) = (proof.target, said(answer, named));
            let what =
                format!("its factory {factory} does not confirm that the pool is its own: {words}");
            *recognised = Err(refuse_pool(plan, &what));
            continue;
        }
        *word = named.and_then(|pool| word_of(factories, proof, pool));
    }
    Ok(words)
}

/// The fact with a factory's confirmation that the pool is its own.
fn word_of(factories: &[Factory], proof: &Call, pool: Address) -> Option<Fact> {
    let factory = factories.iter().find(|factory| factory.address == proof.target)?;
    let name = factory.kind.fact()?.parse::<Code>().ok()?;
    let mut word = [0; 32];
    word[12..].copy_from_slice(&pool.0);
    let call = proof.data.to_string();
    Some(Fact { name, contract: proof.target, call, words: vec![Word(word)] })
}

/// Makes the further calls that some pools need, separately for each.
async fn register(
    multicall: &Multicall<'_>,
    plans: &[&PoolPlan],
    seen: &mut [Result<RecognisedPool<Reader>, ReadFailure>],
) -> Result<(), Failure> {
    let asked = seen.iter().map(|recognised| match recognised {
        Ok(recognised) => recognised.reader.further(),
        Err(_) => Vec::new(),
    });
    let asked: Vec<Vec<Call>> = asked.collect();
    let answers = multicall.read_calls(&asked.concat()).await?;
    let mut answers = answers.as_slice();
    for ((plan, recognised), asked) in plans.iter().zip(seen).zip(asked) {
        let (own, others) = answers.split_at(asked.len().min(answers.len()));
        answers = others;
        if let (Ok(found), false) = (&*recognised, asked.is_empty()) {
            let registered = found.reader.clone().confirm_registration(plan, own);
            *recognised = match registered {
                Ok((reader, tokens)) => Ok(RecognisedPool { reader, tokens, proof: None }),
                Err(why) => Err(refuse_pool(plan, &why)),
            };
        }
    }
    Ok(())
}

/// A factory's answer that is not the pool's address.
fn said(answer: &Answer, pool: Option<Address>) -> String {
    pool.map_or_else(
        || format!("getPool {}", answer.in_words()),
        |pool| format!("it returned {pool}"),
    )
}

async fn read_tokens(
    multicall: &Multicall<'_>,
    tokens: impl Iterator<Item = Address>,
) -> Result<BTreeMap<Address, Result<Token, ReadFailure>>, Failure> {
    let mut addresses: Vec<Address> = tokens.collect();
    addresses.sort_unstable();
    addresses.dedup();
    let native = addresses.first() == Some(&NOBODY);
    if native {
        addresses.remove(0);
    }
    let calls: Vec<Call> = addresses.iter().flat_map(|token| tokens::calls(*token)).collect();
    let answers = multicall.read_calls(&calls).await?;
    let read = addresses
        .into_iter()
        .zip(answers.chunks_exact(tokens::TOKEN_CALLS))
        .map(|(token, answers)| (token, tokens::decode(token, answers)));
    Ok(read.chain(native.then(|| (NOBODY, Ok(tokens::native())))).collect())
}

/// Recognises a contract by its answers to the probes.
fn recognise(
    plan: &PoolPlan,
    factories: &[Factory],
    answered: &[(Probe, Answer)],
) -> Result<RecognisedPool<Reader>, ReadFailure> {
    let refused = answered.iter().find_map(|(_, answer)| match answer {
        Answer::Refused(detail) => Some(detail),
        _ => None,
    });
    if let Some(detail) = refused {
        let detail = format!("pool {}: {detail}", plan.id);
        return Err(ReadFailure::new(MissingReason::RpcResponseInvalid, detail));
    }
    let mut claims = kinds::claims(&Candidate { plan, factories }, answered);
    claims.retain(|claim| !matches!(claim, Claim::Foreign));
    // A contract that two kinds recognise is neither for certain.
    match (claims.pop(), claims.is_empty()) {
        (Some(Claim::Is(recognised)), true) => Ok(recognised),
        (Some(Claim::Refused(why)), true) => Err(refuse_pool(plan, &why)),
        _ => Err(refuse_pool(plan, &describe(answered))),
    }
}

/// The contract's answers, to explain a refusal.
fn describe(answered: &[(Probe, Answer)]) -> String {
    let empty = |answer: &Answer| answer.return_data().is_some_and(|data| data.is_empty());
    if answered.iter().all(|(_, answer)| empty(answer)) {
        return "no contract responds at this address; check that it is a contract on this chain"
            .to_owned();
    }
    let words = answered.iter().map(|(probe, answer)| match answer {
        Answer::Returned(data) => format!("{} {} bytes", probe.name, data.len()),
        other => format!("{} {}", probe.name, other.in_words()),
    });
    format!("not a supported kind of pool: {}", words.collect::<Vec<_>>().join(", "))
}

fn refuse_pool(plan: &PoolPlan, what: &str) -> ReadFailure {
    ReadFailure::new(MissingReason::PoolUnsupported, format!("pool {}: {what}", plan.id))
}

#[cfg(test)]
mod tests {
    use alloy::primitives::{Bytes, U256};
    use exitgap_core::pools::{Direction, FeeRate};

    use super::*;

    fn plan(fee: bool) -> PoolPlan {
        PoolPlan {
            id: "anvil:0x0000000000000000000000000000000000000001".parse().unwrap(),
            key: None,
            base: Direction::ZeroForOne,
            fee: fee.then_some(FeeRate { numerator: 3, denominator: 1_000 }),
            oracles: Vec::new(),
        }
    }

    /// Answers with this many words each, filled with small numbers; 0 means reverted.
    fn answers(words: [usize; 11]) -> Vec<Answer> {
        let word = U256::from(60).to_be_bytes::<32>();
        words
            .map(|words| match words {
                0 => Answer::Reverted,
                _ => Answer::Returned(Bytes::from(word.repeat(words))),
            })
            .to_vec()
    }

    fn recognised(fee: bool, answers: &[Answer]) -> Result<RecognisedPool<Reader>, ReadFailure> {
        let plan = plan(fee);
        let probes = kinds::probes(&plan, &[]);
        assert!(probes.len() >= answers.len());
        // The calls that only other kinds make.
        let others = core::iter::repeat(Answer::Reverted);
        let answered: Vec<_> =
            probes.into_iter().zip(answers.iter().cloned().chain(others)).collect();
        recognise(&plan, &[], &answered)
    }

    fn refusal(fee: bool, words: [usize; 11]) -> String {
        let refused = recognised(fee, &answers(words)).err().unwrap();
        assert_eq!(refused.reason, MissingReason::PoolUnsupported);
        refused.detail
    }

    #[test]
    fn only_the_two_kinds_are_recognised() {
        // `slot0` ends with a flag, so its words must not all be 60.
        let mut v3 = answers([1, 1, 1, 0, 0, 0, 7, 1, 1, 1, 1]);
        v3[6] = Answer::Returned(Bytes::from(vec![0; 224]));
        let name = |fee: bool, answers: &[Answer]| {
            recognised(fee, answers).map(|recognised| recognised.reader.name())
        };
        assert_eq!(name(false, &v3), Ok("concentrated_liquidity"));
        assert!(name(true, &v3).unwrap_err().detail.contains("remove `fee`"));
        let v2 = [1, 1, 1, 3, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(name(true, &answers(v2)), Ok("constant_product"));
        assert!(refusal(false, v2).contains("configure `fee`"));

        assert!(refusal(true, [1, 1, 0, 3, 0, 0, 0, 0, 0, 0, 0]).contains("factory reverted"));
        assert!(refusal(true, [1, 0, 1, 3, 0, 0, 0, 0, 0, 0, 0]).contains("token1 reverted"));
        // A `slot0` of six words, like that of a fork without a protocol fee.
        assert!(refusal(false, [1, 1, 1, 0, 0, 0, 6, 1, 1, 1, 1]).contains("slot0 192 bytes"));
        // A contract that answers like both kinds.
        v3[3] = Answer::Returned(Bytes::from(vec![0; 96]));
        assert!(name(false, &v3).is_err());
        let probes = kinds::probes(&plan(true), &[]).len();
        let nobody = vec![Answer::Returned(Bytes::new()); probes];
        let refused = name(true, &nobody).unwrap_err();
        assert!(refused.detail.contains("no contract responds"), "{refused}");
    }

    #[tokio::test]
    async fn a_pool_that_nodes_do_not_answer_for_delays_no_other() {
        use core::time::Duration;

        use crate::multicall::tests::{BLOCK, aggregated};
        use crate::rpc::Rpc;
        use crate::trial_node::{Reply, TrialNode, plan as plan_of, short_limits};

        let [guilty, other] = ["1", "2"].map(|digit| format!("{:0>64}", digit.repeat(40)));
        let is_alone = move |request: &serde_json::Value| {
            let data = request["params"][0]["data"].as_str().unwrap();
            data.contains(&guilty) && !data.contains(&other)
        };
        let hangs = is_alone.clone();
        let node = TrialNode::start(move |request| {
            if hangs(request) {
                Reply::Hang(Duration::from_secs(9))
            } else {
                Reply::Result(aggregated(request).1)
            }
        });
        let chain = plan_of(&[&node]).into_chains().remove(0);
        let rpc = Rpc::new(&chain, short_limits()).unwrap();
        let (begun, whole) = (Instant::now(), Duration::from_secs(3));
        let multicall = Multicall::new(&rpc, &chain, BLOCK, begun + whole);
        let of = |digit: &str| {
            let id = format!("anvil:0x{}", digit.repeat(40));
            PoolPlan { id: id.parse().unwrap(), ..plan(false) }
        };
        let plans = [of("1"), of("2")];
        let seen = identify(&multicall, &[], &plans.iter().collect::<Vec<_>>()).await.unwrap();
        assert!(node.asked("eth_call").iter().any(is_alone), "the control: it was asked alone");
        let [Err(first), Err(second)] = &seen[..] else { panic!("{seen:?}") };
        assert_eq!(first.reason, MissingReason::DeadlineExceeded, "{first}");
        assert!(first.detail.starts_with("pool anvil:0x1111"), "{first}");
        assert_eq!(second.reason, MissingReason::PoolUnsupported, "{second}");
        assert!(begun.elapsed() < whole * 2 / 3, "{:?}", begun.elapsed());
    }
}
