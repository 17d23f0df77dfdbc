//! Figures of several pools, slot by slot: liquidation exposure and stress.

use exitgap_core::analytics::exposure::{ExposureResult, ExposureScan, ExposureTerms};
use exitgap_core::analytics::figure::{FigureUse, write_exposure, write_stress};
use exitgap_core::analytics::stress::{StressResult, StressScan, StressTerms};
use exitgap_core::analytics::{FigureVenue, VenuesError, standing};
use exitgap_core::ids::{PoolId, SnapshotHash};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::Observation;

use super::FigureError;
use crate::bodies::packing::Dictionaries;
use crate::bodies::parse;
use crate::corrupt::CorruptBody;
use crate::error::StoreError;
use crate::model::Pool;
use crate::reader::Reader;

/// The venues of a figure over a period that the store has whole of each.
struct Venues {
    pools: Vec<Pool>,
    from: Slot,
    to: Slot,
}

impl Reader {
    /// The liquidation exposure over a period that the store has whole of every venue. The snapshots of one slot are
    /// held at a time.
    pub fn exposure(&self, terms: &ExposureTerms) -> Result<ExposureResult, FigureError> {
        let terms = terms.clone().checked()?;
        let venues = self.venues(&terms.venues, terms.from, terms.to)?;
        Ok(self.expose(&terms, &venues)?.0)
    }

    /// The file that proves [`Reader::exposure`]: the same bytes each time.
    pub fn exposure_file(&self, terms: &ExposureTerms) -> Result<Vec<u8>, FigureError> {
        let terms = terms.clone().checked()?;
        let venues = self.venues(&terms.venues, terms.from, terms.to)?;
        let (result, uses) = self.expose(&terms, &venues)?;
        Ok(write_exposure(&terms, &self.windows_of(&venues)?, &uses, &result)?)
    }

    /// What an exit over several venues would have filled at in each slot of a period that the store has whole of every
    /// venue. The snapshots of one slot are held at a time.
    pub fn stress(&self, terms: &StressTerms) -> Result<StressResult, FigureError> {
        let terms = terms.clone().checked()?;
        let venues = self.venues(&terms.venues, terms.from, terms.to)?;
        Ok(self.stressed(&terms, &venues)?.0)
    }

    /// The file that proves [`Reader::stress`]: the same bytes each time.
    pub fn stress_file(&self, terms: &StressTerms) -> Result<Vec<u8>, FigureError> {
        let terms = terms.clone().checked()?;
        let venues = self.venues(&terms.venues, terms.from, terms.to)?;
        let (result, uses) = self.stressed(&terms, &venues)?;
        Ok(write_stress(&terms, &self.windows_of(&venues)?, &uses, &result)?)
    }

    fn expose(
        &self,
        terms: &ExposureTerms,
        venues: &Venues,
    ) -> Result<(ExposureResult, Vec<FigureUse>), FigureError> {
        let mut scan = ExposureScan::new(terms.clone())?;
        let uses = self.feed(venues, |pool, slot, observed| scan.take(pool, slot, observed))?;
        Ok((scan.finish()?, uses))
    }

    fn stressed(
        &self,
        terms: &StressTerms,
        venues: &Venues,
    ) -> Result<(StressResult, Vec<FigureUse>), FigureError> {
        let mut scan = StressScan::new(terms.clone())?;
        let uses = self.feed(venues, |pool, slot, observed| scan.take(pool, slot, observed))?;
        Ok((scan.finish()?, uses))
    }

    fn venues(&self, named: &[FigureVenue], from: Slot, to: Slot) -> Result<Venues, FigureError> {
        let find = |venue: &FigureVenue| Ok(self.pool_of_period(&venue.pool, from, to)?);
        let pools = named.iter().map(find).collect::<Result<_, FigureError>>()?;
        Ok(Venues { pools, from, to })
    }

    fn windows_of(&self, venues: &Venues) -> Result<Vec<Vec<u8>>, FigureError> {
        let mut windows = Vec::new();
        for pool in &venues.pools {
            windows.extend(self.windows_of_period(pool, venues.from, venues.to)?);
        }
        Ok(windows)
    }

    /// Feeds a pass the standing snapshots of the period, ascending by slot, those of one slot in the order of the
    /// venues; tells which they were.
    fn feed(
        &self,
        venues: &Venues,
        mut take: impl FnMut(&PoolId, Slot, Observation) -> Result<(), VenuesError>,
    ) -> Result<Vec<FigureUse>, FigureError> {
        let mut slots: Vec<(Slot, usize, SnapshotHash)> = Vec::new();
        for (place, pool) in venues.pools.iter().enumerate() {
            let heads = self.heads(pool, venues.from, venues.to)?;
            let stand = standing(heads.iter().map(|stored| &stored.head));
            slots.extend(stand.into_iter().map(|(slot, hash)| (slot, place, hash)));
        }
        slots.sort_unstable_by_key(|(slot, place, _)| (*slot, *place));
        let mut kept: Vec<_> = venues.pools.iter().map(|_| Dictionaries::default()).collect();
        let mut uses = Vec::with_capacity(slots.len());
        for (slot, place, hash) in slots {
            let absent = || StoreError::Corrupt { hash, what: CorruptBody::Absent };
            let documents = self.documents_after(hash, slot, &mut kept[place])?;
            let pool = &venues.pools[place].id;
            let snapshot = parse(pool, hash, &documents.ok_or_else(absent)?)?;
            take(pool, slot, snapshot.observation().clone())?;
            uses.push(FigureUse { pool: pool.clone(), slot, snapshot: hash });
        }
        Ok(uses)
    }
}
