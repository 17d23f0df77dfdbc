//! Both depths of a pool's week, as a figure.

use exitgap_api::Guards;
use exitgap_api::Problem;
use exitgap_api::operations::{DepthsFileAsked, FigureAddress, SeriesAsked};
use exitgap_core::analytics::depths::DepthsTerms;
use exitgap_core::series::Slot;
use exitgap_core::units::SizeUsd;
use exitgap_store::{Pool, Reader};

use super::current::first_of_7d;
use super::figures::{ResolvedFigure, ServedFigure};
use super::history::Series;
use super::{Service, Urls};

impl ServedFigure for DepthsTerms {
    async fn resolve(
        service: &Service,
        asked: DepthsFileAsked,
    ) -> Result<ResolvedFigure<Self>, Problem> {
        let DepthsFileAsked { pool, from, to } = asked;
        let named = from.zip(to);
        let (base, size, guards) = (None, SizeUsd::STANDARD[0], Guards::default());
        let series = SeriesAsked { pool, base, size, from, to, guards };
        let find = move |reader: &Reader| Series::find(reader, &series, None, Self::MAX_SLOTS);
        let found = service.read_store(find).await?;
        let figure = Self { pool: found.pool.id, from: found.from, to: found.to };
        let is_settled = named.is_some_and(|(_, to)| to == figure.to);
        Ok(ResolvedFigure { figure, is_settled })
    }
}

impl Urls {
    /// The URL of the figure file of both depths of the seven days up to a slot.
    pub fn depths(&self, pool: &Pool, slot: Slot) -> String {
        let terms = DepthsTerms { pool: pool.id.clone(), from: first_of_7d(pool, slot), to: slot };
        [self.web.as_str(), terms.address().as_str()].concat()
    }
}
