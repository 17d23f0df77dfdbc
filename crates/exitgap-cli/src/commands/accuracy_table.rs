//! `exitgap accuracy` without a pool: the accuracy of the estimates of all pools, one row each.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use exitgap_api::operations::PoolsAsked;
use exitgap_api::{AccuracyTable, Guards, Number, Status, invalid_parameter};
use exitgap_client::{Client, ClientError, Native};

use super::print_json;
use crate::failure::Failure;
use crate::format::{Columns, printable};
use crate::recorded_source::RecordedArgs;

/// Maximum number of pages downloaded from a service.
const MAX_PAGES: usize = 100;

pub fn run(source: &RecordedArgs, json: bool) -> Result<ExitCode, Failure> {
    if source.guards()? != Guards::default() {
        let hint = "give a pool; the table shows the status and days of each";
        return Err(invalid_parameter("pool", "guards apply to one pool only", hint).into());
    }
    let table = source.ask(of_service, async |service| {
        let all = PoolsAsked { chain: None, after: None, limit: usize::MAX };
        let is_watched = std::io::stderr().is_terminal();
        while service.make_accuracy_row().await {
            if is_watched {
                anstream::eprintln!("{} pools to go", service.accuracy_table(&all)?.waiting);
            }
        }
        service.accuracy_table(&all)
    })?;
    if json { print_json(&table) } else { print_text(&table) }?;
    Ok(ExitCode::SUCCESS)
}

/// All pages, combined.
async fn of_service(client: &Client<Native>) -> Result<AccuracyTable, ClientError> {
    let mut table = client.accuracy_table(None, None).await?;
    for _ in 1..MAX_PAGES {
        let Some(cursor) = table.next_cursor.take() else { break };
        let page = client.accuracy_table(None, Some(&cursor)).await?;
        table.pools.extend(page.pools);
        (table.waiting, table.next_cursor) = (page.waiting, page.next_cursor);
    }
    Ok(table)
}

fn print_text(table: &AccuracyTable) -> Result<(), Failure> {
    let mut rows = Columns::new(&[
        "<pool",
        "<on",
        "<status",
        "swaps",
        "compared",
        "exact",
        "bracketed",
        "|error| Q50 %",
        "Q95 %",
        "worst %",
        "worst for seller %",
        "mean %",
        "incomplete",
        "<record",
        "<until",
    ]);
    let percent =
        |value: &Option<Number>| value.as_ref().map_or("-".to_owned(), ToString::to_string);
    for row in &table.pools {
        let (pool, name) = (printable(&row.pool), printable(row.name.as_deref().unwrap_or("?")));
        let Some(told) = &row.record else {
            let why_not = printable(row.why_not.as_deref().unwrap_or("?"));
            let mut cells = vec![pool, name];
            cells.extend((0..11).map(|_| String::new()));
            cells.extend([why_not, String::new()]);
            rows.row(cells);
            continue;
        };
        let status = if told.status == Status::Live { "live" } else { "preview" };
        rows.row(vec![
            pool,
            name,
            status.to_owned(),
            told.swaps.to_string(),
            told.compared.to_string(),
            told.errors.exact_n.to_string(),
            told.errors.bracketed_n.to_string(),
            percent(&told.errors.abs_error_pct_q50),
            percent(&told.errors.abs_error_pct_q95),
            percent(&told.errors.worst_pct),
            percent(&told.errors.worst_for_seller_pct),
            percent(&told.errors.mean_error_pct),
            format!("{} of {}", told.stretches_incomplete, told.stretches),
            if told.enough { "enough" } else { "too short" }.to_owned(),
            printable(&told.until),
        ]);
    }
    let mut out = anstream::stdout().lock();
    write!(out, "{rows}")?;
    writeln!(out, "{:<16}{} (positive: worse than estimated)", "method", printable(&table.figure))?;
    if table.waiting > 0 {
        anstream::eprintln!("{} pools are not computed yet; try again later", table.waiting);
    }
    if table.next_cursor.is_some() {
        anstream::eprintln!("only the first {} are shown", table.pools.len());
    }
    Ok(())
}
