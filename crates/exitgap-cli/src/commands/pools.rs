//! `exitgap pools`: the pools of a database or a service.

use std::io::Write;
use std::path::Path;

use exitgap_api::{PoolEntry, PoolFacts, PoolList, Status, TokenLabel};
use exitgap_store::{Latest, Pool, Reader};

use super::print_json;
use crate::failure::Failure;
use crate::format::{Columns, printable};
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
            let snapshot = reader.snapshot(&pool.id, hash).map_err(source::failed)?;
            snapshot.map(|snapshot| snapshot.observation().clone())
        }
        None => None,
    };
    let labels = observation.as_ref().map(|observation| {
        let tokens = observation.tokens().each_ref().map(TokenLabel::from);
        (observation.chain().kind.into(), tokens)
    });
    let facts = PoolFacts {
        pool: &pool.id,
        default_base: pool.default_base,
        first_slot: pool.first_slot,
        last_slot: latest.entry.slot,
        last_missing: latest.entry.missing(),
        recorded: latest.entry.recorded_count,
        labels,
    };
    Ok(facts.into())
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
        let symbol = |token: &Option<TokenLabel>| {
            token.as_ref().map_or_else(|| "?".to_owned(), |token| printable(&token.symbol))
        };
        let status = match pool.status {
            Some(Status::Live) => "live",
            Some(Status::Preview) => "preview",
            None => "?",
        };
        let newest = match &pool.last_slot_missing {
            Some(reason) => printable(&format!("{} missing: {reason}", pool.last_slot)),
            None => printable(&pool.last_slot),
        };
        let cells = vec![
            printable(&pool.pool),
            symbol(&pool.base),
            symbol(&pool.quote),
            status.to_owned(),
            printable(&pool.series_start),
            pool.days_observed.to_string(),
            pool.slots_recorded.to_string(),
            pool.slots_missing.to_string(),
            newest,
        ];
        rows.row(cells);
    }
    write!(anstream::stdout(), "{rows}")?;
    if list.next_cursor.is_some() {
        anstream::eprintln!("there are more: these are the first {}", list.pools.len());
    }
    Ok(())
}
