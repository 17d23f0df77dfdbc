//! Rounds of Chainlink's feeds, as their contracts store them and as they answered: `feeds.json`.

use exitgap_core::U256;
use exitgap_core::ids::Address;
use exitgap_core::proof::{FeedLayout, FeedSubject};
use serde::Deserialize;

use crate::report::Report;
use crate::values::{Slot, Text};

/// A feed's words before a block, and what they say.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Reading {
    /// The block.
    pub block: u64,
    /// Its timestamp.
    pub timestamp: u64,
    /// What it is of, where that is known.
    pub name: Option<String>,
    feed: Address,
    aggregator: Address,
    layout: String,
    phase: u16,
    round: u32,
    proxy_word: Text<Slot>,
    words: Vec<Text<Slot>>,
    answer: Text<U256>,
    updated_at: u64,
    /// Seconds from the round to the block.
    pub age: u64,
}

/// Judges every reading.
pub fn check(readings: &[Reading], report: &mut Report) {
    let mut unproven = 0;
    for reading in readings {
        if let Err(words) = reading.judge() {
            unproven += 1;
            report.complain(format!("feed {} at block {}: {words}", reading.feed, reading.block));
        }
    }
    report.add("reality.feeds", readings.len());
    report.add("reality.feeds_unproven", unproven);
}

impl Reading {
    /// How the aggregator keeps its rounds.
    pub fn layout(&self) -> Option<FeedLayout> {
        let code = if self.layout == "ocr1_at_42" { "chainlink_ocr1_42" } else { &self.layout };
        FeedLayout::ALL.into_iter().find(|layout| layout.code() == code)
    }

    fn judge(&self) -> Result<(), String> {
        let layout = self.layout().ok_or("its layout is not known")?;
        let Self { feed, aggregator, round, .. } = *self;
        let proxy = self.proxy_word.0.0;
        if FeedSubject::aggregator_in(proxy) != aggregator {
            return Err("its proxy names another aggregator".to_owned());
        }
        let subject = FeedSubject { feed, aggregator, layout, round };
        let words: Vec<_> = self.words.iter().map(|word| word.0.0).collect();
        let read = |subject: &FeedSubject| subject.decode_reading(proxy, &words);
        let found = read(&subject).map_err(|error| error.to_string())?;
        let expected_round = u128::from(self.phase) << 64 | u128::from(round);
        let expected = (expected_round, self.answer.0, self.updated_at);
        if (found.round, found.answer, found.updated_at) != expected {
            return Err(format!("its words say {found:?}, and it answered {expected:?}"));
        }
        if self.timestamp.checked_sub(self.updated_at) != Some(self.age) {
            return Err("its age is another than from its round to the block".to_owned());
        }
        // What is not the newest round, and what is not behind the proxy, is not read.
        let earlier = FeedSubject { round: round.wrapping_sub(1), ..subject };
        let stranger = FeedSubject { aggregator: feed, ..subject };
        if read(&earlier).is_ok() || read(&stranger).is_ok() {
            return Err("another round or another aggregator is read, too".to_owned());
        }
        Ok(())
    }
}
