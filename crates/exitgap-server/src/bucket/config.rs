//! `[bucket]`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, S3ConditionalPut};
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};
use reqwest::Url;
use serde::Deserialize;

use super::objects::Objects;
use crate::secret_file::{self, SecretFileError};

/// Timeout for one request, from its first byte to the last byte of its answer: a part may have 64 MiB.
const REQUEST_WITHIN: Duration = Duration::from_mins(1);

const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// Timeout for a request including its retries.
const ASKED_WITHIN: Duration = Duration::from_secs(90);

const TRIES: usize = 4;

/// The table `[bucket]` as written in the configuration file: S3-compatible storage to which the published log is
/// uploaded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BucketConfig {
    /// The bucket and the prefix of its objects' names, such as `s3://exits/log`. Default: none, the log is only in its
    /// folder.
    pub url: Option<String>,
    /// The storage's endpoint, such as `https://s3.other.example`. Default: Amazon's, according to the region.
    pub endpoint: Option<String>,
    /// Its region. Default: `AWS_REGION`, or `us-east-1`.
    pub region: Option<String>,
    /// Whether `endpoint` may use plain http, within one machine or a private network. Default: no.
    pub allow_http: bool,
    /// A file, mode 600, of two lines, `access_key_id = "…"` and `secret_access_key = "…"`. Relative to the folder of
    /// the configuration file. Default: none; then `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, else the machine's
    /// own role.
    pub credentials_file: Option<PathBuf>,
    /// Whether each slot is claimed in the bucket before it is signed. Then all recorders of one log produce one
    /// history, even if their databases are lost, but nothing is sealed while the bucket is unreachable. All recorders
    /// of a log must use the same setting. Default: no.
    pub claims: bool,
}

/// A checked bucket configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BucketPlan {
    /// Its name.
    name: String,
    /// The prefix of the objects' names; empty, or without a slash at either end.
    prefix: String,
    endpoint: Option<String>,
    region: Option<String>,
    allow_http: bool,
    credentials_file: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Credentials {
    access_key_id: String,
    secret_access_key: String,
}

impl BucketConfig {
    /// Checks the table; `None` if no bucket is configured. The error is the invalid key and a message.
    pub fn plan(&self) -> Result<Option<BucketPlan>, (&'static str, String)> {
        let Some(url) = &self.url else {
            if *self == Self::default() {
                return Ok(None);
            }
            return Err(("url", "no bucket given; use a URL such as s3://exits/log".to_owned()));
        };
        let wrong = || {
            let what = "is not a bucket URL such as s3://exits/log: use lower-case letters, digits, dots and hyphens for the bucket, then names of letters, digits and ._-";
            ("url", format!("{url:?} {what}"))
        };
        let path = url.strip_prefix("s3://").ok_or_else(wrong)?;
        let (name, prefix) = path.split_once('/').unwrap_or((path, ""));
        let of_name =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-".contains(&byte);
        let of_part = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
        let part_fits = |part: &str| {
            !part.is_empty() && !matches!(part, "." | "..") && part.bytes().all(of_part)
        };
        let prefix_fits =
            prefix.is_empty() || prefix.len() <= 200 && prefix.split('/').all(part_fits);
        if !(3..=63).contains(&name.len()) || !name.bytes().all(of_name) || !prefix_fits {
            return Err(wrong());
        }
        if let Some(endpoint) = &self.endpoint {
            self.check_endpoint(endpoint)?;
        }
        Ok(Some(BucketPlan {
            name: name.to_owned(),
            prefix: prefix.to_owned(),
            endpoint: self.endpoint.clone(),
            region: self.region.clone(),
            allow_http: self.allow_http,
            credentials_file: self.credentials_file.clone(),
        }))
    }

    fn check_endpoint(&self, endpoint: &str) -> Result<(), (&'static str, String)> {
        let at = |what: &str| ("endpoint", format!("{endpoint:?} {what}"));
        let url: Url =
            endpoint.parse().map_err(|_| at("is not a URL such as https://s3.other.example"))?;
        let plain = url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
        match url.scheme() {
            "https" | "http" if !plain || !url.has_host() => {
                Err(at("is not a URL such as https://s3.other.example"))
            }
            "https" => Ok(()),
            "http" if self.allow_http => Ok(()),
            "http" => Err(at("is not encrypted; set allow_http = true only in your own network")),
            _ => Err(at("is not a URL such as https://s3.other.example")),
        }
    }
}

impl BucketPlan {
    /// The bucket's objects. Sends no request yet.
    pub(super) fn objects(&self) -> Result<Objects, String> {
        // Another part of this process may already have chosen a provider.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let retry = RetryConfig {
            backoff: BackoffConfig::default(),
            max_retries: TRIES - 1,
            retry_timeout: ASKED_WITHIN,
        };
        let options = ClientOptions::new()
            .with_timeout(REQUEST_WITHIN)
            .with_connect_timeout(CONNECT_WITHIN)
            .with_allow_http(self.allow_http);
        let mut builder = AmazonS3Builder::from_env()
            .with_bucket_name(&self.name)
            .with_conditional_put(S3ConditionalPut::ETagMatch)
            .with_client_options(options)
            .with_retry(retry);
        if let Some(endpoint) = &self.endpoint {
            builder = builder.with_endpoint(endpoint);
        }
        if let Some(region) = &self.region {
            builder = builder.with_region(region);
        }
        if let Some(path) = &self.credentials_file {
            let Credentials { access_key_id, secret_access_key } = credentials(path)?;
            builder =
                builder.with_access_key_id(access_key_id).with_secret_access_key(secret_access_key);
        }
        let store: Arc<dyn ObjectStore> =
            Arc::new(builder.build().map_err(|error| error.to_string())?);
        Ok(Objects::new(store, self.to_string(), &self.prefix))
    }
}

impl std::fmt::Display for BucketPlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "s3://{}", self.name)?;
        if self.prefix.is_empty() { Ok(()) } else { write!(f, "/{}", self.prefix) }
    }
}

/// Reads the credentials file. Errors do not show its content, because it contains a key.
fn credentials(path: &Path) -> Result<Credentials, String> {
    let text = secret_file::read_secret(path, "").map_err(|error| match error {
        SecretFileError::Absent { path, .. } => {
            format!("{}: the file does not exist", path.display())
        }
        error => error.to_string(),
    })?;
    toml::from_str(&text).map_err(|_| {
        format!(
            "{}: the file must contain exactly two lines, access_key_id = \"…\" and secret_access_key = \"…\"",
            path.display()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(url: &str) -> BucketConfig {
        BucketConfig { url: Some(url.to_owned()), ..BucketConfig::default() }
    }

    #[test]
    fn a_bucket_is_named_in_one_way() {
        assert_eq!(BucketConfig::default().plan(), Ok(None));
        for (url, shown) in [
            ("s3://exits", "s3://exits"),
            ("s3://exits/", "s3://exits"),
            ("s3://exits.example-1/a.b/log/", "s3://exits.example-1/a.b/log"),
        ] {
            assert_eq!(table(url).plan().unwrap().unwrap().to_string(), shown);
        }
        for url in [
            "",
            "exits/log",
            "https://exits.s3.example/log",
            "s3://",
            "s3://Exits/log",
            "s3://ab/log",
            "s3://exits//log",
            "s3://exits/../log",
            "s3://exits/log?x=1",
            "s3://u:p@exits/log",
        ] {
            let (key, message) = table(url).plan().unwrap_err();
            assert!(key == "url" && message.contains("is not a bucket URL"), "{url}: {message}");
        }
        let unnamed = BucketConfig { allow_http: true, ..BucketConfig::default() };
        assert!(unnamed.plan().unwrap_err().1.contains("no bucket given"));
    }

    #[test]
    fn an_endpoint_is_encrypted_unless_the_operator_says_otherwise() {
        let at = |endpoint: &str, allow_http| BucketConfig {
            endpoint: Some(endpoint.to_owned()),
            allow_http,
            ..table("s3://exits/log")
        };
        assert!(at("https://s3.other.example", false).plan().is_ok());
        assert!(at("http://127.0.0.1:9000", true).plan().is_ok());
        let plain = at("http://127.0.0.1:9000", false).plan().unwrap_err();
        assert!(plain.0 == "endpoint" && plain.1.contains("allow_http"), "{}", plain.1);
        for endpoint in
            ["s3.other.example", "ftp://a.example", "https://u@a.example", "https://a.example/?x"]
        {
            let (key, message) = at(endpoint, true).plan().unwrap_err();
            assert!(key == "endpoint" && message.contains("not a URL"), "{message}");
        }
    }

    #[test]
    fn credentials_are_two_lines_that_nobody_else_reads_and_are_never_shown() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bucket.toml");
        assert!(credentials(&path).err().unwrap().contains("the file does not exist"));
        let write = |text: &str, mode| {
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        let fine = "access_key_id = \"AKIA\"\nsecret_access_key = \"topsecret\"\n";
        write(fine, 0o644);
        assert!(credentials(&path).err().unwrap().contains("600"));
        write(fine, 0o600);
        assert_eq!(credentials(&path).unwrap().secret_access_key, "topsecret");
        for text in [
            "",
            "topsecret",
            "access_key_id = \"topsecret\"\n",
            "access_key_id = 1\nsecret_access_key = \"topsecret\"",
        ] {
            write(text, 0o600);
            let said = credentials(&path).err().unwrap();
            assert!(said.contains("two lines") && !said.contains("topsecret"), "{said}");
        }
    }
}
