//! `follow`: a replica of another operator's log, in a separate process.

use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use exitgap_client::BaseUrl;
use exitgap_core::tlog::{MAX_KEY_FILE_BYTES, VerifierKey, keys_from_lines};
use indicatif::ProgressBar;
use tokio::sync::{oneshot, watch};

use super::http_server::{HttpServer, Listeners};
use super::record::{start_log, stop_on_signals};
use super::{CliError, runtime};
use crate::config::{HttpConfig, LogConfig, LogFormat, ServeConfig};
use crate::http::{App, Site, Telemetry};
use crate::ops::{Deployment, Now, Service};
use crate::recorder::{Clock, Stop, SystemClock};
use crate::replica::{Places, Replica, ReplicaError};

/// How long a polling round may continue once the process is about to end.
const ENDS_WITHIN: Duration = Duration::from_secs(10);

#[derive(Debug, Args)]
pub struct FollowArgs {
    /// The log: the URL of a service, or of its published folder, which ends with /log.
    #[arg(long, value_name = "URL", value_parser = address)]
    log: BaseUrl,
    /// The key that signs the log, or a file with one key per line; may be given several times. Get
    /// the key from a place you trust: the log's own /log/verifier-key proves nothing about who
    /// signs it.
    #[arg(long, value_name = "KEY", required = true)]
    trust: Vec<String>,
    /// The folder for all data: store, copy of the log, and refused data. It can be deleted;
    /// everything is downloaded again.
    #[arg(long, value_name = "FOLDER", default_value = "exitgap-replica")]
    data: PathBuf,
    /// The address to listen on; port 0 picks a free port.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// The public URL of the replica, such as `https://api.example.org`, used in links. Default:
    /// http:// and the address.
    #[arg(long, value_name = "URL", value_parser = address)]
    base_url: Option<BaseUrl>,
    /// A separate address that serves only /livez, /readyz and /metrics. Default: the same address
    /// as everything else.
    #[arg(long, value_name = "ADDRESS")]
    operators: Option<SocketAddr>,
    /// Seconds between two checks of the log, 1 to 3600.
    #[arg(long, value_name = "SECONDS", default_value_t = 2)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=3_600))]
    every_s: u32,
    /// Download what is published now, then exit without serving.
    #[arg(long, conflicts_with_all = ["listen", "base_url", "operators", "every_s", "site"])]
    once: bool,
    /// Serve the pages in this folder, as built by `cargo xtask web`, instead of the built-in pages.
    #[arg(long, value_name = "FOLDER")]
    site: Option<PathBuf>,
    /// Write log lines as JSON objects.
    #[arg(long)]
    log_json: bool,
}

fn address(text: &str) -> Result<BaseUrl, String> {
    text.parse().map_err(|_| "not a URL such as https://exitgap.example".to_owned())
}

/// Follows until stopped, or once.
pub fn follow(args: &FollowArgs) -> Result<(), CliError> {
    let format = if args.log_json { LogFormat::Json } else { LogFormat::Text };
    start_log(&LogConfig { format, ..LogConfig::default() });
    let trusted = keys(&args.trust)?;
    let places = Places::inside(&args.data);
    std::fs::create_dir_all(&args.data)
        .map_err(|source| CliError::File { path: args.data.clone(), source })?;
    if args.once {
        return once(Replica::open(args.log.clone(), places, trusted)?);
    }
    let site = match &args.site {
        Some(folder) => Site::from_folder(folder)
            .map_err(|source| CliError::File { path: folder.clone(), source })?,
        None => Site::default(),
    };
    let runtime = runtime("serve")?;
    let result = runtime.block_on(async {
        let mut http = HttpConfig { listen: args.listen, ..HttpConfig::default() };
        http.base_url = args.base_url.as_ref().map(BaseUrl::to_string);
        let serve = ServeConfig { operators: args.operators, ..ServeConfig::default() };
        let listeners = Listeners::bind(&mut http, &serve)?;
        let stop = stop_on_signals().map_err(CliError::Start)?;
        let app = app(&places, &http, &serve, site);
        let telemetry = app.telemetry.clone();
        let replica = Replica::open(args.log.clone(), places, trusted)?;
        tracing::info!(log = %args.log, held = replica.held()?, "following");
        let answering = HttpServer::begin(app, listeners, &http, None);
        let every = Duration::from_secs(args.every_s.into());
        let result = follow_apart(replica, every, telemetry, stop).await;
        answering.end().await;
        result
    });
    runtime.shutdown_background();
    result
}

/// Follows on a separate thread, until stopped or until this machine cannot continue.
async fn follow_apart(
    replica: Replica,
    every: Duration,
    telemetry: Arc<Telemetry>,
    mut stop: watch::Receiver<Stop>,
) -> Result<(), CliError> {
    let (end, ended) = watch::channel(false);
    let (done, result) = oneshot::channel();
    let work = move || {
        let followed = replica.run(every, &ended, |standing| telemetry.replica(standing));
        // The receiver lives longer than this task.
        let _ = done.send(followed);
    };
    std::thread::Builder::new().name("replica".to_owned()).spawn(work).map_err(CliError::Start)?;
    let mut result = result;
    // A slot in progress is applied completely. A second signal, or a log that does not answer, ends it immediately;
    // that is safe because a slot is committed as a whole.
    let followed = tokio::select! {
        followed = &mut result => Some(followed),
        _ = stop.wait_for(|stop| *stop != Stop::No) => None,
    };
    let followed = if let Some(followed) = followed {
        followed
    } else {
        // It may have ended by itself.
        let _ = end.send(true);
        tokio::select! {
            followed = &mut result => followed,
            _ = stop.wait_for(|stop| *stop == Stop::Now) => return Ok(()),
            () = tokio::time::sleep(ENDS_WITHIN) => return Ok(()),
        }
    };
    match followed {
        Ok(followed) => Ok(followed?),
        // Without an answer the thread panicked, and its store was dropped.
        Err(_) => Err(CliError::ReplicaCutOff),
    }
}

/// Takes what is published now, and ends.
fn once(mut replica: Replica) -> Result<(), CliError> {
    // Shown on a terminal only.
    let bar = ProgressBar::new(0);
    let before = replica.held()?;
    let looked = replica.look(&watch::channel(false).1, |held, published| {
        bar.set_length(published);
        bar.set_position(held);
    });
    bar.finish_and_clear();
    let held = looked?.held;
    let taken = held.saturating_sub(before);
    writeln!(io::stdout(), "followed {taken} slots, {held} in total").map_err(CliError::Output)
}

fn app(places: &Places, http: &HttpConfig, serve: &ServeConfig, site: Site) -> App {
    let clock = SystemClock::default();
    let now: Now = Arc::new(move || clock.now().as_secs());
    let pages = site.is_built();
    let deployed = Deployment { recording: false, pages, alerts: false };
    let service = Service::new(places.store.clone(), http.urls(), now, serve.bounds());
    App {
        till: None,
        desk: None,
        service: Arc::new(service.deployed_as(deployed)),
        telemetry: Arc::default(),
        log_folder: places.log.as_path().into(),
        site: Arc::new(site),
        described: Arc::default(),
        streams: Arc::default(),
        challenges: None,
        witness: None,
    }
}

/// The keys of `--trust`: each argument is a key or a file with one key per line.
fn keys(arguments: &[String]) -> Result<Vec<VerifierKey>, CliError> {
    let mut keys = Vec::new();
    for argument in arguments {
        let wrong = |why: String| CliError::Trust { argument: argument.clone(), why };
        match argument.parse() {
            Ok(key) => keys.push(key),
            // Report a mistyped key as such and not as a missing file.
            Err(error) if argument.contains('+') && !Path::new(argument).exists() => {
                return Err(wrong(format!("{error}")));
            }
            Err(_) => {
                let bytes = read_within(Path::new(argument), MAX_KEY_FILE_BYTES as u64 + 1);
                let bytes = bytes.map_err(|error| wrong(error.to_string()))?;
                let read = keys_from_lines(&bytes).map_err(wrong)?;
                if read.is_empty() {
                    return Err(wrong("it contains no key".to_owned()));
                }
                keys.extend(read);
            }
        }
    }
    Ok(keys)
}

fn read_within(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl From<ReplicaError> for CliError {
    fn from(error: ReplicaError) -> Self {
        Self::Replica(Box::new(error))
    }
}
