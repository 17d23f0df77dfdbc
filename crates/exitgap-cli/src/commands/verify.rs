//! `exitgap verify`: checks whether an evidence file proves its number, a figure file its figure, or a proof of
//! misbehaviour the misbehaviour.

use std::path::Path;
use std::process::ExitCode;

use exitgap_api::{SlotsAfterClock, VerificationReport, invalid_parameter};
use exitgap_core::analytics::figure::{MAX_FIGURE_BYTES, is_figure_file};
use exitgap_core::evidence::{CheckName, Evidence, MAX_WINDOW_BYTES, Policy, SeenCheckpoint};
use exitgap_core::proof::{ChainSays, Rung, WitnessesSay};
use exitgap_core::series::Slot;
use exitgap_core::tlog::{
    Checkpoint, Fork, Hash, LogProof, MAX_NOTE_BYTES, MAX_PROOF_BYTES, MAX_PROOF_HASHES, Origin,
    VerifierKey, consistency_proof, root,
};

use super::verdict::{ExplainedReport, print_advice, print_after_clock, print_rung, print_text};
use super::{
    explain, print_json, verify_figure, verify_fork, verify_many, verify_remote, verify_state,
    verify_witnesses,
};
use crate::arguments::VerifyArgs;
use crate::failure::{Failure, read_or_not, verdict_code};
use crate::format::printable;
use crate::log::{FolderReader, SignedCheckpoint, leaf_hashes};
use crate::{source, trust};

pub fn run(args: &VerifyArgs, json: bool) -> Result<ExitCode, Failure> {
    let Some(subject) = args.subject.as_deref() else {
        explain::run(json)?;
        return Ok(ExitCode::SUCCESS);
    };
    if let Some(api) = &args.remote.api {
        return verify_remote::run(api, subject, args, json);
    }
    let evidence = source::read_named("evidence file", Path::new(subject), MAX_FIGURE_BYTES)?;
    let is_several = verify_many::is_several(&evidence);
    if !is_several && is_figure_file(&evidence) {
        return verify_figure::run(&evidence, args, json);
    }
    if !args.expect.is_empty() {
        let detail = "expect: only for a figure file, and this is none";
        let hint = "of evidence, compare the claim that is printed";
        return Err(invalid_parameter("expect", detail, hint).into());
    }
    if args.log.is_some() && args.since.is_none() {
        let detail = "log: of evidence it is only needed with --since";
        let hint = "give the checkpoint that you kept with --since, or omit --log";
        return Err(invalid_parameter("log", detail, hint).into());
    }
    if is_several {
        return verify_many::run(&evidence, args, json);
    }
    if Fork::is_file(&evidence) {
        return verify_fork::run(&evidence, args, json);
    }
    let mut policy = Policy::with_keys(trust::keys(&args.trust.trust)?);
    let evidence = Evidence::from_bytes(&evidence);
    let signed = signed_checkpoint(&evidence);
    if let Some(path) = &args.since {
        let kept = kept(path)?;
        policy.seen = Some(seen(kept, signed.as_ref(), args)?);
        policy.required.push(CheckName::Consistency);
    }
    if let Some(path) = &args.window {
        policy.window = Some(source::read_named("head window", path, MAX_WINDOW_BYTES)?);
        policy.required.push(CheckName::Window);
    }
    let report = VerificationReport::beside_tiles(&evidence, &policy, args.log.is_some());
    let chain = verify_state::checks(&args.chain, &policy.keys, &evidence)?;
    let witnessed = verify_witnesses::check(args.witnesses.as_deref(), &evidence)?;
    let witnessed = witnessed.as_ref();
    let verdict = verify_state::together(report.report.verdict, &chain);
    let verdict = verify_witnesses::together(verdict, witnessed);
    let witnesses = witnessed.map(|check| WitnessesSay::from_outcome(check.outcome));
    let rung =
        Rung { chain: ChainSays::from_checks(&chain), witnesses: witnesses.unwrap_or_default() };
    let rung = (!chain.is_empty() || witnessed.is_some()).then_some(rung);
    let after_clock = slots_after_clock(&evidence, source::now_s());
    read_or_not(if json {
        let explained = ExplainedReport::from_report(&report, args.explain).with_chain(&chain);
        let explained = explained.with_after_clock(after_clock.as_ref());
        print_json(&explained.with_witnesses(witnessed).with_rung(rung))
    } else {
        print_text(&evidence, &report, args.explain, witnessed)
            .and_then(|()| print_after_clock(after_clock.as_ref()))
            .and_then(|()| verify_witnesses::print(witnessed))
            .and_then(|()| verify_state::print(&chain))
            .and_then(|()| print_rung(rung))
    })?;
    if !json {
        print_advice(&report, policy.keys.is_empty());
    }
    Ok(verdict_code(verdict))
}

/// Rejects options that apply only to evidence: a verdict that ignored them could be mistaken for one that applied
/// them.
pub(super) fn of_evidence_alone(args: &VerifyArgs, file: &str, hint: &str) -> Result<(), Failure> {
    let of_log = [("since", args.since.is_some()), ("witnesses", args.witnesses.is_some())];
    refuse(of_log, file, hint)?;
    of_one_slot_alone(args, file, hint)
}

/// Refuses what is asked of evidence of one slot.
pub(super) fn of_one_slot_alone(args: &VerifyArgs, file: &str, hint: &str) -> Result<(), Failure> {
    let given = [
        ("window", args.window.is_some()),
        ("explain", args.explain),
        ("rpc", !args.chain.rpc.is_empty()),
        ("state-proof", args.chain.state_proof.is_some()),
        ("peer", !args.chain.peer.is_empty()),
        ("anchors", !args.chain.anchors.is_empty()),
        ("at-least", args.chain.at_least.is_some()),
    ];
    refuse(given, file, hint)
}

/// Refuses the first of these options that is given.
fn refuse(
    options: impl IntoIterator<Item = (&'static str, bool)>,
    file: &str,
    hint: &str,
) -> Result<(), Failure> {
    let Some((option, _)) = options.into_iter().find(|(_, is_given)| *is_given) else {
        return Ok(());
    };
    let detail = format!("{option}: only for evidence files; this is {file}");
    Err(invalid_parameter(option, &detail, hint).into())
}

/// The checkpoint in an evidence file, if it can be read.
pub(super) fn signed_checkpoint(evidence: &Evidence) -> Option<SignedCheckpoint> {
    let note = LogProof::from_text(&evidence.statement()?.log_proof).ok()?.checkpoint;
    let (checkpoint, _) = Checkpoint::from_note(&note).ok()?;
    Some(SignedCheckpoint { note, checkpoint })
}

/// Slots of the evidence's log, including its own slot, that are later than this machine's clock.
pub(super) fn slots_after_clock(evidence: &Evidence, now_s: u64) -> Option<SlotsAfterClock> {
    if let Some(signed) = signed_checkpoint(evidence) {
        return SlotsAfterClock::of_log(&signed.checkpoint, now_s);
    }
    let slot = Slot::new(evidence.statement()?.request.slot).ok()?;
    SlotsAfterClock::among([slot, slot], now_s)
}

/// Reads a checkpoint that the caller stored.
pub fn kept(path: &Path) -> Result<SignedCheckpoint, Failure> {
    let name = path.display();
    let wrong = |why: String| source::unreadable(format!("checkpoint {name}: {why}"));
    let bytes = source::read_named("checkpoint", path, MAX_NOTE_BYTES)?;
    let note = String::from_utf8(bytes).map_err(|error| wrong(error.to_string()))?;
    let (checkpoint, _) = Checkpoint::from_note(&note).map_err(|error| wrong(error.to_string()))?;
    Ok(SignedCheckpoint { note, checkpoint })
}

/// Requires that a stored checkpoint belongs to this log and is signed by a trusted key; any other would be irrelevant
/// for this log.
pub fn check_kept(
    kept: &SignedCheckpoint,
    origin: &Origin,
    keys: &[VerifierKey],
) -> Result<(), Failure> {
    if kept.checkpoint.origin != *origin {
        let found = &kept.checkpoint.origin;
        let detail = format!("since: the checkpoint is of {found}, not of {origin}");
        return Err(invalid_parameter(
            "since",
            &printable(&detail),
            "keep the checkpoints of each log separately",
        )
        .into());
    }
    crate::log::check_signature(&kept.note, "since", origin, keys)
        .map_err(|rule| source::unreadable(printable(&rule.to_string())).into())
}

/// The stored checkpoint, with the consistency proof between it and the file's.
pub(super) fn seen(
    kept: SignedCheckpoint,
    signed: Option<&SignedCheckpoint>,
    args: &VerifyArgs,
) -> Result<SeenCheckpoint, Failure> {
    let proof = match (&args.proof, &args.log, signed) {
        (Some(path), ..) => proof_file(path)?,
        // Equal sizes need no proof, and a file without a checkpoint fails anyway.
        (None, _, None) => Vec::new(),
        // Every log extends the empty log.
        (None, ..) if kept.checkpoint.size == 0 => Vec::new(),
        (None, _, Some(signed)) if signed.checkpoint.size == kept.checkpoint.size => Vec::new(),
        (None, Some(folder), Some(signed)) => {
            proof_from_log(folder, &kept.checkpoint, &signed.checkpoint)?
        }
        (None, None, Some(signed)) => {
            let (since, file) = (kept.checkpoint.size, signed.checkpoint.size);
            let detail = format!(
                "since: the checkpoint has {since} slots, the file's has {file}; a consistency proof must link them"
            );
            let hint = "give it with --proof FILE, or a copy of the log's folder with --log FOLDER";
            return Err(invalid_parameter("since", &detail, hint).into());
        }
    };
    Ok(SeenCheckpoint { note: kept.note, proof })
}

/// Reads a consistency proof: one base64 hash per line.
fn proof_file(path: &Path) -> Result<Vec<Hash>, Failure> {
    let name = path.display();
    let wrong = |why: String| source::unreadable(format!("proof {name}: {why}"));
    let bytes = source::read_named("proof", path, MAX_PROOF_BYTES)?;
    let text = String::from_utf8(bytes).map_err(|error| wrong(error.to_string()))?;
    let hashes = (1..).zip(text.lines()).map(|(line, text)| {
        Hash::from_base64(text)
            .ok_or_else(|| wrong(format!("line {line} is not 32 bytes of base64")).into())
    });
    let hashes = hashes.take(MAX_PROOF_HASHES + 1).collect::<Result<Vec<_>, Failure>>()?;
    if hashes.len() > MAX_PROOF_HASHES {
        return Err(wrong("it is longer than any valid proof".to_owned()).into());
    }
    Ok(hashes)
}

/// Computes the proof from the log's tiles. They must lead to the larger of the two checkpoints; otherwise they belong
/// to another log and prove nothing about the smaller one.
fn proof_from_log(
    path: &Path,
    kept: &Checkpoint,
    signed: &Checkpoint,
) -> Result<Vec<Hash>, Failure> {
    let (old, new) = if kept.size < signed.size { (kept, signed) } else { (signed, kept) };
    let folder = FolderReader::new(path);
    let name = path.display();
    let leaves = leaf_hashes(&folder, new.size)
        .map_err(|rule| source::unreadable(format!("log {name}: {rule}")))?;
    let proof = usize::try_from(old.size).ok().and_then(|size| consistency_proof(&leaves, size));
    match proof {
        Some(proof) if root(&leaves) == new.root => Ok(proof),
        _ => {
            let whose = if kept.size < signed.size {
                "the file's checkpoint"
            } else {
                "the kept checkpoint"
            };
            let detail = format!(
                "log {name}: its first {} slots do not give the root of {whose}: it is the folder of another log, or damaged",
                new.size
            );
            let hint = "`exitgap audit` shows what is wrong with a log's folder";
            Err(source::unreadable(detail).hint(hint).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VECTOR: &str =
        include_str!("../../../../tests/vectors/evidence/true_constant_product.json");

    #[test]
    fn evidence_of_a_slot_after_the_machines_clock_is_named() {
        let vector: serde_json::Value = serde_json::from_str(VECTOR).unwrap();
        let evidence = Evidence::from_bytes(vector["evidence"].as_str().unwrap().as_bytes());
        let signed = signed_checkpoint(&evidence).unwrap().checkpoint;
        let slot = Slot::new(evidence.statement().unwrap().request.slot).unwrap();
        let found = slots_after_clock(&evidence, slot.unix_s() - 1).unwrap();
        let (first, size) = (signed.origin.first_slot().number(), signed.size);
        let after = u64::from(first) + size - u64::from(slot.number());
        assert_eq!((found.count, found.first_slot), (after, slot.to_string()));
        let ended = u64::from(slot.number()) + after;
        let ended = Slot::new(ended).unwrap();
        assert_eq!(slots_after_clock(&evidence, ended.unix_s()), None);
    }

    #[test]
    fn evidence_without_a_readable_checkpoint_is_named_by_its_own_slot() {
        let vector: serde_json::Value = serde_json::from_str(VECTOR).unwrap();
        let mut file: serde_json::Value =
            serde_json::from_str(vector["evidence"].as_str().unwrap()).unwrap();
        file["log_proof"] = "none".into();
        let evidence = Evidence::from_bytes(file.to_string().as_bytes());
        let slot = Slot::new(evidence.statement().unwrap().request.slot).unwrap();
        let found = slots_after_clock(&evidence, 0).unwrap();
        assert_eq!((found.count, found.first_slot), (1, slot.to_string()));
        assert_eq!(slots_after_clock(&evidence, slot.unix_s()), None);
    }
}
