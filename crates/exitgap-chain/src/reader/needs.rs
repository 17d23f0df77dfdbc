//! What recording needs of a node, asked of one node by itself, and what follows from its answers.

use core::time::Duration;

use exitgap_core::ids::Address;
use exitgap_core::series::Slot;
use exitgap_core::snapshot::BlockRef;
use tokio::time::Instant;

use super::check::Severity;
use super::omitted::{ChecksCost, measure};
use crate::blocks;
use crate::config::{ChainPlan, LogsCheck};
use crate::limits::MAX_NAMED;
use crate::multicall::Multicall;
use crate::pool_logs;
use crate::rpc::{Failure, Rpc};

/// How old, in seconds, the states may be that a slot is read at: its block is before its instant, and the reading takes time.
const STATE_AGE_S: u64 = 120;

/// A head that takes longer than this delays every slot.
const SLOW: Duration = Duration::from_secs(2);

/// Calls that one request should take: with fewer, a slot of many pools takes many requests.
const FEW_CALLS: usize = 250;

/// Blocks over which the time from block to block is measured.
const MEASURED_BLOCKS: u64 = 1_000;

/// Something that was looked at, and what follows.
pub(super) type Need = (Severity, String);

/// What was found of one node.
#[derive(Debug)]
pub(super) struct Needs {
    /// What every node must serve.
    pub own: Vec<Need>,
    /// Logs, which another node may serve in its place.
    pub logs: Need,
}

/// One node, and how fast its chain is.
struct NodeCheck<'a> {
    rpc: &'a Rpc,
    plan: &'a ChainPlan,
    head: BlockRef,
    /// Blocks of a slot, where that could be measured.
    slot_blocks: Option<u64>,
    deadline: Instant,
}

/// Requests from a node everything that recording needs.
pub(super) async fn check_needs(
    rpc: &Rpc,
    plan: &ChainPlan,
    pools: &[Address],
    head: BlockRef,
    deadline: Instant,
) -> Needs {
    let slot_blocks = slot_blocks(rpc, head, deadline).await;
    let check = NodeCheck { rpc, plan, head, slot_blocks, deadline };
    let mut own = vec![check.latency().await];
    let states = check.states().await;
    let serves_states = states.0 != Severity::Error;
    own.push(states);
    if serves_states {
        own.push(check.calls().await);
        own.extend(check.state_depth().await);
    }
    let logs = check.logs(pools).await;
    own.push(check.log_checks(pools).await);
    Needs { own, logs }
}

/// Blocks of a slot, by the time that the last ones took; `None`: there are too few.
async fn slot_blocks(rpc: &Rpc, head: BlockRef, deadline: Instant) -> Option<u64> {
    let back = MEASURED_BLOCKS.min(head.number);
    let older = blocks::header_at(rpc, head.number - back, deadline).await.ok()?.block;
    let seconds = head.timestamp.checked_sub(older.timestamp).filter(|seconds| *seconds > 0)?;
    Some((back * Slot::SECONDS).div_ceil(seconds))
}

impl NodeCheck<'_> {
    async fn latency(&self) -> Need {
        let begun = Instant::now();
        if let Err(failure) = blocks::head(self.rpc, self.deadline).await {
            return (Severity::Error, format!("the newest block is not served: {}", cut(&failure)));
        }
        let taken = begun.elapsed();
        let message = format!("answers within {} ms", taken.as_millis());
        if taken > SLOW {
            let message = format!("{message}, which delays every slot; use a faster node");
            return (Severity::Warning, message);
        }
        (Severity::Fine, message)
    }

    /// States at a block's hash, which is how everything is read.
    async fn states(&self) -> Need {
        let multicall = Multicall::new(self.rpc, self.plan, self.head, self.deadline);
        let Err(by_hash) = multicall.read_block().await else {
            return (Severity::Fine, "serves states at a block's hash".to_owned());
        };
        let message = match multicall.by_number().read_block().await {
            Ok(()) => format!(
                "does not serve states at a block's hash (EIP-1898), but at its number: {}. A block of the same number \
                 may be another one, so nothing is read like that; use a node that supports EIP-1898",
                cut(&by_hash)
            ),
            Err(_) => format!(
                "does not serve states: {}; use a node that answers eth_call, on a chain that has Multicall3 at {}",
                cut(&by_hash),
                self.plan.multicall3()
            ),
        };
        (Severity::Error, message)
    }

    /// How many calls one request takes.
    async fn calls(&self) -> Need {
        let multicall = Multicall::new(self.rpc, self.plan, self.head, self.deadline);
        let wanted = self.rpc.limits().calls_per_multicall.max(1);
        let mut calls = wanted;
        let mut refusal = None;
        while calls > 0 {
            match multicall.try_calls(calls).await {
                Ok(()) => break,
                Err(failure) => refusal = Some(failure),
            }
            calls /= 2;
        }
        let message = format!("takes {calls} calls in one request");
        match refusal {
            Some(failure) if calls < FEW_CALLS => {
                let detail = format!(
                    "{message}, but not {}: {}; a slot takes more requests, so many pools may not be read in time",
                    (2 * calls).max(1),
                    cut(&failure)
                );
                (Severity::Warning, detail)
            }
            _ => (Severity::Fine, message),
        }
    }

    /// Whether it has the states of the blocks that slots are read at.
    async fn state_depth(&self) -> Option<Need> {
        let slot_blocks = self.slot_blocks?;
        let back = (slot_blocks * STATE_AGE_S).div_ceil(Slot::SECONDS);
        let number = self.head.number.checked_sub(back)?;
        let read = async {
            let block = blocks::header_at(self.rpc, number, self.deadline).await?.block;
            Multicall::new(self.rpc, self.plan, block, self.deadline).read_block().await
        };
        let Err(failure) = read.await else {
            return Some((Severity::Fine, format!("has states {back} blocks back")));
        };
        let message = format!(
            "does not have the state {back} blocks back ({STATE_AGE_S} s): {}; slots will be missing, so use a node that \
             keeps more states",
            cut(&failure)
        );
        Some((Severity::Error, message))
    }

    /// How many blocks' logs it serves at once.
    async fn logs(&self, pools: &[Address]) -> Need {
        let limits = self.rpc.limits();
        // A request that names no contract is for the logs of all.
        let any = [self.plan.multicall3()];
        let pools = if pools.is_empty() { &any } else { pools };
        let named = &pools[..pools.len().min(MAX_NAMED)];
        let mut blocks = limits.log_blocks.clamp(1, self.head.number + 1);
        let mut refusal = None;
        let found = loop {
            let from = self.head.number + 1 - blocks;
            let range = [from, self.head.number];
            match pool_logs::count_logs(self.rpc, named, range, self.deadline).await {
                Ok(found) => break Some(found),
                Err(failure) => refusal = Some(failure),
            }
            blocks /= 2;
            if blocks == 0 {
                break None;
            }
        };
        let why = refusal.as_ref().map(cut).unwrap_or_default();
        let Some(found) = found else {
            let message = format!(
                "does not serve logs (eth_getLogs): {why}. Swaps will not be recorded, and ticks will be read in full with every \
                 slot; use another node for logs"
            );
            return (Severity::Error, message);
        };
        let message = format!("serves the logs of {blocks} blocks at once ({found} logs)");
        let Some(slot_blocks) = self.slot_blocks.filter(|_| refusal.is_some()) else {
            return (Severity::Fine, message);
        };
        let (requests, most) = (slot_blocks.div_ceil(blocks), limits.log_requests);
        let message =
            format!("{message}, so those of a slot ({slot_blocks} blocks) in {requests} requests");
        if requests <= most {
            return (Severity::Fine, message);
        }
        let message = format!(
            "{message}, more than the {most} that a slot may take: {why}. Swaps will fall behind; use another node for logs"
        );
        (Severity::Error, message)
    }

    /// What each way to find logs that it leaves out costs, and which of them recording will use.
    async fn log_checks(&self, contracts: &[Address]) -> Need {
        let blocks = self.slot_blocks.unwrap_or(1);
        let measured = measure(self.rpc, contracts, self.head, blocks, self.deadline).await;
        let hourly = "a log that it leaves out is found within an hour, by a full reading";
        let cut = |why: &str| why.chars().take(200).collect::<String>();
        let cost = match measured {
            Ok(cost) => cost,
            Err(why) => {
                return (
                    Severity::Fine,
                    format!("its logs stay unproven ({}): {hourly}", cut(&why)),
                );
            }
        };
        let ChecksCost { blocks, header_bytes, named, ref receipts } = cost;
        let by_blooms = format!(
            "blooms: {blocks} requests and {} a slot, and {named} of {} pools read in full without cause",
            kilobytes(header_bytes),
            contracts.len()
        );
        let by_receipts = match receipts {
            Ok((requests, bytes)) => {
                format!("receipts: {requests} more requests and {} a slot", kilobytes(*bytes))
            }
            Err(why) => format!("receipts (eth_getBlockReceipts) are not served: {}", cut(why)),
        };
        let chosen = match (self.plan.check_logs_by(), cost.chosen(contracts.len())) {
            (LogsCheck::Auto, None) => format!("no way is used: {hourly}"),
            (LogsCheck::Nothing, _) => format!("check_logs_by is \"nothing\": {hourly}"),
            (LogsCheck::Blooms, _) | (LogsCheck::Auto, Some(LogsCheck::Blooms)) => {
                "blooms are used".to_owned()
            }
            _ => "receipts are used".to_owned(),
        };
        let message =
            format!("logs that it leaves out can be found by {by_blooms}; {by_receipts}; {chosen}");
        (Severity::Fine, message)
    }
}

fn kilobytes(bytes: usize) -> String {
    format!("{} kB", bytes.div_ceil(1_000))
}

/// A failure's words, for one line.
fn cut(failure: &Failure) -> String {
    failure.to_string().chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use alloy::primitives::B256;
    use exitgap_core::ids::BlockHash;
    use serde_json::{Value, json};

    use super::*;
    use crate::multicall::tests::aggregated_at;
    use crate::trial_node::{Reply, TrialNode, plan, short_limits};

    const HEAD: u64 = 5_000;
    const POOL: Address = Address([7; 20]);

    /// A block of twelve seconds, whose hash ends with its number.
    fn block(number: u64) -> BlockRef {
        let hash = BlockHash(B256::left_padding_from(&number.to_be_bytes()).0);
        BlockRef { hash, number, timestamp: 1_700_000_000 + 12 * number }
    }

    /// A header with a field that is not known, so that its hash may be any.
    fn header(number: u64) -> Value {
        let zero = |bytes: usize| format!("0x{}", "00".repeat(bytes));
        let BlockRef { hash, timestamp, .. } = block(number);
        json!({
            "number": format!("{number:#x}"), "hash": hash.to_string(), "parentHash": zero(32),
            "nonce": zero(8), "mixHash": zero(32), "sha3Uncles": zero(32), "logsBloom": zero(256),
            "transactionsRoot": zero(32), "stateRoot": zero(32), "receiptsRoot": zero(32),
            "miner": zero(20), "difficulty": "0x0", "extraData": "0x", "gasLimit": "0x0",
            "gasUsed": "0x0", "timestamp": format!("{timestamp:#x}"), "futureRoot": zero(32),
        })
    }

    fn number(value: &Value) -> Option<u64> {
        u64::from_str_radix(value.as_str()?.trim_start_matches("0x"), 16).ok()
    }

    /// The block that a call is of.
    fn called(request: &Value) -> u64 {
        let at = &request["params"][1];
        let by_hash = at["blockHash"].as_str().map(|hash| json!(format!("0x{}", &hash[50..])));
        number(by_hash.as_ref().unwrap_or(at)).unwrap()
    }

    fn width(request: &Value) -> u64 {
        let [from, to] = ["fromBlock", "toBlock"].map(|field| &request["params"][0][field]);
        number(to).unwrap() - number(from).unwrap() + 1
    }

    /// What is found of a node that answers everything but what `fault` refuses.
    async fn found(
        fault: impl Fn(&str, &Value) -> Option<&'static str> + Send + Sync + 'static,
    ) -> Needs {
        let node = TrialNode::start(move |request| {
            let method = request["method"].as_str().unwrap();
            if let Some(message) = fault(method, request) {
                return Reply::Error(json!({ "code": -32_000, "message": message }));
            }
            Reply::Result(match method {
                "eth_call" => aggregated_at(request, block(called(request))).1,
                "eth_getBlockByNumber" => header(number(&request["params"][0]).unwrap_or(HEAD)),
                _ => json!([]),
            })
        });
        let plan = plan(&[&node]).into_chains().remove(0);
        let rpc = Rpc::new(&plan, short_limits()).unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        check_needs(&rpc, &plan, &[POOL], block(HEAD), deadline).await
    }

    /// The one finding that is not fine.
    fn wrong(needs: &Needs) -> (Severity, &str) {
        let all = needs.own.iter().chain([&needs.logs]);
        let wrong: Vec<_> = all.filter(|(severity, _)| *severity != Severity::Fine).collect();
        let [(severity, message)] = wrong[..] else { panic!("{needs:?}") };
        (*severity, message)
    }

    #[tokio::test]
    async fn a_node_that_serves_everything_is_fine_and_says_what_it_serves() {
        let Needs { own, logs } = found(|_, _| None).await;
        let all: Vec<&String> = own.iter().chain([&logs]).map(|(_, message)| message).collect();
        for words in [
            "answers within",
            "serves states at a block's hash",
            "takes 2000 calls in one request",
            "has states 10 blocks back",
            "serves the logs of 2000 blocks at once (0 logs)",
            "its logs stay unproven (the hash of block 4976 cannot be recomputed",
        ] {
            assert!(all.iter().any(|message| message.contains(words)), "{words}: {all:#?}");
        }
        assert!(own.iter().chain([&logs]).all(|(severity, _)| *severity == Severity::Fine));
    }

    #[tokio::test]
    async fn what_a_node_does_not_serve_is_said_with_what_follows() {
        let no_hash = |method: &str, request: &Value| {
            let is_by_hash = method == "eth_call" && request["params"][1].is_object();
            is_by_hash.then_some("invalid argument 1: cannot unmarshal object into string")
        };
        let needs = found(no_hash).await;
        let (severity, message) = wrong(&needs);
        assert_eq!(severity, Severity::Error);
        assert!(message.contains("EIP-1898") && message.contains("but at its number"), "{message}");

        let needs = found(|method, _| (method == "eth_call").then_some("method not found")).await;
        let (severity, message) = wrong(&needs);
        assert_eq!(severity, Severity::Error);
        assert!(message.contains("use a node that answers eth_call"), "{message}");

        let is_large = |_: &str, request: &Value| {
            let is_large =
                request["params"][0]["data"].as_str().is_some_and(|data| data.len() > 40_000);
            is_large.then_some("request body too large")
        };
        let needs = found(is_large).await;
        let (severity, message) = wrong(&needs);
        assert_eq!(severity, Severity::Warning);
        assert!(message.contains("a slot takes more requests"), "{message}");

        let is_pruned = |method: &str, request: &Value| {
            let is_old = method == "eth_call" && called(request) < HEAD;
            is_old.then_some("missing trie node")
        };
        let needs = found(is_pruned).await;
        let (severity, message) = wrong(&needs);
        assert_eq!(severity, Severity::Error);
        assert!(message.contains("slots will be missing"), "{message}");
    }

    #[tokio::test]
    async fn a_node_whose_logs_do_not_suffice_is_an_error_with_a_remedy() {
        let needs =
            found(|method, _| (method == "eth_getLogs").then_some("method not found")).await;
        let (severity, message) = wrong(&needs);
        assert_eq!(severity, Severity::Error);
        assert!(message.contains("use another node for logs"), "{message}");
        // A slot has 25 blocks, and takes at most eight requests.
        let limited = |most: u64| {
            move |method: &str, request: &Value| {
                let is_wide = method == "eth_getLogs" && width(request) > most;
                is_wide.then_some("block range is too wide")
            }
        };
        let needs = found(limited(3)).await;
        let (severity, message) = wrong(&needs);
        assert_eq!(severity, Severity::Error);
        assert!(message.contains("fall behind; use another node for logs"), "{message}");
        let needs = found(limited(7)).await;
        assert_eq!(needs.logs.0, Severity::Fine);
        assert!(needs.logs.1.contains("(25 blocks) in 4 requests"), "{}", needs.logs.1);
    }
}
