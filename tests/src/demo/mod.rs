//! The demonstration: simulates days on the development chain, records them, asks questions about them, and really
//! sells one estimate; then runs the service on the recorded data in real time.
//!
//! The most important result comes first: after one day the first number, with its verified evidence; the other days
//! are simulated while the service's pages are being built.
//!
//! The recorder initially runs in this process, because the days are simulated faster than real time; every question
//! goes to the `exitgap` program, as a user would ask it.

mod operators;
mod pay;
mod play;
mod recorder_config;
mod serve;
mod show;
mod venues;

pub use recorder_config::{PaidTo, dollars_config, oracle_name, payments_config, recorder_config};
pub use serve::PORT;

use std::error::Error;
use std::path::{Path, PathBuf};

use crate::devchain::{
    DevChain, FIRST_SLOT, Market, Options, SLOT_SECONDS, SLOTS_PER_DAY, Venues, World,
};
use play::Days;

/// Stores rules, and allows sending their events to this machine.
const ALERTS: &str = "\n[alerts]\nenabled = true\nallow_networks = [\"127.0.0.0/8\"]\n";

/// The parameters of the demonstration.
#[derive(Debug)]
pub struct Demo {
    /// The `exitgap-server` program.
    pub server: PathBuf,
    /// The `exitgap` program.
    pub cli: PathBuf,
    /// The folder for database and configuration; emptied first.
    pub folder: PathBuf,
    /// Number of simulated slots.
    pub slots: u64,
    /// Whether to end after the questions. Otherwise the slots end at the present, and the service continues from
    /// there.
    pub once: bool,
    /// Whether to pay for an answer instead: the slots end at the present, and the demonstration ends after the
    /// payment.
    pub payments: bool,
    /// A file that appears when the service's pages are built, and contains their folder; empty if the build failed.
    /// The service then starts.
    pub pages: Option<PathBuf>,
}

/// The chain's id.
const CHAIN_ID: u64 = 31_337;

/// The seed of the demonstration's market: it produces the same day every time.
const SEED: u64 = 20_260_822;

impl Demo {
    /// Simulates, records, asks and sells. Messages go to stderr, answers to stdout.
    pub async fn run(&self) -> Result<(), Box<dyn Error>> {
        // With `once` the same days each time, otherwise the days up to now.
        let first = if self.once { FIRST_SLOT } else { serve::slot_now()? - self.slots };
        let (chain, world, venues) = scene(first).await?;
        let mut market = Market::new(&chain, &world, SEED).await?.visiting(&venues, SEED);
        let config = self.configure(&chain, &world, &venues, &mut market, first).await?;

        let mut days = Days::new(&chain, &mut market, &config, first)?;
        if self.payments {
            let hour = days.record(self.slots, serve::slot_now, false).await?;
            return pay::pay_once(self, &chain, &world, &hour).await;
        }
        let one = self.slots.min(SLOTS_PER_DAY);
        let day = days.record(one, || Ok(first + one), self.slots == one).await?;
        show::first_number(self, &world, &day)?;
        let day = if self.slots > one {
            let end = || if self.once { Ok(first + self.slots) } else { serve::slot_now() };
            days.record(self.slots - one, end, true).await?
        } else {
            day
        };
        show::answers(self, &chain, &world, &day).await?;
        venues::sell_at_each(self, &chain, &world, &venues, &day).await?;
        if self.once {
            return operators::confirm(self, &chain, &mut market, (&world, &venues), &day).await;
        }
        serve::go_on(self, &chain, &mut market, (&world, &venues), &day).await
    }

    /// Only simulates and records the slots, starting with the first one of `--once`.
    pub async fn play(&self) -> Result<(), Box<dyn Error>> {
        let (chain, world, venues) = scene(FIRST_SLOT).await?;
        let mut market = Market::new(&chain, &world, SEED).await?.visiting(&venues, SEED);
        let config = self.configure(&chain, &world, &venues, &mut market, FIRST_SLOT).await?;
        let mut days = Days::new(&chain, &mut market, &config, FIRST_SLOT)?;
        days.record(self.slots, || Ok(FIRST_SLOT + self.slots), false).await?;
        Ok(())
    }

    /// Writes the recorder's configuration and keys to the folder, which is emptied first, and checks it with the
    /// program. The market simulates the slot before the first one.
    async fn configure(
        &self,
        chain: &DevChain,
        world: &World,
        venues: &Venues,
        market: &mut Market<'_>,
        first: u64,
    ) -> Result<PathBuf, Box<dyn Error>> {
        if self.folder.exists() {
            eprintln!("   emptying {} of an earlier demonstration", self.folder.display());
        }
        std::fs::remove_dir_all(&self.folder).or_else(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })?;
        std::fs::create_dir_all(&self.folder)?;
        let config = self.folder.join("exitgap.toml");
        let venues = venues::venues_config(venues, world);
        let text = recorder_config(chain, world) + &venues + &dollars_config(world) + ALERTS;
        std::fs::write(&config, text)?;
        step("making the key that signs what is recorded");
        let key = self.folder.join("exitgap.key");
        run(&self.server, &["key", "new", "--name", "demo.example/exits", "--out"], &key)?;
        let alerts = self.folder.join("alerts.key");
        run(&self.server, &["key", "alerts", "--out"], &alerts)?;
        step("asking the node whether the recorder's configuration is right");
        // The check reads the node's newest block, which must have fresh prices.
        market.play_slot(first - 1).await?;
        run(&self.server, &["check", "--config"], &config)?;
        Ok(config)
    }
}

/// A private chain that begins an hour before slot `first`, with the contracts of the simulation.
async fn scene(first: u64) -> Result<(DevChain, World, Venues), Box<dyn Error>> {
    step(
        "starting a private node with Uniswap v2, v3 and v4, Aerodrome, Multicall3 and Chainlink \
         contracts",
    );
    let genesis_timestamp = first * SLOT_SECONDS - 3600;
    let options = Options { prune_history: Some(64), genesis_timestamp, chain_id: CHAIN_ID };
    let chain = DevChain::start(options).await?;
    let world = World::deploy(&chain).await?;
    let venues = Venues::deploy(&chain, &world).await?;
    Ok((chain, world, venues))
}

/// Runs a program with visible output; fails if the program fails.
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
