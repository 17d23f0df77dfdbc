//! What a reader kept of the log that a figure file rests on, and what the witnesses whom they trust say of it. A figure has a
//! checkpoint with each of its windows: all of them have to hold.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use exitgap_api::{invalid_parameter, parse_witness_policy};
use exitgap_core::analytics::figure::FigureClaim;
use exitgap_core::evidence::{Outcome, Verdict, WitnessCheck, check_witnessed};
use exitgap_core::tlog::{Checkpoint, MAX_POLICY_BYTES, VerifierKey, is_consistent};
use serde::Serialize;

use super::verify::{check_kept, kept, seen};
use super::verify_witnesses;
use crate::arguments::VerifyArgs;
use crate::failure::Failure;
use crate::format::printable;
use crate::log::SignedCheckpoint;
use crate::source;

/// What came of both, where asked for.
#[derive(Debug, Default, Serialize)]
pub struct FigureLog {
    /// Whether the log continues what the reader kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    consistency: Option<Consistency>,
    /// What the witnesses say: of the checkpoint that they say least of.
    #[serde(skip_serializing_if = "Option::is_none")]
    witnessed: Option<WitnessCheck>,
}

/// The kept checkpoint, compared with those of a figure.
#[derive(Debug, Serialize)]
struct Consistency {
    outcome: Outcome,
    /// `ok`; `split_view` and `history_rewritten` fail; `no_checkpoint`: the file has none that can be read.
    code: &'static str,
    expected: String,
    found: String,
}

impl FigureLog {
    /// Makes the checks that the arguments ask for.
    pub fn check(
        args: &VerifyArgs,
        claim: Option<&FigureClaim>,
        keys: &[VerifierKey],
        now_s: u64,
    ) -> Result<Self, Failure> {
        let notes = claim.map_or(&[][..], |claim| claim.checkpoints.as_slice());
        Ok(Self {
            consistency: consistency(args, notes, keys)?,
            witnessed: witnessed(args, notes, now_s)?,
        })
    }

    /// The verdict with both taken into account: a contradiction makes it invalid, a check that was not made incomplete.
    pub fn together(&self, verdict: Verdict) -> Verdict {
        let verdict = verify_witnesses::together(verdict, self.witnessed.as_ref());
        match (verdict, self.consistency.as_ref().map(|check| check.outcome)) {
            (Verdict::Valid | Verdict::Incomplete, Some(Outcome::Fail)) => Verdict::Invalid,
            (Verdict::Valid, Some(Outcome::NotChecked)) => Verdict::Incomplete,
            (verdict, _) => verdict,
        }
    }

    /// The checks, in words.
    pub fn print(&self, out: &mut impl Write) -> Result<(), Failure> {
        let Some(Consistency { outcome, code, expected, found }) = &self.consistency else {
            return Ok(());
        };
        let (colour, word) = match outcome {
            Outcome::Pass => (AnsiColor::Green, "pass"),
            Outcome::Fail => (AnsiColor::Red, "FAIL"),
            Outcome::NotChecked => (AnsiColor::Yellow, "not checked"),
        };
        let style = Style::new().bold().fg_color(Some(colour.into()));
        write!(out, "{:<14}{style}{word:<13}{style:#}", "consistency")?;
        if *outcome == Outcome::Pass {
            return Ok(writeln!(out, "{}", printable(found))?);
        }
        writeln!(out, "{code}")?;
        writeln!(out, "{:<27}expected  {}", "", printable(expected))?;
        Ok(writeln!(out, "{:<27}found     {}", "", printable(found))?)
    }

    /// What the witnesses say.
    pub fn witnessed(&self) -> Option<&WitnessCheck> {
        self.witnessed.as_ref()
    }
}

fn consistency(
    args: &VerifyArgs,
    notes: &[String],
    keys: &[VerifierKey],
) -> Result<Option<Consistency>, Failure> {
    let Some(path) = &args.since else { return Ok(None) };
    let own = kept(path)?;
    let of_size =
        |checkpoint: &Checkpoint| format!("{} slots, root {}", checkpoint.size, checkpoint.root);
    let sizes = notes.iter().filter_map(|note| Checkpoint::from_note(note).ok());
    let others = sizes.filter(|(checkpoint, _)| checkpoint.size != own.checkpoint.size).count();
    if others > 1 && args.proof.is_some() {
        let detail = "proof: this figure has checkpoints of several sizes, and one proof links only one of them";
        let hint = "give a copy of the log's folder with --log FOLDER instead";
        return Err(invalid_parameter("proof", detail, hint).into());
    }
    let mut compared = 0;
    for note in notes {
        let Ok((checkpoint, _)) = Checkpoint::from_note(note) else { continue };
        check_kept(&own, &checkpoint.origin, keys)?;
        let signed = SignedCheckpoint { note: note.clone(), checkpoint };
        let proof = seen(kept(path)?, Some(&signed), args)?.proof;
        let (kept, now) = (&own.checkpoint, signed.checkpoint);
        let (old, new) = if kept.size <= now.size { (kept, &now) } else { (&now, kept) };
        let holds = (old.size == 0 && proof.is_empty())
            || is_consistent(old.size, old.root, new.size, new.root, &proof);
        if !holds {
            let code = if old.size == new.size { "split_view" } else { "history_rewritten" };
            let expected = format!("the same history as {}", of_size(kept));
            let found = of_size(&now);
            return Ok(Some(Consistency { outcome: Outcome::Fail, code, expected, found }));
        }
        compared += 1;
    }
    if compared == 0 {
        let (expected, found) = ("a checkpoint with each window", "none that can be read");
        let (outcome, code) = (Outcome::NotChecked, "no_checkpoint");
        let (expected, found) = (expected.to_owned(), found.to_owned());
        return Ok(Some(Consistency { outcome, code, expected, found }));
    }
    let found = format!("{compared} of one history with the kept checkpoint");
    let (outcome, code, expected) = (Outcome::Pass, "ok", found.clone());
    Ok(Some(Consistency { outcome, code, expected, found }))
}

fn witnessed(
    args: &VerifyArgs,
    notes: &[String],
    now_s: u64,
) -> Result<Option<WitnessCheck>, Failure> {
    let Some(path) = &args.witnesses else { return Ok(None) };
    let policy = source::read_named("policy of witnesses", path, MAX_POLICY_BYTES)?;
    let policy = parse_witness_policy(&policy)?;
    let rank = |check: &WitnessCheck| match check.outcome {
        Outcome::Fail => 0,
        Outcome::NotChecked => 1,
        Outcome::Pass => 2,
    };
    // Without a checkpoint that can be read, that is what is found.
    let none = [String::new()];
    let notes = if notes.is_empty() { &none[..] } else { notes };
    let checks = notes.iter().map(|note| check_witnessed(note, &policy, Some(now_s)));
    Ok(checks.min_by_key(rank))
}
