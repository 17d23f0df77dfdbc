//! The recorder's own states, proven before they are signed.
//!
//! What it read it holds against the chain's own state under the block's hash, at the nodes it reads from. A node that lies about
//! a price, a tick or a reading cannot lead to it from that hash, and the state is not recorded. A node that serves no proofs
//! leaves a state unproven, which is counted and said, and nothing else.

use std::collections::BTreeMap;

use exitgap_core::evidence::Outcome;
use exitgap_core::ids::{Address, ChainSlug};
use exitgap_core::proof::{
    FeedSubject, StateCheckName, StateProof, TickRange, check_state, needed_ticks, ranges_of,
};
use exitgap_core::series::MissingReason;
use exitgap_core::snapshot::{BlockRef, Snapshot};
use futures_util::{StreamExt as _, stream};
use tokio::time::Instant;

use super::ask::{Answers, Asked, Headers, feeds_of};
use super::{ProveError, file_of, subject_of};
use crate::missing::Missing;
use crate::rpc::Rpc;

/// Ticks that are proven beyond those that figures read, on both sides, so that many a larger size is proven, too.
const MARGIN_TICKS: i32 = 200;

/// The most words of a pool that are asked for each slot.
const MOST_WORDS: usize = 1_024;

/// Why a state is recorded without a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unproven {
    /// How its contract keeps its words is not known.
    UnsupportedLayout,
    /// The nodes serve no proofs, or none of this block.
    NotServed,
    /// Its figures read more words than are asked for.
    TooWide,
    /// There was no time left.
    NoTime,
}

impl Unproven {
    /// As logs and metrics spell it.
    pub fn code(self) -> &'static str {
        match self {
            Self::UnsupportedLayout => "unsupported_layout",
            Self::NotServed => "not_served",
            Self::TooWide => "too_wide",
            Self::NoTime => "no_time",
        }
    }
}

/// What the chain's own state says of a snapshot that is about to be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proven {
    /// The same, and this file proves it.
    Held {
        /// The file.
        file: Vec<u8>,
        /// Whether it proves the readings of its oracles, too.
        has_oracles: bool,
    },
    /// Nothing.
    Unproven(Unproven),
    /// Something else: it must not be recorded.
    Contradicted(Missing),
}

/// What is remembered of a chain from slot to slot.
#[derive(Debug, Default)]
pub(crate) struct Proving {
    /// Which pool comes first, where there is no time for all.
    first: usize,
}

/// What all pools of a block share.
struct Shared {
    headers: Headers,
    feeds: BTreeMap<Address, Answers>,
}

impl Proving {
    /// Proves snapshots of one block, side by side, as far as there is time; in their order.
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
        let asked = Asked { rpc, number: block.number, deadline };
        let shared = match Shared::of(&asked, block, snapshots).await {
            Ok(shared) => shared,
            Err(error) => {
                tracing::warn!(%chain, block = block.number, %error, "no state of this slot is proven");
                let all = outcome(Err(error), deadline);
                return vec![all; snapshots.len()];
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

impl Shared {
    async fn of(
        asked: &Asked<'_>,
        block: BlockRef,
        snapshots: &[&Snapshot],
    ) -> Result<Self, ProveError> {
        let headers = asked.headers(block).await?;
        let mut feeds: BTreeMap<Address, Answers> = BTreeMap::new();
        for snapshot in snapshots {
            for (feed, reading) in feeds_of(snapshot.observation()) {
                if !feeds.contains_key(&feed) {
                    feeds.insert(feed, asked.answers_of(feed, reading).await?);
                }
            }
        }
        Ok(Self { headers, feeds })
    }

    async fn prove(&self, asked: &Asked<'_>, block: BlockRef, snapshot: &Snapshot) -> Proven {
        if Instant::now() >= asked.deadline {
            return Proven::Unproven(Unproven::NoTime);
        }
        if snapshot.observation().block() != block {
            let detail = "it was read at another block than its chain's other pools";
            return Proven::Contradicted(Missing::new(MissingReason::RpcResponseInvalid, detail));
        }
        let needed = needed_ticks(snapshot, None).unwrap_or(TickRange::ALL);
        let range = TickRange {
            low: needed.low.saturating_sub(MARGIN_TICKS).max(TickRange::ALL.low),
            high: needed.high.saturating_add(MARGIN_TICKS).min(TickRange::ALL.high),
        };
        let Some(mut subject) = subject_of(snapshot, None, range) else {
            return Proven::Unproven(Unproven::UnsupportedLayout);
        };
        // What was read says which ticks there are; the bitmap must have the same.
        if let (Some(of), Some(ranges)) =
            (&mut subject.ranges, ranges_of(snapshot.observation().state()))
        {
            let ticks = ranges.ticks().iter().map(|tick| tick.tick);
            of.ticks = ticks.filter(|tick| (range.low..=range.high).contains(tick)).collect();
        }
        let mut nodes = Vec::new();
        for (feed, _) in feeds_of(snapshot.observation()) {
            let Some(answers) = self.feeds.get(&feed) else { continue };
            subject.feeds.extend(&answers.feeds);
            nodes.extend(answers.nodes.iter().cloned());
        }
        subject.feeds.sort_by_key(|feed: &FeedSubject| feed.feed);
        subject.feeds.dedup();
        match subject.slots() {
            Ok(slots) if slots.len() <= MOST_WORDS => {}
            Ok(_) => return Proven::Unproven(Unproven::TooWide),
            Err(error) => return outcome(Err(error.into()), asked.deadline),
        }
        let file = file_of(asked, &subject, &self.headers, nodes).await;
        outcome(file.map(|file| (file, snapshot)), asked.deadline)
    }
}

/// What comes of an answer: only what contradicts is held against the state, for a node that lies may as well say nothing.
fn outcome(file: Result<(Vec<u8>, &Snapshot), ProveError>, deadline: Instant) -> Proven {
    let (file, snapshot) = match file {
        Ok(proven) => proven,
        Err(ProveError::UnknownLayout) => return Proven::Unproven(Unproven::UnsupportedLayout),
        Err(ProveError::Node(_)) if Instant::now() >= deadline => {
            return Proven::Unproven(Unproven::NoTime);
        }
        Err(ProveError::Node(_) | ProveError::OtherBlock { .. }) => {
            return Proven::Unproven(Unproven::NotServed);
        }
        Err(ProveError::Contradiction(missing)) => return Proven::Contradicted(missing),
        Err(error @ ProveError::Proof(_)) => return contradicted(error.to_string()),
    };
    let checks = check_state(&StateProof::read(&file), snapshot, None);
    if let Some(check) = checks.iter().find(|check| check.outcome == Outcome::Fail) {
        let (expected, found) = (&check.expected, &check.found);
        return contradicted(format!("{}: proven is {expected}, read was {found}", check.code));
    }
    let passed = |name| {
        checks.iter().any(|check| check.name == name && check.outcome == Outcome::Pass)
    };
    if !passed(StateCheckName::PoolState) {
        return Proven::Unproven(Unproven::UnsupportedLayout);
    }
    Proven::Held { file, has_oracles: passed(StateCheckName::OracleState) }
}

fn contradicted(detail: String) -> Proven {
    let detail = format!("the chain's own state says otherwise: {detail}");
    Proven::Contradicted(Missing::new(MissingReason::RpcResponseInvalid, detail))
}
