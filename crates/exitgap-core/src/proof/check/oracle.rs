//! An oracle's readings beside the words of its feeds.

use super::{StateCheck, StateCheckName};
use crate::evidence::Outcome;
use crate::proof::feed::ProvenReading;
use crate::proof::file::StateProof;
use crate::snapshot::{Observation, OracleReading, OracleRole, OracleSource, RoundData};

const UNPROVEN: [&str; 4] = [
    "which feeds price the tokens",
    "decimals of the feeds' answers",
    "what the feeds' code does",
    "whether the sequencer was up",
];

/// Every reading that prices a token must be that of its feed's newest round.
pub(super) fn state(proof: &StateProof, observation: &Observation) -> StateCheck {
    let name = StateCheckName::OracleState;
    let (mut proven, mut has_sequencer) = (Vec::new(), false);
    let mut without = None;
    for reading in observation.oracles() {
        let found = match &reading.source {
            OracleSource::Fixed => None,
            OracleSource::Chainlink(round) => {
                let of = proof.readings.iter().find(|proven| proven.feed == round.feed);
                of.map(|proven| (proven, round))
            }
        };
        match found {
            Some((proven, round)) if reading.role != OracleRole::SequencerUptime => {
                if !is_same(proven, reading, round) {
                    let found = written(round.round, &reading.answer.to_string(), round.updated_at);
                    let expected =
                        written(proven.round, &proven.answer.to_string(), proven.updated_at);
                    let words = [expected, found].map(|said| format!("{}: {said}", round.feed));
                    return StateCheck::of(name, Outcome::Fail, "reading_differs", words);
                }
            }
            // When it was last asked, and not what it said, is what counts of it; how it keeps that is not known.
            _ if reading.role == OracleRole::SequencerUptime => has_sequencer = true,
            _ => without = without.or(Some(named(reading))),
        }
        proven.extend(found.map(|(_, round)| round.feed.to_string()));
    }
    if let Some(without) = without {
        let words = ["a proof of every feed".to_owned(), format!("none of {without}")];
        return StateCheck::of(name, Outcome::NotChecked, "reading_unproven", words);
    }
    let unproven = if has_sequencer { &UNPROVEN[..] } else { &UNPROVEN[..3] };
    StateCheck::pass(name, format!("the newest rounds of {}", proven.join(", ")), unproven)
}

fn is_same(proven: &ProvenReading, reading: &OracleReading, round: &RoundData) -> bool {
    (proven.round, proven.answer, proven.updated_at)
        == (round.round, reading.answer, round.updated_at)
}

fn written(round: u128, answer: &str, updated_at: u64) -> String {
    format!("round {round} with {answer} of {updated_at}")
}

fn named(reading: &OracleReading) -> String {
    match &reading.source {
        OracleSource::Fixed => "a price that is configured".to_owned(),
        OracleSource::Chainlink(round) => format!("feed {}", round.feed),
    }
}
