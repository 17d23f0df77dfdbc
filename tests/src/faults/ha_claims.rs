//! A folder in place of a bucket: each file is created once and completely, by the first writer.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use exitgap_core::ids::DocumentHash;
use exitgap_core::log_folder::PartRef;
use exitgap_store::claims::{Claims, ClaimsError};

/// The claims in a folder.
pub struct FolderClaims(pub PathBuf);

impl FolderClaims {
    /// Creates a file by linking to a complete one; returns whether this is the first, or has the same content.
    fn create(&self, name: &str, bytes: &[u8]) -> io::Result<bool> {
        let path = self.0.join(name);
        let aside = tempfile::NamedTempFile::new_in(&self.0)?;
        fs::write(aside.path(), bytes)?;
        match fs::hard_link(aside.path(), &path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Ok(fs::read(path)? == bytes)
            }
            linked => linked.map(|()| true),
        }
    }

    fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
        match fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => read.map(Some),
        }
    }
}

impl Claims for FolderClaims {
    fn find(&self, size: u64) -> Result<Option<Vec<u8>>, ClaimsError> {
        Ok(Self::read(&self.0.join(size.to_string()))?)
    }

    fn part(&self, part: &PartRef) -> Result<Vec<u8>, ClaimsError> {
        let found = Self::read(&self.0.join(part.sha256.to_string()))?;
        Ok(found.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?)
    }

    fn put(
        &self,
        size: u64,
        claim: &[u8],
        parts: &[(DocumentHash, &[u8])],
    ) -> Result<bool, ClaimsError> {
        for (hash, bytes) in parts {
            self.create(&hash.to_string(), bytes)?;
        }
        Ok(self.create(&size.to_string(), claim)?)
    }
}
