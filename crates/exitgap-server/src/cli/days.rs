//! `days`: closed days out of a store, as files.

use std::io::{self, Write};
use std::path::Path;

use exitgap_store::days::{DayWritten, DaysLog};
use exitgap_store::{LogFolder, Reader};
use indicatif::ProgressBar;

use super::CliError;
use super::key::read_key;
use crate::config::{Checked, Config};
use crate::days::{Told, Writing, start};

/// Writes every closed day that is not written yet.
pub fn days(path: &Path) -> Result<(), CliError> {
    let config = Checked::read(path)?.config;
    let reader = Reader::open(&config.store.path)?;
    let days = open(&config)?;
    let mut out = io::stdout();
    let mut count = 0_u64;
    loop {
        // Shown on a terminal only.
        let bar = ProgressBar::new(0);
        let written = days.write_next(&reader, |done, of| {
            bar.set_length(of as u64);
            bar.set_position(done as u64);
        });
        bar.finish_and_clear();
        let Some(DayWritten { manifest, .. }) = written? else { break };
        let bytes: u64 = manifest.files.iter().map(|file| file.bytes).sum();
        let (day, files) = (manifest.day, manifest.files.len());
        let (pools, rows) = (manifest.pools(), manifest.rows());
        writeln!(out, "wrote {day}: {rows} rows of {pools} pools, {files} files, {bytes} bytes")
            .map_err(CliError::Output)?;
        count += 1;
    }
    writeln!(out, "wrote {count} closed days; a day closes 24 hours after its end")
        .map_err(CliError::Output)
}

/// Begins to write closed days beside a recorder, where that is configured.
pub fn start_days(checked: &Checked, told: Told) -> Result<Option<Writing>, CliError> {
    let config = &checked.config;
    if !config.evidence.days {
        return Ok(None);
    }
    let days = open(config)?;
    start(days, config.store.path.clone(), told).map(Some).map_err(CliError::Start)
}

fn open(config: &Config) -> Result<DaysLog, CliError> {
    let evidence = &config.evidence;
    let files = evidence.retiring_key_file.iter().chain([&evidence.key_file]);
    let signers = files.map(|path| read_key(path)).collect::<Result<_, _>>()?;
    let folder = LogFolder::new(&evidence.folder);
    Ok(DaysLog::open(folder, &config.store.path, signers)?)
}
