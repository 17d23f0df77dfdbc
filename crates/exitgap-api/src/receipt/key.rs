//! The keys for receipts, as JSON Web Keys (RFC 7517, 8037), named by their thumbprint (RFC 7638).

use core::fmt;
use core::str::FromStr;

use base64ct::{Base64UrlUnpadded, Encoding};
use ed25519_dalek::{Signer, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The public key that verifies receipts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptKey(pub(super) VerifyingKey);

/// The public key in the format in which others read and write it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReceiptJwk {
    /// `OKP`.
    pub kty: String,
    /// `Ed25519`.
    pub crv: String,
    /// The key's 32 bytes, base64url.
    pub x: String,
    /// The key id: the base64url of its thumbprint, the SHA-256 of
    /// `{"crv":"Ed25519","kty":"OKP","x":"…"}`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kid: Option<String>,
    /// `EdDSA`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub alg: Option<String>,
}

/// The private key that signs receipts. It is never printed.
#[derive(Clone)]
pub struct ReceiptSigner(SigningKey);

/// Why a value is not a key for receipts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReceiptKeyError {
    /// Not 32 bytes of a curve point in base64url.
    #[error("not a receipt key: expected 43 characters of base64url, or a JSON Web Key with them")]
    NotAKey,
    /// A key of a kind that does not sign receipts.
    #[error("the key's {field} is {found:?}, expected {expected:?}")]
    Kind {
        /// The JWK member.
        field: &'static str,
        /// The expected value.
        expected: &'static str,
        /// The value found.
        found: String,
    },
    /// The key's name is not its thumbprint.
    #[error("the key id is {found}, but its bytes give {expected}")]
    Name {
        /// The thumbprint.
        expected: String,
        /// The name found.
        found: String,
    },
    /// A log's key, which must sign only checkpoints.
    #[error("this is the key of a log; receipts use a separate key")]
    OfALog,
    /// The private key does not belong to the public key.
    #[error("the two parts d and x of the key do not match")]
    Halves,
}

/// A private key as its file contains it.
#[derive(Serialize, Deserialize)]
struct SecretJwk {
    kty: String,
    crv: String,
    x: String,
    d: String,
}

const KTY: &str = "OKP";
const CRV: &str = "Ed25519";
pub(super) const ALG: &str = "EdDSA";

/// Decodes base64url. Only the canonical encoding is accepted.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let bytes = Base64UrlUnpadded::decode_vec(text).ok()?;
    (Base64UrlUnpadded::encode_string(&bytes) == text).then_some(bytes)
}

pub(super) fn encode(bytes: &[u8]) -> String {
    Base64UrlUnpadded::encode_string(bytes)
}

fn require(
    field: &'static str,
    expected: &'static str,
    found: &str,
) -> Result<(), ReceiptKeyError> {
    if found == expected {
        return Ok(());
    }
    Err(ReceiptKeyError::Kind { field, expected, found: super::shown(found) })
}

impl ReceiptKey {
    /// The key with these bytes. Weak keys, under which many signatures are valid, are refused.
    pub fn of_bytes(bytes: &[u8; 32]) -> Result<Self, ReceiptKeyError> {
        let key = VerifyingKey::from_bytes(bytes).ok().filter(|key| !key.is_weak());
        key.map(Self).ok_or(ReceiptKeyError::NotAKey)
    }

    /// Its bytes.
    pub fn to_bytes(&self) -> [u8; 32] {
        self.0.to_bytes()
    }

    /// Its name: the base64url of its thumbprint.
    pub fn kid(&self) -> String {
        let canonical = format!("{{\"crv\":\"{CRV}\",\"kty\":\"{KTY}\",\"x\":\"{self}\"}}");
        encode(&Sha256::digest(canonical))
    }

    /// The key as a public JSON Web Key.
    pub fn to_jwk(&self) -> ReceiptJwk {
        ReceiptJwk {
            kty: KTY.to_owned(),
            crv: CRV.to_owned(),
            x: self.to_string(),
            kid: Some(self.kid()),
            alg: Some(ALG.to_owned()),
        }
    }

    /// Parses a public JSON Web Key.
    pub fn of_jwk(jwk: &ReceiptJwk) -> Result<Self, ReceiptKeyError> {
        require("kty", KTY, &jwk.kty)?;
        require("crv", CRV, &jwk.crv)?;
        if let Some(alg) = &jwk.alg {
            require("alg", ALG, alg)?;
        }
        let key: Self = jwk.x.parse()?;
        match &jwk.kid {
            Some(found) if *found != key.kid() => {
                Err(ReceiptKeyError::Name { expected: key.kid(), found: super::shown(found) })
            }
            _ => Ok(key),
        }
    }

    /// Parses a key in any of its usual forms: its 43 characters, a JSON Web Key, or a document with a JSON Web Key as
    /// its member `receipt_key`, such as that of `GET /v1/payments`.
    pub fn from_text(text: &str) -> Result<Self, ReceiptKeyError> {
        #[derive(Deserialize)]
        struct Holder {
            receipt_key: ReceiptJwk,
        }
        let text = text.trim();
        if !text.starts_with('{') {
            return text.parse();
        }
        let jwk = serde_json::from_str::<Holder>(text).map(|holder| holder.receipt_key);
        let jwk = jwk.or_else(|_| serde_json::from_str(text));
        Self::of_jwk(&jwk.map_err(|_| ReceiptKeyError::NotAKey)?)
    }
}

/// The key's 32 bytes as 43 characters of base64url.
impl fmt::Display for ReceiptKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&encode(self.0.as_bytes()))
    }
}

impl FromStr for ReceiptKey {
    type Err = ReceiptKeyError;
    fn from_str(text: &str) -> Result<Self, ReceiptKeyError> {
        let bytes = if text.len() == 43 { decode(text) } else { None };
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
        Self::of_bytes(&bytes.ok_or(ReceiptKeyError::NotAKey)?)
    }
}

impl ReceiptSigner {
    /// Makes the key from 32 random bytes, which the caller provides.
    pub fn from_seed(seed: [u8; 32]) -> Self {
        Self(SigningKey::from_bytes(&seed))
    }

    /// The public half.
    pub fn key(&self) -> ReceiptKey {
        ReceiptKey(self.0.verifying_key())
    }

    /// Signs a text.
    pub(super) fn sign(&self, text: &str) -> [u8; 64] {
        self.0.sign(text.as_bytes()).to_bytes()
    }

    /// The contents of its file: a private JSON Web Key. Anyone who reads it can sign.
    pub fn to_secret_text(&self) -> String {
        let x = self.key().to_string();
        let d = encode(self.0.as_bytes());
        format!("{{\"kty\":\"{KTY}\",\"crv\":\"{CRV}\",\"x\":\"{x}\",\"d\":\"{d}\"}}")
    }

    /// Parses the contents of a key file. A log's key is refused with its own error.
    pub fn of_secret_text(text: &str) -> Result<Self, ReceiptKeyError> {
        let text = text.trim();
        if text.starts_with("PRIVATE+KEY+") {
            return Err(ReceiptKeyError::OfALog);
        }
        let jwk: SecretJwk = serde_json::from_str(text).map_err(|_| ReceiptKeyError::NotAKey)?;
        require("kty", KTY, &jwk.kty)?;
        require("crv", CRV, &jwk.crv)?;
        let seed = decode(&jwk.d).and_then(|bytes| bytes.try_into().ok());
        let signer = Self::from_seed(seed.ok_or(ReceiptKeyError::NotAKey)?);
        if signer.key().to_string() == jwk.x { Ok(signer) } else { Err(ReceiptKeyError::Halves) }
    }
}

/// Never shows the private half.
impl fmt::Debug for ReceiptSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReceiptSigner({})", self.key().kid())
    }
}
