//! The accuracy record: snapshots, and between them what heads commit to of what the pool logged.

use std::collections::VecDeque;

use exitgap_core::analytics::accuracy::{AccuracyOfPeriod, AccuracyPass, AccuracyTerms, Fills};
use exitgap_core::analytics::figure::{FigureFills, FigureUse, write_accuracy};
use exitgap_core::series::Slot;

use super::FigureError;
use crate::error::StoreError;
use crate::fills::StoredFills;
use crate::model::{Page, Pool};
use crate::reader::Reader;

/// Documents that are read in one go.
const AT_ONCE: usize = 64;

impl Reader {
    /// Every swap of a pool in a period against its estimate. What was logged is what heads up to `until` commit to.
    pub fn accuracy(&self, terms: &AccuracyTerms) -> Result<AccuracyOfPeriod, FigureError> {
        let terms = terms.clone().checked()?;
        let pool = self.pool_of_period(&terms.pool, terms.from, terms.until)?;
        Ok(self.accuracy_pass(&terms, &pool)?.0.finish())
    }

    /// The file that proves [`Reader::accuracy`]: the same bytes each time.
    pub fn accuracy_file(&self, terms: &AccuracyTerms) -> Result<Vec<u8>, FigureError> {
        let terms = terms.clone().checked()?;
        let pool = self.pool_of_period(&terms.pool, terms.from, terms.until)?;
        let (pass, uses) = self.accuracy_pass(&terms, &pool)?;
        let windows = self.windows_of_period(&pool, terms.from, terms.until)?;
        let (mut fills, mut next) = (Vec::new(), Some(terms.from));
        while let Some(from) = next {
            let page = self.fills(&pool, [from, terms.until], AT_ONCE)?;
            fills.extend(page.entries.into_iter().map(|stored| FigureFills {
                document: stored.hash,
                pool: pool.id.clone(),
                slot: stored.slot,
            }));
            next = page.next;
        }
        Ok(write_accuracy(&terms, &windows, &uses, fills, &pass.figure())?)
    }

    fn accuracy_pass(
        &self,
        terms: &AccuracyTerms,
        pool: &Pool,
    ) -> Result<(AccuracyPass, Vec<FigureUse>), FigureError> {
        let mut pass = AccuracyPass::new(terms.clone())?;
        let mut documents = Documents::of(self, pool, [terms.from, terms.until]);
        let take = |slot, observation| {
            pass.take(slot, observation)?;
            while pass.wants_fills() {
                match documents.next()? {
                    Some(fills) => pass.take_fills(fills)?,
                    None => pass.no_more_fills(),
                }
            }
            Ok(())
        };
        let heads = [terms.from, terms.until];
        let uses = self.each_standing_up_to(pool, heads, terms.to, take)?;
        Ok((pass, uses))
    }
}

/// The documents that the heads of some slots commit to, one after the other.
struct Documents<'a> {
    reader: &'a Reader,
    pool: &'a Pool,
    to: Slot,
    /// The slot from which on heads were not asked.
    next: Option<Slot>,
    read: VecDeque<StoredFills>,
}

impl<'a> Documents<'a> {
    fn of(reader: &'a Reader, pool: &'a Pool, [from, to]: [Slot; 2]) -> Self {
        Self { reader, pool, to, next: Some(from), read: VecDeque::new() }
    }

    fn next(&mut self) -> Result<Option<Fills>, StoreError> {
        if self.read.is_empty()
            && let Some(from) = self.next
        {
            let run = [from, self.to];
            let Page { entries, next } = self.reader.fills(self.pool, run, AT_ONCE)?;
            (self.read, self.next) = (entries.into(), next);
        }
        let Some(stored) = self.read.pop_front() else { return Ok(None) };
        let fills = Fills::from_canonical(&stored.canonical).map_err(|error| {
            let found = format!("slot {}: {error}", stored.slot);
            StoreError::CorruptRow { table: "fills", found }
        })?;
        Ok(Some(fills))
    }
}
