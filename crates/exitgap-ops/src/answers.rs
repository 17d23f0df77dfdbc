//! Answers about one exit, the largest exit within a gap, a sale in several orders, and the ladder.

use exitgap_api::operations::parameters::GAP;
use exitgap_api::operations::{ExitAsked, MaxSizeAsked, SimulationAsked, SnapshotAsked};
use exitgap_api::{
    Amounts, Answer, GapRung, LadderRows, Number, Problem, Published, PublishedExit,
    PublishedLadder, PublishedMaxSize, PublishedSimulation, Simulation,
};
use exitgap_core::exit::{Estimate, Refusal};
use exitgap_core::pools::Direction;
use exitgap_core::units::SizeUsd;

use super::{FoundSnapshot, PreparedSnapshot, Service};

impl Service {
    /// The fill of a sale.
    pub async fn exit(&self, asked: &ExitAsked) -> Result<PublishedExit, Problem> {
        let ExitAsked { snapshot, size } = asked;
        let (found, size) = (self.find(snapshot).await?, *size);
        let direction = direction(&found.prepared, snapshot.base.as_deref())?;
        match self.estimate(&found, direction, size).await? {
            Ok(estimate) => Ok(self.exit_of(&found, direction, size, &estimate)),
            Err(refusal) => Err(self.refusal_of(&found, direction, size, &refusal)),
        }
    }

    /// Why a size cannot be filled, with the URL of the evidence. A sale whose gap is not a valid percentage has no
    /// evidence.
    pub(super) fn refusal_of(
        &self,
        found: &FoundSnapshot,
        direction: Direction,
        size: SizeUsd,
        refusal: &Refusal,
    ) -> Problem {
        let problem = Problem::of_estimate(refusal, size);
        let evidence = || self.evidence_url(&found.prepared, direction, &size.to_string());
        Problem { evidence_url: problem.code.has_evidence().then(evidence), ..problem }
    }

    /// The same for a snapshot that is already found, with the fill of the size.
    pub(super) fn exit_of(
        &self,
        found: &FoundSnapshot,
        direction: Direction,
        size: SizeUsd,
        estimate: &Estimate,
    ) -> PublishedExit {
        let evidence = self.evidence_url(&found.prepared, direction, &size.to_string());
        self.publish(found, direction, Amounts::from(estimate), Some(size), Some(evidence))
    }

    /// The largest sale whose gap is at most the requested one.
    pub async fn max_size(&self, asked: &MaxSizeAsked) -> Result<PublishedMaxSize, Problem> {
        let MaxSizeAsked { snapshot, limit } = asked;
        let (found, limit) = (self.find(snapshot).await?, *limit);
        let direction = direction(&found.prepared, snapshot.base.as_deref())?;
        let search = move |prepared: &PreparedSnapshot| {
            prepared.with_exit(direction, |exit| exit.gap_row(limit))
        };
        let row = self.work_out_in(&self.searches, &found, search).await?;
        if let Err(exhausted) = &row.depth {
            return Err(Problem::from(exhausted).field(GAP.name));
        }
        let rung = GapRung::from(&row);
        let evidence = rung
            .exit
            .as_ref()
            .map(|exit| self.evidence_url(&found.prepared, direction, exit.size_usd.as_str()));
        Ok(self.publish(&found, direction, rung, None, evidence))
    }

    /// A sale in several orders, compared with a single sale. Evidence can prove only the single sale, or that it
    /// cannot be filled.
    pub async fn simulate(&self, asked: &SimulationAsked) -> Result<PublishedSimulation, Problem> {
        let SimulationAsked { snapshot, plan } = asked;
        let (found, plan) = (self.find(snapshot).await?, *plan);
        let direction = direction(&found.prepared, snapshot.base.as_deref())?;
        let sell = move |prepared: &PreparedSnapshot| {
            prepared.with_exit(direction, |exit| exit.simulate_orders(plan))
        };
        let simulation = self.work_out(&found, sell).await?;
        let simulation = simulation.map_err(|refused| Problem::from(&refused))?;
        let refused = simulation.at_once.as_ref().err().map(Problem::from);
        let size = plan.size();
        let evidence = refused
            .is_none_or(|problem| problem.code.has_evidence())
            .then(|| self.evidence_url(&found.prepared, direction, &size.to_string()));
        let figures = Simulation::from(&simulation);
        Ok(self.publish(&found, direction, figures, Some(size), evidence))
    }

    /// Depth by gap, and slippage by size.
    pub async fn ladder(&self, asked: &SnapshotAsked) -> Result<PublishedLadder, Problem> {
        let found = self.find(asked).await?;
        let prepared = found.prepared.clone();
        let direction = direction(&prepared, asked.base.as_deref())?;
        if !prepared.has_ladder(direction) {
            self.work_out(&found, move |prepared| {
                prepared.ladder(direction);
            })
            .await?;
        }
        let (by_gap, by_size) = prepared.ladder(direction);
        let rows = LadderRows::from_rows(by_gap, by_size, |size| {
            Some(self.evidence_url(&prepared, direction, size.as_str()))
        });
        Ok(self.publish(&found, direction, rows, None, None))
    }

    pub(super) fn evidence_url(
        &self,
        prepared: &PreparedSnapshot,
        direction: Direction,
        size_usd: &str,
    ) -> String {
        prepared.evidence_url(&self.urls, direction, size_usd)
    }

    pub(super) fn publish<F>(
        &self,
        found: &FoundSnapshot,
        direction: Direction,
        figures: F,
        size: Option<SizeUsd>,
        evidence_url: Option<String>,
    ) -> Published<F> {
        let prepared = &found.prepared;
        let context = prepared.context(direction, size, found.newer_slots_missing);
        let [snapshot_url, window_url] = prepared.snapshot_and_window_urls(&self.urls);
        Published {
            answer: Answer { figures, context },
            lowest_depth_7d_usd: prepared.lowest_depth(direction).map(Number::from),
            week: prepared.depth_week(&self.urls, direction),
            snapshot_age_s: found.age_s,
            evidence_url,
            snapshot_url: snapshot_url.clone(),
            window_url: window_url.clone(),
            newer_heads_url: found
                .newer_slots_missing
                .filter(|missing| *missing > 0)
                .and_then(|_| Some(self.current().pools.get(&prepared.pool.id)?.latest.entry.slot))
                .map(|newest| self.urls.window(&prepared.pool.id, newest)),
        }
    }
}

/// The direction that sells `base`, or the pool's default.
pub(super) fn direction(
    prepared: &PreparedSnapshot,
    base: Option<&str>,
) -> Result<Direction, Problem> {
    match base {
        None => Ok(prepared.pool.default_base),
        Some(base) => Ok(prepared.snapshot.observation().direction_of(base)?),
    }
}
