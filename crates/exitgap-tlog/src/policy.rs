//! Witness policies (C2SP `tlog-policy`): logs, witnesses, groups of witnesses, and the required quorum.

use super::cosignature::{WitnessKey, WitnessKeyError};
use super::note::{NoteError, VerifierKey};

/// The longest policy that is parsed.
pub const MAX_POLICY_BYTES: usize = 64 << 10;
/// The most logs, the most witnesses and the most groups that a policy may have.
pub const MAX_POLICY_ITEMS: usize = 64;

/// Why a text is not a policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// More than [`MAX_POLICY_BYTES`].
    #[error("the policy has {found} bytes; at most {most} are accepted", most = MAX_POLICY_BYTES)]
    TooLarge {
        /// Bytes found.
        found: usize,
    },
    /// A line breaks a rule.
    #[error("line {line}: {rule}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// The broken rule.
        rule: PolicyRule,
    },
    /// No line names the quorum.
    #[error("the policy has no quorum line; `quorum none` requires no cosignature")]
    NoQuorum,
}

/// A rule that a line of a policy can break.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyRule {
    /// A control character other than tab and line break, or no line break at the end.
    #[error(
        "a policy must not contain control characters other than tab and LF, and each line must end with LF"
    )]
    Octets,
    /// The line does not begin with a keyword of the policy format.
    #[error("expected `log`, `witness`, `group` or `quorum`")]
    Keyword,
    /// The line has too few or too many words after the keyword.
    #[error("expected `{0}`")]
    Words(&'static str),
    /// Not a valid log key.
    #[error("the log's key: {0}")]
    LogKey(NoteError),
    /// Not a valid witness key.
    #[error("the witness's key: {0}")]
    WitnessKey(WitnessKeyError),
    /// The same key appears twice, possibly under different names.
    #[error("its key is already in line {before}; one key counts once, under any name")]
    KeyTwice {
        /// The line of its first occurrence.
        before: usize,
    },
    /// The same name is given to two items.
    #[error("the name {0:?} is already used")]
    NameTaken(String),
    /// No earlier line defines this name.
    #[error("{0:?} is not defined in an earlier line")]
    UnknownName(String),
    /// An item is a member of two groups, or twice of one group.
    #[error("{0:?} is already a member of a group, and can be a member of only one")]
    MemberTwice(String),
    /// A group's threshold is not a number from 1 to the number of its members.
    #[error("{found:?} is neither `any`, `all` nor a number from 1 to {members}")]
    Threshold {
        /// The text found.
        found: String,
        /// The number of members.
        members: usize,
    },
    /// A second quorum.
    #[error("a policy must have only one quorum line")]
    SecondQuorum,
    /// More than [`MAX_POLICY_ITEMS`] of a kind.
    #[error("more than {most} entries of one kind", most = MAX_POLICY_ITEMS)]
    TooMany,
}

/// A witness of a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyWitness {
    /// Its name in the policy.
    pub name: String,
    /// Its key.
    pub key: WitnessKey,
}

/// Which logs' checkpoints are accepted, and which witnesses must have cosigned them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WitnessPolicy {
    logs: Vec<VerifierKey>,
    witnesses: Vec<PolicyWitness>,
    groups: Vec<Group>,
    quorum: Option<Member>,
}

/// A group is met if `threshold` of its members are met.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Group {
    threshold: usize,
    members: Vec<Member>,
}

/// A witness or an earlier group, by its index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Member {
    Witness(usize),
    Group(usize),
}

impl WitnessPolicy {
    /// Reads a policy's bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, PolicyError> {
        if bytes.len() > MAX_POLICY_BYTES {
            return Err(PolicyError::TooLarge { found: bytes.len() });
        }
        let mut reading = PolicyParser::default();
        let mut lines = (1..).zip(bytes.split_inclusive(|byte| *byte == b'\n'));
        lines.try_for_each(|(line, text)| {
            reading.line(line, text).map_err(|rule| PolicyError::Line { line, rule })
        })?;
        let PolicyParser { logs, witnesses, groups, quorum, .. } = reading;
        let quorum = match quorum {
            QuorumChoice::Nothing => return Err(PolicyError::NoQuorum),
            QuorumChoice::None => None,
            QuorumChoice::Member(member) => Some(member),
        };
        Ok(Self { logs, witnesses, groups, quorum })
    }

    /// A policy for any log that requires cosignatures of `threshold` of these witnesses. Refused if a key appears
    /// twice, if there are too many witnesses, or if there are fewer than the threshold.
    pub fn of_witnesses(keys: &[WitnessKey], threshold: usize) -> Result<Self, PolicyRule> {
        let mut policy =
            Self { logs: Vec::new(), witnesses: Vec::new(), groups: Vec::new(), quorum: None };
        if keys.len() > MAX_POLICY_ITEMS {
            return Err(PolicyRule::TooMany);
        }
        for key in keys {
            let same = |known: &PolicyWitness| known.key.public_bytes() == key.public_bytes();
            if let Some(before) = policy.witnesses.iter().position(same) {
                return Err(PolicyRule::KeyTwice { before: before + 1 });
            }
            policy.witnesses.push(PolicyWitness { name: key.name().to_owned(), key: key.clone() });
        }
        if threshold > keys.len() {
            return Err(PolicyRule::Threshold {
                found: threshold.to_string(),
                members: keys.len(),
            });
        }
        if threshold > 0 {
            let members = (0..keys.len()).map(Member::Witness).collect();
            policy.groups.push(Group { threshold, members });
            policy.quorum = Some(Member::Group(0));
        }
        Ok(policy)
    }

    /// The keys of the accepted logs. Empty if the policy names no log and the caller knows the keys from elsewhere.
    pub fn logs(&self) -> &[VerifierKey] {
        &self.logs
    }

    /// The witnesses, in the order of their lines.
    pub fn witnesses(&self) -> &[PolicyWitness] {
        &self.witnesses
    }

    /// Whether the policy requires any cosignatures.
    pub fn asks_for_cosignatures(&self) -> bool {
        self.quorum.is_some()
    }

    /// Whether the witnesses that `cosigned`, by index, meet the quorum.
    pub fn is_met(&self, cosigned: &[bool]) -> bool {
        let Some(quorum) = self.quorum else { return true };
        let mut met: Vec<bool> = Vec::with_capacity(self.groups.len());
        let has = |met: &[bool], member: &Member| match *member {
            Member::Witness(place) => cosigned.get(place).copied().unwrap_or_default(),
            Member::Group(place) => met.get(place).copied().unwrap_or_default(),
        };
        // A group's members always come before the group.
        for group in &self.groups {
            let having = group.members.iter().filter(|member| has(&met, member)).count();
            met.push(having >= group.threshold);
        }
        has(&met, &quorum)
    }

    /// The first second at which the quorum was met, given the time of each witness's cosignature. `None` if it is not
    /// met, or if the policy does not require one.
    pub fn met_at(&self, times_s: &[Option<u64>]) -> Option<u64> {
        self.quorum?;
        let by = |time_s: u64| -> Vec<bool> {
            times_s.iter().map(|at| at.is_some_and(|at| at <= time_s)).collect()
        };
        times_s.iter().flatten().copied().filter(|time_s| self.is_met(&by(*time_s))).min()
    }
}

/// What the parser has read so far.
#[derive(Default)]
struct PolicyParser {
    logs: Vec<VerifierKey>,
    witnesses: Vec<PolicyWitness>,
    groups: Vec<Group>,
    quorum: QuorumChoice,
    /// Every name with the item that it stands for, and whether that item is already a member of a group.
    names: Vec<(Vec<u8>, Member, bool)>,
    log_lines: Vec<usize>,
    witness_lines: Vec<usize>,
}

/// Whether a quorum line was read, and which quorum it names.
#[derive(Default)]
enum QuorumChoice {
    #[default]
    Nothing,
    None,
    Member(Member),
}

const NONE: &[u8] = b"none";

impl PolicyParser {
    fn line(&mut self, line: usize, text: &[u8]) -> Result<(), PolicyRule> {
        let text = text.strip_suffix(b"\n").ok_or(PolicyRule::Octets)?;
        if text.iter().any(|byte| *byte < b' ' && *byte != b'\t' || *byte == 0x7f) {
            return Err(PolicyRule::Octets);
        }
        let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
        let words: Vec<&[u8]> = text.split(is_space).filter(|word| !word.is_empty()).collect();
        match words.as_slice() {
            [] => Ok(()),
            [first, ..] if first.starts_with(b"#") => Ok(()),
            [b"log", rest @ ..] => self.log(line, rest),
            [b"witness", rest @ ..] => self.witness(line, rest),
            [b"group", rest @ ..] => self.group(rest),
            [b"quorum", rest @ ..] => self.quorum(rest),
            _ => Err(PolicyRule::Keyword),
        }
    }

    fn log(&mut self, line: usize, words: &[&[u8]]) -> Result<(), PolicyRule> {
        let ([key] | [key, _]) = words else { return Err(PolicyRule::Words("log <key> [<url>]")) };
        let key: VerifierKey = utf8(key)
            .ok_or(NoteError::VerifierKey)
            .and_then(str::parse)
            .map_err(PolicyRule::LogKey)?;
        let same = |known: &VerifierKey| known.public_bytes() == key.public_bytes();
        if let Some(place) = self.logs.iter().position(same) {
            return Err(PolicyRule::KeyTwice { before: self.log_lines[place] });
        }
        room(self.logs.len())?;
        self.logs.push(key);
        self.log_lines.push(line);
        Ok(())
    }

    fn witness(&mut self, line: usize, words: &[&[u8]]) -> Result<(), PolicyRule> {
        let ([name, key] | [name, key, _]) = words else {
            return Err(PolicyRule::Words("witness <name> <key> [<url>]"));
        };
        let key: WitnessKey = utf8(key)
            .ok_or(WitnessKeyError::Form)
            .and_then(str::parse)
            .map_err(PolicyRule::WitnessKey)?;
        let same = |known: &PolicyWitness| known.key.public_bytes() == key.public_bytes();
        if let Some(place) = self.witnesses.iter().position(same) {
            return Err(PolicyRule::KeyTwice { before: self.witness_lines[place] });
        }
        room(self.witnesses.len())?;
        self.name(name, Member::Witness(self.witnesses.len()))?;
        self.witnesses.push(PolicyWitness { name: shown(name), key });
        self.witness_lines.push(line);
        Ok(())
    }

    fn group(&mut self, words: &[&[u8]]) -> Result<(), PolicyRule> {
        let [name, threshold, names @ ..] = words else {
            return Err(PolicyRule::Words("group <name> any|all|<number> <name>..."));
        };
        if names.is_empty() {
            return Err(PolicyRule::Words("group <name> any|all|<number> <name>..."));
        }
        room(self.groups.len())?;
        let mut members = Vec::with_capacity(names.len().min(2 * MAX_POLICY_ITEMS));
        for name in names {
            let known = self.names.iter_mut().find(|(known, ..)| known == name);
            let (_, member, taken) = known.ok_or_else(|| PolicyRule::UnknownName(shown(name)))?;
            if std::mem::replace(taken, true) {
                return Err(PolicyRule::MemberTwice(shown(name)));
            }
            members.push(*member);
        }
        let wrong = || PolicyRule::Threshold { found: shown(threshold), members: members.len() };
        let threshold = match *threshold {
            b"any" => 1,
            b"all" => members.len(),
            number => {
                let text = utf8(number).ok_or_else(wrong)?;
                let found: usize = text.parse().map_err(|_| wrong())?;
                // Only digits, without leading zeros.
                Some(found).filter(|found| found.to_string() == text).ok_or_else(wrong)?
            }
        };
        if !(1..=members.len()).contains(&threshold) {
            return Err(wrong());
        }
        self.name(name, Member::Group(self.groups.len()))?;
        self.groups.push(Group { threshold, members });
        Ok(())
    }

    fn quorum(&mut self, words: &[&[u8]]) -> Result<(), PolicyRule> {
        let [name] = words else { return Err(PolicyRule::Words("quorum <name>")) };
        if !matches!(self.quorum, QuorumChoice::Nothing) {
            return Err(PolicyRule::SecondQuorum);
        }
        self.quorum = if *name == NONE {
            QuorumChoice::None
        } else {
            let known = self.names.iter().find(|(known, ..)| known == name);
            let (_, member, _) = known.ok_or_else(|| PolicyRule::UnknownName(shown(name)))?;
            QuorumChoice::Member(*member)
        };
        Ok(())
    }

    /// Gives an unused name to a witness or a group.
    fn name(&mut self, name: &[u8], member: Member) -> Result<(), PolicyRule> {
        if name == NONE || self.names.iter().any(|(known, ..)| known == name) {
            return Err(PolicyRule::NameTaken(shown(name)));
        }
        self.names.push((name.to_vec(), member, false));
        Ok(())
    }
}

fn room(there_are: usize) -> Result<(), PolicyRule> {
    if there_are < MAX_POLICY_ITEMS { Ok(()) } else { Err(PolicyRule::TooMany) }
}

fn utf8(word: &[u8]) -> Option<&str> {
    core::str::from_utf8(word).ok()
}

/// The first 100 characters of a name, for error messages.
fn shown(name: &[u8]) -> String {
    String::from_utf8_lossy(name).chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use core::fmt::Write;

    use super::*;
    use crate::{Cosigner, SignerKey};

    fn key(seed: u8) -> WitnessKey {
        let signer = SignerKey::from_seed(&format!("witness.example/w{seed}"), [seed; 32]).unwrap();
        Cosigner::new(signer).verifier()
    }

    /// The example in the specification: two of three X, and one of three Y.
    fn example() -> String {
        let log = SignerKey::from_seed("log.example/5957856", [99; 32]).unwrap().verifier();
        let mut text = format!("# two operators\n\nlog {log}\n");
        for (place, name) in (1..).zip(["X1", "X2", "X3", "Y1", "Y2", "Y3"]) {
            let _ = writeln!(text, "\twitness  {name} {}\thttps://{name}.example", key(place));
        }
        text + "group X-witnesses 2 X1 X2 X3\ngroup Y-witnesses any Y1 Y2 Y3\n\
                group X-and-Y all X-witnesses Y-witnesses\nquorum X-and-Y\n"
    }

    #[test]
    fn the_example_of_the_specification_asks_for_what_it_says() {
        let policy = WitnessPolicy::parse(example().as_bytes()).unwrap();
        assert_eq!((policy.logs().len(), policy.witnesses().len()), (1, 6));
        for pattern in 0..64_u32 {
            let cosigned: Vec<bool> = (0..6).map(|place| pattern >> place & 1 == 1).collect();
            let of_x = cosigned[..3].iter().filter(|cosigned| **cosigned).count();
            let of_y = cosigned[3..].iter().any(|cosigned| *cosigned);
            assert_eq!(policy.is_met(&cosigned), of_x >= 2 && of_y, "{cosigned:?}");
        }
        // The quorum is met at the later of two times: the second X and the first Y.
        let times = [Some(30), Some(10), None, Some(90), Some(20), None];
        assert_eq!(policy.met_at(&times), Some(30));
        assert_eq!(policy.met_at(&[Some(1), Some(1), Some(1), None, None, None]), None);
        // The specification strongly recommends accepting 32 of each kind.
        let names: Vec<String> = (0..32).map(|place| format!("w{place}")).collect();
        let mut many = String::new();
        for (place, name) in (1..).zip(&names) {
            let _ = writeln!(many, "witness {name} {}", key(place));
        }
        let _ = writeln!(many, "group all-of-them all {}\nquorum all-of-them", names.join(" "));
        assert!(WitnessPolicy::parse(many.as_bytes()).is_ok());
    }

    #[test]
    fn every_rule_that_a_line_breaks_is_named_with_it() {
        use PolicyRule as R;
        let text = example();
        let refused = |from: &str, to: &str| {
            assert!(text.contains(from), "{from}");
            match WitnessPolicy::parse(text.replacen(from, to, 1).as_bytes()) {
                Err(PolicyError::Line { rule, .. }) => rule,
                other => panic!("{from:?} to {to:?}: {other:?}"),
            }
        };
        assert_eq!(refused("log ", "logs "), R::Keyword);
        assert!(matches!(refused("log ", "log a b "), R::Words(_)));
        assert!(matches!(refused("log log", "log lag"), R::LogKey(NoteError::KeyId { .. })));
        assert!(matches!(refused("w1+", "w1+0"), R::WitnessKey(WitnessKeyError::Form)));
        assert_eq!(refused("witness  X2", "witness  X1"), R::NameTaken("X1".to_owned()));
        assert_eq!(refused("witness  X2", "witness  none"), R::NameTaken("none".to_owned()));
        assert_eq!(refused("2 X1 X2 X3", "2 X1 X2 X4"), R::UnknownName("X4".to_owned()));
        assert_eq!(refused("any Y1", "any X1"), R::MemberTwice("X1".to_owned()));
        assert_eq!(refused("2 X1 X2", "2 X1 X1"), R::MemberTwice("X1".to_owned()));
        for wrong in ["0", "4", "02", "+2", "-1", "most"] {
            let rule = refused(" 2 X1", &format!(" {wrong} X1"));
            assert_eq!(rule, R::Threshold { found: wrong.to_owned(), members: 3 });
        }
        assert!(matches!(refused("all X-witnesses Y-witnesses", "all"), R::Words(_)));
        assert_eq!(refused("quorum X-and-Y\n", "quorum X-and-Y"), R::Octets);
        assert_eq!(refused("quorum X-and-Y\n", "quorum X-and-Y\r\n"), R::Octets);
        assert_eq!(refused("quorum X-and-Y\n", "quorum none\nquorum none\n"), R::SecondQuorum);
        // The quorum line may come before other lines, but not before the group that it names.
        assert!(matches!(refused("group X-w", "quorum X-and-Y\ngroup X-w"), R::UnknownName(_)));
        let error = WitnessPolicy::parse(text.replacen("quorum", "#", 1).as_bytes());
        assert_eq!(error, Err(PolicyError::NoQuorum));
        let large = vec![b'\n'; MAX_POLICY_BYTES + 1];
        assert!(matches!(WitnessPolicy::parse(&large), Err(PolicyError::TooLarge { .. })));
        let none = WitnessPolicy::parse(b"quorum none\n").unwrap();
        assert!(none.is_met(&[]) && !none.asks_for_cosignatures() && none.met_at(&[]).is_none());
        let mut many = String::new();
        for place in 0..65 {
            let _ = writeln!(many, "witness w{place} {}", key(place));
        }
        let error = WitnessPolicy::parse(many.as_bytes());
        assert_eq!(error, Err(PolicyError::Line { line: 65, rule: R::TooMany }));
    }

    #[test]
    fn one_key_under_two_names_does_not_count_twice() {
        let seed = [7; 32];
        let named =
            |name: &str| Cosigner::new(SignerKey::from_seed(name, seed).unwrap()).verifier();
        let (first, second) = (named("a.example"), named("b.example"));
        assert_ne!(first.id(), second.id());
        let text = format!("witness a {first}\nwitness b {second}\ngroup g 2 a b\nquorum g\n");
        let twice = PolicyRule::KeyTwice { before: 1 };
        let error = WitnessPolicy::parse(text.as_bytes());
        assert_eq!(error, Err(PolicyError::Line { line: 2, rule: twice.clone() }));
        assert_eq!(WitnessPolicy::of_witnesses(&[first.clone(), second], 2), Err(twice));
        // Two different keys are accepted, whatever their names.
        assert!(WitnessPolicy::of_witnesses(&[first, key(8)], 2).is_ok());
        let few = PolicyRule::Threshold { found: "2".to_owned(), members: 1 };
        assert_eq!(WitnessPolicy::of_witnesses(&[key(8)], 2), Err(few));
    }
}
