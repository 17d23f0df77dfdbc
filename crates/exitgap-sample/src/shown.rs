//! An estimate from the sample, the verification of its evidence, and what becomes of evidence that was changed.

use exitgap_api::{
    Answers, ExitResult, GuardInputs, Guards, Problem, ProblemCode, Provenance, VerificationReport,
    check_name,
};
use exitgap_core::evidence::{Base, Check, Evidence, Head, Outcome, Policy, Verdict};
use exitgap_core::ids::SnapshotHash;
use exitgap_core::pools::Direction;
use exitgap_core::series::Slot;
use exitgap_core::snapshot::SnapshotFile;
use exitgap_core::units::SizeUsd;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{EVIDENCE, VERIFIER_KEY, now_s};

/// The text of `try`, with the names of its numbers in braces. The npm and Python packages print the same.
const TEXT: &str = include_str!("../sample/try.txt");

/// The text before the published number in evidence.
const GAP: &str = "\"exit_gap_pct\":\"";

/// The size of the sample's number, in USD.
pub const SIZE_USD: &str = "1000000";

/// Everything that `try` shows.
#[derive(Debug, Clone, Serialize)]
pub struct Shown {
    /// Always true: none of the numbers is of a real market.
    sample: bool,
    /// The estimate, computed from the sample's snapshot.
    pub estimate: ExitResult,
    /// The verification of the sample's evidence.
    pub verification: VerificationReport,
    /// What a changed byte does.
    pub tampering: Tampering,
}

/// A changed byte of the evidence, and the verification afterwards.
#[derive(Debug, Clone, Serialize)]
pub struct Tampering {
    /// The byte's position, counted from 0.
    pub byte: usize,
    /// The character there.
    pub was: char,
    /// The character that replaced it.
    pub is: char,
    /// The verification of the changed file.
    pub verification: VerificationReport,
}

/// The head in evidence, as bytes.
#[derive(Deserialize)]
struct HeadOf<'a> {
    #[serde(borrow)]
    head: &'a RawValue,
}

impl Shown {
    /// Estimates a sale of this size, verifies the evidence, and verifies it with one byte changed. Guards compare with
    /// the sample's own clock.
    pub fn new(size: SizeUsd, guards: Guards) -> Result<Self, Problem> {
        let file = SnapshotFile::from_json(EVIDENCE).map_err(|error| damaged(&error))?;
        let snapshot = file.open().map_err(|error| damaged(&error))?;
        let provenance = provenance(file.documents.hash())?;
        let observation = snapshot.observation();
        guards.check(&GuardInputs::from_observation(observation, &provenance, now_s()))?;
        let evidence = Evidence::from_bytes(EVIDENCE);
        let stated = evidence.statement().ok_or_else(|| damaged(&"it is not evidence"))?;
        let direction = match stated.request.base {
            Base::Token0 => Direction::ZeroForOne,
            Base::Token1 => Direction::OneForZero,
        };
        let estimate = Answers::new(observation, &provenance, direction).estimate(size)?;
        let key = VERIFIER_KEY.trim_end().parse();
        let policy = Policy::with_keys(vec![key.map_err(|error| damaged(&error))?]);
        let (changed, byte) = change(EVIDENCE).ok_or_else(|| damaged(&"it states no gap"))?;
        let tampering = Tampering {
            byte,
            was: char::from(EVIDENCE[byte]),
            is: char::from(changed[byte]),
            verification: VerificationReport::from_evidence(
                &Evidence::from_bytes(&changed),
                &policy,
            ),
        };
        let verification = VerificationReport::from_evidence(&evidence, &policy);
        Ok(Self { sample: true, estimate, verification, tampering })
    }

    /// Whether the evidence was valid, and the changed evidence was not.
    pub fn is_as_expected(&self) -> bool {
        self.verification.report.verdict == Verdict::Valid
            && self.tampering.verification.report.verdict == Verdict::Invalid
    }

    /// The text of `try`, with these lines as the next commands. [`Shown::is_as_expected`] must hold.
    pub fn text(&self, next: &[String]) -> String {
        let Self { estimate: ExitResult { figures, context }, verification, tampering, .. } = self;
        let gap = figures.exit_gap_pct.as_str();
        let claim = |report: &VerificationReport| {
            let claim = report.claim.as_ref();
            let gap = claim.and_then(|claim| claim.exit_gap_pct.clone()).unwrap_or_default();
            (gap, claim.map(|claim| grouped(&claim.size_usd)).unwrap_or_default())
        };
        let (published, size) = claim(verification);
        let (changed, _) = claim(&tampering.verification);
        let checks = &verification.report.checks;
        let passed = checks.iter().filter(|check| check.outcome == Outcome::Pass).count();
        let changed_checks = &tampering.verification.report.checks;
        let failed = changed_checks.iter().find(|check| check.outcome == Outcome::Fail);
        let of = |part: fn(&Check) -> String| failed.map(part).unwrap_or_default();
        let slot_time = context.method.depth_source.slot_time.clone();
        let values = [
            ("size_usd", grouped(figures.size_usd.as_str())),
            ("base", context.base.symbol.clone()),
            ("quote", context.quote.symbol.clone()),
            ("name", context.name.clone()),
            ("slot_time", slot_time.unwrap_or_default()),
            ("oracle_price_usd", grouped(context.oracle_price_usd.as_str())),
            ("realized_price_usd", grouped(figures.realized_price_usd.as_str())),
            ("exit_gap_pct", gap.to_owned()),
            ("side", if gap.starts_with('-') { "better" } else { "worse" }.to_owned()),
            ("amount_in", tokens(&figures.amount_in_raw, context.base.decimals)),
            ("amount_out", tokens(&figures.amount_out_raw, context.quote.decimals)),
            ("published_gap_pct", published),
            ("published_size_usd", size),
            ("passed", passed.to_string()),
            ("was", tampering.was.to_string()),
            ("is", tampering.is.to_string()),
            ("byte", grouped(&tampering.byte.to_string())),
            ("changed_gap_pct", changed),
            ("check", of(|check| check_name(check.name).to_owned())),
            ("expected", of(|check| check.expected.clone())),
            ("found", of(|check| check.found.clone())),
            ("next", next.iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")),
        ];
        let mut text = TEXT.to_owned();
        for (name, value) in values {
            text = text.replace(&format!("{{{name}}}"), &value);
        }
        text
    }
}

/// The place of the sample's snapshot in its series, according to the head in the evidence.
fn provenance(snapshot_hash: SnapshotHash) -> Result<Provenance, Problem> {
    let head: HeadOf<'_> = serde_json::from_slice(EVIDENCE).map_err(|error| damaged(&error))?;
    let head = Head::from_canonical(head.head.get().as_bytes()).map_err(|error| damaged(&error))?;
    let first = u64::from(head.slot.number()).saturating_sub(head.height.into());
    let first_slot = Slot::new(first).map_err(|error| damaged(&error))?;
    Ok(Provenance::Recorded {
        slot: head.slot,
        snapshot_hash,
        first_slot,
        recorded_slots: head.recorded_count.into(),
        newer_slots_missing: Some(0),
    })
}

/// The evidence with the last digit of its number changed, and the position of that digit.
fn change(evidence: &[u8]) -> Option<(Vec<u8>, usize)> {
    let start = evidence.windows(GAP.len()).position(|bytes| bytes == GAP.as_bytes())? + GAP.len();
    let digits = evidence.get(start..)?.iter().position(|byte| *byte == b'"')?;
    let at = start + digits.checked_sub(1)?;
    let mut changed = evidence.to_vec();
    let byte = changed.get_mut(at)?;
    *byte = if *byte == b'9' { b'8' } else { *byte + 1 };
    Some((changed, at))
}

/// The problem with a program whose sample was changed.
fn damaged(error: &dyn std::fmt::Display) -> Problem {
    Problem::new(ProblemCode::SourceUnreadable, format!("the embedded sample: {error}"))
        .hint("install exitgap again: this program is damaged")
}

/// `1234567.89` as `1,234,567.89`.
fn grouped(number: &str) -> String {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut text = sign.to_owned();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if fraction.is_empty() { text } else { format!("{text}.{fraction}") }
}

/// A raw amount as whole tokens, with all decimals that are not trailing zeros.
fn tokens(raw: &str, decimals: u8) -> String {
    let decimals = usize::from(decimals);
    let padded = format!("{raw:0>width$}", width = decimals + 1);
    let (whole, fraction) = padded.split_at(padded.len() - decimals);
    grouped(format!("{whole}.{fraction}").trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use exitgap_api::Days;

    use super::*;

    fn shown(size: &str, guards: Guards) -> Result<Shown, Problem> {
        Shown::new(size.parse().unwrap(), guards)
    }

    #[test]
    fn the_samples_number_is_estimated_verified_and_refused_when_changed() {
        let found = shown(SIZE_USD, Guards::default()).unwrap();
        assert!(found.is_as_expected(), "{found:?}");
        let claim = found.verification.claim.as_ref().unwrap();
        // The published number has all its decimals.
        let published = claim.exit_gap_pct.as_deref().unwrap();
        assert_eq!(claim.size_usd, SIZE_USD);
        let estimated = found.estimate.figures.exit_gap_pct.as_str();
        assert_eq!(published.trim_end_matches('0'), estimated);
        let failed = |report: &VerificationReport| {
            let checks = report.report.checks.iter();
            let failed = checks.filter(|check| check.outcome == Outcome::Fail);
            failed.map(|check| check_name(check.name)).collect::<Vec<_>>()
        };
        assert_eq!(failed(&found.verification), [""; 0]);
        assert_eq!(failed(&found.tampering.verification), ["result"]);
    }

    #[test]
    fn each_line_with_a_number_says_that_it_is_a_sample() {
        let text = shown("1000", Guards::default()).unwrap().text(&["one".into(), "two".into()]);
        assert!(!text.contains('{') && !text.contains('}'), "{text}");
        assert!(text.ends_with("Next:\n  one\n  two\n"), "{text}");
        let figures = ["USD per", "% ", " WETH\n", " USDC\n"];
        for line in text.lines().filter(|line| line.starts_with("   ")) {
            if figures.iter().any(|figure| format!("{line}\n").contains(figure)) {
                assert!(line.starts_with("   SAMPLE  "), "{line}");
            }
        }
    }

    #[test]
    fn guards_compare_with_the_samples_clock() {
        let aged = |most| Guards { max_age_s: Some(most), ..Guards::default() };
        assert!(shown(SIZE_USD, aged(60)).is_ok());
        assert_eq!(shown(SIZE_USD, aged(59)).unwrap_err().code, ProblemCode::SnapshotTooOld);
        let days = |text| {
            let least = Days::parse(text).unwrap();
            Guards { min_days_observed: Some(least), ..Guards::default() }
        };
        assert!(shown(SIZE_USD, days("7")).is_ok());
        let refused = shown(SIZE_USD, days("7.01")).unwrap_err();
        assert_eq!(refused.code, ProblemCode::SeriesTooShort);
        let live = Guards { require_live: true, ..Guards::default() };
        assert_eq!(shown(SIZE_USD, live).unwrap_err().code, ProblemCode::NotLive);
    }

    #[test]
    fn a_size_beyond_the_pool_is_refused() {
        let refused = shown("1000000000", Guards::default()).unwrap_err();
        assert_eq!(refused.code, ProblemCode::BeyondLiquidity);
        assert!(refused.max_fillable_usd.is_some());
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(grouped("-1234567.25"), "-1,234,567.25");
        assert_eq!(grouped("123"), "123");
        assert_eq!(tokens("1234500000", 6), "1,234.5");
        assert_eq!(tokens("1", 18), "0.000000000000000001");
        assert_eq!(tokens("100", 0), "100");
    }
}
