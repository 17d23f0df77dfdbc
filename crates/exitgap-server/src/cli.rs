//! The command line of `exitgap-server`: `init`, `check`, `record`.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use exitgap_chain::{Limits, Severity};
use exitgap_core::series::{Slot, SlotError};
use exitgap_core::snapshot::ChainKind;
use exitgap_store::{Reader, Store, StoreError};
use tokio::sync::watch;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{Checked, ConfigError, EXAMPLE, LogConfig, LogFormat, LogLevel};
use crate::recorder::{Recorder, RecorderError, SlotReader, Source, Stop, SystemClock};

/// How long `check` asks the nodes of one chain.
const CHECK_WITHIN: Duration = Duration::from_mins(2);

/// Records how deep liquidity pools are, every five minutes, append-only.
///
/// Start with `exitgap-server init`, put your nodes into the file it writes, ask them with
/// `check`, then leave `record` running. `exitgap --db <store>` reads what was recorded,
/// also meanwhile.
#[derive(Debug, Parser)]
#[command(name = "exitgap-server", version, after_long_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  it failed, or `check` found an error; standard error says what to do
  2  the command line is wrong";

#[derive(Debug, Subcommand)]
enum Command {
    /// Writes a commented configuration file to start from.
    ///
    /// It names well-known Ethereum pools and feeds. A file that exists is left alone.
    Init {
        /// Where to write it.
        #[arg(long, value_name = "FILE", default_value = "exitgap.toml")]
        config: PathBuf,
    },
    /// Checks the configuration, then asks every node, pool and oracle.
    ///
    /// Prints one line for each: `ok`, `warning` (it records, with a mark or at a risk) or
    /// `error` (its slots would be missing). Nothing is written.
    Check {
        /// The configuration file.
        #[arg(long, value_name = "FILE", default_value = "exitgap.toml")]
        config: PathBuf,
    },
    /// Records every slot until it is told to end.
    ///
    /// A slot is five minutes. At its instant all pools are read at the last block before
    /// it; 60 seconds later it is sealed, and what was not read is missing, with its reason.
    /// SIGTERM or Ctrl-C finishes the slot in hand; a second one ends at once. Slots that
    /// pass while nothing records are missing for good (`recorder_down`).
    Record(RecordArgs),
}

#[derive(Debug, Args)]
struct RecordArgs {
    /// The configuration file.
    #[arg(long, value_name = "FILE", default_value = "exitgap.toml")]
    config: PathBuf,
    /// Ends after this slot: its number, or its instant such as 2026-08-22T00:05:00Z.
    #[arg(long, value_name = "SLOT")]
    until: Option<SlotArg>,
    /// Rehearsal: the clock shows this slot's instant at the start, and goes on from there.
    ///
    /// For development chains whose time is not today's. Refused where a chain is live.
    #[arg(long, value_name = "SLOT")]
    rehearse_at: Option<SlotArg>,
}

/// A slot on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SlotArg(Slot);

/// Why a text names no slot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum SlotArgError {
    /// Neither a number nor an instant of a slot.
    #[error(
        "write a slot's number, or its instant such as 2026-08-22T00:05:00Z (whole five minutes, UTC)"
    )]
    NotASlot,
    /// Not a slot of the series.
    #[error(transparent)]
    OutOfSeries(#[from] SlotError),
}

impl FromStr for SlotArg {
    type Err = SlotArgError;
    fn from_str(text: &str) -> Result<Self, SlotArgError> {
        if let Ok(number) = text.parse() {
            return Ok(Self(Slot::new(number)?));
        }
        // Instants of one format sort as their texts do.
        let (mut low, mut high) = (Slot::FIRST.number(), Slot::LAST.number());
        while low < high {
            let middle = low + (high - low) / 2;
            if Slot::new(middle.into())?.to_string().as_str() < text {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let slot = Slot::new(low.into())?;
        if slot.to_string() == text { Ok(Self(slot)) } else { Err(SlotArgError::NotASlot) }
    }
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
enum CliError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("{path} exists and is left as it is; choose another name with --config")]
    Exists { path: PathBuf },
    #[error("{path}: {source}")]
    File { path: PathBuf, source: io::Error },
    #[error("a rehearsal is for preview chains, and {chain} is live; leave out --rehearse-at")]
    RehearsalOnLiveChain { chain: String },
    #[error("the configuration of chain {chain} cannot be used: {error}")]
    Chain { chain: String, error: String },
    #[error("{errors} of the findings above are errors")]
    Findings { errors: usize },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Recorder(#[from] RecorderError),
    #[error("starting: {0}")]
    Start(#[source] io::Error),
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Init { config } => init(&config),
        Command::Check { config } => check(&config),
        Command::Record(args) => record(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Where even this cannot be written there is nobody to tell.
            let _ = writeln!(io::stderr(), "exitgap-server: {error}");
            ExitCode::FAILURE
        }
    }
}

fn init(path: &Path) -> Result<(), CliError> {
    let file_error = |source| CliError::File { path: path.to_owned(), source };
    let created = OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = created.map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => CliError::Exists { path: path.to_owned() },
        _ => file_error(source),
    })?;
    file.write_all(EXAMPLE.as_bytes()).map_err(file_error)?;
    let mut err = io::stderr();
    let _ = writeln!(err, "wrote {}; put your nodes into rpc_urls, then:", path.display());
    let _ = writeln!(err, "    exitgap-server check --config {}", path.display());
    Ok(())
}

fn check(path: &Path) -> Result<(), CliError> {
    let checked = Checked::read(path)?;
    let mut errors = 0;
    let mut out = io::stdout();
    let mut print = |line: String, severity| {
        errors += usize::from(severity == Severity::Error);
        writeln!(out, "{line}").map_err(CliError::Start)
    };
    let store = &checked.config.store.path;
    match Reader::open(store) {
        Ok(_) => print(format!("ok: store {}: exists", store.display()), Severity::Fine)?,
        Err(StoreError::NotFound { .. }) => {
            let line = format!("ok: store {}: is created with the first start", store.display());
            print(line, Severity::Fine)?;
        }
        Err(error) => print(format!("error: store: {error}"), Severity::Error)?,
    }
    let readers = exitgap_chain::readers(checked.plan, &Limits::default());
    let readers = readers.map_err(|error| CliError::Chain {
        chain: path.display().to_string(),
        error: error.to_string(),
    })?;
    for (_, mut reader) in readers {
        let findings = runtime()?
            .block_on(async { reader.check(tokio::time::Instant::now() + CHECK_WITHIN).await });
        for finding in findings {
            print(finding.to_string(), finding.severity)?;
            if finding.severity == Severity::Error {
                print(format!("  remedy: {}", remedy(&finding.subject)), Severity::Fine)?;
            }
        }
    }
    if errors == 0 { Ok(()) } else { Err(CliError::Findings { errors }) }
}

/// What to do about an error, by what it is about: a node, a pool or an oracle.
fn remedy(subject: &str) -> &'static str {
    match subject.split(' ').next() {
        Some("pool") => {
            "compare address, chain and oracles of its [[pool]]; v2 pairs (with fee) and v3 pools \
             are read, each token priced by a [[oracle]] of the same chain"
        }
        Some("oracle") => "compare feed and heartbeat_s of its [[oracle]] with the feed's page",
        _ => {
            "compare rpc_urls, chain_id and genesis_hash of its [[chain]], and whether the node \
             is up, in sync and lets this machine ask"
        }
    }
}

fn record(args: &RecordArgs) -> Result<(), CliError> {
    let Checked { config, plan } = Checked::read(&args.config)?;
    start_log(&config.log);
    let clock = match args.rehearse_at {
        None => SystemClock::default(),
        Some(SlotArg(slot)) => {
            let live = plan.chains().iter().find(|chain| chain.tag().kind == ChainKind::Live);
            if let Some(live) = live {
                let chain = live.slug().to_string();
                return Err(CliError::RehearsalOnLiveChain { chain });
            }
            tracing::warn!(at = %slot, "rehearsal: the clock is not the machine's");
            SystemClock::starting_at(Duration::from_secs(slot.unix_s()))
        }
    };
    let sources = Source::of_plan(&plan, &Limits::default());
    // What cannot be read at all is said before a store is made for it.
    for source in &sources {
        if let Err(error) = (source.make)() {
            let chain = source.chain.to_string();
            return Err(CliError::Chain { chain, error: error.to_string() });
        }
    }
    let store = open_store(&config.store.path)?;
    let seal_after = Duration::from_secs(config.recorder.seal_after_s.into());
    let recorder = Recorder::new(store, sources, seal_after);
    let until = args.until.map(|SlotArg(slot)| slot);
    let runtime = runtime()?;
    let result = runtime.block_on(run(recorder, clock, until));
    // A chain's thread may still wait for its node; nothing it could say is wanted any more.
    runtime.shutdown_background();
    result
}

/// Opens the store, or begins one. Said aloud: a series that begins where one was expected
/// means a wrong path.
fn open_store(path: &Path) -> Result<Store, StoreError> {
    let store = match Store::open(path) {
        Err(StoreError::NotFound { .. }) => {
            let store = Store::create(path)?;
            tracing::warn!(store = %path.display(), "no store was there: a new series begins");
            store
        }
        opened => opened?,
    };
    let last = store.reader().slots()?.map(|(_, last)| last.to_string());
    tracing::info!(store = %path.display(), last_slot = last.as_deref(), "recording");
    Ok(store)
}

async fn run<R: SlotReader>(
    mut recorder: Recorder<R>,
    clock: SystemClock,
    until: Option<Slot>,
) -> Result<(), CliError> {
    let stop = stop_on_signals().map_err(CliError::Start)?;
    recorder.run(&clock, stop, until).await?;
    let last = recorder.last_slot()?.map(|last| last.to_string());
    tracing::info!(last_slot = last.as_deref(), "ended");
    Ok(())
}

/// The first SIGTERM or SIGINT asks for the end after the slot in hand, the second at once.
fn stop_on_signals() -> io::Result<watch::Receiver<Stop>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let (sender, receiver) = watch::channel(Stop::No);
    tokio::spawn(async move {
        for stop in [Stop::AfterSlot, Stop::Now] {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            tracing::info!(?stop, "asked to end");
            // The recorder may have ended by itself.
            let _ = sender.send(stop);
        }
    });
    Ok(receiver)
}

fn runtime() -> Result<tokio::runtime::Runtime, CliError> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(CliError::Start)
}

fn start_log(config: &LogConfig) {
    let level = match config.level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
    };
    let filter = tracing_subscriber::filter::Targets::new()
        .with_target("exitgap_server", level)
        .with_target("exitgap_chain", level)
        .with_default(level.min(LevelFilter::WARN));
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_target(false);
    let lines = match config.format {
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
        LogFormat::Text => lines.with_ansi(false).boxed(),
    };
    tracing_subscriber::registry().with(lines).with(filter).init();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_named_by_number_or_instant() {
        let parse = |text: &str| text.parse::<SlotArg>().map(|slot| slot.0.number());
        assert_eq!(parse("5957857"), Ok(5_957_857));
        assert_eq!(parse("2026-08-22T00:05:00Z"), Ok(5_957_857));
        assert_eq!(parse("9999-12-31T23:55:00Z"), Ok(Slot::LAST.number()));
        for wrong in ["2026-08-22T00:06:00Z", "2026-02-30T00:00:00Z", "2026-08-22", "now", ""] {
            assert_eq!(parse(wrong), Err(SlotArgError::NotASlot), "{wrong}");
        }
        assert_eq!(
            parse("5957855"),
            Err(SlotArgError::OutOfSeries(SlotError::BeforeSeries { slot: 5_957_855 }))
        );
    }

    #[test]
    fn the_command_line_holds_together() {
        <Cli as clap::CommandFactory>::command().debug_assert();
    }
}
