//! Injects faults into a recorded series and reports the results: `cargo xtask faults`.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Parser, Subcommand, ValueEnum};
use exitgap_tests::faults::home::Home;
use exitgap_tests::faults::recorder::Course;
use exitgap_tests::faults::scene::Scene;
use exitgap_tests::faults::{
    Part, Result, alerts, bit_flip, budget, budget_payer, disk_full, failing_sync, flood,
    flood_clients, forged, ha, ha_writer, kill, nodes, old_backup, payments, payments_careless,
    power_cut, recorder, s3, tamper, writer,
};

/// Does faults to a recorded series, or to its service, and says what became of it.
#[derive(Debug, Parser)]
#[command(name = "faults", args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    role: Option<Role>,
    /// How often a writer is killed.
    #[arg(long, default_value_t = 500)]
    kills: u64,
    /// At how many points the power is cut.
    #[arg(long, default_value_t = 1_000)]
    cuts: u64,
    /// About how many bits of the database file and of published files are flipped; every row and
    /// every byte of the file's header is changed besides.
    #[arg(long, default_value_t = 4_000)]
    flips: u64,
    /// How many bits of each byte of a snapshot in an evidence file are flipped, 1 to 8. Of the
    /// other bytes all are.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=8))]
    bits: u8,
    /// How many files are changed in all.
    #[arg(long, default_value_t = forged::WHOLE.mutations)]
    mutations: u64,
    /// What moments, points and bits are drawn from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How often a disk is filled, each time to another last free byte.
    #[arg(long, default_value_t = 8)]
    cases: usize,
    /// How many answers of a node are changed, at least, while another node is healthy; 0: none.
    #[arg(long, default_value_t = nodes::WHOLE.changed_answers)]
    answers: u64,
    /// Only these kinds of faults.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Kind>,
    /// The same, without `--only`.
    #[arg(value_enum)]
    kinds: Vec<Kind>,
    /// One flat JSON object on stdout, nothing else.
    #[arg(long)]
    json: bool,
}

/// The processes that faults are done to: the harness starts them.
#[derive(Debug, Subcommand)]
#[command(hide = true)]
enum Role {
    /// Records and publishes slot after slot, and says so.
    Writer {
        #[command(flatten)]
        place: Place,
        /// Ends before this slot.
        #[arg(long)]
        until: Option<u32>,
        /// Closes the store after so many slots, and opens it again.
        #[arg(long)]
        sitting: Option<u32>,
    },
    /// The recorder, with its own ways with errors.
    Recorder {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        course: Course,
    },
    /// The clients of a flood, as this file says.
    Crowd { plan: PathBuf },
    /// A wallet that pays again and again.
    Payer(budget_payer::Course),
    /// A service that settles without writing ahead.
    Careless(payments_careless::Course),
    /// Brings a log into a bucket again and again.
    Mirror(s3::Course),
    /// Records into a store on a server, beside another.
    HaWriter(ha_writer::Course),
}

#[derive(Debug, clap::Args)]
struct Place {
    #[arg(long)]
    home: PathBuf,
    #[arg(long)]
    pools: u8,
    #[arg(long)]
    positions: i32,
}

impl Place {
    fn home(self) -> Home {
        let Self { home, pools, positions } = self;
        Home::new(home, Scene { pools, positions })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Kind {
    Kill,
    PowerCut,
    DiskFull,
    FailingSync,
    BitFlip,
    Tamper,
    Forged,
    OldBackup,
    Flood,
    Budget,
    Payments,
    Alerts,
    S3,
    Ha,
    Nodes,
}

/// Maximum number of times that writers of a store on a server are killed.
const HA_KILLS: u64 = 100;

/// Maximum number of times that the process uploading a log to a bucket is killed.
const S3_KILLS: u64 = 40;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match arguments.role {
        Some(Role::Writer { place, until, sitting }) => {
            writer::record(&place.home(), until, sitting).map(|()| true)
        }
        Some(Role::Recorder { place, course }) => {
            recorder::record(&place.home(), course).map(|()| true)
        }
        Some(Role::Crowd { plan }) => flood_clients::play(&plan).map(|()| true),
        Some(Role::Payer(course)) => budget_payer::pay(&course).map(|()| true),
        Some(Role::Careless(course)) => payments_careless::answer(&course).map(|()| true),
        Some(Role::Mirror(course)) => s3::mirror(&course).map(|()| true),
        Some(Role::HaWriter(course)) => ha_writer::record(&course).map(|()| true),
        None => all(&arguments),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Injects every selected fault; returns whether everything held.
fn all(arguments: &Arguments) -> Result<bool> {
    let asked = [&arguments.only[..], &arguments.kinds].concat();
    let mut kinds = if asked.is_empty() { Kind::value_variants().to_vec() } else { asked };
    if kinds.contains(&Kind::Payments) && !kinds.contains(&Kind::Budget) {
        // The wallets and the paid service are reported together.
        kinds.push(Kind::Budget);
    }
    let mut whole = Part::default();
    for kind in kinds {
        let mut line = Line::default();
        let mut progress = |what: &str, done, of| line.tell(what, done, of);
        let part = match kind {
            Kind::Kill => kill::run(arguments.kills, arguments.seed, &mut progress),
            Kind::PowerCut => power_cut::run(arguments.cuts, arguments.seed, &mut progress),
            Kind::DiskFull => disk_full::run(arguments.cases, &mut progress),
            Kind::FailingSync => failing_sync::run(1, &mut progress),
            Kind::BitFlip => bit_flip::run(arguments.flips, arguments.seed, &mut progress),
            Kind::Tamper => {
                tamper::run(600, arguments.bits, usize::MAX, arguments.seed, &mut progress)
            }
            Kind::Forged => {
                let extent = forged::Extent { mutations: arguments.mutations, ..forged::WHOLE };
                forged::run(extent, arguments.seed, &mut progress)
            }
            Kind::OldBackup => old_backup::run(24, &mut progress),
            Kind::Flood => flood::run(&mut progress),
            Kind::Budget => budget::run(16, 8, arguments.seed, &mut progress),
            Kind::Payments => payments::run(payments::WHOLE, arguments.seed, &mut progress),
            Kind::S3 => s3::run(arguments.kills.min(S3_KILLS), arguments.seed, &mut progress),
            Kind::Ha => ha::run(arguments.kills.min(HA_KILLS), arguments.seed, &mut progress),
            Kind::Nodes => {
                let extent = nodes::Extent { changed_answers: arguments.answers, ..nodes::WHOLE };
                nodes::run(extent, arguments.seed, &mut progress)
            }
            Kind::Alerts => {
                let extent = alerts::Extent { kills: arguments.kills, ..alerts::WHOLE };
                alerts::run(extent, arguments.seed, &mut progress)
            }
        };
        line.end();
        let part = part?;
        part.notes.iter().for_each(|note| eprintln!("note: {note}"));
        part.problems.iter().take(20).for_each(|problem| eprintln!("problem: {problem}"));
        whole.absorb(part);
    }
    let json = serde_json::to_string(&whole.figures)?;
    if arguments.json {
        println!("{json}");
    } else {
        whole.figures.iter().for_each(|(key, value)| println!("{key:<34} {value}"));
    }
    Ok(whole.problems.is_empty())
}

/// The progress of a part: one line rewritten in place on a terminal, else an occasional line.
#[derive(Default)]
struct Line {
    told: Option<Instant>,
}

impl Line {
    const PAUSE: Duration = Duration::from_secs(15);

    fn tell(&mut self, what: &str, done: u64, of: u64) {
        let mut words = std::io::stderr();
        let of = if of == 0 { String::new() } else { format!(" of {of}") };
        if words.is_terminal() {
            // Failure to write progress does not affect the result.
            let _ = write!(words, "\r{what}: {done}{of}   ");
            let _ = words.flush();
        } else if self.told.is_none_or(|told| told.elapsed() > Self::PAUSE) {
            let _ = writeln!(words, "{what}: {done}{of}");
        } else {
            return;
        }
        self.told = Some(Instant::now());
    }

    fn end(&self) {
        if std::io::stderr().is_terminal() && self.told.is_some() {
            eprintln!();
        }
    }
}
