//! `alerts`: evaluates the stored rules and sends their events, in a separate process.

use std::path::PathBuf;

use clap::Args;
use exitgap_store::{LogFolder, shown};
use tokio::sync::watch;

use super::databases::{Content, check_database};
use super::record::{start_log, stop_on_signals};
use super::{CliError, runtime};
use crate::alerts::{AlertsRoom, machine_clock};
use crate::config::CheckedConfig;
use crate::recorder::Stop;

#[derive(Debug, Args)]
pub struct AlertsArgs {
    /// The configuration file.
    #[arg(long, value_name = "FILE", default_value = "exitgap.toml")]
    config: PathBuf,
}

/// Evaluates rules and sends events until stopped.
pub fn alerts(args: &AlertsArgs) -> Result<(), CliError> {
    let checked = CheckedConfig::from_file(&args.config)?;
    start_log(&checked.config.log);
    // The configuration check has already validated it.
    let plan = checked.config.alerts.plan().ok().flatten();
    let plan = plan.ok_or_else(|| CliError::AlertsOff { path: args.config.clone() })?;
    check_database(Content::Alerts, &checked.config.alerts.database)?;
    let room = AlertsRoom::open(plan, machine_clock())?;
    let runtime = runtime("alerts")?;
    let result = runtime.block_on(async {
        let mut stop = stop_on_signals().map_err(CliError::Start)?;
        let (end, ended) = watch::channel(false);
        let store = checked.config.store.path.clone();
        tracing::info!(store = %shown(&store), "evaluating the stored alert rules");
        let folder = LogFolder::new(&checked.config.evidence.folder);
        let mut running = tokio::spawn(room.run(store, folder, ended, |_| {}));
        tokio::select! {
            done = &mut running => return done.unwrap_or(Ok(())).map_err(CliError::from),
            _ = stop.wait_for(|stop| *stop != Stop::No) => {}
        }
        // It may have ended by itself.
        let _ = end.send(true);
        running.await.unwrap_or(Ok(())).map_err(CliError::from)
    });
    runtime.shutdown_background();
    result
}
