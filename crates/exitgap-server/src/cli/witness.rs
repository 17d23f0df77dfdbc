//! `witness`: a witness for other logs, in a separate process.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use exitgap_core::tlog::VerifierKey;
use tokio::sync::watch;

use super::databases::{Content, check_database};
use super::record::{start_log, stop_on_signals};
use super::{CliError, runtime};
use crate::config::{Config, LogConfig};
use crate::http::{Connections, Limits, Listener, witness_router};
use crate::recorder::{Clock, Stop, SystemClock};
use crate::witness::{Stand, StandError, WitnessConfig, WitnessedLog};

#[derive(Debug, Args)]
pub struct WitnessArgs {
    /// The public key of a log to cosign, as printed by its `key new` or in its /log/verifier-key;
    /// may be given several times.
    #[arg(long = "log", value_name = "KEY", required_unless_present = "log_list")]
    logs: Vec<String>,
    /// A file with more logs, in the list format of witness networks (logs/v0).
    #[arg(long, value_name = "FILE")]
    log_list: Option<PathBuf>,
    /// The cosigning key, created by `exitgap-server key witness`.
    #[arg(long, value_name = "FILE", default_value = "witness.key")]
    key: PathBuf,
    /// The file with the last cosigned checkpoint of each log; created if missing. If it is lost,
    /// the witness could cosign a different history.
    #[arg(long, value_name = "FILE", default_value = "witness.db")]
    database: PathBuf,
    /// The address to listen on; port 0 picks a free port. Logs send checkpoints to /witness/add-checkpoint.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8081")]
    listen: SocketAddr,
}

/// Cosigns until stopped.
pub fn witness(args: &WitnessArgs) -> Result<(), CliError> {
    start_log(&LogConfig::default());
    let named = WitnessConfig {
        logs: args.logs.clone(),
        log_list: args.log_list.clone(),
        ..WitnessConfig::default()
    };
    let logs = named.all_logs().map_err(|(key, error)| {
        let key = if key == "log_list" { "--log-list" } else { "--log" };
        CliError::WitnessLogs { key: key.to_owned(), error }
    })?;
    check_database(Content::Witness, &args.database)?;
    let stand = Arc::new(open(&args.key, &args.database, logs)?);
    let runtime = runtime("witness")?;
    let result = runtime.block_on(async {
        let listener = Listener::bind(args.listen, "--listen")?;
        let mut stop = stop_on_signals().map_err(CliError::Start)?;
        let (end, ended) = watch::channel(false);
        tracing::info!(listen = %listener.address(), key = %stand.key(), "witnessing");
        let router = witness_router(stand, &Limits::default());
        let serving =
            tokio::spawn(listener.serve(router, Connections::default(), Arc::default(), ended));
        // The sender is dropped only when the process ends.
        let _ = stop.wait_for(|stop| *stop != Stop::No).await;
        // It may have ended by itself.
        let _ = end.send(true);
        let _ = serving.await;
        Ok(())
    });
    runtime.shutdown_background();
    result
}

/// The witness configured to run with a service; `None` if it watches no log.
pub fn of_config(
    config: &Config,
    own_logs: &[VerifierKey],
) -> Result<Option<Arc<Stand>>, CliError> {
    // The configuration check has already validated it; the list may have changed since.
    let logs = config.witness.all_logs();
    let logs = logs
        .map_err(|(key, error)| CliError::WitnessLogs { key: format!("[witness] {key}"), error })?;
    let count = logs.len();
    if logs.is_empty() {
        return Ok(None);
    }
    let path = &config.witness.key_file;
    let stand = open(path, &config.witness.database, logs)?;
    if own_logs.iter().any(|log| log.public_bytes() == stand.key().public_bytes()) {
        return Err(StandError::LogsKey { path: path.clone() }.into());
    }
    tracing::info!(key = %stand.key(), logs = count, "witnessing");
    Ok(Some(Arc::new(stand)))
}

fn open(key: &Path, database: &Path, logs: Vec<WitnessedLog>) -> Result<Stand, StandError> {
    // Cosignatures need real time, not a rehearsal's clock.
    let now_s = || SystemClock::default().now().as_secs();
    Stand::open(key, database, logs, Arc::new(now_s))
}
