//! Many calls in one request, all at the hash of one block, through Multicall3's `aggregate3`.
//!
//! Every request also reads the number and the timestamp of the block in which it runs, and the chain's id. An answer
//! with other values than those of the block and the chain is refused.

use std::collections::BTreeMap;

use alloy::primitives::Bytes;
use alloy::sol_types::SolCall;
use exitgap_core::ids::Address;
use exitgap_core::snapshot::BlockRef;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use crate::abi::{Answer, ArbSys, Call, Multicall3, wire};
use crate::blocks::contradiction;
use crate::config::{ChainPlan, NumberSource};
use crate::narrowing::MAX_SPLITS;
use crate::rpc::{Failure, Measure, RetryPolicy, Rpc, RpcError, Weight, value};

/// Arbitrum's system contract.
const ARB_SYS: Address = Address([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100]);

/// Reads calls at a fixed block.
#[derive(Debug, Clone)]
pub(crate) struct Multicall<'a> {
    rpc: &'a Rpc,
    multicall3: Address,
    number_source: NumberSource,
    chain_id: u64,
    block: BlockRef,
    /// Accounts that are replaced during the call.
    overrides: Option<Value>,
    /// The block is named by its number, and not by its hash.
    by_number: bool,
    deadline: Instant,
}

impl<'a> Multicall<'a> {
    pub(crate) fn new(rpc: &'a Rpc, plan: &ChainPlan, block: BlockRef, deadline: Instant) -> Self {
        Self {
            rpc,
            multicall3: plan.multicall3(),
            number_source: plan.number_source(),
            chain_id: plan.chain_id(),
            block,
            overrides: None,
            by_number: false,
            deadline,
        }
    }

    /// The same with these accounts replaced: a node's state overrides, by address.
    pub(crate) fn with_overrides(&self, accounts: Value) -> Self {
        Self { overrides: Some(accounts), ..self.clone() }
    }

    /// The same until another instant, where that is earlier.
    pub(crate) fn until(&self, deadline: Instant) -> Self {
        Self { deadline: deadline.min(self.deadline), ..self.clone() }
    }

    /// How many requests are sent at once.
    pub(crate) fn concurrency(&self) -> usize {
        self.rpc.limits().concurrency.max(1)
    }

    /// Until when it reads.
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// The same at the block's number, whatever block that is. To find out what a node serves, and not to record.
    pub(crate) fn by_number(&self) -> Self {
        Self { by_number: true, ..self.clone() }
    }

    /// Requires that the nodes serve the block's state.
    pub(crate) async fn read_block(&self) -> Result<(), Failure> {
        self.request(&[], RetryPolicy::default()).await.map(drop)
    }

    /// Requires that the nodes accept this many calls in one request.
    pub(crate) async fn try_calls(&self, count: usize) -> Result<(), Failure> {
        let call = Call::new(self.multicall3, &Multicall3::getBlockNumberCall {}, 1);
        let once = RetryPolicy { narrows: true, is_part: true, ..RetryPolicy::default() };
        self.request(&vec![call; count], once).await.map(drop)
    }

    /// The block at which calls are read.
    pub(crate) fn block(&self) -> BlockRef {
        self.block
    }

    /// The answers to `calls`, in their order.
    ///
    /// A call that fails because other calls used up the gas looks like one that reverts. Calls that did not return are
    /// therefore read once more, without those that did.
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

    /// The answers to `calls`, in order, each read once.
    pub(crate) async fn read_once(&self, calls: &[Call]) -> Result<Vec<Answer>, Failure> {
        let parts: Vec<Vec<Answer>> = stream::iter(self.pack(calls))
            .map(|part| self.read_part(part))
            .buffered(self.concurrency())
            .try_collect()
            .await?;
        Ok(parts.into_iter().flatten().collect())
    }

    /// Splits `calls` into parts within the limits on their number and expected answer size.
    fn pack<'c>(&self, calls: &'c [Call]) -> Vec<&'c [Call]> {
        // An answer is encoded with its success flag, its offset, its length and padding.
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

    /// Reads one part, as long as there is time: nodes that answer no call at all are at fault themselves, unless they say
    /// that it is for good.
    async fn read_part(&self, part: &[Call]) -> Result<Vec<Answer>, Failure> {
        let limits = self.rpc.limits();
        let mut attempts = 0;
        loop {
            let failure = match self.read_narrowing(part).await {
                Ok(answers) => return Ok(answers),
                Err(failure) => failure,
            };
            attempts += 1;
            let next = Instant::now() + limits.pause(attempts);
            let is_worth_it = failure.may_narrow() && !failure.is_final();
            if !is_worth_it || attempts >= limits.outage_rounds || next >= self.deadline {
                return Err(failure);
            }
            sleep_until(next).await;
        }
    }

    /// The same once, cut in halves where the nodes refuse its size or nothing is known of their refusal, down to the
    /// single call that they refuse. A contract of which several calls are refused, and none was answered, is asked no more.
    /// A refusal of a single call counts only if the nodes answer a request without any: else they refuse everything.
    async fn read_narrowing(&self, part: &[Call]) -> Result<Vec<Answer>, Failure> {
        let mut answers = Vec::with_capacity(part.len());
        let mut contracts: BTreeMap<Address, ContractAnswers> = BTreeMap::new();
        let bound = self.rpc.most_of(Measure::Calls);
        let (mut waiting, mut splits, mut most_answered) = (vec![part], 0, 0);
        let (mut is_unexplained, mut is_refused, mut nodes_answer) = (false, false, false);
        while let Some(calls) = waiting.pop() {
            let given_up = |call: &Call| {
                contracts.get(&call.target).and_then(ContractAnswers::refused_for_good)
            };
            if calls.iter().all(|call| given_up(call).is_some()) {
                let refused = calls.iter().filter_map(given_up).map(Answer::Refused);
                answers.extend(refused);
                continue;
            }
            let is_part = calls.len() < part.len() && calls.len() > 1;
            let narrows = RetryPolicy { narrows: true, is_part, ..RetryPolicy::PATIENT };
            let failure = match self.request(calls, narrows).await {
                Ok(more) => {
                    answers.extend(more);
                    for call in calls {
                        contracts.entry(call.target).or_default().has_answered = true;
                    }
                    most_answered = most_answered.max(calls.len());
                    nodes_answer = true;
                    continue;
                }
                Err(failure) => failure,
            };
            if !failure.may_narrow() || Instant::now() >= self.deadline {
                return Err(failure);
            }
            if calls.len() > 1 && splits < MAX_SPLITS.max(part.len() / 8) {
                splits += 1;
                is_unexplained |= !failure.is_about_size();
                let (first, second) = calls.split_at(calls.len() / 2);
                waiting.extend([second, first]);
                continue;
            }
            // Nodes that refused it for good, and answered others, are not asked.
            if !(nodes_answer && failure.is_final()) {
                let once = RetryPolicy { narrows: true, is_part: true, ..RetryPolicy::PATIENT };
                if self.request(&[], once).await.is_err() {
                    return Err(failure);
                }
                nodes_answer = true;
            }
            // Only a single call shows that its number is not the cause.
            is_refused |= calls.len() == 1;
            for call in calls {
                contracts.entry(call.target).or_default().refused.push(failure.detail.clone());
                answers.push(Answer::Refused(failure.detail.clone()));
            }
        }
        if is_refused {
            // What is refused however few are asked for says nothing of how many calls nodes answer.
            self.rpc.restore_bound(Weight { of: Measure::Calls, amount: bound });
        } else if is_unexplained {
            let amount = u64::try_from(most_answered).unwrap_or(u64::MAX);
            self.rpc.serves_no_more_than(Weight { of: Measure::Calls, amount });
        }
        Ok(answers)
    }

    /// Requests these calls.
    async fn request(&self, calls: &[Call], policy: RetryPolicy) -> Result<Vec<Answer>, Failure> {
        let params = self.params(calls);
        let decode = |raw: &RawValue| self.decode(raw, calls.len());
        let policy = RetryPolicy { weight: Some(weight_of(calls)), ..policy };
        self.rpc.request_by(policy, "eth_call", &params, self.deadline, decode).await
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
        let at = if self.by_number {
            json!(format!("{:#x}", self.block.number))
        } else {
            json!({ "blockHash": self.block.hash.to_string(), "requireCanonical": true })
        };
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
        // Report another chain first, whatever the block's number is.
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

/// What nodes answered of one contract's calls within a part.
#[derive(Debug, Default)]
struct ContractAnswers {
    has_answered: bool,
    /// Of each call that they refused, why.
    refused: Vec<String>,
}

impl ContractAnswers {
    /// Single calls of a contract that may be refused before any is answered.
    const MAX_REFUSED: usize = 4;

    /// Why the contract is asked no more, where it is not.
    fn refused_for_good(&self) -> Option<String> {
        let is_refused = !self.has_answered && self.refused.len() >= Self::MAX_REFUSED;
        self.refused.last().filter(|_| is_refused).cloned()
    }
}

fn weight_of(calls: &[Call]) -> Weight {
    let amount = u64::try_from(calls.len()).unwrap_or(u64::MAX);
    Weight { of: Measure::Calls, amount }
}

#[cfg(test)]
pub(crate) mod tests {
    use core::time::Duration;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use alloy::primitives::U256;
    use exitgap_core::ids::BlockHash;

    use super::*;
    use crate::trial_node::{Reply, TrialNode, plan, short_limits};

    pub(crate) const BLOCK: BlockRef =
        BlockRef { hash: BlockHash([9; 32]), number: 77, timestamp: 1_700_000_000 };

    /// The contract's answer to a request: the values about the block, and the last byte of each call.
    pub(crate) fn aggregated(request: &Value) -> (usize, Value) {
        aggregated_at(request, BLOCK)
    }

    /// The same at this block.
    pub(crate) fn aggregated_at(request: &Value, block: BlockRef) -> (usize, Value) {
        let data: Bytes = serde_json::from_value(request["params"][0]["data"].clone()).unwrap();
        let calls = Multicall3::aggregate3Call::abi_decode(&data).unwrap().calls;
        let own = [block.number, block.timestamp, 31_337].map(U256::from);
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

    /// A node that can refuse a request, given the number of calls and of earlier requests, and otherwise answers.
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
        // A size limit that the node reports in unknown words.
        let small = node(|calls, _| (calls > 20).then(|| error("qux")));
        assert_eq!(read_calls(&small, 100).await.unwrap(), expected(100));
        // If one call makes the node fail, only that call fails.
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
        // A node that refuses everything for a while is asked again while there is time.
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
        // If the size is refused even for a single call, the request fails immediately.
        let refusing = node(|_, _| Some(error("response is too big")));
        assert!(read_calls(&refusing, 100).await.unwrap_err().is_about_size());
        assert!(refusing.asked("eth_call").len() < 20);
    }

    #[tokio::test]
    async fn nodes_that_give_up_everything_for_a_while_are_asked_again() {
        let busy = || error("execution aborted (timeout = 5s)");
        let out = node(move |_, asked| (asked < 40).then(busy));
        assert_eq!(read_calls(&out, 100).await.unwrap(), expected(100));
        assert!(out.asked("eth_call").len() > 40, "the control: all were refused at first");
        // Also a single call, and also where the node never answers: until the deadline, and no longer.
        let out = node(move |_, asked| (asked < 9).then(busy));
        assert_eq!(read_calls(&out, 1).await.unwrap(), expected(1));
    }

    #[tokio::test]
    async fn a_contract_that_nodes_refuse_costs_its_own_calls_alone() {
        for message in ["response is too big", "execution aborted (timeout = 5s)", "qux"] {
            // The first of all, and of many calls.
            let guilty = Address([4; 20]);
            let target = format!("{:0>64}", guilty.to_string().trim_start_matches("0x"));
            let node = TrialNode::start(move |request| {
                let (_, answer) = aggregated(request);
                let data = request["params"][0]["data"].as_str().unwrap();
                if data.contains(&target) { error(message) } else { Reply::Result(answer) }
            });
            let plan = plan(&[&node]).into_chains().remove(0);
            let rpc = Rpc::new(&plan, short_limits()).unwrap();
            let deadline = Instant::now() + Duration::from_secs(20);
            let of_guilty = calls(90).into_iter().map(|call| Call { target: guilty, ..call });
            let all: Vec<Call> = of_guilty.chain(calls(30)).collect();
            let answers =
                Multicall::new(&rpc, &plan, BLOCK, deadline).read_calls(&all).await.unwrap();
            let is_refused = |answer: &Answer| matches!(answer, Answer::Refused(_));
            assert!(answers[..90].iter().all(is_refused), "{message}");
            assert_eq!(answers[90..], expected(30), "{message}");
            assert_eq!(rpc.most_of(Measure::Calls), 2_000, "{message}");
            assert!(node.asked("eth_call").len() < 100, "{}", node.asked("eth_call").len());
        }
    }
}
