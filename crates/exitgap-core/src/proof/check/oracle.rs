//! Compares an oracle's readings with the storage words of its feeds.

use super::{StateCheck, StateCheckName};
use crate::evidence::Outcome;
use crate::proof::claim::ClaimedReading;
use crate::proof::feed::ProvenReading;
use crate::proof::file::StateProof;

const UNPROVEN: [&str; 4] = [
    "which feeds price the tokens",
    "decimals of the feeds' answers",
    "what the feeds' code does",
    "whether the sequencer was up",
];

/// Every reading that prices a token must equal its feed's newest round.
pub(super) fn state(proof: &StateProof, readings: &[ClaimedReading]) -> StateCheck {
    let name = StateCheckName::OracleState;
    let (mut proven, mut has_sequencer) = (Vec::new(), false);
    let mut without = None;
    for reading in readings {
        let of = proof.readings.iter().find(|proven| Some(proven.feed) == reading.feed);
        // The recorded value of a sequencer feed matters only for when it was last asked, and the storage layout of
        // that time is unknown.
        has_sequencer |= reading.is_sequencer;
        match of {
            Some(of) if !reading.is_sequencer && !is_same(of, reading) => {
                let found = [
                    written(of.round, &of.answer.to_string(), of.updated_at),
                    written(reading.round, &reading.answer.to_string(), reading.updated_at),
                ];
                let words = found.map(|said| format!("{}: {said}", of.feed));
                return StateCheck::with_outcome(name, Outcome::Fail, "reading_differs", words);
            }
            None if !reading.is_sequencer => without = without.or(Some(describe_feed(reading))),
            _ => {}
        }
        proven.extend(of.map(|of| of.feed.to_string()));
    }
    if let Some(without) = without {
        let words = ["a proof of every feed".to_owned(), format!("no proof of {without}")];
        return StateCheck::with_outcome(name, Outcome::NotChecked, "reading_unproven", words);
    }
    let unproven = if has_sequencer { &UNPROVEN[..] } else { &UNPROVEN[..3] };
    StateCheck::pass(name, format!("the newest rounds of {}", proven.join(", ")), unproven)
}

fn is_same(proven: &ProvenReading, reading: &ClaimedReading) -> bool {
    (proven.round, proven.answer, proven.updated_at)
        == (reading.round, reading.answer, reading.updated_at)
}

fn written(round: u128, answer: &str, updated_at: u64) -> String {
    format!("round {round} with {answer}, updated at {updated_at}")
}

fn describe_feed(reading: &ClaimedReading) -> String {
    reading.feed.map_or("a configured price".to_owned(), |feed| format!("feed {feed}"))
}
