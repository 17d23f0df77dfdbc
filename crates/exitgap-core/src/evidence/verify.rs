//! Checks whether an evidence file proves its number. Pure and total: no clock, no network, no panic, and every loop is
//! bounded by the sizes that the formats allow.

use std::borrow::Cow;

use super::commits::Commits;
use super::contents::{Evidence, Parts};
use super::head::{Head, HeadEntry, HeadError};
use super::predecessor::Predecessor;
use super::proof::{head_in_slot, leaf_in_log};
use super::report::{Check, CheckName, Report, Unknown};
use super::result::{Answer, DepthsCompared, ResultError, check_method, compare_depths};
use super::window::HeadWindow;
use crate::ids::HeadHash;
use crate::json::{DocumentError, Json};
use crate::series::Slot;
use crate::snapshot::{ReadSnapshot, Snapshot};
use crate::stable_sort::sort;
use crate::tlog::{
    Checkpoint, CheckpointError, Hash, LogProof, Note, Signers, TrustError, VerifierKey,
    is_consistent,
};

/// The caller's trusted keys, earlier observations and requirements.
#[derive(Debug, Clone)]
pub struct Policy {
    /// The trusted keys. The name of each is its log's origin.
    pub keys: Vec<VerifierKey>,
    /// A checkpoint of the same log that the caller saw earlier, with the proof between the two.
    pub seen: Option<SeenCheckpoint>,
    /// The canonical bytes of a head window that contains the file's head, and ends with it or later.
    pub window: Option<Vec<u8>>,
    /// Whether the window must end with the file's head. A window that continues need not prove the file's seven-day
    /// figures.
    pub window_ends_with_file: bool,
    /// Checks that must pass for the verdict `valid`.
    pub required: Vec<CheckName>,
}

impl Policy {
    /// Trusts these keys and requires the usual checks.
    pub fn with_keys(keys: Vec<VerifierKey>) -> Self {
        let required = CheckName::REQUIRED.to_vec();
        Self { keys, seen: None, window: None, window_ends_with_file: false, required }
    }
}

/// A checkpoint seen earlier, with the proof that it and the file's checkpoint belong to one log.
#[derive(Debug, Clone)]
pub struct SeenCheckpoint {
    /// The signed checkpoint.
    pub note: String,
    /// RFC 6962 consistency proof from the smaller tree to the larger one.
    pub proof: Vec<Hash>,
}

/// Verifies an evidence file. To read more than the verdict, parse it once with [`Evidence::from_bytes`].
pub fn verify(evidence: &[u8], policy: &Policy) -> Report {
    Evidence::from_bytes(evidence).verify(policy)
}

/// Makes every check of a parsed file.
pub(super) fn verify_opened(opened: Result<&Parts, &DocumentError>, policy: &Policy) -> Report {
    let parts = match opened {
        Ok(parts) => parts,
        Err(error) => return unread(error, policy),
    };
    let (signature, signers) = check_signature(parts, policy);
    let format = format!("evidence file of {} bytes", parts.length);
    let checks = vec![
        Check::pass(CheckName::Format, format),
        check_snapshot(parts),
        check_head(parts),
        check_leaf(parts),
        check_inclusion(parts),
        signature,
        check_consistency(parts, policy),
        check_window(parts, policy),
        check_slot_rule(parts),
        check_result(parts),
    ];
    let (commits, facts) = unknown_names(parts);
    let unknown = Unknown { signers: signers.unknown, commits, facts };
    Report::new(checks, &policy.required, unknown)
}

/// Names of commitments in heads and leaves that this version knows although evidence does not use them.
const KNOWN_COMMITS: [&str; 3] = [Predecessor::NAME, Commits::FILLS, Commits::ISSUED];

fn unknown_names(parts: &Parts) -> (Vec<String>, Vec<String>) {
    let head = parts.head.as_ref().ok().map(|head| &head.commits);
    let leaf = parts.leaf.as_ref().ok().map(|leaf| &leaf.commits);
    let committed = head.into_iter().chain(leaf).flat_map(Commits::iter);
    let committed = committed.map(|(name, _)| name.as_str());
    let facts = parts.known().into_iter().flat_map(|snapshot| snapshot.observation().facts());
    let listed = |mut names: Vec<&str>| {
        sort(&mut names, Ord::cmp);
        names.dedup();
        names.into_iter().map(str::to_owned).collect()
    };
    (
        listed(committed.filter(|name| !KNOWN_COMMITS.contains(name)).collect()),
        listed(facts.filter(|fact| !fact.is_known()).map(|fact| fact.name.as_str()).collect()),
    )
}

/// The report on a file that is not an evidence file, or has a later version.
fn unread(error: &DocumentError, policy: &Policy) -> Report {
    let expected = "canonical JSON of an evidence file, version 1";
    let format = match error {
        DocumentError::Newer(newer) => Check::newer(CheckName::Format, *newer),
        error => Check::fail(CheckName::Format, "format_invalid", expected, error.to_string()),
    };
    let code = format.code;
    let rest = CheckName::ALL.into_iter().skip(1);
    let rest = rest.map(|name| Check::not_checked(name, code, "a file of the right format"));
    Report::new(
        core::iter::once(format).chain(rest).collect(),
        &policy.required,
        Unknown::default(),
    )
}

fn check_snapshot(parts: &Parts) -> Check {
    const NAME: CheckName = CheckName::Snapshot;
    if let Err(error) = &parts.snapshot
        && error.newer().is_none()
    {
        return Check::fail(NAME, "snapshot_invalid", "a snapshot", error.to_string());
    }
    let found = Snapshot::hash_of(&parts.file.snapshot.0);
    if let Some(newer) = parts.head.as_ref().err().and_then(HeadError::newer) {
        return Check::newer(NAME, newer);
    }
    let Ok(Head { entry: HeadEntry::Recorded { snapshot: expected, .. }, .. }) = &parts.head else {
        return Check::not_checked(NAME, "no_recorded_head", "the head of a recorded slot");
    };
    if *expected != found {
        let expected = format!("{expected}, as in the head");
        return Check::fail(NAME, "snapshot_hash_mismatch", expected, found.to_string());
    }
    match parts.newer() {
        Some(newer) => Check::newer(NAME, newer),
        None => Check::pass(NAME, found.to_string()),
    }
}

fn check_head(parts: &Parts) -> Check {
    const NAME: CheckName = CheckName::Head;
    let head = match &parts.head {
        Ok(parsed) => parsed,
        Err(error) => {
            let invalid = || Check::fail(NAME, "head_invalid", "a head", error.to_string());
            return error.newer().map_or_else(invalid, |newer| Check::newer(NAME, newer));
        }
    };
    let request = &parts.file.stated.request;
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
    if let Err(ResultError::Newer(newer)) = check_method(&head.method_version) {
        return Check::newer(NAME, newer);
    }
    let Some(prepared) = &parts.prepared else {
        return match parts.newer() {
            Some(newer) => Check::newer(NAME, newer),
            None => {
                Check::not_checked(NAME, "snapshot_invalid", "a snapshot to compute the depth from")
            }
        };
    };
    let expected = prepared.depths();
    let compared = parts.known().map(|snapshot| compare_depths(snapshot, expected, *depth_usd));
    if compared == Some(DepthsCompared::GivenUp) {
        let needs = "a depth that the head states and a search finds";
        return Check::not_checked(NAME, "depth_given_up", needs);
    }
    if compared != Some(DepthsCompared::Same) {
        let text = |depths: &[Option<u64>; 2]| {
            depths
                .map(|depth| depth.map_or("none".to_owned(), |depth| depth.to_string()))
                .join(", ")
        };
        return Check::fail(NAME, "depth_mismatch", text(&expected), text(depth_usd));
    }
    let hash: HeadHash = Head::hash_of(&parts.file.head.0);
    head.newer()
        .map_or_else(|| Check::pass(NAME, hash.to_string()), |newer| Check::newer(NAME, newer))
}

fn check_leaf(parts: &Parts) -> Check {
    const NAME: CheckName = CheckName::SlotLeaf;
    let leaf = match &parts.leaf {
        Ok(parsed) => parsed,
        Err(error) => {
            let invalid = || Check::fail(NAME, "leaf_invalid", "a slot leaf", error.to_string());
            return error.newer().map_or_else(invalid, |newer| Check::newer(NAME, newer));
        }
    };
    // If this version does not understand the head, the request's slot is used.
    let slot = match &parts.head {
        Ok(head) => head.slot.number().into(),
        Err(error) if error.newer().is_some() => parts.file.stated.request.slot,
        Err(_) => {
            return Check::not_checked(NAME, "head_invalid", "a head for the leaf to commit to");
        }
    };
    if u64::from(leaf.slot.number()) != slot {
        let found = leaf.slot.number().to_string();
        return Check::fail(NAME, "leaf_slot_mismatch", slot.to_string(), found);
    }
    match head_in_slot(&parts.file.head.0, leaf, &parts.file.pool_proof) {
        Ok(root) => Check::pass(NAME, root.to_string()),
        Err(fault) => fault.check(NAME),
    }
}

/// The log proof and its checkpoint, or a failed check if they cannot be read.
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
    // If this version does not understand the leaf, the request's slot is used.
    let slot = match &parts.leaf {
        Ok(leaf) => Some(leaf.slot),
        Err(error) if error.newer().is_some() => Slot::new(parts.file.stated.request.slot).ok(),
        Err(_) => {
            return Check::not_checked(
                NAME,
                "leaf_invalid",
                "a slot leaf for the log to commit to",
            );
        }
    };
    let index = slot.and_then(|slot| checkpoint.origin.index_of(slot));
    match leaf_in_log(&parts.file.leaf.0, index, proof, &checkpoint) {
        Ok(root) => Check::pass(NAME, root.to_string()),
        Err(fault) => fault.check(NAME),
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
        return (Check::not_checked(NAME, "no_trusted_key", "a trusted key"), signers);
    }
    let check = match signers.of_log(&checkpoint.origin) {
        Ok(signer) => Check::pass(NAME, signer),
        Err(TrustError::Forged { signer }) => {
            let expected = "a signature made by the key with this name";
            Check::fail(
                NAME,
                "signature_forged",
                expected,
                format!("a forged signature named {signer}"),
            )
        }
        Err(TrustError::NotTrusted { origin, found }) => {
            let expected = format!("a signature of {origin} made with a trusted key");
            Check::fail(NAME, "signature_not_trusted", expected, found.join(", "))
        }
    };
    (check, signers)
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
    if note.signed_by(&theirs.origin, &policy.keys).is_err() {
        let expected = "a trusted signature on the checkpoint seen before";
        return Check::fail(NAME, "seen_checkpoint_not_trusted", expected, "none");
    }
    let (expected, found) = (theirs.origin.to_string(), ours.origin.to_string());
    if expected != found {
        return Check::fail(NAME, "origin_mismatch", expected, found);
    }
    let (old, new) = if ours.size <= theirs.size { (&ours, &theirs) } else { (&theirs, &ours) };
    if is_consistent(old.size, old.root, new.size, new.root, &seen.proof) {
        return Check::pass(
            NAME,
            format!("the first {} slots are a prefix of all {}", old.size, new.size),
        );
    }
    let state =
        |checkpoint: &Checkpoint| format!("{} slots, root {}", checkpoint.size, checkpoint.root);
    let code = if old.size == new.size { "split_view" } else { "history_rewritten" };
    Check::fail(NAME, code, format!("the same history as {}", state(&theirs)), state(&ours))
}

fn check_window(parts: &Parts, policy: &Policy) -> Check {
    const NAME: CheckName = CheckName::Window;
    let Some(bytes) = &policy.window else {
        return Check::not_checked(NAME, "no_window", "a head window");
    };
    let head = match &parts.head {
        Ok(head) => head,
        Err(error) => {
            let invalid =
                || Check::not_checked(NAME, "head_invalid", "a head at the end of the window");
            return error.newer().map_or_else(invalid, |newer| Check::newer(NAME, newer));
        }
    };
    let window = match HeadWindow::from_canonical(bytes) {
        Ok(window) => window,
        Err(error) => {
            let expected = "a valid head window";
            let invalid = || Check::fail(NAME, "window_invalid", expected, error.to_string());
            return error.newer().map_or_else(invalid, |newer| Check::newer(NAME, newer));
        }
    };
    let expected = Head::hash_of(&parts.file.head.0);
    let place = window.heads().iter().position(|(other, _)| other.slot == head.slot);
    let (from, later) = window.heads().split_at(place.map_or(0, |place| place + 1));
    if from.last().map(|(_, bytes)| Head::hash_of(bytes)) != Some(expected) {
        let found = window.last().map(|(_, bytes)| Head::hash_of(bytes).to_string());
        let (expected, found) = (expected.to_string(), found.unwrap_or_default());
        return Check::fail(NAME, "window_ends_elsewhere", expected, found);
    }
    if policy.window_ends_with_file && !later.is_empty() {
        let found = format!("{} further heads", later.len());
        return Check::fail(NAME, "window_ends_elsewhere", expected.to_string(), found);
    }
    let proven = match window_signer(parts, policy, window.checkpoint()) {
        Ok(signer) => signer.map_or("claimed", |_| "proven"),
        Err(check) => return check,
    };
    let retracts = |head: &Head, slot| head.retracts.iter().any(|taken| taken.slot == slot);
    if let Some((by, _)) = later.iter().find(|(other, _)| retracts(other, head.slot)) {
        let expected = "a slot that no later head retracts";
        let found = format!("retracted by the {proven} head of slot {}", by.slot.number());
        return Check::fail(NAME, "slot_retracted", expected, found);
    }
    if let Some(newer) = window.newer() {
        return Check::newer(NAME, newer);
    }
    if let Some(slot) = window.given_up() {
        let needs = format!("a depth of slot {slot} that its head states and a search finds");
        return Check::not_checked(NAME, "depth_given_up", &needs);
    }
    let Some((_, last)) = later.last() else {
        return Check::pass(NAME, format!("{} heads up to {expected}", from.len()));
    };
    let missing = later.iter().filter(|(other, _)| matches!(other.entry, HeadEntry::Missing(_)));
    let (later, missing, last) = (later.len(), missing.count(), Head::hash_of(last));
    let found =
        format!("{expected}, then {later} heads up to {last}, {proven}, {missing} of them missing");
    Check::pass(NAME, found)
}

/// The trusted key that signed the window's checkpoint, which must be of the file's own log; `None` if no keys are
/// trusted.
fn window_signer(parts: &Parts, policy: &Policy, note: &str) -> Result<Option<String>, Check> {
    const NAME: CheckName = CheckName::Window;
    let (_, ours, _) = log_proof(parts, NAME)?;
    let invalid = |error: &CheckpointError| {
        Check::fail(NAME, "window_invalid", "a signed checkpoint", error.to_string())
    };
    let (checkpoint, note) = Checkpoint::from_note(note).map_err(|error| invalid(&error))?;
    let (expected, found) = (ours.origin.to_string(), checkpoint.origin.to_string());
    if expected != found {
        return Err(Check::fail(NAME, "window_of_another_log", expected, found));
    }
    if ours.size == checkpoint.size && ours.root != checkpoint.root {
        let (expected, found) = (ours.root.to_string(), checkpoint.root.to_string());
        return Err(Check::fail(NAME, "window_of_another_log", expected, found));
    }
    if policy.keys.is_empty() {
        return Ok(None);
    }
    note.signed_by(&checkpoint.origin, &policy.keys).map(Some).map_err(|_| {
        let expected = "a trusted signature on the window's checkpoint";
        Check::fail(NAME, "window_not_trusted", expected, "none")
    })
}

fn check_slot_rule(parts: &Parts) -> Check {
    const NAME: CheckName = CheckName::SlotRule;
    let ReadSnapshot { contract, tokens, slot, block, .. } = match &parts.snapshot {
        Ok(read) => read,
        Err(error) => {
            let invalid = || Check::not_checked(NAME, "snapshot_invalid", "a snapshot");
            return error.newer().map_or_else(invalid, |newer| Check::newer(NAME, newer));
        }
    };
    let request = &parts.file.stated.request;
    // The snapshot names only the contract. For a contract with more than two tokens, the request names the pair.
    if contract != request.pool.contract() || request.pool.tokens_of(*tokens).is_none() {
        let expected = request.pool.to_string();
        let found = format!("{contract} of {tokens} tokens");
        return Check::fail(NAME, "snapshot_pool_mismatch", expected, found);
    }
    let found = u64::from(slot.number());
    if found != request.slot {
        let (expected, found) = (request.slot.to_string(), found.to_string());
        return Check::fail(NAME, "snapshot_slot_mismatch", expected, found);
    }
    let age = slot.unix_s() - block.timestamp;
    Check::pass(NAME, format!("block {}, {age} s before slot {slot}", block.number))
}

fn check_result(parts: &Parts) -> Check {
    const NAME: CheckName = CheckName::Result;
    let (Some(snapshot), Some(prepared), Ok(head)) = (parts.known(), &parts.prepared, &parts.head)
    else {
        let newer = parts.newer().or(parts.head.as_ref().err().and_then(HeadError::newer));
        let needs = "a snapshot and a head";
        let absent = || Check::not_checked(NAME, "nothing_to_compute_from", needs);
        return newer.map_or_else(absent, |newer| Check::newer(NAME, newer));
    };
    let expected = match prepared.answer(&parts.file.stated.request, snapshot, head) {
        Ok(answer) => answer,
        Err(ResultError::Newer(newer)) => return Check::newer(NAME, newer),
        Err(error) => {
            let found = format!("an answer, but none can be computed: {error}");
            return Check::fail(NAME, "no_result", "no answer", found);
        }
    };
    if expected == parts.file.stated.answer {
        let found = match &expected {
            Answer::Result(result) => format!("exit_gap_pct {}", result.exit_gap_pct),
            Answer::Refusal(refusal) => format!("refused: {}", refusal.code),
        };
        return Check::pass(NAME, found);
    }
    let (expected, found) = first_difference(&expected, &parts.file.stated.answer);
    Check::fail(NAME, "result_mismatch", expected, found)
}

/// The first field in which two answers differ, with both values.
fn first_difference(expected: &Answer, found: &Answer) -> (String, String) {
    let ((name, expected), (other, found)) = (expected.to_field(), found.to_field());
    if name != other {
        return (format!("a {name}"), format!("a {other}"));
    }
    let (Json::Object(expected), Json::Object(found)) = (expected, found) else {
        return Default::default();
    };
    let text = |(name, value): &(Cow<'_, str>, Json<'_>)| {
        let value = value.to_canonical().unwrap_or_default();
        // Canonical JSON is always UTF-8.
        format!("{name} {}", String::from_utf8(value).unwrap_or_default())
    };
    let differs = expected.iter().zip(&found).find(|(expected, found)| expected != found);
    differs.map(|(expected, found)| (text(expected), text(found))).unwrap_or_default()
}
