//! What pools logged, gathered from the nodes while slots are read, so that heads commit to it.
//!
//! Only blocks are asked for that were looked at again and stand: what is gathered is final. How far it is, the store
//! knows by the documents it has; what could not be read in time is read with a later slot, and what cannot be read for
//! a day is left out: the next document begins anew, and says so.

use std::collections::BTreeMap;

use exitgap_chain::{LogsSince, LogsUntil, ReadFailure};
use exitgap_core::analytics::accuracy::{Fills, MAX_FILLS_LOGS, is_told_of};
use exitgap_core::ids::{Address, ChainSlug, PoolId};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::Snapshot;
use exitgap_store::{NewFills, Reader, StoreError};

/// Slots after which what was gathered is committed to also where nothing was logged.
const QUIET_SLOTS: u32 = 12;

/// Slots after which blocks that cannot be read are left out.
const GIVEN_UP_SLOTS: u32 = Slot::PER_DAY;

/// Which logs of a chain's pools its nodes are asked for with a slot.
#[derive(Debug, Clone)]
pub struct LogsRequest {
    /// The block after which each pool's logs are not gathered yet.
    pub since: LogsSince,
    /// The newest block that is asked for.
    pub last: u64,
}

/// What the nodes answered; `None`: nothing was asked, or there was no time.
pub type LogsAnswer = Option<Result<BTreeMap<Address, LogsUntil>, ReadFailure>>;

/// What is gathered of one chain.
#[derive(Debug, Default)]
pub struct Gatherer {
    pools: BTreeMap<PoolId, PendingFills>,
    /// The block of each pool whose logs are known, of slots that this process recorded.
    noted: BTreeMap<Slot, BTreeMap<PoolId, u64>>,
    failing: bool,
}

/// The next document of a pool.
#[derive(Debug)]
struct PendingFills {
    fills: Fills,
    /// The slot of the document before.
    since: Slot,
    /// Whether it begins anew, so that it says of no block.
    begins: bool,
}

impl PendingFills {
    fn after(fills: &Fills, since: Slot) -> Self {
        Self::at(fills, fills.to_block, since, false)
    }

    fn at(of: &Fills, block: u64, since: Slot, begins: bool) -> Self {
        let contract = of.contract.clone();
        let fills = Fills { contract, after_block: block, to_block: block, logs: Vec::new() };
        Self { fills, since, begins }
    }

    /// Takes in what was logged after the last block; no more than a document may have.
    fn extend(&mut self, until: LogsUntil, slot: Slot) {
        let Self { fills, .. } = self;
        let LogsUntil { mut to_block, logs } = until;
        if to_block <= fills.to_block {
            return;
        }
        let room = MAX_FILLS_LOGS.saturating_sub(fills.logs.len());
        let beyond = logs.get(room).map(|log| log.block);
        fills.logs.extend(logs);
        if let Some(beyond) = beyond {
            fills.logs.retain(|log| log.block < beyond);
            if fills.logs.is_empty() {
                // One block alone has more than a document: it is left out.
                *self = Self::at(&self.fills, beyond, slot, true);
                return;
            }
            to_block = beyond - 1;
        }
        self.fills.to_block = to_block;
    }

    fn is_due(&self, slot: Slot) -> bool {
        let Self { fills, since, begins } = self;
        let quiet = fills.to_block > fills.after_block
            && slot.number().saturating_sub(since.number()) >= QUIET_SLOTS;
        *begins || !fills.logs.is_empty() || quiet
    }
}

impl Gatherer {
    /// Notes the blocks of a slot that was recorded.
    pub fn note<'a>(&mut self, slot: Slot, snapshots: impl Iterator<Item = &'a Snapshot>) {
        let block = |snapshot: &Snapshot| {
            let observation = snapshot.observation();
            let told = is_told_of(observation.state());
            told.then(|| (observation.pool().clone(), observation.block().number))
        };
        self.noted.insert(slot, snapshots.filter_map(block).collect());
    }

    /// Plans what to ask for with the next slot: the logs up to the newest block that stands.
    pub fn plan(
        &mut self,
        reader: &Reader,
        chain: &ChainSlug,
        pools: &[PoolId],
    ) -> Result<Option<LogsRequest>, StoreError> {
        let next = reader.recheck_from(chain)?;
        let Some(last) = next.and_then(Slot::previous) else { return Ok(None) };
        let noted = match self.noted.get(&last) {
            Some(noted) => noted.clone(),
            None => read_blocks(reader, pools, last)?,
        };
        self.noted.retain(|slot, _| *slot >= last);
        let mut request = LogsRequest { since: LogsSince::new(), last: 0 };
        for (id, block) in noted.into_iter().filter(|(id, _)| pools.contains(id)) {
            let Some(address) = alone(&id) else { continue };
            if !self.pools.contains_key(&id) {
                let Some(found) = resume_fills(reader, &id, block, last)? else { continue };
                self.pools.insert(id.clone(), found);
            }
            let after = self.pools[&id].fills.to_block;
            if after < block {
                request.since.insert(address, after);
                request.last = request.last.max(block);
            }
        }
        Ok((!request.since.is_empty()).then_some(request))
    }

    /// Adds what the nodes answered to what is gathered.
    pub fn add_logs(
        &mut self,
        chain: &ChainSlug,
        slot: Slot,
        request: &LogsRequest,
        answer: LogsAnswer,
    ) {
        match answer {
            Some(Ok(mut logs)) => {
                self.failing = false;
                for (id, gathering) in &mut self.pools {
                    let of_pool = alone(id).and_then(|address| logs.remove(&address));
                    if let Some(until) = of_pool {
                        gathering.extend(until, slot);
                    }
                }
            }
            Some(Err(missing)) => self.note_missed(chain, slot, request, &missing.to_string()),
            None => self.note_missed(chain, slot, request, "no time was left"),
        }
    }

    /// Notes that what was asked for was not told; what is a day behind is given up.
    fn note_missed(&mut self, chain: &ChainSlug, slot: Slot, request: &LogsRequest, why: &str) {
        if !std::mem::replace(&mut self.failing, true) {
            tracing::warn!(%chain, %slot, "swaps were not read and will be requested again: {why}");
        }
        for (id, gathering) in &mut self.pools {
            let asked = alone(id).is_some_and(|address| request.since.contains_key(&address));
            if asked && slot.number().saturating_sub(gathering.since.number()) > GIVEN_UP_SLOTS {
                tracing::error!(%slot, pool = %id, "its swaps could not be read for a day and are left out");
                *gathering = PendingFills::at(&gathering.fills, request.last, slot, true);
            }
        }
    }

    /// What the heads of this slot commit to.
    pub fn due(&self, slot: Slot) -> Vec<NewFills> {
        let due = self.pools.iter().filter(|(_, gathering)| gathering.is_due(slot));
        due.map(|(pool, gathering)| NewFills { pool: pool.clone(), fills: gathering.fills.clone() })
            .collect()
    }

    /// Notes that the slot was written, and with it what was due.
    pub fn written(&mut self, slot: Slot) {
        for gathering in self.pools.values_mut().filter(|gathering| gathering.is_due(slot)) {
            *gathering = PendingFills::after(&gathering.fills, slot);
        }
    }
}

/// The contract of a pool that is all of it.
fn alone(id: &PoolId) -> Option<Address> {
    id.contract().address().filter(|_| id.pair().is_none())
}

/// Where a pool's next document begins: after the newest one, or with this block.
fn resume_fills(
    reader: &Reader,
    id: &PoolId,
    block: u64,
    at: Slot,
) -> Result<Option<PendingFills>, StoreError> {
    let Some(pool) = reader.pool(id)? else { return Ok(None) };
    let fills = |block| {
        let contract = id.contract().clone();
        Fills { contract, after_block: block, to_block: block, logs: Vec::new() }
    };
    Ok(Some(match reader.fills_until(&pool, Slot::LAST)? {
        Some((since, to_block)) => PendingFills::after(&fills(to_block), since),
        None => PendingFills::at(&fills(block), block, at, true),
    }))
}

/// The block of each of these pools whose logs are known at a slot that another process recorded.
fn read_blocks(
    reader: &Reader,
    pools: &[PoolId],
    slot: Slot,
) -> Result<BTreeMap<PoolId, u64>, StoreError> {
    let mut blocks = BTreeMap::new();
    for id in pools {
        let Some(pool) = reader.pool(id)?.filter(|pool| pool.retired_slot.is_none()) else {
            continue;
        };
        let snapshot = match reader.snapshot_at(&pool, slot) {
            // It was read so long ago that it has left the database: its logs are gathered from the next slot on.
            Err(StoreError::Left { .. } | StoreError::LeftUnread { .. }) => continue,
            snapshot => snapshot?,
        };
        let Some(snapshot) = snapshot else { continue };
        let observation = snapshot.observation();
        if is_told_of(observation.state()) {
            blocks.insert(id.clone(), observation.block().number);
        }
    }
    Ok(blocks)
}
