//! Figures computed from a store's snapshots, and their files. The core defines what they mean.
//!
//! - `fills`: documents of logs, for figures that use them
//! - `alert`: a rule, evaluated
//! - `verify`: a figure file, recomputed from the store

mod alert;
mod fills;
mod verify;

use exitgap_core::analytics::figure::{Figure, FigurePass, FigureUse, write_figure};
use exitgap_core::analytics::redemption::{Pace, RedemptionFacts};
use exitgap_core::analytics::{FigureError, list_standing_slots};
use exitgap_core::evidence::{DocumentError, LOWEST_DEPTH_SLOTS};
use exitgap_core::ids::{PoolId, SnapshotHash};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::Observation;

use crate::bodies::codec::Dictionaries;
use crate::bodies::parse;
use crate::corrupt::CorruptBody;
use crate::error::StoreError;
use crate::evidence::EvidenceError;
use crate::model::Pool;
use crate::reader::Reader;
use fills::FillsOfSlots;

pub use alert::{AlertEvaluated, AlertReadError, WatchCache, WatchedSlot};

/// Why a figure cannot be computed from the store.
#[derive(Debug, thiserror::Error)]
pub enum FigureReadError {
    /// The store lacks the pool, or some slots of the period.
    #[error(transparent)]
    Evidence(#[from] EvidenceError),
    /// The figure refuses the parameters or a snapshot.
    #[error(transparent)]
    Figure(#[from] FigureError),
    /// The parts do not form a file.
    #[error("the figure file cannot be written: {0}")]
    Document(#[from] DocumentError),
}

impl From<StoreError> for FigureReadError {
    fn from(error: StoreError) -> Self {
        Self::Evidence(error.into())
    }
}

/// A computed figure, with its inputs.
struct ComputedFigure<F: Figure> {
    figure: F,
    pools: Vec<Pool>,
    result: ResultOf<F>,
    uses: Vec<FigureUse>,
}

/// The result of a figure's pass.
type ResultOf<F> = <<F as Figure>::Pass as FigurePass>::Result;

impl Reader {
    /// A figure over a period that the store has completely for each pool. Snapshots are decompressed one after the
    /// other, and only a few are held.
    pub fn figure<F: Figure>(&self, figure: &F) -> Result<ResultOf<F>, FigureReadError> {
        Ok(self.compute(figure)?.result)
    }

    /// The file that proves [`Reader::figure`]. Its bytes are always the same.
    pub fn figure_file<F: Figure>(&self, figure: &F) -> Result<Vec<u8>, FigureReadError> {
        let ComputedFigure { figure, pools, result, uses } = self.compute(figure)?;
        let ((from, _), last) = (figure.period(), figure.last_head());
        let mut windows = Vec::new();
        let mut fills = Vec::new();
        for pool in &pools {
            windows.extend(self.windows_of_period(pool, from, last)?);
            if F::TAKES_FILLS {
                fills.extend(fills::list_fills(self, pool, [from, last])?);
            }
        }
        Ok(write_figure(&figure, &windows, &uses, fills, &result)?)
    }

    fn compute<F: Figure>(&self, figure: &F) -> Result<ComputedFigure<F>, FigureReadError> {
        let mut figure = figure.clone().validate()?;
        let ((from, to), last) = (figure.period(), figure.last_head());
        let pools = figure.pools().into_iter();
        let pools: Vec<Pool> =
            pools.map(|pool| self.pool_of_period(pool, from, last)).collect::<Result<_, _>>()?;
        if F::HAS_CALENDARS {
            let sessions = self.last_standing(&pools[0], from, to)?;
            let sessions = sessions.map(|last| last.pool_sessions()).unwrap_or_default();
            figure = figure.with_calendars(sessions).validate()?;
        }
        let mut pass = figure.clone().pass()?;
        let mut fills = FillsOfSlots::for_slots(self, &pools[0], [from, last]);
        let uses = self.each_standing(&pools, [from, last], to, |pool, slot, observation| {
            pass.add_snapshot(pool, slot, observation)?;
            while pass.wants_fills() {
                pass.take_fills(fills.next()?)?;
            }
            Ok(())
        })?;
        Ok(ComputedFigure { figure, pools, result: pass.finish()?, uses })
    }

    /// The observation in the last recorded, unretracted snapshot of a period.
    fn last_standing(
        &self,
        pool: &Pool,
        from: Slot,
        to: Slot,
    ) -> Result<Option<Observation>, StoreError> {
        let heads = self.heads(pool, from, to)?;
        let Some((slot, _)) = list_standing_slots(heads.iter().map(|stored| &stored.head)).pop()
        else {
            return Ok(None);
        };
        let snapshot = self.snapshot_at(pool, slot)?;
        Ok(snapshot.map(|snapshot| snapshot.observation().clone()))
    }

    /// The pace at which the terms' queue was paid in the seven days that end with a slot, from the lengths in the
    /// pool's snapshots; `None` if too few snapshots have the length. Snapshots are decompressed one after the other.
    pub fn pace(
        &self,
        pool: &PoolId,
        facts: &RedemptionFacts,
        last: Slot,
    ) -> Result<Option<Pace>, FigureReadError> {
        let unknown = || EvidenceError::UnknownPool { pool: pool.clone() };
        let pool = self.pool(pool)?.ok_or_else(unknown)?;
        let Some(first) = Pace::first_slot(last).filter(|first| *first >= pool.first_slot) else {
            return Ok(None);
        };
        let mut lengths = Vec::new();
        self.each_standing(&[pool], [first, last], last, |_, slot, observation| {
            lengths.extend(facts.length(&observation).map(|length| (slot, length)));
            Ok(())
        })?;
        Ok(Pace::from_lengths(&lengths, last))
    }

    /// The head windows of a pool that prove a period, one per week and one more, ascending.
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

    /// The snapshot files of a pool's recorded, unretracted slots in a range, one per line, ascending. Stops after
    /// `most_bytes`, but returns at least one if there is any. Slots that the store does not have yet are ignored.
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
        for (slot, hash) in list_standing_slots(heads.iter().map(|stored| &stored.head)) {
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

    /// The pool, if the store has every slot of the period.
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

    /// Passes the observations of the pools' recorded, unretracted slots, ascending by slot and, within a slot, in the
    /// order of the pools, decompressed one after the other. Heads up to `until` can retract some; slots after `to` are
    /// left out.
    fn each_standing(
        &self,
        pools: &[Pool],
        [from, until]: [Slot; 2],
        to: Slot,
        mut take: impl FnMut(&PoolId, Slot, Observation) -> Result<(), FigureReadError>,
    ) -> Result<Vec<FigureUse>, FigureReadError> {
        let mut slots: Vec<(Slot, usize, SnapshotHash)> = Vec::new();
        for (place, pool) in pools.iter().enumerate() {
            let heads = self.heads(pool, from, until)?;
            for (slot, hash) in list_standing_slots(heads.iter().map(|stored| &stored.head)) {
                if slot <= to {
                    slots.push((slot, place, hash));
                }
            }
        }
        slots.sort_unstable_by_key(|(slot, place, _)| (*slot, *place));
        let mut kept: Vec<_> = pools.iter().map(|_| Dictionaries::default()).collect();
        let mut uses = Vec::with_capacity(slots.len());
        for (slot, place, hash) in slots {
            let absent = || StoreError::Corrupt { hash, what: CorruptBody::Absent };
            let documents = self.documents_after(hash, slot, &mut kept[place])?;
            let pool = &pools[place].id;
            let snapshot = parse(pool, hash, &documents.ok_or_else(absent)?)?;
            take(pool, slot, snapshot.observation().clone())?;
            uses.push(FigureUse { pool: pool.clone(), slot, snapshot: hash });
        }
        Ok(uses)
    }
}

#[cfg(test)]
mod tests {
    use exitgap_core::analytics::decay::DecayTerms;
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
        let result = reader.figure(&terms_of_all).unwrap();
        assert_eq!((result.have_slots, result.slots_missing), (SLOTS - 1, 1));
        let event = &result.events[0];
        assert_eq!((result.events.len(), event.slot, event.censored), (1, slot(10), true));
        assert_eq!(event.at[0].liquidity_usd, "0");
        assert!(event.at[1].liquidity_usd.starts_with('-'));

        let file = reader.figure_file(&terms_of_all).unwrap();
        assert_eq!(file, reader.figure_file(&terms_of_all).unwrap());
        let log = reader.log().unwrap().unwrap();
        let trusted = key.with_name(&log.origin.to_string()).unwrap().verifier();
        let mut verifier = FigureVerifier::new(&file, &[trusted]);
        while let Some(FigureWant::Snapshot(wanted)) = verifier.next_want() {
            let documents = reader.documents(wanted.snapshot).unwrap();
            verifier.add_snapshot(documents.as_ref());
        }
        let report = verifier.finish();
        assert_eq!(report.verdict, Verdict::Valid, "{report:#?}");
        let leaves = report.check(FigureCheckName::SealedLeaves).unwrap();
        assert_eq!(leaves.code, "no_leaves");

        for (from, to) in [(0, SLOTS), (SLOTS, SLOTS + 1)] {
            let refused = reader.figure(&terms(from, to)).unwrap_err();
            let no_head =
                matches!(&refused, FigureReadError::Evidence(EvidenceError::NoHead { .. }));
            assert!(no_head, "{refused}");
        }
        let refused = reader.figure(&terms(2, 1)).unwrap_err();
        assert!(
            matches!(refused, FigureReadError::Figure(FigureError::Period { .. })),
            "{refused}"
        );
    }
}
