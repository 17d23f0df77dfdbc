//! A short run of the fuzz targets with their seeds, their corpus, and random mutations of both (with a fixed seed).
//! `cargo xtask fuzz` is the long run.

use std::fs;
use std::path::Path;

use exitgap_tests::devchain::Rng;
use exitgap_tests::fuzz::{TARGETS, Target};

/// Number of mutations per target. Targets that compute fills take the longest.
const MUTATIONS: [(&str, usize); 6] = [
    ("verify", 1_500),
    ("checkpoint", 3_000),
    ("window", 1_500),
    ("snapshot", 1_500),
    ("slot", 1_500),
    ("tile", 1_500),
];

/// Tokens that have a special meaning for parsers.
const TOKENS: [&str; 12] = [
    "null",
    "true",
    "-",
    "18446744073709551616",
    "1e9",
    "\"",
    "\\u0000",
    "\n\n",
    "{",
    "[",
    ",",
    "— ",
];

/// Runs a target; returns how many inputs it accepted and how many it rejected.
fn run(name: &str) -> [usize; 2] {
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target");
    let (_, mutations) = MUTATIONS.iter().find(|(of, _)| *of == name).expect("a target");
    let corpus = corpus(target);
    let mut counts = [0, 0];
    for input in &corpus {
        counts[usize::from(!(target.body)(input))] += 1;
    }
    assert!(counts[0] > 0, "the corpus of {name} holds nothing that is accepted");
    let mut rng = Rng::new(20_260_822);
    for _ in 0..*mutations {
        let input = mutated(&mut rng, &corpus);
        counts[usize::from(!(target.body)(&input))] += 1;
    }
    counts
}

fn corpus(target: &Target) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target.name);
    let mut files: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let kept = files.iter().map(|file| fs::read(file).unwrap());
    let corpus: Vec<Vec<u8>> = (target.seeds)().into_iter().chain(kept).collect();
    let bytes: usize = corpus.iter().map(Vec::len).sum();
    assert!(bytes < 1 << 20, "the corpus of {} has grown to {bytes} bytes", target.name);
    corpus
}

/// An input of the corpus with one to four changes.
fn mutated(rng: &mut Rng, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut below = |bound: usize| usize::try_from(rng.below(bound as u64)).unwrap();
    let mut input = corpus[below(corpus.len())].clone();
    for _ in 0..=below(4) {
        let at = below(input.len() + 1);
        let end = (at + 1 + below(16)).min(input.len());
        match below(8) {
            0 if at < input.len() => input[at] ^= 1 << below(8),
            1 if at < input.len() => input[at] = u8::try_from(below(256)).unwrap(),
            2 => drop(input.drain(at..end)),
            3 => {
                let again = input[at..end].to_vec();
                input.splice(at..at, again);
            }
            4 => {
                let token = TOKENS[below(TOKENS.len())];
                input.splice(at..end, token.bytes());
            }
            5 => {
                let other = &corpus[below(corpus.len())];
                let from = below(other.len() + 1);
                input.truncate(at);
                input.extend_from_slice(&other[from..]);
            }
            // Replacing a digit by another digit keeps most documents valid.
            _ => {
                let digit = b'0' + u8::try_from(below(10)).unwrap();
                if let Some(found) = input[at..].iter_mut().find(|byte| byte.is_ascii_digit()) {
                    *found = digit;
                }
            }
        }
    }
    input
}

#[test]
fn verify_keeps_its_promises_on_mutated_files() {
    let [accepted, refused] = run("verify");
    assert!(accepted > 10 && refused > 100, "{accepted} accepted, {refused} refused");
}

#[test]
fn checkpoints_keep_their_promises_on_mutated_texts() {
    let [accepted, refused] = run("checkpoint");
    assert!(accepted > 10 && refused > 100, "{accepted} accepted, {refused} refused");
}

#[test]
fn windows_and_heads_keep_their_promises_on_mutated_bytes() {
    let [accepted, refused] = run("window");
    assert!(accepted > 10 && refused > 100, "{accepted} accepted, {refused} refused");
}

#[test]
fn what_is_a_snapshot_seals_and_verifies() {
    let [accepted, refused] = run("snapshot");
    assert!(accepted > 10 && refused > 100, "{accepted} accepted, {refused} refused");
}

#[test]
fn slots_and_tiles_keep_their_promises_on_mutated_files() {
    for name in ["slot", "tile"] {
        let [accepted, refused] = run(name);
        assert!(accepted > 10 && refused > 100, "{name}: {accepted} accepted, {refused} refused");
    }
}

#[test]
fn every_target_is_run_here_and_by_the_fuzzer() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/Cargo.toml");
    let manifest = fs::read_to_string(manifest).unwrap();
    for Target { name, .. } in TARGETS {
        assert!(MUTATIONS.iter().any(|(of, _)| *of == name), "{name}");
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
    }
}
