//! JSON-RPC over the nodes of one chain: bounded requests, rotation, backoff, and no belief in a
//! node before it has shown that it serves the right chain.

mod error;
mod http;

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use alloy::primitives::B256;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout_at};

pub(crate) use error::{Failure, RpcError};
pub(crate) use http::value;

use crate::config::{ChainPlan, RpcUrl};
use crate::limits::Limits;

/// The nodes of one chain behind one face.
///
/// A request goes to the node that answered last; where it fails, to the next, and after each
/// round over all nodes there is a pause that doubles. Only a checked answer counts: `decode`
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
}

#[derive(Debug)]
struct State {
    /// The node asked first.
    current: usize,
    /// Whose chain id and genesis were checked since their last failure.
    verified: Vec<bool>,
    /// Known, configured, or else the first one seen.
    genesis: Option<B256>,
}

/// What is read of block 0.
#[derive(Deserialize)]
struct Genesis {
    hash: B256,
}

/// Why the HTTP client could not be made.
#[derive(Debug, thiserror::Error)]
#[error("the HTTP client could not be made: {0}")]
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
            verified: vec![false; plan.urls().len()],
            genesis: plan.genesis().map(|hash| B256::from(hash.0)),
        };
        Ok(Self {
            urls: plan.urls().to_vec(),
            chain_id: plan.chain_id(),
            client,
            most_calls: AtomicUsize::new(limits.calls_per_multicall.max(1)),
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

    /// Asks another node first from now on, and checks this one again before it is next believed.
    pub(crate) fn distrust_current(&self) {
        let mut state = self.state();
        let current = state.current;
        state.verified[current] = false;
        state.current = (current + 1) % self.urls.len();
    }

    /// Asks another node first from now on.
    pub(crate) fn prefer_next(&self) {
        let mut state = self.state();
        state.current = (state.current + 1) % self.urls.len();
    }

    /// Sends a request until a node's answer passes `decode`, every node has failed in each of
    /// [`Limits::rounds`] rounds, or the deadline passes.
    pub(crate) async fn request<T>(
        &self,
        method: &'static str,
        params: &Value,
        deadline: Instant,
        decode: impl Fn(&RawValue) -> Result<T, RpcError>,
    ) -> Result<T, Failure> {
        let (mut attempts, mut faults) = (0, Vec::new());
        for round in 0..self.limits.rounds.max(1) {
            if round > 0 {
                let pause = self.limits.backoff(round);
                if Instant::now() + pause >= deadline {
                    break;
                }
                sleep(pause).await;
            }
            let start = self.state().current;
            let mut round_faults = Vec::new();
            for step in 0..self.urls.len() {
                let node = (start + step) % self.urls.len();
                attempts += 1;
                match self.ask(node, method, params, deadline, &decode).await {
                    Ok(value) => {
                        self.state().current = node;
                        return Ok(value);
                    }
                    Err(error) => round_faults.push((self.urls[node].to_string(), error)),
                }
            }
            let hopeless = round_faults.iter().all(|(_, error)| error.is_final_per_node());
            // A round cut short by the deadline says less than the one before it.
            if faults.is_empty() || round_faults.iter().all(|(_, e)| *e != RpcError::Deadline) {
                faults = round_faults;
            }
            if hopeless || Instant::now() >= deadline {
                break;
            }
        }
        Err(Failure::of_round(method, attempts, &faults))
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
            if !self.state().verified[node] {
                self.verify(node, deadline).await?;
            }
            self.exchange(node, method, params, deadline, decode).await
        };
        let answer = asked.await;
        if let Err(error) = &answer {
            tracing::debug!(node = %self.urls[node], method, %error, "a node failed a request");
            if error.unsettles_identity() {
                self.state().verified[node] = false;
            }
        }
        answer
    }

    /// Checks the node's chain id and genesis hash.
    async fn verify(&self, node: usize, deadline: Instant) -> Result<(), RpcError> {
        let found =
            self.exchange(node, "eth_chainId", &json!([]), deadline, http::quantity).await?;
        if found != self.chain_id {
            return Err(RpcError::WrongChainId { expected: self.chain_id, found });
        }
        let first = json!(["0x0", false]);
        let block = self.exchange(node, "eth_getBlockByNumber", &first, deadline, |raw| {
            value::<Option<Genesis>>(raw)
        });
        let found = block.await?.ok_or_else(|| RpcError::NoBlock("number 0".to_owned()))?.hash;
        let mut state = self.state();
        let expected = *state.genesis.get_or_insert(found);
        if found != expected {
            return Err(RpcError::WrongGenesis { expected, found });
        }
        state.verified[node] = true;
        Ok(())
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
        let bytes = timeout_at(deadline, answer).await.map_err(|_| RpcError::Deadline)??;
        decode(http::result_of(&bytes, id)?)
    }

    /// The state is plain data: a panic elsewhere cannot leave it half changed.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
