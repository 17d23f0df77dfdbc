//! How many swaps ended how, and those that are wrong as cases.

use std::collections::BTreeMap;
use std::fmt::{self, Display};

use serde_json::{Value, json};

use crate::swaps::{Difference, Judgement, Swap};

/// What was found in a range of blocks.
#[derive(Debug, Clone)]
pub struct Tally {
    chain: u64,
    range: [u64; 2],
    blocks: u64,
    proven_logs: u64,
    states: u64,
    proven_states: u64,
    equal: u64,
    crossings: u64,
    exact_output: u64,
    took_less: u64,
    taxed: u64,
    refused: BTreeMap<&'static str, u64>,
    unknown: BTreeMap<&'static str, u64>,
    wrong: Vec<(Swap, String)>,
}

impl Tally {
    /// Of a chain and a range of blocks, of which none was judged.
    pub(super) fn new(chain: u64, range: [u64; 2]) -> Self {
        Self {
            chain,
            range,
            blocks: 0,
            proven_logs: 0,
            states: 0,
            proven_states: 0,
            equal: 0,
            crossings: 0,
            exact_output: 0,
            took_less: 0,
            taxed: 0,
            refused: BTreeMap::new(),
            unknown: BTreeMap::new(),
            wrong: Vec::new(),
        }
    }

    /// The chain's id.
    pub fn chain(&self) -> u64 {
        self.chain
    }

    pub(super) fn add_block(&mut self, are_logs_proven: bool) {
        self.blocks += 1;
        self.proven_logs += u64::from(are_logs_proven);
    }

    pub(super) fn add_state(&mut self, is_proven: bool) {
        self.states += 1;
        self.proven_states += u64::from(is_proven);
    }

    pub(super) fn add_unknown(&mut self, kind: &'static str) {
        *self.unknown.entry(kind).or_default() += 1;
    }

    pub(super) fn refuse(&mut self, why: &'static str) {
        *self.refused.entry(why).or_default() += 1;
    }

    pub(super) fn add_taxed(&mut self) {
        self.taxed += 1;
    }

    pub(super) fn add(&mut self, judgement: Judgement) {
        match judgement {
            Judgement::Equal { crossed } => {
                self.equal += 1;
                self.crossings += u64::from(crossed > 0);
            }
            Judgement::ExactOutput => self.exact_output += 1,
            Judgement::TookLess => self.took_less += 1,
            Judgement::TicksUnknown => self.refuse("ticks_unknown"),
        }
    }

    pub(super) fn add_wrong(&mut self, swap: Swap, difference: &Difference) {
        self.wrong.push((swap, difference.to_string()));
    }

    /// The swaps that did not end as computed, with what is different.
    pub fn wrong(&self) -> &[(Swap, String)] {
        &self.wrong
    }

    /// The figures, by their names.
    pub fn figures(&self) -> Vec<(&'static str, u64)> {
        let sum = |of: &BTreeMap<&str, u64>| of.values().sum::<u64>();
        let wrong = u64::try_from(self.wrong.len()).unwrap_or(u64::MAX);
        let refused = sum(&self.refused);
        let swaps = self.equal + self.exact_output + self.took_less + self.taxed + refused + wrong;
        vec![
            ("blocks", self.blocks),
            ("swaps", swaps),
            ("equal", self.equal),
            ("exact_output", self.exact_output),
            ("took_less", self.took_less),
            ("taxed", self.taxed),
            ("refused_by_name", refused),
            ("wrong", wrong),
            ("crossings", self.crossings),
            ("states", self.states),
            ("states_proven", self.proven_states),
            ("blocks_proven", self.proven_logs),
            ("unknown_kinds", sum(&self.unknown)),
        ]
    }

    /// A file in the format of `swaps.json` with the swaps that are wrong.
    pub fn cases(&self) -> Value {
        let source = json!({
            "id": "node",
            "repo": format!("a node of the chain eip155:{}", self.chain),
            "commit": format!("blocks {} to {}", self.range[0], self.range[1]),
            "licence": "numbers of a public chain",
            "used": "headers, logs, storage before the block",
        });
        let cases: Vec<&Swap> = self.wrong.iter().map(|(swap, _)| swap).collect();
        json!({ "schema": "exitgap.reality.swaps/1", "sources": [source], "cases": cases })
    }
}

impl Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |of: &BTreeMap<&str, u64>| {
            let parts: Vec<String> =
                of.iter().map(|(name, count)| format!("{name} {count}")).collect();
            parts.join(", ")
        };
        for (name, count) in self.figures().iter().take(9) {
            write!(f, "{name} {count} ")?;
        }
        write!(f, "proofs {} of {} ", self.proven_states, self.states)?;
        write!(f, "receipts {} of {}", self.proven_logs, self.blocks)?;
        if !self.refused.is_empty() {
            write!(f, " refused: {}", named(&self.refused))?;
        }
        if !self.unknown.is_empty() {
            write!(f, " unknown kinds: {}", named(&self.unknown))?;
        }
        Ok(())
    }
}
