//! The results of a folder, by kind.

use std::collections::BTreeMap;
use std::fmt;

use exitgap_core::pools::vectors::RecordedKind;
use serde_json::{Map, Value};

use super::sizes::SizeAnswer;

/// Maximum number of differences listed per kind.
const NAMED: usize = 20;

/// The results of the files of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfKind {
    /// The kind of the contracts.
    pub kind: RecordedKind,
    /// Number of recorded sales.
    pub cases: u64,
    /// The sales for which the core's result differs.
    pub mismatches: Vec<String>,
    /// Number of sales that were executed.
    pub after_cases: u64,
    /// The executed sales for which the core's fill or resulting state differs.
    pub after_mismatches: Vec<String>,
    /// Number of sales that the contract rejects when it updates a price, which the core does not compute.
    pub unmodelled: u64,
    /// Number of limits with an answer.
    pub size_cases: u64,
    /// Answers that do not pass, or above which something larger passes.
    pub size_mismatches: Vec<String>,
    /// Number of limits for which the search was given up.
    pub size_given_up: u64,
    /// Number of limits that were rejected because no search of this kind is exact.
    pub sizing_not_exact: u64,
}

/// The results of a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Number of files compared.
    pub files: u64,
    /// The results by kind.
    pub kinds: BTreeMap<RecordedKind, OfKind>,
    /// Files that claim to have the format but do not, with the place and the reason.
    pub broken: Vec<String>,
    /// JSON files of another format.
    pub left_out: Vec<String>,
}

impl OfKind {
    pub(super) fn new(kind: RecordedKind) -> Self {
        Self {
            kind,
            cases: 0,
            mismatches: Vec::new(),
            after_cases: 0,
            after_mismatches: Vec::new(),
            unmodelled: 0,
            size_cases: 0,
            size_mismatches: Vec::new(),
            size_given_up: 0,
            sizing_not_exact: 0,
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.cases += other.cases;
        self.mismatches.extend(other.mismatches);
        self.after_cases += other.after_cases;
        self.after_mismatches.extend(other.after_mismatches);
        self.unmodelled += other.unmodelled;
        self.size_cases += other.size_cases;
        self.size_mismatches.extend(other.size_mismatches);
        self.size_given_up += other.size_given_up;
        self.sizing_not_exact += other.sizing_not_exact;
    }

    pub(super) fn count_size(&mut self, pool: &str, answer: SizeAnswer) {
        match answer {
            SizeAnswer::Holds => self.size_cases += 1,
            SizeAnswer::Wrong(how) => {
                self.size_cases += 1;
                self.size_mismatches.push(format!("{pool}: {how}"));
            }
            SizeAnswer::GivenUp => self.size_given_up += 1,
            SizeAnswer::NotExact => self.sizing_not_exact += 1,
        }
    }

    /// All differences.
    pub fn differences(&self) -> impl Iterator<Item = &String> {
        self.mismatches.iter().chain(&self.after_mismatches).chain(&self.size_mismatches)
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        let length = |list: &Vec<String>| list.len() as u64;
        let mut counts = vec![
            ("cases", self.cases),
            ("mismatches", length(&self.mismatches)),
            ("after_cases", self.after_cases),
            ("after_mismatches", length(&self.after_mismatches)),
            ("size_cases", self.size_cases),
            ("size_mismatches", length(&self.size_mismatches)),
            ("size_given_up", self.size_given_up),
        ];
        if self.kind.has_price_upkeep() {
            counts.push(("unmodelled_refusals", self.unmodelled));
            counts.push(("sizing_not_exact", self.sizing_not_exact));
        }
        counts
    }
}

impl Report {
    pub(super) fn add(&mut self, of_kind: OfKind) {
        let kind = of_kind.kind;
        self.kinds.entry(kind).or_insert_with(|| OfKind::new(kind)).merge(of_kind);
    }

    /// Whether every file was compared, and the core always agrees with the contracts.
    pub fn agrees(&self) -> bool {
        let same = |of_kind: &OfKind| of_kind.differences().next().is_none();
        self.broken.is_empty() && self.kinds.values().all(same)
    }

    /// One flat JSON object of numbers.
    pub fn json(&self) -> String {
        let mut numbers = Map::new();
        let mut add = |name: String, number: u64| numbers.insert(name, Value::from(number));
        add("files".to_owned(), self.files);
        add("files_broken".to_owned(), self.broken.len() as u64);
        add("files_left_out".to_owned(), self.left_out.len() as u64);
        for of_kind in self.kinds.values() {
            for (name, number) in of_kind.counts() {
                add(format!("{}.{name}", of_kind.kind.name()), number);
            }
        }
        Value::Object(numbers).to_string()
    }

    /// The problems, one per line.
    pub fn complaints(&self) -> Vec<String> {
        let mut lines: Vec<String> =
            self.left_out.iter().map(|line| format!("left out: {line}")).collect();
        lines.extend(self.broken.iter().map(|line| format!("error: {line}")));
        for of_kind in self.kinds.values() {
            let all = of_kind.differences().count();
            let named = of_kind.differences().take(NAMED);
            let kind = of_kind.kind.name();
            lines.extend(named.map(|line| format!("mismatch: {kind}: {line}")));
            if all > NAMED {
                lines.push(format!("mismatch: {kind}: and {} more", all - NAMED));
            }
        }
        lines
    }
}

/// A table for people.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<30} {:>7} {:>9} {:>6} {:>9} {:>7} {:>9}",
            "recorded fills", "sales", "different", "after", "different", "limits", "different"
        )?;
        for of_kind in self.kinds.values() {
            writeln!(
                f,
                "{:<30} {:>7} {:>9} {:>6} {:>9} {:>7} {:>9}",
                of_kind.kind.name(),
                of_kind.cases,
                of_kind.mismatches.len(),
                of_kind.after_cases,
                of_kind.after_mismatches.len(),
                of_kind.size_cases,
                of_kind.size_mismatches.len()
            )?;
            if of_kind.unmodelled > 0 {
                writeln!(
                    f,
                    "  {} sales are refused by the contract's price update, which core does not compute",
                    of_kind.unmodelled
                )?;
            }
            if of_kind.sizing_not_exact > 0 {
                writeln!(
                    f,
                    "  no exact sizing: {} limits were refused by that name",
                    of_kind.sizing_not_exact
                )?;
            }
            if of_kind.size_given_up > 0 {
                writeln!(f, "  the search was given up at {} limits", of_kind.size_given_up)?;
            }
        }
        let all = self.kinds.values().map(|of_kind| of_kind.cases).sum::<u64>();
        write!(f, "{} files, {} sales", self.files, all)
    }
}
