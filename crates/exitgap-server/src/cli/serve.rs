//! `serve`: recorder and service in one process.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use exitgap_chain::ChainReader;
use exitgap_core::tlog::VerifierKey;
use exitgap_store::Outcome;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use super::key::read_key;
use super::peers::{challenges, followers};
use super::record::{clock, recorder, run, start_log, stop_on_signals};
use super::slot_arg::SlotArg;
use super::{CliError, runtime, witness};
use crate::alerts::{AlertsRoom, Desk, machine_clock};
use crate::config::{Checked, Config};
use crate::http::{
    App, Connections, FreeEstimates, Limits, Listener, Operators, Site, Telemetry,
    operators_router, router,
};
use crate::ops::{Current, Deployment, Now, Service};
use crate::payments::{Till, sweep};
use crate::recorder::{Clock, Recorder, RecorderError, Stop, SystemClock};

/// How often is looked whether a slot was sealed.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What operators' listener takes: a few programs that look now and then.
const OPERATORS_CONNECTIONS: usize = 64;

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// The configuration file.
    #[arg(long, value_name = "FILE", default_value = "exitgap.toml")]
    config: PathBuf,
    /// The address to listen on, instead of `[http] listen`; port 0: any that is free.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Answers only: another process records into the store, or none does.
    #[arg(long, conflicts_with = "rehearse_at")]
    no_record: bool,
    /// Serves the pages in this folder, as `cargo xtask web` builds them, instead of those that
    /// this program was built with.
    #[arg(long, value_name = "FOLDER")]
    site: Option<PathBuf>,
    /// Rehearsal: the clock shows this slot's instant at the start, and goes on from there.
    ///
    /// For development chains whose time is not today's. Refused where a chain is live.
    #[arg(long, value_name = "SLOT")]
    rehearse_at: Option<SlotArg>,
    /// How many times as fast the rehearsal's clock runs, so that slots come sooner; 1 to 100.
    #[arg(long, value_name = "TIMES", default_value_t = 1, requires = "rehearse_at")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100))]
    rehearse_pace: u32,
}

/// Serves until it is told to end.
pub fn serve(args: &ServeArgs) -> Result<(), CliError> {
    let mut checked = Checked::read(&args.config)?;
    start_log(&checked.config.log);
    if let Some(listen) = args.listen {
        checked.config.http.listen = listen;
    }
    let clock = clock(args.rehearse_at, &checked.plan)?.at_pace(args.rehearse_pace);
    let site = match &args.site {
        Some(folder) => {
            Site::read(folder).map_err(|source| CliError::File { path: folder.clone(), source })?
        }
        None => Site::default(),
    };
    let runtime = runtime("serve")?;
    let result = runtime.block_on(serve_until_told(checked, clock, !args.no_record, site));
    // A chain's thread may still wait for its node; nothing it could say is wanted any more.
    runtime.shutdown_background();
    result
}

async fn serve_until_told(
    mut checked: Checked,
    clock: SystemClock,
    record: bool,
    site: Site,
) -> Result<(), CliError> {
    // An address in use is told before a store is opened or begun.
    let listener = Listener::bind(checked.config.http.listen, "[http] listen or --listen").await?;
    checked.config.http.listen = listener.address();
    let operators = match checked.config.serve.operators {
        Some(address) => Some(Listener::bind(address, "[serve] operators").await?),
        None => None,
    };
    let mut stop = stop_on_signals().map_err(CliError::Start)?;
    let proofs = checked.config.proofs.open()?;
    let challenges = challenges(&checked, proofs.as_ref())?;
    let mut recorder = record.then(|| recorder(&checked, proofs)).transpose()?;

    let Served { mut app, room } = app(&checked, clock, record, site).await?;
    app.challenges = challenges.clone();
    if let Some(recorder) = &mut recorder {
        let telemetry = app.telemetry.clone();
        recorder.tell(move |report| {
            telemetry.proofs(report.proven, &report.unproven);
            telemetry.drawn(report.drawn);
            telemetry
                .cosigned(report.cosigned, report.not_cosigned.iter().map(|(witness, _)| witness));
        });
        let telemetry = app.telemetry.clone();
        if let Some(followers) = followers(&checked, challenges, move |told| telemetry.peer(told))?
        {
            followers.start(&recorder.watch_sealed());
        }
    }
    let (end, ended) = watch::channel(false);
    let sweeping = app.till.clone().map(|till| {
        let telemetry = app.telemetry.clone();
        let told = move |counts| telemetry.payments(counts);
        tokio::spawn(sweep(till, ended.clone(), told))
    });
    let telling = room.map(|room| {
        let (store, telemetry) = (checked.config.store.path.clone(), app.telemetry.clone());
        tokio::spawn(room.run(store, ended.clone(), move |counts| telemetry.alerts(counts)))
    });
    let streaming = app.service.clone();
    let looking = tokio::spawn(look(app.clone(), ended.clone()));
    let summing = tokio::spawn(sum_up(app.service.clone(), ended.clone()));
    let operating = operators.map(|listener| {
        tracing::info!(operators = %listener.address(), "answering operators");
        let (router, telemetry) = (operators_router(app.clone()), app.telemetry.clone());
        let connections = Connections {
            most: OPERATORS_CONNECTIONS,
            most_per_address: None,
            ..Connections::default()
        };
        tokio::spawn(listener.serve(router, connections, telemetry, ended.clone()))
    });
    let serving = tokio::spawn(answer(listener, &checked.config, app, ended));
    let result = if let Some(recorder) = recorder {
        record_apart(recorder, clock, stop).await
    } else {
        // Nobody can say so any more only when the process ends.
        let _ = stop.wait_for(|stop| *stop != Stop::No).await;
        Ok(())
    };
    streaming.end_streams();
    // Both may have ended by themselves.
    let _ = end.send(true);
    let _ = serving.await;
    if let Some(operating) = operating {
        let _ = operating.await;
    }
    looking.abort();
    summing.abort();
    if let Some(sweeping) = sweeping {
        sweeping.abort();
    }
    if let Some(telling) = telling {
        // What is being sent is waited for, and marked.
        let _ = telling.await;
    }
    result
}

/// Records on threads of its own, those that may block among them: however many questions are
/// waiting for a thread, the slot that is due does not wait with them.
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
        // A chain's thread may still wait for its node; nothing it could say is wanted any more.
        recording.shutdown_background();
        // Who waits for it ends after it.
        let _ = ended.send(result);
    };
    thread.spawn(work).map_err(CliError::Start)?;
    // Without an answer the recorder panicked, and its store went with it.
    result.await.unwrap_or(Err(CliError::Recorder(RecorderError::Interrupted)))
}

/// What is served, and what is done beside it.
struct Served {
    app: App,
    room: Option<Arc<AlertsRoom>>,
}

async fn app(
    checked: &Checked,
    clock: SystemClock,
    recording: bool,
    site: Site,
) -> Result<Served, CliError> {
    let config = &checked.config;
    let now: Now = Arc::new(move || clock.now().as_secs());
    let (store, bounds) = (config.store.path.clone(), config.serve.bounds());
    let (pages, alerts) = (site.is_built(), config.alerts.enabled);
    let urls = config.http.urls();
    // It was checked with the configuration.
    let payments = config.payments.plan(&checked.plan).ok().flatten();
    let till = match payments {
        Some((plan, chain)) => {
            // A rehearsal's clock is not that of the chain that is paid on.
            let now: Now = Arc::new(|| SystemClock::default().now().as_secs());
            let logs = log_keys(config);
            Some(Till::open(plan, chain, &logs, urls.base.clone(), now).await?)
        }
        None => None,
    };
    let service =
        Service::new(store, urls, now, bounds).deployed_as(Deployment { recording, pages, alerts });
    let service = service.with_quote_groups(checked.quote_groups.clone());
    let service = service.with_redemption_terms(checked.redemption.clone());
    let service = service.with_shocks(checked.shocks.clone());
    let service = service.with_equities(checked.equities());
    let service = Arc::new(service);
    let room = match config.alerts.plan().ok().flatten() {
        // Deadlines are the machine's, also where a rehearsal's slots are not.
        Some(plan) => Some(AlertsRoom::open(plan, machine_clock())?),
        None => None,
    };
    let desk = room.clone().map(|room| Desk::new(room, service.clone()));
    let app = App {
        till,
        desk,
        service,
        telemetry: Arc::default(),
        log_folder: config.evidence.folder.clone(),
        site: Arc::new(site),
        streams: Arc::default(),
        challenges: None,
        witness: witness::of_config(config, &log_keys(config))?,
    };
    Ok(Served { app, room })
}

/// The keys of logs that are known here. One that cannot be read signs nothing here either.
fn log_keys(config: &Config) -> Vec<VerifierKey> {
    let evidence = &config.evidence;
    let files = evidence.retiring_key_file.iter().chain([&evidence.key_file]);
    let own = files.filter_map(|path| Some(read_key(path).ok()?.verifier()));
    let published = std::fs::read_to_string(evidence.folder.join("verifier-key"));
    let published = published.ok().and_then(|text| text.trim_end().parse().ok());
    own.chain(published).collect()
}

fn answer(
    listener: Listener,
    config: &Config,
    app: App,
    ended: watch::Receiver<bool>,
) -> impl Future<Output = ()> + Send + use<> {
    let http = &config.http;
    let header = http.client_ip_header.as_deref().map(str::parse).transpose();
    let limits = Limits {
        rate_per_minute: http.rate_per_minute,
        tools_per_minute: http.tools_per_minute,
        // It was checked with the configuration.
        client_ip_header: header.unwrap_or_default(),
        free: config.payments.enabled.then(|| FreeEstimates {
            per_day: config.payments.free_estimates_per_day,
            base_url: http.urls().base,
        }),
        ..Limits::default()
    };
    let urls = http.urls();
    tracing::info!(listen = %listener.address(), base_url = urls.base, web_url = urls.web, "serving");
    // A proxy in front has all the connections, and its clients in its own hands.
    let bounded = http.max_connections_per_address > 0 && limits.client_ip_header.is_none();
    let connections = Connections {
        most: http.max_connections as usize,
        most_per_address: bounded.then_some(http.max_connections_per_address as usize),
        ..Connections::default()
    };
    let operators = match config.serve.operators {
        Some(_) => Operators::Apart,
        None => Operators::Public,
    };
    let telemetry = app.telemetry.clone();
    listener.serve(router(app, &limits, operators), connections, telemetry, ended)
}

/// Looks for sealed slots, reads where the pools stand after each, and counts.
async fn look(app: App, ended: watch::Receiver<bool>) {
    while !*ended.borrow() {
        // A store that is not there yet is no failure, and any other is logged.
        if let Ok(Some(_)) = app.service.refresh().await {
            count(&app.telemetry, &app.service.current());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Keeps the table of accuracy: a row at a time, and after each as long a rest as it took.
async fn sum_up(service: Arc<Service>, ended: watch::Receiver<bool>) {
    while !*ended.borrow() {
        let began = Instant::now();
        let rest = if service.make_accuracy_row().await { began.elapsed() } else { LOOK_EVERY };
        tokio::time::sleep(rest).await;
    }
}

/// Counts what the newest slot holds.
fn count(telemetry: &Telemetry, current: &Current) {
    let (mut recorded, mut missing) = (0, BTreeMap::new());
    for now in current.pools.values() {
        match now.latest.entry.outcome {
            Outcome::Recorded(_) => recorded += 1,
            Outcome::Missing(reason) => *missing.entry(reason).or_default() += 1,
            Outcome::Retired => {}
        }
    }
    telemetry.sealed(recorded, &missing);
    telemetry.doubtful(current.doubtful_slots);
}
