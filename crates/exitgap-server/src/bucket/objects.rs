//! One object of the bucket: read within a bound, made once, or put in the place of the one that was read.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use exitgap_core::log_folder::LogFile;
use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{
    Attribute, AttributeValue, Attributes, Error, ObjectStore, ObjectStoreExt, PutMode, PutOptions,
    PutPayload, UpdateVersion,
};

use super::error::BucketError;
use crate::http::log_file_headers;

/// The objects of a bucket that are a log's files.
#[derive(Debug, Clone)]
pub struct Objects {
    store: Arc<dyn ObjectStore>,
    /// The bucket, for people.
    shown: String,
    prefix: Path,
}

/// What an object is called, and what it is.
pub trait ObjectName: std::fmt::Display + Sync {
    /// Its media type, and how long who stands between may keep it.
    fn headers(&self) -> (&'static str, String);
}

impl ObjectName for LogFile {
    /// As the service's own `/log` says them, for whoever stands before the bucket.
    fn headers(&self) -> (&'static str, String) {
        log_file_headers(self)
    }
}

/// An object as it was read.
#[derive(Debug, Clone)]
pub struct StoredObject {
    /// Its bytes.
    pub bytes: Bytes,
    version: UpdateVersion,
}

/// What came of making an object that is made once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Made {
    /// It is there now, or was with the same bytes.
    Same,
    /// It was there, with these.
    Other(Bytes),
}

impl Objects {
    /// The objects of a store whose names begin with `prefix`.
    pub fn new(store: Arc<dyn ObjectStore>, shown: String, prefix: &str) -> Self {
        Self { store, shown, prefix: Path::from(prefix) }
    }

    /// An object's name, for people.
    pub fn name(&self, file: &impl ObjectName) -> String {
        format!("{}/{file}", self.shown)
    }

    /// The bucket, as errors name it.
    pub fn place(&self) -> PathBuf {
        PathBuf::from(&self.shown)
    }

    /// An object of at most so many bytes; `None` where it is not there.
    pub async fn read_object(
        &self,
        file: &impl ObjectName,
        most: u64,
    ) -> Result<Option<StoredObject>, BucketError> {
        let found = match self.store.get(&self.path(&file.to_string())).await {
            Err(Error::NotFound { .. }) => return Ok(None),
            found => found.map_err(|error| self.file_error(file, error))?,
        };
        let length = found.meta.size;
        if length > most {
            let object = self.name(file);
            return Err(BucketError::TooLarge { object, found: length, most });
        }
        let (e_tag, version) = (found.meta.e_tag.clone(), found.meta.version.clone());
        let mut pieces = found.into_stream();
        let mut bytes = Vec::new();
        while let Some(piece) =
            pieces.try_next().await.map_err(|error| self.file_error(file, error))?
        {
            bytes.extend_from_slice(&piece);
            if bytes.len() as u64 > most {
                let (object, found) = (self.name(file), bytes.len() as u64);
                return Err(BucketError::TooLarge { object, found, most });
            }
        }
        Ok(Some(StoredObject { bytes: bytes.into(), version: UpdateVersion { e_tag, version } }))
    }

    /// Makes an object that is made once. Where it is there already, it is read, and must be the same.
    pub async fn create(&self, file: &impl ObjectName, bytes: Bytes) -> Result<(), BucketError> {
        match self.create_or_read(file, bytes).await? {
            Made::Same => Ok(()),
            Made::Other(_) => Err(BucketError::Differs { object: self.name(file) }),
        }
    }

    /// The same, for whoever can tell which other bytes are right, too.
    pub async fn create_or_read(
        &self,
        file: &impl ObjectName,
        bytes: Bytes,
    ) -> Result<Made, BucketError> {
        // Somewhat larger objects are read as well: to be told apart, not to be kept.
        let most = 2 * bytes.len() as u64 + (1 << 20);
        self.create_or_read_up_to(file, bytes, most).await
    }

    /// The same where what is there may have so many bytes.
    pub async fn create_or_read_up_to(
        &self,
        file: &impl ObjectName,
        bytes: Bytes,
        most: u64,
    ) -> Result<Made, BucketError> {
        match self.put(file, bytes.clone(), PutMode::Create).await {
            Ok(()) => Ok(Made::Same),
            Err(Error::AlreadyExists { .. }) => {
                let found = self.read_object(file, most).await?;
                let found = found.ok_or_else(|| BucketError::Moved { object: self.name(file) })?;
                Ok(if found.bytes == bytes { Made::Same } else { Made::Other(found.bytes) })
            }
            Err(error) => Err(self.file_error(file, error)),
        }
    }

    /// Puts bytes in the place of what was read, or of nothing. Refused where that is not there any more.
    pub async fn replace(
        &self,
        file: &impl ObjectName,
        seen: Option<&StoredObject>,
        bytes: Bytes,
    ) -> Result<(), BucketError> {
        let mode = match seen {
            Some(found) if found.bytes == bytes => return Ok(()),
            Some(found) => PutMode::Update(found.version.clone()),
            None => PutMode::Create,
        };
        match self.put(file, bytes.clone(), mode).await {
            Ok(()) => Ok(()),
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => {
                // Perhaps by this very request, whose first answer was lost.
                let found = self.read_object(file, 2 * bytes.len() as u64 + (1 << 20)).await?;
                if found.is_some_and(|found| found.bytes == bytes) {
                    return Ok(());
                }
                Err(BucketError::Moved { object: self.name(file) })
            }
            Err(error) => Err(self.file_error(file, error)),
        }
    }

    /// The names below a folder, behind the bucket's prefix; told one by one.
    pub async fn list(&self, folder: &str, mut tell: impl FnMut(&str)) -> Result<(), BucketError> {
        let path = self.path(folder);
        let mut objects = self.store.list(Some(&path));
        let failed = |error| {
            let object = format!("{}/{folder}", self.shown);
            classify_error(object, error)
        };
        while let Some(object) = objects.try_next().await.map_err(failed)? {
            let Some(parts) = object.location.prefix_match(&self.prefix) else { continue };
            let parts: Vec<_> = parts.map(|part| part.as_ref().to_owned()).collect();
            tell(&parts.join("/"));
        }
        Ok(())
    }

    /// Removes what gave way to a full tile. Credentials that may not are fine: it only takes room.
    pub async fn remove_below(&self, folder: &str) -> Result<(), BucketError> {
        let mut names = Vec::new();
        self.list(folder, |name| names.push(name.to_owned())).await?;
        for name in names {
            match self.store.delete(&self.path(&name)).await {
                Ok(()) | Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(classify_error(format!("{}/{name}", self.shown), error)),
            }
        }
        Ok(())
    }

    async fn put(&self, file: &impl ObjectName, bytes: Bytes, mode: PutMode) -> Result<(), Error> {
        let (media_type, cache_control) = file.headers();
        let attributes: [(Attribute, AttributeValue); 2] = [
            (Attribute::CacheControl, cache_control.into()),
            (Attribute::ContentType, media_type.into()),
        ];
        let attributes = Attributes::from_iter(attributes);
        let options = PutOptions { mode, attributes, ..PutOptions::default() };
        let path = self.path(&file.to_string());
        self.store.put_opts(&path, PutPayload::from_bytes(bytes), options).await.map(|_| ())
    }

    /// An object's path: parts of a file's path are plain, and stay as they are.
    fn path(&self, file: &str) -> Path {
        let parts = file.split('/').filter(|part| !part.is_empty());
        parts.fold(self.prefix.clone(), Path::join)
    }

    fn file_error(&self, file: &impl ObjectName, error: Error) -> BucketError {
        classify_error(self.name(file), error)
    }
}

fn classify_error(object: String, source: Error) -> BucketError {
    match source {
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
            BucketError::Denied { object, source }
        }
        source => BucketError::Unanswered { object, source },
    }
}
