//! `successor`: a log after one whose data is gone for good.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use exitgap_store::{LogFolder, Lost, Store, StoreError};
use indicatif::ProgressBar;

use super::CliError;
use super::key::read_key;
use crate::config::Checked;

#[derive(Debug, Args)]
pub struct SuccessorArgs {
    /// The folder of the log that is lost: at least its `checkpoint` and `verifier-key`.
    #[arg(long, value_name = "FOLDER")]
    of: PathBuf,
    /// The configuration file: store, key and folder of the new log.
    #[arg(long, value_name = "FILE", default_value = "exitgap.toml")]
    config: PathBuf,
}

/// Ends the log in one folder and makes the store of the one that succeeds it.
pub fn successor(args: &SuccessorArgs) -> Result<(), CliError> {
    let config = Checked::read(&args.config)?.config;
    let key = read_key(&config.evidence.key_file)?;
    let (old, store) = (LogFolder::new(&args.of), &config.store.path);
    let same = |path: &PathBuf| path.canonicalize().ok();
    if same(&args.of).is_some() && same(&args.of) == same(&config.evidence.folder) {
        return Err(CliError::SuccessorInPlace { folder: args.of.clone() });
    }
    // Shown on a terminal only.
    let bar = ProgressBar::new(0);
    let lost = old.lost(|done, of| {
        bar.set_length(of);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    let Lost { state, file, reason } = lost?;
    let name = key.verifier().name().to_owned();
    if state.origin.name() == name {
        return Err(StoreError::SameName { name }.into());
    }
    if store.exists() {
        return Err(StoreError::AlreadyExists { path: store.clone() }.into());
    }
    // First the end, then the beginning: never are there two logs that go on.
    old.supersede(&name)?;
    Store::create_successor(store, &key, &state)?.close()?;
    let mut err = io::stderr();
    let _ = writeln!(err, "lost: {}: {reason}", file.display());
    let _ = writeln!(err, "made {}; `exitgap-server record` begins the log", store.display());
    writeln!(io::stdout(), "{name} succeeds {} of {} slots", state.origin, state.size)
        .map_err(CliError::Output)
}
