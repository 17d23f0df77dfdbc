//! The demonstration: days on the development chain, recorded, asked about, and one
//! estimate really sold; then the service on what was recorded, going on in real time.
//!
//! What matters most comes first: after one day the first number, and its evidence, verified;
//! the other days are played while the service's pages are being built.
//!
//! The recorder runs in this process at first, because the days are played faster than it would
//! pass; every question is put to the `exitgap` program as a person would put it.

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

/// Rules are kept, and may be told to this machine.
const ALERTS: &str = "\n[alerts]\nenabled = true\nallow_networks = [\"127.0.0.0/8\"]\n";

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
    /// Whether to end after the questions. Else the slots end at the present, and the
    /// service goes on from there.
    pub once: bool,
    /// Whether an answer is paid for instead: the slots end at the present, and the demonstration with the
    /// payment.
    pub payments: bool,
    /// A file that appears when the service's pages are built, and names their folder; empty
    /// where they could not be. The service begins then.
    pub pages: Option<PathBuf>,
}

/// The chain's id.
const CHAIN_ID: u64 = 31_337;

/// The seed of the demonstration's market: the same day every time.
const SEED: u64 = 20_260_822;

impl Demo {
    /// Plays, records, asks, sells. Says what it does on stderr, shows answers on stdout.
    pub async fn run(&self) -> Result<(), Box<dyn Error>> {
        // Once: the same days each time. Else: up to now.
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

    /// Plays and records the slots alone, the first of those that `--once` plays, and asks nothing.
    pub async fn play(&self) -> Result<(), Box<dyn Error>> {
        let (chain, world, venues) = scene(FIRST_SLOT).await?;
        let mut market = Market::new(&chain, &world, SEED).await?.visiting(&venues, SEED);
        let config = self.configure(&chain, &world, &venues, &mut market, FIRST_SLOT).await?;
        let mut days = Days::new(&chain, &mut market, &config, FIRST_SLOT)?;
        days.record(self.slots, || Ok(FIRST_SLOT + self.slots), false).await?;
        Ok(())
    }

    /// Writes the recorder's configuration and its keys into the folder, emptied first, and lets the program check it. The
    /// market plays the slot before the first.
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
        // The node answers for its newest block, which must hold fresh prices.
        market.play_slot(first - 1).await?;
        run(&self.server, &["check", "--config"], &config)?;
        Ok(config)
    }
}

/// A private chain that begins an hour before slot `first`, with the contracts that are played with.
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
