//! `migrate`: a server's database, made a store.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use exitgap_store::alerts::Alerts;
use exitgap_store::payments::Payments;
use exitgap_store::{Migrated, is_server, migrate as migrate_store, shown};

use super::CliError;
use crate::alerts::AlertsStartError;
use crate::config::{Checked, Config};
use crate::payments::TillError;

#[derive(Debug, Args)]
pub struct MigrateArgs {
    /// The configuration file.
    #[arg(long, value_name = "FILE", default_value = "exitgap.toml")]
    config: PathBuf,
    /// Who makes it: a URL of the same server, postgresql://<admin>@<host>/postgres, of somebody who may make databases and
    /// roles. A password is better in PGPASSWORD.
    #[arg(long = "as", value_name = "URL")]
    admin: PathBuf,
    /// A role that may only read, such as that of machines that answer and do not record. Made where it is not there.
    #[arg(long, value_name = "ROLE")]
    reader: Option<String>,
    /// A role that may do the same, and write payments and alerts: of machines that answer, where [payments] or [alerts] have
    /// their database on the server. Made where it is not there. Whoever records may, too.
    #[arg(long, value_name = "ROLE")]
    service: Option<String>,
    /// Copies the payments of this file, that nothing writes any more, to where [payments] database is now.
    #[arg(long, value_name = "FILE")]
    payments: Option<PathBuf>,
    /// Copies the rules, events and deliveries of this file, that nothing writes any more, to where [alerts] database is now.
    #[arg(long, value_name = "FILE")]
    alerts: Option<PathBuf>,
}

/// Makes what is missing.
pub fn migrate(args: &MigrateArgs) -> Result<(), CliError> {
    let Config { store, payments, alerts, .. } = Checked::read(&args.config)?.config;
    let path = store.path;
    if !is_server(&path) {
        return Err(CliError::NoServer { path });
    }
    let (reader, service) = (args.reader.as_deref(), args.service.as_deref());
    let Migrated { made, from, to } = migrate_store(&path, &args.admin, reader, service)?;
    let mut out = io::stdout();
    for what in &made {
        let note = if what == "role exitgap_owner" || !what.starts_with("role ") {
            ""
        } else {
            ", without a password: give it one where it logs in over a network"
        };
        writeln!(out, "made {what}{note}").map_err(CliError::Output)?;
    }
    match from {
        None => writeln!(out, "made the tables of schema version {to}"),
        Some(from) if from == to => writeln!(out, "the tables have schema version {to} already"),
        Some(from) => writeln!(out, "brought the tables from schema version {from} to {to}"),
    }
    .map_err(CliError::Output)?;
    let mut told = |rows: u64, what: &str, from: &Path, to: &Path| {
        let (from, to) = (shown(from), shown(to));
        writeln!(out, "copied {rows} rows of {what} from {from} to {to}").map_err(CliError::Output)
    };
    if let Some(file) = &args.payments {
        let copied = Payments::open(&payments.database).and_then(|to| to.copy_from(file));
        let rows = copied.map_err(TillError::Database)?;
        told(rows, "payments", file, &payments.database)?;
    }
    if let Some(file) = &args.alerts {
        let copied = Alerts::open(&alerts.database).and_then(|to| to.copy_from(file));
        let rows = copied.map_err(AlertsStartError::Alerts)?;
        told(rows, "alerts", file, &alerts.database)?;
    }
    Ok(())
}
