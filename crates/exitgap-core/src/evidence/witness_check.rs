//! Checks whether trusted witnesses cosigned a checkpoint, and since when it has existed. This check is separate: it is
//! made only with a witness policy, and is not part of [`verify`](super::verify).

use serde::Serialize;

use super::contents::Evidence;
use super::report::Outcome;
use crate::series::rfc3339;
use crate::tlog::{
    Checkpoint, CosignatureStatus, LogProof, Note, SignedError, TrustError, WitnessPolicy,
};

/// How far a cosignature's time may be ahead of the reader's clock, because clocks differ.
const AHEAD_S: u64 = 300;

/// The result of checking the witnesses' cosignatures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WitnessCheck {
    /// Always `witnessed`.
    pub name: &'static str,
    /// Its outcome.
    pub outcome: Outcome,
    /// A stable code: `ok`, or the cause of the failure or omission.
    pub code: &'static str,
    /// The value that would have passed.
    pub expected: String,
    /// The value found.
    pub found: String,
    /// The checkpoint existed before this Unix second, according to the clocks of the quorum's witnesses. Absent
    /// without a quorum, or if the policy does not require one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_before_s: Option<u64>,
    /// The policy's witnesses that cosigned, each with its own time.
    pub cosigned: Vec<CosignedBy>,
}

/// A witness that cosigned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CosignedBy {
    /// Its name in the policy.
    pub witness: String,
    /// Its key, as `<name>+<id>`.
    pub key: String,
    /// The Unix second stated in the cosignature.
    pub time_s: u64,
}

impl WitnessCheck {
    fn new(outcome: Outcome, code: &'static str, [expected, found]: [String; 2]) -> Self {
        let (recorded_before_s, cosigned) = (None, Vec::new());
        Self { name: "witnessed", outcome, code, expected, found, recorded_before_s, cosigned }
    }

    fn not_checked(code: &'static str, expected: &str, found: String) -> Self {
        Self::new(Outcome::NotChecked, code, [expected.to_owned(), found])
    }
}

impl Evidence {
    /// Checks the cosignatures of a policy's witnesses on the file's checkpoint. `now_s` is the reader's clock, if
    /// there is one. Cosignatures from later times are ignored.
    pub fn check_witnesses(&self, policy: &WitnessPolicy, now_s: Option<u64>) -> WitnessCheck {
        let proof = self.statement().map(|stated| LogProof::from_text(&stated.log_proof));
        match proof {
            Some(Ok(proof)) => check_witnessed(&proof.checkpoint, policy, now_s),
            Some(Err(error)) => unreadable(error.to_string()),
            None => unreadable("no readable log proof".to_owned()),
        }
    }
}

fn unreadable(found: String) -> WitnessCheck {
    WitnessCheck::not_checked("log_proof_invalid", "a signed checkpoint", found)
}

/// The same for a signed checkpoint. If the policy names logs, one of them must have signed it.
pub fn check_witnessed(note: &str, policy: &WitnessPolicy, now_s: Option<u64>) -> WitnessCheck {
    if !policy.logs().is_empty() {
        match Checkpoint::signed_by(note, policy.logs()) {
            Ok(_) => {}
            Err(SignedError::Unreadable(error)) => return unreadable(error.to_string()),
            Err(SignedError::Unsigned(TrustError::Forged { signer })) => {
                let expected = "a signature made by the key with this name".to_owned();
                let words = [expected, format!("a forged signature named {signer}")];
                return WitnessCheck::new(Outcome::Fail, "signature_forged", words);
            }
            Err(SignedError::Unsigned(error)) => {
                let expected = "a checkpoint signed by a log of the policy";
                return WitnessCheck::not_checked("log_not_in_policy", expected, error.to_string());
            }
        }
    }
    match Note::parse(note) {
        Ok(note) => judge_note(&note, policy, now_s),
        Err(error) => unreadable(error.to_string()),
    }
}

fn judge_note(note: &Note<'_>, policy: &WitnessPolicy, now_s: Option<u64>) -> WitnessCheck {
    let latest_s = now_s.map_or(u64::MAX, |now_s| now_s.saturating_add(AHEAD_S));
    let (mut times, mut cosigned, mut ahead) = (Vec::new(), Vec::new(), Vec::new());
    for witness in policy.witnesses() {
        let key = format!("{}+{}", witness.key.name(), witness.key.id());
        let time_s = match witness.key.judge(note) {
            CosignatureStatus::Forged => {
                let expected = "a cosignature made by the key with this name".to_owned();
                let words = [expected, format!("a forged cosignature named {key}")];
                return WitnessCheck::new(Outcome::Fail, "cosignature_forged", words);
            }
            CosignatureStatus::Absent => None,
            CosignatureStatus::At(time_s) if time_s > latest_s => {
                ahead.push(format!(
                    "{} is from {}, which is to come",
                    witness.name,
                    rfc3339(time_s)
                ));
                None
            }
            CosignatureStatus::At(time_s) => {
                let witness = witness.name.clone();
                cosigned.push(CosignedBy { witness, key, time_s });
                Some(time_s)
            }
        };
        times.push(time_s);
    }
    let by: Vec<&str> = cosigned.iter().map(|by| by.witness.as_str()).collect();
    let by = if by.is_empty() { "no one".to_owned() } else { by.join(", ") };
    let mut check = if !policy.asks_for_cosignatures() {
        let words = [
            "no cosignature".to_owned(),
            format!("the policy requires no cosignature; cosigned by {by}"),
        ];
        WitnessCheck::new(Outcome::Pass, "ok", words)
    } else if let Some(before_s) = policy.met_at(&times) {
        let found = format!("recorded before {}, cosigned by {by}", rfc3339(before_s));
        let mut check = WitnessCheck::new(Outcome::Pass, "ok", [found.clone(), found]);
        check.recorded_before_s = Some(before_s);
        check
    } else {
        let known = policy.witnesses().len();
        let found =
            [vec![format!("of {known} witnesses, {by} cosigned")], ahead].concat().join("; ");
        WitnessCheck::not_checked("quorum_missing", "cosignatures from the policy's quorum", found)
    };
    check.cosigned = cosigned;
    check
}

#[cfg(test)]
mod tests {
    use core::fmt::Write;

    use super::*;
    use crate::tlog::{Cosigner, SignerKey};

    const LOG: &str = "exitgap.example/log/5957856";
    const TEXT: &str =
        "exitgap.example/log/5957856\n7\nAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwM=\n";

    fn signer(name: &str, seed: u8) -> SignerKey {
        SignerKey::from_seed(name, [seed; 32]).unwrap()
    }

    fn witness(seed: u8) -> Cosigner {
        Cosigner::new(signer(&format!("witness.example/w{seed}"), seed))
    }

    fn policy(lines: &str) -> WitnessPolicy {
        let mut text = format!("log {}\n", signer(LOG, 9).verifier());
        for seed in 1..=3 {
            let _ = writeln!(text, "witness w{seed} {}", witness(seed).verifier());
        }
        WitnessPolicy::parse(format!("{text}{lines}").as_bytes()).unwrap()
    }

    fn note(lines: &[String]) -> String {
        signer(LOG, 9).sign(TEXT).unwrap() + &lines.concat()
    }

    #[test]
    fn the_quorum_says_since_when_and_a_false_one_fails() {
        let two = policy("group g 2 w1 w2 w3\nquorum g\n");
        let line = |seed: u8, time_s| witness(seed).cosign(TEXT, time_s);
        let check = |note: &str| check_witnessed(note, &two, Some(1_700_000_000));
        let codes = |check: &WitnessCheck| (check.outcome, check.code, check.recorded_before_s);

        let three = note(&[line(1, 1_600_000_300), line(2, 1_600_000_100), line(3, 1_600_000_200)]);
        let found = check(&three);
        assert_eq!(codes(&found), (Outcome::Pass, "ok", Some(1_600_000_200)));
        assert!(found.found.starts_with("recorded before 2020-09-13T12:30:00Z"), "{}", found.found);
        assert_eq!(found.cosigned.len(), 3);
        let missing = (Outcome::NotChecked, "quorum_missing", None);
        assert_eq!(codes(&check(&note(&[line(1, 1_600_000_300)]))), missing);
        assert_eq!(codes(&check(&note(&[]))), missing);
        // Two cosignatures of one witness count once.
        assert_eq!(
            codes(&check(&note(&[line(1, 1_600_000_300), line(1, 1_600_000_301)]))),
            missing
        );
        // Cosignatures of keys that are not in the policy do not count.
        assert_eq!(codes(&check(&note(&[line(1, 1_600_000_300), line(4, 5)]))), missing);
        // A line under a witness's name and id that the witness did not sign.
        let forged = witness(2).cosign("another text\n", 1_600_000_100);
        let found = check(&note(&[line(1, 1_600_000_300), line(3, 1_600_000_200), forged]));
        assert_eq!(codes(&found), (Outcome::Fail, "cosignature_forged", None));
    }

    #[test]
    fn a_cosignature_from_the_future_does_not_count() {
        let one = policy("quorum w1\n");
        let now_s = 1_700_000_000;
        let at = |time_s, now| {
            let check = check_witnessed(&note(&[witness(1).cosign(TEXT, time_s)]), &one, now);
            (check.code, check.found)
        };
        assert_eq!(at(now_s + 300, Some(now_s)).0, "ok");
        let (code, found) = at(now_s + 301, Some(now_s));
        assert_eq!(code, "quorum_missing");
        assert!(found.contains("which is to come"), "{found}");
        // Without a clock, no time counts as future.
        assert_eq!(at(now_s + 301, None).0, "ok");
    }

    #[test]
    fn a_policy_counts_for_its_logs_alone() {
        let one = policy("quorum w1\n");
        let line = witness(1).cosign(TEXT, 5);
        let of_other = signer(LOG, 8).sign(TEXT).unwrap() + &line;
        assert_eq!(check_witnessed(&of_other, &one, None).code, "log_not_in_policy");
        let forged = signer(LOG, 9).sign("another\n").unwrap();
        let forged = note(&[forged.lines().last().unwrap().to_owned() + "\n", line.clone()]);
        assert_eq!(check_witnessed(&forged, &one, None).code, "signature_forged");
        assert_eq!(check_witnessed("text", &one, None).code, "log_proof_invalid");
        // If the policy names no log, any log signed with a trusted key is accepted.
        let key = witness(1).verifier();
        let any = WitnessPolicy::of_witnesses(&[key], 1).unwrap();
        assert_eq!(check_witnessed(&of_other, &any, None).code, "ok");
        let none = policy("quorum none\n");
        let found = check_witnessed(&note(&[]), &none, None);
        assert_eq!((found.outcome, found.recorded_before_s), (Outcome::Pass, None));
        assert_eq!(
            Evidence::from_bytes(b"{}").check_witnesses(&none, None).code,
            "log_proof_invalid"
        );
    }
}
