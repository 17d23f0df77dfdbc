//! `exitgap-demo`: the demonstration, run by `cargo xtask demo`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use exitgap_tests::demo::Demo;

/// Slots of a day.
const DAY: u64 = 288;

/// Plays days on a development chain, records them, asks what an exit fills at, and serves.
#[derive(Parser)]
struct Arguments {
    /// The exitgap-server program.
    #[arg(long)]
    server: PathBuf,
    /// The exitgap program.
    #[arg(long)]
    cli: PathBuf,
    /// Where database and configuration are written; emptied first.
    #[arg(long)]
    folder: PathBuf,
    /// End after the questions, of the same day each time. Else the days end at the
    /// present, and the service goes on until Ctrl-C.
    #[arg(long)]
    once: bool,
    /// Pay for an answer on the private chain, check what was got, and end.
    #[arg(long, conflicts_with_all = ["once", "pages"])]
    payments: bool,
    /// End when standard input ends: whoever started this is gone then.
    #[arg(long)]
    lifeline: bool,
    /// A file that appears when the service's pages are built, and names their folder; empty
    /// where they could not be.
    #[arg(long)]
    pages: Option<PathBuf>,
    /// How many five-minute slots are played [default: 288 with --once, 12 with --payments, else eight days].
    #[arg(long)]
    slots: Option<u64>,
}

/// Ready at Ctrl-C or SIGTERM, which end the service; with `--once` it is an error, because that ends by itself.
async fn told_to_end(once: bool) -> Result<(), Box<dyn std::error::Error>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted?,
        _ = terminate.recv() => {}
    }
    if once { Err("interrupted".into()) } else { Ok(()) }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let (once, lifeline) = (arguments.once, arguments.lifeline);
    let (gone, starter_gone) = tokio::sync::oneshot::channel::<()>();
    std::thread::spawn(move || {
        if !lifeline {
            std::thread::park();
        }
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        drop(gone);
    });
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error: starting the runtime: {error}");
            return ExitCode::FAILURE;
        }
    };
    let Arguments { server, cli, folder, pages, payments, .. } = arguments;
    let by_default = match (once, payments) {
        (_, true) => 12,
        (true, _) => DAY,
        _ => 8 * DAY + 12,
    };
    let slots = arguments.slots.unwrap_or(by_default);
    let demo = Demo { server, cli, folder, slots, once, payments, pages };
    let ended = runtime.block_on(async {
        tokio::select! {
            ended = demo.run() => ended,
            // Dropping the demonstration ends its node and its service.
            ended = told_to_end(once || payments) => ended,
            _ = starter_gone => Err("whoever started this is gone".into()),
        }
    });
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            // Exit immediately: readings in progress would otherwise find their runtime gone. The node ends with this
            // process.
            std::process::exit(1);
        }
    }
}
