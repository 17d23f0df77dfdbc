//! The commands: each asks the core one question and prints one document.

mod audit;
mod estimate;
mod explain;
mod ladder;
mod pools;
mod simulate;
mod size;
mod snapshot;
mod verdict;
mod verify;
mod verify_remote;

use std::io::{self, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use clap::CommandFactory;
use exitgap_api::{Answers, Context, DepthSourceKind, Status, parse_order_plan};
use exitgap_core::pools::Direction;
use serde::Serialize;

use crate::arguments::{Cli, Command, Question};
use crate::failure::Failure;
use crate::source::{self, Found};

/// Runs the command, and gives the exit code of its answer.
pub fn run(cli: Cli) -> Result<ExitCode, Failure> {
    let json = cli.json;
    match cli.command {
        Command::Verify(args) => return verify::run(&args, json),
        Command::Audit(args) => return audit::run(&args, json),
        Command::Pools { db, api } => pools::run(db.as_deref(), api.as_deref(), json),
        Command::Estimate { question, size_usd } => estimate::run(&question, &size_usd, json),
        Command::Ladder { question, gap, size_usd } => {
            ladder::run(&question, &gap, &size_usd, json)
        }
        Command::Size { question, gap } => size::run(&question, &gap, json),
        Command::Simulate { question, size_usd, orders, recovery_pct, interval_s } => {
            let plan = parse_order_plan(&size_usd, orders, &recovery_pct, interval_s)?;
            simulate::run(&question, plan, json)
        }
        Command::Snapshot { question } => snapshot::run(&question),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "exitgap", &mut script);
            Ok(io::stdout().write_all(&script)?)
        }
    }?;
    Ok(ExitCode::SUCCESS)
}

/// What a question is about, found.
struct Asked {
    found: Found,
    direction: Direction,
}

impl Asked {
    fn find(question: &Question) -> Result<Self, Failure> {
        let found = source::find(question)?;
        let direction = found.direction(question.base.as_deref())?;
        Ok(Self { found, direction })
    }

    fn answers(&self) -> Answers<'_> {
        Answers::new(&self.found.observation, &self.found.provenance, self.direction)
    }
}

/// Prints a document as JSON.
fn print_json<T: Serialize>(document: &T) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, document).map_err(io::Error::from)?;
    Ok(writeln!(out)?)
}

/// The heading of every table: what is sold where, and whether to rely on it.
fn print_heading(context: &Context) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let bold = Style::new().bold();
    let (base, quote) = (&context.base.symbol, &context.quote.symbol);
    writeln!(out, "{bold}Selling {base} for {quote}{bold:#} in {}", context.pool)?;
    if context.status == Status::Preview {
        let yellow = Style::new().bold().fg_color(Some(AnsiColor::Yellow.into()));
        writeln!(
            out,
            "{yellow}PREVIEW{yellow:#}  not a live chain: the figures are not to be relied on"
        )?;
    }
    if context.oracle_stale {
        let yellow = Style::new().bold().fg_color(Some(AnsiColor::Yellow.into()));
        writeln!(
            out,
            "{yellow}STALE ORACLE{yellow:#}  an oracle answer is older than its heartbeat"
        )?;
    }
    Ok(())
}

/// The foot of every table: where the depth came from.
fn print_source(context: &Context) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let source = &context.method.depth_source;
    let block = format!("block {} at {}", source.block_number, source.block_time);
    let (kind, when) = match (source.kind, &source.slot_time) {
        (DepthSourceKind::RecordedSnapshot, Some(slot)) => {
            ("recorded", format!("slot {slot}, {block}"))
        }
        (DepthSourceKind::SnapshotFile, Some(slot)) => {
            ("unrecorded", format!("snapshot file of slot {slot}, {block}"))
        }
        _ => ("unrecorded", format!("latest {block}: no days_observed, no evidence")),
    };
    writeln!(out, "{kind:<16}{when}")?;
    if let (Some(days), Some(window)) = (&context.days_observed, &context.window) {
        writeln!(
            out,
            "{:<16}{days} days since {} ({} slots recorded, {} missing)",
            "observed", window.from, window.slots_recorded, window.slots_missing
        )?;
    }
    if let Some(missing) = source.newer_slots_missing.filter(|missing| *missing > 0) {
        let slots = if missing == 1 { "slot is" } else { "slots are" };
        writeln!(out, "{:<16}the {missing} newest {slots} missing", "note")?;
    }
    for oracle in &context.method.oracles {
        let age = oracle.age_s.map_or_else(String::new, |age| format!(", {age} s old"));
        let feed = oracle.feed.as_deref().unwrap_or("configured price");
        let stale = if oracle.stale { ", STALE" } else { "" };
        writeln!(out, "{:<16}{} {} {feed}{age}{stale}", "oracle", oracle.role, oracle.source)?;
    }
    writeln!(out, "{:<16}{}", "method", context.method_version)?;
    Ok(())
}
