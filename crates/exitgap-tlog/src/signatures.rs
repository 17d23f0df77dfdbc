//! The one judgement of a checkpoint's signatures: a trusted key of its own log signed it, and
//! nobody signed falsely as a trusted key.

use core::fmt::Display;
use core::str::FromStr;

use super::checkpoint::{Checkpoint, CheckpointError};
use super::note::{Note, Signers, VerifierKey};

/// Why a checkpoint's signatures are worth nothing to somebody who trusts certain keys.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrustError {
    /// A signature stands under a trusted key's name and id, and is not by that key: whatever else
    /// is true of the note, somebody tampered with it.
    #[error("the signature named {signer} was not made by the key with that name")]
    Forged {
        /// The key, as `<name>+<id>`.
        signer: String,
    },
    /// No trusted key of the log signed. A key of one log does not vouch for another.
    #[error("the checkpoint of {origin} is not signed by a trusted key")]
    NotTrusted {
        /// The log, whose name the key would have.
        origin: String,
        /// Who did sign, as `<name>+<id>`: trusted keys of other logs, then unknown ones.
        found: Vec<String>,
    },
}

/// Why a text is no checkpoint that a trusted key signed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignedError {
    /// It cannot be read.
    #[error(transparent)]
    Unreadable(#[from] CheckpointError),
    /// It can, and is not signed as it must be.
    #[error(transparent)]
    Unsigned(#[from] TrustError),
}

impl Signers {
    /// The trusted key of the log `origin` that signed, as `<name>+<id>`, where no signature is
    /// forged.
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
    /// Requires that one of `keys` signed for the log `origin`, and that nobody signed falsely as
    /// one of them. Answers who, as `<name>+<id>`.
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

    /// The text under these signatures: each a key, and the text that it really signed.
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
        // Others may sign beside it, whatever they sign.
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
