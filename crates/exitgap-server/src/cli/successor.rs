//! `successor`: starts a new log after one whose data is permanently lost, or whose key was compromised.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use exitgap_core::evidence::Predecessor;
use exitgap_store::{LogFolder, Lost, Store, StoreError, is_server, shown};
use indicatif::ProgressBar;

use super::CliError;
use super::key::read_key;
use crate::config::CheckedConfig;

#[derive(Debug, Args)]
pub struct SuccessorArgs {
    /// The folder of the lost log, with at least its `checkpoint` and `verifier-key`.
    #[arg(long, value_name = "FOLDER")]
    of: PathBuf,
    /// End the log because its key is compromised, although no data is lost.
    ///
    /// Anyone with the key can sign another history in the log's name. First make sure that the
    /// folder is still yours: audit it against a checkpoint kept in another place.
    #[arg(long)]
    key_stolen: bool,
    /// The configuration file with store, key and folder of the new log.
    #[arg(long, value_name = "FILE", default_value = "exitgap.toml")]
    config: PathBuf,
}

/// Ends the log in one folder, and creates the store of its successor.
pub fn successor(args: &SuccessorArgs) -> Result<(), CliError> {
    let config = CheckedConfig::from_file(&args.config)?.config;
    let key = read_key(&config.evidence.key_file)?;
    let (old, store) = (LogFolder::new(&args.of), &config.store.path);
    let same = |path: &PathBuf| path.canonicalize().ok();
    if same(&args.of).is_some() && same(&args.of) == same(&config.evidence.folder) {
        return Err(CliError::SuccessorInPlace { folder: args.of.clone() });
    }
    let (state, why) = if args.key_stolen {
        (
            old.last_state()?,
            "its key is compromised: tell all users, with the log's last size".to_owned(),
        )
    } else {
        lost(&old)?
    };
    let name = key.verifier().name().to_owned();
    if state.origin.name() == name {
        return Err(StoreError::SameName { name }.into());
    }
    if is_server(store) {
        // Make sure that the new log can start there before the old one ends.
        Store::create(store, &key)?.close()?;
    } else if store.exists() {
        return Err(StoreError::AlreadyExists { path: store.clone() }.into());
    }
    // End the old log first, then begin the new one, so that two logs never continue at the same time.
    old.supersede(&name)?;
    Store::create_successor(store, &key, &state)?.close()?;
    let mut err = io::stderr();
    let _ = writeln!(err, "ended: {why}");
    let _ = writeln!(err, "created {}; `exitgap-server record` starts the log", shown(store));
    writeln!(io::stdout(), "{name} succeeds {} with {} slots", state.origin, state.size)
        .map_err(CliError::Output)
}

/// The log's last state, and the missing file.
fn lost(old: &LogFolder) -> Result<(Predecessor, String), CliError> {
    // Shown on a terminal only.
    let bar = ProgressBar::new(0);
    let lost = old.lost(|done, of| {
        bar.set_length(of);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    let Lost { state, file, reason } = lost?;
    Ok((state, format!("lost: {}: {reason}", file.display())))
}
