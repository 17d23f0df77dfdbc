//! Playing days in step with the recorder.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use exitgap_chain::Limits;
use exitgap_core::series::Slot;
use exitgap_server::config::Checked;
use exitgap_server::recorder::{Recorder, Source};
use exitgap_store::{LogFolder, Store};
use indicatif::{ProgressBar, ProgressStyle};

use super::step;
use crate::devchain::{DevChain, Market};

/// Recorded days.
pub struct Day {
    /// The database.
    pub db: PathBuf,
    /// The recorder's configuration.
    pub config: PathBuf,
    /// The folder the log is published in.
    pub log: PathBuf,
    /// The last slot, in which nobody traded.
    pub slot: Slot,
}

/// Plays the slots from `first` up to `end`, about `slots` of them: it may be the present,
/// which moves on meanwhile. Each is recorded before the next begins, and one more in which
/// nobody trades: its state is still the chain's when the estimate is sold.
pub async fn record_days(
    chain: &DevChain,
    market: &mut Market<'_>,
    config: &Path,
    first: u64,
    slots: u64,
    end: impl Fn() -> Result<u64, Box<dyn Error>>,
) -> Result<Day, Box<dyn Error>> {
    let checked = Checked::read(config)?;
    let db = checked.config.store.path.clone();
    let key = std::fs::read_to_string(&checked.config.evidence.key_file)?;
    let store = Store::create(&db, &key.trim_end().parse()?)?;
    let sources = Source::of_plan(&checked.plan, &Limits::default());
    let seal_after = std::time::Duration::from_secs(checked.config.recorder.seal_after_s.into());
    let mut recorder = Recorder::new(store, sources, seal_after);

    step(&format!("playing {slots} slots of five minutes, and recording each"));
    let started = Instant::now();
    let bar = ProgressBar::new(slots);
    bar.set_style(ProgressStyle::with_template("   {bar:40} {pos}/{len} slots, {msg}")?);
    let (mut recorded, mut missing, mut requests, mut transactions) = (0, 0, 0, 0);
    let mut number = first;
    while number < end()? {
        let played = market.play_slot(number).await?;
        let report = recorder.record_slot(Slot::new(number)?).await?;
        transactions += played.transactions;
        recorded += report.recorded;
        missing += report.missing.values().sum::<u32>();
        requests += report.requests;
        number += 1;
        bar.set_length(slots.max(number - first));
        bar.inc(1);
        bar.set_message(format!("{transactions} transactions"));
    }
    bar.finish_and_clear();
    eprintln!(
        "   {} slots, {transactions} transactions, {recorded} snapshots recorded, {missing} \
         missing, {requests} requests to the node, {:.1} s",
        number - first,
        started.elapsed().as_secs_f32()
    );
    if missing > 0 {
        return Err(format!("{missing} snapshots are missing that should not be").into());
    }

    let quiet = Slot::new(number)?;
    chain.mine(quiet.unix_s() - 2, &[]).await?;
    chain.mine(quiet.unix_s() + 1, &[]).await?;
    recorder.record_slot(quiet).await?;
    eprintln!("   and one more slot, in which nobody trades");
    // All at once: slot by slot, the disk would be waited for as often.
    let published = recorder.publish_in(LogFolder::new(&checked.config.evidence.folder))?;
    eprintln!("   {} slots published, {:.1} s", published.slots, started.elapsed().as_secs_f32());
    Ok(Day { db, config: config.to_owned(), log: checked.config.evidence.folder, slot: quiet })
}
