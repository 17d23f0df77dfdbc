//! Simulates days in step with the recorder.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use exitgap_chain::{ChainReader, Limits};
use exitgap_core::series::Slot;
use exitgap_server::config::CheckedConfig;
use exitgap_server::recorder::{Recorder, Source};
use exitgap_store::{LogFolder, Store, StoreError};
use indicatif::{ProgressBar, ProgressStyle};

use super::step;
use crate::devchain::{DevChain, Market};

/// Number of slots whose states are proven while they are recorded. Proving all slots would take three times as long,
/// because this node rebuilds its tries for each request.
const PROVEN_SLOTS: u64 = 12;

/// Recorded days.
pub struct Day {
    /// The database.
    pub db: PathBuf,
    /// The recorder's configuration.
    pub config: PathBuf,
    /// The folder the log is published in.
    pub log: PathBuf,
    /// The last slot.
    pub slot: Slot,
}

/// Simulates days and records them.
pub struct Days<'a, 'chain> {
    chain: &'chain DevChain,
    market: &'a mut Market<'chain>,
    config: &'a Path,
    checked: CheckedConfig,
    /// The next slot to simulate.
    next: u64,
}

impl<'a, 'chain> Days<'a, 'chain> {
    /// Starts with slot `first`.
    pub fn new(
        chain: &'chain DevChain,
        market: &'a mut Market<'chain>,
        config: &'a Path,
        first: u64,
    ) -> Result<Self, Box<dyn Error>> {
        Ok(Self { chain, market, config, checked: CheckedConfig::from_file(config)?, next: first })
    }

    /// Simulates about `slots` slots up to `end`, which may be the present and move on meanwhile. Each is recorded
    /// before the next begins. With `quiet`, one more slot without trades follows, so that the chain still has its
    /// state when an estimate is sold.
    pub async fn record(
        &mut self,
        slots: u64,
        end: impl Fn() -> Result<u64, Box<dyn Error>>,
        quiet: bool,
    ) -> Result<Day, Box<dyn Error>> {
        let mut recorder = self.recorder(true)?;
        step(&format!("playing {slots} slots of five minutes, and recording each"));
        let (started, first) = (Instant::now(), self.next);
        let bar = ProgressBar::new(slots);
        bar.set_style(ProgressStyle::with_template(
            "   {bar:40} {pos}/{len} slots, {msg}, {eta} left",
        )?);
        let (mut recorded, mut proven, mut missing, mut unproven) = (0, 0, 0, 0);
        let (mut requests, mut transactions) = (0, 0);
        while self.next < end()? {
            let played = self.market.play_slot(self.next).await?;
            let report = recorder.record_slot(Slot::new(self.next)?).await?;
            transactions += played.transactions;
            recorded += report.recorded;
            proven += report.proven;
            unproven += report.unproven.values().sum::<u32>();
            missing += report.missing.values().sum::<u32>();
            requests += report.requests;
            self.next += 1;
            if self.next - first == PROVEN_SLOTS {
                recorder.close()?;
                recorder = self.recorder(false)?;
            }
            bar.set_length(slots.max(self.next - first));
            bar.inc(1);
            bar.set_message(format!("{transactions} transactions"));
        }
        bar.finish_and_clear();
        eprintln!(
            "   {} slots, {transactions} transactions, {recorded} snapshots recorded, {missing} missing, {requests} \
             requests to the node, {:.1} s; the {proven} of the first hour were proven from the chain's own state",
            self.next - first,
            started.elapsed().as_secs_f32()
        );
        if missing > 0 {
            return Err(format!("{missing} snapshots are missing that should not be").into());
        }
        if unproven > 0 || proven == 0 {
            return Err(format!("{proven} snapshots are proven, and {unproven} not").into());
        }
        if quiet {
            self.record_quiet(&mut recorder).await?;
        }
        // All at once, because slot by slot it would wait for the disk each time.
        let log = self.checked.config.evidence.folder.clone();
        let published = recorder.publish_in(LogFolder::new(&log))?;
        recorder.close()?;
        eprintln!(
            "   {} slots published, {:.1} s",
            published.slots,
            started.elapsed().as_secs_f32()
        );
        let (db, config) = (self.checked.config.store.path.clone(), self.config.to_owned());
        Ok(Day { db, config, log, slot: Slot::new(self.next - 1)? })
    }

    async fn record_quiet(
        &mut self,
        recorder: &mut Recorder<ChainReader>,
    ) -> Result<(), Box<dyn Error>> {
        let quiet = Slot::new(self.next)?;
        self.chain.mine(quiet.unix_s() - 2, &[]).await?;
        self.chain.mine(quiet.unix_s() + 1, &[]).await?;
        recorder.record_slot(quiet).await?;
        self.next += 1;
        eprintln!("   and one more slot, in which nobody trades");
        Ok(())
    }

    /// The recorder, on the existing store or a new one.
    fn recorder(&self, proves: bool) -> Result<Recorder<ChainReader>, Box<dyn Error>> {
        let config = &self.checked.config;
        let key = std::fs::read_to_string(&config.evidence.key_file)?.trim_end().parse()?;
        let store = match Store::open(&config.store.path, &key) {
            Err(StoreError::NotFound { .. }) => Store::create(&config.store.path, &key)?,
            opened => opened?,
        };
        let sources = Source::of_plan(&self.checked.plan, &Limits::default());
        let seal_after = std::time::Duration::from_secs(config.recorder.seal_after_s.into());
        let mut recorder = Recorder::new(store, sources, seal_after);
        if proves {
            recorder.prove_states(config.proofs.open()?);
        }
        Ok(recorder)
    }
}
