//! Gathers the pools' logs from the nodes while slots are read, so that heads can commit to them.
//!
//! Only rechecked canonical blocks are requested, so the gathered logs are final. The store's documents show how far
//! gathering is. Logs that could not be read in time are read with a later slot, and logs that cannot be read for a day
//! are left out: the next document starts a new range, and says so.

use std::collections::BTreeMap;

use exitgap_chain::{LogsRead, LogsSince, LogsUntil, UnreadLogs};
use exitgap_core::analytics::accuracy::{Fills, MAX_FILLS_LOGS, is_told_of};
use exitgap_core::ids::{Address, ChainSlug, PoolId};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::Snapshot;
use exitgap_store::{NewFills, Reader, StoreError};

/// Number of slots after which heads commit to the gathered range even if there were no logs.
const QUIET_SLOTS: u32 = 12;

/// Number of slots after which unreadable blocks are left out.
const GIVEN_UP_SLOTS: u32 = Slot::PER_DAY;

/// Number of slots after which blocks are left out whose logs arrived but cannot be read: an hour's.
const UNREAD_SLOTS: u32 = Slot::PER_DAY / 24;

/// The logs of a chain's pools that are requested with a slot.
#[derive(Debug, Clone)]
pub struct LogsRequest {
    /// For each pool, the last block whose logs were gathered.
    pub since: LogsSince,
    /// The newest requested block.
    pub last: u64,
}

/// The nodes' answer; `None`: nothing was requested, or there was no time.
pub type LogsAnswer = Option<LogsRead>;

/// Gathers the logs of one chain.
#[derive(Debug, Default)]
pub struct Gatherer {
    pools: BTreeMap<PoolId, PendingFills>,
    /// The block of each pool with readable logs, for slots that this process recorded.
    noted: BTreeMap<Slot, BTreeMap<PoolId, u64>>,
    failing: bool,
    /// Number of pools of the last slot whose logs arrived but cannot be read.
    unread: u32,
}

/// A pool's next document.
#[derive(Debug)]
struct PendingFills {
    fills: Fills,
    /// The slot of the previous document.
    since: Slot,
    /// Whether it starts a new range, and covers no block yet.
    begins: bool,
    /// The first blocks of those whose logs cannot be read, and since when that is known.
    unread: BTreeMap<u64, Slot>,
}

impl PendingFills {
    fn after(fills: &Fills, since: Slot) -> Self {
        Self::at(fills, fills.to_block, since, false)
    }

    /// The document that follows this one, once this one is written.
    fn next(&self, slot: Slot) -> Self {
        Self { unread: self.unread.clone(), ..Self::after(&self.fills, slot) }
    }

    fn at(of: &Fills, block: u64, since: Slot, begins: bool) -> Self {
        let contract = of.contract.clone();
        let fills = Fills { contract, after_block: block, to_block: block, logs: Vec::new() };
        Self { fills, since, begins, unread: BTreeMap::new() }
    }

    /// Adds logs after the last block, and records those that cannot be read.
    fn add_logs(&mut self, pool: &PoolId, mut until: LogsUntil, slot: Slot) {
        let unread = std::mem::take(&mut until.unread);
        let known = std::mem::take(&mut self.unread);
        self.extend(until, slot);
        let since = |unread: &UnreadLogs| known.get(&unread.first_block).copied().unwrap_or(slot);
        self.unread = unread.iter().map(|unread| (unread.first_block, since(unread))).collect();
        let Some(first) = unread.first() else { return };
        if known.is_empty() {
            let UnreadLogs { first_block, last_block, fault } = first;
            tracing::warn!(%slot, %pool, first_block, last_block, why = %fault, "swaps of the pool cannot be read yet and will be requested again");
        }
        self.omit_unread(pool, *first, slot);
    }

    /// Adds logs after the last block, up to the maximum size of a document.
    fn extend(&mut self, until: LogsUntil, slot: Slot) {
        let Self { fills, .. } = self;
        let LogsUntil { mut to_block, logs, .. } = until;
        if to_block <= fills.to_block {
            return;
        }
        let room = MAX_FILLS_LOGS.saturating_sub(fills.logs.len());
        let beyond = logs.get(room).map(|log| log.block);
        fills.logs.extend(logs);
        if let Some(beyond) = beyond {
            fills.logs.retain(|log| log.block < beyond);
            if fills.logs.is_empty() {
                // One block alone exceeds the maximum size: it is left out.
                *self = Self::at(&self.fills, beyond, slot, true);
                return;
            }
            to_block = beyond - 1;
        }
        self.fills.to_block = to_block;
    }

    /// Omits blocks whose logs cannot be read, once that is known for an hour, since it may be the node's fault, and what was
    /// read before them is written. What is read after them is not omitted.
    fn omit_unread(&mut self, pool: &PoolId, unread: UnreadLogs, slot: Slot) {
        let UnreadLogs { first_block, last_block, fault } = unread;
        if first_block > self.fills.to_block.saturating_add(1) {
            // The logs before them exceeded a document's size, and are requested again.
            return;
        }
        let since = self.unread.get(&first_block).copied().unwrap_or(slot);
        if slot.number().saturating_sub(since.number()) >= UNREAD_SLOTS && !self.is_due(slot) {
            tracing::error!(%slot, %pool, first_block, last_block, why = %fault, "swaps of the pool could not be read for an hour and are omitted");
            let later = self.unread.split_off(&last_block);
            *self = Self { unread: later, ..Self::at(&self.fills, last_block, slot, true) };
        }
    }

    /// Records that a request was not answered; a range that is a day behind is given up.
    fn miss(&mut self, pool: &PoolId, slot: Slot, last: u64) {
        if slot.number().saturating_sub(self.since.number()) > GIVEN_UP_SLOTS {
            tracing::error!(%slot, %pool, "swaps of the pool could not be read for a day and are omitted");
            *self = Self::at(&self.fills, last, slot, true);
        }
    }

    fn is_due(&self, slot: Slot) -> bool {
        let Self { fills, since, begins, unread } = self;
        // Logs before blocks that may have to be left out do not wait for those blocks.
        let waits_for = if unread.is_empty() { QUIET_SLOTS } else { 0 };
        let quiet = fills.to_block > fills.after_block
            && slot.number().saturating_sub(since.number()) >= waits_for;
        *begins || !fills.logs.is_empty() || quiet
    }
}

impl Gatherer {
    /// Records the blocks of a recorded slot.
    pub fn note<'a>(&mut self, slot: Slot, snapshots: impl Iterator<Item = &'a Snapshot>) {
        let block = |snapshot: &Snapshot| {
            let observation = snapshot.observation();
            let told = is_told_of(observation.state());
            told.then(|| (observation.pool().clone(), observation.block().number))
        };
        self.noted.insert(slot, snapshots.filter_map(block).collect());
    }

    /// Plans the requests for the next slot: the logs up to the newest rechecked block.
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

    /// Adds the nodes' answers to the gathered logs.
    pub fn add_logs(
        &mut self,
        chain: &ChainSlug,
        slot: Slot,
        request: &LogsRequest,
        answer: LogsAnswer,
    ) {
        let mut why = answer.is_none().then(|| "no time was left".to_owned());
        let mut logs = answer.unwrap_or_default();
        self.unread = 0;
        for (id, gathering) in &mut self.pools {
            let Some(address) = alone(id).filter(|pool| request.since.contains_key(pool)) else {
                continue;
            };
            match logs.remove(&address) {
                Some(Ok(until)) => {
                    self.unread += u32::from(!until.unread.is_empty());
                    gathering.add_logs(id, until, slot);
                    continue;
                }
                Some(Err(missing)) => drop(why.get_or_insert_with(|| missing.to_string())),
                // Not requested: other pools came first and used up the requests.
                None if why.is_none() => continue,
                None => {}
            }
            gathering.miss(id, slot, request.last);
        }
        match why {
            Some(why) if !std::mem::replace(&mut self.failing, true) => {
                tracing::warn!(%chain, %slot, "swaps were not read and will be requested again: {why}");
            }
            Some(_) => {}
            None => self.failing = false,
        }
    }

    /// Number of pools whose logs arrived with the last slot but cannot be read.
    pub fn unread(&self) -> u32 {
        self.unread
    }

    /// The documents that this slot's heads commit to.
    pub fn due(&self, slot: Slot) -> Vec<NewFills> {
        let due = self.pools.iter().filter(|(_, gathering)| gathering.is_due(slot));
        due.map(|(pool, gathering)| NewFills { pool: pool.clone(), fills: gathering.fills.clone() })
            .collect()
    }

    /// Records that the slot was written with its due documents, except those that the store rejected. These pools
    /// start a new range after the rejected blocks; if the store rejected that too, the next range is determined from
    /// the store.
    pub fn written(&mut self, slot: Slot, refused: &[PoolId]) {
        let mut lost = Vec::new();
        for (id, gathering) in &mut self.pools {
            if !gathering.is_due(slot) {
                continue;
            }
            if !refused.contains(id) {
                *gathering = gathering.next(slot);
            } else if gathering.begins {
                lost.push(id.clone());
            } else {
                *gathering =
                    PendingFills::at(&gathering.fills, gathering.fills.to_block, slot, true);
            }
        }
        for id in lost {
            self.pools.remove(&id);
        }
    }
}

/// The address of a contract that is a single pool.
fn alone(id: &PoolId) -> Option<Address> {
    id.contract().address().filter(|_| id.pair().is_none())
}

/// Where a pool's next document starts: after the newest document, or at this block.
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

/// The block of each of these pools with readable logs, at a slot that another process recorded.
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
            // The snapshot was pruned from the database: the pool's logs are gathered from the next slot on.
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

#[cfg(test)]
mod tests {
    use exitgap_chain::{LogFault, ReadFailure};
    use exitgap_core::analytics::accuracy::{PoolEvent, PoolLog};
    use exitgap_core::series::MissingReason;

    use super::*;

    const POOL: &str = "anvil:0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640";
    const OTHER: &str = "anvil:0x99e6a0c2ddd26feeb64f039a2c41296fcb3f5640";

    fn slot(n: u32) -> Slot {
        Slot::new((Slot::FIRST.number() + n).into()).unwrap()
    }

    fn gatherer() -> Gatherer {
        let pools = [POOL, OTHER].map(|id| {
            let id: PoolId = id.parse().unwrap();
            let contract = id.contract().clone();
            let fills = Fills { contract, after_block: 10, to_block: 10, logs: Vec::new() };
            (id, PendingFills::after(&fills, slot(0)))
        });
        Gatherer { pools: pools.into(), ..Gatherer::default() }
    }

    fn until(to_block: u64, unread: Option<[u64; 2]>) -> LogsUntil {
        let log = PoolLog {
            block: to_block,
            index: 0,
            transaction: [1; 32],
            parties: [Address([1; 20]); 2],
            event: PoolEvent::Reserves([1, 2]),
        };
        let fault = LogFault::OutOfBounds;
        let unread = unread.into_iter().map(|[first_block, last_block]| UnreadLogs {
            first_block,
            last_block,
            fault,
        });
        let unread = unread.collect();
        let logs = if to_block > 10 { vec![log] } else { Vec::new() };
        LogsUntil { to_block, logs, unread }
    }

    /// One slot: both pools are requested up to block 30, with these answers.
    fn step(gatherer: &mut Gatherer, n: u32, answers: [Result<LogsUntil, ReadFailure>; 2]) {
        let ids = [POOL, OTHER].map(|id| alone(&id.parse().unwrap()).unwrap());
        let since = ids.into_iter().map(|address| (address, 10)).collect();
        let request = LogsRequest { since, last: 30 };
        let answer = ids.into_iter().zip(answers).collect();
        gatherer.add_logs(&"anvil".parse().unwrap(), slot(n), &request, Some(answer));
    }

    fn gathering<'a>(gatherer: &'a Gatherer, id: &str) -> &'a PendingFills {
        &gatherer.pools[&id.parse().unwrap()]
    }

    #[test]
    fn blocks_that_cannot_be_read_are_left_out_after_an_hour_and_hold_up_no_other_pool() {
        let mut gatherer = gatherer();
        for n in 1..=UNREAD_SLOTS + 1 {
            // Blocks 14 to 16 of the first pool cannot be read.
            step(&mut gatherer, n, [Ok(until(13, Some([14, 16]))), Ok(until(30, None))]);
            assert_eq!(gatherer.unread(), 1);
            assert_eq!(gathering(&gatherer, OTHER).fills.to_block, 30);
            let of_pool = &gathering(&gatherer, POOL).fills;
            let place = (of_pool.after_block, of_pool.to_block, of_pool.logs.len());
            match n {
                1 => assert_eq!(place, (10, 13, 1), "what is before them is committed to"),
                n if n <= UNREAD_SLOTS => assert_eq!(place, (13, 13, 0), "{n}"),
                _ => assert_eq!(place, (16, 16, 0), "they are left out"),
            }
            let due: Vec<String> =
                gatherer.due(slot(n)).iter().map(|fills| fills.pool.to_string()).collect();
            let expected: &[&str] = match n {
                1 => &[POOL, OTHER],
                n if n <= UNREAD_SLOTS => &[],
                _ => &[POOL],
            };
            assert_eq!(due, expected, "{n}");
            gatherer.written(slot(n), &[]);
        }
        // If they become readable in time, nothing is left out.
        let mut gatherer = self::gatherer();
        step(&mut gatherer, 1, [Ok(until(13, Some([14, 16]))), Ok(until(30, None))]);
        gatherer.written(slot(1), &[]);
        step(&mut gatherer, 2, [Ok(until(30, None)), Ok(until(30, None))]);
        let of_pool = &gathering(&gatherer, POOL).fills;
        assert_eq!((of_pool.after_block, of_pool.to_block, gatherer.unread()), (13, 30, 0));
    }

    #[test]
    fn what_is_read_between_blocks_that_cannot_be_read_is_kept() {
        let mut gatherer = gatherer();
        let unread = |blocks: &[u64]| {
            let fault = LogFault::OutOfBounds;
            let of = |block: &u64| UnreadLogs { first_block: *block, last_block: *block, fault };
            blocks.iter().map(of).collect()
        };
        // Blocks 14 and 20 cannot be read; the node answers what is after the document's last block.
        let mut kept = Vec::new();
        for n in 1..=UNREAD_SLOTS + 6 {
            let (to_block, unread) = match gathering(&gatherer, POOL).fills.to_block {
                ..14 => (13, unread(&[14, 20])),
                14..20 => (19, unread(&[20])),
                _ => (30, Vec::new()),
            };
            let of_pool = LogsUntil { unread, ..until(to_block, None) };
            step(&mut gatherer, n, [Ok(of_pool), Ok(until(30, None))]);
            let due = gatherer.due(slot(n));
            let due = due.iter().filter(|new| new.pool.to_string() == POOL);
            kept.extend(due.map(|new| (new.fills.after_block, new.fills.to_block)));
            gatherer.written(slot(n), &[]);
        }
        // The second is known for an hour as well once the first is omitted.
        assert_eq!(kept, [(10, 13), (14, 14), (14, 19), (20, 20), (20, 30)]);
    }

    #[test]
    fn pools_that_a_node_did_not_serve_wait_and_the_others_do_not() {
        let mut gatherer = gatherer();
        let missing =
            ReadFailure { reason: MissingReason::RpcUnavailable, detail: "out".to_owned() };
        for n in [1, GIVEN_UP_SLOTS, GIVEN_UP_SLOTS + 1] {
            step(&mut gatherer, n, [Err(missing.clone()), Ok(until(30, None))]);
            assert_eq!(gathering(&gatherer, OTHER).fills.to_block, 30);
            let left_out = n > GIVEN_UP_SLOTS;
            assert_eq!(gathering(&gatherer, POOL).begins, left_out, "{n}");
        }
    }

    #[test]
    fn a_document_that_the_store_refuses_is_given_up() {
        let mut gatherer = gatherer();
        step(&mut gatherer, 1, [Ok(until(30, None)), Ok(until(30, None))]);
        let id: PoolId = POOL.parse().unwrap();
        gatherer.written(slot(1), std::slice::from_ref(&id));
        assert!(
            gathering(&gatherer, POOL).begins && gathering(&gatherer, POOL).fills.logs.is_empty()
        );
        gatherer.written(slot(2), std::slice::from_ref(&id));
        assert!(!gatherer.pools.contains_key(&id), "the store says where it goes on");
        assert_eq!(gathering(&gatherer, OTHER).fills.after_block, 30, "its document was written");
    }
}
