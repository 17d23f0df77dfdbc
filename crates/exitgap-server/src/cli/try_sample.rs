//! `try`: serves the embedded sample, without a node, a configuration or a network.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use exitgap_core::tlog::VerifierKey;
use exitgap_sample::{Archive, LOG_FOLDER, VERIFIER_KEY};
use exitgap_store::{LogFolder, Store};

use super::http_server::{HttpServer, Listeners};
use super::record::{start_log, stop_on_signals};
use super::{CliError, runtime};
use crate::config::{HttpConfig, LogConfig, LogLevel, ServeConfig};
use crate::http::{App, Site};
use crate::ops::{Deployment, Now, Service};
use crate::recorder::Stop;

#[derive(Debug, Args)]
pub struct TryArgs {
    /// The address to listen on; port 0 picks a free port.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Serve the pages in this folder, as built by `cargo xtask web`, instead of the built-in pages.
    #[arg(long, value_name = "FOLDER")]
    site: Option<PathBuf>,
}

/// How many names are tried for the folder of the unpacked sample.
const MAX_NAMES: u32 = 100;

/// The sample's newest checkpoint, and its tiles.
const CHECKPOINT: &str = "log/checkpoint";
const TILES: &str = "log/tile/";

/// The unpacked sample, in a folder that is removed at the end.
struct Unpacked {
    folder: PathBuf,
}

impl Drop for Unpacked {
    fn drop(&mut self) {
        // Leftovers are in the system's folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Unpacked {
    /// Unpacks the log, and builds a store from it: each slot is checked against its signed checkpoint.
    fn new() -> Result<Self, CliError> {
        let unpacked = Self { folder: new_folder()? };
        let recorded = exitgap_sample::recorded().map_err(CliError::Sample)?;
        let note = recorded.file(CHECKPOINT).map(String::from_utf8_lossy).unwrap_or_default();
        // The checkpoint and the tiles are written while the log is followed, as in a replica.
        let files = recorded.files().iter();
        let slots = files.filter(|file| file.path != CHECKPOINT && !file.path.starts_with(TILES));
        let written = Archive::new(slots.cloned().collect()).write_to(&unpacked.folder);
        written.map_err(|source| CliError::File { path: unpacked.folder.clone(), source })?;
        let keys = sample_key()?;
        let mut store = Store::open_follower(unpacked.store(), &keys)?;
        LogFolder::new(unpacked.log()).follow(&mut store, &note, &keys, u64::MAX)?;
        store.close()?;
        Ok(unpacked)
    }

    fn log(&self) -> PathBuf {
        self.folder.join(LOG_FOLDER)
    }

    fn store(&self) -> PathBuf {
        self.folder.join("exitgap.db")
    }
}

/// A new folder that only this user can read.
fn new_folder() -> Result<PathBuf, CliError> {
    let (parent, id) = (std::env::temp_dir(), std::process::id());
    let mut result = Err(io::Error::from(io::ErrorKind::AlreadyExists));
    for number in 0..MAX_NAMES {
        let folder = parent.join(format!("exitgap-try-{id}-{number}"));
        result = std::fs::DirBuilder::new().mode(0o700).create(&folder);
        match &result {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(_) => break,
        }
    }
    result.map(|()| parent.clone()).map_err(|source| CliError::File { path: parent, source })
}

fn sample_key() -> Result<Vec<VerifierKey>, CliError> {
    let wrong = |why: String| CliError::Trust { argument: "the sample's key".to_owned(), why };
    let key = VERIFIER_KEY.trim_end().parse();
    key.map(|key| vec![key]).map_err(|error| wrong(format!("{error}")))
}

/// Serves until stopped.
pub fn try_sample(args: &TryArgs) -> Result<(), CliError> {
    start_log(&LogConfig { level: LogLevel::Warn, ..LogConfig::default() });
    let site = match &args.site {
        Some(folder) => Site::from_folder(folder)
            .map_err(|source| CliError::File { path: folder.clone(), source })?,
        None => Site::default(),
    };
    let runtime = runtime("serve")?;
    let result = runtime.block_on(async {
        let mut http = HttpConfig { listen: args.listen, ..HttpConfig::default() };
        let serve = ServeConfig::default();
        let listeners = Listeners::bind(&mut http, &serve)?;
        let mut stop = stop_on_signals().map_err(CliError::Start)?;
        // Takes some seconds, in which nothing else is said. Not being able to say so is no reason to stop.
        let _ = writeln!(io::stderr(), "Checking the sample's signed slots …");
        let unpacked = Unpacked::new()?;
        let app = app(&unpacked, &http, &serve, site);
        let has_pages = app.site.is_built();
        // So that the first answer has the sample's pools, also on a busy machine.
        if let Err(problem) = app.service.refresh().await {
            tracing::warn!(
                detail = problem.detail,
                "the sample is read again while pages are served"
            );
        }
        let answering = HttpServer::begin(app, listeners, &http, None);
        let said = say_where(&http.urls().base, has_pages);
        if said.is_ok() {
            // The sender is dropped only when the process ends.
            let _ = stop.wait_for(|stop| *stop != Stop::No).await;
        }
        answering.end().await;
        said
    });
    runtime.shutdown_background();
    result
}

fn app(unpacked: &Unpacked, http: &HttpConfig, serve: &ServeConfig, site: Site) -> App {
    // The clock stands still: the newest slot of the sample is always the current one.
    let now: Now = Arc::new(exitgap_sample::now_s);
    let deployed = Deployment { recording: false, pages: site.is_built(), alerts: false };
    let log: &Path = &unpacked.log();
    let service = Service::new(unpacked.store(), http.urls(), now, serve.bounds());
    App {
        till: None,
        desk: None,
        service: Arc::new(service.deployed_as(deployed).with_days(&LogFolder::new(log))),
        telemetry: Arc::default(),
        log_folder: log.into(),
        site: Arc::new(site),
        described: Arc::default(),
        streams: Arc::default(),
        challenges: None,
        witness: None,
    }
}

/// Prints the address and how to stop.
fn say_where(base: &str, has_pages: bool) -> Result<(), CliError> {
    let what = if has_pages { "Pages and API" } else { "API (this build contains no pages)" };
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "SAMPLE DATA: a simulated market, recorded for seven days and signed. These are not market prices.\n\
         {what}: {base}/\n\
         The clock stands at the end of the sample. Nothing is recorded. Press Ctrl-C to stop."
    )
    .and_then(|()| out.flush())
    .map_err(CliError::Output)
}
