//! JSON-RPC to the nodes of one chain: bounded requests, rotation and backoff. A node is not used
//! before it has shown that it serves the right chain and the series' own blocks.
//!
//! - `outcome`: what an error of a node means; `error`: what it says about a slot
//! - `http`: one exchange; `bounds`: how much a node is asked for at once
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

/// The nodes of one chain behind one face.
///
/// A request goes to the node that answered last; where it fails, to the next, and after each
/// round over all nodes there is a pause that doubles, or as long as the nodes ask for. Only a checked answer counts: `decode`
/// decides, so that a lie moves on to the next node as a broken connection does.
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

/// How long a request is worth asking again, and whether less can be asked for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RetryPolicy {
    /// How much it asks for, where nodes bound that.
    pub(crate) weight: Option<Weight>,
    /// Less can be asked for: where that may help, the request is given up at once, or, where nothing is known, after
    /// [`Limits::rounds`].
    pub(crate) narrows: bool,
    /// It is part of a request that was asked again already: where nothing is known, and less can be asked for, once is
    /// enough, and otherwise [`Limits::rounds`].
    pub(crate) is_part: bool,
    /// The slot depends on it: nodes that lag are asked again for a third of the time, and where nothing is known of an
    /// error, all of it.
    pub(crate) is_patient: bool,
}

impl RetryPolicy {
    /// Asked as long as there is time.
    pub(crate) const PATIENT: Self =
        Self { weight: None, narrows: false, is_part: false, is_patient: true };
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
    /// How many requests ended how, by node, method and outcome's name, since they were taken last.
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
            // No answer to so much, and no other node that is worth waiting for.
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

/// What is known of one node.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// Its chain id and genesis were checked since its last failure.
    identified: bool,
    /// It showed a block 0.
    has_genesis: bool,
    /// It was shown to have the series' blocks, in this slot.
    linked: bool,
    /// It asked not to be asked before.
    not_before: Option<Instant>,
    /// How much it is asked for at once.
    bounds: Bounds,
}

/// Requests to a node that ended alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestOutcomes {
    /// The node, by its host.
    pub node: String,
    /// The method.
    pub method: &'static str,
    /// What follows from the answers: `answer`, or one of `ask_again`, `ask_another`, `narrow`, `wait_until`,
    /// `not_supported`, `contradicts`, `unclear`.
    pub outcome: &'static str,
    /// How many there were.
    pub requests: u64,
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
        let calls = u64::try_from(limits.calls_per_multicall).unwrap_or(u64::MAX);
        let bounds = Bounds::new(calls, limits.log_blocks);
        let node =
            Node { identified: false, has_genesis: false, linked: false, not_before: None, bounds };
        let state = State {
            current: 0,
            nodes: vec![node; plan.urls().len()],
            genesis: plan.genesis().map(|hash| B256::from(hash.0)),
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

    /// How many requests ended how, since they were taken last.
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

    /// The bounds in force.
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

    /// How many nodes there are.
    pub(crate) fn nodes(&self) -> usize {
        self.urls.len()
    }

    /// How much of a measure the node that is asked first has not refused lately.
    pub(crate) fn most_of(&self, measure: Measure) -> u64 {
        let state = self.state();
        state.nodes[state.current].bounds.of(measure).most()
    }

    /// Remembers that the node that is asked first, which answered this much, did not answer twice as much.
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

    /// Asks a node for less where it refused this much, and for more where it answers.
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

    /// Asks these nodes in turn, and again after pauses, until one answers. A node that says when
    /// it wants to be asked again is left alone until then.
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
            let ready = nodes.iter().filter(|node| waiting(node).is_none_or(|until| until <= now));
            for &node in ready {
                attempts += 1;
                match ask(node).await {
                    Ok(value) => return Ok((node, value)),
                    // That time ran out says less than the fault before it.
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
