//! `exitgap fragility`: every pool beside the others, the most fragile first.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use exitgap_api::operations::{BoardAsked, Operation};
use exitgap_api::{Fragility, FragilityRow, Guards, Number, size_as_written};
use exitgap_core::units::SizeUsd;

use super::{mcp::local, print_json};
use crate::arguments::FragilityArgs;
use crate::failure::Failure;
use crate::format::{Columns, grouped, printable};
use crate::recorded::question;
use crate::source::{self, api};

/// More pages than any board has.
const MOST_PAGES: usize = 1_000;

pub fn run(args: &FragilityArgs, json: bool) -> Result<ExitCode, Failure> {
    let size = size_as_written(&args.size_usd)?;
    let (mut rows, mut method, mut without) = (Vec::new(), String::new(), 0);
    let mut cursor: Option<String> = None;
    for _ in 0..MOST_PAGES {
        let page = page(args, size, cursor.as_ref())?;
        let next = page.next_cursor.clone();
        if json {
            print_json(&page)?;
        }
        (method, without) = (page.score_method, page.pools_without_snapshot);
        // A page without rows would be asked for without end.
        let is_last = page.rows.is_empty();
        rows.extend(page.rows);
        match next {
            Some(next) if !is_last && Some(&next) != cursor.as_ref() => cursor = Some(next),
            _ => break,
        }
    }
    if !json {
        print_text(&rows, size, &method, without)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn page(
    args: &FragilityArgs,
    size: SizeUsd,
    cursor: Option<&String>,
) -> Result<Fragility, Failure> {
    let of = size.to_string();
    let given = [
        ("chain", args.chain.as_ref()),
        ("sort", Some(&args.sort)),
        ("size_usd", Some(&of)),
        ("cursor", cursor),
    ];
    let asked: BoardAsked = question(Operation::Fragility, given)?;
    if let Some(url) = &args.api {
        let (chain, sort) = (asked.chain.as_ref(), Some(args.sort.as_str()));
        let cursor = cursor.map(String::as_str);
        return api::through(url, api::native()?, Guards::default(), async |client| {
            client.fragility(chain, sort, Some(size), None, cursor).await
        });
    }
    // The arguments name one of the two.
    let path = args.db.as_deref().unwrap_or(Path::new(""));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(|error| source::unreadable(error.to_string()))?;
    runtime.block_on(async { Ok(local::service(path).await?.fragility(&asked)?) })
}

fn print_text(
    rows: &[FragilityRow],
    size: SizeUsd,
    method: &str,
    without: u64,
) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    writeln!(out, "Every pool, selling {} USD of its base", grouped(&size.to_string()))?;
    writeln!(out, "score   {}", printable(method))?;
    if without > 0 {
        writeln!(out, "{without} pools have no snapshot yet, and no row")?;
    }
    let header = [
        "<pool",
        "<sells",
        "<for",
        "<on",
        "gap %",
        "depth USD",
        "lowest USD",
        "score",
        "missing",
        "days",
    ];
    let mut table = Columns::new(&header);
    for row in rows {
        table.row(cells(row, size));
    }
    Ok(write!(out, "\n{table}")?)
}

fn cells(row: &FragilityRow, size: SizeUsd) -> Vec<String> {
    let dollars =
        |depth: Option<&Number>| depth.map_or("-".to_owned(), |depth| grouped(depth.as_str()));
    let of = Number::from(size);
    let gap = row.gaps.iter().find(|gap| gap.size_usd == of);
    let gap = gap.map_or("-".to_owned(), |gap| {
        gap.exit_gap_pct.as_ref().map_or("none".to_owned(), Number::to_string)
    });
    vec![
        printable(&row.pool),
        printable(&row.base.symbol),
        printable(&row.quote.symbol),
        printable(&row.name),
        gap,
        dollars(row.depth_usd.as_ref()),
        dollars(row.lowest_depth_7d.as_ref().map(|lowest| &lowest.depth_usd)),
        row.fragility_score.as_ref().map_or("-".to_owned(), Number::to_string),
        row.slots_missing_7d.to_string(),
        row.days_observed.to_string(),
    ]
}
