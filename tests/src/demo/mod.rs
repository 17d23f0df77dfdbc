//! The demonstration: a day on the development chain, recorded, asked about, and one
//! estimate really sold.
//!
//! The recorder runs in this process, because the day is played faster than it would
//! pass; every question is put to the `exitgap` program as a person would put it.

mod play;
mod recorder_config;
mod show;

pub use recorder_config::recorder_config;

use std::error::Error;
use std::path::{Path, PathBuf};

use crate::devchain::{DevChain, Market, Options, World};

/// What the demonstration needs.
#[derive(Debug)]
pub struct Demo {
    /// The `exitgap-server` program.
    pub server: PathBuf,
    /// The `exitgap` program.
    pub cli: PathBuf,
    /// Where database and configuration are written; emptied first.
    pub folder: PathBuf,
    /// How many slots are played.
    pub slots: u64,
}

/// The seed of the demonstration's market: the same day every time.
const SEED: u64 = 20_260_822;

impl Demo {
    /// Plays, records, asks, sells. Says what it does on stderr, shows answers on stdout.
    pub async fn run(&self) -> Result<(), Box<dyn Error>> {
        step("starting a private node with Uniswap v2, v3, Multicall3 and Chainlink contracts");
        let chain =
            DevChain::start(Options { prune_history: Some(64), ..Options::default() }).await?;
        let world = World::deploy(&chain).await?;
        let mut market = Market::new(&chain, &world, SEED).await?;

        if self.folder.exists() {
            eprintln!("   emptying {} of an earlier demonstration", self.folder.display());
        }
        std::fs::remove_dir_all(&self.folder).or_else(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })?;
        std::fs::create_dir_all(&self.folder)?;
        let config = self.folder.join("exitgap.toml");
        std::fs::write(&config, recorder_config(&chain, &world))?;
        step("making the key that signs what is recorded");
        let key = self.folder.join("exitgap.key");
        run(&self.server, &["key", "new", "--name", "demo.example/exits", "--out"], &key)?;
        step("asking the node whether the recorder's configuration is right");
        // The node answers for its newest block, which must hold fresh prices.
        market.play_slot(crate::devchain::FIRST_SLOT - 1).await?;
        run(&self.server, &["check", "--config"], &config)?;

        let day = play::record_day(&chain, &mut market, &config, self.slots).await?;
        show::answers(self, &chain, &world, &day).await
    }
}

/// Runs a program with its output shown, and fails where it fails.
fn run(program: &Path, args: &[&str], file: &Path) -> Result<(), Box<dyn Error>> {
    let status = std::process::Command::new(program).args(args).arg(file).status()?;
    if status.success() {
        return Ok(());
    }
    Err(format!("{} {} ended with {status}", program.display(), args.join(" ")).into())
}

fn step(what: &str) {
    eprintln!("\n== {what}");
}
