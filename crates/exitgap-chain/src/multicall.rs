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
use crate::rpc::{Failure, Rpc, RpcError, value};

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
        let most_calls = self.rpc.calls_per_multicall();
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

    /// Reads one part, cut in halves where the nodes refuse its size, down to the single call
    /// that they refuse. Nodes that refuse several single calls and answer none are at fault
    /// themselves.
    async fn read_part(&self, part: &[Call]) -> Result<Vec<Answer>, Failure> {
        let mut answers = Vec::with_capacity(part.len());
        let (mut waiting, mut splits, mut refused) = (vec![part], 0, 0);
        while let Some(calls) = waiting.pop() {
            let failure = match self.request(calls).await {
                Ok(more) => {
                    answers.extend(more);
                    continue;
                }
                Err(failure) => failure,
            };
            let hopeless = splits >= Self::MAX_SPLITS
                || (refused >= Self::MAX_REFUSED && answers.len() == refused);
            if !failure.error.is_about_size() || hopeless {
                return Err(failure);
            }
            if calls.len() == 1 {
                refused += 1;
                answers.push(Answer::Refused(failure.detail));
            } else {
                splits += 1;
                let (first, second) = calls.split_at(calls.len() / 2);
                self.rpc.ask_for_fewer_calls(second.len());
                waiting.extend([second, first]);
            }
        }
        Ok(answers)
    }

    async fn request(&self, calls: &[Call]) -> Result<Vec<Answer>, Failure> {
        let params = self.params(calls);
        let decode = |raw: &RawValue| self.decode(raw, calls.len());
        self.rpc.request("eth_call", &params, self.deadline, decode).await
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
