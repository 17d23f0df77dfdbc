//! What is about to be signed, claimed in the bucket: `claims/<size>`, made once, and its parts where they are published.

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

/// How many parts are made side by side.
const AT_ONCE: usize = 8;

/// The claims of a bucket.
#[derive(Debug)]
pub struct BucketClaims(pub(super) Objects);

/// The claim of the slot that makes a log so long. None is empty: where 0's would be it is tried how objects are made.
struct ClaimName(u64);

/// Requires that the storage makes an object once, whoever asks for it again: else two recorders could sign two histories, and
/// nobody would hear of it.
pub async fn require_once(objects: &Objects) -> Result<(), BucketError> {
    let made = |what: &str| Bytes::from(format!("{what}: an object is made once\n"));
    objects.create_or_read(&ClaimName(0), made("exitgap")).await?;
    // Unlike any that may be there.
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
