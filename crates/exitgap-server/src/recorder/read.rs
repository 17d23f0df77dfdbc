//! All chains at one slot, side by side, each bounded by the slot's deadline.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use exitgap_chain::{Event, Limits, LogsUntil, Missing, SlotReading};
use exitgap_core::ids::{Address, ChainSlug, PoolId};
use exitgap_core::pools::Direction;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::{BlockRef, Snapshot};
use exitgap_store::{NewDoubt, Ready, spread};
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use super::PoolReading;
use super::anchors::Anchoring;
use super::fills::{Ask, Gatherer, Told};
use super::proofs::{self, Proofs};
use super::recheck::{Due, Hashes, Recheck};
use super::source::{SlotReader, Source, Standing};

/// How long before the slot's deadline a reader is told to end, so that it can still say
/// why each pool is missing. A reader that does not end is given up at the deadline.
const MARGIN: Duration = Duration::from_secs(1);

/// How long a slot's reading may last longer for what pools logged.
const LOGS_WITHIN: Duration = Duration::from_secs(5);

/// A pool's snapshot, and what was made ready of it before the slot's deadline.
pub struct Read {
    pub snapshot: Snapshot,
    /// `None`: there was no time left, and it is made ready when the slot is written.
    pub ready: Option<Ready>,
}

/// A chain with its reader.
pub struct Chain<R> {
    source: Source<R>,
    /// `None` before the first slot, and after the reader was lost: it is made anew.
    reader: Option<R>,
    /// Where its series stand, for a reader that is made anew.
    pub standing: Standing,
    /// Its earlier slots, to be looked at again.
    pub recheck: Recheck,
    /// What its pools logged.
    pub fills: Gatherer,
    /// Which of its days are anchored.
    pub anchoring: Anchoring,
    /// The block of the last slot that others read.
    pub recorded: Option<BlockRef>,
}

/// What came of one chain at one slot.
pub struct ChainReading {
    /// For each of the chain's pools, in their order.
    pub pools: Vec<PoolReading>,
    /// Which earlier slots it puts in doubt.
    pub doubts: Vec<NewDoubt>,
    /// HTTP requests it took.
    pub requests: u64,
    /// What pools logged, where that was asked for.
    pub told: Told,
    /// What the chain's own state says of them.
    pub proofs: Proofs,
}

impl ChainReading {
    /// The block at which the chain's pools were read; `None`: none of them was.
    pub fn block(&self) -> Option<BlockRef> {
        let read = self.pools.iter().flatten().next()?;
        Some(read.snapshot.observation().block())
    }
}

impl<R> Chain<R> {
    /// A chain that was not read yet.
    pub fn new(source: Source<R>) -> Self {
        Self {
            source,
            reader: None,
            standing: Standing::default(),
            recheck: Recheck::default(),
            fills: Gatherer::default(),
            anchoring: Anchoring::default(),
            recorded: None,
        }
    }

    /// Its pools and their default directions.
    pub fn pools(&self) -> &[(PoolId, Direction)] {
        &self.source.pools
    }

    /// Its name.
    pub fn slug(&self) -> &ChainSlug {
        &self.source.chain
    }

    /// Whether the pool is one of the chain's.
    pub fn has(&self, id: &PoolId) -> bool {
        self.source.pools.iter().any(|(pool, _)| pool == id)
    }

    /// The same for every pool.
    fn all_missing(&self, reason: MissingReason, detail: &str) -> ChainReading {
        let missing = Missing { reason, detail: detail.to_owned() };
        let pools = self.source.pools.iter().map(|_| Err(missing.clone())).collect();
        ChainReading {
            pools,
            doubts: Vec::new(),
            requests: 0,
            told: None,
            proofs: Proofs::default(),
        }
    }

    /// Puts a reading into the order of the pools, and believes nothing about other pools
    /// or slots.
    pub fn sort(&self, slot: Slot, reading: ChainPools) -> ChainReading {
        let mut by_pool: HashMap<PoolId, PoolReading> = reading.pools.into_iter().collect();
        let missing = |reason, detail: &str| Missing { reason, detail: detail.to_owned() };
        let pools = self.source.pools.iter().map(|(id, _)| match by_pool.remove(id) {
            Some(Ok(read))
                if read.snapshot.slot() != slot || read.snapshot.observation().pool() != id =>
            {
                let detail = "the reading is of another pool or slot";
                Err(missing(MissingReason::RpcResponseInvalid, detail))
            }
            Some(result) => result,
            None => Err(missing(MissingReason::DeadlineExceeded, "the pool was not read")),
        });
        let ChainPools { doubts, requests, told, proofs, .. } = reading;
        ChainReading { pools: pools.collect(), doubts, requests, told, proofs }
    }
}

/// How a slot is read.
#[derive(Debug, Clone, Copy)]
pub struct How {
    pub slot: Slot,
    /// Whether what is read is held against the chain's own state.
    pub prove: bool,
    /// Whether it is made ready to be written, as far as there is time.
    pub ready: bool,
    pub deadline: Instant,
}

/// Reads every chain at a slot. Returns at the deadline at the latest, with one reading per
/// chain, in order.
pub async fn all<R: SlotReader>(chains: &mut [Chain<R>], how: How) -> Vec<ChainReading> {
    let How { slot, deadline, .. } = how;
    let late = "the chain's reader did not end before the slot was sealed";
    let mut readings: Vec<ChainReading> = chains
        .iter()
        .map(|chain| chain.all_missing(MissingReason::DeadlineExceeded, late))
        .collect();
    let mut tasks = JoinSet::new();
    let mut places = HashMap::new();
    for (place, chain) in chains.iter_mut().enumerate() {
        if let Err(error) = chain.make_reader() {
            let reason = MissingReason::RpcUnavailable;
            readings[place] = chain.all_missing(reason, &error);
        }
        let Some(reader) = chain.reader.take() else { continue };
        // A thread each: taking thousands of ticks apart is work, and one chain's work must not
        // delay another's.
        let (runtime, ask) = (Handle::current(), chain.fills.ask());
        let task = move || runtime.block_on(read(reader, how, ask));
        places.insert(tasks.spawn_blocking(task).id(), place);
    }
    // A thread that never yields cannot be ended, but it is not waited for either.
    while let Ok(Some(ended)) = timeout_at(deadline, tasks.join_next_with_id()).await {
        match ended {
            Ok((id, Some((reader, reading)))) => {
                let Some(place) = places.get(&id).copied() else { continue };
                readings[place] = chains[place].sort(slot, reading);
                chains[place].reader = Some(reader);
            }
            Ok((_, None)) => {}
            Err(error) => {
                let Some(place) = places.get(&error.id()).copied() else { continue };
                let detail = "the chain's reader panicked";
                let reason = MissingReason::RpcResponseInvalid;
                readings[place] = chains[place].all_missing(reason, detail);
            }
        }
    }
    for (chain, reading) in chains.iter().zip(&readings) {
        warn_of_missing(slot, chain, reading);
    }
    readings
}

/// `None`: the reader did not end in time, and is given up with whatever it remembers.
async fn read<R: SlotReader>(mut reader: R, how: How, ask: Option<Ask>) -> Option<(R, ChainPools)> {
    let How { slot, prove, ready, deadline } = how;
    let left = deadline.saturating_duration_since(Instant::now());
    let reading = reader.read_slot(slot, deadline - MARGIN.min(left / 4));
    let read = timeout_at(deadline, reading).await.ok()?;
    let SlotReading { mut pools, events, mut requests, .. } = read;
    let proofs = if prove {
        let before = reader.requests();
        let proofs = proofs::prove(&mut reader, &mut pools, deadline).await;
        requests += reader.requests() - before;
        proofs
    } else {
        Proofs::default()
    };
    let told = match ask {
        Some(ask) => logs(&reader, &ask, deadline).await,
        None => None,
    };
    // It ends a little before the deadline, so that its end is seen in time: what is not ready by then is
    // made so when the slot is written.
    let until = deadline - (MARGIN / 4).min(left / 16);
    let requests = requests + told.as_ref().map_or(0, |(_, requests)| *requests);
    let told = told.map(|(told, _)| told);
    let pools = all_ready_until(&pools, if ready { until } else { Instant::now() });
    let doubts = doubts_of(slot, &events);
    Some((reader, ChainPools { pools, doubts, requests, told, proofs }))
}

/// The chains' nodes being asked for what pools logged, while others read their states.
pub struct AskingLogs<R> {
    tasks: JoinSet<(usize, R, LogsTold)>,
    deadline: Instant,
}

/// What came of it, and the requests that it took.
type LogsTold = (Told, u64);

/// Begins to ask for what was planned, where there is time for it.
pub fn ask_logs<R: SlotReader>(chains: &mut [Chain<R>], deadline: Instant) -> AskingLogs<R> {
    let mut tasks = JoinSet::new();
    for (place, chain) in chains.iter_mut().enumerate().filter(|_| deadline > Instant::now()) {
        if let Err(error) = chain.make_reader() {
            let chain = chain.slug();
            tracing::warn!(%chain, error, "the chain's nodes cannot be asked");
        }
        let recorded = chain.recorded;
        let Some(mut reader) = chain.reader.take() else { continue };
        reader.follow(recorded);
        let Some(ask) = chain.fills.ask() else {
            chain.reader = Some(reader);
            continue;
        };
        let runtime = Handle::current();
        tasks.spawn_blocking(move || {
            let told = runtime.block_on(logs(&reader, &ask, deadline));
            let requests = told.as_ref().map_or(0, |(_, requests)| *requests);
            (place, reader, (told.map(|(told, _)| told), requests))
        });
    }
    AskingLogs { tasks, deadline }
}

impl<R: SlotReader> AskingLogs<R> {
    /// What they told, chain by chain.
    pub async fn told(mut self, chains: &mut [Chain<R>]) -> Vec<LogsTold> {
        let mut all: Vec<LogsTold> = chains.iter().map(|_| (None, 0)).collect();
        // A reader that does not come back is made anew.
        while let Ok(Some(ended)) = timeout_at(self.deadline, self.tasks.join_next()).await {
            if let Ok((place, reader, told)) = ended {
                chains[place].reader = Some(reader);
                all[place] = told;
            }
        }
        all
    }
}

/// What the nodes tell of what pools logged, as long as there is time for the slot beside it, and the requests it took.
async fn logs<R: SlotReader>(
    reader: &R,
    ask: &Ask,
    deadline: Instant,
) -> Option<(Result<BTreeMap<Address, LogsUntil>, Missing>, u64)> {
    let left = deadline.saturating_duration_since(Instant::now());
    let until = Instant::now() + LOGS_WITHIN.min(left / 2);
    let (before, asked) = (reader.requests(), reader.logs_since(&ask.since, ask.last, until));
    let told = timeout_at(until, asked).await.ok()?;
    Some((told, reader.requests() - before))
}

/// What was read of pools of a chain, in no order.
#[derive(Default)]
pub struct ChainPools {
    pub pools: Vec<(PoolId, PoolReading)>,
    pub doubts: Vec<NewDoubt>,
    pub requests: u64,
    pub told: Told,
    pub proofs: Proofs,
}

/// Which earlier slots a slot's reading put in doubt: of each pool those since the last full
/// reading, or, where that is not known, as long as such readings may be apart.
fn doubts_of(slot: Slot, events: &[Event]) -> Vec<NewDoubt> {
    let longest = Limits::default().full_read_slots_most;
    let doubt = |event: &Event| match event {
        Event::TicksDiffer { pool, good_until, .. } => {
            let since = slot.number().saturating_sub(longest);
            let first = good_until.and_then(Slot::next);
            let first = first.or_else(|| Slot::new(since.into()).ok()).unwrap_or(Slot::FIRST);
            Some(NewDoubt { pool: pool.clone(), first })
        }
        _ => None,
    };
    events.iter().filter_map(doubt).collect()
}

/// Makes a chain's snapshots ready side by side, as long as there is time: canonical bytes, hashes, figures.
/// One that cannot be stored is missing, and holds up nobody else.
fn all_ready_until(
    pools: &[(PoolId, Result<Snapshot, Missing>)],
    until: Instant,
) -> Vec<(PoolId, PoolReading)> {
    spread(pools, |(pool, reading)| {
        let reading = match reading {
            Err(missing) => Err(missing.clone()),
            Ok(snapshot) if Instant::now() >= until => {
                Ok(Read { snapshot: snapshot.clone(), ready: None })
            }
            Ok(snapshot) => one_ready(snapshot)
                .map(|ready| Read { snapshot: snapshot.clone(), ready: Some(ready) }),
        };
        (pool.clone(), reading)
    })
}

/// A snapshot made ready; one that cannot be stored is missing.
pub fn one_ready(snapshot: &Snapshot) -> Result<Ready, Missing> {
    Ready::of(snapshot).map_err(|error| {
        let detail = format!("its snapshot cannot be stored: {error}");
        Missing { reason: MissingReason::PoolUnsupported, detail }
    })
}

/// What the blocks of a chain's slots are on the chain now.
pub type Canonical = Vec<(Due, Hashes)>;

impl<R: SlotReader> Chain<R> {
    /// Whether it has no reader, so that the next one begins from what the store says.
    pub fn begins(&self) -> bool {
        self.reader.is_none()
    }

    /// Makes its reader, where it has none, and tells it where its series stand.
    fn make_reader(&mut self) -> Result<(), String> {
        if self.reader.is_none() {
            let mut reader = (self.source.make)().map_err(|error| error.to_string())?;
            reader.resume(std::mem::take(&mut self.standing));
            self.reader = Some(reader);
        }
        Ok(())
    }

    /// Requires that its nodes do not contradict each other about which chain it is.
    pub async fn check_nodes(&self, deadline: Instant) -> Result<(), String> {
        // A reader that cannot be made leaves its pools missing, with the reason.
        let Ok(reader) = (self.source.make)() else { return Ok(()) };
        reader.check_nodes(deadline).await
    }

    /// How many blocks later a slot's block is looked at again; `None` while it has no reader.
    pub fn confirmations(&self) -> Option<u32> {
        self.reader.as_ref().map(SlotReader::confirmations)
    }
}

/// Has the chains' nodes prove these snapshots whole, until `deadline`; what came of each.
pub async fn prove_whole<R: SlotReader>(
    chains: &mut [Chain<R>],
    due: Vec<Vec<Snapshot>>,
    deadline: Instant,
) -> Vec<(Snapshot, Result<Vec<u8>, String>)> {
    let mut tasks = JoinSet::new();
    for (place, (chain, due)) in chains.iter_mut().zip(due).enumerate() {
        let Some(reader) = chain.reader.take_if(|_| !due.is_empty()) else { continue };
        let runtime = Handle::current();
        tasks.spawn_blocking(move || {
            let (reader, made) = runtime.block_on(whole(reader, due, deadline));
            (place, reader, made)
        });
    }
    let mut all = Vec::new();
    // A reader that does not come back is made anew.
    while let Ok(Some(ended)) = timeout_at(deadline, tasks.join_next()).await {
        if let Ok((place, reader, made)) = ended {
            chains[place].reader = Some(reader);
            all.extend(made);
        }
    }
    all
}

async fn whole<R: SlotReader>(
    reader: R,
    due: Vec<Snapshot>,
    deadline: Instant,
) -> (R, Vec<(Snapshot, Result<Vec<u8>, String>)>) {
    let left = deadline.saturating_duration_since(Instant::now());
    let until = deadline - MARGIN.min(left / 4);
    let mut made = Vec::with_capacity(due.len());
    // One after the other: a whole pool is many words, and the node has others to serve.
    for snapshot in due {
        let proven = timeout_at(until, reader.prove_whole(&snapshot, until)).await;
        let late = || "there was no time left".to_owned();
        made.push((snapshot, proven.unwrap_or_else(|_| Err(late()))));
    }
    (reader, made)
}

/// Has a chain's nodes prove a day's anchors, until `deadline`.
pub async fn anchors<R: SlotReader>(
    chain: &mut Chain<R>,
    day: u32,
    from: u64,
    blocks: Vec<u64>,
    deadline: Instant,
) -> Result<Vec<u8>, String> {
    let late = || "there was no time left".to_owned();
    let reader = chain.reader.take().ok_or("the chain has no reader")?;
    let runtime = Handle::current();
    let left = deadline.saturating_duration_since(Instant::now());
    let until = deadline - MARGIN.min(left / 4);
    let making = tokio::task::spawn_blocking(move || {
        let asked = timeout_at(until, reader.anchors(day, from, &blocks, until));
        let made = runtime.block_on(asked);
        (reader, made)
    });
    // A reader that does not come back is made anew.
    let Ok(Ok((reader, made))) = timeout_at(deadline, making).await else { return Err(late()) };
    chain.reader = Some(reader);
    made.unwrap_or_else(|_| Err(late()))
}

/// Asks the chains for the blocks of earlier slots, until `deadline`. Slots whose blocks could
/// not all be asked for are left out, and those after them.
pub async fn canonical<R: SlotReader>(
    chains: &mut [Chain<R>],
    due: Vec<Vec<Due>>,
    deadline: Instant,
) -> Vec<Canonical> {
    let mut found: Vec<Canonical> = chains.iter().map(|_| Vec::new()).collect();
    let mut tasks = JoinSet::new();
    for (place, (chain, due)) in chains.iter_mut().zip(due).enumerate() {
        let Some(reader) = chain.reader.take_if(|_| !due.is_empty()) else { continue };
        let runtime = Handle::current();
        tasks.spawn_blocking(move || {
            let (reader, canonical) = runtime.block_on(ask(reader, due, deadline));
            (place, reader, canonical)
        });
    }
    // A reader that does not come back is made anew.
    while let Ok(Some(ended)) = timeout_at(deadline, tasks.join_next()).await {
        if let Ok((place, reader, canonical)) = ended {
            chains[place].reader = Some(reader);
            found[place] = canonical;
        }
    }
    found
}

async fn ask<R: SlotReader>(reader: R, due: Vec<Due>, deadline: Instant) -> (R, Canonical) {
    let left = deadline.saturating_duration_since(Instant::now());
    let until = deadline - MARGIN.min(left / 4);
    let mut canonical = Vec::with_capacity(due.len());
    for due in due {
        match timeout_at(until, hashes_of(&reader, &due, until)).await {
            Ok(Ok(hashes)) => canonical.push((due, hashes)),
            Ok(Err(missing)) => {
                tracing::warn!(slot = %due.slot, %missing, "earlier slots are checked again later");
                break;
            }
            Err(_) => break,
        }
    }
    (reader, canonical)
}

/// What the chain has at the numbers of the slot's blocks; where that is another block, linked to
/// the one after it, and what the second node has.
async fn hashes_of<R: SlotReader>(
    reader: &R,
    due: &Due,
    until: Instant,
) -> Result<Hashes, Missing> {
    let mut hashes = Hashes::default();
    for (number, recorded) in &due.blocks {
        let mut hash = reader.canonical_hash(*number, until).await?;
        if hash != *recorded {
            hash = reader.linked_hash(*number, until).await?;
            let second = reader.second_hash(*number, until).await;
            hashes.second.extend(second.map(|second| (*number, second)));
        }
        hashes.canonical.insert(*number, hash);
    }
    Ok(hashes)
}

/// One line per reason and chain, so that a dead node is not told once per pool.
pub fn warn_of_missing<R>(slot: Slot, chain: &Chain<R>, reading: &ChainReading) {
    let mut causes: BTreeMap<(&str, &str), Vec<&PoolId>> = BTreeMap::new();
    for ((pool, _), result) in chain.pools().iter().zip(&reading.pools) {
        if let Err(missing) = result {
            tracing::debug!(slot = %slot, pool = %pool, "{missing}");
            let cause = (missing.reason.code(), missing.detail.as_str());
            causes.entry(cause).or_default().push(pool);
        }
    }
    for ((reason, detail), pools) in causes {
        let chain = &chain.source.chain;
        tracing::warn!(slot = %slot, chain = %chain, reason, pools = pools.len(), first = %pools[0], "{detail}");
    }
}
