//! Figures drawn from many snapshots of a store, and their files. Their meaning is the core's.
//!
//! - `venues`: those of several pools
//! - `accuracy`: swaps against estimates
//! - `alert`: a rule, evaluated

mod accuracy;
mod alert;
mod venues;

use exitgap_core::alerts::AlertRunError;
use exitgap_core::analytics::VenuesError;
use exitgap_core::analytics::accuracy::AccuracyError;
use exitgap_core::analytics::decay::{DecayError, DecayResult, DecayScan, DecayTerms};
use exitgap_core::analytics::equity::{EquityResult, EquityScan, EquityTerms};
use exitgap_core::analytics::figure::{FigureUse, write_decay, write_equity, write_hours};
use exitgap_core::analytics::hours::{HoursError, HoursScan, HoursTerms};
use exitgap_core::analytics::redemption::{Pace, RedemptionFacts};
use exitgap_core::analytics::standing;
use exitgap_core::evidence::{DocumentError, LOWEST_DEPTH_SLOTS};
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;
use exitgap_core::snapshot::Observation;

use crate::bodies::packing::Dictionaries;
use crate::bodies::parse;
use crate::corrupt::CorruptBody;
use crate::error::StoreError;
use crate::evidence::EvidenceError;
use crate::model::Pool;
use crate::reader::Reader;

pub use alert::{AlertEvaluated, WatchedSlot, Watching};

/// Why there is no figure.
#[derive(Debug, thiserror::Error)]
pub enum FigureError {
    /// The store has no such pool, or not all slots of the period.
    #[error(transparent)]
    Evidence(#[from] EvidenceError),
    /// What is asked is out of bounds, or of another kind of pool.
    #[error(transparent)]
    Decay(#[from] DecayError),
    /// The same of market hours, or other calendars were named than the pool's.
    #[error(transparent)]
    Hours(#[from] HoursError),
    /// The same of a figure of several pools, or its venues do not go together.
    #[error(transparent)]
    Venues(#[from] VenuesError),
    /// A rule's slots do not follow each other.
    #[error(transparent)]
    Alert(#[from] AlertRunError),
    /// The pool is of another kind.
    #[error(transparent)]
    Accuracy(#[from] AccuracyError),
    /// The parts do not make a file.
    #[error("the figure file cannot be written: {0}")]
    Document(#[from] DocumentError),
}

impl From<StoreError> for FigureError {
    fn from(error: StoreError) -> Self {
        Self::Evidence(error.into())
    }
}

impl Reader {
    /// The depth decay of a pool over a period that the store has whole. Snapshots are unpacked one
    /// after the other, and few are held.
    pub fn decay(&self, terms: &DecayTerms) -> Result<DecayResult, FigureError> {
        let terms = terms.clone().checked()?;
        let pool = self.pool_of_period(&terms.pool, terms.from, terms.to)?;
        Ok(self.scan(&terms, &pool)?.0)
    }

    /// The file that proves [`Reader::decay`]: the same bytes each time.
    pub fn decay_file(&self, terms: &DecayTerms) -> Result<Vec<u8>, FigureError> {
        let terms = terms.clone().checked()?;
        let pool = self.pool_of_period(&terms.pool, terms.from, terms.to)?;
        let (result, uses) = self.scan(&terms, &pool)?;
        let windows = self.windows_of_period(&pool, terms.from, terms.to)?;
        Ok(write_decay(&terms, &windows, &uses, &result)?)
    }

    /// The file that proves what a pool is like while its markets are open and closed: the same bytes each time. The
    /// calendars are those of the period's last standing snapshot, whatever the terms name.
    pub fn hours_file(&self, terms: HoursTerms) -> Result<Vec<u8>, FigureError> {
        let (terms, pool) = self.with_calendars(terms)?;
        let mut scan = HoursScan::new(terms.clone())?;
        let take = |slot, observation| Ok(scan.take(slot, observation)?);
        let uses = self.each_standing(&pool, terms.from, terms.to, take)?;
        let windows = self.windows_of_period(&pool, terms.from, terms.to)?;
        Ok(write_hours(&terms, &windows, &uses, &scan.finish()?)?)
    }

    /// What a pool of a share was like in each session of a period. The calendars are found as for market hours.
    pub fn equity(&self, terms: EquityTerms) -> Result<EquityResult, FigureError> {
        let (_, result, _, _) = self.equity_scan(terms)?;
        Ok(result)
    }

    /// The file that proves [`Reader::equity`]: the same bytes each time.
    pub fn equity_file(&self, terms: EquityTerms) -> Result<Vec<u8>, FigureError> {
        let (terms, result, pool, uses) = self.equity_scan(terms)?;
        let windows = self.windows_of_period(&pool, terms.of.from, terms.of.to)?;
        Ok(write_equity(&terms, &windows, &uses, &result)?)
    }

    fn equity_scan(
        &self,
        terms: EquityTerms,
    ) -> Result<(EquityTerms, EquityResult, Pool, Vec<FigureUse>), FigureError> {
        let (of, pool) = self.with_calendars(terms.of)?;
        let terms = EquityTerms { of, ..terms };
        let mut scan = EquityScan::new(terms.clone())?;
        let take = |slot, observation| Ok(scan.take(slot, observation)?);
        let uses = self.each_standing(&pool, terms.of.from, terms.of.to, take)?;
        Ok((terms, scan.finish()?, pool, uses))
    }

    /// Terms with the calendars of the period's last standing snapshot, whatever they name.
    fn with_calendars(&self, terms: HoursTerms) -> Result<(HoursTerms, Pool), FigureError> {
        let pool = self.pool_of_period(&terms.pool, terms.from, terms.to)?;
        let heads = self.heads(&pool, terms.from, terms.to)?;
        let last = standing(heads.iter().map(|stored| &stored.head)).pop();
        let last = last.map(|(slot, _)| self.snapshot_at(&pool, slot)).transpose()?.flatten();
        let sessions = last.map(|last| last.observation().pool_sessions()).unwrap_or_default();
        Ok((HoursTerms { sessions, ..terms }, pool))
    }

    /// How fast the queue of terms was paid in the seven days that end with a slot, by the lengths that the pool's snapshots
    /// have; `None` where too few have one. Snapshots are unpacked one after the other.
    pub fn pace(
        &self,
        pool: &PoolId,
        facts: &RedemptionFacts,
        last: Slot,
    ) -> Result<Option<Pace>, FigureError> {
        let unknown = || EvidenceError::UnknownPool { pool: pool.clone() };
        let pool = self.pool(pool)?.ok_or_else(unknown)?;
        let Some(first) = Pace::first_slot(last).filter(|first| *first >= pool.first_slot) else {
            return Ok(None);
        };
        let mut lengths = Vec::new();
        self.each_standing(&pool, first, last, |slot, observation| {
            lengths.extend(facts.length(&observation).map(|length| (slot, length)));
            Ok(())
        })?;
        Ok(Pace::of(&lengths, last))
    }

    /// The head windows of a pool that bear a period out, one for each week and one more, ascending.
    fn windows_of_period(
        &self,
        pool: &Pool,
        from: Slot,
        to: Slot,
    ) -> Result<Vec<Vec<u8>>, EvidenceError> {
        let first = from.max(pool.first_slot);
        let (mut windows, mut end) = (Vec::new(), Some(to));
        while let Some(last) = end.filter(|end| *end >= first) {
            let window = self.window(&pool.id, last)?;
            windows.push(window.to_canonical().map_err(EvidenceError::from)?);
            let before = last.number().checked_sub(LOWEST_DEPTH_SLOTS);
            end = before.and_then(|number| Slot::new(number.into()).ok());
        }
        windows.reverse();
        Ok(windows)
    }

    /// Snapshot files of a pool's standing slots from one to another, a line each, ascending: at least one where
    /// there is one, and no further once there are `most_bytes`. Slots that the store does not have yet are none.
    pub fn snapshot_lines(
        &self,
        pool: &PoolId,
        from: Slot,
        to: Slot,
        most_bytes: usize,
    ) -> Result<Vec<u8>, EvidenceError> {
        let unknown = || EvidenceError::UnknownPool { pool: pool.clone() };
        let pool = self.pool(pool)?.ok_or_else(unknown)?;
        let heads = self.heads(&pool, from, to)?;
        let (mut lines, mut kept) = (Vec::new(), Dictionaries::default());
        for (slot, hash) in standing(heads.iter().map(|stored| &stored.head)) {
            let absent = || StoreError::Corrupt { hash, what: CorruptBody::Absent };
            let documents = self.documents_after(hash, slot, &mut kept)?.ok_or_else(absent)?;
            lines.extend(documents.to_file(&pool.id)?);
            lines.push(b'\n');
            if lines.len() >= most_bytes {
                break;
            }
        }
        Ok(lines)
    }

    /// The pool, where the store has every slot of the period.
    fn pool_of_period(&self, pool: &PoolId, from: Slot, to: Slot) -> Result<Pool, EvidenceError> {
        let unknown = || EvidenceError::UnknownPool { pool: pool.clone() };
        let pool = self.pool(pool)?.ok_or_else(unknown)?;
        let last = self.newest_entry(&pool, Slot::LAST)?.map_or(pool.first_slot, |e| e.slot);
        let outside = [from, to].into_iter().find(|slot| *slot < pool.first_slot || *slot > last);
        match outside {
            Some(slot) => {
                let (first, pool) = (pool.first_slot, pool.id);
                Err(EvidenceError::NoHead { pool, slot, first, last })
            }
            None => Ok(pool),
        }
    }

    fn scan(
        &self,
        terms: &DecayTerms,
        pool: &Pool,
    ) -> Result<(DecayResult, Vec<FigureUse>), FigureError> {
        let mut scan = DecayScan::new(terms.clone())?;
        let take = |slot, observation| Ok(scan.take(slot, observation)?);
        let uses = self.each_standing(pool, terms.from, terms.to, take)?;
        Ok((scan.finish(), uses))
    }

    /// Gives what a pool's standing slots of a period say, ascending, one unpacked after the other.
    fn each_standing(
        &self,
        pool: &Pool,
        from: Slot,
        to: Slot,
        take: impl FnMut(Slot, Observation) -> Result<(), FigureError>,
    ) -> Result<Vec<FigureUse>, FigureError> {
        self.each_standing_up_to(pool, [from, to], to, take)
    }

    /// The same up to a slot, of which later heads may have taken some back.
    fn each_standing_up_to(
        &self,
        pool: &Pool,
        [from, until]: [Slot; 2],
        to: Slot,
        mut take: impl FnMut(Slot, Observation) -> Result<(), FigureError>,
    ) -> Result<Vec<FigureUse>, FigureError> {
        let heads = self.heads(pool, from, until)?;
        let (mut uses, mut kept) = (Vec::new(), Dictionaries::default());
        let standing = standing(heads.iter().map(|stored| &stored.head)).into_iter();
        for (slot, hash) in standing.filter(|(slot, _)| *slot <= to) {
            let absent = || StoreError::Corrupt { hash, what: CorruptBody::Absent };
            let documents = self.documents_after(hash, slot, &mut kept)?.ok_or_else(absent)?;
            let snapshot = parse(&pool.id, hash, &documents)?;
            take(slot, snapshot.observation().clone())?;
            uses.push(FigureUse { pool: pool.id.clone(), slot, snapshot: hash });
        }
        Ok(uses)
    }
}

#[cfg(test)]
mod tests {
    use exitgap_core::analytics::figure::{FigureCheckName, FigureVerifier, FigureWant};
    use exitgap_core::evidence::{Base, Verdict};
    use exitgap_core::pools::Direction;
    use exitgap_core::series::MissingReason;
    use exitgap_core::tlog::SignerKey;
    use exitgap_core::units::GapLimit;

    use super::*;
    use crate::model::NewEntry;
    use crate::samples::{pool, slot, snapshot};
    use crate::writer::Store;

    const SLOTS: u32 = 80;

    fn terms(from: u32, to: u32) -> DecayTerms {
        DecayTerms {
            pool: pool(),
            base: Base::Token0,
            from: slot(from),
            to: slot(to),
            move_e8: 2_000_000,
            within_slots: 3,
            gap: GapLimit::DEPTH,
        }
    }

    #[test]
    fn a_figure_of_a_store_is_recomputed_from_its_file_and_the_stores_snapshots() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("series.db");
        let key = SignerKey::from_seed("exitgap.example/log", [7; 32]).unwrap();
        let mut store = Store::create(&path, &key).unwrap();
        for index in 0..SLOTS {
            let reading =
                if index == 30 { Err(MissingReason::ChainLagging) } else { Ok(snapshot(index)) };
            let default_base = Direction::ZeroForOne;
            let entry = NewEntry { pool: pool(), default_base, reading };
            store.append_slot(slot(index), &[entry]).unwrap();
        }
        let reader = Reader::open(&path).unwrap();
        let terms_of_all = terms(0, SLOTS - 1);
        let result = reader.decay(&terms_of_all).unwrap();
        assert_eq!((result.have_slots, result.slots_missing), (SLOTS - 1, 1));
        let event = &result.events[0];
        assert_eq!((result.events.len(), event.slot, event.censored), (1, slot(10), true));
        assert_eq!(event.at[0].liquidity_usd, "0");
        assert!(event.at[1].liquidity_usd.starts_with('-'));

        let file = reader.decay_file(&terms_of_all).unwrap();
        assert_eq!(file, reader.decay_file(&terms_of_all).unwrap());
        let log = reader.log().unwrap().unwrap();
        let trusted = key.named(&log.origin.to_string()).unwrap().verifier();
        let mut verifier = FigureVerifier::new(&file, &[trusted]);
        while let Some(FigureWant::Snapshot(wanted)) = verifier.wanted() {
            let documents = reader.documents(wanted.snapshot).unwrap();
            verifier.take(documents.as_ref());
        }
        let report = verifier.finish();
        assert_eq!(report.verdict, Verdict::Valid, "{report:#?}");
        let leaves = report.check(FigureCheckName::SealedLeaves).unwrap();
        assert_eq!(leaves.code, "no_leaves");

        for (from, to) in [(0, SLOTS), (SLOTS, SLOTS + 1)] {
            let refused = reader.decay(&terms(from, to)).unwrap_err();
            let no_head = matches!(&refused, FigureError::Evidence(EvidenceError::NoHead { .. }));
            assert!(no_head, "{refused}");
        }
        let refused = reader.decay(&terms(2, 1)).unwrap_err();
        assert!(matches!(refused, FigureError::Decay(DecayError::Period { .. })), "{refused}");
    }
}
