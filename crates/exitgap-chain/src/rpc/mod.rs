//! JSON-RPC to the nodes of one chain: bounded requests, rotation and backoff. A node is not used
//! before it has shown that it serves the right chain and the series' own blocks.

mod error;
mod http;
mod identity;

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use alloy::primitives::B256;
use exitgap_core::snapshot::BlockRef;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until, timeout_at};

pub(crate) use error::{Failure, RpcError};
pub(crate) use http::value;

use crate::config::{ChainPlan, RpcUrl};
use crate::limits::Limits;

/// The nodes of one chain behind one face.
///
/// A request goes to the node that answered last; where it fails, to the next, and after each
/// round over all nodes there is a pause that doubles, or as long as the nodes ask for. Only a checked answer counts: `decode`
/// decides, so that a lie moves on to the next node as a broken connection does.
#[derive(Debug)]
pub(crate) struct Rpc {
    urls: Vec<RpcUrl>,
    chain_id: u64,
    client: reqwest::Client,
    limits: Limits,
    state: Mutex<State>,
    requests: AtomicU64,
    /// Calls per multicall that the nodes have not refused yet.
    most_calls: AtomicUsize,
    /// Blocks per request for logs that the nodes have not refused yet.
    most_log_blocks: AtomicU64,
}

#[derive(Debug)]
struct State {
    /// The node asked first.
    current: usize,
    /// By node.
    nodes: Vec<Node>,
    /// Known, configured, or else that of the first node that had all it was asked for.
    genesis: Option<B256>,
    /// Blocks of the series, newest first, one of which every node must have.
    links: Vec<BlockRef>,
}

/// What is known of one node.
#[derive(Debug, Clone, Copy, Default)]
struct Node {
    /// Its chain id and genesis were checked since its last failure.
    identified: bool,
    /// It was shown to have the series' blocks, in this slot.
    linked: bool,
    /// It asked not to be asked before.
    not_before: Option<Instant>,
}

/// Why the HTTP client could not be made.
#[derive(Debug, thiserror::Error)]
#[error("the HTTP client could not be created: {0}")]
pub struct ClientError(#[from] reqwest::Error);

/// Chooses the cryptography of TLS for this process, unless somebody chose before: what makes
/// an HTTP client of its own asks for it first.
pub fn provide_tls() {
    // An error says that it was chosen before.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

impl Rpc {
    /// The nodes of `plan`.
    pub(crate) fn new(plan: &ChainPlan, limits: Limits) -> Result<Self, ClientError> {
        provide_tls();
        // A redirect could lead anywhere; a proxy variable of the environment is no configuration.
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .connect_timeout(limits.request_timeout)
            .build()?;
        let state = State {
            current: 0,
            nodes: vec![Node::default(); plan.urls().len()],
            genesis: plan.genesis().map(|hash| B256::from(hash.0)),
            links: Vec::new(),
        };
        Ok(Self {
            urls: plan.urls().to_vec(),
            chain_id: plan.chain_id(),
            client,
            most_calls: AtomicUsize::new(limits.calls_per_multicall.max(1)),
            most_log_blocks: AtomicU64::new(limits.log_blocks.max(1)),
            limits,
            state: Mutex::new(state),
            requests: AtomicU64::new(0),
        })
    }

    /// HTTP requests sent so far, failed ones included.
    pub(crate) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// The bounds in force.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// How many nodes there are.
    pub(crate) fn nodes(&self) -> usize {
        self.urls.len()
    }

    /// How many calls to pack into one multicall.
    pub(crate) fn calls_per_multicall(&self) -> usize {
        self.most_calls.load(Ordering::Relaxed)
    }

    /// Remembers that the nodes refused more than this many calls at once. A few dozen calls are
    /// never too many: what is refused among so few is refused for another reason.
    pub(crate) fn ask_for_fewer_calls(&self, calls: usize) {
        const FEWEST: usize = 64;
        self.most_calls.fetch_min(calls.max(FEWEST), Ordering::Relaxed);
    }

    /// How many blocks to ask the logs of at once.
    pub(crate) fn blocks_per_log_request(&self) -> u64 {
        self.most_log_blocks.load(Ordering::Relaxed)
    }

    /// Remembers that the nodes refused the logs of more than this many blocks at once; returns how
    /// many to ask for now, at least 1.
    pub(crate) fn ask_for_fewer_log_blocks(&self, blocks: u64) -> u64 {
        let blocks = blocks.max(1);
        self.most_log_blocks.fetch_min(blocks, Ordering::Relaxed).min(blocks)
    }

    /// Asks another node first from now on, and checks this one again before it is next believed.
    pub(crate) fn distrust_current(&self) {
        let mut state = self.state();
        let current = state.current;
        state.nodes[current].identified = false;
        state.current = (current + 1) % self.urls.len();
    }

    /// Asks another node first from now on.
    pub(crate) fn prefer_next(&self) {
        let mut state = self.state();
        state.current = (state.current + 1) % self.urls.len();
    }

    /// Sends a request until a node's answer passes `decode`, every node has failed in as many
    /// rounds as [`Limits`] allows, or the deadline passes.
    pub(crate) async fn request<T>(
        &self,
        method: &'static str,
        params: &Value,
        deadline: Instant,
        decode: impl Fn(&RawValue) -> Result<T, RpcError>,
    ) -> Result<T, Failure> {
        let start = self.state().current;
        let nodes: Vec<usize> =
            (0..self.urls.len()).map(|step| (start + step) % self.urls.len()).collect();
        let ask = |node| self.ask(node, method, params, deadline, &decode);
        let (node, value) = self.in_rounds(method, nodes, deadline, ask).await?;
        self.state().current = node;
        Ok(value)
    }

    /// Asks these nodes in turn, and again after pauses, until one answers. A node that says when
    /// it wants to be asked again is left alone until then.
    async fn in_rounds<T, F: Future<Output = Result<T, RpcError>>>(
        &self,
        method: &'static str,
        nodes: Vec<usize>,
        deadline: Instant,
        ask: impl Fn(usize) -> F,
    ) -> Result<(usize, T), Failure> {
        let (mut attempts, mut rounds) = (0, 0);
        let mut faults: Vec<Option<RpcError>> = vec![None; self.urls.len()];
        loop {
            let now = Instant::now();
            let waiting = |node: &usize| self.state().nodes[*node].not_before;
            let ready = nodes.iter().filter(|node| waiting(node).is_none_or(|until| until <= now));
            for &node in ready {
                attempts += 1;
                match ask(node).await {
                    Ok(value) => return Ok((node, value)),
                    // That time ran out says less than the fault before it.
                    Err(RpcError::Deadline) if faults[node].is_some() => {}
                    Err(error) => faults[node] = Some(error),
                }
            }
            rounds += 1;
            let of_nodes = || nodes.iter().filter_map(|node| faults[*node].as_ref());
            let most = if of_nodes().any(RpcError::may_pass) {
                self.limits.outage_rounds
            } else {
                self.limits.rounds
            };
            let next = nodes.iter().filter_map(waiting).min();
            let next = next.unwrap_or(now).max(Instant::now() + self.limits.pause(rounds));
            let hopeless = of_nodes().count() > 0 && of_nodes().all(RpcError::is_final_per_node);
            if hopeless || rounds >= most.max(1) || next >= deadline {
                break;
            }
            sleep_until(next).await;
        }
        let named = faults
            .into_iter()
            .enumerate()
            .filter_map(|(node, fault)| Some((self.urls[node].to_string(), fault?)));
        Err(Failure::of_round(method, attempts, &named.collect::<Vec<_>>()))
    }

    /// One attempt at one node, its identity checked first where that is due.
    async fn ask<T>(
        &self,
        node: usize,
        method: &'static str,
        params: &Value,
        deadline: Instant,
        decode: impl Fn(&RawValue) -> Result<T, RpcError>,
    ) -> Result<T, RpcError> {
        let asked = async {
            self.verify(node, deadline).await?;
            self.exchange(node, method, params, deadline, decode).await
        };
        let answer = asked.await;
        if let Err(error) = &answer {
            tracing::debug!(node = %self.urls[node], method, %error, "a node failed a request");
            if error.unsettles_identity() {
                self.state().nodes[node].identified = false;
            }
        }
        answer
    }

    /// One request, one answer.
    async fn exchange<T>(
        &self,
        node: usize,
        method: &'static str,
        params: &Value,
        deadline: Instant,
        decode: impl Fn(&RawValue) -> Result<T, RpcError>,
    ) -> Result<T, RpcError> {
        if Instant::now() >= deadline {
            return Err(RpcError::Deadline);
        }
        let id = self.requests.fetch_add(1, Ordering::Relaxed);
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let (within, most) = (self.limits.request_timeout, self.limits.answer_bytes_most);
        let body = request.to_string().into_bytes();
        let answer = http::post(&self.client, &self.urls[node], body, within, most);
        let answer = timeout_at(deadline, answer).await.map_err(|_| RpcError::Deadline)?;
        let bytes = answer.map_err(|refusal| {
            let wait = refusal.retry_after.map(|wait| wait.min(self.limits.retry_after_most));
            self.state().nodes[node].not_before = wait.map(|wait| Instant::now() + wait);
            refusal.error
        })?;
        decode(http::result_of(&bytes, id)?)
    }

    /// The state is plain data: a panic elsewhere cannot leave it half changed.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
