//! `fsck`: rehashes the whole store.

use std::io::{self, Write};
use std::path::Path;

use exitgap_store::days::check_left;
use exitgap_store::{FsckCounts, LogFolder, Reader, Rebuilt, rebuild as rebuild_derived};
use indicatif::{ProgressBar, ProgressStyle};

use super::CliError;
use crate::config::CheckedConfig as Configuration;

/// Checks the store and its published log, after rebuilding the derived rows if requested.
pub fn fsck(path: &Path, derived: bool, rebuild: bool) -> Result<(), CliError> {
    let Configuration { config, .. } = Configuration::from_file(path)?;
    let mut out = io::stdout();
    let folder = LogFolder::new(&config.evidence.folder);
    if rebuild {
        let bar = bar();
        let rebuilt = rebuild_derived(&config.store.path, Some(folder.clone()), |rebuilt| {
            bar.set_length(rebuilt.of_slots);
            bar.set_position(rebuilt.slots);
        });
        bar.finish_and_clear();
        let Rebuilt { slots, rows, .. } = rebuilt?;
        writeln!(out, "rebuilt: {slots} slots, {rows} rows were wrong")
            .map_err(CliError::Output)?;
    }
    let reader = Reader::open(&config.store.path)?.with_days(folder.clone());
    let bar = bar();
    bar.set_length(reader.log_size()?);
    let progress = |checked: &FsckCounts| bar.set_position(checked.slots);
    let checked = if derived { reader.fsck_derived(progress) } else { reader.fsck(progress) };
    bar.finish_and_clear();
    let FsckCounts { slots, heads, snapshots, left, .. } = checked?;
    folder.check(&reader)?;
    check_left(&reader, &folder)?;
    let log = reader.log()?.map_or_else(|| "no log yet".to_owned(), |log| log.origin.to_string());
    let of_days = match left {
        0 => String::new(),
        _ if derived => format!(", {left} of them read from closed days"),
        _ => format!(", {left} of them in closed days, which `exitgap audit` checks"),
    };
    writeln!(out, "ok: {log}, {slots} slots, {heads} heads, {snapshots} snapshots{of_days}")
        .map_err(CliError::Output)
}

/// A progress bar, shown only on a terminal.
fn bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} slots, {eta} left") {
        bar.set_style(style);
    }
    bar
}
