//! Cosignatures (C2SP `tlog-cosignature`, its Ed25519 form). With a cosignature a witness states that at a given time
//! this checkpoint was the largest state of the log that it knew, and that all states it knew belong to one history.

use core::fmt;
use core::str::FromStr;

use base64ct::{Base64, Encoding};
use ed25519_dalek::{Signature, VerifyingKey};

use super::note::{KeyId, Note, NoteError, SignatureLine, SignerKey, check_name, key_bytes};

/// The algorithm byte of an Ed25519 cosignature in key ids and encoded keys.
const COSIGNATURE_V1: u8 = 4;

/// The latest second that a cosignature may state.
pub const MAX_COSIGNATURE_TIME_S: u64 = i64::MAX as u64;

/// Why a text is not a witness's verifier key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WitnessKeyError {
    /// The text does not have the form of a key, or it is a key that signs logs.
    #[error("not a witness key: expected <name>+<8 hex digits>+<base64 of 04 and 32 bytes>")]
    Form,
    /// The name is not valid for a key, or the id does not match the name and the key bytes.
    #[error(transparent)]
    Note(#[from] NoteError),
}

/// A witness's name and public key, written `<name>+<id>+<base64>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WitnessKey {
    name: String,
    id: KeyId,
    key: VerifyingKey,
}

impl WitnessKey {
    /// The witness's name.
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

    fn from_key(name: String, key: VerifyingKey) -> Self {
        let id = KeyId::for_key(&name, COSIGNATURE_V1, key.as_bytes());
        Self { name, id, key }
    }

    /// Judges this witness's signature lines under a note. One line that is not signed by the key makes the result
    /// `Forged`. Of several valid cosignatures the earliest counts.
    pub fn judge(&self, note: &Note<'_>) -> CosignatureStatus {
        let mut earliest = CosignatureStatus::Absent;
        for line in note.lines().iter().filter(|line| self.is_named_by(line)) {
            match self.time_of(line, note.text) {
                None => return CosignatureStatus::Forged,
                Some(time_s) => {
                    earliest = match earliest {
                        CosignatureStatus::At(before_s) => {
                            CosignatureStatus::At(before_s.min(time_s))
                        }
                        _ => CosignatureStatus::At(time_s),
                    }
                }
            }
        }
        earliest
    }

    /// Finds, in the lines of a witness's response, the first that is this key's cosignature of `text`, and returns it
    /// with its time. Lines of other keys and lines that are not signature lines are skipped.
    pub fn find(&self, lines: &str, text: &str) -> Option<(String, u64)> {
        let lines = lines.lines().filter_map(super::note::parse_line);
        let mut ours = lines.filter(|line| self.is_named_by(line));
        ours.find_map(|line| Some((line.to_text(), self.time_of(&line, text)?)))
    }

    fn is_named_by(&self, line: &SignatureLine<'_>) -> bool {
        line.name == self.name && line.id == self.id
    }

    /// The time that the line states, if the line is this key's cosignature of the text.
    fn time_of(&self, line: &SignatureLine<'_>, text: &str) -> Option<u64> {
        let (time, signature) = line.signature.split_first_chunk::<8>()?;
        let time_s = u64::from_be_bytes(*time);
        if time_s > MAX_COSIGNATURE_TIME_S {
            return None;
        }
        let signature = Signature::from_slice(signature).ok()?;
        self.key.verify_strict(message(time_s, text).as_bytes(), &signature).ok().map(|()| time_s)
    }
}

impl FromStr for WitnessKey {
    type Err = WitnessKeyError;
    fn from_str(text: &str) -> Result<Self, WitnessKeyError> {
        let mut parts = text.splitn(3, '+');
        let (Some(name), Some(id), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(WitnessKeyError::Form);
        };
        check_name(name)?;
        let found = KeyId::parse(id).ok_or(WitnessKeyError::Form)?;
        let bytes = key_bytes(key, COSIGNATURE_V1).ok_or(WitnessKeyError::Form)?;
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| WitnessKeyError::Form)?;
        let witness = Self::from_key(name.to_owned(), key);
        let expected = witness.id;
        if found == expected {
            Ok(witness)
        } else {
            Err(NoteError::KeyId { expected, found }.into())
        }
    }
}

impl fmt::Display for WitnessKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let encoded = Base64::encode_string(&[&[COSIGNATURE_V1][..], self.key.as_bytes()].concat());
        write!(f, "{}+{}+{encoded}", self.name, self.id)
    }
}

/// The result of judging a witness's lines under a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CosignatureStatus {
    /// The note has no line of this witness.
    Absent,
    /// It cosigned, at this Unix second by its own clock.
    At(u64),
    /// A line has the witness's name and id but was not signed with its key.
    Forged,
}

/// A witness's private key: a [`SignerKey`] that is used only for cosignatures.
#[derive(Debug, Clone)]
pub struct Cosigner(SignerKey);

impl Cosigner {
    /// Cosigns with this key, under its name. The key should not sign anything else.
    pub fn new(key: SignerKey) -> Self {
        Self(key)
    }

    /// The public half.
    pub fn verifier(&self) -> WitnessKey {
        let of_logs = self.0.verifier();
        WitnessKey::from_key(of_logs.name().to_owned(), of_logs.verifying_key())
    }

    /// The cosignature line, including its line break, for a checkpoint's text at this Unix second.
    pub fn cosign(&self, text: &str, time_s: u64) -> String {
        let time_s = time_s.min(MAX_COSIGNATURE_TIME_S);
        let signature = self.0.sign_bytes(message(time_s, text).as_bytes());
        let verifier = self.verifier();
        let signature = [&time_s.to_be_bytes()[..], &signature].concat();
        SignatureLine { name: verifier.name(), id: verifier.id, signature }.to_text()
    }
}

/// The signed bytes: two lines, then the whole text of the note.
fn message(time_s: u64, text: &str) -> String {
    format!("cosignature/v1\ntime {time_s}\n{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "exitgap.example/log/5957856\n7\nAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwM=\n";

    fn cosigner(name: &str, seed: u8) -> Cosigner {
        Cosigner::new(SignerKey::from_seed(name, [seed; 32]).unwrap())
    }

    #[test]
    fn keys_of_witnesses_that_others_run_read_as_they_are_written() {
        // Keys that operators of C2SP witnesses publish, with the ids that they publish.
        for key in [
            "witness.stagemole.eu+67f7aea0+BEqSG3yu9YrmcM3BHvQYTxwFj3uSWakQepafafpUqklv",
            "remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2",
        ] {
            assert_eq!(key.parse::<WitnessKey>().unwrap().to_string(), key);
        }
        let key = cosigner("witness.example/w1", 3).verifier().to_string();
        let wrong = |text: &str| text.parse::<WitnessKey>().unwrap_err();
        let other_name = wrong(&key.replacen("w1", "w2", 1));
        assert!(matches!(other_name, WitnessKeyError::Note(NoteError::KeyId { .. })));
        // A log's key is not accepted as a witness's key.
        let of_log = SignerKey::from_seed("witness.example/w1", [3; 32]).unwrap().verifier();
        assert_eq!(wrong(&of_log.to_string()), WitnessKeyError::Form);
        assert_eq!(wrong("a+b"), WitnessKeyError::Form);
        assert_eq!(wrong("a b+67f7aea0+BAAA"), WitnessKeyError::Note(NoteError::Name));
    }

    #[test]
    fn the_example_of_the_specification_is_taken_apart_as_it_says() {
        let note = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n\
             — example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n\
             — witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==\n";
        let note = Note::parse(note).unwrap();
        let line = &note.lines()[1];
        assert_eq!(line.id.to_string(), "8d66cf3f");
        let (time, signature) = line.signature.split_first_chunk::<8>().unwrap();
        assert_eq!((u64::from_be_bytes(*time), signature.len()), (1_679_315_147, 64));
        let expected = "cosignature/v1\ntime 1679315147\nexample.com/behind-the-sofa\n20852163\n\
             CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n";
        assert_eq!(message(1_679_315_147, note.text), expected);
    }

    #[test]
    fn a_cosignature_counts_of_its_text_its_time_and_its_key_alone() {
        let (ours, other) = (cosigner("witness.example/w1", 3), cosigner("witness.example/w1", 4));
        let key = ours.verifier();
        let judge = |lines: &[String]| {
            let note = format!("{TEXT}\n{}", lines.concat());
            key.judge(&Note::parse(&note).unwrap())
        };
        let line = ours.cosign(TEXT, 1_700_000_000);
        assert_eq!(judge(std::slice::from_ref(&line)), CosignatureStatus::At(1_700_000_000));
        assert_eq!(key.find(&format!("noise\n{line}"), TEXT), Some((line.clone(), 1_700_000_000)));
        assert_eq!(judge(&[other.cosign(TEXT, 5)]), CosignatureStatus::Absent);
        assert_eq!(key.find(&other.cosign(TEXT, 5), TEXT), None);
        // If two cosignatures are valid, the earlier one counts, in either order.
        let later = ours.cosign(TEXT, 1_700_000_009);
        assert_eq!(judge(&[later.clone(), line.clone()]), CosignatureStatus::At(1_700_000_000));
        // A cosignature of another text, and one with any single byte changed, is forged.
        let elsewhere = ours.cosign("another text\n", 5);
        assert_eq!(judge(std::slice::from_ref(&elsewhere)), CosignatureStatus::Forged);
        assert_eq!(judge(&[line.clone(), elsewhere]), CosignatureStatus::Forged);
        let encoded = line.trim_end().rsplit_once(' ').unwrap().1;
        let bytes = Base64::decode_vec(encoded).unwrap();
        for place in 4..bytes.len() {
            let mut changed = bytes.clone();
            changed[place] ^= 1;
            let changed = format!("— {} {}\n", key.name(), Base64::encode_string(&changed));
            assert_eq!(judge(&[changed]), CosignatureStatus::Forged, "byte {place}");
        }
        for length in 5..bytes.len() {
            let cut = Base64::encode_string(&bytes[..length]);
            assert_eq!(
                judge(&[format!("— {} {cut}\n", key.name())]),
                CosignatureStatus::Forged,
                "{length}"
            );
        }
        // A log signature by the same key is not a cosignature, because it has a different key id.
        let of_log = SignerKey::from_seed("witness.example/w1", [3; 32]).unwrap();
        let signed = of_log.sign(TEXT).unwrap();
        assert_eq!(key.judge(&Note::parse(&signed).unwrap()), CosignatureStatus::Absent);
    }
}
