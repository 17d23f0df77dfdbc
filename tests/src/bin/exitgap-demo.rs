//! `exitgap-demo`: the demonstration, run by `cargo xtask demo`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use exitgap_tests::demo::Demo;

/// Plays a day on a development chain, records it, and asks what an exit fills at.
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
    /// End after the demonstration. There is no service to leave running yet, so it
    /// always does.
    #[arg(long)]
    once: bool,
    /// End when standard input ends: whoever started this is gone then.
    #[arg(long)]
    lifeline: bool,
    /// How many five-minute slots are played.
    #[arg(long, default_value_t = 288)]
    slots: u64,
}

fn main() -> ExitCode {
    let Arguments { server, cli, folder, once: _, lifeline, slots } = Arguments::parse();
    if lifeline {
        std::thread::spawn(|| {
            let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
            // The node is on a lifeline of its own and ends with this process.
            std::process::exit(1);
        });
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error: starting the runtime: {error}");
            return ExitCode::FAILURE;
        }
    };
    let demo = Demo { server, cli, folder, slots };
    let ended = runtime.block_on(async {
        tokio::select! {
            ended = demo.run() => ended,
            // Dropping the demonstration ends its node.
            _ = tokio::signal::ctrl_c() => Err("interrupted".into()),
        }
    });
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            // At once: readings under way would otherwise find their runtime gone. The
            // node ends with this process.
            std::process::exit(1);
        }
    }
}
