//! Receipts of payments: who paid what, and with which bytes that was answered, signed by whoever was paid.
//!
//! **In scope**: a receipt's fields and their one spelling ([`Receipt`]), its keys ([`ReceiptKey`],
//! [`ReceiptSigner`]), and checking one offline: the signature, the answer's bytes, the evidence.
//! **Out of scope**: whether the number is right, which evidence proves and nobody's word does; keeping
//! receipts and their keys.
//!
//! A receipt is a compact JWS (RFC 7515) under Ed25519 (RFC 8037), of which this reads one kind and no
//! other: `exitgap-pay/docs/receipt-v1.md` is its format. Its key signs nothing else, and never a log.

mod check;
mod jws;
mod key;

#[cfg(test)]
mod tests;

use exitgap_core::ids::{Address, Caip2, SnapshotHash, Word};
use serde::{Deserialize, Serialize};

use crate::x402::Units;

pub use key::{ReceiptJwk, ReceiptKey, ReceiptKeyError, ReceiptSigner};

/// The version that is written and read.
pub const RECEIPT_VERSION: u32 = 1;

/// The longest receipt that is read, bytes: more than a header holds.
pub const MAX_RECEIPT_BYTES: usize = 8 << 10;

/// What was paid, and for what. The payload of the signed text, in the order of these fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// [`RECEIPT_VERSION`].
    pub v: u32,
    /// The chain that was paid on.
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

/// Why a text is no receipt, or none of this answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReceiptError {
    /// Longer than is read.
    #[error("a receipt of {found} bytes is larger than the limit of {MAX_RECEIPT_BYTES}")]
    TooLarge {
        /// Its length.
        found: usize,
    },
    /// Not three parts with dots between them.
    #[error("a receipt has three parts of base64url separated by dots, found {found}")]
    Shape {
        /// How many parts.
        found: usize,
    },
    /// A part is not base64url in its one spelling, without padding.
    #[error("the receipt's {part} is not base64url without padding")]
    NotBase64 {
        /// `header`, `payload` or `signature`.
        part: &'static str,
    },
    /// A part is not the JSON that belongs there.
    #[error("the receipt's {part} is not the expected JSON: {why}")]
    NotJson {
        /// `header` or `payload`.
        part: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// Signed in another way, or not at all.
    #[error("the receipt's alg is {found:?}; only \"EdDSA\" is accepted")]
    Algorithm {
        /// What it says.
        found: String,
    },
    /// A signed text of another kind.
    #[error("the signed text's typ is {found:?}, not the typ of a receipt")]
    Kind {
        /// What it says.
        found: String,
    },
    /// It names another key.
    #[error("the receipt is signed by the key {found}, not by {expected}")]
    OtherKey {
        /// The name of the key that it was checked with.
        expected: String,
        /// The name it gives.
        found: String,
    },
    /// The key did not sign this text.
    #[error(
        "the signature does not match this text and key: the receipt was altered, or another key signed it"
    )]
    Signature,
    /// Of a later version.
    #[error("the receipt has version {found}, which this program does not know")]
    Newer {
        /// The version.
        found: u64,
    },
    /// What it says is spelled in another way than receipts are.
    #[error("the receipt's payload is not in canonical form")]
    NotCanonical,
    /// The answer is not the one that was paid for.
    #[error("the answer's SHA-256 is {found}, but the receipt is for {expected}")]
    OtherAnswer {
        /// In the receipt.
        expected: Word,
        /// Of the answer.
        found: Word,
    },
    /// It is of another payment than was made.
    #[error("the receipt's {field} is {found}, but {expected} was paid")]
    OtherPayment {
        /// What differs.
        field: &'static str,
        /// What was paid.
        expected: String,
        /// In the receipt.
        found: String,
    },
    /// The file is no evidence that can be read.
    #[error("the evidence cannot be read: {why}")]
    NotEvidence {
        /// What is wrong with it.
        why: String,
    },
    /// The evidence rests on another snapshot.
    #[error("the evidence is based on the snapshot {found}, but the receipt is for {expected}")]
    OtherSnapshot {
        /// In the receipt.
        expected: SnapshotHash,
        /// In the evidence.
        found: SnapshotHash,
    },
    /// The evidence is of another question than the receipt's `evidence_url` asks.
    #[error("the evidence is for {found}, but the receipt names evidence for {expected}")]
    OtherEvidence {
        /// Of the receipt.
        expected: String,
        /// Of the evidence.
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

/// The head of a wrong text.
fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(80).collect()
}
