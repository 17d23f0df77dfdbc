//! JSON-RPC to the nodes of one chain: limited requests, rotation and backoff. A node is used only after it has proven
//! that it serves the right chain and the series' own blocks.
//!
//! - `outcome`: the meaning of a node's error; `error`: the missing reason that it gives
//! - `http`: one exchange; `bounds`: how much is requested from a node at once
//! - `identity`: which chain a node serves

mod bounds;
mod error;
mod http;
mod identity;
mod outcome;
#[cfg(test)]
mod tests;

use core::sync::atomic::{AtomicU64, Ordering};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use alloy::primitives::B256;
use exitgap_core::snapshot::BlockRef;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until, timeout_at};

use bounds::Bounds;
pub(crate) use bounds::{Measure, Weight};
pub(crate) use error::{Failure, RpcError};
pub(crate) use http::value;
use outcome::Outcome;

use crate::config::{ChainPlan, KnownBlock, RpcUrl};
use crate::limits::Limits;

/// All nodes of one chain.
///
/// A request goes to the node that answered last. If that fails, it goes to the next node, and after each round over
/// all nodes there is a pause that doubles, or is as long as the nodes ask for. Only a validated answer counts: if
/// `decode` refuses it, the next node is tried, as after a broken connection.
#[derive(Debug)]
pub(crate) struct Rpc {
    urls: Vec<RpcUrl>,
    chain_id: u64,
    known_block: Option<KnownBlock>,
    client: reqwest::Client,
    limits: Limits,
    state: Mutex<State>,
    requests: AtomicU64,
}

/// How persistently a request is repeated, and whether it can be made smaller.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RetryPolicy {
    /// The amount that it asks for, if nodes limit that.
    pub(crate) weight: Option<Weight>,
    /// The request can be made smaller. If that may help, it is given up immediately or, if the cause is unknown, after
    /// [`Limits::rounds`].
    pub(crate) narrows: bool,
    /// It is part of a request that was asked again already: where nothing is known, and less can be asked for, once is
    /// enough, and otherwise [`Limits::rounds`].
    pub(crate) is_part: bool,
    /// The slot depends on it. Nodes that lag are asked again for a third of the time, and if the cause of an error is
    /// unknown, for all of the time.
    pub(crate) is_patient: bool,
}

impl RetryPolicy {
    /// Repeated while there is time.
    pub(crate) const PATIENT: Self =
        Self { weight: None, narrows: false, is_part: false, is_patient: true };
}

#[derive(Debug)]
struct State {
    /// The node that is asked first.
    current: usize,
    /// By node.
    nodes: Vec<Node>,
    /// The known or configured genesis hash.
    genesis: Option<B256>,
    /// The first node that passed its checks, and the genesis hash that it showed.
    genesis_seen: Option<(usize, B256)>,
    /// Blocks of the series, newest first. Every node must have one of them.
    links: Vec<BlockRef>,
    /// The number of requests since the last call, by node, method and outcome.
    outcomes: BTreeMap<(usize, &'static str, &'static str), u64>,
}

impl RetryPolicy {
    /// How many rounds a request is worth whose nodes have these faults; `waits_for_lag`: nodes that lag are still waited for.
    fn rounds(self, faults: &[&RpcError], limits: &Limits, waits_for_lag: bool) -> u32 {
        use Outcome::{AskAnother, Narrow, Unclear};
        let any = |outcome| faults.iter().any(|fault| fault.outcome() == outcome);
        let is_slow = faults.iter().any(|fault| matches!(fault, RpcError::TooSlow(_)));
        let passes = faults.iter().any(|fault| fault.may_pass());
        if !faults.is_empty() && faults.iter().all(|fault| fault.is_final_per_node()) {
            return 1;
        }
        if self.narrows && faults.iter().any(|fault| fault.may_narrow()) {
            // No node answered a request of this size, and no other fault is worth waiting for.
            let is_heavy = |fault: &&RpcError| matches!(fault, RpcError::TimedOut { .. });
            let is_clear = faults.iter().all(|fault| fault.outcome() == Narrow || is_heavy(fault));
            // A node that gave up one call was busy with others.
            let is_least = self.weight.is_some_and(|weight| weight.amount <= 1);
            let is_busy = is_least && is_slow;
            return if (is_clear && !is_busy) || self.is_part { 1 } else { limits.rounds };
        }
        let is_worth_more = (any(Unclear) || is_slow) && !self.is_part;
        let waits = (any(AskAnother) && waits_for_lag) || is_worth_more;
        if passes || (self.is_patient && waits) { limits.outage_rounds } else { limits.rounds }
    }
}

/// The data about one node.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// Whether its chain id and genesis were checked since its last failure.
    identified: bool,
    /// It showed a block 0.
    has_genesis: bool,
    /// Whether it was verified in this slot to have the series' blocks.
    linked: bool,
    /// The time before which it asked not to be contacted.
    not_before: Option<Instant>,
    /// How much is requested from it at once.
    bounds: Bounds,
}

/// Requests to a node with the same outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestOutcomes {
    /// The node, by its host.
    pub node: String,
    /// The method.
    pub method: &'static str,
    /// The reaction to the answers: `answer`, or one of `ask_again`, `ask_another`, `narrow`, `wait_until`,
    /// `not_supported`, `contradicts`, `unclear`.
    pub outcome: &'static str,
    /// The number of requests.
    pub requests: u64,
}

/// Why the HTTP client could not be created.
#[derive(Debug, thiserror::Error)]
#[error("the HTTP client could not be created: {0}")]
pub struct ClientError(#[from] reqwest::Error);

/// Chooses the TLS cryptography for this process, unless it was already chosen. Code that creates its own HTTP client
/// must call this first.
pub fn provide_tls() {
    // An error means that it was already chosen.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

impl Rpc {
    /// The nodes of `plan`.
    pub(crate) fn new(plan: &ChainPlan, limits: Limits) -> Result<Self, ClientError> {
        provide_tls();
        // A redirect could lead anywhere, and proxy variables of the environment are not part of the configuration.
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .connect_timeout(limits.request_timeout)
            .build()?;
        let calls = u64::try_from(limits.calls_per_multicall).unwrap_or(u64::MAX);
        let bounds = Bounds::new(calls, limits.log_blocks);
        let node =
            Node { identified: false, has_genesis: false, linked: false, not_before: None, bounds };
        let state = State {
            current: 0,
            nodes: vec![node; plan.urls().len()],
            genesis: plan.genesis().map(|hash| B256::from(hash.0)),
            genesis_seen: None,
            links: Vec::new(),
            outcomes: BTreeMap::new(),
        };
        Ok(Self {
            urls: plan.urls().to_vec(),
            chain_id: plan.chain_id(),
            known_block: plan.known_block(),
            client,
            limits,
            state: Mutex::new(state),
            requests: AtomicU64::new(0),
        })
    }

    /// HTTP requests sent so far, failed ones included.
    pub(crate) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// The number of requests by outcome since the last call.
    pub(crate) fn take_outcomes(&self) -> Vec<RequestOutcomes> {
        let outcomes = core::mem::take(&mut self.state().outcomes);
        let named = |((node, method, outcome), requests): ((usize, _, _), u64)| RequestOutcomes {
            node: self.urls[node].to_string(),
            method,
            outcome,
            requests,
        };
        outcomes.into_iter().map(named).collect()
    }

    /// The current limits.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether the node that answered last keeps block 0.
    pub(crate) fn knows_genesis(&self) -> bool {
        let state = self.state();
        state.nodes[state.current].has_genesis
    }

    /// The node that is asked first, which is the one that answered last.
    pub(crate) fn current(&self) -> usize {
        self.state().current
    }

    /// The number of nodes.
    pub(crate) fn nodes(&self) -> usize {
        self.urls.len()
    }

    /// The amount of a quantity that the first node has not refused recently.
    pub(crate) fn most_of(&self, measure: Measure) -> u64 {
        let state = self.state();
        state.nodes[state.current].bounds.of(measure).most()
    }

    /// Remembers that the first node, which answered this amount, did not answer twice as much.
    pub(crate) fn serves_no_more_than(&self, weight: Weight) {
        let mut state = self.state();
        let current = state.current;
        let twice = weight.amount.saturating_mul(2);
        state.nodes[current].bounds.of_mut(weight.of).refused(twice);
    }

    /// Remembers that the node that is asked first refused less than this for another reason than how much it was.
    pub(crate) fn restore_bound(&self, weight: Weight) {
        let mut state = self.state();
        let current = state.current;
        state.nodes[current].bounds.of_mut(weight.of).restore(weight.amount);
    }

    /// Asks another node first from now on, and checks this one again before its answers are used.
    pub(crate) fn distrust_current(&self) {
        let mut state = self.state();
        let current = state.current;
        state.nodes[current].identified = false;
        state.current = (current + 1) % self.urls.len();
    }

    /// Makes this node the first to be asked from now on.
    pub(crate) fn prefer(&self, node: usize) {
        self.state().current = node;
    }

    /// Makes the next node the first to be asked from now on.
    pub(crate) fn prefer_next(&self) {
        let mut state = self.state();
        state.current = (state.current + 1) % self.urls.len();
    }

    /// Sends a request until a node's answer passes `decode`, every node has failed in as many rounds as [`Limits`]
    /// allows, or the deadline passes.
    pub(crate) async fn request<T>(
        &self,
        method: &'static str,
        params: &Value,
        deadline: Instant,
        decode: impl Fn(&RawValue) -> Result<T, RpcError>,
    ) -> Result<T, Failure> {
        self.request_by(RetryPolicy::default(), method, params, deadline, decode).await
    }

    /// The same by a policy of its own.
    pub(crate) async fn request_by<T>(
        &self,
        policy: RetryPolicy,
        method: &'static str,
        params: &Value,
        deadline: Instant,
        decode: impl Fn(&RawValue) -> Result<T, RpcError>,
    ) -> Result<T, Failure> {
        let start = self.state().current;
        let nodes: Vec<usize> =
            (0..self.urls.len()).map(|step| (start + step) % self.urls.len()).collect();
        let decode = &decode;
        let ask = |node| async move {
            let answer = self.ask(node, method, params, deadline, decode).await;
            self.learn_bound(node, policy, answer.as_ref().err());
            answer
        };
        let (node, value) = self.in_rounds(method, policy, nodes, deadline, ask).await?;
        self.state().current = node;
        Ok(value)
    }

    /// Lowers the limit of a node that refused this amount, and raises it if it answers.
    fn learn_bound(&self, node: usize, policy: RetryPolicy, error: Option<&RpcError>) {
        let Some(Weight { of, amount }) = policy.weight else { return };
        let mut state = self.state();
        let bound = state.nodes[node].bounds.of_mut(of);
        match error {
            None => bound.answered(amount),
            Some(error) if error.is_about_size() => bound.refused(amount),
            // No time is left to find out whether less is answered: that is for the next slot.
            Some(RpcError::CutOff { waited })
                if policy.narrows && *waited >= self.limits.cut_off_after =>
            {
                bound.refused(amount);
            }
            Some(_) => {}
        }
    }

    /// Asks these nodes in turn, and again after pauses, until one answers. A node that names a time is not contacted
    /// before then.
    async fn in_rounds<T, F: Future<Output = Result<T, RpcError>>>(
        &self,
        method: &'static str,
        policy: RetryPolicy,
        nodes: Vec<usize>,
        deadline: Instant,
        ask: impl Fn(usize) -> F,
    ) -> Result<(usize, T), Failure> {
        let begun = Instant::now();
        let (mut attempts, mut rounds) = (0, 0);
        let mut faults: Vec<Option<RpcError>> = vec![None; self.urls.len()];
        loop {
            let now = Instant::now();
            let waiting = |node: &usize| self.state().nodes[*node].not_before;
            for &node in &nodes {
                if waiting(&node).is_some_and(|until| until > now) {
                    // It asked for a pause in another request: that passes, and is worth waiting for.
                    let pause = || RpcError::RateLimited("it asked for a pause".to_owned());
                    faults[node].get_or_insert_with(pause);
                    continue;
                }
                attempts += 1;
                match ask(node).await {
                    Ok(value) => return Ok((node, value)),
                    // A passed deadline is less informative than an earlier fault.
                    Err(error) if error.is_deadline() && faults[node].is_some() => {}
                    Err(error) => faults[node] = Some(error),
                }
            }
            rounds += 1;
            let of_nodes: Vec<&RpcError> =
                nodes.iter().filter_map(|node| faults[*node].as_ref()).collect();
            let lag_until = begun + deadline.saturating_duration_since(begun) / 3;
            let waits_for_lag = Instant::now() < lag_until;
            let most = policy.rounds(&of_nodes, &self.limits, waits_for_lag);
            // Each node waits for itself: one that may be asked now does not wait for another.
            let next = nodes.iter().map(|node| waiting(node).unwrap_or(now)).min();
            let next = next.unwrap_or(now).max(Instant::now() + self.limits.pause(rounds));
            if rounds >= most.max(1) || next >= deadline {
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

    /// One attempt at one node. Checks its identity first if that is due.
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

    /// One request, one answer: each is counted here.
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
        let answer = self.send(node, method, params, deadline).await;
        let answer = answer.and_then(|(id, bytes)| decode(http::result_of(&bytes, method, id)?));
        let outcome = answer.as_ref().err().map_or(Outcome::Answer, RpcError::outcome);
        *self.state().outcomes.entry((node, method, outcome.code())).or_default() += 1;
        answer
    }

    /// Sends a request, and returns its id and the bytes of its answer.
    async fn send(
        &self,
        node: usize,
        method: &'static str,
        params: &Value,
        deadline: Instant,
    ) -> Result<(u64, Vec<u8>), RpcError> {
        let begun = Instant::now();
        let id = self.requests.fetch_add(1, Ordering::Relaxed);
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let (within, most) = (self.limits.request_timeout, self.limits.answer_bytes_most);
        let body = request.to_string().into_bytes();
        let answer = http::post(&self.client, &self.urls[node], (method, body), within, most);
        let answer = timeout_at(deadline, answer)
            .await
            .map_err(|_| RpcError::CutOff { waited: begun.elapsed() })?;
        let bytes = answer.map_err(|refusal| {
            let wait = refusal.retry_after.map(|wait| wait.min(self.limits.retry_after_most));
            self.state().nodes[node].not_before = wait.map(|wait| Instant::now() + wait);
            refusal.error
        })?;
        Ok((id, bytes))
    }

    /// The state is plain data: a panic elsewhere cannot leave it half changed.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
