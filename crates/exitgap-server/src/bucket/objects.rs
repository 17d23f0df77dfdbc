//! One object of the bucket: read up to a maximum length, created once, or replaced if unchanged since it was read.

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

/// Access to the objects of a bucket that are files of a log.
#[derive(Debug, Clone)]
pub struct Objects {
    store: Arc<dyn ObjectStore>,
    /// The bucket's name, for people.
    shown: String,
    prefix: Path,
}

/// The name of an object, and its kind.
pub trait ObjectName: std::fmt::Display + Sync {
    /// Its media type, and how long caches may keep it.
    fn headers(&self) -> (&'static str, String);
}

impl ObjectName for LogFile {
    /// The same headers as the service's own `/log`, for a CDN or proxy in front of the bucket.
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

/// The result of creating a write-once object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Made {
    /// The object was created, or already existed with the same bytes.
    Same,
    /// The object already existed with these bytes.
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

    /// Reads an object of at most this many bytes; `None` if it does not exist.
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

    /// Creates a write-once object. If it already exists, its content must be the same.
    pub async fn create(&self, file: &impl ObjectName, bytes: Bytes) -> Result<(), BucketError> {
        match self.create_or_read(file, bytes).await? {
            Made::Same => Ok(()),
            Made::Other(_) => Err(BucketError::Differs { object: self.name(file) }),
        }
    }

    /// Creates a write-once object, or returns the existing content if it differs, for callers that accept other
    /// content.
    pub async fn create_or_read(
        &self,
        file: &impl ObjectName,
        bytes: Bytes,
    ) -> Result<Made, BucketError> {
        // Reads up to somewhat more than expected, so that a different object is reported as different and not as too
        // large.
        let most = 2 * bytes.len() as u64 + (1 << 20);
        self.create_or_read_up_to(file, bytes, most).await
    }

    /// The same, if the existing object may have up to this many bytes.
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

    /// Replaces the version that was read, or creates the object if none was. Fails if the object has changed since.
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
                // This very request may have written it, with its first answer lost.
                let found = self.read_object(file, 2 * bytes.len() as u64 + (1 << 20)).await?;
                if found.is_some_and(|found| found.bytes == bytes) {
                    return Ok(());
                }
                Err(BucketError::Moved { object: self.name(file) })
            }
            Err(error) => Err(self.file_error(file, error)),
        }
    }

    /// Calls `tell` with each name in a folder, without the bucket's prefix.
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

    /// Deletes partial tiles replaced by a full tile. Callers may ignore an error: leftovers only use space.
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

    /// An object's path: the parts of a file's path need no escaping.
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
