//! `verify` on arbitrary bytes, with the key of the vectors' log.

use exitgap_core::evidence::{CheckName, Outcome, Verdict, verify};
use exitgap_core::tlog::Note;

use super::known::{Known, Parts, canonical, checkpoint_of, known, parts};

/// The evidence file of every vector.
pub fn seeds() -> Vec<Vec<u8>> {
    known().vectors.iter().map(|vector| vector.evidence.clone()).collect()
}

/// Whether the file has the right format.
pub fn body(input: &[u8]) -> bool {
    checked(input, known())
}

fn checked(input: &[u8], known: &Known) -> bool {
    let report = verify(input, &known.policy);
    let names: Vec<_> = report.checks.iter().map(|check| check.name).collect();
    assert_eq!(names, CheckName::ALL, "every check, in order");
    let outcome = |name| report.check(name).map(|check| check.outcome);
    let failed = report.checks.iter().any(|check| check.outcome == Outcome::Fail);
    let passed = CheckName::REQUIRED.iter().all(|name| outcome(*name) == Some(Outcome::Pass));
    let expected = match (failed, passed) {
        (true, _) => Verdict::Invalid,
        (false, true) => Verdict::Valid,
        (false, false) => Verdict::Incomplete,
    };
    assert_eq!(report.verdict, expected);
    let formatted = outcome(CheckName::Format) == Some(Outcome::Pass);
    if formatted {
        assert_eq!(canonical(input).as_deref(), Some(input), "accepted bytes are canonical");
    }
    if report.verdict == Verdict::Valid {
        let parts = parts(input).expect("a valid file has its parts");
        let same = |sealed: &Parts| {
            (&sealed.head, &sealed.leaf, &sealed.documents)
                == (&parts.head, &parts.leaf, &parts.documents)
        };
        assert!(known.sealed.iter().any(same), "only what was sealed verifies");
        let note =
            Note::parse(checkpoint_of(&parts.log_proof)).expect("a valid file has a checkpoint");
        assert!(known.texts.iter().any(|text| text == note.text), "only what was signed verifies");
        assert_eq!(verify(input, &known.policy), report, "the same file has the same report");
    }
    formatted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_valid_file_that_nobody_sealed_is_noticed() {
        let known = known();
        let nothing = Known {
            vectors: Vec::new(),
            policy: known.policy.clone(),
            sealed: Vec::new(),
            texts: known.texts.clone(),
        };
        let file = &known.file_with_window().evidence;
        assert!(checked(file, known));
        assert!(std::panic::catch_unwind(|| checked(file, &nothing)).is_err());
    }
}
