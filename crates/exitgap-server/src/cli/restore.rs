//! `restore`: restores a lost store from its published log.

use std::io::{self, Write};
use std::path::Path;

use exitgap_store::{LogFolder, Store, StoreError};
use indicatif::ProgressBar;

use super::CliError;
use super::bucket::bucket;
use super::key::read_key;
use crate::config::CheckedConfig;

/// Applies the published slots that the store lacks.
pub fn restore(path: &Path) -> Result<(), CliError> {
    let config = CheckedConfig::from_file(path)?.config;
    let key = read_key(&config.evidence.key_file)?;
    let mut store = match Store::open(&config.store.path, &key) {
        Err(StoreError::NotFound { .. }) => Store::create(&config.store.path, &key)?,
        opened => opened?,
    };
    // Shown on a terminal only.
    let bar = ProgressBar::new(0);
    let folder = LogFolder::new(&config.evidence.folder);
    if let Some(bucket) = bucket(&config)? {
        let progress = |done, of| {
            bar.set_length(of);
            bar.set_position(done);
        };
        let files = bucket.fetch(&folder, progress);
        let files = files.map_err(|error| CliError::Bucket(Box::new(error)))?;
        writeln!(io::stdout(), "downloaded {files} files from {}", bucket.shown())
            .map_err(CliError::Output)?;
    }
    let restored = folder.restore(&mut store, |done, of| {
        bar.set_length(of);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    let slots = restored?;
    store.close()?;
    writeln!(io::stdout(), "restored {slots} slots").map_err(CliError::Output)
}
