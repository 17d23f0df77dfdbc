//! Step 1, read: all pools of all chains at a slot, until its deadline.

use std::mem::take;

use exitgap_chain::SeenHeads;
use exitgap_core::ids::{BlockHash, PoolId};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_store::{NewDoubt, NewEntry, Store};
use tokio::time::Instant;

use super::chains::{self, Chain, ChainReading, ReadSnapshot, ReadTerms, ReadingPlan};
use super::fills::LogsRequest;
use super::proofs::Proofs;
use super::source::{ResumePoint, SlotReader};
use super::{Recorder, RecorderError, recheck};

/// The readings of a slot. Nothing of it is written yet.
pub struct ReadSlot {
    pub slot: Slot,
    /// One entry for each pool that is configured, or that the store has and that does not retire.
    pub entries: Vec<NewEntry<ReadSnapshot>>,
    /// The block at which each chain was read, in the order of the chains; `None` if none of its pools was read.
    pub blocks: Vec<Option<BlockHash>>,
    /// Earlier slots that the reading puts in doubt.
    pub doubts: Vec<NewDoubt>,
    /// State proofs of the readings.
    pub proofs: Proofs,
    /// Number of HTTP requests.
    pub requests: u64,
    /// The heads that the nodes of each chain had, in the order of the chains, where its reader can tell.
    pub heads: Vec<Option<SeenHeads>>,
}

impl<R: SlotReader> Recorder<R> {
    /// Reads `slot` until `deadline`. Also passes the blocks and logs of its pools to each chain.
    pub(super) async fn read_slot(
        &mut self,
        slot: Slot,
        deadline: Instant,
    ) -> Result<ReadSlot, RecorderError> {
        let last = self.last_slot()?;
        if let Some(last) = last.filter(|last| slot <= *last) {
            return Err(RecorderError::Sealed { slot, last });
        }
        let unconfigured = self.unconfigured_pools()?;
        let plans = self.reading_plans().await?;
        let requests: Vec<Option<LogsRequest>> =
            plans.iter().map(|plan| plan.logs.clone()).collect();
        let readings = self.read_chains(slot, plans, deadline).await?;
        let mut read = ReadSlot {
            slot,
            entries: Vec::new(),
            blocks: Vec::with_capacity(readings.len()),
            doubts: Vec::new(),
            proofs: Proofs::default(),
            requests: 0,
            heads: Vec::with_capacity(self.chains.len()),
        };
        for ((chain, request), reading) in self.chains.iter_mut().zip(requests).zip(readings) {
            read.add(chain, request.as_ref(), reading);
        }
        read.entries.extend(unconfigured.into_iter().map(|(pool, default_base)| NewEntry {
            pool,
            default_base,
            reading: Err(MissingReason::RecorderDown),
        }));
        Ok(read)
    }

    /// The inputs of each chain's reader for the next slot.
    async fn reading_plans(&mut self) -> Result<Vec<ReadingPlan>, RecorderError> {
        let mut plans = Vec::with_capacity(self.chains.len());
        for place in 0..self.chains.len() {
            let standing = self.standing_of(place).await?;
            plans.push(ReadingPlan { standing, logs: None });
        }
        if R::TELLS_LOGS {
            for (place, plan) in plans.iter_mut().enumerate() {
                plan.logs = self.plan_logs(place).await?;
            }
        }
        Ok(plans)
    }

    /// Reads the newest recorded state of a chain from the store, if its reader is new.
    async fn standing_of(&mut self, place: usize) -> Result<ResumePoint, RecorderError> {
        if !self.chains[place].begins() {
            return Ok(ResumePoint::default());
        }
        let chain = self.chains[place].slug().clone();
        let pools = self.chains[place].pools().iter().map(|(pool, _)| pool.clone());
        let pools: Option<Vec<PoolId>> = self.shards.is_none().then(|| pools.collect());
        let read = move |store: &mut Store| {
            recheck::find_resume_point(store.reader(), &chain, pools.as_deref())
        };
        Ok(self.store.run_blocking(read).await??)
    }

    /// Plans which logs of a chain's pools are requested with the next slot.
    async fn plan_logs(&mut self, place: usize) -> Result<Option<LogsRequest>, RecorderError> {
        let chain = self.chains[place].slug().clone();
        let pools: Vec<PoolId> =
            self.chains[place].pools().iter().map(|(pool, _)| pool.clone()).collect();
        let mut gatherer = take(&mut self.chains[place].fills);
        let plan = move |store: &mut Store| {
            let planned = gatherer.plan(store.reader(), &chain, &pools);
            (gatherer, planned)
        };
        let (gatherer, planned) = self.store.run_blocking(plan).await?;
        self.chains[place].fills = gatherer;
        Ok(planned?)
    }

    /// Reads all chains here, or gathers the readings of the recorders that share the reading.
    async fn read_chains(
        &mut self,
        slot: Slot,
        plans: Vec<ReadingPlan>,
        deadline: Instant,
    ) -> Result<Vec<ChainReading>, RecorderError> {
        if self.shards.is_some() {
            return self.gather_readings(slot, plans, deadline).await;
        }
        let terms = ReadTerms { slot, prove: self.prove, ready: true, deadline };
        Ok(chains::read_all(&mut self.chains, plans, terms).await)
    }
}

impl ReadSlot {
    /// Adds the readings of one chain.
    fn add<R: SlotReader>(
        &mut self,
        chain: &mut Chain<R>,
        request: Option<&LogsRequest>,
        reading: ChainReading,
    ) {
        self.blocks.push(reading.block().map(|block| block.hash));
        let ChainReading { pools, doubts, requests, logs, proofs, heads } = reading;
        self.heads.push(heads);
        self.doubts.extend(doubts);
        self.requests += requests;
        self.proofs.add(proofs);
        if let Some(request) = request {
            let slug = chain.slug().clone();
            chain.fills.add_logs(&slug, self.slot, request, logs);
        }
        let snapshots = pools.iter().flatten().map(|read| &read.snapshot);
        chain.recheck.note(self.slot, snapshots.clone());
        if R::TELLS_LOGS {
            chain.fills.note(self.slot, snapshots);
        }
        for ((pool, default_base), result) in chain.pools().iter().zip(pools) {
            let reading = result.map_err(|missing| missing.reason);
            self.entries.push(NewEntry {
                pool: pool.clone(),
                default_base: *default_base,
                reading,
            });
        }
    }
}
