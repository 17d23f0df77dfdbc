//! Many calls in one request, all at one block's hash, through Multicall3's `aggregate3`.
//!
//! Every request asks three things more: the number and the timestamp of the block it runs in, and
//! the chain's id. An answer in which they are not the block's, or not the chain's, is not believed.

use alloy::primitives::Bytes;
use alloy::sol_types::SolCall;
use exitgap_core::ids::Address;
use exitgap_core::snapshot::BlockRef;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::abi::{Answer, ArbSys, Call, Multicall3, wire};
use crate::blocks::contradiction;
use crate::config::{ChainPlan, NumberSource};
use crate::rpc::{Failure, Manner, Measure, Rpc, RpcError, Weight, value};

/// Arbitrum's system contract.
const ARB_SYS: Address = Address([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100]);

/// Reads calls at one block.
#[derive(Debug, Clone)]
pub(crate) struct Multicall<'a> {
    rpc: &'a Rpc,
    multicall3: Address,
    number_source: NumberSource,
    chain_id: u64,
    block: BlockRef,
    /// Accounts that are others than the chain's during the call.
    overrides: Option<Value>,
    deadline: Instant,
}

impl<'a> Multicall<'a> {
    /// Extra requests one [`Multicall::read_calls`] may make to isolate calls that nodes refuse.
    const MAX_SPLITS: usize = 64;
    /// Single calls that may be refused before any is answered.
    const MAX_REFUSED: usize = 4;

    pub(crate) fn new(rpc: &'a Rpc, plan: &ChainPlan, block: BlockRef, deadline: Instant) -> Self {
        Self {
            rpc,
            multicall3: plan.multicall3(),
            number_source: plan.number_source(),
            chain_id: plan.chain_id(),
            block,
            overrides: None,
            deadline,
        }
    }

    /// The same with these accounts in place of the chain's: a node's state overrides, by address.
    pub(crate) fn with_overrides(&self, accounts: Value) -> Self {
        Self { overrides: Some(accounts), ..self.clone() }
    }

    /// The block that is read.
    pub(crate) fn block(&self) -> BlockRef {
        self.block
    }

    /// The answers to `calls`, in their order.
    ///
    /// A call that fails because others used up the gas looks like one that reverts: what did
    /// not return is asked once more, without those that did.
    pub(crate) async fn read_calls(&self, calls: &[Call]) -> Result<Vec<Answer>, Failure> {
        let mut answers = self.read_once(calls).await?;
        let failed: Vec<usize> =
            (0..calls.len()).filter(|index| answers[*index] == Answer::Reverted).collect();
        if failed.is_empty() || failed.len() == calls.len() {
            return Ok(answers);
        }
        let again: Vec<Call> = failed.iter().map(|index| calls[*index].clone()).collect();
        for (index, answer) in failed.into_iter().zip(self.read_once(&again).await?) {
            answers[index] = answer;
        }
        Ok(answers)
    }

    /// The answers to `calls`, in their order, each asked once.
    pub(crate) async fn read_once(&self, calls: &[Call]) -> Result<Vec<Answer>, Failure> {
        let parts: Vec<Vec<Answer>> = stream::iter(self.pack(calls))
            .map(|part| self.read_part(part))
            .buffered(self.rpc.limits().concurrency.max(1))
            .try_collect()
            .await?;
        Ok(parts.into_iter().flatten().collect())
    }

    /// Cuts `calls` into parts within the bounds on count and expected answer.
    fn pack<'c>(&self, calls: &'c [Call]) -> Vec<&'c [Call]> {
        // An answer comes with its success flag, its place, its length and padding.
        const AROUND: usize = 128;
        let most_calls = usize::try_from(self.rpc.most_of(Measure::Calls)).unwrap_or(usize::MAX);
        let most_bytes = self.rpc.limits().multicall_answer_bytes;
        let (mut parts, mut start, mut bytes) = (Vec::new(), 0, 0);
        for (index, call) in calls.iter().enumerate() {
            let more = call.answer_bytes + AROUND;
            if index > start && (index - start >= most_calls || bytes + more > most_bytes) {
                parts.push(&calls[start..index]);
                (start, bytes) = (index, 0);
            }
            bytes += more;
        }
        if start < calls.len() {
            parts.push(&calls[start..]);
        }
        parts
    }

    /// Reads one part, cut in halves where the nodes refuse its size or nothing is known of their refusal, down to the
    /// single call that they refuse. Nodes that refuse several single calls and answer none are at fault themselves: they
    /// are asked for the whole part again, as long as there is time, unless they say that it is its size.
    async fn read_part(&self, part: &[Call]) -> Result<Vec<Answer>, Failure> {
        let mut answers = Vec::with_capacity(part.len());
        let (mut waiting, mut splits, mut refused) = (vec![part], 0, 0);
        let (mut unexplained, mut node_is_at_fault) = (false, false);
        while let Some(calls) = waiting.pop() {
            let is_part = calls.len() < part.len() && calls.len() > 1;
            let narrows = Manner { narrows: true, is_part, ..Manner::PATIENT };
            let failure = match self.request(calls, narrows).await {
                Ok(more) => {
                    answers.extend(more);
                    if core::mem::take(&mut unexplained) {
                        self.rpc.serves_no_more_than(weight_of(calls));
                    }
                    continue;
                }
                Err(failure) => failure,
            };
            if !failure.may_narrow() {
                return Err(failure);
            }
            let hopeless = splits >= Self::MAX_SPLITS
                || (refused >= Self::MAX_REFUSED && answers.len() == refused);
            if hopeless && failure.is_about_size() {
                return Err(failure);
            }
            if hopeless {
                return self.request(part, Manner::PATIENT).await;
            }
            if calls.len() == 1 {
                refused += 1;
                node_is_at_fault |= !failure.is_about_size();
                answers.push(Answer::Refused(failure.detail));
            } else {
                splits += 1;
                unexplained = !failure.is_about_size();
                let (first, second) = calls.split_at(calls.len() / 2);
                waiting.extend([second, first]);
            }
        }
        if node_is_at_fault && refused == answers.len() {
            // None was answered at all.
            return self.request(part, Manner::PATIENT).await;
        }
        Ok(answers)
    }

    /// Asks for these calls.
    async fn request(&self, calls: &[Call], manner: Manner) -> Result<Vec<Answer>, Failure> {
        let params = self.params(calls);
        let decode = |raw: &RawValue| self.decode(raw, calls.len());
        let manner = Manner { weight: Some(weight_of(calls)), ..manner };
        self.rpc.request_in(manner, "eth_call", &params, self.deadline, decode).await
    }

    fn params(&self, calls: &[Call]) -> Value {
        let number = match self.number_source {
            NumberSource::BlockNumber => {
                Call::new(self.multicall3, &Multicall3::getBlockNumberCall {}, 1)
            }
            NumberSource::ArbSys => Call::new(ARB_SYS, &ArbSys::arbBlockNumberCall {}, 1),
        };
        let timestamp = Call::new(self.multicall3, &Multicall3::getCurrentBlockTimestampCall {}, 1);
        let chain_id = Call::new(self.multicall3, &Multicall3::getChainIdCall {}, 1);
        let calls = [&number, &timestamp, &chain_id]
            .into_iter()
            .chain(calls)
            .map(|call| Multicall3::Call3 {
                target: wire(call.target),
                allowFailure: true,
                callData: call.data.clone(),
            })
            .collect();
        let data = Bytes::from(Multicall3::aggregate3Call { calls }.abi_encode());
        let call = json!({ "to": self.multicall3.to_string(), "data": data });
        let at = json!({ "blockHash": self.block.hash.to_string(), "requireCanonical": true });
        let mut params = vec![call, at];
        params.extend(self.overrides.clone());
        Value::Array(params)
    }

    fn decode(&self, raw: &RawValue, calls: usize) -> Result<Vec<Answer>, RpcError> {
        let data: Bytes = value(raw)?;
        if data.is_empty() {
            let (at, number) = (self.multicall3, self.block.number);
            let detail = format!("Multicall3 at {at} returns no data at block {number}");
            return Err(RpcError::Malformed(detail));
        }
        let results = Multicall3::aggregate3Call::abi_decode_returns_validate(&data)
            .map_err(|error| RpcError::Malformed(format!("aggregate3: {error}")))?;
        if results.len() != calls + 3 {
            return Err(contradiction("the number of answers", calls + 3, results.len()));
        }
        let mut answers = results.into_iter().map(|result| {
            if result.success { Answer::Returned(result.returnData) } else { Answer::Reverted }
        });
        let mut check = |what: &'static str, expected: u64| {
            let answer = answers.next().unwrap_or(Answer::Reverted);
            let found = answer.exact::<Multicall3::getBlockNumberCall>(1);
            match found {
                Some(found) if found == expected => Ok(None),
                Some(found) => Ok(Some(found)),
                None => Err(contradiction(what, expected, answer.in_words())),
            }
        };
        let (number, timestamp) =
            ("the block number at the pinned hash", "the timestamp at the pinned hash");
        let other_number = check(number, self.block.number)?;
        let other_timestamp = check(timestamp, self.block.timestamp)?;
        // Another chain's block is of another chain first, whatever its number.
        if let Some(found) = check("the chain's id at the pinned hash", self.chain_id)? {
            let found = found.try_into().unwrap_or(u64::MAX);
            return Err(RpcError::WrongChainId { expected: self.chain_id, found });
        }
        if let Some(found) = other_number {
            return Err(contradiction(number, self.block.number, found));
        }
        if let Some(found) = other_timestamp {
            return Err(contradiction(timestamp, self.block.timestamp, found));
        }
        Ok(answers.collect())
    }
}

fn weight_of(calls: &[Call]) -> Weight {
    let amount = u64::try_from(calls.len()).unwrap_or(u64::MAX);
    Weight { of: Measure::Calls, amount }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use alloy::primitives::U256;
    use exitgap_core::ids::BlockHash;

    use super::*;
    use crate::trial_node::{Reply, TrialNode, plan, short_limits};

    const BLOCK: BlockRef =
        BlockRef { hash: BlockHash([9; 32]), number: 77, timestamp: 1_700_000_000 };

    /// The contract's answer to a request: the block's own words, and for each call its last byte.
    fn aggregated(request: &Value) -> (usize, Value) {
        let data: Bytes = serde_json::from_value(request["params"][0]["data"].clone()).unwrap();
        let calls = Multicall3::aggregate3Call::abi_decode(&data).unwrap().calls;
        let own = [BLOCK.number, BLOCK.timestamp, 31_337].map(U256::from);
        let of_call = |call: &Multicall3::Call3| U256::from(*call.callData.last().unwrap());
        let results = own.into_iter().chain(calls.iter().skip(3).map(of_call));
        let results: Vec<Multicall3::Result> = results
            .map(|word| Multicall3::Result {
                success: true,
                returnData: word.to_be_bytes::<32>().into(),
            })
            .collect();
        let bytes = Multicall3::aggregate3Call::abi_encode_returns(&results);
        (calls.len() - 3, json!(Bytes::from(bytes)))
    }

    /// A node that refuses, by how many calls there are and how often it was asked; else it answers.
    fn node(refuse: impl Fn(usize, usize) -> Option<Reply> + Send + Sync + 'static) -> TrialNode {
        let asked = AtomicUsize::new(0);
        TrialNode::start(move |request| {
            let (calls, answer) = aggregated(request);
            let before = asked.fetch_add(1, Ordering::SeqCst);
            refuse(calls, before).unwrap_or(Reply::Result(answer))
        })
    }

    fn calls(count: u8) -> Vec<Call> {
        let call = |number: u8| Call {
            target: Address([3; 20]),
            data: Bytes::from(vec![0, 0, 0, number]),
            answer_bytes: 32,
        };
        (0..count).map(call).collect()
    }

    async fn read_calls(node: &TrialNode, count: u8) -> Result<Vec<Answer>, Failure> {
        let plan = plan(&[node]).into_chains().remove(0);
        let rpc = Rpc::new(&plan, short_limits()).unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        Multicall::new(&rpc, &plan, BLOCK, deadline).read_calls(&calls(count)).await
    }

    fn expected(count: u8) -> Vec<Answer> {
        let word = |number: u8| U256::from(number).to_be_bytes::<32>();
        (0..count).map(|number| Answer::Returned(word(number).into())).collect()
    }

    fn error(message: &str) -> Reply {
        Reply::Error(json!({ "code": -32_000, "message": message }))
    }

    #[tokio::test]
    async fn a_refusal_that_nobody_knows_is_narrowed_and_then_asked_again() {
        // A limit in words of its own.
        let small = node(|calls, _| (calls > 20).then(|| error("qux")));
        assert_eq!(read_calls(&small, 100).await.unwrap(), expected(100));
        // One call that makes the node fail costs that call alone.
        let failing = TrialNode::start(|request| {
            let (_, answer) = aggregated(request);
            let data = request["params"][0]["data"].as_str().unwrap();
            let has_call = data.contains(&format!("{:0<64}", "0000002a"));
            if has_call { error("qux") } else { Reply::Result(answer) }
        });
        let answers = read_calls(&failing, 100).await.unwrap();
        let refused = |answer: &Answer| matches!(answer, Answer::Refused(_));
        let places: Vec<usize> =
            (0..answers.len()).filter(|place| refused(&answers[*place])).collect();
        assert_eq!(places, [0x2a]);
        // A node that refuses everything for a while is asked again for as long as there is time.
        let out = node(|_, asked| (asked < 40).then(|| error("qux")));
        assert_eq!(read_calls(&out, 100).await.unwrap(), expected(100));
        assert!(out.asked("eth_call").len() > 40);
    }

    #[tokio::test]
    async fn what_is_too_heavy_is_halved() {
        for message in ["execution aborted (timeout = 5s)", "request timed out", "out of gas"] {
            let heavy = node(|calls, _| (calls > 30).then(|| error(message)));
            assert_eq!(read_calls(&heavy, 100).await.unwrap(), expected(100));
            let asked: Vec<usize> =
                heavy.asked("eth_call").iter().map(|request| aggregated(request).0).collect();
            assert_eq!(asked, [100, 50, 25, 25, 50, 25, 25], "{message}");
        }
        // A size that is refused however small it is ends at once.
        let refusing = node(|_, _| Some(error("response is too big")));
        assert!(read_calls(&refusing, 100).await.unwrap_err().is_about_size());
        assert!(refusing.asked("eth_call").len() < 20);
    }
}
