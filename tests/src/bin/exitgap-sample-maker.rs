//! `exitgap-sample-maker`: makes the sample of `exitgap try`, run by `cargo xtask sample`.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use exitgap_tests::sample::{Making, WEEK};

/// Plays a week of the demonstration's market, records it, and writes the sample.
#[derive(Parser)]
struct Arguments {
    /// The folder of the sample.
    #[arg(long)]
    folder: PathBuf,
    /// Compare with the files in the folder instead of writing them.
    #[arg(long)]
    check: bool,
    /// The number of five-minute slots; fewer for a trial.
    #[arg(long, default_value_t = WEEK)]
    slots: u64,
}

#[tokio::main]
async fn main() -> ExitCode {
    match make(&Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn make(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let Arguments { folder, check, slots } = arguments;
    let work = tempfile::tempdir()?;
    let sample = Making { work: work.path(), slots: *slots }.make().await?;
    if !check {
        std::fs::create_dir_all(folder)?;
        println!("{} bytes written to {}", sample.write_to(folder)?, folder.display());
        return Ok(());
    }
    let differing = sample.differences(folder)?;
    match differing.first() {
        None => {
            println!("{} is the sample of the seed", folder.display());
            Ok(())
        }
        Some(first) => {
            let count = differing.len();
            Err(format!("{count} files of {} differ, the first is {first}", folder.display())
                .into())
        }
    }
}
