//! Decides whether a checkpoint's signatures are valid: a trusted key of the checkpoint's own log signed it, and no
//! signature under a trusted key's name and id is forged. Only this module decides that.

use core::fmt::Display;
use core::str::FromStr;

use super::checkpoint::{Checkpoint, CheckpointError};
use super::note::{Note, Signers, VerifierKey};

/// Why a checkpoint's signatures do not satisfy a caller who trusts certain keys.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrustError {
    /// A signature line has a trusted key's name and id but was not signed with that key. Even if other signatures are
    /// valid, someone tampered with the note.
    #[error("the signature named {signer} was not made by the key with that name")]
    Forged {
        /// The key, as `<name>+<id>`.
        signer: String,
    },
    /// No trusted key of the log signed. A key of one log does not vouch for another.
    #[error("the checkpoint of {origin} is not signed by a trusted key")]
    NotTrusted {
        /// The log. A trusted key's name must be the same.
        origin: String,
        /// The keys that did sign, as `<name>+<id>`: trusted keys of other logs, then unknown keys.
        found: Vec<String>,
    },
}

/// Why a text is not a checkpoint signed with a trusted key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignedError {
    /// The text cannot be parsed.
    #[error(transparent)]
    Unreadable(#[from] CheckpointError),
    /// The checkpoint was parsed, but its signatures are not sufficient.
    #[error(transparent)]
    Unsigned(#[from] TrustError),
}

impl Signers {
    /// The trusted key of the log `origin` that signed, as `<name>+<id>`. Fails if any signature is forged.
    pub fn of_log(&self, origin: &impl Display) -> Result<&str, TrustError> {
        if let Some(signer) = self.forged.first() {
            return Err(TrustError::Forged { signer: signer.clone() });
        }
        let origin = origin.to_string();
        let is_own =
            |signer: &&String| signer.rsplit_once('+').is_some_and(|(name, _)| name == origin);
        self.trusted.iter().find(is_own).map(String::as_str).ok_or_else(|| TrustError::NotTrusted {
            origin,
            found: [&self.trusted[..], &self.unknown[..]].concat(),
        })
    }

    /// Requires that one of the keys signed, under whatever name, and that nobody signed falsely as one of them.
    fn of_any_key(&self, origin: &impl Display) -> Result<(), TrustError> {
        if let Some(signer) = self.forged.first() {
            return Err(TrustError::Forged { signer: signer.clone() });
        }
        if self.trusted.is_empty() {
            let (origin, found) = (origin.to_string(), self.unknown.clone());
            return Err(TrustError::NotTrusted { origin, found });
        }
        Ok(())
    }
}

impl Note<'_> {
    /// Requires that one of `keys` signed for the log `origin` and that no signature under one of these keys is forged.
    /// Returns the signing key as `<name>+<id>`.
    pub fn signed_by(
        &self,
        origin: &impl Display,
        keys: &[VerifierKey],
    ) -> Result<String, TrustError> {
        self.signers(keys).of_log(origin).map(str::to_owned)
    }
}

impl<O: Display + FromStr<Err = CheckpointError>> Checkpoint<O> {
    /// Reads a checkpoint that one of `keys` signed for its log, without a forged signature.
    pub fn signed_by(note: &str, keys: &[VerifierKey]) -> Result<Self, SignedError> {
        let (checkpoint, note) = Self::from_note(note)?;
        note.signed_by(&checkpoint.origin, keys)?;
        Ok(checkpoint)
    }

    /// The same where all of `keys` are known to be the log's, whatever their names are: logs of others have keys that are
    /// not named as their origins are.
    pub fn signed_by_its(note: &str, keys: &[VerifierKey]) -> Result<Self, SignedError> {
        let (checkpoint, note) = Self::from_note(note)?;
        note.signers(keys).of_any_key(&checkpoint.origin)?;
        Ok(checkpoint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hash, Origin, SignerKey};

    const ORIGIN: &str = "exitgap.example/log/5957856";

    fn text() -> String {
        let origin = Origin::new(ORIGIN).unwrap();
        let root = Hash([3; 32]);
        Checkpoint { origin, size: 7, root, extensions: Vec::new() }.to_text()
    }

    /// A note with this text. Each key really signed the text next to it, which may be another one.
    fn note(signatures: &[(&SignerKey, &str)]) -> String {
        let line = |(key, signed): &(&SignerKey, &str)| {
            format!("{}\n", key.sign(signed).unwrap().lines().last().unwrap())
        };
        format!("{}\n{}", text(), signatures.iter().map(line).collect::<String>())
    }

    #[test]
    fn only_a_trusted_key_of_the_log_vouches_for_it_and_no_forgery_is_overlooked() {
        let key = |name: &str, seed| SignerKey::from_seed(name, [seed; 32]).unwrap();
        let (ours, other) = (key(ORIGIN, 1), key("other.example/log/5957856", 2));
        let (stranger, text) = (key(ORIGIN, 3), text());
        let trusted = [ours.verifier(), other.verifier()];
        let judged = |signatures: &[(&SignerKey, &str)]| {
            Checkpoint::<Origin>::signed_by(&note(signatures), &trusted)
        };
        let unsigned = |found: &[&SignerKey]| {
            let name = |key: &&SignerKey| {
                let key = key.verifier();
                format!("{}+{}", key.name(), key.id())
            };
            let found = found.iter().map(name).collect();
            Err(SignedError::Unsigned(TrustError::NotTrusted { origin: ORIGIN.to_owned(), found }))
        };
        let checkpoint = Checkpoint::from_text(&text).unwrap();
        assert_eq!(judged(&[(&ours, &text)]), Ok(checkpoint.clone()));
        // Lines of unknown keys are ignored, even if they signed another text.
        let beside = [(&stranger, "another text\n"), (&ours, &text[..]), (&other, &text[..])];
        assert_eq!(judged(&beside), Ok(checkpoint.clone()));
        assert_eq!(judged(&[(&other, &text)]), unsigned(&[&other]));
        assert_eq!(judged(&[(&stranger, &text), (&other, &text)]), unsigned(&[&other, &stranger]));
        for forged in [&ours, &other] {
            for first in [true, false] {
                let mut both = [(&ours, &text[..]), (forged, "another text\n")];
                if !first {
                    both.reverse();
                }
                let Err(SignedError::Unsigned(TrustError::Forged { signer })) = judged(&both)
                else {
                    panic!("a forged signature by {forged:?} was overlooked");
                };
                assert!(signer.starts_with(forged.verifier().name()));
            }
        }
        let nobody = Checkpoint::<Origin>::signed_by(&note(&[(&ours, &text)]), &[]);
        assert_eq!(nobody, unsigned(&[&ours]));
        let unreadable = Checkpoint::<Origin>::signed_by("text\n", &trusted);
        assert!(matches!(unreadable, Err(SignedError::Unreadable(CheckpointError::Note(_)))));
    }
}
