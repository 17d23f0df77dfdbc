//! `verify` alone as a WASM module: what a page must load to check evidence, less the
//! glue that its framework brings. `cargo xtask bench evidence` builds it, holds it to the
//! shared vectors in Node.js and weighs it.
//!
//! The host writes into [`input`], one part after the other: the evidence file, the trusted
//! keys (a line each), a checkpoint seen before, its consistency proof (a base64 hash per line)
//! and a head window. Then it calls [`check`] with the length of each part, 0 where there is
//! none, and reads as many bytes of text as it answers from [`output`]: the verdict, then for
//! each check four lines: outcome, code, expected, found, then the unknown signers.

use std::sync::atomic::{AtomicU8, Ordering};

use exitgap_core::evidence::{
    MAX_EVIDENCE_BYTES, MAX_WINDOW_BYTES, Outcome, Policy, Report, SeenCheckpoint, Verdict, verify,
};
use exitgap_core::tlog::{Hash, MAX_NOTE_BYTES};

const INPUT_BYTES: usize = MAX_EVIDENCE_BYTES + MAX_WINDOW_BYTES + 2 * MAX_NOTE_BYTES;
const OUTPUT_BYTES: usize = 1 << 20;

static INPUT: [AtomicU8; INPUT_BYTES] = [const { AtomicU8::new(0) }; INPUT_BYTES];
static OUTPUT: [AtomicU8; OUTPUT_BYTES] = [const { AtomicU8::new(0) }; OUTPUT_BYTES];

/// Where the parts are written.
#[expect(unsafe_code, reason = "the host finds it by name")]
#[unsafe(no_mangle)]
pub extern "C" fn input() -> *const AtomicU8 {
    INPUT.as_ptr()
}

/// Where the report is read.
#[expect(unsafe_code, reason = "the host finds it by name")]
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const AtomicU8 {
    OUTPUT.as_ptr()
}

/// Verifies and answers how long the report is; 0 where the parts are longer than the
/// input, or keys and proof are none.
#[expect(unsafe_code, reason = "the host finds it by name")]
#[unsafe(no_mangle)]
pub extern "C" fn check(
    evidence: usize,
    keys: usize,
    note: usize,
    proof: usize,
    window: usize,
) -> usize {
    let report = report([evidence, keys, note, proof, window]).unwrap_or_default();
    for (cell, byte) in OUTPUT.iter().zip(report.bytes()) {
        cell.store(byte, Ordering::Relaxed);
    }
    report.len().min(OUTPUT_BYTES)
}

fn report(lengths: [usize; 5]) -> Option<String> {
    let mut rest = &INPUT[..];
    let mut parts = [const { Vec::new() }; 5];
    for (part, length) in parts.iter_mut().zip(lengths) {
        let (cells, after) = rest.split_at_checked(length)?;
        *part = cells.iter().map(|cell| cell.load(Ordering::Relaxed)).collect();
        rest = after;
    }
    let [evidence, keys, note, proof, window] = parts;
    let keys = String::from_utf8(keys).ok()?;
    let mut policy =
        Policy::with_keys(keys.lines().map(|key| key.parse().ok()).collect::<Option<_>>()?);
    if !note.is_empty() {
        let proof = String::from_utf8(proof).ok()?;
        let proof = proof.lines().map(Hash::from_base64).collect::<Option<_>>()?;
        policy.seen = Some(SeenCheckpoint { note: String::from_utf8(note).ok()?, proof });
    }
    policy.window = Some(window).filter(|window| !window.is_empty());
    Some(text(&verify(&evidence, &policy)))
}

fn text(report: &Report) -> String {
    let mut text = String::from(match report.verdict {
        Verdict::Valid => "valid",
        Verdict::Invalid => "invalid",
        Verdict::Incomplete => "incomplete",
    });
    for check in &report.checks {
        let outcome = match check.outcome {
            Outcome::Pass => "pass",
            Outcome::Fail => "fail",
            Outcome::NotChecked => "not_checked",
        };
        for line in [outcome, check.code, &check.expected, &check.found] {
            text.push('\n');
            text.push_str(&line.replace('\n', " "));
        }
    }
    for signer in &report.unknown_signers {
        text.push('\n');
        text.push_str(signer);
    }
    text
}
