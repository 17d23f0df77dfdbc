//! The bucket of a configuration.

use exitgap_store::{LogFolder, Reader, Store};

use super::CliError;
use crate::bucket::{Bucket, BucketTold, MirrorHandle};
use crate::config::{CheckedConfig, Config};

/// The bucket that a configuration names; `None`: it names none.
pub fn bucket(config: &Config) -> Result<Option<Bucket>, CliError> {
    // It was checked with the configuration.
    let Some(plan) = config.bucket.plan().ok().flatten() else { return Ok(None) };
    Bucket::open(&plan).map(Some).map_err(CliError::BucketCredentials)
}

/// Requires that the store may go on with what the bucket has, before anything is recorded. Refused also where it cannot be
/// asked: it may have slots that the store does not.
pub fn check_bucket(config: &Config, reader: Option<&Reader>) -> Result<Option<Bucket>, CliError> {
    let Some(bucket) = bucket(config)? else { return Ok(None) };
    if let Some(reader) = reader {
        let slots = bucket.check(reader).map_err(|error| CliError::Bucket(Box::new(error)))?;
        tracing::info!(bucket = bucket.shown(), slots, "the log is uploaded to a bucket");
    }
    Ok(Some(bucket))
}

/// Has a store claim its slots in the bucket, where the configuration says so, and seals what was claimed there and it lacks:
/// before anything that is published is held against it.
pub fn claim_in_bucket(config: &Config, store: &mut Store) -> Result<(), CliError> {
    let Some(bucket) = bucket(config)?.filter(|_| config.bucket.claims) else { return Ok(()) };
    bucket.check_claims().map_err(|error| CliError::Bucket(Box::new(error)))?;
    store.claim_in(bucket.claims());
    let folder = LogFolder::new(&config.evidence.folder);
    while let Some(slot) = folder.seal_claimed(store)? {
        tracing::warn!(%slot, bucket = bucket.shown(), "sealed as claimed earlier");
    }
    Ok(())
}

/// Begins to bring the folder of a configuration into its bucket.
pub fn start_bucket(
    bucket: Bucket,
    checked: &CheckedConfig,
    told: impl Fn(BucketTold) + Send + 'static,
) -> Result<MirrorHandle, CliError> {
    let Config { evidence, store, .. } = &checked.config;
    let folder = LogFolder::new(&evidence.folder);
    let started = bucket.start(folder, store.path.clone(), Box::new(told));
    started.map_err(|error| CliError::Bucket(Box::new(error)))
}
