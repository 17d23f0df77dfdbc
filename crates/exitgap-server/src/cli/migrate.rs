//! `migrate`: sets up a store in a server's database.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use exitgap_store::alerts::Alerts;
use exitgap_store::payments::Payments;
use exitgap_store::{MigrationReport, is_server, migrate as migrate_store, shown};

use super::CliError;
use crate::alerts::AlertsStartError;
use crate::config::{CheckedConfig, Config};
use crate::payments::TillError;

#[derive(Debug, Args)]
pub struct MigrateArgs {
    /// The configuration file.
    #[arg(long, value_name = "FILE", default_value = "exitgap.toml")]
    config: PathBuf,
    /// A URL on the same server, postgresql://<admin>@<host>/postgres, of a role that may create
    /// databases and roles. Put a password in PGPASSWORD instead of the URL.
    #[arg(long = "as", value_name = "URL")]
    admin: PathBuf,
    /// A read-only role, for machines that answer but do not record. Created if missing.
    #[arg(long, value_name = "ROLE")]
    reader: Option<String>,
    /// A role that may also write payments and alerts, for machines that answer and have the
    /// database of [payments] or [alerts] on the server. Created if missing. The recorder's role
    /// may write them too.
    #[arg(long, value_name = "ROLE")]
    service: Option<String>,
    /// Copy the payments of this file, which must no longer be in use, to the current [payments] database.
    #[arg(long, value_name = "FILE")]
    payments: Option<PathBuf>,
    /// Copy the rules, events and deliveries of this file, which must no longer be in use, to the
    /// current [alerts] database.
    #[arg(long, value_name = "FILE")]
    alerts: Option<PathBuf>,
}

/// Creates the missing tables and roles.
pub fn migrate(args: &MigrateArgs) -> Result<(), CliError> {
    let Config { store, payments, alerts, .. } = CheckedConfig::from_file(&args.config)?.config;
    let path = store.path;
    if !is_server(&path) {
        return Err(CliError::NoServer { path });
    }
    let (reader, service) = (args.reader.as_deref(), args.service.as_deref());
    let MigrationReport { made, from, to } = migrate_store(&path, &args.admin, reader, service)?;
    let mut out = io::stdout();
    for what in &made {
        let note = if what == "role exitgap_owner" || !what.starts_with("role ") {
            ""
        } else {
            ", without a password: set one if it logs in over a network"
        };
        writeln!(out, "created {what}{note}").map_err(CliError::Output)?;
    }
    match from {
        None => writeln!(out, "created the tables of schema version {to}"),
        Some(from) if from == to => writeln!(out, "the tables already have schema version {to}"),
        Some(from) => writeln!(out, "upgraded the tables from schema version {from} to {to}"),
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
