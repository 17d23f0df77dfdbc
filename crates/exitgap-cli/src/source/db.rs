//! A recorder's database.

use std::path::Path;

use exitgap_api::{Problem, ProblemCode, Provenance};
use exitgap_core::ids::PoolId;
use exitgap_core::series::{Slot, SlotError};
use exitgap_store::{Latest, Outcome, Pool, Reader, StoreError};

use super::{Found, unreadable};
use crate::failure::Failure;

/// Opens the database for reading.
pub fn open(path: &Path) -> Result<Reader, Failure> {
    Reader::open(path).map_err(failed)
}

/// All pools of the database.
pub fn list_pools(reader: &Reader) -> Result<Vec<(Pool, Option<Latest>)>, Failure> {
    let pools = reader.pools().map_err(failed)?;
    pools
        .into_iter()
        .map(|pool| {
            let latest = reader.latest(&pool, None).map_err(failed)?;
            Ok((pool, latest))
        })
        .collect()
}

/// Finds the pool's snapshot at the slot asked for, or its newest.
pub fn find(path: &Path, id: &PoolId, at: Option<&str>) -> Result<Found, Failure> {
    let at = at.map(parse_instant).transpose()?;
    let reader = open(path)?;
    let Some(pool) = reader.pool(id).map_err(failed)? else {
        return Err(unknown_pool(id, &reader.pools().map_err(failed)?).into());
    };
    let newest = reader.latest(&pool, None).map_err(failed)?;
    let slot = match at {
        Some(slot) => recorded_at(&reader, &pool, newest.as_ref(), slot)?,
        None => newest_recorded(&pool, newest.as_ref())?,
    };
    let missing =
        || unreadable(format!("{id} at slot {slot}: the snapshot has gone since it was found"));
    let snapshot = reader.snapshot_at(&pool, slot).map_err(failed)?.ok_or_else(missing)?;
    let entry = reader.entry(&pool, slot).map_err(failed)?.ok_or_else(missing)?;
    let Outcome::Recorded(snapshot_hash) = entry.outcome else { return Err(missing().into()) };
    let newer_slots_missing = newest
        .filter(|_| at.is_none())
        .map(|newest| (newest.newer_missing + newest.newer_retracted).into());
    let provenance = Provenance::Recorded {
        slot,
        snapshot_hash,
        first_slot: pool.first_slot,
        recorded_slots: entry.recorded_count.into(),
        newer_slots_missing,
    };
    Ok(Found {
        observation: snapshot.observation().clone(),
        provenance,
        default_base: pool.default_base,
        canonical: reader.canonical(snapshot_hash).map_err(failed)?,
    })
}

fn newest_recorded(pool: &Pool, newest: Option<&Latest>) -> Result<Slot, Problem> {
    newest.and_then(|newest| newest.snapshot).map(|(slot, _)| slot).ok_or_else(|| {
        let detail = format!("{}: no slot has been recorded yet", pool.id);
        let problem = Problem::new(ProblemCode::NoSnapshotYet, detail)
            .hint("the recorder reads every pool every five minutes; its log says what is wrong");
        match newest.map(|newest| newest.entry.outcome) {
            Some(Outcome::Missing(reason)) => problem.reason(reason.code()),
            _ => problem,
        }
    })
}

/// The slot, if it is recorded; else why not.
fn recorded_at(
    reader: &Reader,
    pool: &Pool,
    newest: Option<&Latest>,
    slot: Slot,
) -> Result<Slot, Failure> {
    if slot < pool.first_slot {
        let detail = format!("{}: slot {slot} lies before its series began", pool.id);
        return Err(Problem::new(ProblemCode::BeforeSeries, detail)
            .field("at")
            .hint(format!("ask for {} or later", pool.first_slot))
            .into());
    }
    let Some(entry) = reader.entry(pool, slot).map_err(failed)? else {
        let last = newest.map_or(pool.first_slot, |newest| newest.entry.slot);
        let detail = format!("{}: slot {slot} lies after the newest one", pool.id);
        return Err(Problem::new(ProblemCode::AfterSeries, detail)
            .field("at")
            .hint(format!("ask for {last} or earlier"))
            .into());
    };
    let missing = |why: String| {
        Problem::new(ProblemCode::SlotMissing, format!("{}: slot {slot} {why}", pool.id))
            .field("at")
    };
    let problem = match entry.outcome {
        Outcome::Recorded(_) => match reader.retraction_of(pool, slot).map_err(failed)? {
            None => return Ok(slot),
            Some(retracted) => {
                let by = retracted.by;
                missing(format!("was retracted at {by}: its block was orphaned"))
                    .reason("retracted")
            }
        },
        Outcome::Missing(reason) => missing(format!("is missing ({reason})")).reason(reason.code()),
        Outcome::Retired => missing("is the one in which it retired".to_owned()),
    };
    let before = reader.latest(pool, Some(slot)).map_err(failed)?;
    Err(match before.and_then(|before| before.snapshot) {
        Some((before, _)) => {
            problem.hint(format!("the newest recorded slot before it is {before}"))
        }
        None => problem.hint("no slot before it is recorded"),
    }
    .into())
}

/// Reads `--at`: an RFC 3339 instant, taken to the slot at or before it.
fn parse_instant(text: &str) -> Result<Slot, Problem> {
    let invalid = |detail: String, hint: &str| {
        Problem::new(ProblemCode::InvalidParameter, detail).field("at").hint(hint)
    };
    let instant: jiff::Timestamp = text.parse().map_err(|error| {
        invalid(format!("at: {text:?} is no instant: {error}"), "e.g. 2026-08-22T12:00:00Z")
    })?;
    let before = |slot| {
        Problem::new(ProblemCode::BeforeSeries, SlotError::BeforeSeries { slot }.to_string())
            .field("at")
            .hint("the series begins at 2026-08-22T00:00:00Z")
    };
    let unix_s = u64::try_from(instant.as_second()).map_err(|_| before(0))?;
    Slot::at_or_before(unix_s).map_err(|error| match error {
        SlotError::BeforeSeries { slot } => before(slot),
        SlotError::TooLate { .. } => invalid(format!("at: {error}"), "ask for an earlier time"),
    })
}

/// Names the most similar pools, because a mistyped address looks like no other.
fn unknown_pool(id: &PoolId, pools: &[Pool]) -> Problem {
    const NEAREST: usize = 3;
    let wanted = id.to_string();
    let mut near: Vec<(f64, String)> = pools
        .iter()
        .map(|pool| pool.id.to_string())
        .map(|name| (strsim::jaro_winkler(&wanted, &name), name))
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let names: Vec<_> = near.into_iter().take(NEAREST).map(|(_, name)| name).collect();
    let hint = if names.is_empty() {
        "the database holds no pool yet".to_owned()
    } else {
        format!("did you mean {}?", names.join(", or "))
    };
    Problem::new(ProblemCode::UnknownPool, format!("{id} is not among the recorded pools"))
        .field("pool")
        .hint(hint)
}

/// The store's refusal as a problem.
#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` hands over")]
pub fn failed(error: StoreError) -> Failure {
    unreadable(error.to_string())
        .hint("--db names the SQLite file that `exitgap-server record` writes")
        .into()
}
