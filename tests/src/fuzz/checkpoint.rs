//! Signed notes, checkpoints, log proofs and keys, parsed from arbitrary text, and an alleged earlier checkpoint.

use exitgap_core::evidence::{CheckName, Outcome, Policy, SeenCheckpoint, verify};
use exitgap_core::tlog::{
    Checkpoint, Hash, LogProof, Note, Origin, SignerKey, VerifierKey, root_from_inclusion,
};

use super::known::{known, parts};

/// Log proofs, checkpoints and keys.
pub fn seeds() -> Vec<Vec<u8>> {
    let known = known();
    let key = known.policy.keys[0].to_string();
    let mut seeds = vec![key.clone().into_bytes()];
    for vector in &known.vectors {
        if let Some(note) = &vector.note {
            let proof: Vec<String> = vector.proof.iter().map(Hash::to_string).collect();
            seeds.push(format!("{}\n\n{note}", proof.join("\n")).into_bytes());
            seeds.push(note.clone().into_bytes());
        }
        if let Some(parts) = parts(&vector.evidence) {
            seeds.push(parts.log_proof.into_bytes());
        }
    }
    let secret = SignerKey::from_seed("exitgap.example/fuzz", [3; 32]).expect("it is a name");
    seeds.push(format!("{}\n{key}\n{}", known.texts[0], secret.to_secret_text()).into_bytes());
    seeds
}

/// Whether the text contains a signed checkpoint.
pub fn body(input: &[u8]) -> bool {
    let Ok(text) = core::str::from_utf8(input) else { return false };
    lines(text);
    log_proof(text);
    let whole = note(text);
    let (proof, rest) = text.split_once("\n\n").unwrap_or(("", text));
    let seen = note(rest) || whole;
    if seen {
        claim(proof, if whole { text } else { rest });
    }
    seen
}

/// Keys and origins have exactly one spelling.
fn lines(text: &str) {
    for line in text.lines() {
        if let Ok(key) = line.parse::<VerifierKey>() {
            assert_eq!(key.to_string(), line);
        }
        if let Ok(key) = line.parse::<SignerKey>() {
            assert_eq!(key.to_secret_text(), line);
        }
        if let Ok(origin) = line.parse::<Origin>() {
            assert_eq!(origin.to_string(), line);
        }
    }
}

/// Whatever parses as a proof is written as the same text, and leads to at most one root.
fn log_proof(text: &str) {
    let Ok(proof) = LogProof::from_text(text) else { return };
    assert_eq!(proof.to_text(), text);
    let size = Checkpoint::from_note(&proof.checkpoint).map_or(1 << 40, |(read, _)| read.size);
    let (leaf, other) = (Hash([1; 32]), Hash([2; 32]));
    let root = root_from_inclusion(leaf, proof.index, size, &proof.hashes);
    if let Some(root) = root {
        assert!(proof.index < size);
        let another = root_from_inclusion(other, proof.index, size, &proof.hashes);
        assert_ne!(Some(root), another, "another leaf has another root");
    }
}

/// Whatever parses as a signed checkpoint is written as the same text; only what was signed is trusted.
fn note(text: &str) -> bool {
    if let Ok(note) = Note::parse(text) {
        assert!(text.starts_with(note.text));
        let signers = note.signers(&known().policy.keys);
        if !signers.trusted.is_empty() {
            assert!(known().texts.iter().any(|signed| signed == note.text), "a forgery");
        }
    }
    let Ok((checkpoint, note)) = Checkpoint::from_note(text) else { return false };
    assert_eq!(checkpoint.to_text(), note.text);
    assert_eq!(Checkpoint::from_text(note.text), Ok(checkpoint));
    true
}

/// An earlier checkpoint with its proof: it is consistent with a valid file only if it was signed.
fn claim(proof: &str, note: &str) {
    let hashes = proof.lines().map_while(Hash::from_base64).take(80).collect::<Vec<_>>();
    let file = known().file_with_window();
    let seen = Some(SeenCheckpoint { note: note.to_owned(), proof: hashes });
    let policy = Policy { seen, ..known().policy.clone() };
    let report = verify(&file.evidence, &policy);
    let consistency = report.check(CheckName::Consistency).expect("every check is there");
    assert_ne!(consistency.outcome, Outcome::NotChecked);
    if consistency.outcome == Outcome::Pass {
        let (_, note) = Checkpoint::from_note(note).expect("it was read");
        assert!(known().texts.iter().any(|text| text == note.text), "only what was signed");
    }
}
