//! Signed notes (C2SP `signed-note`): a text and Ed25519 signatures under it.

use core::fmt;
use core::str::FromStr;

use base64ct::{Base64, Encoding};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use sha2::{Digest, Sha256};

/// The algorithm byte of Ed25519 in key ids and encoded keys.
pub(super) const ED25519: u8 = 1;

/// The longest note that is parsed.
pub const MAX_NOTE_BYTES: usize = 64 << 10;
/// The most signature lines that a note may have.
pub const MAX_SIGNATURES: usize = 64;

/// Why a text is not a signed note, or not a valid key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    /// More than [`MAX_NOTE_BYTES`].
    #[error("the note has {found} bytes; at most {most} are accepted", most = MAX_NOTE_BYTES)]
    TooLarge {
        /// Bytes found.
        found: usize,
    },
    /// A control character other than a line break.
    #[error(
        "a note must not contain control characters, and its lines must end with LF, not CR LF"
    )]
    Control,
    /// No empty line between text and signatures, or no line break at the end.
    #[error(
        "a note must be a text, an empty line and signature lines, each ending with a line break"
    )]
    Shape,
    /// A line under the text is not a signature line.
    #[error("line {line}, after the text, is not a signature line")]
    SignatureLine {
        /// Counted from 1.
        line: usize,
    },
    /// More than [`MAX_SIGNATURES`].
    #[error("the note has {found} signatures; at most {most} are accepted", most = MAX_SIGNATURES)]
    TooManySignatures {
        /// Signatures found.
        found: usize,
    },
    /// The text is not an encoded verifier key, `<name>+<id>+<base64>`.
    #[error("not a verifier key: expected <name>+<8 hex digits>+<base64 of 01 and 32 bytes>")]
    VerifierKey,
    /// The key's id does not match its name and bytes.
    #[error("the key's id is {found}, but its name and bytes give {expected}")]
    KeyId {
        /// The id that matches the name and bytes.
        expected: KeyId,
        /// The id found.
        found: KeyId,
    },
    /// The text is not an encoded signer key.
    #[error("not a signer key: expected PRIVATE+KEY+<name>+<8 hex digits>+<base64>")]
    SignerKey,
    /// A key's name is empty or contains white space or `+`.
    #[error("a key name must not be empty and must not contain white space or '+'")]
    Name,
}

/// The first four bytes of SHA-256 over name, line break, algorithm and key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyId(pub [u8; 4]);

impl KeyId {
    pub(super) fn for_key(name: &str, algorithm: u8, public: &[u8; 32]) -> Self {
        let digest = Sha256::new().chain_update(name).chain_update(b"\n").chain_update([algorithm]);
        let digest = digest.chain_update(public).finalize();
        Self([digest[0], digest[1], digest[2], digest[3]])
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let canonical =
            text.len() == 8 && text.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'));
        let number = u32::from_str_radix(text, 16).ok().filter(|_| canonical)?;
        Some(Self(number.to_be_bytes()))
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", u32::from_be_bytes(self.0))
    }
}

/// A signer's name and public key, written `<name>+<id>+<base64>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifierKey {
    name: String,
    id: KeyId,
    key: VerifyingKey,
}

impl VerifierKey {
    /// The signer's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The key's id.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// The public key alone, without name and id.
    pub fn public_bytes(&self) -> &[u8; 32] {
        self.key.as_bytes()
    }

    /// The same public key under another name.
    pub fn with_name(&self, name: &str) -> Result<Self, NoteError> {
        check_name(name)?;
        let id = KeyId::for_key(name, ED25519, self.key.as_bytes());
        Ok(Self { name: name.to_owned(), id, key: self.key })
    }

    pub(super) fn verifying_key(&self) -> VerifyingKey {
        self.key
    }
}

pub(super) fn check_name(name: &str) -> Result<(), NoteError> {
    let fits = !name.is_empty() && !name.chars().any(|c| c.is_whitespace() || c == '+' || c < ' ');
    if fits { Ok(()) } else { Err(NoteError::Name) }
}

/// Base64 of the algorithm byte and 32 key bytes. Only the canonical encoding is accepted.
pub(super) fn key_bytes(text: &str, algorithm: u8) -> Option<[u8; 32]> {
    let bytes =
        Base64::decode_vec(text).ok().filter(|bytes| Base64::encode_string(bytes) == text)?;
    let (found, key) = bytes.split_first()?;
    (*found == algorithm).then(|| key.try_into().ok()).flatten()
}

impl FromStr for VerifierKey {
    type Err = NoteError;
    fn from_str(text: &str) -> Result<Self, NoteError> {
        // The base64 part may contain '+'. The name and the id may not.
        let mut parts = text.splitn(3, '+');
        let (Some(name), Some(id), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(NoteError::VerifierKey);
        };
        check_name(name)?;
        let found = KeyId::parse(id).ok_or(NoteError::VerifierKey)?;
        let bytes = key_bytes(key, ED25519).ok_or(NoteError::VerifierKey)?;
        let expected = KeyId::for_key(name, ED25519, &bytes);
        if found != expected {
            return Err(NoteError::KeyId { expected, found });
        }
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| NoteError::VerifierKey)?;
        Ok(Self { name: name.to_owned(), id: found, key })
    }
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let encoded = Base64::encode_string(&[&[ED25519][..], self.key.as_bytes()].concat());
        write!(f, "{}+{}+{encoded}", self.name, self.id)
    }
}

/// A name and its private key. Written `PRIVATE+KEY+<name>+<id>+<base64>`.
#[derive(Clone)]
pub struct SignerKey {
    name: String,
    key: SigningKey,
}

impl SignerKey {
    /// Makes a key from 32 random bytes, which the caller provides.
    pub fn from_seed(name: &str, seed: [u8; 32]) -> Result<Self, NoteError> {
        check_name(name)?;
        Ok(Self { name: name.to_owned(), key: SigningKey::from_bytes(&seed) })
    }

    /// The same key under another name. A log's name may contain something that is not yet known when the key is made,
    /// for example the log's first slot.
    pub fn with_name(&self, name: &str) -> Result<Self, NoteError> {
        Self::from_seed(name, self.key.to_bytes())
    }

    /// The public half.
    pub fn verifier(&self) -> VerifierKey {
        let key = self.key.verifying_key();
        VerifierKey {
            name: self.name.clone(),
            id: KeyId::for_key(&self.name, ED25519, key.as_bytes()),
            key,
        }
    }

    /// The private key as text. Anyone who reads it can sign.
    pub fn to_secret_text(&self) -> String {
        let encoded = Base64::encode_string(&[&[ED25519][..], self.key.as_bytes()].concat());
        format!("PRIVATE+KEY+{}+{}+{encoded}", self.name, self.verifier().id)
    }

    /// Signs `text`, which must end with a line break, and returns the note.
    pub fn sign(&self, text: &str) -> Result<String, NoteError> {
        check_text(text)?;
        Ok(format!("{text}\n{}", self.signature_line(text)))
    }

    /// Adds this key's signature to a note that already has signatures.
    pub fn sign_beside(&self, note: &str) -> Result<String, NoteError> {
        let text = Note::parse(note)?.text;
        Ok(format!("{note}{}", self.signature_line(text)))
    }

    /// Signs arbitrary bytes.
    pub(super) fn sign_bytes(&self, bytes: &[u8]) -> [u8; 64] {
        self.key.sign(bytes).to_bytes()
    }

    fn signature_line(&self, text: &str) -> String {
        let signature = self.sign_bytes(text.as_bytes());
        let line = Base64::encode_string(&[&self.verifier().id.0[..], &signature].concat());
        format!("— {} {line}\n", self.name)
    }
}

impl FromStr for SignerKey {
    type Err = NoteError;
    fn from_str(text: &str) -> Result<Self, NoteError> {
        let rest = text.strip_prefix("PRIVATE+KEY+").ok_or(NoteError::SignerKey)?;
        let mut parts = rest.splitn(3, '+');
        let (Some(name), Some(id), Some(seed)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(NoteError::SignerKey);
        };
        let seed = key_bytes(seed, ED25519).ok_or(NoteError::SignerKey)?;
        let key = Self::from_seed(name, seed)?;
        let (expected, found) = (key.verifier().id, KeyId::parse(id).ok_or(NoteError::SignerKey)?);
        if found == expected { Ok(key) } else { Err(NoteError::KeyId { expected, found }) }
    }
}

/// Never shows the private half.
impl fmt::Debug for SignerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SignerKey({})", self.verifier())
    }
}

/// A parsed note. Its signatures are not yet verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note<'a> {
    /// The signed text, with its last line break.
    pub text: &'a str,
    signatures: Vec<SignatureLine<'a>>,
}

/// A line under a note's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SignatureLine<'a> {
    pub name: &'a str,
    pub id: KeyId,
    /// The bytes after the key id. The key's algorithm determines their meaning.
    pub signature: Vec<u8>,
}

/// The result of checking a note's signatures against a set of trusted keys.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Signers {
    /// Trusted keys that signed, as `<name>+<id>`.
    pub trusted: Vec<String>,
    /// Trusted keys whose name and id appear on a signature line that they did not sign.
    pub forged: Vec<String>,
    /// Names and ids of keys that are not trusted. They are ignored, as C2SP requires.
    pub unknown: Vec<String>,
}

/// The positions of a text's empty lines: for each, the index of the line break before it.
pub(super) fn empty_lines(text: &str) -> impl DoubleEndedIterator<Item = usize> {
    let pairs = text.as_bytes().windows(2).enumerate();
    pairs.filter(|(_, pair)| *pair == b"\n\n").map(|(position, _)| position)
}

fn check_text(text: &str) -> Result<(), NoteError> {
    if text.len() > MAX_NOTE_BYTES {
        return Err(NoteError::TooLarge { found: text.len() });
    }
    if text.chars().any(|c| c < ' ' && c != '\n') {
        return Err(NoteError::Control);
    }
    if text.ends_with('\n') { Ok(()) } else { Err(NoteError::Shape) }
}

impl<'a> Note<'a> {
    /// Parses a note.
    pub fn parse(note: &'a str) -> Result<Self, NoteError> {
        check_text(note)?;
        // The last empty line separates text and signatures, because the text may contain empty lines itself.
        let split = empty_lines(note).next_back().ok_or(NoteError::Shape)?;
        let (text, lines) = (&note[..=split], &note[split + 2..]);
        if text.len() < 2 || lines.is_empty() {
            return Err(NoteError::Shape);
        }
        let found = lines.lines().count();
        if found > MAX_SIGNATURES {
            return Err(NoteError::TooManySignatures { found });
        }
        let signatures = (1..)
            .zip(lines.lines())
            .map(|(line, text)| parse_line(text).ok_or(NoteError::SignatureLine { line }))
            .collect::<Result<_, _>>()?;
        Ok(Self { text, signatures })
    }

    /// Checks every signature line that has the name and id of a trusted key.
    pub fn signers(&self, trusted: &[VerifierKey]) -> Signers {
        let mut signers = Signers::default();
        for line in &self.signatures {
            let name = format!("{}+{}", line.name, line.id);
            let key = trusted.iter().find(|key| key.name == line.name && key.id == line.id);
            let list = match key {
                None => &mut signers.unknown,
                Some(key) if line.is_by(key, self.text) => &mut signers.trusted,
                Some(_) => &mut signers.forged,
            };
            if !list.contains(&name) {
                list.push(name);
            }
        }
        signers
    }

    /// The lines under the text.
    pub(super) fn lines(&self) -> &[SignatureLine<'a>] {
        &self.signatures
    }

    /// The signature lines of all keys except these, each with its line break.
    pub fn lines_of_others(&self, keys: &[VerifierKey]) -> String {
        let of_others = |line: &&SignatureLine<'_>| {
            keys.iter().all(|key| key.name != line.name || key.id != line.id)
        };
        self.signatures.iter().filter(of_others).map(SignatureLine::to_text).collect()
    }

    /// The note with only the signature lines of these keys.
    pub fn by(&self, keys: &[VerifierKey]) -> String {
        let of_them = |line: &&SignatureLine<'_>| {
            keys.iter().any(|key| key.name == line.name && key.id == line.id)
        };
        let mut note = format!("{}\n", self.text);
        for line in self.signatures.iter().filter(of_them) {
            note.push_str(&line.to_text());
        }
        note
    }
}

impl SignatureLine<'_> {
    /// The line, with its line break.
    pub fn to_text(&self) -> String {
        let bytes = [&self.id.0[..], &self.signature].concat();
        format!("— {} {}\n", self.name, Base64::encode_string(&bytes))
    }

    fn is_by(&self, key: &VerifierKey, text: &str) -> bool {
        Signature::from_slice(&self.signature)
            .is_ok_and(|signature| key.key.verify_strict(text.as_bytes(), &signature).is_ok())
    }
}

pub(super) fn parse_line(line: &str) -> Option<SignatureLine<'_>> {
    let (name, encoded) = line.strip_prefix("— ")?.split_once(' ')?;
    check_name(name).ok()?;
    let bytes =
        Base64::decode_vec(encoded).ok().filter(|bytes| Base64::encode_string(bytes) == encoded)?;
    let (id, signature) = bytes.split_first_chunk::<4>()?;
    (!signature.is_empty()).then(|| SignatureLine {
        name,
        id: KeyId(*id),
        signature: signature.to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str, seed: u8) -> SignerKey {
        SignerKey::from_seed(name, [seed; 32]).unwrap()
    }

    #[test]
    fn keys_round_trip_as_text() {
        let signer = key("exitgap.example/log", 7);
        let secret = signer.to_secret_text();
        assert_eq!(secret.parse::<SignerKey>().unwrap().to_secret_text(), secret);
        let public = signer.verifier().to_string();
        assert_eq!(public.parse::<VerifierKey>().unwrap(), signer.verifier());
        assert!(!format!("{signer:?}").contains("PRIVATE"));
        let named = signer.with_name("exitgap.example/log/5957856").unwrap();
        assert_eq!(named.verifier(), key("exitgap.example/log/5957856", 7).verifier());
        assert!(matches!(signer.with_name("a log"), Err(NoteError::Name)));
        let other_name = public.replacen("exitgap", "exit-gap", 1);
        assert!(matches!(other_name.parse::<VerifierKey>(), Err(NoteError::KeyId { .. })));
        for wrong in ["", "a+b", "a+0000000g+AAAA", "a b+00000000+AAAA"] {
            assert!(wrong.parse::<VerifierKey>().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn signatures_by_unknown_keys_are_ignored_and_false_ones_are_not() {
        let (ours, witness) = (key("log", 1), key("witness", 2));
        let note = ours.sign("a text\nof two lines\n").unwrap();
        let line = witness.sign("a text\nof two lines\n").unwrap();
        let both = format!("{note}{}\n", line.lines().last().unwrap());
        let signers = Note::parse(&both).unwrap().signers(&[ours.verifier()]);
        assert_eq!(signers.trusted.len(), 1);
        assert_eq!(signers.unknown, [format!("witness+{}", witness.verifier().id())]);
        assert_eq!(Note::parse(&both).unwrap().by(&[ours.verifier()]), note);
        let changed = note.replacen("a text", "A text", 1);
        let signers = Note::parse(&changed).unwrap().signers(&[ours.verifier()]);
        assert!(signers.trusted.is_empty());
        assert_eq!(signers.forged.len(), 1);
    }

    #[test]
    fn texts_that_are_no_notes_are_refused_by_name() {
        let note = key("log", 1).sign("text\n").unwrap();
        assert_eq!(Note::parse("text\n"), Err(NoteError::Shape));
        assert_eq!(Note::parse(note.trim_end()), Err(NoteError::Shape));
        assert_eq!(Note::parse("text\n\n"), Err(NoteError::Shape));
        assert_eq!(Note::parse("te\txt\n\n— a b\n"), Err(NoteError::Control));
        // A program that writes CR LF line breaks would save the note like this. Those are not the signed bytes.
        let saved = note.replace('\n', "\r\n");
        assert_eq!(Note::parse(&saved), Err(NoteError::Control));
        assert!(NoteError::Control.to_string().contains("LF, not CR LF"));
        assert_eq!(key("log", 1).sign("text\r\n"), Err(NoteError::Control));
        assert_eq!(Note::parse("text\n\n- a b\n"), Err(NoteError::SignatureLine { line: 1 }));
        let many = format!(
            "text\n\n{}",
            note.lines().last().map(|l| format!("{l}\n")).unwrap().repeat(65)
        );
        assert_eq!(Note::parse(&many), Err(NoteError::TooManySignatures { found: 65 }));
        let large = format!("{}\n", "x".repeat(MAX_NOTE_BYTES));
        assert!(matches!(Note::parse(&large), Err(NoteError::TooLarge { .. })));
        assert_eq!(key("log", 1).sign("no line break"), Err(NoteError::Shape));
        assert!(matches!(SignerKey::from_seed("a b", [0; 32]), Err(NoteError::Name)));
    }
}
