//! `exitgap accuracy`: compares every real swap of a pool with its estimate, as recorded or as recomputed from a node.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use exitgap_api::operations::{AccuracyAsked, AccuracyFileAsked, Operation};
use exitgap_api::{
    AccuracyErrors, AccuracyRecord, Number, PoolAccuracy, Problem, ProblemCode,
    SNAPSHOT_PAGE_BYTES, Status, parse_pool, slot_at,
};
use exitgap_chain::{Limits, PoolLogs};
use exitgap_core::analytics::FigureError;
use exitgap_core::analytics::accuracy::{AccuracyScan, AccuracyTerms, PoolLog};
use exitgap_core::analytics::figure::Figure;
use exitgap_core::ids::{Address, PoolId};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{Snapshot, SnapshotFile};
use tokio::runtime::Runtime;
use tokio::time::Instant;

use super::{print_json, write_file};
use crate::arguments::AccuracyArgs;
use crate::failure::{Failure, too_little_recorded};
use crate::format::{Columns, group_digits, printable};
use crate::recorded_source::question;
use crate::source::{self, unreadable};

/// Number of slots per page of snapshots, as a service returns them.
const PAGE: u32 = 96;

/// Time limit for the logs of one page.
const DEADLINE: Duration = Duration::from_mins(2);

pub fn run(args: &AccuracyArgs, json: bool) -> Result<ExitCode, Failure> {
    let Some(pool) = &args.pool else {
        return super::accuracy_table::run(&args.source, json);
    };
    if args.rpc.is_empty() {
        return run_recorded(args, json);
    }
    let pool = parse_pool(pool)?;
    let unheld = || wrong("pool", "a pool inside a pool manager logs under the manager's address");
    let contract = pool.contract().address().ok_or_else(unheld)?;
    let [from, to] = period(args, &pool)?;
    let plan = source::rpc::plan_of_chain(&args.rpc, args.chain_id, &pool)?;
    let logs = PoolLogs::new(&plan, pool.chain(), Limits::for_one_answer());
    let logs = logs.map_err(|error| unreadable(error.to_string()))?;
    let logs = logs.ok_or_else(|| wrong("pool", "its chain is not configured"))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut pass =
        Pass { runtime, logs, contract, scan: AccuracyScan::new(), last: None, first: None };
    let mut next = Some(from);
    while let Some(at) = next.filter(|at| *at <= to) {
        let end = Slot::new(u64::from(at.number() + PAGE - 1)).map_or(to, |end| end.min(to));
        pass.page(&snapshots(args, &pool, at, end)?)?;
        print_progress(end.number() - from.number() + 1, to.number() - from.number() + 1);
        next = end.next();
    }
    let (Some(first), Some((last, _))) = (pass.first, pass.last) else {
        let detail = format!("{pool} has no snapshot from {from} to {to}");
        return Err(Problem::new(ProblemCode::NoSnapshotYet, detail).into());
    };
    let result = pass.scan.finish();
    let period = [first.to_string(), last.to_string()];
    let record = AccuracyRecord::new(pool.to_string(), period, &result);
    if json { print_json(&record) } else { print_text(&record) }?;
    Ok(if record.enough { ExitCode::SUCCESS } else { too_little_recorded() })
}

/// Reports the recorder's own documents.
fn run_recorded(args: &AccuracyArgs, json: bool) -> Result<ExitCode, Failure> {
    let given =
        [("pool", args.pool.as_ref()), ("from", args.from.as_ref()), ("to", args.to.as_ref())];
    let asked: AccuracyAsked = question(Operation::Accuracy, given)?;
    let asked = AccuracyAsked { guards: args.source.guards()?, ..asked };
    if let Some(path) = &args.file {
        let bytes = args.source.ask(
            async |client| client.accuracy_file(&asked).await,
            async |service| {
                let file = service
                    .figure_file::<AccuracyTerms>(AccuracyFileAsked {
                        of: asked.clone(),
                        until: None,
                    })
                    .await?;
                Ok(file.bytes.to_vec())
            },
        )?;
        return write_file(path, &bytes);
    }
    let told = args.source.ask(
        async |client| client.accuracy(&asked).await,
        async |service| service.accuracy(asked.clone()).await,
    )?;
    if json {
        print_json(&told)?;
    } else {
        print_text(&told.record)?;
        let mut out = anstream::stdout().lock();
        let PoolAccuracy { documents, slots_waiting, figure_url, .. } = &told;
        writeln!(
            out,
            "{:<16}{documents} documents committed to by the pool's heads",
            "swaps from"
        )?;
        if *slots_waiting > 0 {
            writeln!(
                out,
                "{:<16}{slots_waiting} later slots, not final or not read yet",
                "pending"
            )?;
        }
        writeln!(out, "{:<16}{}", "figure", printable(figure_url))?;
    }
    Ok(if told.record.enough { ExitCode::SUCCESS } else { too_little_recorded() })
}

/// One pass over the pages of snapshots.
struct Pass {
    runtime: Runtime,
    logs: PoolLogs,
    contract: Address,
    scan: AccuracyScan,
    first: Option<Slot>,
    /// The last processed slot, and its block.
    last: Option<(Slot, u64)>,
}

impl Pass {
    fn page(&mut self, snapshots: &[Snapshot]) -> Result<(), Failure> {
        let block = |snapshot: &Snapshot| snapshot.observation().block().number;
        let Some((first, end)) = snapshots.first().zip(snapshots.last().map(block)) else {
            return Ok(());
        };
        // There is no estimate before the first slot.
        let after = self.last.map_or_else(|| block(first), |(_, block)| block);
        let deadline = Instant::now() + DEADLINE;
        let read = self.logs.read_logs(self.contract, after, end, deadline);
        let logs = self.runtime.block_on(read).map_err(|missing| {
            let detail = format!("reading the pool's logs: {}", missing.detail);
            Problem::new(ProblemCode::ChainUnreadable, detail).reason(missing.reason.code()).hint(
                "use a node that serves logs of these blocks; --rpc may be given several times",
            )
        })?;
        let mut rest: &[PoolLog] = &logs;
        for snapshot in snapshots {
            let up_to = block(snapshot);
            let (own, later) = rest.split_at(rest.partition_point(|log| log.block <= up_to));
            let (slot, observation) = (snapshot.slot(), snapshot.observation().clone());
            self.scan.add_slot(slot, observation, own).map_err(|error| problem(&error))?;
            self.first.get_or_insert(slot);
            self.last = Some((slot, up_to));
            rest = later;
        }
        Ok(())
    }
}

fn problem(error: &FigureError) -> Problem {
    let code = match error {
        FigureError::UnsupportedKind { .. } => ProblemCode::FigureUnsupportedKind,
        FigureError::Period { .. } | FigureError::Parameter { .. } | FigureError::TooManyLogs => {
            ProblemCode::InvalidParameter
        }
        _ => ProblemCode::SourceUnreadable,
    };
    Problem::new(code, error.to_string())
}

fn wrong(field: &str, why: &str) -> Problem {
    Problem::new(ProblemCode::InvalidParameter, format!("{field}: {why}")).field(field)
}

/// The first and the last slot. By default, a slot and the slots of the seven days after it.
fn period(args: &AccuracyArgs, pool: &PoolId) -> Result<[Slot; 2], Failure> {
    let named =
        |name: &str, text: Option<&String>| text.map(|text| slot_at(name, text)).transpose();
    let to = named("to", args.to.as_ref())?.map_or_else(|| newest(args, pool), Ok)?;
    let back = to.number().saturating_sub(7 * Slot::PER_DAY);
    let from = named("from", args.from.as_ref())?;
    let from = from.unwrap_or_else(|| Slot::new(back.into()).unwrap_or(Slot::FIRST));
    if from > to {
        return Err(Problem::new(ProblemCode::PeriodReversed, "from is after to").into());
    }
    let terms = AccuracyTerms { pool: pool.clone(), from, to, until: to };
    terms.validate().map_err(|error| wrong("from", &error.to_string()))?;
    Ok([from, to])
}

/// The newest slot of the source.
fn newest(args: &AccuracyArgs, pool: &PoolId) -> Result<Slot, Failure> {
    let found = source::newest(
        args.source.from.db.as_deref(),
        args.source.from.api.as_deref(),
        pool,
        None,
    )?;
    match found.provenance {
        exitgap_api::Provenance::Recorded { slot, .. } => Ok(slot),
        exitgap_api::Provenance::Direct(_) => Err(unreadable("the source gives no slot").into()),
    }
}

/// A page of the source's snapshots from a slot on, one snapshot file per line.
fn page(args: &AccuracyArgs, pool: &PoolId, at: Slot, to: Slot) -> Result<Vec<u8>, Failure> {
    if let Some(url) = &args.source.from.api {
        return source::api::with(url, async |client| client.series(pool, at).await);
    }
    let reader = source::open(args.source.from.db.as_deref().unwrap_or(Path::new("")))?;
    let lines = reader.snapshot_lines(pool, at, to, SNAPSHOT_PAGE_BYTES);
    Ok(lines.map_err(|error| unreadable(error.to_string()))?)
}

/// The snapshots of the slots in a range that are not retracted.
fn snapshots(
    args: &AccuracyArgs,
    pool: &PoolId,
    from: Slot,
    to: Slot,
) -> Result<Vec<Snapshot>, Failure> {
    let (mut snapshots, mut next) = (Vec::new(), Some(from));
    while let Some(at) = next.filter(|at| *at <= to) {
        let lines = page(args, pool, at, to)?;
        let wrong = |error: &dyn std::fmt::Display| unreadable(format!("a snapshot: {error}"));
        let mut last = None;
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let file = SnapshotFile::from_json(line).map_err(|error| wrong(&error))?;
            let snapshot = file.open().map_err(|error| wrong(&error))?;
            let slot = snapshot.slot();
            if snapshot.observation().pool() != pool || slot < at || last >= Some(slot) {
                return Err(
                    unreadable("the source returned snapshots that were not requested").into()
                );
            }
            last = Some(slot);
            if slot <= to {
                snapshots.push(snapshot);
            }
        }
        // There are no more up to the end of the page: the next page begins after it.
        next = match last {
            Some(last) => last.next(),
            None => Slot::new(u64::from(at.number() + PAGE)).ok(),
        };
    }
    Ok(snapshots)
}

/// Shows progress on a terminal.
fn print_progress(seen: u32, all: u32) {
    let mut out = std::io::stderr();
    if out.is_terminal() {
        let end = if seen == all { "\n" } else { "" };
        // Failure to write progress does not matter.
        let _ = write!(out, "\r{seen} of {all} slots{end}");
    }
}

fn print_text(record: &AccuracyRecord) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    writeln!(out, "Swaps of {} compared with estimates", printable(&record.pool))?;
    if record.status == Status::Preview {
        writeln!(out, "PREVIEW  not a live chain; do not rely on these figures")?;
    }
    let mut line = |name: &str, text: String| writeln!(out, "{name:<16}{text}");
    let AccuracyRecord { slots, stretches, stretches_incomplete, swaps, compared, .. } = record;
    line("period", format!("{} to {}: {slots} slots", record.from, record.to))?;
    let complete = match stretches_incomplete {
        0 => format!(
            "the logs of all {stretches} intervals reproduce the recorded states bit for bit"
        ),
        some => format!(
            "the logs of {some} of {stretches} intervals are missing or differ from the chain"
        ),
    };
    line("completeness", complete)?;
    line("swaps", format!("{swaps} logged, {compared} compared"))?;
    let not = &record.not_compared;
    let reasons = [
        ("in incomplete intervals", not.fills_incomplete),
        ("refused by the estimate", not.estimate_refused),
        ("two-sided", not.two_sided),
        ("of zero size", not.zero),
        ("out of range", not.out_of_range),
    ];
    let reasons: Vec<String> = reasons
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    if !reasons.is_empty() {
        line("not compared", reasons.join(", "))?;
    }
    let flagged = &record.flagged;
    let flags = [
        ("in transactions with several swaps", flagged.same_tx),
        ("with just-in-time liquidity around them", flagged.jit),
        ("between two swaps of one party (suspected sandwich)", flagged.sandwich_suspected),
    ];
    for (words, count) in flags.into_iter().filter(|(_, count)| *count > 0) {
        line("flagged", format!("{count} {words}; included in the statistics"))?;
    }
    if !record.enough {
        let judged = record.judged_slots;
        let needs = "a full record needs 200 compared swaps and 2,016 judged slots (seven days)";
        line("too short", format!("{needs}; {compared} and {judged} so far"))?;
    }
    writeln!(out, "\n{}", errors_table(record))?;
    let header = ["<largest errors", "block", "<sold", "USD", "received", "estimated", "error %"];
    let mut worst = Columns::new(&header);
    for swap in &record.worst {
        worst.row(vec![
            printable(&swap.transaction),
            swap.block.to_string(),
            swap.base.clone(),
            group_digits(swap.size_usd.as_str()),
            swap.amount_out_raw.clone(),
            swap.estimated_out_raw.clone(),
            swap.error_pct.to_string(),
        ]);
    }
    write!(out, "{worst}")?;
    Ok(writeln!(out, "{:<16}{} (positive: worse than estimated)", "method", record.figure)?)
}

/// The errors by the age of the estimate, and by size.
fn errors_table(record: &AccuracyRecord) -> Columns {
    let header = [
        "<estimate",
        "swaps",
        "exact",
        "bracketed",
        "|error| Q50 %",
        "Q95 %",
        "worst %",
        "worst for seller %",
        "mean %",
    ];
    let mut table = Columns::new(&header);
    let percent =
        |value: &Option<Number>| value.as_ref().map_or("-".to_owned(), ToString::to_string);
    let mut row = |name: String, errors: &AccuracyErrors| {
        table.row(vec![
            name,
            errors.n.to_string(),
            errors.exact_n.to_string(),
            errors.bracketed_n.to_string(),
            percent(&errors.abs_error_pct_q50),
            percent(&errors.abs_error_pct_q95),
            percent(&errors.worst_pct),
            percent(&errors.worst_for_seller_pct),
            percent(&errors.mean_error_pct),
        ]);
    };
    for age in &record.by_age {
        let name = match age.older_slots {
            0 => "newest slot".to_owned(),
            1 => "1 slot older".to_owned(),
            older => format!("{older} slots older"),
        };
        row(name, &age.errors);
    }
    for size in &record.by_size {
        let from = group_digits(&size.from_usd.to_string());
        row(format!("from {from} USD of {}", size.base), &size.errors);
    }
    table
}
