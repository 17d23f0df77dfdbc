//! Data for verifying results: evidence files, head windows, snapshots, and the current status of a slot.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use exitgap_api::operations::{EvidenceAsked, SlotAsked};
use exitgap_api::{LogsStatus, Problem, ProblemCode, RetractionNotice, SlotState, SlotStatus};
use exitgap_core::evidence::Base;
use exitgap_core::ids::{ChainSlug, PoolId, SnapshotHash, StateHash};
use exitgap_core::series::{LookupError, Slot};
use exitgap_core::snapshot::Snapshot;
use exitgap_core::units::SizeUsd;
use exitgap_store::{EvidenceError, FindError, Outcome, Reader, SlotRetraction, TakenBack};
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::history::state_of;
use super::{IntoProblem, Service};

/// How long evidence of a slot waits for its witnesses' cosignatures, which it must contain: a little longer than the
/// recorder waits.
const WITNESSES_WITHIN: Duration = Duration::from_secs(7);
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// The number of proofs that the cache's tables are sized for.
const CACHE_ITEMS: usize = 1_000;

/// Bytes that never change.
pub type Proof = bytes::Bytes;

/// The key of a cached proof.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ProofKey {
    /// An evidence file for a given slot.
    Evidence(PoolId, Base, Slot, SizeUsd),
    /// A head window.
    Window(PoolId, Slot),
    /// A figure file, by its address.
    Figure(String),
}

/// The cache of proofs.
pub type EvidenceCache = Cache<ProofKey, Proof, ByLength>;

/// Weighs a proof by its size in bytes.
#[derive(Debug, Clone, Copy)]
pub struct ByLength;

impl Weighter<ProofKey, Proof> for ByLength {
    fn weight(&self, _: &ProofKey, proof: &Proof) -> u64 {
        const KEY: u64 = 200;
        proof.len() as u64 + KEY
    }
}

/// An empty cache of this size.
pub fn cache(bytes: u64) -> EvidenceCache {
    Cache::with_weighter(CACHE_ITEMS, bytes, ByLength)
}

/// The bytes for the cache, without a vector's unused capacity, which the weight would not include.
pub(super) fn proof(bytes: Vec<u8>) -> Proof {
    Proof::from(bytes.into_boxed_slice())
}

impl Service {
    /// The evidence file of a result. Its bytes are always the same.
    pub async fn evidence(&self, asked: EvidenceAsked) -> Result<Proof, Problem> {
        let EvidenceAsked { pool, base, slot, size, .. } = asked;
        let current = self.current();
        let now = current.pools.get(&pool);
        let base = base.or_else(|| now.map(|now| now.pool.default_base.into()));
        let slot = slot.or_else(|| current.newest_of(&pool).map(|newest| newest.slot));
        let (Some(base), Some(slot)) = (base, slot) else {
            let found = self.read_store(move |reader| reader.find(&pool, None)).await?;
            let pool = found.pool.id;
            let detail =
                format!("{pool}: the slot was recorded a moment ago; ask again in a second");
            return Err(Problem::new(ProblemCode::NoSnapshotYet, detail));
        };
        let key = ProofKey::Evidence(pool.clone(), base, slot, size);
        if let Some(kept) = self.evidence.get(&key) {
            return Ok(kept);
        }
        let made = {
            let pool = pool.clone();
            move |reader: &Reader| {
                // This error says what is available instead.
                has_snapshot(reader.find(&pool, Some(slot)))?;
                match reader.evidence(&pool, base, slot, size) {
                    Err(EvidenceError::Awaited { .. }) => Ok(None),
                    made => made.map(Some).map_err(ProofError::Evidence),
                }
            }
        };
        let started = Instant::now();
        let made = loop {
            if let Some(made) = self.read_store(made.clone()).await? {
                break made;
            }
            if started.elapsed() > WITNESSES_WITHIN {
                let error = EvidenceError::Awaited { slot };
                return Err(Problem::new(ProblemCode::NoSnapshotYet, error.to_string()));
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        };
        let proof = proof(made);
        self.evidence.insert(key, proof.clone());
        Ok(proof)
    }

    /// The pool's heads of the seven days up to the slot.
    pub async fn window(&self, asked: SlotAsked) -> Result<Proof, Problem> {
        let SlotAsked { pool, slot } = asked;
        let key = ProofKey::Window(pool.clone(), slot);
        if let Some(kept) = self.evidence.get(&key) {
            return Ok(kept);
        }
        let made = self
            .read_store(move |reader| {
                in_series(reader.find(&pool, Some(slot)))?;
                let window = reader.window(&pool, slot).map_err(ProofError::Evidence)?;
                window.to_canonical().map_err(|error| ProofError::Evidence(error.into()))
            })
            .await?;
        let proof = proof(made);
        self.evidence.insert(key, proof.clone());
        Ok(proof)
    }

    /// The canonical bytes of the snapshot with this hash.
    pub async fn snapshot(&self, hash: SnapshotHash) -> Result<Proof, Problem> {
        let documents = self.read_store(move |reader| reader.documents(hash)).await?;
        documents.map(|documents| Proof::from(documents.snapshot)).ok_or_else(|| {
            Problem::new(ProblemCode::NotFound, format!("no snapshot {hash} is recorded"))
                .field("hash")
                .hint("results name their snapshot in method.depth_source.snapshot_hash")
        })
    }

    /// The canonical bytes of the state with this hash.
    pub async fn state(&self, hash: StateHash) -> Result<Proof, Problem> {
        let state = self.read_store(move |reader| reader.state(hash)).await?;
        state.map(Proof::from).ok_or_else(|| {
            Problem::new(ProblemCode::NotFound, format!("no state {hash} is recorded"))
                .field("hash")
                .hint("snapshots name their state in the field state")
        })
    }

    /// The snapshot of a pool at a slot, retracted or not.
    pub async fn recorded_snapshot(&self, asked: &SlotAsked) -> Result<Snapshot, Problem> {
        let SlotAsked { pool: id, slot } = asked.clone();
        let read = move |reader: &Reader| {
            has_snapshot(reader.find(&id, Some(slot)))?;
            let pool = reader.pool(&id).map_err(FindError::Store)?;
            let snapshot = pool.map(|pool| reader.snapshot_at(&pool, slot)).transpose();
            Ok::<_, ProofError>(snapshot.map_err(FindError::Store)?.flatten())
        };
        let absent =
            || Problem::new(ProblemCode::SourceUnreadable, "the snapshot could not be read");
        self.read_store(read).await?.ok_or_else(absent)
    }

    /// The current status of a sealed slot.
    pub async fn slot_status(&self, asked: &SlotAsked) -> Result<SlotStatus, Problem> {
        let SlotAsked { pool: id, slot } = asked.clone();
        self.read_store(move |reader| {
            in_series(reader.find(&id, Some(slot)))?;
            let pool = reader.pool(&id).map_err(FindError::Store)?;
            let figures = match &pool {
                Some(pool) => reader.figures_at(pool, slot).map_err(FindError::Store)?,
                None => None,
            };
            let doubt = match (&pool, state_is_recorded(figures.as_ref())) {
                (Some(pool), true) => reader.doubt_about(pool, slot).map_err(FindError::Store)?,
                _ => None,
            };
            let (state, reason) = figures.as_ref().map_or((SlotState::Missing, None), state_of);
            let retraction = figures.and_then(|figures| figures.retraction);
            Ok::<_, ProofError>(SlotStatus {
                pool: id.to_string(),
                slot: slot.number(),
                slot_time: slot.to_string(),
                state,
                missing_reason: reason.map(String::from),
                retraction: retraction.as_ref().map(notice),
                doubted_by_slot: doubt.map(Slot::number),
                logs: None,
            })
        })
        .await
        .map(|status| SlotStatus { logs: self.log_checks.of(&asked.pool, asked.slot), ..status })
    }

    /// Takes in how the logs of a chain's pools were checked when a slot was recorded.
    pub fn note_logs_checked(&self, chain: &ChainSlug, slot: Slot, logs: LogsStatus) {
        self.log_checks.note(chain, slot, logs);
    }
}

/// How the logs of each chain's last slots were checked.
#[derive(Debug, Default)]
pub(super) struct LogChecks(Mutex<BTreeMap<ChainSlug, BTreeMap<Slot, LogsStatus>>>);

impl LogChecks {
    fn note(&self, chain: &ChainSlug, slot: Slot, logs: LogsStatus) {
        let mut checks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let slots = checks.entry(chain.clone()).or_default();
        slots.insert(slot, logs);
        if slots.len() > Slot::PER_DAY as usize {
            slots.pop_first();
        }
    }

    fn of(&self, pool: &PoolId, slot: Slot) -> Option<LogsStatus> {
        let checks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        checks.get(pool.chain())?.get(&slot).cloned()
    }
}

/// The document of a retraction.
fn notice(SlotRetraction { by, why }: &SlotRetraction) -> RetractionNotice {
    let (code, hashes) = match why {
        TakenBack::Orphaned { orphaned, canonical } => ("orphaned", Some((orphaned, canonical))),
        TakenBack::Misread => ("misread", None),
    };
    RetractionNotice {
        by_slot: by.number(),
        code: code.to_owned(),
        orphaned_block_hash: hashes.map(|(orphaned, _)| orphaned.to_string()),
        canonical_block_hash: hashes.map(|(_, canonical)| canonical.to_string()),
    }
}

/// Whether the slot has a snapshot, even one in doubt.
fn state_is_recorded(figures: Option<&exitgap_store::Figures>) -> bool {
    figures.is_some_and(|figures| matches!(figures.entry.outcome, Outcome::Recorded(_)))
}

/// Requires that the pool's slot has a snapshot, retracted or not, because evidence of retracted slots stays available.
fn has_snapshot<T>(found: Result<T, FindError>) -> Result<(), ProofError> {
    match found {
        Ok(_) | Err(FindError::Lookup(LookupError::Retracted { .. })) => Ok(()),
        Err(error) => Err(ProofError::Find(error)),
    }
}

/// Requires that the pool's series has the slot, recorded or not.
pub(super) fn in_series<T>(found: Result<T, FindError>) -> Result<(), ProofError> {
    use LookupError::{Missing, Retired, Retracted};
    match found {
        Ok(_) | Err(FindError::Lookup(Missing { .. } | Retracted { .. } | Retired { .. })) => {
            Ok(())
        }
        Err(error) => Err(ProofError::Find(error)),
    }
}

/// Why there is no proof.
pub(super) enum ProofError {
    Find(FindError),
    Evidence(EvidenceError),
}

impl From<FindError> for ProofError {
    fn from(error: FindError) -> Self {
        Self::Find(error)
    }
}

impl IntoProblem for ProofError {
    fn into_problem(self) -> Problem {
        use exitgap_core::evidence::ResultError;
        match self {
            Self::Find(error) => error.into_problem(),
            Self::Evidence(EvidenceError::Store(error)) => error.into_problem(),
            Self::Evidence(EvidenceError::Result(ResultError::Refused(refusal))) => {
                Problem::from(&refusal)
            }
            Self::Evidence(error) => {
                tracing::error!(%error, "evidence could not be put together");
                Problem::new(ProblemCode::InternalError, "the evidence could not be put together")
            }
        }
    }
}
