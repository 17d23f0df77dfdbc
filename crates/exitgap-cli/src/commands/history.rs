//! `exitgap history`: the gap over time, row by row, up to the end of the period.

use std::io::Write;
use std::process::ExitCode;

use exitgap_api::operations::{HistoryAsked, Operation};
use exitgap_api::{GapPoint, History, HistoryRow, Number, RowOrder, Status, size_as_written};
use exitgap_client::HistoryOf;

use super::{not_exact, print_json};
use crate::arguments::HistoryArgs;
use crate::failure::Failure;
use crate::format::{Columns, group_digits, printable};
use crate::recorded_source::question;

pub fn run(args: &HistoryArgs, json: bool) -> Result<ExitCode, Failure> {
    let mut told: Option<HistoryTable> = None;
    args.source.from.each_page(Operation::History, |cursor| {
        let page = page(args, cursor)?;
        if json {
            print_json(&page)?;
        } else {
            told.get_or_insert_with(|| HistoryTable::from_page(&page)).add(&page);
        }
        Ok(page.next_cursor)
    })?;
    if let Some(told) = told {
        told.print()?;
    }
    Ok(ExitCode::SUCCESS)
}

fn page(args: &HistoryArgs, cursor: Option<&String>) -> Result<History, Failure> {
    let size = size_as_written(&args.size_usd)?.to_string();
    let given = [
        ("pool", Some(&args.pool)),
        ("size_usd", Some(&size)),
        ("interval", Some(&args.interval)),
        ("order", Some(&args.order)),
        ("base", args.base.as_ref()),
        ("from", args.from.as_ref()),
        ("to", args.to.as_ref()),
        ("cursor", cursor),
    ];
    let mut asked: HistoryAsked = question(Operation::History, given)?;
    asked.series.guards = args.source.guards()?;
    args.source.ask(
        async |client| {
            let HistoryAsked { interval, order, .. } = asked;
            let of = HistoryOf { interval, order, ..HistoryOf::from(&asked.series) };
            client.history(&of).await
        },
        async |service| service.history(asked.clone()).await,
    )
}

/// The output, printed once all pages have arrived.
struct HistoryTable {
    heading: Vec<String>,
    rows: Columns,
    recorded: u64,
    missing: u64,
    refused: u64,
    to: String,
}

impl HistoryTable {
    fn from_page(first: &History) -> Self {
        let of = &first.of;
        let size = group_digits(of.size_usd.as_str());
        let mut heading =
            vec![format!("History of {} in {}, selling {size} USD", of.base, printable(&of.pool))];
        if of.status == Status::Preview {
            heading.push("PREVIEW  not a live chain; do not rely on these figures".to_owned());
        }
        heading.extend(not_exact(&of.exactness));
        heading.push(format!("from    {}", printable(&of.from)));
        let header = [
            "<from",
            "last gap %",
            "worst gap %",
            "<worst at",
            "not filled",
            "lowest depth",
            "at mid",
            "recorded",
            "missing",
        ];
        let rows = Columns::new(&header);
        Self { heading, rows, recorded: 0, missing: 0, refused: 0, to: String::new() }
    }

    fn add(&mut self, page: &History) {
        // Later pages of descending rows end earlier.
        if self.to.is_empty() || page.order == RowOrder::Ascending {
            self.to = printable(&page.of.to);
        }
        for row in &page.rows {
            self.recorded += u64::from(row.slots_recorded);
            self.missing += u64::from(row.slots_missing + row.slots_retracted);
            self.refused += u64::from(row.slots_refused);
            self.rows.row(cells(row));
        }
    }

    fn print(self) -> Result<(), Failure> {
        let mut out = anstream::stdout().lock();
        for line in &self.heading {
            writeln!(out, "{line}")?;
        }
        let Self { rows, recorded, missing, refused, to, .. } = self;
        writeln!(out, "to      {to}")?;
        writeln!(
            out,
            "slots   {recorded} recorded, {missing} missing or retracted, {refused} could not be filled"
        )?;
        Ok(write!(out, "\n{rows}")?)
    }
}

fn cells(row: &HistoryRow) -> Vec<String> {
    let gap = |point: Option<&GapPoint>| {
        let gap = point.and_then(|point| point.exit_gap_pct.as_ref());
        let refused = || point.map_or("-", |_| "none").to_owned();
        gap.map_or_else(refused, Number::to_string)
    };
    let worst = row.worst.as_ref();
    let depth = row.lowest_depth.as_ref();
    vec![
        printable(&row.time),
        gap(row.last.as_ref()),
        gap(worst),
        worst.map_or("-".to_owned(), |point| printable(&point.time)),
        row.slots_refused.to_string(),
        depth.map_or("-".to_owned(), |depth| group_digits(depth.depth_usd.as_str())),
        depth
            .and_then(|depth| depth.reading.book_usd.as_ref())
            .map_or("-".to_owned(), |usd| group_digits(usd.as_str())),
        row.slots_recorded.to_string(),
        (row.slots_missing + row.slots_retracted).to_string(),
    ]
}
