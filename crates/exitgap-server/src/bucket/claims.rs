//! Claims in the bucket for what is about to be signed: `claims/<size>`, created once, and its parts in their published
//! places.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};

use bytes::Bytes;
use exitgap_core::ids::DocumentHash;
use exitgap_core::log_folder::{LogFile, MAX_PART_BYTES, PartRef};
use exitgap_store::claims::{Claims, ClaimsError, MAX_CLAIM_BYTES};
use futures_util::{StreamExt, TryStreamExt, stream};

use super::error::BucketError;
use super::mirror::run_on_thread;
use super::objects::{Made, ObjectName, Objects};

/// How many parts are created concurrently.
const AT_ONCE: usize = 8;

/// The claims of a bucket.
#[derive(Debug)]
pub struct BucketClaims(pub(super) Objects);

/// The claim of the slot that gives a log this length. No log is empty, so the claim of 0 is used to test how the
/// storage creates objects.
struct ClaimName(u64);

/// Requires that the storage creates an object only once and rejects a second creation. Otherwise two recorders could
/// sign two different histories without being noticed.
pub async fn require_once(objects: &Objects) -> Result<(), BucketError> {
    let made = |what: &str| Bytes::from(format!("{what}: an object is made once\n"));
    objects.create_or_read(&ClaimName(0), made("exitgap")).await?;
    // Different from any content that may be there.
    let other = RandomState::new().build_hasher().finish();
    match objects.create_or_read(&ClaimName(0), made(&format!("{other:016x}"))).await? {
        Made::Other(_) => Ok(()),
        Made::Same => Err(BucketError::MadeTwice { object: objects.name(&ClaimName(0)) }),
    }
}

impl fmt::Display for ClaimName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "claims/{}", self.0)
    }
}

impl ObjectName for ClaimName {
    fn headers(&self) -> (&'static str, String) {
        ("application/octet-stream", "no-store".to_owned())
    }
}

impl Claims for BucketClaims {
    fn find(&self, size: u64) -> Result<Option<Vec<u8>>, ClaimsError> {
        let found = run_on_thread(self.0.read_object(&ClaimName(size), MAX_CLAIM_BYTES))?;
        Ok(found.map(|found| found.bytes.into()))
    }

    fn part(&self, part: &PartRef) -> Result<Vec<u8>, ClaimsError> {
        let file = LogFile::Part(part.sha256);
        let found = run_on_thread(self.0.read_object(&file, MAX_PART_BYTES))?;
        let absent = || BucketError::Absent { path: self.0.name(&file).into() };
        Ok(found.ok_or_else(absent)?.bytes.into())
    }

    fn put(
        &self,
        size: u64,
        claim: &[u8],
        parts: &[(DocumentHash, &[u8])],
    ) -> Result<bool, ClaimsError> {
        let parts: Vec<_> =
            parts.iter().map(|(hash, bytes)| (*hash, Bytes::copy_from_slice(bytes))).collect();
        let claim = Bytes::copy_from_slice(claim);
        let made = run_on_thread(async {
            let parts = stream::iter(parts).map(|(hash, bytes)| async move {
                self.0.create(&LogFile::Part(hash), bytes).await
            });
            parts.buffer_unordered(AT_ONCE).try_collect::<()>().await?;
            self.0.create_or_read_up_to(&ClaimName(size), claim, MAX_CLAIM_BYTES).await
        })?;
        Ok(made == Made::Same)
    }
}
