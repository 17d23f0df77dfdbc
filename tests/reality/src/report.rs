//! How many cases there are of each kind, how they ended, and what must be so.

use std::fmt::{self, Display};

/// Counts, in the order in which they were made, and what is wrong.
#[derive(Debug, Default)]
pub struct Report {
    figures: Vec<(&'static str, u64)>,
    complaints: Vec<String>,
}

/// What a figure must be.
#[derive(Debug, Clone, Copy)]
enum Gate {
    AtLeast(u64),
    Zero,
}

/// The figures that are held to something. Fewer cases than the committed ones are a failure: what is not there is not tried.
const GATES: [(&str, Gate); 17] = [
    ("reality.swaps", Gate::AtLeast(193)),
    ("reality.equal", Gate::AtLeast(170)),
    ("reality.exact_output", Gate::AtLeast(19)),
    ("reality.wrong", Gate::Zero),
    ("reality.crossings", Gate::AtLeast(2)),
    ("reality.curve", Gate::AtLeast(1)),
    ("reality.curve_wrong", Gate::Zero),
    ("reality.headers", Gate::AtLeast(73)),
    ("reality.headers_differing", Gate::Zero),
    ("reality.walks", Gate::AtLeast(194)),
    ("reality.walks_failed", Gate::Zero),
    ("reality.proofs", Gate::AtLeast(11)),
    ("reality.proofs_failed", Gate::Zero),
    ("reality.feeds", Gate::AtLeast(11)),
    ("reality.feeds_unproven", Gate::Zero),
    ("reality.code", Gate::AtLeast(100)),
    ("reality.code_differing", Gate::Zero),
];

impl Report {
    /// Adds a figure.
    pub fn add(&mut self, name: &'static str, count: usize) {
        self.figures.push((name, u64::try_from(count).unwrap_or(u64::MAX)));
    }

    /// Adds what is wrong with a case.
    pub fn complain(&mut self, what: impl Into<String>) {
        self.complaints.push(what.into());
    }

    /// A figure; `None`: it was not counted.
    pub fn figure(&self, name: &str) -> Option<u64> {
        self.figures.iter().find(|(named, _)| *named == name).map(|(_, count)| *count)
    }

    /// What is wrong with cases.
    pub fn complaints(&self) -> &[String] {
        &self.complaints
    }

    /// The figures that are not what they must be, in words.
    pub fn unmet(&self) -> Vec<String> {
        let unmet = |(name, gate): &(&'static str, Gate)| {
            let found = self.figure(name);
            let (is_met, words) = match gate {
                Gate::AtLeast(least) => {
                    (found.is_some_and(|found| found >= *least), format!("at least {least}"))
                }
                Gate::Zero => (found == Some(0), "0".to_owned()),
            };
            let found = found.map_or("not counted".to_owned(), |found| found.to_string());
            (!is_met).then(|| format!("{name} is {found}, and must be {words}"))
        };
        GATES.iter().filter_map(unmet).collect()
    }

    /// One flat JSON object of numbers.
    pub fn json(&self) -> String {
        let members: Vec<String> =
            self.figures.iter().map(|(name, count)| format!("\"{name}\":{count}")).collect();
        format!("{{{}}}", members.join(","))
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, count) in &self.figures {
            writeln!(f, "{name} {count}")?;
        }
        Ok(())
    }
}
