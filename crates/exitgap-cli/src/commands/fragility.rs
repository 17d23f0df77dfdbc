//! `exitgap fragility`: ranks all pools, the most fragile first.

use std::io::Write;
use std::process::ExitCode;

use exitgap_api::operations::{BoardAsked, Operation};
use exitgap_api::{Fragility, FragilityRow, Guards, Number, size_as_written};
use exitgap_core::units::SizeUsd;

use super::print_json;
use crate::arguments::FragilityArgs;
use crate::failure::Failure;
use crate::format::{Columns, group_digits, printable};
use crate::recorded_source::question;

pub fn run(args: &FragilityArgs, json: bool) -> Result<ExitCode, Failure> {
    let size = size_as_written(&args.size_usd)?;
    let (mut rows, mut methods, mut without) = (Vec::new(), <[String; 2]>::default(), 0);
    args.from.each_page(Operation::Fragility, |cursor| {
        let page = page(args, size, cursor)?;
        if json {
            print_json(&page)?;
        }
        methods = [page.score_method, page.book_score_method];
        without = page.pools_without_snapshot;
        rows.extend(page.rows);
        Ok(page.next_cursor)
    })?;
    if !json {
        print_text(&rows, size, &methods, without)?;
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
    let (chain, sort) = (asked.chain.as_ref(), Some(args.sort.as_str()));
    args.from.ask_of(
        Guards::default(),
        async |client| {
            client.fragility(chain, sort, Some(size), None, cursor.map(String::as_str)).await
        },
        |service| service,
        async |service| service.fragility(&asked),
    )
}

fn print_text(
    rows: &[FragilityRow],
    size: SizeUsd,
    [score, book_score]: &[String; 2],
    without: u64,
) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    writeln!(out, "All pools, selling {} USD of the base token", group_digits(&size.to_string()))?;
    writeln!(out, "score   {}", printable(score))?;
    writeln!(out, "at mid  {}", printable(book_score))?;
    if without > 0 {
        writeln!(out, "{without} pools without a snapshot are not shown")?;
    }
    let header = [
        "<pool",
        "<sells",
        "<for",
        "<on",
        "gap %",
        "depth USD",
        "at mid USD",
        "lowest USD",
        "lowest at mid USD",
        "score",
        "at mid",
        "oracle led by %",
        "missing",
        "days",
    ];
    let mut table = Columns::new(&header);
    for row in rows {
        table.row(cells(row, size));
    }
    write!(out, "\n{table}")?;
    for row in rows {
        if let Some(note) = &row.week.lowest_depth_7d_note {
            writeln!(out, "{}  {}", printable(&row.pool), printable(note))?;
        }
    }
    Ok(())
}

fn cells(row: &FragilityRow, size: SizeUsd) -> Vec<String> {
    let dollars =
        |depth: Option<&Number>| depth.map_or("-".to_owned(), |depth| group_digits(depth.as_str()));
    let plain = |number: Option<&Number>| number.map_or("-".to_owned(), Number::to_string);
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
        dollars(row.book_usd.as_ref()),
        dollars(row.lowest_depth_7d.as_ref().map(|lowest| &lowest.depth_usd)),
        dollars(row.week.lowest_book_7d_usd.as_ref()),
        plain(row.fragility_score.as_ref()),
        plain(row.book_fragility_score.as_ref()),
        plain(row.week.oracle_lead_7d.as_ref().map(|lead| &lead.largest_pct)),
        row.slots_missing_7d.to_string(),
        row.days_observed.to_string(),
    ]
}
