//! Proves the recorder's own states before they are signed.
//!
//! The recorder compares the states that it read with the chain's own state under the block's hash, using the nodes
//! that it reads from. A node that lies about a price, a tick or a reading cannot give a valid proof from that hash,
//! and the state is not recorded. If a node serves no proofs, the state stays unproven, which is only counted and
//! reported.

use std::collections::BTreeMap;

use exitgap_core::evidence::Outcome;
use exitgap_core::ids::{Address, ChainSlug};
use exitgap_core::proof::{
    FeedSubject, ProofError, ProofParts, ProofSubject, StateCheckName, StateClaim, StateProof,
    TickRange, check_claim, check_code, needed_ticks, ranges_of,
};
use exitgap_core::series::MissingReason;
use exitgap_core::snapshot::{BlockRef, Snapshot};
use futures_util::{StreamExt as _, stream};
use tokio::time::Instant;

use super::ask::{Answers, BlockQuery, Headers, feeds_of};
use super::{ProveError, subject_of};
use crate::read_failure::ReadFailure;
use crate::rpc::Rpc;

/// The ticks on both sides that are proven in addition to those that figures use, so that many larger sizes are proven
/// as well.
const MARGIN_TICKS: i32 = 200;

/// The most words of a pool that are requested per slot: the whole bitmap of the narrowest spacing, for a pool whose
/// liquidity ends before its figures do, and its ticks.
const MOST_WORDS: usize = 8_192;

/// Why a state is recorded without a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unproven {
    /// The contract's storage layout is unknown.
    UnsupportedLayout,
    /// The nodes serve no proofs, or none for this block.
    NotServed,
    /// Its figures depend on more words than are requested, or than a proof can hold.
    TooWide,
    /// There was not enough time.
    NoTime,
}

impl Unproven {
    /// All causes.
    pub const ALL: [Self; 4] =
        [Self::UnsupportedLayout, Self::NotServed, Self::TooWide, Self::NoTime];

    /// The code used in logs and metrics.
    pub fn code(self) -> &'static str {
        match self {
            Self::UnsupportedLayout => "unsupported_layout",
            Self::NotServed => "not_served",
            Self::TooWide => "too_wide",
            Self::NoTime => "no_time",
        }
    }
}

/// The result of proving a snapshot that is about to be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proven {
    /// The state was proven, with this file.
    Held {
        /// The file.
        file: Vec<u8>,
        /// Whether it also proves the readings of its oracles.
        has_oracles: bool,
    },
    /// The state could not be proven.
    Unproven(Unproven),
    /// The chain has another state. The snapshot must not be recorded.
    Contradicted(ReadFailure),
}

/// The data about a chain that is kept from slot to slot.
#[derive(Debug, Default)]
pub(crate) struct SnapshotProver {
    /// The index of the pool that comes first if there is not enough time for all.
    first: usize,
}

/// The data that all pools of a block share.
struct BlockContext {
    headers: Headers,
    /// The rounds of their feeds, or the nodes' contradiction about a feed.
    feeds: BTreeMap<Address, Result<Answers, ReadFailure>>,
}

impl SnapshotProver {
    /// Proves snapshots of one block in parallel, as far as there is time. The results are in the same order.
    pub async fn prove(
        &mut self,
        rpc: &Rpc,
        chain: &ChainSlug,
        snapshots: &[&Snapshot],
        deadline: Instant,
    ) -> Vec<Proven> {
        let Some(block) = snapshots.first().map(|first| first.observation().block()) else {
            return Vec::new();
        };
        let asked = BlockQuery { rpc, number: block.number, deadline };
        let shared = match BlockContext::for_block(&asked, block, snapshots).await {
            Ok(shared) => shared,
            Err(error) => {
                tracing::warn!(%chain, block = block.number, %error, "no state of this slot has a proof");
                return vec![unproven(error, deadline); snapshots.len()];
            }
        };
        let count = snapshots.len();
        let order = (0..count).map(|step| (self.first + step) % count);
        let proofs = stream::iter(order)
            .map(|at| {
                let shared = &shared;
                async move { (at, shared.prove(&asked, block, snapshots[at]).await) }
            })
            .buffer_unordered(rpc.limits().concurrency.max(1));
        let proofs: BTreeMap<usize, Proven> = proofs.collect().await;
        let is_late = |proven: &Proven| *proven == Proven::Unproven(Unproven::NoTime);
        let order = (0..count).map(|step| (self.first + step) % count);
        self.first = order.into_iter().find(|at| proofs.get(at).is_some_and(is_late)).unwrap_or(0);
        proofs.into_values().collect()
    }
}

impl BlockContext {
    async fn for_block(
        asked: &BlockQuery<'_>,
        block: BlockRef,
        snapshots: &[&Snapshot],
    ) -> Result<Self, ProveError> {
        let headers = asked.headers(block).await?;
        let mut feeds: BTreeMap<Address, Result<Answers, ReadFailure>> = BTreeMap::new();
        let named: BTreeMap<_, _> =
            snapshots.iter().flat_map(|one| feeds_of(one.observation())).collect();
        for (feed, reading) in named {
            let answers = match asked.answers_of(feed, reading).await {
                Ok(answers) => Ok(answers),
                Err(ProveError::Contradiction(missing)) => Err(missing),
                // The pool is proven without this feed.
                Err(_) => Ok(Answers::default()),
            };
            feeds.insert(feed, answers);
        }
        Ok(Self { headers, feeds })
    }

    async fn prove(&self, asked: &BlockQuery<'_>, block: BlockRef, snapshot: &Snapshot) -> Proven {
        if Instant::now() >= asked.deadline {
            return Proven::Unproven(Unproven::NoTime);
        }
        if snapshot.observation().block() != block {
            let detail = "it was read at a different block from the other pools of its chain";
            return Proven::Contradicted(ReadFailure::new(
                MissingReason::RpcResponseInvalid,
                detail,
            ));
        }
        let own = feeds_of(snapshot.observation()).filter_map(|(feed, _)| self.feeds.get(&feed));
        let (mut nodes, mut feeds) = (Vec::new(), Vec::new());
        for answers in own {
            match answers {
                Ok(answers) => {
                    feeds.extend(answers.feeds.iter().copied());
                    nodes.extend(answers.nodes.iter().cloned());
                }
                Err(missing) => return Proven::Contradicted(missing.clone()),
            }
        }
        let subject = match subject_to_record(snapshot, feeds) {
            Ok(subject) => subject,
            Err(not) => return not,
        };
        let Headers { header, child } = &self.headers;
        match asked.words(subject.0.address, &subject.1, &mut nodes).await {
            Ok(_) => {
                judge_snapshot(snapshot, &subject.0, &ProofParts { header, child, nodes: &nodes })
            }
            Err(error) => unproven(error, asked.deadline),
        }
    }
}

/// The ticks that are proven for a recorded snapshot: those that its head's figures use, and more on both sides.
pub fn figures_range(snapshot: &Snapshot) -> TickRange {
    let needed = needed_ticks(snapshot, None).unwrap_or(TickRange::ALL);
    TickRange {
        low: needed.low.saturating_sub(MARGIN_TICKS).max(TickRange::ALL.low),
        high: needed.high.saturating_add(MARGIN_TICKS).min(TickRange::ALL.high),
    }
}

/// The proof subject for a snapshot that is about to be recorded, with the storage words of its pool. The ticks are
/// those of the snapshot, and the bitmap must have the same.
pub fn subject_to_record(
    snapshot: &Snapshot,
    mut feeds: Vec<FeedSubject>,
) -> Result<(ProofSubject, Vec<[u8; 32]>), Proven> {
    let range = figures_range(snapshot);
    let unsupported = Proven::Unproven(Unproven::UnsupportedLayout);
    let mut subject = subject_of(snapshot, None, range).ok_or(unsupported)?;
    if let (Some(of), Some(ranges)) =
        (&mut subject.ranges, ranges_of(snapshot.observation().state()))
    {
        let ticks = ranges.ticks().iter().map(|tick| tick.tick);
        of.ticks = ticks.filter(|tick| (range.low..=range.high).contains(tick)).collect();
    }
    feeds.sort_by_key(|feed: &FeedSubject| feed.feed);
    feeds.dedup();
    subject.feeds = feeds;
    match subject.slots() {
        Ok(slots) if slots.len() <= MOST_WORDS => Ok((subject, slots)),
        Ok(_) => Err(Proven::Unproven(Unproven::TooWide)),
        Err(error) => Err(state_contradiction(&error.to_string())),
    }
}

/// Without an answer nothing is proven. Only a contradiction counts against the state, because a lying node could as
/// well not answer.
fn unproven(error: ProveError, deadline: Instant) -> Proven {
    match error {
        ProveError::UnknownLayout => Proven::Unproven(Unproven::UnsupportedLayout),
        ProveError::Node(_) if Instant::now() >= deadline => Proven::Unproven(Unproven::NoTime),
        ProveError::Node(_) | ProveError::OtherBlock { .. } => {
            Proven::Unproven(Unproven::NotServed)
        }
        ProveError::Contradiction(missing) => Proven::Contradicted(missing),
        ProveError::Proof(error) => state_contradiction(&error.to_string()),
    }
}

/// Judges a snapshot by nodes of the chain's tries.
pub fn judge_snapshot(
    snapshot: &Snapshot,
    subject: &ProofSubject,
    parts: &ProofParts<'_>,
) -> Proven {
    let file = match subject.file(parts) {
        Ok(file) => file,
        Err(ProofError::TooLarge { .. }) => return Proven::Unproven(Unproven::TooWide),
        Err(error) => return state_contradiction(&error.to_string()),
    };
    let (proof, claim) = (StateProof::from_bytes(&file), StateClaim::from_snapshot(snapshot, None));
    let mut checks = check_claim(&proof, &claim).to_vec();
    checks.extend(check_code(&proof, &claim, None));
    if let Some(check) = checks.iter().find(|check| check.outcome == Outcome::Fail) {
        let (expected, found) = (&check.expected, &check.found);
        return state_contradiction(&format!(
            "{}: the proof has {expected}, but the recorded value is {found}",
            check.code
        ));
    }
    let passed =
        |name| checks.iter().any(|check| check.name == name && check.outcome == Outcome::Pass);
    if !passed(StateCheckName::PoolState) {
        return Proven::Unproven(Unproven::UnsupportedLayout);
    }
    Proven::Held { file, has_oracles: passed(StateCheckName::OracleState) }
}

fn state_contradiction(detail: &str) -> Proven {
    let detail = format!("the chain's own state differs: {detail}");
    Proven::Contradicted(ReadFailure::new(MissingReason::RpcResponseInvalid, detail))
}
