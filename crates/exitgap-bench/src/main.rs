//! Benchmarks exitgap against its peers: `cargo xtask bench`.
//!
//! - `scene`: the pool used for most measurements
//! - `peers`: ours, two crates, the contract, an npm package
//! - `effort`: the amount of work per measurement, full or minimal
//! - `clock`: medians of rounds
//! - `market`: simulated busy pools from slot to slot
//! - `browser`: the npm package in Chromium
//! - `quotes`, `kinds`, `exits`, `evidence`, `slowest`, `seal`, `figures`, `proof`, `alerts`, `recorder`, `replica`,
//!   `export`, `scale`, `sharing`, `hot`, `http`, `wasm`: the sections; each adds numbers to the `report`
//!
//! Within a run, peers alternate with ours, each number is the median of several rounds, and all peers must return the
//! same amounts or the benchmark fails.

mod alerts;
mod browser;
mod clock;
mod effort;
mod evidence;
mod exits;
mod export;
mod figures;
mod hot;
mod http;
mod kinds;
mod market;
mod peers;
mod proof;
mod quotes;
mod recorder;
mod replica;
mod report;
mod scale;
mod scene;
mod seal;
mod sharing;
mod slowest;
mod wasm;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use exitgap_core::units::{PercentError, PriceError};
use exitgap_peers::ParityError;
use exitgap_tests::devchain::DevChainError;

use report::Report;
use scene::Scene;

/// The service's own allocator, because its requests are measured in processes of this program.
#[global_allocator]
static ALLOCATOR: exitgap_server::Allocator = exitgap_server::Allocator;

/// Measures exitgap beside its peers.
#[derive(Debug, Parser)]
#[command(name = "bench")]
struct Arguments {
    /// One flat JSON object of numbers on stdout, nothing else.
    #[arg(long)]
    json: bool,
    /// Only this part.
    what: Option<Section>,
}

/// A part of the bench.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Section {
    /// Quotes, beside the peers, and what fills and sizes of every kind of pool take.
    Quote,
    /// The step table, the largest exit, a ladder.
    Exit,
    /// Files, windows, verifying, and the verifier as a WASM module.
    Evidence,
    /// Sealing 100 to 10,000 pools, fsck, uncached evidence.
    Seal,
    /// Figures drawn from many snapshots.
    Figures,
    /// State proofs: sizes, checking, changes and lies.
    Proof,
    /// Rules over a slot, and a slot told to ten thousand streams.
    Alerts,
    /// The slowest evidence file that a search finds.
    Verify,
    /// The recorder and its store; takes the longest.
    Recorder,
    /// Closed days as Parquet: written, checked, read.
    Export,
    /// A log that is followed: how late a replica is, and how fast one catches up.
    Replica,
    /// Very many pools, and many busy ones, in a file and on a server; only when named.
    Scale,
    /// Slots that four recorders read; only when named.
    Sharing,
    /// A day whose snapshots leave a server's database; only when named.
    Hot,
    /// The service under load, on a generated store.
    Http,
    /// The npm package; only when named.
    Wasm,
}

/// Why there is no result.
#[derive(Debug)]
pub enum BenchError {
    /// The contracts' side failed.
    Contract(ParityError),
    /// A peer cannot answer.
    Peer(String),
    /// A peer returns a different amount.
    Different {
        /// Its name.
        peer: &'static str,
        /// The question, named as in the results.
        what: String,
    },
    /// The recorder or its chain failed.
    Recorder(String),
    /// Sealing, or creating evidence, failed.
    Evidence(String),
    /// The service, or the load on it, failed.
    Http(String),
    /// The verifier's WASM module was not built.
    NoModule,
    /// The npm package, or a tool for measuring it, failed.
    Wasm(String),
    /// No step of the pool crosses this many ticks.
    NoSuchStep(u32),
    /// The npm package is not where it should be.
    Missing(PathBuf),
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = match words.split_first() {
        Some((first, rest)) if first == http::ROLE => http::play(rest),
        _ => run(&Arguments::parse()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), BenchError> {
    let moment = effort::for_a_moment();
    // A minimal run includes the sections that otherwise run only when named.
    let named = |section| arguments.what.map_or(moment, |what| what == section);
    let wanted = |section| arguments.what.is_none_or(|what| what == section);
    let mut report = Report::default();
    let mut speeds = Vec::new();
    if wanted(Section::Quote) || wanted(Section::Exit) {
        let scene = Scene::new()?;
        if wanted(Section::Quote) {
            speeds = quotes::measure(&scene, &mut report)?;
            kinds::measure(&scene, &mut report)?;
        }
        if wanted(Section::Exit) {
            exits::measure(&scene, &speeds, &mut report)?;
        }
    }
    let sections: [(bool, fn(&mut Report) -> Result<(), BenchError>); 14] = [
        (wanted(Section::Evidence), evidence::measure),
        (wanted(Section::Seal), seal::measure),
        (wanted(Section::Figures), figures::measure),
        (wanted(Section::Proof), proof::measure),
        (wanted(Section::Alerts), alerts::measure),
        (wanted(Section::Verify), slowest::measure),
        (wanted(Section::Recorder), recorder::measure),
        (wanted(Section::Export), export::measure),
        (wanted(Section::Replica), replica::measure),
        (wanted(Section::Http), http::measure),
        (named(Section::Scale), scale::measure),
        (named(Section::Sharing), sharing::measure),
        (named(Section::Hot), hot::measure),
        (named(Section::Wasm), wasm::measure),
    ];
    for (_, measure) in sections.into_iter().filter(|(runs, _)| *runs) {
        measure(&mut report)?;
    }
    if moment {
        println!("every part ran for a moment; its figures mean nothing");
    } else if arguments.json {
        println!("{}", report.json());
    } else {
        report::print_quotes(&speeds);
        report.print_rest();
    }
    Ok(())
}

impl std::fmt::Display for BenchError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Contract(error) => error.fmt(f),
            Self::Peer(reason)
            | Self::Recorder(reason)
            | Self::Evidence(reason)
            | Self::Http(reason)
            | Self::Wasm(reason) => f.write_str(reason),
            Self::NoModule => f.write_str(
                "EXITGAP_VERIFY_WASM names no module; run `cargo xtask bench`, which builds it",
            ),
            Self::Different { peer, what } => {
                write!(f, "{peer} names other amounts than the contract does (quote.{what})")
            }
            Self::NoSuchStep(ticks) => write!(f, "no step of the pool crosses {ticks} ticks"),
            Self::Missing(path) => {
                write!(f, "{} is missing; run `cargo xtask setup --bench` first", path.display())
            }
        }
    }
}

impl std::error::Error for BenchError {}

impl From<ParityError> for BenchError {
    fn from(error: ParityError) -> Self {
        Self::Contract(error)
    }
}

impl From<DevChainError> for BenchError {
    fn from(error: DevChainError) -> Self {
        Self::Recorder(error.to_string())
    }
}

impl From<PriceError> for BenchError {
    fn from(error: PriceError) -> Self {
        Self::Peer(error.to_string())
    }
}

impl From<PercentError> for BenchError {
    fn from(error: PercentError) -> Self {
        Self::Peer(error.to_string())
    }
}
