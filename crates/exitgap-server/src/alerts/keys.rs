//! The keys that sign events. Each endpoint has its own keys, derived from one key of the operator.
//!
//! A receiver of events from two endpoints therefore cannot present one endpoint's events as the other's, and only the
//! operator's key must be kept secret. The derivation is HKDF-SHA256 (RFC 5869); each key change increments the
//! generation.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use base64ct::{Base64, Base64UrlUnpadded, Encoding as _};
use ed25519_dalek::{Signer as _, SigningKey};
use exitgap_store::alerts::{EndpointKeys, Owner};
use hkdf::Hkdf;
use hmac::{Hmac, Mac as _};
use sha2::{Digest as _, Sha256};

use crate::secret_file::{self, SecretFileError};

/// How long the previous keys also sign.
pub const PREVIOUS_MS: u64 = 24 * 3_600_000;

/// Prefix of a key file.
const FORM: &str = "exitgap-alerts-key:1:";

/// Prefix of an owner's token.
const TOKEN: &str = "exa_";

/// Prefix of a ticket.
const TICKET: &str = "ext_";

/// An owner, a 32-bit expiry time and a 128-bit authentication code.
const TICKET_BYTES: usize = 32 + 4 + 16;

/// Why the key could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum AlertKeyError {
    /// The file.
    #[error(transparent)]
    File(#[from] SecretFileError),
    /// The file does not contain a key.
    #[error("{path} contains no alerts key; create one with `exitgap-server key alerts`")]
    NotAKey {
        /// The file.
        path: PathBuf,
    },
}

/// The operator's key.
#[derive(Clone)]
pub struct AlertKey([u8; 32]);

/// The keys of one endpoint and generation.
pub struct WebhookKey {
    secret: [u8; 32],
    signer: SigningKey,
}

impl AlertKey {
    /// Creates a key from these bytes.
    pub fn from_seed(seed: [u8; 32]) -> Self {
        Self(seed)
    }

    /// Reads a key from a file that only its owner can read.
    pub fn from_file(path: &Path) -> Result<Self, AlertKeyError> {
        let text = secret_file::read_secret(path, "alerts")?;
        let mut seed = [0; 32];
        let encoded = text.trim_end().strip_prefix(FORM);
        let read = encoded.and_then(|text| Base64::decode(text, &mut seed).ok().map(<[u8]>::len));
        match read {
            Some(32) => Ok(Self(seed)),
            _ => Err(AlertKeyError::NotAKey { path: path.to_owned() }),
        }
    }

    /// Writes the key to a new file that only its owner can read; fails if the file exists.
    pub fn write_file(&self, path: &Path) -> Result<(), AlertKeyError> {
        let text = format!("{FORM}{}", Base64::encode_string(&self.0));
        Ok(secret_file::write_secret(path, &text)?)
    }

    /// Derives an endpoint's keys of one generation.
    pub fn webhook(&self, salt: &[u8; 16], generation: u32) -> WebhookKey {
        let derived = Hkdf::<Sha256>::new(Some(salt), &self.0);
        let of = |what: &str| {
            let mut bytes = [0; 32];
            // HKDF can output more than 32 bytes, so this cannot fail.
            let _ = derived
                .expand(format!("exitgap webhook {what} {generation}").as_bytes(), &mut bytes);
            bytes
        };
        WebhookKey { secret: of("v1"), signer: SigningKey::from_bytes(&of("v1a")) }
    }

    /// A pseudonym for a client in the per-client counts: the client's address cannot be derived from it.
    pub fn client(&self, client: Option<IpAddr>) -> [u8; 16] {
        let mut mac = mac(&self.0);
        mac.update(b"exitgap alerts client\n");
        mac.update(client.map(|ip| ip.to_string()).unwrap_or_default().as_bytes());
        let digest: [u8; 32] = mac.finalize().into_bytes().into();
        let mut cut = [0; 16];
        cut.copy_from_slice(&digest[..16]);
        cut
    }

    /// Creates a ticket: an owner's credential for a stream in place of the token, valid until an instant and for
    /// nothing else.
    pub fn ticket(&self, owner: &Owner, until_s: u32) -> String {
        let mut bytes = [0; TICKET_BYTES];
        bytes[..32].copy_from_slice(owner);
        bytes[32..36].copy_from_slice(&until_s.to_be_bytes());
        let code = self.ticket_mac(&bytes[..36]).finalize().into_bytes();
        bytes[36..].copy_from_slice(&code[..16]);
        format!("{TICKET}{}", Base64UrlUnpadded::encode_string(&bytes))
    }

    /// The owner of a ticket, if this key issued it and it has not expired.
    pub fn owner_of(&self, ticket: &str, now_s: u64) -> Option<Owner> {
        let mut bytes = [0; TICKET_BYTES];
        let encoded = ticket.strip_prefix(TICKET)?;
        let read = Base64UrlUnpadded::decode(encoded, &mut bytes).ok()?.len();
        let (said, code) = bytes.split_at(36);
        self.ticket_mac(said).verify_truncated_left(code).ok()?;
        let until_s = u32::from_be_bytes(said[32..].try_into().ok()?);
        let owner = said[..32].try_into().ok()?;
        (read == TICKET_BYTES && now_s < until_s.into()).then_some(owner)
    }

    fn ticket_mac(&self, said: &[u8]) -> Hmac<Sha256> {
        let mut mac = mac(&self.0);
        mac.update(b"exitgap alerts ticket\n");
        mac.update(said);
        mac
    }

    /// The signatures of a message in the format of the header `webhook-signature`: by the current keys and, for a day
    /// after a key change, also by the previous ones.
    pub fn sign(&self, keys: &EndpointKeys, id: &str, timestamp_s: u64, body: &[u8]) -> String {
        let mut signed = self.webhook(&keys.salt, keys.generation).sign(id, timestamp_s, body);
        if let Some(before) = previous(keys, timestamp_s.saturating_mul(1_000)) {
            signed.push(' ');
            signed.push_str(&self.webhook(&keys.salt, before).sign(id, timestamp_s, body));
        }
        signed
    }
}

/// The previous generation, if it still signs.
pub fn previous(keys: &EndpointKeys, now_ms: u64) -> Option<u32> {
    let rotated_ms = keys.rotated_ms?;
    let before = keys.generation.checked_sub(1).filter(|before| *before > 0)?;
    (now_ms < rotated_ms.saturating_add(PREVIOUS_MS)).then_some(before)
}

fn mac(key: &[u8; 32]) -> Hmac<Sha256> {
    // A key shorter than a block is padded with zeros.
    let mut block = [0; 64];
    block[..32].copy_from_slice(key);
    Hmac::new(&block.into())
}

impl WebhookKey {
    /// The secret in the text form that receivers get.
    pub fn secret_text(&self) -> String {
        format!("whsec_{}", Base64::encode_string(&self.secret))
    }

    /// The public key that verifies `v1a`.
    pub fn public_text(&self) -> String {
        format!("whpk_{}", Base64::encode_string(self.signer.verifying_key().as_bytes()))
    }

    fn sign(&self, id: &str, timestamp_s: u64, body: &[u8]) -> String {
        let mut message = format!("{id}.{timestamp_s}.").into_bytes();
        message.extend_from_slice(body);
        let mut mac = mac(&self.secret);
        mac.update(&message);
        let shared = Base64::encode_string(&mac.finalize().into_bytes());
        let signature = Base64::encode_string(&self.signer.sign(&message).to_bytes());
        format!("v1,{shared} v1a,{signature}")
    }
}

/// An owner's token.
#[derive(Clone, PartialEq, Eq)]
pub struct OwnerToken([u8; 32]);

impl OwnerToken {
    /// Creates a new token.
    pub fn new() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// Parses a token from its text form.
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        let encoded = text.strip_prefix(TOKEN)?;
        let read = Base64UrlUnpadded::decode(encoded, &mut bytes).ok()?.len();
        (read == 32).then_some(Self(bytes))
    }

    /// The text form that the owner gets.
    pub fn text(&self) -> String {
        format!("{TOKEN}{}", Base64UrlUnpadded::encode_string(&self.0))
    }

    /// The owner's identity, which is stored in place of the token.
    pub fn owner(&self) -> Owner {
        Sha256::digest(self.0).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: EndpointKeys = EndpointKeys { salt: [3; 16], generation: 1, rotated_ms: None };

    #[test]
    fn every_endpoint_and_generation_has_keys_of_its_own() {
        let key = AlertKey::from_seed([9; 32]);
        let of = |salt, generation| {
            let keys = key.webhook(&[salt; 16], generation);
            [keys.secret_text(), keys.public_text()]
        };
        assert_eq!(of(1, 1), of(1, 1));
        let all = [of(1, 1), of(1, 2), of(2, 1)].concat();
        let distinct: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), 6);
        assert!(all[0].starts_with("whsec_") && all[1].starts_with("whpk_"));
        assert_ne!(AlertKey::from_seed([8; 32]).webhook(&[1; 16], 1).secret_text(), all[0]);
        let client = |ip: &str| key.client(ip.parse().ok());
        assert!(
            client("10.0.0.1") != client("10.0.0.2") && client("10.0.0.1") == client("10.0.0.1")
        );
    }

    #[test]
    fn after_a_change_both_keys_sign_for_a_day() {
        let key = AlertKey::from_seed([9; 32]);
        let rotated = EndpointKeys { generation: 2, rotated_ms: Some(1_000), ..KEYS };
        let before = key.sign(&KEYS, "evt_a", 5, b"{}");
        let both = key.sign(&rotated, "evt_a", 5, b"{}");
        assert_eq!(before.split(' ').count(), 2, "{before}");
        assert!(both.ends_with(&before) && both.split(' ').count() == 4, "{both}");
        let later = key.sign(&rotated, "evt_a", 86_401, b"{}");
        assert_eq!(later.split(' ').count(), 2, "{later}");
        assert_ne!(key.sign(&KEYS, "evt_a", 5, b"{ }"), before);
        assert_ne!(key.sign(&KEYS, "evt_a", 6, b"{}"), before);
        assert_ne!(key.sign(&KEYS, "evt_b", 5, b"{}"), before);
    }

    #[test]
    fn a_ticket_is_of_its_owner_and_key_and_has_an_end() {
        let key = AlertKey::from_seed([9; 32]);
        let (owner, ticket) = ([7; 32], key.ticket(&[7; 32], 1_000));
        assert_eq!((ticket.len(), key.owner_of(&ticket, 999)), (74, Some(owner)));
        assert_eq!(key.owner_of(&ticket, 1_000), None);
        assert_eq!(AlertKey::from_seed([8; 32]).owner_of(&ticket, 0), None);
        for place in 0..ticket.len() {
            let mut bytes = ticket.clone().into_bytes();
            bytes[place] = if bytes[place] == b'A' { b'E' } else { b'A' };
            assert_eq!(key.owner_of(std::str::from_utf8(&bytes).unwrap(), 0), None, "{place}");
        }
        let token = OwnerToken([7; 32]).text();
        for text in ["", "ext_", &token, &ticket[..73], &format!("{ticket}A")] {
            assert_eq!(key.owner_of(text, 0), None, "{text}");
        }
    }

    #[test]
    fn keys_and_tokens_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("alerts.key");
        let absent = AlertKey::from_file(&path).err().unwrap().to_string();
        assert!(absent.contains("exitgap-server key alerts --out"), "{absent}");
        AlertKey::from_seed([7; 32]).write_file(&path).unwrap();
        assert!(AlertKey::from_seed([6; 32]).write_file(&path).is_err());
        assert_eq!(AlertKey::from_file(&path).unwrap().0, [7; 32]);
        for text in ["", "exitgap-alerts-key:1:", "exitgap-alerts-key:1:AAAA", "other"] {
            std::fs::write(&path, text).unwrap();
            let error = AlertKey::from_file(&path).err().unwrap();
            assert!(matches!(error, AlertKeyError::NotAKey { .. }), "{text}: {error}");
        }
        let token = OwnerToken::new().unwrap();
        assert!(OwnerToken::parse(&token.text()) == Some(token.clone()));
        assert_eq!(token.text().len(), 47);
        for text in ["", "exa_", "exa_AAAA", &token.text()[1..], &format!("{}A", token.text())] {
            assert!(OwnerToken::parse(text).is_none(), "{text}");
        }
    }
}
