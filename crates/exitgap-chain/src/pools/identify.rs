//! What kind of contract is behind an address: asked of the contract, never assumed.

use std::collections::BTreeMap;

use exitgap_core::ids::Address;
use exitgap_core::series::MissingReason;
use exitgap_core::snapshot::Token;

use super::concentrated::{self, SLOT0_WORDS};
use super::constant_product::{self, RESERVES_WORDS};
use super::{Identity, Rules, tokens};
use crate::abi::{Answer, Call, Pool, Solidly, V2Pair, V3Pool, own};
use crate::config::PoolPlan;
use crate::missing::Missing;
use crate::multicall::Multicall;
use crate::rpc::Failure;

/// The questions asked of every contract, in their order.
const PROBES: [&str; 11] = [
    "token0",
    "token1",
    "factory",
    "getReserves",
    "slot0",
    "liquidity",
    "fee",
    "tickSpacing",
    "tickBitmap",
    "stable",
    "metadata",
];

/// Words of `metadata`'s answer.
const METADATA_WORDS: usize = 7;

fn probes(pool: Address) -> [Call; PROBES.len()] {
    let [slot0, liquidity, fee] = concentrated::price_calls(pool);
    [
        Call::new(pool, &Pool::token0Call {}, 1),
        Call::new(pool, &Pool::token1Call {}, 1),
        Call::new(pool, &Pool::factoryCall {}, 1),
        constant_product::reserves_call(pool),
        slot0,
        liquidity,
        fee,
        Call::new(pool, &V3Pool::tickSpacingCall {}, 1),
        concentrated::word_call(pool, 0),
        Call::new(pool, &Solidly::stableCall {}, 1),
        Call::new(pool, &Solidly::metadataCall {}, METADATA_WORDS),
    ]
}

/// Identifies the pools of `plans`: kind, tokens, constant rules. A pool that is none, or whose
/// tokens cannot be used, is refused by name and does not touch the others.
pub(crate) async fn identify(
    multicall: &Multicall<'_>,
    plans: &[&PoolPlan],
) -> Result<Vec<Result<Identity, Missing>>, Failure> {
    let calls: Vec<Call> = plans.iter().flat_map(|plan| probes(plan.address)).collect();
    let answers = multicall.read_once(&calls).await?;
    let mut seen = Vec::with_capacity(plans.len());
    for (plan, answers) in plans.iter().zip(answers.chunks_exact(PROBES.len())) {
        let mut rules = recognise(plan, answers);
        if rules.is_err() && plans.len() > 1 {
            // In company, a call may fail for gas that others used up.
            let alone = multicall.read_once(&probes(plan.address)).await?;
            rules = recognise(plan, &alone);
        }
        seen.push(rules);
    }
    let tokens = read_tokens(multicall, seen.iter().flatten().flat_map(|(_, pair)| *pair)).await?;
    Ok(plans
        .iter()
        .zip(seen)
        .map(|(plan, seen)| {
            let (rules, pair) = seen?;
            let token = |address: Address| -> Result<Token, Missing> {
                tokens.get(&address).cloned().unwrap_or_else(|| {
                    Err(unsupported(plan, &format!("token {address} was not read")))
                })
            };
            Ok(Identity { rules, tokens: [token(pair[0])?, token(pair[1])?] })
        })
        .collect())
}

async fn read_tokens(
    multicall: &Multicall<'_>,
    tokens: impl Iterator<Item = Address>,
) -> Result<BTreeMap<Address, Result<Token, Missing>>, Failure> {
    let mut addresses: Vec<Address> = tokens.collect();
    addresses.sort_unstable();
    addresses.dedup();
    let calls: Vec<Call> = addresses.iter().flat_map(|token| tokens::calls(*token)).collect();
    let answers = multicall.read(&calls).await?;
    Ok(addresses
        .into_iter()
        .zip(answers.chunks_exact(tokens::TOKEN_CALLS))
        .map(|(token, answers)| (token, tokens::decode(token, answers)))
        .collect())
}

/// The rules and the two tokens of a contract that answered the probes so.
fn recognise(plan: &PoolPlan, answers: &[Answer]) -> Result<(Rules, [Address; 2]), Missing> {
    let [
        token0,
        token1,
        factory,
        reserves,
        slot0,
        liquidity,
        fee,
        spacing,
        bitmap,
        stable,
        metadata,
    ] = answers
    else {
        return Err(unsupported(plan, "it was not asked as it should be"));
    };
    if let Some(Answer::Refused(detail)) =
        answers.iter().find(|answer| matches!(answer, Answer::Refused(_)))
    {
        let detail = format!("pool {}: {detail}", plan.id);
        return Err(Missing::new(MissingReason::RpcResponseInvalid, detail));
    }
    let pair = token0.exact::<Pool::token0Call>(1).zip(token1.exact::<Pool::token1Call>(1));
    let has_factory = factory.exact::<Pool::factoryCall>(1).is_some();
    let has_reserves = reserves.exact::<V2Pair::getReservesCall>(RESERVES_WORDS).is_some();
    let has_slot0 = slot0.exact::<V3Pool::slot0Call>(SLOT0_WORDS).is_some();
    let tick_spacing = spacing.exact::<V3Pool::tickSpacingCall>(1);
    let has_ticks = liquidity.exact::<V3Pool::liquidityCall>(1).is_some()
        && fee.exact::<V3Pool::feeCall>(1).is_some()
        && bitmap.exact::<V3Pool::tickBitmapCall>(1).is_some();
    let (Some((token0, token1)), true) = (pair, has_factory) else {
        return Err(unsupported(plan, &describe(answers)));
    };
    // They answer as a v2 pair does, and fill by other rules.
    let is_solidly = stable.exact::<Solidly::stableCall>(1).is_some()
        || metadata.exact::<Solidly::metadataCall>(METADATA_WORDS).is_some();
    if has_reserves && is_solidly {
        let what = "a Solidly-type pair (as Aerodrome's and Velodrome's), which is not read yet";
        return Err(unsupported(plan, what));
    }
    let rules = match (has_reserves, has_slot0, tick_spacing) {
        (true, false, None) => {
            let fee = plan.fee.ok_or_else(|| {
                unsupported(plan, "a v2 pair does not tell its fee; configure `fee`")
            })?;
            Rules::ConstantProduct { fee }
        }
        (false, true, Some(spacing)) if has_ticks => {
            if plan.fee.is_some() {
                return Err(unsupported(plan, "a v3 pool tells its own fee; remove `fee`"));
            }
            let tick_spacing = spacing.as_i32();
            if !(1..16_384).contains(&tick_spacing) {
                let words = format!("its tick spacing is {tick_spacing}, not from 1 to 16383");
                return Err(unsupported(plan, &words));
            }
            Rules::Concentrated { tick_spacing }
        }
        _ => return Err(unsupported(plan, &describe(answers))),
    };
    Ok((rules, [own(token0), own(token1)]))
}

/// What the contract answered, for whoever wonders why it is refused.
fn describe(answers: &[Answer]) -> String {
    let empty = |answer: &Answer| answer.returned().is_some_and(|data| data.is_empty());
    if answers.iter().all(empty) {
        return "nothing answers at this address; is it a contract of this chain?".to_owned();
    }
    let words = PROBES.iter().zip(answers).map(|(probe, answer)| match answer {
        Answer::Returned(data) => format!("{probe} {} bytes", data.len()),
        other => format!("{probe} {}", other.in_words()),
    });
    format!("neither a v2 pair nor a v3 pool: {}", words.collect::<Vec<_>>().join(", "))
}

fn unsupported(plan: &PoolPlan, what: &str) -> Missing {
    Missing::new(MissingReason::PoolUnsupported, format!("pool {}: {what}", plan.id))
}

#[cfg(test)]
mod tests {
    use alloy::primitives::{Bytes, U256};
    use exitgap_core::pools::{Direction, FeeRate};

    use super::*;

    fn plan(fee: bool) -> PoolPlan {
        PoolPlan {
            id: "anvil:0x0000000000000000000000000000000000000001".parse().unwrap(),
            address: "0x0000000000000000000000000000000000000001".parse().unwrap(),
            base: Direction::ZeroForOne,
            fee: fee.then_some(FeeRate { numerator: 3, denominator: 1_000 }),
            oracles: Vec::new(),
        }
    }

    /// Answers of this many words each, small numbers; 0 reverts.
    fn answers(words: [usize; 11]) -> Vec<Answer> {
        let word = U256::from(60).to_be_bytes::<32>();
        words
            .map(|words| match words {
                0 => Answer::Reverted,
                _ => Answer::Returned(Bytes::from(word.repeat(words))),
            })
            .to_vec()
    }

    fn refusal(fee: bool, words: [usize; 11]) -> String {
        let refused = recognise(&plan(fee), &answers(words)).unwrap_err();
        assert_eq!(refused.reason, MissingReason::PoolUnsupported);
        refused.detail
    }

    #[test]
    fn only_the_two_kinds_are_recognised() {
        // `slot0` ends with a flag, so its small numbers must not all be 60.
        let mut v3 = answers([1, 1, 1, 0, 7, 1, 1, 1, 1, 0, 0]);
        v3[4] = Answer::Returned(Bytes::from(vec![0; 224]));
        assert_eq!(
            recognise(&plan(false), &v3).unwrap().0,
            Rules::Concentrated { tick_spacing: 60 }
        );
        assert!(recognise(&plan(true), &v3).unwrap_err().detail.contains("remove `fee`"));
        let v2 = [1, 1, 1, 3, 0, 0, 0, 0, 0, 0, 0];
        assert!(matches!(
            recognise(&plan(true), &answers(v2)).unwrap().0,
            Rules::ConstantProduct { .. }
        ));
        assert!(refusal(false, v2).contains("configure `fee`"));

        assert!(refusal(true, [1, 1, 0, 3, 0, 0, 0, 0, 0, 0, 0]).contains("factory reverted"));
        assert!(refusal(true, [1, 0, 1, 3, 0, 0, 0, 0, 0, 0, 0]).contains("token1 reverted"));
        // A slot0 of six words, as a fork without a protocol fee answers.
        assert!(refusal(false, [1, 1, 1, 0, 6, 1, 1, 1, 1, 0, 0]).contains("slot0 192 bytes"));
        // Both kinds at once.
        v3[3] = Answer::Returned(Bytes::from(vec![0; 96]));
        assert!(recognise(&plan(false), &v3).is_err());
        let nobody = vec![Answer::Returned(Bytes::new()); 11];
        let refused = recognise(&plan(true), &nobody).unwrap_err();
        assert!(refused.detail.contains("nothing answers"), "{refused}");
    }
}
