//! Named shocks: the price moves in periods that the operator configured.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use exitgap_api::operations::{DecayAsked, FigureAddress};
use exitgap_api::{NamedShock, NamedShocks, Number, Problem};
use exitgap_core::analytics::stress::Shock;
use exitgap_core::series::Slot;
use exitgap_core::units::Percent;

use super::Service;

/// A period that the operator named, with its first and last slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShockOf {
    /// The name.
    pub name: String,
    /// A description.
    pub about: String,
    /// The depth decay that it is read from.
    pub decay: DecayAsked,
    /// The first slot.
    pub from: Slot,
    /// The last slot.
    pub to: Slot,
}

/// The configured shocks, and the results of those whose period can no longer be retracted.
#[derive(Debug, Default)]
pub(super) struct Shocks {
    named: Vec<ShockOf>,
    settled: Mutex<BTreeMap<String, NamedShock>>,
}

/// How long after its period a shock can still change, because some of its blocks may turn out to be orphaned.
const SETTLED_AFTER: u32 = Slot::PER_DAY;

impl Service {
    /// The same service with named periods.
    #[must_use]
    pub fn with_shocks(self, named: Vec<ShockOf>) -> Self {
        Self { shocks: Shocks { named, ..Shocks::default() }, ..self }
    }

    /// The result of each named period.
    pub async fn shocks(&self) -> Result<NamedShocks, Problem> {
        let mut shocks = Vec::with_capacity(self.shocks.named.len());
        for one in &self.shocks.named {
            shocks.push(self.shock(one).await?);
        }
        Ok(NamedShocks { shocks })
    }

    async fn shock(&self, one: &ShockOf) -> Result<NamedShock, Problem> {
        let settled = || self.shocks.settled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = settled().get(&one.name) {
            return Ok(known.clone());
        }
        let shock = one.describe_unmeasured();
        let of = match self.decay_of(one.decay.clone()).await {
            Ok(of) => of,
            Err(problem) if is_passing(&problem) => return Err(problem),
            Err(problem) => return Ok(shock.without(problem.code)),
        };
        let terms = of.terms.clone();
        let result = match self.figures.read_store(move |reader| reader.figure(&terms)).await {
            Ok(result) => result,
            Err(problem) if is_passing(&problem) => return Err(problem),
            Err(problem) => return Ok(shock.without(problem.code)),
        };
        let file = of.terms.address();
        let figure_url = Some([self.urls().web.as_str(), file.as_str()].concat());
        let percent = |e8: u32| Number::from(Percent(e8.into()));
        let shock = match Shock::of_greatest_fall(&result) {
            Some((slot, Shock { haircut_e8, fall_e8 })) => NamedShock {
                time: Some(slot.to_string()),
                fall_pct: Some(percent(fall_e8)),
                haircut_pct: Some(percent(haircut_e8)),
                figure_url,
                ..shock
            },
            None => {
                NamedShock { why_not: Some(NamedShock::NO_FALL.to_owned()), figure_url, ..shock }
            }
        };
        let settles = u64::from(one.to.number()) + u64::from(SETTLED_AFTER);
        if of.newest.is_some_and(|newest| u64::from(newest.number()) > settles) {
            settled().insert(one.name.clone(), shock.clone());
        }
        Ok(shock)
    }
}

/// Whether a later request may succeed, so that this failure must not be cached.
fn is_passing(problem: &Problem) -> bool {
    problem.code.http_status() >= 500
}

impl ShockOf {
    fn describe_unmeasured(&self) -> NamedShock {
        let Self { name, about, decay, from, to } = self;
        NamedShock {
            name: name.clone(),
            about: about.clone(),
            pool: decay.pool.to_string(),
            base: decay.base.clone(),
            from: from.to_string(),
            to: to.to_string(),
            move_pct: Percent(decay.move_e8.into()).into(),
            within_slots: decay.within_slots,
            gap_pct: decay.gap.into(),
            time: None,
            fall_pct: None,
            haircut_pct: None,
            why_not: None,
            figure_url: None,
        }
    }
}
