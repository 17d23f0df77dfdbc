//! `verify`: whether an evidence file proves its number. Pure and total: no clock,
//! no network, no panic, and every loop bounded by the sizes the formats allow.

use std::borrow::Cow;

use super::checkpoint::{Checkpoint, CheckpointError, LogProof, Origin};
use super::document::Part;
use super::file::EvidenceFile;
use super::head::{Head, HeadEntry, HeadError};
use super::leaf::SlotLeaf;
use super::merkle::{Hash, is_consistent, root_from_inclusion};
use super::note::{Note, Signers, VerifierKey};
use super::report::{Check, CheckName, Report};
use super::result::{EvidenceResult, Prepared, check_method};
use super::window::HeadWindow;
use crate::ids::HeadHash;
use crate::json::{Json, Wire};
use crate::snapshot::{Snapshot, SnapshotError};

/// What the caller trusts, remembers and demands.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Keys whose signature counts, each under its log's origin as its name.
    pub keys: Vec<VerifierKey>,
    /// A checkpoint the caller saw of the same log, and the proof between the two.
    pub seen: Option<SeenCheckpoint>,
    /// A head window that ends at the file's head, or later and holds it, as its canonical bytes.
    pub window: Option<Vec<u8>>,
    /// Whether the window must end at the file's head: one that goes on need not bear out its
    /// seven-day figures.
    pub window_ends_with_file: bool,
    /// Checks without which the verdict is `incomplete`.
    pub required: Vec<CheckName>,
}

impl Policy {
    /// Trusts these keys and demands the usual checks.
    pub fn trusting(keys: Vec<VerifierKey>) -> Self {
        let required = CheckName::REQUIRED.to_vec();
        Self { keys, seen: None, window: None, window_ends_with_file: false, required }
    }
}

/// A checkpoint seen before, and why it and the file's belong to one log.
#[derive(Debug, Clone)]
pub struct SeenCheckpoint {
    /// The signed checkpoint.
    pub note: String,
    /// RFC 6962 consistency proof from the smaller of the two logs to the larger.
    pub proof: Vec<Hash>,
}

/// The parts of a file that could be read, each with the bytes that are hashed.
struct Parts {
    file: EvidenceFile,
    snapshot: Result<(Snapshot, Vec<u8>), SnapshotError>,
    /// Of the snapshot, where it is one.
    prepared: Option<Prepared>,
    head: Result<(Head, Vec<u8>), HeadError>,
    leaf: Result<(SlotLeaf, Vec<u8>), super::leaf::LeafError>,
    log_proof: Result<LogProof, CheckpointError>,
}

impl Parts {
    fn of(mut file: EvidenceFile, snapshot: Result<Snapshot, SnapshotError>) -> Self {
        let bytes = |Part(bytes): &mut Part| core::mem::take(bytes);
        let (head, leaf) = (bytes(&mut file.head), bytes(&mut file.leaf));
        let prepared = snapshot.as_ref().ok().map(|read| Prepared::of(read, &file.request));
        Self {
            prepared,
            snapshot: snapshot.map(|parsed| (parsed, bytes(&mut file.snapshot))),
            head: Head::from_canonical(&head).map(|parsed| (parsed, head)),
            leaf: SlotLeaf::from_canonical(&leaf).map(|parsed| (parsed, leaf)),
            log_proof: LogProof::from_text(&file.log_proof),
            file,
        }
    }
}

/// Verifies an evidence file.
pub fn verify(evidence: &[u8], policy: &Policy) -> Report {
    let (file, snapshot) = match EvidenceFile::from_canonical(evidence) {
        Ok(read) => read,
        Err(error) => {
            let expected = "canonical JSON of an evidence file, version 1";
            let mut checks =
                vec![Check::fail(CheckName::Format, "format_invalid", expected, error.to_string())];
            let rest = CheckName::ALL.into_iter().skip(1);
            checks.extend(rest.map(|name| {
                Check::not_checked(name, "format_invalid", "a file of the right format")
            }));
            return Report::new(checks, &policy.required, Vec::new());
        }
    };
    let parts = Parts::of(file, snapshot);
    let (signature, signers) = check_signature(&parts, policy);
    let format = format!("evidence file of {} bytes", evidence.len());
    let checks = vec![
        Check::pass(CheckName::Format, format),
        check_snapshot(&parts),
        check_head(&parts),
        check_leaf(&parts),
        check_inclusion(&parts),
        signature,
        check_consistency(&parts, policy),
        check_window(&parts, policy),
        check_slot_rule(&parts),
        check_result(&parts),
    ];
    Report::new(checks, &policy.required, signers.unknown)
}

fn check_snapshot(parts: &Parts) -> Check {
    const NAME: CheckName = CheckName::Snapshot;
    let bytes = match &parts.snapshot {
        Ok((_, bytes)) => bytes,
        Err(error) => {
            return Check::fail(NAME, "snapshot_invalid", "a snapshot", error.to_string());
        }
    };
    let found = Snapshot::hash_of(bytes);
    match &parts.head {
        Ok((Head { entry: HeadEntry::Recorded { snapshot, .. }, .. }, _)) if *snapshot == found => {
            Check::pass(NAME, found.to_string())
        }
        Ok((Head { entry: HeadEntry::Recorded { snapshot, .. }, .. }, _)) => {
            let expected = format!("{snapshot}, which the head names");
            Check::fail(NAME, "snapshot_hash_mismatch", expected, found.to_string())
        }
        _ => Check::not_checked(NAME, "no_recorded_head", "the head of a recorded slot"),
    }
}

fn check_head(parts: &Parts) -> Check {
    const NAME: CheckName = CheckName::Head;
    let (head, bytes) = match &parts.head {
        Ok(parsed) => parsed,
        Err(error) => return Check::fail(NAME, "head_invalid", "a head", error.to_string()),
    };
    let request = &parts.file.request;
    let HeadEntry::Recorded { depth_usd, .. } = &head.entry else {
        return Check::fail(
            NAME,
            "head_not_recorded",
            "a recorded slot",
            "a slot without snapshot",
        );
    };
    if head.pool != request.pool {
        let (expected, found) = (request.pool.to_string(), head.pool.to_string());
        return Check::fail(NAME, "head_pool_mismatch", expected, found);
    }
    if u64::from(head.slot.number()) != request.slot {
        let (expected, found) = (request.slot.to_string(), head.slot.number().to_string());
        return Check::fail(NAME, "head_slot_mismatch", expected, found);
    }
    if let Err(error) = check_method(&head.method_version) {
        let expected = "a released method version";
        return Check::fail(NAME, "method_version_unknown", expected, error.to_string());
    }
    let Some(prepared) = &parts.prepared else {
        return Check::not_checked(NAME, "snapshot_invalid", "a snapshot to measure depth on");
    };
    let expected = prepared.depths();
    if expected != *depth_usd {
        let text = |depths: &[Option<u64>; 2]| {
            depths
                .map(|depth| depth.map_or("none".to_owned(), |depth| depth.to_string()))
                .join(", ")
        };
        return Check::fail(NAME, "depth_mismatch", text(&expected), text(depth_usd));
    }
    let hash: HeadHash = Head::hash_of(bytes);
    Check::pass(NAME, hash.to_string())
}

fn check_leaf(parts: &Parts) -> Check {
    const NAME: CheckName = CheckName::SlotLeaf;
    let (leaf, _) = match &parts.leaf {
        Ok(parsed) => parsed,
        Err(error) => return Check::fail(NAME, "leaf_invalid", "a slot leaf", error.to_string()),
    };
    let Ok((head, bytes)) = &parts.head else {
        return Check::not_checked(NAME, "head_invalid", "a head to be committed to");
    };
    if leaf.slot != head.slot {
        let (expected, found) = (head.slot.number(), leaf.slot.number());
        return Check::fail(NAME, "leaf_slot_mismatch", expected.to_string(), found.to_string());
    }
    let proof = &parts.file.pool_proof;
    let Some(hashes) = proof.parsed() else {
        return Check::fail(NAME, "pool_proof_invalid", "hashes in base64", "another text");
    };
    let found = root_from_inclusion(Head::leaf_of(bytes), proof.index, leaf.pools.into(), &hashes);
    match found {
        Some(root) if root == leaf.root => Check::pass(NAME, root.to_string()),
        Some(root) => {
            Check::fail(NAME, "pool_proof_mismatch", leaf.root.to_string(), root.to_string())
        }
        None => {
            let expected = format!("a proof for one of {} pools", leaf.pools);
            Check::fail(NAME, "pool_proof_invalid", expected, format!("index {}", proof.index))
        }
    }
}

/// The log proof and its checkpoint, or the check that fails for want of them.
fn log_proof(parts: &Parts, name: CheckName) -> Result<(&LogProof, Checkpoint, Note<'_>), Check> {
    let expected = "a tlog-proof with a signed checkpoint";
    let fail = |error: &CheckpointError| {
        Check::fail(name, "log_proof_invalid", expected, error.to_string())
    };
    let proof = parts.log_proof.as_ref().map_err(fail)?;
    let (checkpoint, note) =
        Checkpoint::from_note(&proof.checkpoint).map_err(|error| fail(&error))?;
    Ok((proof, checkpoint, note))
}

fn check_inclusion(parts: &Parts) -> Check {
    const NAME: CheckName = CheckName::Inclusion;
    let (proof, checkpoint, _) = match log_proof(parts, NAME) {
        Ok(read) => read,
        Err(check) => return check,
    };
    let Ok((leaf, bytes)) = &parts.leaf else {
        return Check::not_checked(NAME, "leaf_invalid", "a slot leaf to be committed to");
    };
    let expected = checkpoint.origin.index_of(leaf.slot);
    if expected != Some(proof.index) {
        let expected = expected.map_or("a slot of this log".to_owned(), |index| index.to_string());
        return Check::fail(NAME, "index_mismatch", expected, proof.index.to_string());
    }
    let hash = SlotLeaf::leaf_of(bytes);
    match root_from_inclusion(hash, proof.index, checkpoint.size, &proof.hashes) {
        Some(root) if root == checkpoint.root => Check::pass(NAME, root.to_string()),
        Some(root) => {
            let expected = checkpoint.root.to_string();
            Check::fail(NAME, "inclusion_mismatch", expected, root.to_string())
        }
        None => {
            let expected = format!("a proof in a log of {} slots", checkpoint.size);
            let found = format!("index {}, {} hashes", proof.index, proof.hashes.len());
            Check::fail(NAME, "inclusion_proof_invalid", expected, found)
        }
    }
}

fn check_signature(parts: &Parts, policy: &Policy) -> (Check, Signers) {
    const NAME: CheckName = CheckName::Signature;
    let (_, checkpoint, note) = match log_proof(parts, NAME) {
        Ok(read) => read,
        Err(check) => return (check, Signers::default()),
    };
    let signers = note.signers(&policy.keys);
    if policy.keys.is_empty() {
        return (Check::not_checked(NAME, "no_trusted_key", "a key to trust"), signers);
    }
    let origin = &checkpoint.origin;
    let check = match (signers.forged.first(), signer_of(origin, &signers)) {
        (Some(forged), _) => {
            let expected = "a signature that the key of this name made";
            Check::fail(NAME, "signature_forged", expected, format!("another one as {forged}"))
        }
        (None, Some(signer)) => Check::pass(NAME, signer.clone()),
        (None, None) => {
            let expected = format!("a signature of {origin} by a trusted key");
            let found = [&signers.trusted[..], &signers.unknown[..]].concat().join(", ");
            Check::fail(NAME, "signature_not_trusted", expected, found)
        }
    };
    (check, signers)
}

/// The trusted signer that has the log's own name: a key of one log does not vouch for
/// another.
fn signer_of<'a>(origin: &Origin, signers: &'a Signers) -> Option<&'a String> {
    let origin = origin.to_string();
    let of_log = |signer: &&String| signer.rsplit_once('+').is_some_and(|(name, _)| name == origin);
    signers.trusted.iter().find(of_log)
}

fn check_consistency(parts: &Parts, policy: &Policy) -> Check {
    const NAME: CheckName = CheckName::Consistency;
    let Some(seen) = &policy.seen else {
        return Check::not_checked(NAME, "no_checkpoint_seen", "a checkpoint seen before");
    };
    let (_, ours, _) = match log_proof(parts, NAME) {
        Ok(read) => read,
        Err(check) => return check,
    };
    let (theirs, note) = match Checkpoint::from_note(&seen.note) {
        Ok(read) => read,
        Err(error) => {
            let found = format!("the checkpoint seen before: {error}");
            return Check::fail(NAME, "seen_checkpoint_invalid", "a signed checkpoint", found);
        }
    };
    let signers = note.signers(&policy.keys);
    if signer_of(&theirs.origin, &signers).is_none() || !signers.forged.is_empty() {
        let expected = "a trusted signature on the checkpoint seen before";
        return Check::fail(NAME, "seen_checkpoint_not_trusted", expected, "none");
    }
    let (expected, found) = (theirs.origin.to_string(), ours.origin.to_string());
    if expected != found {
        return Check::fail(NAME, "origin_mismatch", expected, found);
    }
    let (old, new) = if ours.size <= theirs.size { (&ours, &theirs) } else { (&theirs, &ours) };
    if is_consistent(old.size, old.root, new.size, new.root, &seen.proof) {
        return Check::pass(NAME, format!("{} slots are a prefix of {}", old.size, new.size));
    }
    let state =
        |checkpoint: &Checkpoint| format!("{} slots, root {}", checkpoint.size, checkpoint.root);
    let code = if old.size == new.size { "split_view" } else { "history_rewritten" };
    Check::fail(NAME, code, format!("one history with {}", state(&theirs)), state(&ours))
}

fn check_window(parts: &Parts, policy: &Policy) -> Check {
    const NAME: CheckName = CheckName::Window;
    let Some(bytes) = &policy.window else {
        return Check::not_checked(NAME, "no_window", "a head window");
    };
    let Ok((head, head_bytes)) = &parts.head else {
        return Check::not_checked(NAME, "head_invalid", "a head to end at");
    };
    let window = match HeadWindow::from_canonical(bytes) {
        Ok(window) => window,
        Err(error) => {
            let expected = "a head window that holds together";
            return Check::fail(NAME, "window_invalid", expected, error.to_string());
        }
    };
    let expected = Head::hash_of(head_bytes);
    let place = window.heads().iter().position(|(other, _)| other.slot == head.slot);
    let (from, later) = window.heads().split_at(place.map_or(0, |place| place + 1));
    if from.last().map(|(_, bytes)| Head::hash_of(bytes)) != Some(expected) {
        let found = window.last().map(|(_, bytes)| Head::hash_of(bytes).to_string());
        let (expected, found) = (expected.to_string(), found.unwrap_or_default());
        return Check::fail(NAME, "window_ends_elsewhere", expected, found);
    }
    let Some((_, last)) = later.last() else {
        return Check::pass(NAME, format!("{} heads up to {expected}", from.len()));
    };
    if policy.window_ends_with_file {
        let found = format!("{} further heads", later.len());
        return Check::fail(NAME, "window_ends_elsewhere", expected.to_string(), found);
    }
    let retracts = |head: &Head, slot| head.retracts.iter().any(|taken| taken.slot == slot);
    if let Some((by, _)) = later.iter().find(|(other, _)| retracts(other, head.slot)) {
        let expected = "a slot that no later head takes back";
        let found = format!("taken back by the head claimed of slot {}", by.slot.number());
        return Check::fail(NAME, "slot_retracted", expected, found);
    }
    let missing = later.iter().filter(|(other, _)| matches!(other.entry, HeadEntry::Missing(_)));
    let (later, missing, last) = (later.len(), missing.count(), Head::hash_of(last));
    // Nothing here proves a later head: no leaf, no signed checkpoint over it.
    let found =
        format!("{expected}, then {later} heads claimed up to {last}, {missing} of them missing");
    Check::pass(NAME, found)
}

fn check_slot_rule(parts: &Parts) -> Check {
    const NAME: CheckName = CheckName::SlotRule;
    let Ok((snapshot, _)) = &parts.snapshot else {
        return Check::not_checked(NAME, "snapshot_invalid", "a snapshot");
    };
    let request = &parts.file.request;
    let (pool, slot) = (snapshot.observation().pool(), u64::from(snapshot.slot().number()));
    if *pool != request.pool {
        let (expected, found) = (request.pool.to_string(), pool.to_string());
        return Check::fail(NAME, "snapshot_pool_mismatch", expected, found);
    }
    if slot != request.slot {
        return Check::fail(
            NAME,
            "snapshot_slot_mismatch",
            request.slot.to_string(),
            slot.to_string(),
        );
    }
    let block = snapshot.observation().block();
    let age = snapshot.slot().unix_s() - block.timestamp;
    Check::pass(NAME, format!("block {}, {age} s before slot {}", block.number, snapshot.slot()))
}

fn check_result(parts: &Parts) -> Check {
    const NAME: CheckName = CheckName::Result;
    let (Ok((snapshot, _)), Some(prepared), Ok((head, _))) =
        (&parts.snapshot, &parts.prepared, &parts.head)
    else {
        return Check::not_checked(NAME, "nothing_to_compute_from", "a snapshot and a head");
    };
    let expected = match prepared.result(&parts.file.request, snapshot, head) {
        Ok(result) => result,
        Err(error) => {
            let found = format!("a result, where there is none: {error}");
            return Check::fail(NAME, "no_result", "a refusal", found);
        }
    };
    if expected == parts.file.result {
        return Check::pass(NAME, format!("exit_gap_pct {}", expected.exit_gap_pct));
    }
    let (expected, found) = first_difference(&expected, &parts.file.result);
    Check::fail(NAME, "result_mismatch", expected, found)
}

/// The first field in which two results differ, as each has it.
fn first_difference(expected: &EvidenceResult, found: &EvidenceResult) -> (String, String) {
    let (Json::Object(expected), Json::Object(found)) = (expected.write(), found.write()) else {
        return Default::default();
    };
    let text = |(name, value): &(Cow<'_, str>, Json<'_>)| {
        let value = value.to_canonical().unwrap_or_default();
        // What is written canonically is UTF-8.
        format!("{name} {}", String::from_utf8(value).unwrap_or_default())
    };
    let differs = expected.iter().zip(&found).find(|(expected, found)| expected != found);
    differs.map(|(expected, found)| (text(expected), text(found))).unwrap_or_default()
}
