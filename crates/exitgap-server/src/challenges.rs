//! State proofs on request: returned from the stored ones, or created while the nodes can still prove the block, and
//! then stored permanently.
//!
//! **In scope**: which proofs may be created for whom, how many at once, one creation shared by all who request the
//! same proof, and why a proof is unavailable. **Out of scope**: what a proof proves (`exitgap-core::proof`), how it is
//! requested from a node (`exitgap-chain`), where it is stored (`exitgap-store::proofs`) and published (`recorder/`).

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use exitgap_api::operations::{SlotAsked, StateProofAsked};
use exitgap_api::{Problem, ProblemCode};
use exitgap_chain::config::Plan;
use exitgap_chain::{ClientError, Limits, ProveError, StateProver, figures_range};
use exitgap_core::evidence::Outcome;
use exitgap_core::ids::ChainSlug;
use exitgap_core::log_folder::ProofName;
use exitgap_core::proof::{ProofError, Reach, StateProof, TickRange, check_state};
use exitgap_core::snapshot::Snapshot;
use exitgap_store::proofs::{Proofs, ProofsError};
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;

use crate::ops::Service;

/// How many proofs are created at once: a node must also serve the recorder.
const AT_ONCE: usize = 2;

/// How many proofs may be pending, including those in progress.
const MOST_WAITING: usize = 16;

/// How many are started per minute, for all callers together.
const PER_MINUTE: usize = 30;

/// Time limit for creating one proof. A caller may already have been told to retry; the work continues.
const MADE_WITHIN: Duration = Duration::from_mins(1);

/// How long a failure is repeated before a node is asked again.
const REFUSED_FOR: Duration = Duration::from_secs(15);

/// The result of creating a proof, once finished.
type Made = Option<Result<(), Problem>>;

/// The stored proofs of one machine, and the nodes that create more.
pub struct Challenges {
    kept: Arc<Proofs>,
    nodes: BTreeMap<ChainSlug, StateProver>,
    room: Semaphore,
    making: Mutex<BTreeMap<ProofName, watch::Receiver<Made>>>,
    /// When the proofs of the last minute were started.
    begun: Mutex<VecDeque<Instant>>,
}

impl Challenges {
    /// Uses the proofs stored here and the nodes of a configuration. Sends no request yet.
    pub fn new(kept: Arc<Proofs>, plan: &Plan) -> Result<Self, ClientError> {
        let mut nodes = BTreeMap::new();
        for chain in plan.chains() {
            if let Some(prover) = StateProver::new(plan, chain.slug(), Limits::for_one_answer())? {
                nodes.insert(chain.slug().clone(), prover);
            }
        }
        let (making, begun) = (Mutex::default(), Mutex::default());
        Ok(Self { kept, nodes, room: Semaphore::new(AT_ONCE), making, begun })
    }

    /// The proofs stored here.
    pub(crate) fn kept_proofs(&self) -> &Proofs {
        &self.kept
    }

    /// The proof file for a request: a stored one that covers it, or a newly created one.
    pub async fn answer(
        self: &Arc<Self>,
        service: &Service,
        asked: &StateProofAsked,
    ) -> Result<Vec<u8>, Problem> {
        let StateProofAsked { pool, slot, range } = asked;
        let named = |reach| ProofName { contract: pool.contract().clone(), slot: *slot, reach };
        for name in [named(Reach::Figures), named(Reach::Whole)] {
            if let Some(file) = self.kept(service, name, *range).await? {
                return Ok(file);
            }
        }
        let of = SlotAsked { pool: pool.clone(), slot: *slot };
        let snapshot = service.recorded_snapshot(&of).await?;
        let reach = if range.is_some() { Reach::Whole } else { Reach::Figures };
        self.made(named(reach), snapshot).await?;
        let absent = || Problem::new(ProblemCode::SourceUnreadable, "the proof was not kept");
        self.kept(service, named(reach), None).await?.ok_or_else(absent)
    }

    /// A stored proof that covers these ticks.
    async fn kept(
        self: &Arc<Self>,
        service: &Service,
        name: ProofName,
        range: Option<TickRange>,
    ) -> Result<Option<Vec<u8>>, Problem> {
        let (this, shown) = (self.clone(), name.to_string());
        let find = move || {
            let Some(range) = range else { return this.kept.pin_file(&name) };
            let Some(file) = this.kept.file(&name)? else { return Ok(None) };
            let covers = |proof: StateProof| proof.subject.covers(range);
            if !StateProof::from_bytes(&file).is_ok_and(covers) {
                return Ok(None);
            }
            this.kept.let_stay([&name])?;
            Ok(Some(file))
        };
        service.blocking_pool().run(find).await?.map_err(|error| unreadable(&shown, &error))
    }

    /// Creates a proof, or waits for the one that is being created.
    pub(crate) async fn made(
        self: &Arc<Self>,
        name: ProofName,
        snapshot: Snapshot,
    ) -> Result<(), Problem> {
        let mut ended = self.begin(name, snapshot)?;
        let made = ended.wait_for(Option::is_some).await.map(|made| made.clone());
        let cut_off = || Problem::new(ProblemCode::InternalError, "the proof could not be created");
        made.ok().flatten().unwrap_or_else(|| Err(cut_off()))
    }

    fn begin(
        self: &Arc<Self>,
        name: ProofName,
        snapshot: Snapshot,
    ) -> Result<watch::Receiver<Made>, Problem> {
        let mut making = lock_mutex(&self.making);
        if let Some(ended) = making.get(&name) {
            return Ok(ended.clone());
        }
        let busy = |detail: &str| {
            Problem::new(ProblemCode::RateLimited, detail).hint(
                "try again in a minute, or create the proof yourself: exitgap verify <evidence> --rpc <url>",
            )
        };
        if making.len() >= MOST_WAITING {
            return Err(busy("too many proofs are being created at the moment"));
        }
        if !may_begin(&mut lock_mutex(&self.begun), Instant::now()) {
            return Err(busy("the limit of proofs per minute is reached"));
        }
        let (end, ended) = watch::channel(None);
        making.insert(name.clone(), ended.clone());
        let this = self.clone();
        tokio::spawn(async move {
            let made = this.make(&name, snapshot).await;
            let is_refused = made.is_err();
            // There may be no waiting callers left.
            let _ = end.send(Some(made));
            if is_refused {
                tokio::time::sleep(REFUSED_FOR).await;
            }
            lock_mutex(&this.making).remove(&name);
        });
        Ok(ended)
    }

    async fn make(self: &Arc<Self>, name: &ProofName, snapshot: Snapshot) -> Result<(), Problem> {
        let chain = name.contract.chain();
        let Some(prover) = self.nodes.get(chain) else {
            let detail = format!("no node of {chain} is configured here");
            return Err(refusal(ProblemCode::ProofsNotServed, detail));
        };
        let Ok(_room) = self.room.acquire().await else {
            return Err(Problem::new(ProblemCode::InternalError, "the service is shutting down"));
        };
        let deadline = Instant::now() + MADE_WITHIN;
        let range = match name.reach {
            Reach::Figures => figures_range(&snapshot),
            Reach::Whole => TickRange::ALL,
        };
        let file = match prover.prove(&snapshot, None, range, deadline).await {
            Ok(file) => file,
            Err(error) => return Err(why_not(prover, &snapshot, error, deadline).await),
        };
        let (this, name) = (self.clone(), name.clone());
        let keep = move || {
            say_what_differs(&name, &file, &snapshot);
            this.kept
                .keep_for_ever(&name, &file)
                .map_err(|error| unreadable(&name.to_string(), &error))
        };
        let ended = || Problem::new(ProblemCode::InternalError, "the proof was not kept");
        tokio::task::spawn_blocking(keep).await.map_err(|_| ended())?
    }
}

/// Whether another creation may start now; if so, it is counted.
fn may_begin(begun: &mut VecDeque<Instant>, now: Instant) -> bool {
    while begun.front().is_some_and(|at| now.duration_since(*at) >= Duration::from_mins(1)) {
        begun.pop_front();
    }
    let may = begun.len() < PER_MINUTE;
    if may {
        begun.push_back(now);
    }
    may
}

/// Logs a proof that contradicts what was recorded. Such a proof is stored and returned like any other.
pub fn say_what_differs(name: &ProofName, file: &[u8], snapshot: &Snapshot) {
    let checks = check_state(&StateProof::from_bytes(file), snapshot, None);
    for check in checks.iter().filter(|check| check.outcome == Outcome::Fail) {
        let (code, expected, found) = (check.code, &check.expected, &check.found);
        tracing::error!(proof = %name, code, proven = expected, recorded = found, "the chain's state contradicts what was recorded and signed");
    }
}

fn unreadable(name: &str, error: &ProofsError) -> Problem {
    tracing::error!(%error, name, "a state proof could not be read or kept");
    Problem::new(ProblemCode::SourceUnreadable, "the state proof could not be read")
}

fn refusal(code: ProblemCode, detail: String) -> Problem {
    Problem::new(code, detail).hint(
        "any node with the block's state can create it: exitgap verify <evidence> --rpc <url>",
    )
}

/// Why the nodes did not prove a snapshot's state.
async fn why_not(
    prover: &StateProver,
    snapshot: &Snapshot,
    error: ProveError,
    deadline: Instant,
) -> Problem {
    let number = snapshot.observation().block().number;
    match &error {
        ProveError::UnknownLayout => refusal(ProblemCode::UnsupportedLayout, error.to_string()),
        ProveError::OtherBlock { found: Some(_), .. } => {
            refusal(ProblemCode::BlockNotCanonical, error.to_string())
        }
        ProveError::Proof(ProofError::TooLarge { .. }) => {
            refusal(ProblemCode::ProofTooWide, error.to_string())
        }
        // Nodes word this error differently; whether they can prove the newest block distinguishes the two causes.
        ProveError::Node(missing) => {
            tracing::info!(block = number, %missing, "a requested state proof was not created");
            if Instant::now() >= deadline {
                refusal(ProblemCode::ChainUnreadable, "the nodes did not answer in time".to_owned())
            } else if prover.proves_newest(snapshot, deadline).await {
                let detail = format!("the nodes no longer prove the state of block {number}");
                refusal(ProblemCode::ProofOutOfReach, detail)
            } else {
                let detail = "the nodes prove no state, not even for their newest block";
                refusal(ProblemCode::ProofsNotServed, detail.to_owned())
            }
        }
        ProveError::OtherBlock { found: None, .. }
        | ProveError::Contradiction(_)
        | ProveError::Proof(_) => {
            tracing::warn!(block = number, %error, "a requested state proof was not created");
            refusal(ProblemCode::ChainUnreadable, "the nodes returned an invalid proof".to_owned())
        }
    }
}

fn lock_mutex<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_are_begun_in_a_minute_and_then_more() {
        let (mut begun, start) = (VecDeque::new(), Instant::now());
        for n in 0..PER_MINUTE {
            assert!(may_begin(&mut begun, start + Duration::from_secs(n as u64)));
        }
        assert!(!may_begin(&mut begun, start + Duration::from_secs(59)));
        assert!(may_begin(&mut begun, start + Duration::from_mins(1)));
        assert!(!may_begin(&mut begun, start + Duration::from_mins(1)));
    }
}
