//! `exitgap pools`: the pools of a database or a service.

use std::io::Write;
use std::path::Path;

use exitgap_api::{Number, PoolEntry, PoolList, Status};
use exitgap_core::series::days_observed_hundredths;
use exitgap_core::snapshot::Observation;
use exitgap_store::{Latest, Outcome, Pool, Reader};

use super::print_json;
use crate::failure::Failure;
use crate::format::Columns;
use crate::source::{self, list_pools};

pub fn run(db: Option<&Path>, api: Option<&str>, json: bool) -> Result<(), Failure> {
    let list = match (api, db) {
        (Some(url), _) => source::api::list_pools(url)?,
        (None, Some(db)) => of_database(db)?,
        // The arguments name one of the two.
        (None, None) => PoolList { pools: Vec::new(), next_cursor: None },
    };
    if json { print_json(&list) } else { print_text(&list) }
}

fn of_database(db: &Path) -> Result<PoolList, Failure> {
    let reader = source::open(db)?;
    let pools = list_pools(&reader)?;
    let entries = pools.iter().filter_map(|(pool, latest)| Some((pool, latest.as_ref()?)));
    Ok(PoolList {
        pools: entries
            .map(|(pool, latest)| entry(&reader, pool, latest))
            .collect::<Result<_, _>>()?,
        next_cursor: None,
    })
}

fn entry(reader: &Reader, pool: &Pool, latest: &Latest) -> Result<PoolEntry, Failure> {
    let observation = match latest.snapshot {
        Some((_, hash)) => {
            let snapshot = reader.snapshot(hash).map_err(source::failed)?;
            snapshot.map(|snapshot| snapshot.observation().clone())
        }
        None => None,
    };
    let recorded = u64::from(latest.entry.recorded_count);
    let slots = u64::from(latest.entry.slot.number() - pool.first_slot.number()) + 1;
    let token = |index: usize| {
        observation.as_ref().map(|observation: &Observation| (&observation.tokens()[index]).into())
    };
    Ok(PoolEntry {
        pool: pool.id.to_string(),
        chain: pool.id.chain().to_string(),
        status: observation.as_ref().map(|observation| observation.chain().kind.into()),
        base: token(pool.default_base.base_index()),
        quote: token(pool.default_base.quote_index()),
        series_start: pool.first_slot.to_string(),
        days_observed: Number::from_hundredths(days_observed_hundredths(recorded)),
        slots_recorded: recorded,
        slots_missing: slots.saturating_sub(recorded),
        last_slot: latest.entry.slot.to_string(),
        last_slot_missing: match latest.entry.outcome {
            Outcome::Recorded(_) | Outcome::Retired => None,
            Outcome::Missing(reason) => Some(reason.code().to_owned()),
        },
    })
}

fn print_text(list: &PoolList) -> Result<(), Failure> {
    if list.pools.is_empty() {
        anstream::eprintln!("no pool has been recorded yet");
        return Ok(());
    }
    let mut rows = Columns::new(&[
        "<pool",
        "<sells",
        "<for",
        "<status",
        "<since",
        "days",
        "recorded",
        "missing",
        "<newest slot",
    ]);
    for pool in &list.pools {
        let symbol = |token: &Option<exitgap_api::TokenLabel>| {
            token.as_ref().map_or_else(|| "?".to_owned(), |token| token.symbol.clone())
        };
        let status = match pool.status {
            Some(Status::Live) => "live",
            Some(Status::Preview) => "preview",
            None => "?",
        };
        let newest = match &pool.last_slot_missing {
            Some(reason) => format!("{} missing: {reason}", pool.last_slot),
            None => pool.last_slot.clone(),
        };
        let cells = vec![
            pool.pool.clone(),
            symbol(&pool.base),
            symbol(&pool.quote),
            status.to_owned(),
            pool.series_start.clone(),
            pool.days_observed.to_string(),
            pool.slots_recorded.to_string(),
            pool.slots_missing.to_string(),
            newest,
        ];
        rows.row(cells);
    }
    Ok(write!(anstream::stdout(), "{rows}")?)
}
