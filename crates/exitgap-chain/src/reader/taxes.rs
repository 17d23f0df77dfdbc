//! Tokens that take a fee on transfer: the record of each pool's swaps, and the fact for snapshots.

use std::collections::{BTreeMap, VecDeque};

use exitgap_core::ids::{Address, Word};
use exitgap_core::snapshot::Fact;
use tokio::time::Instant;

use super::ChainReader;
use crate::pool_logs::{self, LogsRead, PoolTokens};

/// The number of swaps with missing units, among the newest [`Fact::TAX_WINDOW`], from which a token counts as taxed.
const MARKED_AFTER: usize = 3;

/// The number of consecutive swaps without missing units after which the token no longer counts as taxed.
const CLEARED_AFTER: u64 = 500;

/// The transfer records of a pool's tokens.
pub(super) type TransferRecords = BTreeMap<Address, TransferRecord>;

/// The record of a pool's swaps for one of its tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TransferRecord {
    /// For the newest swaps, oldest first, whether units were missing.
    newest: VecDeque<bool>,
    /// The number of consecutive swaps without missing units since the last one with missing units.
    clean: u64,
    is_taxed: bool,
}

impl TransferRecord {
    /// Adds a swap. Returns the token's new status if it changed.
    fn add(&mut self, lacks: bool) -> Option<bool> {
        if self.newest.len() == Fact::TAX_WINDOW {
            self.newest.pop_front();
        }
        self.newest.push_back(lacks);
        self.clean = if lacks { 0 } else { self.clean.saturating_add(1) };
        let is_taxed =
            if self.is_taxed { self.clean < CLEARED_AFTER } else { self.lacking() >= MARKED_AFTER };
        let is_other = is_taxed != self.is_taxed;
        self.is_taxed = is_taxed;
        is_other.then_some(is_taxed)
    }

    fn lacking(&self) -> usize {
        self.newest.iter().filter(|lacks| **lacks).count()
    }

    /// The fact that the token is taxed, if it is.
    fn fact(&self, token: Address) -> Option<Fact> {
        if !self.is_taxed {
            return None;
        }
        let word = |number: u64| {
            let mut bytes = [0; 32];
            bytes[24..].copy_from_slice(&number.to_be_bytes());
            Word(bytes)
        };
        Some(Fact {
            name: Fact::TOKEN_TAXED.parse().ok()?,
            contract: token,
            call: Fact::TRANSFER_TOPIC.to_owned(),
            words: vec![word(u64::try_from(self.lacking()).ok()?), word(self.clean)],
        })
    }

    /// Restores the record from a snapshot's fact.
    fn from_fact(fact: &Fact) -> Self {
        let number = |place: usize| {
            let bytes = fact.words.get(place).map(|word| word.0)?;
            let (_, number) = bytes.split_last_chunk::<8>()?;
            Some(u64::from_be_bytes(*number))
        };
        let most = Fact::TAX_WINDOW;
        let lacking = number(0).and_then(|lacking| usize::try_from(lacking).ok()).unwrap_or(0);
        let clean = number(1).unwrap_or(0);
        // First the swaps with missing units, then the later ones without.
        let since = usize::try_from(clean).unwrap_or(most).min(most);
        let lacking = lacking.min(most - since);
        let newest = std::iter::repeat_n(true, lacking).chain(std::iter::repeat_n(false, since));
        Self { newest: newest.collect(), clean, is_taxed: true }
    }
}

/// Restores the records of a pool's tokens from its newest snapshot.
pub(super) fn remembered(facts: &[Fact]) -> TransferRecords {
    let taxed = facts.iter().filter(|fact| fact.name.as_str() == Fact::TOKEN_TAXED);
    taxed.map(|fact| (fact.contract, TransferRecord::from_fact(fact))).collect()
}

/// The facts of a pool's taxed tokens.
pub(super) fn facts_of(records: &TransferRecords) -> impl Iterator<Item = Fact> {
    records.iter().filter_map(|(token, record)| record.fact(*token))
}

impl ChainReader {
    /// Compares the swaps that were read with the transfers of their tokens, and records the result. Swaps that cannot
    /// be compared before the deadline change nothing.
    pub(super) async fn compare_transfers(&mut self, read: &LogsRead, deadline: Instant) {
        let places: BTreeMap<Address, usize> = (0..)
            .zip(self.plan.pools())
            .filter_map(|(place, pool)| {
                let contract = pool.id.contract().address().filter(|_| pool.id.pair().is_none())?;
                Some((contract, place))
            })
            .collect();
        let tokens_of = |(contract, place): (&Address, &usize)| {
            let identity = self.memory[*place].identity.as_ref()?;
            let pair = identity.pair(&self.plan.pools()[*place].id)?;
            Some((*contract, pair.map(|token| token.address)))
        };
        let tokens: PoolTokens = places.iter().filter_map(tokens_of).collect();
        let (lacking, failure) =
            pool_logs::compare_with_swaps(&self.rpc, read, &tokens, deadline).await;
        if let Some(failure) = failure {
            let chain = self.plan.slug();
            tracing::warn!(%chain, why = %failure.detail, "transfers were not compared with swaps, so fees on transfer go unnoticed");
        }
        for ((contract, token), lacking) in lacking {
            let Some(&place) = places.get(&contract) else { continue };
            let pool = &self.plan.pools()[place].id;
            let record = self.memory[place].transfers.entry(token).or_default();
            for lacks in lacking {
                match record.add(lacks) {
                    Some(true) => {
                        tracing::warn!(%pool, %token, "its token takes a fee on transfer, so answers for the pool are not exact");
                    }
                    Some(false) => {
                        tracing::info!(%pool, %token, "its token takes no fee on transfer any more");
                    }
                    None => {}
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: Address = Address([7; 20]);

    fn add(record: &mut TransferRecord, lacks: bool, times: usize) {
        for _ in 0..times {
            let _ = record.add(lacks);
        }
    }

    #[test]
    fn three_of_fifty_mark_a_token_and_five_hundred_clean_swaps_clear_it() {
        let mut record = TransferRecord::default();
        add(&mut record, true, 2);
        assert_eq!(record.fact(TOKEN), None);
        // The first two are outside the window when the third one arrives.
        add(&mut record, false, 49);
        add(&mut record, true, 2);
        assert_eq!(record.fact(TOKEN), None);
        assert_eq!(record.add(true), Some(true), "three of the newest 50");
        let fact = record.fact(TOKEN).unwrap();
        assert_eq!((fact.words[0].0[31], fact.words[1].0[31]), (3, 0));
        add(&mut record, false, 499);
        assert!(record.fact(TOKEN).is_some(), "499 clean swaps are not enough");
        assert_eq!(record.add(false), Some(false));
        assert_eq!(record.fact(TOKEN), None);
        add(&mut record, true, 2);
        assert_eq!(record.fact(TOKEN), None, "it is judged anew");
    }

    #[test]
    fn one_that_lacks_units_begins_the_count_of_clean_swaps_again() {
        let mut record = TransferRecord::default();
        add(&mut record, true, 3);
        add(&mut record, false, 400);
        add(&mut record, true, 1);
        add(&mut record, false, 499);
        assert!(record.fact(TOKEN).is_some());
        add(&mut record, false, 1);
        assert_eq!(record.fact(TOKEN), None);
    }

    #[test]
    fn a_reader_that_begins_goes_on_where_the_snapshot_stands() {
        for clean in [0, 10, 48, 499] {
            let mut record = TransferRecord::default();
            add(&mut record, true, 5);
            add(&mut record, false, clean);
            let fact = record.fact(TOKEN).unwrap();
            let mut resumed = remembered(std::slice::from_ref(&fact)).remove(&TOKEN).unwrap();
            assert_eq!(resumed.fact(TOKEN), Some(fact), "{clean}");
            add(&mut resumed, false, 499 - clean);
            assert!(resumed.fact(TOKEN).is_some(), "{clean}");
            assert_eq!(resumed.add(false), Some(false), "{clean}");
        }
    }

    #[test]
    fn no_words_of_a_fact_are_too_much() {
        for words in
            [vec![], vec![Word([255; 32])], vec![Word([255; 32]); 2], vec![Word([0; 32]); 9]]
        {
            let fact = Fact {
                name: Fact::TOKEN_TAXED.parse().unwrap(),
                contract: TOKEN,
                call: Fact::TRANSFER_TOPIC.to_owned(),
                words,
            };
            let mut record = TransferRecord::from_fact(&fact);
            assert!(record.newest.len() <= Fact::TAX_WINDOW);
            add(&mut record, true, 1);
            assert!(record.fact(TOKEN).is_some());
        }
    }
}
