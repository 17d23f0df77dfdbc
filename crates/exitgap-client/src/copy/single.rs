//! Single files of a log that is published somewhere, without a copy of all of it.

use exitgap_core::log_folder::LogFile;
use tokio::runtime::Runtime;

use super::address_of;
use super::error::CopyError;
use super::fetch::Fetcher;
use crate::{BaseUrl, Native};

/// The files of a log, asked for one by one.
pub struct LogFiles {
    runtime: Runtime,
    fetcher: Fetcher,
}

impl LogFiles {
    /// The log of the service at `base`, or that is published at an address that ends with `/log`.
    pub fn at(base: BaseUrl) -> Result<Self, CopyError> {
        let url = base.to_string();
        let unanswered = |error| CopyError::Unanswered { url: url.clone(), error };
        let native = Native::new().map_err(unanswered)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| CopyError::Folder { path: ".".into(), error })?;
        let (_, log) = runtime.block_on(address_of(&native, base))?;
        Ok(Self { runtime, fetcher: Fetcher::new(native, log) })
    }

    /// Where a file is.
    pub fn url(&self, file: &LogFile) -> String {
        self.fetcher.url(file)
    }

    /// A file of at most so many bytes; `None` where it is not there.
    pub fn bytes(&self, file: &LogFile, most: usize) -> Result<Option<Vec<u8>>, CopyError> {
        self.runtime.block_on(self.fetcher.bytes(file, most))
    }
}
