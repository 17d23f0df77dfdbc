//! Payments that were sent and whose outcome is open: the signed header of each, kept next to the
//! ledger, whose format is closed. This process or a later one sends the same header again instead
//! of signing another. `docs/pay-ledger-v1.md` describes the files; the npm package shares them.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use exitgap_api::x402::{PAYMENT_SIGNATURE, Payment, Terms, TokenDomain, X_PAYMENT};
use exitgap_client::Request;
use exitgap_core::file_errors::explained;
use exitgap_core::ids::{Address, Word};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use url::Url;

use crate::ledger::hex;
use crate::{Entry, Ledger, PayError, Sent, State};

/// Maximum size of a file.
const MAX_RECORD_BYTES: u64 = 256 << 10;

/// How long after a sending other processes leave the payment to its process: one attempt, one pause, and some more.
const HELD_MS: u64 = 45_000;

/// Number of digits of a request's id at the beginning of its files' names.
const PREFIX_DIGITS: usize = 32;

/// The folder of a ledger's open payments.
#[derive(Debug)]
pub struct OpenPayments {
    folder: PathBuf,
}

/// A payment that must be sent with its request.
#[derive(Debug, Clone)]
pub struct OpenPayment {
    /// Its id in the ledger.
    pub id: String,
    pub header: (&'static str, String),
    pub terms: Terms,
    pub payer: Address,
    pub valid_before_s: u64,
    pub file: PathBuf,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    v: u8,
    /// The payment's id in the ledger.
    id: String,
    /// The request's id.
    request: String,
    /// The name of the header, and its value.
    header: String,
    value: String,
    /// Whether a caller received an answer.
    answered: bool,
    /// The process that sends it, and until when other processes leave it alone.
    pid: u32,
    until_ms: u64,
}

/// The id of a request: SHA-256 of its method, its URL without fragment, and its body.
pub fn name_of_request(request: &Request) -> String {
    let url = Url::parse(&request.url).map_or_else(
        |_| request.url.clone(),
        |mut url| {
            url.set_fragment(None);
            url.to_string()
        },
    );
    let mut hash = Sha256::new();
    hash.update(format!("{} {url}\n", request.method.name()));
    hash.update(&request.body);
    hex(&hash.finalize())
}

impl OpenPayments {
    /// The open payments of a ledger.
    pub fn next_to(ledger: &Path) -> Self {
        let mut folder = ledger.as_os_str().to_owned();
        folder.push(".open");
        Self { folder: folder.into() }
    }

    /// The open payment of a request, which must be sent again before another may be signed. `domain_of` returns the
    /// name of a token in its signing domain.
    pub fn find(
        &self,
        request: &str,
        ledger: &Ledger,
        now_ms: u64,
        domain_of: impl Fn(&Entry) -> Result<TokenDomain, PayError>,
    ) -> Result<Option<OpenPayment>, PayError> {
        for file in self.files_of(request)? {
            let Some(record) = read(&file)?.filter(|record| record.request == request) else {
                continue;
            };
            let entry = ledger.entry(&record.id)?;
            let Some(entry) = entry.filter(|entry| !is_closed(entry, record.answered, now_ms))
            else {
                remove(&file);
                continue;
            };
            let Some(sent) = entry.sent.clone().filter(|_| !is_held_elsewhere(&record, now_ms))
            else {
                continue;
            };
            let domain = domain_of(&entry)?;
            return opened(record, &entry, &sent, domain, file).map(Some);
        }
        Ok(None)
    }

    /// Stores a payment durably, before the ledger marks it as sent. Returns its file.
    pub fn keep(
        &self,
        id: &str,
        request: &str,
        header: &(&'static str, String),
        now_ms: u64,
    ) -> Result<PathBuf, PayError> {
        let prefix = request.get(..PREFIX_DIGITS).unwrap_or(request);
        let file = self.folder.join(format!("{prefix}-{id}.json"));
        let (name, value) = header;
        let record = Record {
            v: 1,
            id: id.to_owned(),
            request: request.to_owned(),
            header: (*name).to_owned(),
            value: value.clone(),
            answered: false,
            pid: std::process::id(),
            until_ms: now_ms.saturating_add(HELD_MS),
        };
        let kept = make_folder(&self.folder)
            .and_then(|()| write(&file, &record))
            .and_then(|()| File::open(&self.folder)?.sync_all());
        kept.map_err(|error| unreadable(&file, &error.to_string()))?;
        Ok(file)
    }

    fn files_of(&self, request: &str) -> Result<Vec<PathBuf>, PayError> {
        let failed = |error: io::Error| unreadable(&self.folder, &explained(&error).to_string());
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let prefix = request.get(..PREFIX_DIGITS).unwrap_or(request);
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with(prefix) && name.ends_with(".json") {
                files.push(entry.path());
            }
        }
        files.sort();
        Ok(files)
    }
}

impl OpenPayment {
    /// Makes other processes leave the payment to this one for a while.
    pub fn hold(&self, now_ms: u64) {
        self.change(|record| {
            record.pid = std::process::id();
            record.until_ms = now_ms.saturating_add(HELD_MS);
        });
    }

    /// From now on any process may continue the payment.
    pub fn let_go(&self) {
        self.change(|record| record.until_ms = 0);
    }

    /// Records that the caller received an answer, which closes a payment that is known to be settled.
    pub fn answer(&self, ledger: &Ledger, now_ms: u64) -> Result<(), PayError> {
        self.change(|record| record.answered = true);
        if ledger.entry(&self.id)?.is_none_or(|entry| is_closed(&entry, true, now_ms)) {
            remove(&self.file);
        }
        Ok(())
    }

    /// Whether it ended while it was being sent: another call received the answer, or it can no longer settle.
    pub fn has_ended(&self, ledger: &Ledger) -> Result<bool, PayError> {
        let state = ledger.entry(&self.id)?.map(|entry| entry.state);
        Ok(match read(&self.file)? {
            None => true,
            Some(record) => {
                state == Some(State::Released) || (state == Some(State::Settled) && record.answered)
            }
        })
    }

    /// The caller's answer must not be lost because this record could not be written: without it, only the same header
    /// is sent again.
    fn change(&self, change: impl FnOnce(&mut Record)) {
        if let Ok(Some(mut record)) = read(&self.file) {
            change(&mut record);
            let _ = write(&self.file, &record);
        }
    }
}

fn opened(
    record: Record,
    entry: &Entry,
    sent: &Sent,
    domain: TokenDomain,
    file: PathBuf,
) -> Result<OpenPayment, PayError> {
    let (name, payment) = if record.header == PAYMENT_SIGNATURE {
        (PAYMENT_SIGNATURE, Payment::of_v2_header(&record.value))
    } else {
        (X_PAYMENT, Payment::of_v1_header(&record.value))
    };
    let nonce: Option<Word> = payment.ok().map(|payment| payment.authorization.nonce);
    if nonce != Some(sent.nonce) {
        return Err(unreadable(&file, "it holds another payment than the ledger"));
    }
    let reserved = &entry.reserved;
    let valid_s = reserved.valid_before_s.saturating_sub(reserved.at_ms / 1000);
    let terms = Terms {
        network: reserved.network,
        asset: reserved.asset,
        pay_to: reserved.payee,
        amount: reserved.units,
        max_timeout_s: u32::try_from(valid_s).unwrap_or(u32::MAX),
        domain,
    };
    let (id, header) = (record.id, (name, record.value));
    let (payer, valid_before_s) = (sent.payer, reserved.valid_before_s);
    Ok(OpenPayment { id, header, terms, payer, valid_before_s, file })
}

/// Whether a payment is over: it was not made, or it was made or expired and there is nothing more
/// to wait for. Without an answer, expiry alone does not end it, because it may have been made before.
fn is_closed(entry: &Entry, answered: bool, now_ms: u64) -> bool {
    let expired = now_ms >= entry.reserved.valid_before_s.saturating_mul(1000);
    match entry.state {
        State::Withdrawn | State::Released => true,
        State::Settled => answered || expired,
        State::Reserved | State::Sent => answered && expired,
    }
}

fn is_held_elsewhere(record: &Record, now_ms: u64) -> bool {
    record.pid != std::process::id() && now_ms < record.until_ms && is_alive(record.pid)
}

/// Whether this process may still exist.
fn is_alive(pid: u32) -> bool {
    !cfg!(target_os = "linux") || Path::new("/proc").join(pid.to_string()).exists()
}

/// The record of a file; `None` if another process closed it.
fn read(file: &Path) -> Result<Option<Record>, PayError> {
    let failed = |error: io::Error| unreadable(file, &explained(&error).to_string());
    let opened = match File::open(file) {
        Ok(opened) => opened,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let mut bytes = Vec::new();
    opened.take(MAX_RECORD_BYTES).read_to_end(&mut bytes).map_err(failed)?;
    let record = serde_json::from_slice::<Record>(&bytes).ok();
    let known = |record: &Record| {
        record.v == 1 && [PAYMENT_SIGNATURE, X_PAYMENT].contains(&record.header.as_str())
    };
    match record.filter(known) {
        Some(record) => Ok(Some(record)),
        None => Err(unreadable(file, "it is not a valid open payment")),
    }
}

/// Replaces the whole file, or leaves it unchanged.
fn write(file: &Path, record: &Record) -> io::Result<()> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let aside = file.with_extension(format!("{}-{number}.tmp", std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut opened = options.open(&aside)?;
    opened.write_all(&serde_json::to_vec(record)?)?;
    opened.sync_data()?;
    fs::rename(&aside, file)
}

/// If the file cannot be removed, it is read again later and found closed again.
fn remove(file: &Path) {
    let _ = fs::remove_file(file);
}

fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn unreadable(file: &Path, why: &str) -> PayError {
    PayError::LedgerUnreadable { path: file.to_owned(), why: format!("the open payment: {why}") }
}
