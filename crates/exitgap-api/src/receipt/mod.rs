//! Receipts of payments: a statement, signed by the payee, of who paid what and which bytes were returned for it.
//!
//! **In scope**: a receipt's fields and canonical form ([`Receipt`]), its keys ([`ReceiptKey`], [`ReceiptSigner`]), and
//! verifying a receipt offline: the signature, the answer's bytes, the evidence. **Out of scope**: whether the number
//! is correct, which only evidence proves; storing receipts and their keys.
//!
//! A receipt is a compact JWS (RFC 7515) with Ed25519 (RFC 8037). Only one form is accepted:
//! `exitgap-pay/docs/receipt-v1.md` defines it. The key signs only receipts, and is never a log's key.

mod check;
mod jws;
mod key;

#[cfg(test)]
mod tests;

use exitgap_core::ids::{Address, Caip2, SnapshotHash, Word};
use serde::{Deserialize, Serialize};

use crate::x402::Units;

pub use key::{ReceiptJwk, ReceiptKey, ReceiptKeyError, ReceiptSigner};

/// The version that this code reads and writes.
pub const RECEIPT_VERSION: u32 = 1;

/// The longest receipt that is parsed, in bytes: more than a header can hold.
pub const MAX_RECEIPT_BYTES: usize = 8 << 10;

/// The payment and what it was for. This is the payload of the signed text, with its members in the order of these
/// fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// [`RECEIPT_VERSION`].
    pub v: u32,
    /// The chain of the payment.
    pub network: Caip2,
    /// The transaction in which the transfer was first seen.
    pub transaction: Word,
    /// The payer.
    pub payer: Address,
    /// The amount, in the token's units.
    pub amount: Units,
    /// The token.
    pub asset: Address,
    /// The requested URL.
    #[serde(rename = "resourceUrl")]
    pub resource_url: String,
    /// When the transfer was first seen, Unix seconds.
    #[serde(rename = "issuedAt")]
    pub issued_at: u64,
    /// SHA-256 of the answer's bytes, before any compression.
    pub answer_sha256: Word,
    /// URL of the evidence for the answer's number. Absent if the answer has none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub evidence_url: Option<String>,
    /// The snapshot behind the answer.
    pub snapshot_hash: SnapshotHash,
    /// The version of the method behind the answer.
    pub method_version: String,
}

/// Why a text is not a receipt, or not a receipt for this answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReceiptError {
    /// The text is too long.
    #[error("a receipt of {found} bytes is larger than the limit of {MAX_RECEIPT_BYTES}")]
    TooLarge {
        /// Its length.
        found: usize,
    },
    /// Not three parts separated by dots.
    #[error("a receipt has three parts of base64url separated by dots, found {found}")]
    Shape {
        /// The number of parts.
        found: usize,
    },
    /// A part is not base64url in canonical form, without padding.
    #[error("the receipt's {part} is not base64url without padding")]
    NotBase64 {
        /// `header`, `payload` or `signature`.
        part: &'static str,
    },
    /// A part is not the expected JSON.
    #[error("the receipt's {part} is not the expected JSON: {why}")]
    NotJson {
        /// `header` or `payload`.
        part: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// Not signed, or signed with another algorithm.
    #[error("the receipt's alg is {found:?}; only \"EdDSA\" is accepted")]
    Algorithm {
        /// The declared algorithm.
        found: String,
    },
    /// A signed text of another type.
    #[error("the signed text's typ is {found:?}, not the typ of a receipt")]
    Kind {
        /// The declared type.
        found: String,
    },
    /// The receipt names another key.
    #[error("the receipt is signed by the key {found}, not by {expected}")]
    OtherKey {
        /// The name of the key that was used for verification.
        expected: String,
        /// The name in the receipt.
        found: String,
    },
    /// The key did not sign this text.
    #[error(
        "the signature does not match this text and key: the receipt was altered, or another key signed it"
    )]
    Signature,
    /// The receipt is of a later version.
    #[error("the receipt has version {found}, which this program does not know")]
    Newer {
        /// The version.
        found: u64,
    },
    /// The payload is not in canonical form.
    #[error("the receipt's payload is not in canonical form")]
    NotCanonical,
    /// The answer is not the one that was paid for.
    #[error("the answer's SHA-256 is {found}, but the receipt is for {expected}")]
    OtherAnswer {
        /// The hash in the receipt.
        expected: Word,
        /// The hash of the answer.
        found: Word,
    },
    /// The receipt is for another payment than the one made.
    #[error("the receipt's {field} is {found}, but {expected} was paid")]
    OtherPayment {
        /// The field that differs.
        field: &'static str,
        /// The value of the payment made.
        expected: String,
        /// The value in the receipt.
        found: String,
    },
    /// The file cannot be parsed as evidence.
    #[error("the evidence cannot be read: {why}")]
    NotEvidence {
        /// What is wrong with it.
        why: String,
    },
    /// The evidence has another snapshot.
    #[error("the evidence is based on the snapshot {found}, but the receipt is for {expected}")]
    OtherSnapshot {
        /// The snapshot in the receipt.
        expected: SnapshotHash,
        /// The snapshot in the evidence.
        found: SnapshotHash,
    },
    /// The evidence is for another request than the receipt's `evidence_url`.
    #[error("the evidence is for {found}, but the receipt names evidence for {expected}")]
    OtherEvidence {
        /// The request in the receipt.
        expected: String,
        /// The request in the evidence.
        found: String,
    },
}

impl ReceiptError {
    /// Its stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "receipt_too_large",
            Self::Shape { .. }
            | Self::NotBase64 { .. }
            | Self::NotJson { .. }
            | Self::NotCanonical => "receipt_malformed",
            Self::Algorithm { .. } => "receipt_algorithm",
            Self::Kind { .. } => "receipt_kind",
            Self::OtherKey { .. } => "receipt_other_key",
            Self::Signature => "receipt_signature",
            Self::Newer { .. } => "receipt_version",
            Self::OtherAnswer { .. } => "receipt_other_answer",
            Self::OtherPayment { .. } => "receipt_other_payment",
            Self::NotEvidence { .. } => "evidence_unreadable",
            Self::OtherSnapshot { .. } => "receipt_other_snapshot",
            Self::OtherEvidence { .. } => "receipt_other_evidence",
        }
    }
}

/// The first characters of an invalid text.
fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(80).collect()
}
