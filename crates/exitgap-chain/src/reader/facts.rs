//! Facts: the answers of contracts other than pools at the block, and the check of their configuration.

use std::collections::{BTreeMap, BTreeSet};

use exitgap_core::ids::{Address, Word};
use exitgap_core::snapshot::{BlockRef, Fact, Token};
use tokio::time::Instant;

use super::ChainReader;
use super::check::{CheckFinding, Severity, build_finding};
use crate::abi::{Answer, Call};
use crate::config::{FactPlan, Facts};
use crate::multicall::Multicall;

/// The expected number of words in an answer, for packing.
const WORDS: usize = 2;

/// The answers for each token's facts, or why there are none.
pub(super) type FactAnswers = BTreeMap<Address, Vec<(FactPlan, Result<Vec<Word>, String>)>>;

/// The facts of these tokens.
pub(super) fn select_facts(
    facts: &Facts,
    tokens: impl IntoIterator<Item = Address>,
) -> Vec<(Address, &FactPlan)> {
    let tokens: BTreeSet<Address> = tokens.into_iter().collect();
    let of = |token: Address| facts.get(&token).into_iter().flatten().map(move |it| (token, it));
    tokens.into_iter().flat_map(of).collect()
}

/// The calls for these facts, in order.
pub(super) fn calls(asked: &[(Address, &FactPlan)]) -> Vec<Call> {
    let call = |(_, fact): &(Address, &FactPlan)| Call {
        target: fact.contract,
        data: data(&fact.call).into(),
        answer_bytes: 32 * WORDS,
    };
    asked.iter().map(call).collect()
}

/// Decodes the answers to these calls.
pub(super) fn decode_answers(asked: &[(Address, &FactPlan)], answers: &[Answer]) -> FactAnswers {
    let mut told = FactAnswers::new();
    for ((token, fact), answer) in asked.iter().zip(answers) {
        told.entry(*token).or_default().push(((*fact).clone(), words(answer)));
    }
    told
}

/// The facts of a contract's tokens, in addition to the facts about its factory: as many as fit into a snapshot, those
/// of the first tokens first. If a call is a fact of two tokens, it counts once, whatever the second answer was.
pub(super) fn of_tokens(own: &[Fact], tokens: &[Token], told: &FactAnswers) -> Vec<Fact> {
    let of_tokens = tokens.iter().filter_map(|token| told.get(&token.address)).flatten();
    let read = of_tokens.filter_map(|(FactPlan { name, contract, call }, words)| {
        let words = words.as_ref().ok()?.clone();
        Some(Fact { name: *name, contract: *contract, call: call.clone(), words })
    });
    let mut facts: Vec<Fact> = own.iter().cloned().chain(read).take(Fact::MAX).collect();
    facts.sort();
    facts.dedup_by(|a, b| (a.name, a.contract, &a.call) == (b.name, b.contract, &b.call));
    facts
}

/// The bytes of a call whose text is already validated.
fn data(call: &str) -> Vec<u8> {
    let digit = |c: u8| char::from(c).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, _) = call.as_bytes().as_chunks::<2>();
    let byte = |[high, low]: &[u8; 2]| Some((digit(*high)? << 4) | digit(*low)?);
    pairs.iter().skip(1).filter_map(byte).collect()
}

/// The words in an answer: complete words, at least one, and at most as many as a snapshot can hold.
fn words(answer: &Answer) -> Result<Vec<Word>, String> {
    let returned =
        answer.return_data().ok_or_else(|| format!("its contract {}", answer.in_words()))?;
    match returned.as_chunks::<32>() {
        ([], []) => Err("its contract returned no data; check that the contract exists".to_owned()),
        (words, []) if words.len() <= Fact::MAX_WORDS => {
            Ok(words.iter().copied().map(Word).collect())
        }
        _ => Err(format!(
            "its contract returned {} bytes; a fact must be 1 to {} whole words",
            returned.len(),
            Fact::MAX_WORDS
        )),
    }
}

impl ChainReader {
    /// Checks that each fact can be read at this block, and that its token belongs to a pool that is read.
    pub(super) async fn check_facts(
        &self,
        block: BlockRef,
        deadline: Instant,
    ) -> Vec<CheckFinding> {
        let facts = self.plan.facts();
        let asked = select_facts(facts, facts.keys().copied());
        if asked.is_empty() {
            return Vec::new();
        }
        let identities = self.memory.iter().filter_map(|memory| memory.identity.as_ref());
        let read: BTreeSet<Address> = identities
            .flat_map(|identity| identity.tokens.iter().map(|token| token.address))
            .collect();
        let multicall = Multicall::new(&self.rpc, &self.plan, block, deadline);
        let answers = match multicall.read_calls(&calls(&asked)).await {
            Ok(answers) => answers,
            Err(failure) => {
                let message = format!("could not be read: {}", failure.detail);
                return vec![build_finding(Severity::Warning, "facts", message)];
            }
        };
        let found = asked.iter().zip(&answers);
        found.map(|((token, fact), answer)| judge(*token, fact, answer, &read)).collect()
    }
}

fn judge(
    token: Address,
    fact: &FactPlan,
    answer: &Answer,
    read: &BTreeSet<Address>,
) -> CheckFinding {
    let subject = format!("fact {} of token {token}", fact.name);
    let (severity, message) = match words(answer) {
        Err(why) => {
            let at = fact.contract;
            (Severity::Warning, format!("{why}; check contract {at} and call {}", fact.call))
        }
        Ok(_) if !read.contains(&token) => {
            let message = "its token is not in any pool that could be read; check its address";
            (Severity::Warning, message.to_owned())
        }
        Ok(words) => {
            let shown: Vec<String> = words.iter().take(4).map(Word::to_string).collect();
            (Severity::Fine, format!("words: {}; {}", words.len(), shown.join(" ")))
        }
    };
    build_finding(severity, &subject, message)
}

#[cfg(test)]
mod tests {
    use exitgap_core::snapshot::Symbol;

    use super::*;

    fn returned(bytes: usize) -> Answer {
        Answer::Returned(vec![7; bytes].into())
    }

    #[test]
    fn a_fact_is_whole_words_and_never_none() {
        assert_eq!(words(&returned(64)).map(|words| words.len()), Ok(2));
        assert_eq!(words(&returned(1_024)).map(|words| words.len()), Ok(32));
        for (answer, said) in [
            (returned(0), "returned no data"),
            (returned(33), "33 bytes"),
            (returned(31), "31 bytes"),
            (returned(1_056), "1 to 32 whole words"),
            (Answer::Reverted, "reverted"),
            (Answer::Refused("too large".to_owned()), "too large"),
        ] {
            assert!(words(&answer).unwrap_err().contains(said), "{answer:?}");
        }
    }

    #[test]
    fn a_pool_of_many_facts_has_those_of_its_first_tokens() {
        let fact = |contract: u8| FactPlan {
            name: "paused".parse().unwrap(),
            contract: Address([contract; 20]),
            call: "0x5c975abb".to_owned(),
        };
        let words = |facts: std::ops::Range<u8>| {
            facts.map(|n| (fact(n), Ok(vec![Word([n; 32])]))).collect()
        };
        let token =
            |n: u8| Token { address: Address([n; 20]), decimals: 18, symbol: Symbol::clean("T") };
        let told: FactAnswers =
            (0..5).map(|n| (Address([n; 20]), words(8 * n..8 * n + 8))).collect();
        let own = Fact {
            name: "pool_key".parse().unwrap(),
            contract: Address([255; 20]),
            call: "0x5c975abb".to_owned(),
            words: Vec::new(),
        };
        let facts =
            of_tokens(std::slice::from_ref(&own), &(0..5).map(token).collect::<Vec<_>>(), &told);
        assert_eq!(facts.len(), Fact::MAX);
        assert!(facts.contains(&own) && facts.iter().any(|fact| fact.contract.0 == [30; 20]));
        assert!(facts.iter().all(|fact| fact.contract.0 != [31; 20]), "there is no room for it");
    }

    #[test]
    fn a_call_that_two_tokens_name_is_one_fact() {
        let fact = FactPlan {
            name: "paused".parse().unwrap(),
            contract: Address([9; 20]),
            call: "0x5c975abb".to_owned(),
        };
        let token =
            |n: u8| Token { address: Address([n; 20]), decimals: 18, symbol: Symbol::clean("T") };
        // A contract whose answer depends on the remaining gas.
        let answered = |n: u8| (Address([n; 20]), vec![(fact.clone(), Ok(vec![Word([n; 32])]))]);
        let facts = of_tokens(&[], &[token(1), token(2)], &[answered(1), answered(2)].into());
        assert_eq!(facts.len(), 1);
    }

    #[test]
    fn what_is_asked_is_the_bytes_that_are_written() {
        let fact = FactPlan {
            name: "paused".parse().unwrap(),
            contract: Address([9; 20]),
            call: "0x5c975abb0ff0".to_owned(),
        };
        let token = Address([7; 20]);
        let calls = calls(&[(token, &fact)]);
        assert_eq!(calls[0].data.as_ref(), [0x5c, 0x97, 0x5a, 0xbb, 0x0f, 0xf0]);
        let says = |answer, read: &[Address]| {
            judge(token, &fact, &answer, &read.iter().copied().collect()).to_string()
        };
        assert!(says(returned(32), &[token]).starts_with("ok: fact paused of token"));
        assert!(says(returned(32), &[]).contains("not in any pool"));
        assert!(says(Answer::Reverted, &[token]).contains("check contract"));
    }
}
