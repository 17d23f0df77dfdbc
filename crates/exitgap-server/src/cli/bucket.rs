//! The bucket of a configuration.

use exitgap_store::{LogFolder, Reader, Store};

use super::CliError;
use crate::bucket::{Bucket, BucketTold, MirrorHandle};
use crate::config::{CheckedConfig, Config};

/// The bucket of a configuration; `None` if none is configured.
pub fn bucket(config: &Config) -> Result<Option<Bucket>, CliError> {
    // The configuration check has already validated it.
    let Some(plan) = config.bucket.plan().ok().flatten() else { return Ok(None) };
    Bucket::open(&plan).map(Some).map_err(CliError::BucketCredentials)
}

/// Requires, before anything is recorded, that the store may continue the log in the bucket. Also fails if the bucket
/// is unreachable, because it may contain slots that the store lacks.
pub fn check_bucket(config: &Config, reader: Option<&Reader>) -> Result<Option<Bucket>, CliError> {
    let Some(bucket) = bucket(config)? else { return Ok(None) };
    if let Some(reader) = reader {
        let slots = bucket.check(reader).map_err(|error| CliError::Bucket(Box::new(error)))?;
        tracing::info!(bucket = bucket.shown(), slots, "the log is uploaded to a bucket");
    }
    Ok(Some(bucket))
}

/// Makes a store claim its slots in the bucket, if configured, and seals slots that were claimed there but that it
/// lacks. Call this before comparing the store with anything published.
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

/// Starts uploading the folder of a configuration to its bucket.
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
