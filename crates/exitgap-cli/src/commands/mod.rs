//! The commands: each calls one function of the core and prints one document.

mod accuracy;
mod accuracy_table;
mod alert;
mod audit;
mod audit_day;
mod audit_output;
mod capabilities;
mod cascade;
mod cash;
mod compare;
mod decay;
mod equities;
mod estimate;
mod exit;
mod explain;
mod export;
mod exposure;
mod fragility;
mod history;
mod hours;
mod kept_alerts;
mod ladder;
pub mod mcp;
mod pay;
mod pools;
mod portfolio;
mod receipt_log;
mod redeem;
mod routes;
mod shocks;
mod simulate;
mod size;
mod snapshot;
mod stress;
mod try_sample;
mod venue_stress;
mod verdict;
mod verify;
mod verify_anchors;
mod verify_expect;
mod verify_figure;
mod verify_figure_log;
mod verify_fork;
mod verify_headline;
mod verify_many;
mod verify_receipt;
mod verify_release;
mod verify_remote;
mod verify_sealed;
mod verify_sources;
mod verify_state;
mod verify_whole;
mod verify_witnesses;
mod watch;
mod when;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use clap::CommandFactory;
use exitgap_api::{
    Answers, Context, DepthSource, DepthSourceKind, DepthWeek, Exactness, GuardInputs, LogAge,
    Number, OracleState, Provenance, Published, Status, VenueLeftOut, parse_order_plan,
    size_as_written,
};
use exitgap_core::analytics::Reference;
use exitgap_core::file_errors::explained;
use exitgap_core::pools::Direction;
use exitgap_core::series::Slot;
use exitgap_store::write_output;
use serde::Serialize;

use crate::arguments::{Cli, Command, GuardedQuestion};
use crate::failure::Failure;
use crate::format::{group_digits, printable};
use crate::source::{self, FoundPool};

/// Runs the command, and returns its exit code.
pub fn run(cli: Cli) -> Result<ExitCode, Failure> {
    let json = cli.json;
    match cli.command {
        Command::Try(args) => return try_sample::run(&args, json),
        Command::Verify(args) => return verify::run(&args, json),
        Command::VerifyReceipt(args) => return verify_receipt::run(&args, json),
        Command::VerifyRelease(args) => return verify_release::run(&args, json),
        Command::Audit(args) => return audit::run(&args, json),
        Command::Export(args) => return export::run(&args, json),
        Command::Compare(args) => return compare::run(&args, json),
        Command::Watch(args) => return watch::run(&args, json),
        Command::Equities(args) => return equities::run(&args, json),
        Command::Hours(args) => return hours::run(&args, json),
        Command::Alert(command) => return alert::run(&command, json),
        Command::Accuracy(args) => return accuracy::run(&args, json),
        Command::Exposure(args) => return exposure::run(&args, json),
        Command::Capabilities { api } => return capabilities::run(&api, json),
        Command::Portfolio(args) => return portfolio::run(&args, json),
        Command::Fragility(args) => return fragility::run(&args, json),
        Command::History(args) => return history::run(&args, json),
        Command::Stress(args) => return stress::run(&args, json),
        Command::When(args) => return when::run(&args, json),
        Command::Shocks { api } => return shocks::run(&api, json),
        Command::Decay(args) => return decay::run(&args, json),
        Command::Cash(args) => return cash::run(&args, json),
        Command::Pools { from, chain } => {
            pools::run(from.db.as_deref(), from.api.as_deref(), chain.as_deref(), json)
        }
        Command::Routes(args) => routes::run(&args, json),
        Command::Estimate { question, size_usd } => estimate::run(&question, &size_usd, json),
        Command::Exit(args) => exit::run(&args, json),
        Command::Pay(command) => pay::run(&command, json),
        Command::Ladder { question, gap, size_usd } => {
            ladder::run(&question, &gap, &size_usd, json)
        }
        Command::Size { question, gap } => size::run(&question, &gap, json),
        Command::Simulate { question, size_usd, orders, recovery_pct, interval_s } => {
            let size_usd = size_as_written(&size_usd)?.to_string();
            let plan = parse_order_plan(&size_usd, orders, &recovery_pct, interval_s)?;
            simulate::run(&question, plan, json)
        }
        Command::Redeem { question, size_usd, terms } => {
            redeem::run(&question, &size_usd, &terms, json)
        }
        Command::Snapshot { question } => snapshot::run(&question),
        Command::Mcp(args) => mcp::run(&args),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "exitgap", &mut script);
            Ok(io::stdout().write_all(&script)?)
        }
        Command::Licences => Ok(io::stdout().write_all(include_bytes!("../../THIRD-PARTY.txt"))?),
    }?;
    Ok(ExitCode::SUCCESS)
}

/// The pool state that a question is about.
struct QuestionContext {
    found: FoundPool,
    direction: Direction,
}

impl QuestionContext {
    /// Loads it, and requires that it meets the guards.
    fn find(guarded: &GuardedQuestion) -> Result<Self, Failure> {
        let (guards, question) = (guarded.guards()?, &guarded.question);
        let found = source::find(question)?;
        guards.check(&GuardInputs::from_observation(
            &found.observation,
            &found.provenance,
            source::now_s(),
        ))?;
        let direction = found.direction(question.base.as_deref())?;
        Ok(Self { found, direction })
    }

    fn answers(&self) -> Answers<'_> {
        Answers::new(&self.found.observation, &self.found.provenance, self.direction)
    }

    /// The context printed with every answer.
    fn beside(&self) -> Beside {
        let age = |slot: Slot| source::now_s().saturating_sub(slot.unix_s());
        Beside {
            lowest_depth_7d_usd: self.found.lowest_depth_7d_usd[self.direction.base_index()]
                .clone(),
            week: self.found.weeks[self.direction.base_index()].clone(),
            snapshot_age_s: match self.found.provenance {
                Provenance::Recorded { slot, .. } => Some(age(slot)),
                Provenance::Direct(_) => None,
            },
            evidence_url: None,
            is_served: self.found.published.is_some(),
        }
    }
}

/// The context of an answer, with the service's field names. Only a service has URLs.
#[derive(Serialize)]
struct Beside {
    #[serde(skip_serializing_if = "Option::is_none")]
    lowest_depth_7d_usd: Option<Number>,
    #[serde(flatten)]
    week: DepthWeek,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot_age_s: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence_url: Option<String>,
    /// Whether a service answered, whose newest slot may be old.
    #[serde(skip)]
    is_served: bool,
}

impl<F> From<&Published<F>> for Beside {
    fn from(published: &Published<F>) -> Self {
        Self {
            lowest_depth_7d_usd: published.lowest_depth_7d_usd.clone(),
            week: published.week.clone(),
            snapshot_age_s: Some(published.snapshot_age_s),
            evidence_url: published.evidence_url.clone(),
            is_served: true,
        }
    }
}

/// Prints an answer with its context, as JSON.
fn print_answer<A: Serialize>(answer: &A, beside: &Beside) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Document<'a, A> {
        #[serde(flatten)]
        answer: &'a A,
        #[serde(flatten)]
        beside: &'a Beside,
    }
    print_json(&Document { answer, beside })
}

/// Prints a service's answer byte for byte, and a line break.
fn print_published<F: Serialize>(published: &Published<F>) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, published).map_err(io::Error::from)?;
    Ok(writeln!(out)?)
}

/// Prints a document as JSON.
fn print_json<T: Serialize>(document: &T) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, document).map_err(io::Error::from)?;
    Ok(writeln!(out)?)
}

/// Prints the heading of every table: what is sold in which pool, and whether the data is reliable.
fn print_heading(context: &Context) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let bold = Style::new().bold();
    let (base, quote) = (&context.base.symbol, &context.quote.symbol);
    let name = printable(&context.name);
    writeln!(out, "{bold}Selling {base} for {quote}{bold:#} in {} ({name})", context.pool)?;
    if context.status == Status::Preview {
        let yellow = Style::new().bold().fg_color(Some(AnsiColor::Yellow.into()));
        writeln!(out, "{yellow}PREVIEW{yellow:#}  not a live chain; do not rely on these figures")?;
    }
    let yellow = Style::new().bold().fg_color(Some(AnsiColor::Yellow.into()));
    match context.oracle_state {
        OracleState::Fresh => {}
        OracleState::HeldOverClose => writeln!(
            out,
            "{yellow}MARKET CLOSED{yellow:#}  an oracle price is held while the market is closed"
        )?,
        OracleState::Stale => writeln!(
            out,
            "{yellow}STALE ORACLE{yellow:#}  an oracle price is older than its heartbeat"
        )?,
    }
    if let Some(detail) = &context.inexact_detail {
        writeln!(out, "{yellow}NOT EXACT{yellow:#}  {}", printable(detail))?;
    }
    Ok(())
}

/// The line that says that a series' amounts are not what a holder sends and receives.
fn not_exact(exactness: &Exactness) -> Option<String> {
    let detail = exactness.inexact_detail.as_ref()?;
    Some(format!("NOT EXACT  {}", printable(detail)))
}

/// The price that a report measures from, in words.
fn measured_from(reference: &str) -> &'static str {
    if reference == Reference::Mid.code() {
        "the pools' own mid prices"
    } else {
        "the oracle price"
    }
}

/// A venue that a report leaves out, with its share of the depth.
fn left_out(out: &VenueLeftOut) -> String {
    let share = out.depth_share_pct.as_ref();
    let share = share.map_or("an unknown share".to_owned(), |share| format!("{share}%"));
    let pool = printable(&out.pool);
    format!("{pool} ({}), with {share} of the depth", printable(&out.protocol))
}

/// Prints the footer of every table: the source of the depth.
fn print_source(context: &Context, beside: &Beside) -> Result<(), Failure> {
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
        _ => ("unrecorded", format!("latest {block} (unrecorded: no days_observed, no evidence)")),
    };
    writeln!(out, "{kind:<16}{when}")?;
    if let Some(age) = newest_age(source).filter(|_| beside.is_served) {
        writeln!(out, "{:<16}{}", "age", age.sentence())?;
        if let Some(warning) = age.warning() {
            writeln!(out, "{:<16}{warning}", "WARNING")?;
        }
    }
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
    if let Some(lowest) = &beside.lowest_depth_7d_usd {
        let lowest = group_digits(lowest.as_str());
        writeln!(out, "{:<16}{lowest} USD at 2% in the 7 days up to this slot", "lowest depth")?;
    }
    if let Some(lowest) = &beside.week.lowest_book_7d_usd {
        let lowest = group_digits(lowest.as_str());
        writeln!(
            out,
            "{:<16}{lowest} USD at 2% from the pool's own price in these days",
            "lowest at mid"
        )?;
    }
    if let Some(note) = &beside.week.lowest_depth_7d_note {
        writeln!(out, "{:<16}{}", "cause", printable(note))?;
    }
    let market = if context.market_open { "open" } else { "CLOSED" };
    writeln!(out, "{:<16}{market} ({})", "market", printable(&context.session_note))?;
    for oracle in &context.method.oracles {
        let age = oracle.age_s.map_or_else(String::new, |age| format!(", {age} s old"));
        let feed = oracle.feed.as_deref().unwrap_or("configured price");
        let stale = if oracle.stale { ", STALE" } else { "" };
        writeln!(out, "{:<16}{} {} {feed}{age}{stale}", "oracle", oracle.role, oracle.source)?;
    }
    writeln!(out, "{:<16}{}", "method", context.method_version)?;
    if let Some(url) = &beside.evidence_url {
        writeln!(out, "{:<16}{}", "evidence", printable(url))?;
    }
    Ok(())
}

/// How old the newest slot of the service that answered is; `None` if the answer is about an earlier slot.
fn newest_age(depth: &DepthSource) -> Option<LogAge> {
    let newest = u64::from(depth.slot?).saturating_add(depth.newer_slots_missing?);
    Some(LogAge::of_slot(Slot::new(newest).ok()?, source::now_s()))
}

/// Writes a figure file for `exitgap verify`.
fn write_file(path: &Path, bytes: &[u8]) -> Result<ExitCode, Failure> {
    write_output(path, bytes).map_err(|error| {
        source::unreadable(format!("writing {}: {}", path.display(), explained(&error)))
    })?;
    writeln!(anstream::stdout(), "{} bytes written to {}", bytes.len(), path.display())?;
    Ok(ExitCode::SUCCESS)
}
