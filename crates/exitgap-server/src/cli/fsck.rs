//! `fsck`: the whole store, hashed again.

use std::io::{self, Write};
use std::path::Path;

use exitgap_store::{Checked, LogFolder, Reader};
use indicatif::{ProgressBar, ProgressStyle};

use super::CliError;
use crate::config::Checked as Configuration;

/// Checks the store and what is published of it.
pub fn fsck(path: &Path) -> Result<(), CliError> {
    let Configuration { config, .. } = Configuration::read(path)?;
    let reader = Reader::open(&config.store.path)?;
    // Shown on a terminal only.
    let bar = ProgressBar::new(reader.log_size()?);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} slots, {eta} left") {
        bar.set_style(style);
    }
    let checked = reader.fsck(|checked| bar.set_position(checked.slots));
    bar.finish_and_clear();
    let Checked { slots, heads, snapshots, .. } = checked?;
    LogFolder::new(&config.evidence.folder).check(&reader)?;
    let log = reader.log()?.map_or_else(|| "no log yet".to_owned(), |log| log.origin.to_string());
    let mut out = io::stdout();
    writeln!(out, "ok: {log}, {slots} slots, {heads} heads, {snapshots} snapshots")
        .map_err(CliError::Output)
}
