//! Liquidation exposure: whether the market could have absorbed a liquidation in every slot of a week.

use exitgap_api::operations::{
    ExposureAsked, ExposureFileAsked, FigureAddress, SeriesAsked, VenueAsked,
};
use exitgap_api::{
    DepthSourceKind, GuardInputs, Guards, LiquidationExposure, LiquidationExposureOf, Number,
    Problem, SeriesMethod, SeriesSource, Status, Window,
};
use exitgap_core::analytics::FigureVenue;
use exitgap_core::analytics::exposure::ExposureTerms;
use exitgap_core::analytics::figure::Figure;
use exitgap_core::evidence::Base;
use exitgap_core::exit::METHOD_VERSION;
use exitgap_core::ids::PoolId;
use exitgap_core::series::{Slot, days_observed_hundredths};
use exitgap_core::units::{Percent, SizeUsd};
use exitgap_store::Reader;

use super::figures::{ResolvedFigure, ServedFigure};
use super::history::Series;
use super::{IntoProblem, Service};

/// The default period: one week.
const WEEK: u32 = 7 * Slot::PER_DAY;

/// The venues, completed from their series.
pub(super) struct VenuesOf {
    pub venues: Vec<FigureVenue>,
    pub from: Slot,
    pub to: Slot,
    /// The number of recorded slots in the shortest series.
    pub recorded_count: u32,
}

/// The parameters of an exposure, with values about its series that answers report.
struct ExposureOf {
    terms: ExposureTerms,
    /// The number of recorded slots in the shortest series.
    recorded_count: u32,
}

impl ServedFigure for ExposureTerms {
    async fn resolve(
        service: &Service,
        asked: ExposureFileAsked,
    ) -> Result<ResolvedFigure<Self>, Problem> {
        let ExposureAsked { venues, from, to, .. } = &asked.0;
        let is_whole = venues.iter().all(|venue| venue.base.is_some());
        let named = is_whole.then_some(from.zip(*to)).flatten();
        let figure = service.exposure_of(asked.0).await?.terms;
        let is_settled = named.is_some_and(|(_, to)| to == figure.to);
        Ok(ResolvedFigure { figure, is_settled })
    }
}

impl Service {
    /// Whether the venues could have absorbed a liquidation after a price drop, in each slot of a week.
    pub async fn exposure(&self, asked: ExposureAsked) -> Result<LiquidationExposure, Problem> {
        let ExposureOf { terms, recorded_count } = self.exposure_of(asked).await?;
        let web = self.urls().web.clone();
        let run = terms.clone();
        let result = self.figures.read_store(move |reader| reader.figure(&run)).await?;
        let file = terms.address();
        let percent = |e8: u32| Number::from(Percent(e8.into()));
        let rules = terms.liquidation;
        let pools: Vec<PoolId> = terms.venues.iter().map(|venue| venue.pool.clone()).collect();
        let exactness = self.exactness(&pools).await;
        let of = LiquidationExposureOf {
            exactness,
            figure: terms.name().to_owned(),
            reference: terms.reference.map(|reference| reference.code().to_owned()),
            from: terms.from.to_string(),
            to: terms.to.to_string(),
            cascade_usd: terms.cascade.into(),
            bonus_pct: percent(rules.bonus_e8),
            protocol_fee_pct: percent(rules.protocol_fee_e8),
            fall_pct: percent(rules.fall_e8),
            days_observed: Number::from_hundredths(days_observed_hundredths(recorded_count.into())),
            method_version: METHOD_VERSION.to_owned(),
            method: SeriesMethod {
                assumed_size_usd: Some(terms.cascade.into()),
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
        Ok(LiquidationExposure::new(of, &terms, &result))
    }

    async fn exposure_of(&self, asked: ExposureAsked) -> Result<ExposureOf, Problem> {
        let ExposureAsked { venues, cascade, liquidation, from, to, reference, guards } = asked;
        let found = self.venues_of(venues, from, to, guards).await?;
        let VenuesOf { venues, from, to, recorded_count } = found;
        let terms = ExposureTerms { venues, from, to, cascade, liquidation, reference };
        let terms = terms.validate().map_err(IntoProblem::into_problem)?;
        Ok(ExposureOf { terms, recorded_count })
    }

    /// The venues of a request, with bases and period completed from their series. Each must meet the guards.
    pub(super) async fn venues_of(
        &self,
        named: Vec<VenueAsked>,
        from: Option<Slot>,
        to: Option<Slot>,
        guards: Guards,
    ) -> Result<VenuesOf, Problem> {
        let (mut venues, mut recorded_count) = (Vec::new(), u32::MAX);
        let (mut earliest, mut latest) = (Slot::FIRST, Slot::LAST);
        for VenueAsked { pool, base } in named {
            let (size, own) = (SizeUsd::STANDARD[0], Guards::default());
            let series = SeriesAsked { pool, base, size, from, to, guards: own };
            let base = self.series_base(&series).await?;
            let reach = WEEK;
            let find = move |reader: &Reader| Series::find(reader, &series, base, reach);
            let found = self.read_store(find).await?;
            let current = self.current();
            let labels = current.pools.get(&found.pool.id).and_then(|now| now.labels.clone());
            guards.check(&GuardInputs {
                status: labels.map_or(Status::Preview, |labels| labels.status),
                recorded_slots: Some(found.recorded_count().into()),
                age_s: found.newest.map(|slot| self.age_s(slot)),
            })?;
            recorded_count = recorded_count.min(found.recorded_count());
            (earliest, latest) = (earliest.max(found.pool.first_slot), latest.min(found.to));
            venues.push(FigureVenue { pool: found.pool.id, base: Base::from(found.direction) });
        }
        let back = latest.number().saturating_sub(WEEK - 1);
        let from =
            from.or_else(|| Slot::new(back.into()).ok()).unwrap_or(Slot::FIRST).max(earliest);
        Ok(VenuesOf { venues, from, to: latest, recorded_count })
    }
}
