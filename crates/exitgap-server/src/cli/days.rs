//! `days`: writes the closed days of a store as files.

use std::io::{self, Write};
use std::path::Path;

use exitgap_core::tlog::SignerKey;
use exitgap_store::days::{DayWritten, DaysLog};
use exitgap_store::{LogFolder, Reader};
use indicatif::ProgressBar;

use super::CliError;
use super::bucket::bucket;
use super::key::read_key;
use crate::config::{CheckedConfig, Config};
use crate::days::{DaysCallback, DaysWriterHandle, Open, start};

/// Writes every closed day that has not been written yet.
pub fn days(path: &Path) -> Result<(), CliError> {
    let config = CheckedConfig::from_file(path)?.config;
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

/// Starts writing closed days in parallel with a recorder, if configured.
pub fn start_days(
    checked: &CheckedConfig,
    told: DaysCallback,
) -> Result<Option<DaysWriterHandle>, CliError> {
    let config = &checked.config;
    if !config.evidence.days {
        return Ok(None);
    }
    let signers = signers(config)?;
    let (folder, store) = (LogFolder::new(&config.evidence.folder), config.store.path.clone());
    let path = store.clone();
    let open: Open = Box::new(move || DaysLog::open(folder.clone(), &path, signers.clone()));
    start(open, store, told).map(Some).map_err(CliError::Start)
}

/// Opens the log of days, or starts one. If the bucket already has closed days, they are downloaded first.
fn open(config: &Config) -> Result<DaysLog, CliError> {
    let folder = LogFolder::new(&config.evidence.folder);
    let days = DaysLog::open(folder, &config.store.path, signers(config)?)?;
    if !days.is_begun()
        && let Some(bucket) = bucket(config)?
    {
        let there = bucket.days().map_err(|error| CliError::Bucket(Box::new(error)))?;
        if there > 0 {
            return Err(CliError::DaysInBucket { days: there });
        }
    }
    Ok(days)
}

fn signers(config: &Config) -> Result<Vec<SignerKey>, CliError> {
    let evidence = &config.evidence;
    let files = evidence.retiring_key_file.iter().chain([&evidence.key_file]);
    Ok(files.map(|path| read_key(path)).collect::<Result<_, _>>()?)
}
