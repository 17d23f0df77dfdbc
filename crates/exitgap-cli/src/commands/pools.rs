//! `exitgap pools`: lists the pools of a database or a service.

use std::io::Write;
use std::path::Path;

use exitgap_api::{
    PoolEntry, PoolFacts, PoolLabels, PoolList, Problem, ProblemCode, Status, TokenLabel,
    invalid_parameter, names_apart,
};
use exitgap_core::ids::{ChainSlug, IdError};
use exitgap_store::{Latest, Pool, Reader, StoreError};

use super::print_json;
use crate::failure::Failure;
use crate::format::{Columns, printable};
use crate::source::{self, list_pools};

pub fn run(
    db: Option<&Path>,
    api: Option<&str>,
    chain: Option<&str>,
    json: bool,
) -> Result<(), Failure> {
    let chain = chain.map(read_chain).transpose()?;
    let list = match (api, db) {
        (Some(url), _) => source::api::list_pools(url, chain.as_ref())?,
        (None, Some(db)) => of_database(db, chain.as_ref())?,
        // The arguments give one of the two.
        (None, None) => PoolList { pools: Vec::new(), next_cursor: None },
    };
    if json { print_json(&list) } else { print_text(&list) }
}

fn read_chain(text: &str) -> Result<ChainSlug, Problem> {
    text.parse().map_err(|error: IdError| {
        invalid_parameter("chain", &format!("--chain: {error}"), "`exitgap pools` lists all pools")
    })
}

fn of_database(db: &Path, chain: Option<&ChainSlug>) -> Result<PoolList, Failure> {
    let reader = source::open(db)?;
    let mut pools = list_pools(&reader)?;
    if let Some(chain) = chain {
        pools.retain(|(pool, _)| pool.id.chain() == chain);
        if pools.is_empty() {
            let detail = format!("no pool of chain {chain} is recorded");
            let problem = Problem::new(ProblemCode::UnknownChain, detail).field("chain");
            return Err(problem.hint("`exitgap pools` without --chain lists all pools").into());
        }
    }
    let entries = pools.iter().filter_map(|(pool, latest)| Some((pool, latest.as_ref()?)));
    let labelled = entries
        .map(|(pool, latest)| Ok((pool, latest, labels_of(&reader, pool, latest)?)))
        .collect::<Result<Vec<_>, Failure>>()?;
    let named = labelled.iter().filter_map(|(pool, _, labels)| Some((&pool.id, labels.as_ref()?)));
    let mut names = names_apart(&named.collect::<Vec<_>>()).into_iter();
    let entry = |(pool, latest, labels): &(&Pool, &Latest, Option<PoolLabels>)| {
        PoolEntry::from(PoolFacts {
            pool: &pool.id,
            default_base: pool.default_base,
            first_slot: pool.first_slot,
            last_slot: latest.entry.slot,
            last_missing: latest.entry.missing_reason(),
            recorded: latest.entry.recorded_count,
            labels: labels.as_ref().and_then(|labels| Some((labels, names.next()?))),
        })
    };
    Ok(PoolList { pools: labelled.iter().map(entry).collect(), next_cursor: None })
}

fn labels_of(reader: &Reader, pool: &Pool, latest: &Latest) -> Result<Option<PoolLabels>, Failure> {
    let Some((_, hash)) = latest.snapshot else { return Ok(None) };
    let snapshot = match reader.snapshot(&pool.id, hash) {
        // A pool that is no longer recorded is listed without its name.
        Err(StoreError::Left { .. }) => return Ok(None),
        snapshot => snapshot.map_err(source::store_failure)?,
    };
    Ok(snapshot.map(|snapshot| PoolLabels::from_observation(snapshot.observation())))
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
        "<on",
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
            printable(pool.name.as_deref().unwrap_or("?")),
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
        anstream::eprintln!("only the first {} are shown", list.pools.len());
    }
    Ok(())
}
