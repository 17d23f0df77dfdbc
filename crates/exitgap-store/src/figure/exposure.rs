//! Liquidation exposure: several pools, slot by slot.

use exitgap_core::analytics::exposure::{ExposureResult, ExposureScan, ExposureTerms};
use exitgap_core::analytics::figure::{FigureUse, write_exposure};
use exitgap_core::analytics::standing;
use exitgap_core::ids::SnapshotHash;
use exitgap_core::series::Slot;

use super::FigureError;
use crate::bodies::packing::Dictionaries;
use crate::bodies::parse;
use crate::corrupt::CorruptBody;
use crate::error::StoreError;
use crate::model::Pool;
use crate::reader::Reader;

impl Reader {
    /// The liquidation exposure over a period that the store has whole of every venue. The snapshots of one slot are
    /// held at a time.
    pub fn exposure(&self, terms: &ExposureTerms) -> Result<ExposureResult, FigureError> {
        let terms = terms.clone().checked()?;
        let pools = self.venues(&terms)?;
        Ok(self.expose(&terms, &pools)?.0)
    }

    /// The file that proves [`Reader::exposure`]: the same bytes each time.
    pub fn exposure_file(&self, terms: &ExposureTerms) -> Result<Vec<u8>, FigureError> {
        let terms = terms.clone().checked()?;
        let pools = self.venues(&terms)?;
        let (result, uses) = self.expose(&terms, &pools)?;
        let mut windows = Vec::new();
        for pool in &pools {
            windows.extend(self.windows_of_period(pool, terms.from, terms.to)?);
        }
        Ok(write_exposure(&terms, &windows, &uses, &result)?)
    }

    fn venues(&self, terms: &ExposureTerms) -> Result<Vec<Pool>, FigureError> {
        let find = |pool| Ok(self.pool_of_period(pool, terms.from, terms.to)?);
        terms.venues.iter().map(|venue| find(&venue.pool)).collect()
    }

    fn expose(
        &self,
        terms: &ExposureTerms,
        pools: &[Pool],
    ) -> Result<(ExposureResult, Vec<FigureUse>), FigureError> {
        let mut slots: Vec<(Slot, usize, SnapshotHash)> = Vec::new();
        for (place, pool) in pools.iter().enumerate() {
            let heads = self.heads(pool, terms.from, terms.to)?;
            let stand = standing(heads.iter().map(|stored| &stored.head));
            slots.extend(stand.into_iter().map(|(slot, hash)| (slot, place, hash)));
        }
        slots.sort_unstable_by_key(|(slot, place, _)| (*slot, *place));
        let mut scan = ExposureScan::new(terms.clone())?;
        let mut kept: Vec<Dictionaries> = pools.iter().map(|_| Dictionaries::default()).collect();
        let mut uses = Vec::with_capacity(slots.len());
        for (slot, place, hash) in slots {
            let absent = || StoreError::Corrupt { hash, what: CorruptBody::Absent };
            let documents = self.documents_after(hash, slot, &mut kept[place])?;
            let pool = &pools[place].id;
            let snapshot = parse(pool, hash, &documents.ok_or_else(absent)?)?;
            scan.take(pool, slot, snapshot.observation().clone())?;
            uses.push(FigureUse { pool: pool.clone(), slot, snapshot: hash });
        }
        Ok((scan.finish()?, uses))
    }
}
