//! `migrate`: a server's database, made a store.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use exitgap_store::{Migrated, is_server, migrate as migrate_store};

use super::CliError;
use crate::config::Checked;

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
}

/// Makes what is missing.
pub fn migrate(args: &MigrateArgs) -> Result<(), CliError> {
    let path = Checked::read(&args.config)?.config.store.path;
    if !is_server(&path) {
        return Err(CliError::NoServer { path });
    }
    let Migrated { made, from, to } = migrate_store(&path, &args.admin, args.reader.as_deref())?;
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
    .map_err(CliError::Output)
}
