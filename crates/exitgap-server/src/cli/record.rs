//! `record`: the recorder as a process, with logging and signal handling.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use exitgap_chain::config::Plan;
use exitgap_chain::{ChainReader, Limits};
use exitgap_core::series::Slot;
use exitgap_core::tlog::SignerKey;
use exitgap_store::payments::Payments;
use exitgap_store::proofs::Proofs;
use exitgap_store::{LogFolder, Store, StoreError, is_server, shown};
use tokio::sync::watch;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use super::bucket::{check_bucket, claim_in_bucket, start_bucket};
use super::databases::check_databases;
use super::days::start_days;
use super::key::read_key;
use super::peers::{challenges, followers};
use super::slot_arg::SlotArg;
use super::{CliError, runtime};
use crate::bucket::Bucket;
use crate::config::{CheckedConfig, LogConfig, LogFormat, LogLevel};
use crate::payments::TillError;
use crate::recorder::shared_reading::{ShareConfig, SharedSource, Shares};
use crate::recorder::{Recorder, SlotReader, Source, Stop, SystemClock};
use crate::witness::Witnesses;

#[derive(Debug, Args)]
pub struct RecordArgs {
    /// The configuration file.
    #[arg(long, value_name = "FILE", default_value = "exitgap.toml")]
    config: PathBuf,
    /// Stop after this slot: its number, or its time such as 2026-08-22T00:05:00Z.
    #[arg(long, value_name = "SLOT")]
    until: Option<SlotArg>,
    /// Rehearsal: start the clock at this slot's time.
    ///
    /// For development chains whose time is not today's. Refused if a chain is live.
    #[arg(long, value_name = "SLOT")]
    rehearse_at: Option<SlotArg>,
}

/// Records until it is told to end.
pub fn record(args: &RecordArgs) -> Result<(), CliError> {
    let checked = CheckedConfig::from_file(&args.config)?;
    start_log(&checked.config.log);
    let clock = clock(args.rehearse_at, &checked.plan)?;
    check_databases(&checked.config)?;
    let proofs = checked.config.proofs.open()?;
    let challenges = challenges(&checked, proofs.as_ref())?;
    let runtime = runtime("exitgap-server")?;
    let stop = runtime.block_on(async { stop_on_signals() }).map_err(CliError::Start)?;
    let shares = start_shares(&checked, clock)?;
    let opened = recorder(&checked, proofs, &WhereHeld::Wait(stop.clone()));
    let (recorder, bucket) = match opened {
        // Leaves the part of the reading that it did to the other recorders.
        Err(_) if *stop.borrow() != Stop::No => {
            tracing::info!("stopped while another recorder seals");
            return Ok(());
        }
        opened => opened?,
    };
    let bucket = bucket.map(|bucket| start_bucket(bucket, &checked, |_| {})).transpose()?;
    let days = start_days(&checked, Box::new(|_| {}))?;
    let followers = followers(&checked, challenges, |_| {})?;
    let until = args.until.map(|SlotArg(slot)| slot);
    let result = runtime.block_on(async {
        if let Some(followers) = followers {
            followers.start(&recorder.watch_sealed());
        }
        run(recorder, clock, stop, until).await
    });
    // A chain's thread may still wait for its node; its answer is no longer needed.
    runtime.shutdown_background();
    drop((shares, days));
    if let Some(bucket) = bucket {
        bucket.end();
    }
    result
}

/// The clock for recording.
pub fn clock(rehearse_at: Option<SlotArg>, plan: &Plan) -> Result<SystemClock, CliError> {
    let Some(SlotArg(slot)) = rehearse_at else { return Ok(SystemClock::default()) };
    let live = plan.chains().iter().find(|chain| chain.tag().kind.is_live());
    if let Some(live) = live {
        return Err(CliError::RehearsalOnLiveChain { chain: live.slug().to_string() });
    }
    tracing::warn!(at = %slot, "rehearsal: not using the machine's clock");
    Ok(SystemClock::starting_at(Duration::from_secs(slot.unix_s())))
}

/// Creates the recorder of a configuration: opens its store, and compares the store with what was published in the
/// folder and in the bucket.
pub fn recorder(
    checked: &CheckedConfig,
    proofs: Option<Arc<Proofs>>,
    held: &WhereHeld,
) -> Result<(Recorder<ChainReader>, Option<Bucket>), CliError> {
    let CheckedConfig { config, plan, .. } = checked;
    let sources = Source::of_plan(plan, &Limits::default());
    // Report nodes that cannot be reached at all before a store is created for them.
    for source in &sources {
        if let Err(error) = (source.make)() {
            let chain = source.chain.to_string();
            return Err(CliError::Chain { chain, error: error.to_string() });
        }
    }
    let key = read_key(&config.evidence.key_file)?;
    let retiring = config.evidence.retiring_key_file.as_deref().map(read_key).transpose()?;
    let mut store = open_store(&config.store.path, &key, retiring.as_ref(), held)?;
    claim_in_bucket(config, &mut store)?;
    let seal_after = Duration::from_secs(config.recorder.seal_after_s.into());
    let mut recorder = Recorder::new(store, sources, seal_after);
    let shared = shared_sources(checked);
    if !shared.is_empty() {
        recorder.share_reading(shared.into_iter().map(|source| source.shard).collect());
    }
    recorder.check_pools()?;
    for pool in recorder.retire(&config.recorder.retire)? {
        tracing::warn!(%pool, "retires permanently with the next slot");
    }
    if config.proofs.each_slot {
        recorder.prove_states(proofs);
    }
    if config.proofs.anchors {
        recorder.anchor_days();
    }
    // It was checked with the configuration.
    let asks = config.witness.plan().map(|plan| plan.asks).unwrap_or_default();
    if !asks.is_empty() {
        tracing::info!(witnesses = asks.len(), "each slot is sent to witnesses");
        recorder.ask_witnesses(Witnesses::new(asks).map_err(CliError::Witnesses)?)?;
    }
    // It was checked with the configuration.
    if let Some((payments, _)) = config.payments.plan(plan).ok().flatten() {
        let payments = Payments::open_later(&payments.database).map_err(TillError::Database)?;
        recorder.commit_issued(payments);
    }
    let bucket = check_bucket(config, recorder.store().ok().map(Store::reader))?;
    let published = recorder.publish_in(LogFolder::new(&config.evidence.folder))?;
    let folder = config.evidence.folder.display();
    tracing::info!(%folder, slots = published.size, now = published.slots, "published");
    Ok((recorder, bucket))
}

/// The shards to read, if several recorders share the reading.
fn shared_sources(checked: &CheckedConfig) -> Vec<SharedSource<ChainReader>> {
    match checked.config.recorder.shard_pools {
        0 => Vec::new(),
        most => SharedSource::of_plan(&checked.plan, &Limits::default(), most),
    }
}

/// Starts reading this recorder's share, if the reading is shared: also while another recorder seals.
pub fn start_shares(
    checked: &CheckedConfig,
    clock: SystemClock,
) -> Result<Option<Shares>, CliError> {
    let config = &checked.config;
    let sources = shared_sources(checked);
    if sources.is_empty() {
        return Ok(None);
    }
    let sharing = ShareConfig {
        store: config.store.path.clone(),
        seal_after: Duration::from_secs(config.recorder.seal_after_s.into()),
        prove: config.proofs.each_slot,
    };
    Shares::start(sharing, sources, clock).map(Some).map_err(CliError::Start)
}

/// What to do if another recorder holds the store on a server.
#[derive(Debug)]
pub enum WhereHeld {
    /// Wait for it and then take over, until this process is stopped.
    Wait(watch::Receiver<Stop>),
    /// Fail.
    Refuse,
}

/// Polling interval for a store that another recorder holds.
const ASKED_EVERY: Duration = Duration::from_secs(1);

/// Opens the store, or creates one. Creation is logged, because an unexpected new store usually means a wrong path.
fn open_store(
    path: &Path,
    key: &SignerKey,
    retiring: Option<&SignerKey>,
    held: &WhereHeld,
) -> Result<Store, StoreError> {
    let (mut waits, mut differs) = (false, false);
    let goes_on = match held {
        WhereHeld::Wait(stop) => &|| *stop.borrow() == Stop::No,
        WhereHeld::Refuse => &(|| false) as &dyn Fn() -> bool,
    };
    loop {
        match open_free_store(path, key, retiring) {
            Err(StoreError::Leased { holder, .. }) if goes_on() => {
                if !waits {
                    tracing::info!(store = %shown(path), holder, "another recorder seals; waiting to take over");
                }
                (waits, differs) = (true, false);
                std::thread::sleep(ASKED_EVERY);
            }
            Err(error @ StoreError::ClockDiffers { .. }) if goes_on() => {
                if !differs {
                    tracing::error!(%error, "not recording until the clock is set");
                }
                (waits, differs) = (false, true);
                std::thread::sleep(ASKED_EVERY);
            }
            // A waiting recorder also waits while the server is unreachable.
            Err(StoreError::Unreachable { .. } | StoreError::Database { .. })
                if (waits || differs) && goes_on() =>
            {
                std::thread::sleep(ASKED_EVERY);
            }
            opened => return opened,
        }
    }
}

fn open_free_store(
    path: &Path,
    key: &SignerKey,
    retiring: Option<&SignerKey>,
) -> Result<Store, StoreError> {
    if let Some(retiring) = retiring {
        let mut store = Store::open(path, retiring)?;
        store.sign_beside(key)?;
        tracing::info!(retiring = %retiring.verifier(), "the log's key is being changed: two keys sign");
        return Ok(store);
    }
    let store = match Store::open(path, key) {
        Err(StoreError::NotFound { .. }) => {
            let store = Store::create(path, key)?;
            tracing::warn!(store = %path.display(), "no store found: a new series begins");
            store
        }
        opened => opened?,
    };
    let last = store.reader().slots()?.map(|(_, last)| last.to_string());
    if last.is_none() && is_server(path) {
        tracing::warn!(store = %shown(path), "the store is empty: a new series begins");
    }
    tracing::info!(store = %shown(path), last_slot = last.as_deref(), "recording");
    Ok(store)
}

/// Records until it is told to end.
pub async fn run<R: SlotReader>(
    mut recorder: Recorder<R>,
    clock: SystemClock,
    stop: watch::Receiver<Stop>,
    until: Option<Slot>,
) -> Result<(), CliError> {
    recorder.run(&clock, stop, until).await?;
    let last = recorder.last_slot()?.map(|last| last.to_string());
    let log = recorder.store()?.reader().log()?.map(|log| log.origin.to_string());
    recorder.close()?;
    tracing::info!(last_slot = last.as_deref(), log, "ended");
    Ok(())
}

/// The first SIGTERM or SIGINT ends the process after the slot in progress, the second immediately.
pub fn stop_on_signals() -> io::Result<watch::Receiver<Stop>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let (sender, receiver) = watch::channel(Stop::No);
    tokio::spawn(async move {
        for stop in [Stop::AfterSlot, Stop::Now] {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            tracing::info!(?stop, "stopping on request");
            // The recorder may have ended by itself.
            let _ = sender.send(stop);
        }
    });
    Ok(receiver)
}

/// Starts logging as configured.
pub fn start_log(config: &LogConfig) {
    let level = match config.level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
    };
    let filter = tracing_subscriber::filter::Targets::new()
        .with_target("exitgap_server", level)
        .with_target("exitgap_chain", level)
        // It reports each client that leaves early as an error; the service counts and logs requests itself.
        .with_target("rmcp", LevelFilter::OFF)
        .with_default(level.min(LevelFilter::WARN));
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_target(false);
    let lines = match config.format {
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
        LogFormat::Text => lines.with_ansi(false).boxed(),
    };
    tracing_subscriber::registry().with(lines).with(filter).init();
}
