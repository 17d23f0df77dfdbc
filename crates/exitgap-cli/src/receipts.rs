//! Keys of receipts: those that the caller gives, and those that services returned first.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use exitgap_api::invalid_parameter;
use exitgap_api::receipt::{Receipt, ReceiptError, ReceiptKey};
use exitgap_client::BaseUrl;
use exitgap_core::evidence::Verdict;
use exitgap_core::file_errors::explained;
use exitgap_pay::Paid;

use crate::failure::Failure;
use crate::source::{self, api, unreadable};

/// Maximum size of a key file.
const MAX_KEY_FILE_BYTES: usize = 64 << 10;

/// Maximum size of the file of remembered keys.
const MAX_KEPT_BYTES: usize = 1 << 20;

const HINT: &str = "a key is 43 characters of base64url, a JSON Web Key, or the response of GET /v1/payments; --key and --receipt-key take the characters or a file with any of these";

/// The key in an argument: the key itself, or a file that contains it.
pub fn key(argument: &str) -> Result<ReceiptKey, Failure> {
    let error = match argument.parse() {
        Ok(key) => return Ok(key),
        Err(error) => error,
    };
    let path = Path::new(argument);
    if !path.exists() {
        let detail = format!("key: {error}, and no file has this name");
        return Err(invalid_parameter("key", &detail, HINT).into());
    }
    let failed = |why: String| unreadable(format!("key {argument}: {why}")).hint(HINT);
    let bytes = source::read_limited(path, MAX_KEY_FILE_BYTES)
        .map_err(|error| failed(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|error| failed(error.to_string()))?;
    Ok(ReceiptKey::from_text(&text).map_err(|error| failed(error.to_string()))?)
}

/// What to do with the receipts of this run.
#[derive(Debug)]
pub struct Receipts {
    /// The file in which the receipt is saved.
    file: Option<PathBuf>,
    /// The key that verifies it.
    key: Option<ReceiptKey>,
    /// The file of remembered keys.
    kept: PathBuf,
}

impl Receipts {
    /// Checks the arguments before anything is paid. Keys are remembered next to the ledger.
    pub fn new(file: Option<&Path>, named: Option<&str>, ledger: &Path) -> Result<Self, Failure> {
        let exists = |path: &&Path| fs::symlink_metadata(path).is_ok();
        if let Some(path) = file.filter(exists) {
            let detail =
                format!("--receipt: {} already exists and is not overwritten", path.display());
            return Err(invalid_parameter("receipt", &detail, "give the name of a new file").into());
        }
        let key = named.map(key).transpose()?;
        let kept = ledger.with_added_extension("receipt-keys");
        Ok(Self { file: file.map(Path::to_owned), key, kept })
    }

    /// Saves and verifies the receipt of the payment; messages go to standard error. The caller keeps the answer,
    /// whatever the result.
    pub fn keep_receipt(&self, url: &str, paid: &[Paid]) -> Result<(), Failure> {
        let Some(paid) = paid.last() else {
            if self.file.is_some() {
                anstream::eprintln!("nothing was paid, so there is no receipt");
            }
            return Ok(());
        };
        let Some(text) = &paid.receipt else {
            if self.file.is_none() && self.key.is_none() {
                return Ok(());
            }
            let detail = "the service returned no receipt for the payment";
            return Err(failure("receipt_absent", Verdict::Incomplete, detail, NOT_YOURS));
        };
        if let Some(path) = &self.file {
            keep(path, text).map_err(|error| {
                // Print the receipt, because it is returned only once, with the answer.
                let detail =
                    format!("--receipt {}: {error}; the receipt is {text}", path.display());
                unreadable(detail)
            })?;
        }
        let key = match &self.key {
            Some(key) => key.clone(),
            None => self.key_of(url)?,
        };
        let checked = Receipt::verify(text, &key).and_then(|receipt| {
            receipt.check_answer_named(paid.answer_sha256)?;
            receipt.check_payment(&paid.terms, paid.payer)
        });
        checked.map_err(|error| receipt_failure(&error))?;
        match &self.file {
            Some(path) => anstream::eprintln!(
                "receipt verified with key {}, saved to {}",
                key.kid(),
                path.display()
            ),
            None => anstream::eprintln!(
                "receipt verified with key {}; use --receipt FILE to save it",
                key.kid()
            ),
        }
        Ok(())
    }

    /// The key that this service returned first; it must keep using it.
    fn key_of(&self, url: &str) -> Result<ReceiptKey, Failure> {
        let base: BaseUrl = url.parse()?;
        let base = base.to_string();
        let failed = |error: io::Error| {
            let path = self.kept.display();
            unreadable(format!("the keys of receipts in {path}: {}", explained(&error))).hint(
                "fix the file, or move it away to start again, or give a key with --receipt-key",
            )
        };
        let kept = match source::read_limited(&self.kept, MAX_KEPT_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            read => read.map_err(failed)?,
        };
        let wrong = || failed(io::Error::other("a line is not an address and a key"));
        if kept.len() > MAX_KEPT_BYTES {
            return Err(failed(io::Error::other("the file is too long")).into());
        }
        let kept = String::from_utf8(kept).map_err(|_| wrong())?;
        for line in kept.lines().filter(|line| !line.is_empty()) {
            let (of, key) = line.split_once(' ').ok_or_else(wrong)?;
            if of == base {
                return Ok(key.parse().map_err(|_| wrong())?);
            }
        }
        let document = api::with(url, async |client| client.payments().await)?;
        let key = ReceiptKey::of_jwk(&document.receipt_key).map_err(|error| {
            let detail = format!("the service's key for receipts: {error}");
            failure("receipt_key_unreadable", Verdict::Incomplete, &detail, NOT_YOURS)
        })?;
        let line = format!("\n{base} {key}\n");
        let opened = OpenOptions::new().append(true).create(true).open(&self.kept);
        opened.and_then(|mut file| file.write_all(line.as_bytes())).map_err(failed)?;
        Ok(key)
    }
}

const NOT_YOURS: &str =
    "the answer above was paid for and recomputed here; it is valid without a receipt";

/// Writes the file completely or not at all, and never overwrites one.
fn keep(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    let written = writeln!(file, "{text}").and_then(|()| file.sync_all());
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
    written
}

fn receipt_failure(error: &ReceiptError) -> Failure {
    let verdict = match error {
        ReceiptError::Newer { .. } => Verdict::Incomplete,
        _ => Verdict::Invalid,
    };
    let hint = match error {
        ReceiptError::OtherKey { .. } => {
            "the service signs with a different key than the one it named first; ask its operator, and give the new key with --receipt-key"
        }
        _ => NOT_YOURS,
    };
    failure(error.code(), verdict, &error.to_string(), hint)
}

fn failure(code: &'static str, verdict: Verdict, detail: &str, hint: &str) -> Failure {
    Failure::Receipt { code, verdict, problem: Box::new(unreadable(detail).hint(hint)) }
}
