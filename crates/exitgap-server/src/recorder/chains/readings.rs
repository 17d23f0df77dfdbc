//! Reads all chains at one slot concurrently, each until the slot's deadline.

use std::collections::HashMap;
use std::time::Duration;

use exitgap_chain::{Event, Limits, LogsRead, ReadFailure, SlotReading};
use exitgap_core::ids::PoolId;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::Snapshot;
use exitgap_store::{NewDoubt, Ready, spread};
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use super::super::fills::{LogsAnswer, LogsRequest};
use super::super::proofs::{self, Proofs};
use super::super::source::SlotReader;
use super::{
    Chain, ChainPools, ChainReading, MARGIN, PoolReading, ReadSnapshot, ReadingPlan,
    warn_of_missing,
};

/// How much longer a slot's reading may take for the pools' logs.
const LOGS_WITHIN: Duration = Duration::from_secs(5);

/// How a slot is read.
#[derive(Debug, Clone, Copy)]
pub struct ReadTerms {
    pub slot: Slot,
    /// Whether readings are checked against the chain's own state.
    pub prove: bool,
    /// Whether readings are prepared for writing, as far as time permits.
    pub ready: bool,
    pub deadline: Instant,
}

/// Reads every chain at a slot. Returns at the deadline at the latest, with one reading per chain, in order.
pub async fn read_all<R: SlotReader>(
    chains: &mut [Chain<R>],
    plans: Vec<ReadingPlan>,
    terms: ReadTerms,
) -> Vec<ChainReading> {
    let ReadTerms { slot, deadline, .. } = terms;
    let late = "the chain's reader did not finish before the slot was sealed";
    let mut readings: Vec<ChainReading> = chains
        .iter()
        .map(|chain| chain.all_missing(MissingReason::DeadlineExceeded, late))
        .collect();
    let mut tasks = JoinSet::new();
    let mut places = HashMap::new();
    for (place, (chain, plan)) in chains.iter_mut().zip(plans).enumerate() {
        if let Err(error) = chain.make_reader(plan.standing) {
            let reason = MissingReason::RpcUnavailable;
            readings[place] = chain.all_missing(reason, &error);
        }
        let Some(reader) = chain.reader.take() else { continue };
        // One thread per chain: decoding thousands of ticks takes CPU time, and one chain must not delay another.
        let runtime = Handle::current();
        let task = move || runtime.block_on(read_chain(reader, terms, plan.logs));
        places.insert(tasks.spawn_blocking(task).id(), place);
    }
    // A thread that never yields cannot be stopped, but this does not wait for it.
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

/// `None`: the reader did not end in time, and is abandoned with its state.
async fn read_chain<R: SlotReader>(
    mut reader: R,
    terms: ReadTerms,
    request: Option<LogsRequest>,
) -> Option<(R, ChainPools)> {
    let ReadTerms { slot, prove, ready, deadline } = terms;
    let left = deadline.saturating_duration_since(Instant::now());
    let reading = reader.read_slot(slot, deadline - MARGIN.min(left / 4));
    let read = timeout_at(deadline, reading).await.ok()?;
    let heads = reader.seen_heads();
    let SlotReading { mut pools, events, mut requests, .. } = read;
    let proofs = if prove {
        let before = reader.requests();
        let proofs = proofs::prove(&mut reader, &mut pools, deadline).await;
        requests += reader.requests() - before;
        proofs
    } else {
        Proofs::default()
    };
    let logs = match request {
        Some(request) => read_logs(&mut reader, &request, deadline).await,
        None => None,
    };
    // Ends slightly before the deadline, so that the result arrives in time; the rest is prepared when the slot is
    // written.
    let until = deadline - (MARGIN / 4).min(left / 16);
    let requests = requests + logs.as_ref().map_or(0, |(_, requests)| *requests);
    let logs = logs.map(|(logs, _)| logs);
    let pools = make_all_ready(&pools, if ready { until } else { Instant::now() });
    let doubts = doubts_of(slot, &events);
    Some((reader, ChainPools { pools, doubts, requests, logs, proofs, heads }))
}

/// Requests for the pools' logs that are in progress while other recorders read the states.
pub struct AskingLogs<R> {
    tasks: JoinSet<(usize, R, AnsweredLogs)>,
    deadline: Instant,
}

/// The nodes' answers, and the number of requests.
type AnsweredLogs = (LogsAnswer, u64);

/// Starts the planned requests, if there is time.
pub fn ask_logs<R: SlotReader>(
    chains: &mut [Chain<R>],
    plans: Vec<ReadingPlan>,
    deadline: Instant,
) -> AskingLogs<R> {
    let mut tasks = JoinSet::new();
    let planned = chains.iter_mut().zip(plans).enumerate();
    for (place, (chain, plan)) in planned.filter(|_| deadline > Instant::now()) {
        if let Err(error) = chain.make_reader(plan.standing) {
            let chain = chain.slug();
            tracing::warn!(%chain, error, "the chain's nodes cannot be reached");
        }
        let recorded = chain.recorded;
        let Some(mut reader) = chain.reader.take() else { continue };
        reader.follow(recorded);
        let Some(request) = plan.logs else {
            chain.reader = Some(reader);
            continue;
        };
        let runtime = Handle::current();
        tasks.spawn_blocking(move || {
            let logs = runtime.block_on(read_logs(&mut reader, &request, deadline));
            let requests = logs.as_ref().map_or(0, |(_, requests)| *requests);
            (place, reader, (logs.map(|(logs, _)| logs), requests))
        });
    }
    AskingLogs { tasks, deadline }
}

impl<R: SlotReader> AskingLogs<R> {
    /// The answers, chain by chain.
    pub async fn answers(mut self, chains: &mut [Chain<R>]) -> Vec<AnsweredLogs> {
        let mut all: Vec<AnsweredLogs> = chains.iter().map(|_| (None, 0)).collect();
        // A reader that does not return is replaced by a new one.
        while let Ok(Some(ended)) = timeout_at(self.deadline, self.tasks.join_next()).await {
            if let Ok((place, reader, logs)) = ended {
                chains[place].reader = Some(reader);
                all[place] = logs;
            }
        }
        all
    }
}

/// Requests the pools' logs as long as enough time remains for the slot, and counts the requests.
async fn read_logs<R: SlotReader>(
    reader: &mut R,
    request: &LogsRequest,
    deadline: Instant,
) -> Option<(LogsRead, u64)> {
    let left = deadline.saturating_duration_since(Instant::now());
    let until = Instant::now() + LOGS_WITHIN.min(left / 2);
    let before = reader.requests();
    let asked = reader.logs_since(&request.since, request.last, until);
    let answer = timeout_at(until, asked).await.ok()?;
    Some((answer, reader.requests() - before))
}

/// The earlier slots that a slot's reading puts in doubt: for each pool those since its last full reading, or, if that
/// is unknown, for the maximum interval between full readings.
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

/// Prepares a chain's snapshots in parallel, as long as there is time: canonical bytes, hashes, figures. A snapshot
/// that cannot be stored becomes missing, and does not delay the others.
fn make_all_ready(
    pools: &[(PoolId, Result<Snapshot, ReadFailure>)],
    until: Instant,
) -> Vec<(PoolId, PoolReading)> {
    spread(pools, |(pool, reading)| {
        let reading = match reading {
            Err(missing) => Err(missing.clone()),
            Ok(snapshot) if Instant::now() >= until => {
                Ok(ReadSnapshot { snapshot: snapshot.clone(), ready: None })
            }
            Ok(snapshot) => make_ready(snapshot)
                .map(|ready| ReadSnapshot { snapshot: snapshot.clone(), ready: Some(ready) }),
        };
        (pool.clone(), reading)
    })
}

/// Prepares a snapshot for writing; a snapshot that cannot be stored becomes missing.
pub fn make_ready(snapshot: &Snapshot) -> Result<Ready, ReadFailure> {
    Ready::from_snapshot(snapshot).map_err(|error| {
        let detail = format!("its snapshot cannot be stored: {error}");
        ReadFailure { reason: MissingReason::PoolUnsupported, detail }
    })
}
