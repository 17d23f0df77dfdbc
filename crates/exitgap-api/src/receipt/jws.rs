//! Signs receipts, and verifies signed texts with a key.

use ed25519_dalek::Signature;
use serde::{Deserialize, Serialize};

use super::key::{ALG, decode, encode};
use super::{
    MAX_RECEIPT_BYTES, RECEIPT_VERSION, Receipt, ReceiptError, ReceiptKey, ReceiptSigner, shown,
};

/// The type of the signed text.
const TYP: &str = "exitgap-receipt";

/// The header, which is the first part of the text.
#[derive(Serialize)]
struct Header<'a> {
    alg: &'a str,
    kid: &'a str,
    typ: &'a str,
}

/// The header while it is parsed. Absent members are read as empty, and refused by name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadHeader {
    #[serde(default)]
    alg: String,
    #[serde(default)]
    kid: String,
    #[serde(default)]
    typ: String,
}

#[derive(Deserialize)]
struct AnyVersion {
    v: u64,
}

fn not_json(part: &'static str) -> impl Fn(serde_json::Error) -> ReceiptError {
    move |error| ReceiptError::NotJson { part, why: shown(&error.to_string()) }
}

impl Receipt {
    /// The payload's bytes: JSON without white space, with its members in the order of the fields.
    fn to_canonical(&self) -> Vec<u8> {
        // Strings and numbers can always be written as JSON.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Signs the receipt. The same receipt and key always give the same text.
    pub fn sign(&self, signer: &ReceiptSigner) -> String {
        let kid = signer.key().kid();
        let header = Header { alg: ALG, kid: &kid, typ: TYP };
        let header = serde_json::to_vec(&header).unwrap_or_default();
        let mut text = format!("{}.{}", encode(&header), encode(&self.to_canonical()));
        let signature = signer.sign(&text);
        text.push('.');
        text.push_str(&encode(&signature));
        text
    }

    /// Verifies a text that this key signed. Before the signature is verified, only the declared type of the text is
    /// read.
    pub fn verify(text: &str, key: &ReceiptKey) -> Result<Self, ReceiptError> {
        if text.len() > MAX_RECEIPT_BYTES {
            return Err(ReceiptError::TooLarge { found: text.len() });
        }
        let parts: Vec<&str> = text.split('.').collect();
        let [header, payload, signature] = parts[..] else {
            return Err(ReceiptError::Shape { found: parts.len() });
        };
        let bytes = |part, text| decode(text).ok_or(ReceiptError::NotBase64 { part });
        let (header_bytes, payload_bytes) = (bytes("header", header)?, bytes("payload", payload)?);
        let signature = bytes("signature", signature)?;
        let read: ReadHeader = serde_json::from_slice(&header_bytes).map_err(not_json("header"))?;
        if read.alg != ALG {
            return Err(ReceiptError::Algorithm { found: shown(&read.alg) });
        }
        if read.typ != TYP {
            return Err(ReceiptError::Kind { found: shown(&read.typ) });
        }
        let expected = key.kid();
        if read.kid != expected {
            return Err(ReceiptError::OtherKey { expected, found: shown(&read.kid) });
        }
        let signed = &text[..header.len() + 1 + payload.len()];
        let signature = Signature::from_slice(&signature).map_err(|_| ReceiptError::Signature)?;
        key.0.verify_strict(signed.as_bytes(), &signature).map_err(|_| ReceiptError::Signature)?;
        Self::of_payload(&payload_bytes)
    }

    fn of_payload(bytes: &[u8]) -> Result<Self, ReceiptError> {
        let not_json = not_json("payload");
        let AnyVersion { v } = serde_json::from_slice(bytes).map_err(&not_json)?;
        if v != u64::from(RECEIPT_VERSION) {
            return Err(ReceiptError::Newer { found: v });
        }
        let receipt: Self = serde_json::from_slice(bytes).map_err(&not_json)?;
        if receipt.to_canonical() == bytes { Ok(receipt) } else { Err(ReceiptError::NotCanonical) }
    }
}
