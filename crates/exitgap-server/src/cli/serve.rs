//! `serve`: recorder and service in one process.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use exitgap_store::Outcome;
use tokio::sync::watch;

use super::record::{clock, recorder, run, start_log, stop_on_signals};
use super::slot_arg::SlotArg;
use super::{CliError, runtime};
use crate::config::{Checked, Config};
use crate::http::{App, Limits, Listener, Telemetry, has_pages, router};
use crate::ops::{Current, Deployment, Now, Service};
use crate::recorder::{Clock, Stop, SystemClock};

/// How often is looked whether a slot was sealed.
const LOOK_EVERY: Duration = Duration::from_millis(500);

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
    /// Rehearsal: the clock shows this slot's instant at the start, and goes on from there.
    ///
    /// For development chains whose time is not today's. Refused where a chain is live.
    #[arg(long, value_name = "SLOT")]
    rehearse_at: Option<SlotArg>,
}

/// Serves until it is told to end.
pub fn serve(args: &ServeArgs) -> Result<(), CliError> {
    let mut checked = Checked::read(&args.config)?;
    start_log(&checked.config.log);
    if let Some(listen) = args.listen {
        checked.config.http.listen = listen;
    }
    let clock = clock(args.rehearse_at, &checked.plan)?;
    let runtime = runtime()?;
    let result = runtime.block_on(serve_until_told(checked, clock, !args.no_record));
    // A chain's thread may still wait for its node; nothing it could say is wanted any more.
    runtime.shutdown_background();
    result
}

async fn serve_until_told(
    mut checked: Checked,
    clock: SystemClock,
    record: bool,
) -> Result<(), CliError> {
    // An address in use is told before a store is opened or begun.
    let listener = Listener::bind(checked.config.http.listen).await?;
    checked.config.http.listen = listener.address();
    let mut stop = stop_on_signals().map_err(CliError::Start)?;
    let recorder = record.then(|| recorder(&checked)).transpose()?;

    let app = app(&checked.config, clock, record);
    let (end, ended) = watch::channel(false);
    let looking = tokio::spawn(look(app.clone(), ended.clone()));
    let serving = tokio::spawn(answer(listener, &checked.config, app, ended));
    let result = if let Some(recorder) = recorder {
        run(recorder, clock, stop, None).await
    } else {
        // Nobody can say so any more only when the process ends.
        let _ = stop.wait_for(|stop| *stop != Stop::No).await;
        Ok(())
    };
    // Both may have ended by themselves.
    let _ = end.send(true);
    let _ = serving.await;
    looking.abort();
    result
}

fn app(config: &Config, clock: SystemClock, recording: bool) -> App {
    let now: Now = Arc::new(move || clock.now().as_secs());
    let service = Service::new(config.store.path.clone(), config.http.urls(), now)
        .deployed_as(Deployment { recording, pages: has_pages() });
    App {
        service: Arc::new(service),
        telemetry: Arc::default(),
        log_folder: config.evidence.folder.clone(),
    }
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
        // It was checked with the configuration.
        client_ip_header: header.unwrap_or_default(),
    };
    let urls = http.urls();
    tracing::info!(listen = %listener.address(), base_url = urls.base, web_url = urls.web, "serving");
    let most = usize::try_from(http.max_connections).unwrap_or(usize::MAX);
    let telemetry = app.telemetry.clone();
    listener.serve(router(app, &limits), most, telemetry, ended)
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

/// Counts what the newest slot holds.
fn count(telemetry: &Telemetry, current: &Current) {
    let (mut recorded, mut missing) = (0, BTreeMap::new());
    for now in current.pools.values() {
        match now.latest.entry.outcome {
            Outcome::Recorded(_) => recorded += 1,
            Outcome::Missing(reason) => *missing.entry(reason.code()).or_default() += 1,
            Outcome::Retired => {}
        }
    }
    telemetry.sealed(recorded, &missing);
}
