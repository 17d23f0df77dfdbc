//! `serve`: recorder and service in one process.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use exitgap_api::{LogsCheckedBy, LogsStatus};
use exitgap_chain::{ChainReader, LogsChecked};
use exitgap_core::tlog::VerifierKey;
use exitgap_store::LogFolder;
use tokio::sync::{oneshot, watch};

use super::bucket::start_bucket;
use super::databases::check_databases;
use super::days::start_days;
use super::http_server::{HttpServer, Listeners};
use super::key::read_key;
use super::peers::{challenges, followers};
use super::record::{WhereHeld, clock, recorder, run, start_log, start_shares, stop_on_signals};
use super::slot_arg::SlotArg;
use super::{CliError, runtime, witness};
use crate::alerts::{AlertService, AlertsRoom, machine_clock};
use crate::config::{CheckedConfig, Config};
use crate::http::{App, Site};
use crate::ops::{Deployment, Now, Service};
use crate::payments::{PaymentProcessor, sweep};
use crate::recorder::{Clock, Recorder, RecorderError, Stop, SystemClock};

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// The configuration file.
    #[arg(long, value_name = "FILE", default_value = "exitgap.toml")]
    config: PathBuf,
    /// The address to listen on, instead of `[http] listen`; port 0 picks a free port.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Serve only; do not record into the store.
    #[arg(long, conflicts_with = "rehearse_at")]
    no_record: bool,
    /// Serve the pages in this folder, as built by `cargo xtask web`, instead of the built-in pages.
    #[arg(long, value_name = "FOLDER")]
    site: Option<PathBuf>,
    /// Rehearsal: start the clock at this slot's time.
    ///
    /// For development chains whose time is not today's. Refused if a chain is live.
    #[arg(long, value_name = "SLOT")]
    rehearse_at: Option<SlotArg>,
    /// Speed of the rehearsal's clock as a multiple, so that slots come sooner; 1 to 100.
    #[arg(long, value_name = "TIMES", default_value_t = 1, requires = "rehearse_at")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100))]
    rehearse_pace: u32,
}

/// How a slot's logs were checked, as the API gives it.
fn logs_status(checked: &LogsChecked) -> LogsStatus {
    let (checked_by, unproven_because) = match checked {
        LogsChecked::Blooms => (LogsCheckedBy::Blooms, None),
        LogsChecked::Receipts => (LogsCheckedBy::Receipts, None),
        LogsChecked::Unproven(why) => (LogsCheckedBy::Unproven, Some(why.clone())),
    };
    LogsStatus { checked_by, unproven_because }
}

/// Serves until stopped.
pub fn serve(args: &ServeArgs) -> Result<(), CliError> {
    let mut checked = CheckedConfig::from_file(&args.config)?;
    start_log(&checked.config.log);
    if let Some(listen) = args.listen {
        checked.config.http.listen = listen;
    }
    let clock = clock(args.rehearse_at, &checked.plan)?.at_pace(args.rehearse_pace);
    let site = match &args.site {
        Some(folder) => Site::from_folder(folder)
            .map_err(|source| CliError::File { path: folder.clone(), source })?,
        None => Site::default(),
    };
    let runtime = runtime("serve")?;
    let result = runtime.block_on(serve_until_told(checked, clock, !args.no_record, site));
    // A chain's thread may still wait for its node; nothing it could say is wanted any more.
    runtime.shutdown_background();
    result
}

async fn serve_until_told(
    mut checked: CheckedConfig,
    clock: SystemClock,
    record: bool,
    site: Site,
) -> Result<(), CliError> {
    check_databases(&checked.config)?;
    let listeners = Listeners::bind(&mut checked.config.http, &checked.config.serve)?;
    let mut stop = stop_on_signals().map_err(CliError::Start)?;
    let proofs = checked.config.proofs.open()?;
    let challenges = challenges(&checked, proofs.as_ref())?;
    let shares = if record { start_shares(&checked, clock)? } else { None };
    let (mut recorder, bucket) =
        match record.then(|| recorder(&checked, proofs, &WhereHeld::Refuse)).transpose()? {
            Some((recorder, bucket)) => (Some(recorder), bucket),
            None => (None, None),
        };

    let ServedApp { mut app, room } = app(&checked, clock, record, site).await?;
    app.challenges = challenges.clone();
    if let Some(recorder) = &mut recorder {
        let (telemetry, service) = (app.telemetry.clone(), app.service.clone());
        recorder.tell(move |report| {
            telemetry.proofs(report.proven, &report.unproven);
            telemetry.drawn(report.drawn);
            telemetry.nodes(&report.node_outcomes, report.unread_logs, report.refused_documents);
            for (chain, checked) in &report.logs_checked {
                let logs = logs_status(checked);
                telemetry.logs_checked(chain, &logs);
                service.note_logs_checked(chain, report.slot, logs);
            }
            telemetry.count_cosignatures(
                report.cosigned,
                report.not_cosigned.iter().map(|(witness, _)| witness),
            );
        });
        let telemetry = app.telemetry.clone();
        if let Some(followers) = followers(&checked, challenges, move |told| telemetry.peer(told))?
        {
            followers.start(&recorder.watch_sealed());
        }
    }
    let telemetry = app.telemetry.clone();
    let told = move |told| telemetry.bucket(told);
    let bucket = bucket.map(|bucket| start_bucket(bucket, &checked, told)).transpose()?;
    let telemetry = app.telemetry.clone();
    let told: crate::days::DaysCallback = Box::new(move |due| telemetry.days(due));
    let days = record.then(|| start_days(&checked, told)).transpose()?.flatten();
    let (till, telemetry) = (app.till.clone(), app.telemetry.clone());
    let payments = &checked.config.payments;
    let free = payments.enabled.then_some(payments.free_estimates_per_day);
    let answering = HttpServer::begin(app, listeners, &checked.config.http, free);
    let sweeping = till.map(|till| {
        let telemetry = telemetry.clone();
        let told = move |counts| telemetry.payments(counts);
        tokio::spawn(sweep(till, answering.watch_end(), told))
    });
    let telling = room.map(|room| {
        let store = checked.config.store.path.clone();
        let told = move |counts| telemetry.alerts(counts);
        let folder = LogFolder::new(&checked.config.evidence.folder);
        tokio::spawn(room.run(store, folder, answering.watch_end(), told))
    });
    let result = if let Some(recorder) = recorder {
        record_apart(recorder, clock, stop).await
    } else {
        // The sender is dropped only when the process ends.
        let _ = stop.wait_for(|stop| *stop != Stop::No).await;
        Ok(())
    };
    answering.end().await;
    drop(days);
    // Waits for its threads.
    let _ = tokio::task::spawn_blocking(|| drop(shares)).await;
    if let Some(bucket) = bucket {
        // Waits until the last slot is uploaded, too.
        let _ = tokio::task::spawn_blocking(|| bucket.end()).await;
    }
    if let Some(sweeping) = sweeping {
        sweeping.abort();
    }
    if let Some(telling) = telling {
        // Waits until the deliveries in progress are done and recorded.
        let _ = telling.await;
    }
    result
}

/// Records on a separate runtime with its own blocking threads: requests that wait for a thread cannot delay a slot.
async fn record_apart(
    recorder: Recorder<ChainReader>,
    clock: SystemClock,
    stop: watch::Receiver<Stop>,
) -> Result<(), CliError> {
    let recording = runtime("recorder")?;
    let (ended, result) = oneshot::channel();
    let thread = std::thread::Builder::new().name("recorder".to_owned());
    let work = move || {
        let result = recording.block_on(run(recorder, clock, stop, None));
        // A chain's thread may still wait for its node; its answer is no longer needed.
        recording.shutdown_background();
        // The receiver lives longer than this task.
        let _ = ended.send(result);
    };
    thread.spawn(work).map_err(CliError::Start)?;
    // Without an answer the recorder panicked, and its store was dropped.
    result.await.unwrap_or(Err(CliError::Recorder(RecorderError::Interrupted)))
}

/// The app that is served, and its background parts.
struct ServedApp {
    app: App,
    room: Option<Arc<AlertsRoom>>,
}

async fn app(
    checked: &CheckedConfig,
    clock: SystemClock,
    recording: bool,
    site: Site,
) -> Result<ServedApp, CliError> {
    let config = &checked.config;
    let now: Now = Arc::new(move || clock.now().as_secs());
    let (store, bounds) = (config.store.path.clone(), config.serve.bounds());
    let (pages, alerts) = (site.is_built(), config.alerts.enabled);
    let urls = config.http.urls();
    // The configuration check has already validated it.
    let payments = config.payments.plan(&checked.plan).ok().flatten();
    let till = match payments {
        Some((plan, chain)) => {
            // Payments use real time: a rehearsal's clock differs from that of the payment chain.
            let now: Now = Arc::new(|| SystemClock::default().now().as_secs());
            let logs = log_keys(config);
            Some(PaymentProcessor::open(plan, chain, &logs, urls.base.clone(), now).await?)
        }
        None => None,
    };
    let service =
        Service::new(store, urls, now, bounds).deployed_as(Deployment { recording, pages, alerts });
    let service = service.with_days(&LogFolder::new(&config.evidence.folder));
    let service = service.with_quote_groups(checked.quote_groups.clone());
    let service = service.with_redemption_terms(checked.redemption.clone());
    let service = service.with_shocks(checked.shocks.clone());
    let service = service.with_equities(checked.equities());
    let service = Arc::new(service);
    let room = match config.alerts.plan().ok().flatten() {
        // Deadlines use the machine's clock, even if a rehearsal's slots do not.
        Some(plan) => Some(AlertsRoom::open(plan, machine_clock())?),
        None => None,
    };
    let desk = room.clone().map(|room| AlertService::new(room, service.clone()));
    let app = App {
        till,
        desk,
        service,
        telemetry: Arc::default(),
        log_folder: config.evidence.folder.as_path().into(),
        site: Arc::new(site),
        described: Arc::default(),
        streams: Arc::default(),
        challenges: None,
        witness: witness::of_config(config, &log_keys(config))?,
    };
    Ok(ServedApp { app, room })
}

/// The log keys known to this process. A key file that cannot be read is skipped; no key in it can sign here.
fn log_keys(config: &Config) -> Vec<VerifierKey> {
    let evidence = &config.evidence;
    let files = evidence.retiring_key_file.iter().chain([&evidence.key_file]);
    let own = files.filter_map(|path| Some(read_key(path).ok()?.verifier()));
    let published = std::fs::read_to_string(evidence.folder.join("verifier-key"));
    let published = published.ok().and_then(|text| text.trim_end().parse().ok());
    own.chain(published).collect()
}
