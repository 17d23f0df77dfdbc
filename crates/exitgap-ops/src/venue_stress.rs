//! Stress over several venues: the fills of one exit in each slot of a week, after a shock.

use exitgap_api::operations::{FigureAddress, VenueStressAsked, VenueStressFileAsked};
use exitgap_api::{
    DepthSourceKind, Number, Problem, SeriesMethod, SeriesSource, VenueStress, VenueStressOf,
    Window,
};
use exitgap_core::analytics::figure::Figure;
use exitgap_core::analytics::stress::{Shock, StressTerms};
use exitgap_core::exit::METHOD_VERSION;
use exitgap_core::ids::PoolId;
use exitgap_core::series::days_observed_hundredths;
use exitgap_core::units::Percent;

use super::exposure::VenuesOf;
use super::figures::{ResolvedFigure, ServedFigure};
use super::{IntoProblem, Service};

impl ServedFigure for StressTerms {
    async fn resolve(
        service: &Service,
        asked: VenueStressFileAsked,
    ) -> Result<ResolvedFigure<Self>, Problem> {
        let VenueStressAsked { venues, from, to, .. } = &asked.0;
        let is_whole = venues.iter().all(|venue| venue.base.is_some());
        let named = is_whole.then_some(from.zip(*to)).flatten();
        let (figure, _) = service.stress_of(asked.0).await?;
        let is_settled = named.is_some_and(|(_, to)| to == figure.to);
        Ok(ResolvedFigure { figure, is_settled })
    }
}

impl Service {
    /// The fills of one exit over the venues in each slot of a week, after a shock.
    pub async fn venue_stress(&self, asked: VenueStressAsked) -> Result<VenueStress, Problem> {
        let (terms, recorded_count) = self.stress_of(asked).await?;
        let web = self.urls().web.clone();
        let run = terms.clone();
        let result = self.figures.read_store(move |reader| reader.figure(&run)).await?;
        let file = terms.address();
        let percent = |e8: u32| Number::from(Percent(e8.into()));
        let Shock { haircut_e8, fall_e8 } = terms.shock;
        let pools: Vec<PoolId> = terms.venues.iter().map(|venue| venue.pool.clone()).collect();
        let exactness = self.exactness(&pools).await;
        let of = VenueStressOf {
            exactness,
            figure: terms.name().to_owned(),
            reference: terms.reference.map(|reference| reference.code().to_owned()),
            from: terms.from.to_string(),
            to: terms.to.to_string(),
            size_usd: terms.size.into(),
            haircut_pct: percent(haircut_e8),
            fall_pct: percent(fall_e8),
            after_move_pct: terms.after.map(|after| percent(after.move_e8)),
            within_slots: terms.after.map(|after| after.within_slots),
            days_observed: Number::from_hundredths(days_observed_hundredths(recorded_count.into())),
            method_version: METHOD_VERSION.to_owned(),
            method: SeriesMethod {
                assumed_size_usd: Some(terms.size.into()),
                window: Window {
                    from: terms.from.to_string(),
                    to: terms.to.to_string(),
                    slots_recorded: result.have_slots.into(),
                    slots_missing: u64::from(result.slots_missing + result.slots_incomplete),
                },
                depth_source: SeriesSource {
                    kind: DepthSourceKind::RecordedSnapshot,
                    chain: terms.venues.first().map(|venue| venue.pool.chain().to_string()),
                },
            },
            figure_url: [web.as_str(), file.as_str()].concat(),
        };
        Ok(VenueStress::new(of, &terms, &result))
    }

    /// The parameters of a request, and the number of recorded slots in its shortest series.
    async fn stress_of(&self, asked: VenueStressAsked) -> Result<(StressTerms, u32), Problem> {
        let VenueStressAsked { venues, size, shock, limit, after, from, to, reference, guards } =
            asked;
        let found = self.venues_of(venues, from, to, guards).await?;
        let VenuesOf { venues, from, to, recorded_count } = found;
        let terms = StressTerms { venues, from, to, size, shock, limit, after, reference };
        Ok((terms.validate().map_err(IntoProblem::into_problem)?, recorded_count))
    }
}
