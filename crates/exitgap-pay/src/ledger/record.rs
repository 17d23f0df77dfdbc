//! One line of a ledger. `docs/pay-ledger-v1.md` describes the format.

use exitgap_api::x402::Units;
use exitgap_core::ids::{Address, Caip2, Word};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Maximum size of a line including its line feeds: the size of one write.
pub const MAX_LINE_BYTES: usize = 4096;

/// Maximum length of a paid path, and of a host.
pub const MAX_PATH_BYTES: usize = 1024;
pub const MAX_HOST_BYTES: usize = 255;

/// A parsed line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Record {
    /// A payment is planned. It counts from here on.
    Reserved(ReservationRecord),
    /// It is not made because there was no room for it.
    Withdrawn(Plain),
    /// It was signed, and is being sent.
    Sent(Sent),
    /// The service or the chain reports that it was made.
    Settled(SettlementRecord),
    /// It was not made and can no longer be made.
    Released(ReleaseRecord),
}

/// The fields of `reserved`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReservationRecord {
    /// Identifies the payment: 16 random bytes.
    pub id: String,
    /// When this was written, Unix milliseconds.
    pub at_ms: u64,
    /// The host, with a port if it is not the default.
    pub host: String,
    /// The path, without the query.
    pub path: String,
    /// The chain.
    pub network: Caip2,
    /// The token's contract.
    pub asset: Address,
    /// The payee.
    pub payee: Address,
    /// The amount.
    pub units: Units,
    /// When the authorization expires, Unix seconds.
    pub valid_before_s: u64,
}

/// The fields of `withdrawn`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plain {
    /// Names the payment.
    pub id: String,
    /// When this was written, Unix milliseconds.
    pub at_ms: u64,
}

/// The fields of `sent`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sent {
    /// Names the payment.
    pub id: String,
    /// When this was written, Unix milliseconds.
    pub at_ms: u64,
    /// The payer.
    pub payer: Address,
    /// The nonce that identifies the authorization on the chain.
    pub nonce: Word,
}

/// The fields of `settled`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SettlementRecord {
    /// Names the payment.
    pub id: String,
    /// When this was written, Unix milliseconds.
    pub at_ms: u64,
    /// The transaction's hash, if the service returned one.
    pub transaction: Option<Word>,
}

/// The fields of `released`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReleaseRecord {
    /// Names the payment.
    pub id: String,
    /// When this was written, Unix milliseconds.
    pub at_ms: u64,
    /// Why.
    pub why: ReleaseReason,
}

/// Why a payment no longer counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReleaseReason {
    /// It was never sent.
    NeverSent,
    /// Its authorization expired, and the chain shows that it was not used.
    ExpiredUnused,
}

/// The kind of a line in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A record.
    Record(Record),
    /// An empty line, or a record whose writing was interrupted. Nothing was ever done based on an incomplete record.
    Nothing,
}

const HEAD: &str = "{\"v\":1,";
const SUM: &str = ",\"sum\":\"";
const SUM_DIGITS: usize = 16;

impl Record {
    /// The id of its payment.
    pub fn id(&self) -> &str {
        match self {
            Self::Reserved(of) => &of.id,
            Self::Withdrawn(of) => &of.id,
            Self::Sent(of) => &of.id,
            Self::Settled(of) => &of.id,
            Self::Released(of) => &of.id,
        }
    }

    /// When it was written, Unix milliseconds.
    pub fn at_ms(&self) -> u64 {
        match self {
            Self::Reserved(of) => of.at_ms,
            Self::Withdrawn(of) => of.at_ms,
            Self::Sent(of) => of.at_ms,
            Self::Settled(of) => of.at_ms,
            Self::Released(of) => of.at_ms,
        }
    }

    /// As a line, without its line feeds.
    pub fn to_line(&self) -> Result<String, String> {
        let fields = serde_json::to_string(self).map_err(|error| error.to_string())?;
        let body = fields.strip_prefix('{').and_then(|fields| fields.strip_suffix('}'));
        let body = body.map(|body| format!("{HEAD}{body}")).unwrap_or_default();
        let line = format!("{body}{SUM}{}\"}}", sum_of(&body));
        if line.len() + 2 > MAX_LINE_BYTES {
            return Err(format!(
                "a record of {} bytes is longer than the maximum line",
                line.len()
            ));
        }
        Ok(line)
    }
}

impl Line {
    /// Parses a line without its line feed; an error if it is neither a record nor the beginning of one.
    pub fn from_bytes(line: &[u8]) -> Result<Self, String> {
        if line.is_empty() || is_beginning(line) {
            return Ok(Self::Nothing);
        }
        let text = core::str::from_utf8(line).map_err(|_| "it is not text".to_owned())?;
        let end = text.rfind(SUM).ok_or("it has no checksum")?;
        let (body, sum) = text.split_at(end);
        let told = sum.strip_prefix(SUM).and_then(|sum| sum.strip_suffix("\"}"));
        if told != Some(&*sum_of(body)) {
            return Err("its checksum does not match".to_owned());
        }
        let Some(fields) = body.strip_prefix(HEAD) else {
            return Err("it was written by another version of this program".to_owned());
        };
        let record = serde_json::from_str(&format!("{{{fields}}}"));
        record.map(Self::Record).map_err(|error| format!("it is not a valid record: {error}"))
    }
}

/// Whether these bytes may be the beginning of a record whose writing was interrupted. A record contains a closing
/// brace only at its end, and nothing follows its checksum, so a record with one changed byte is not mistaken for such
/// a beginning.
fn is_beginning(line: &[u8]) -> bool {
    let Ok(text) = core::str::from_utf8(line) else { return false };
    let common = text.len().min(HEAD.len());
    let after_sum = text.split(SUM).nth(1).map_or(0, str::len);
    let plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'}');
    plain && text.as_bytes()[..common] == HEAD.as_bytes()[..common] && after_sum <= SUM_DIGITS + 1
}

/// The first half of the SHA-256, in hex.
fn sum_of(body: &str) -> String {
    hex(&Sha256::digest(body.as_bytes())[..SUM_DIGITS / 2])
}

/// Bytes as hex digits.
pub fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

/// Whether a ledger can contain this text: only characters of URLs, without those that end a record.
pub fn is_plain(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.len())
        && text.bytes().all(|byte| matches!(byte, b'!'..=b'~') && !b"\"\\{}".contains(&byte))
}
