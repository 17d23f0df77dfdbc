//! The events of a caller's rule over a recorded pool.

use exitgap_api::operations::{AlertAsked, SeriesAsked};
use exitgap_api::{AlertsTold, GuardInputs, Guards, Number, Problem, ProblemCode, Status};
use exitgap_core::alerts::{AlertRule, AlertRunError, RuleError};
use exitgap_core::evidence::Base;
use exitgap_core::series::{Slot, days_observed_hundredths};
use exitgap_core::units::SizeUsd;
use exitgap_store::Reader;
use serde_json::json;

use super::history::Series;
use super::{IntoProblem, Service};

/// The default period: 30 days.
const SLOTS: u32 = 30 * Slot::PER_DAY;

/// The longest period, in slots.
const MOST_SLOTS: u32 = 31 * Slot::PER_DAY;

impl Service {
    /// The status of a rule after a period, and its events in the period.
    pub async fn alerts(&self, asked: AlertAsked) -> Result<AlertsTold, Problem> {
        let AlertAsked { pool, base, from, to, mut rule, guards } = asked;
        let series = SeriesAsked {
            pool,
            base,
            size: SizeUsd::STANDARD[0],
            from,
            to,
            guards: Guards::default(),
        };
        let base = self.series_base(&series).await?;
        let find = move |reader: &Reader| Series::find(reader, &series, base, SLOTS);
        let found = self.read_store(find).await?;
        let (from, to) = (found.from, found.to);
        if to.number() - from.number() >= MOST_SLOTS {
            let detail = "from: at most 31 days at a time";
            return Err(Problem::new(ProblemCode::InvalidParameter, detail).field("from"));
        }
        let current = self.current();
        let labels = current.pools.get(&found.pool.id).and_then(|now| now.labels.clone());
        let status = labels.map_or(Status::Preview, |labels| labels.status);
        guards.check(&GuardInputs {
            status,
            recorded_slots: Some(found.recorded_count().into()),
            age_s: found.newest.map(|slot| self.age_s(slot)),
        })?;
        for (name, value) in [
            ("v", json!(1)),
            ("pool", json!(found.pool.id.to_string())),
            ("base", json!(Base::from(found.direction).code())),
            ("first_slot", json!(from.max(found.pool.first_slot).number())),
            ("web_url", json!(self.urls().web)),
        ] {
            rule.insert(name.to_owned(), value);
        }
        let rule = serde_json::to_vec(&rule).unwrap_or_default();
        let rule = AlertRule::from_json(&rule).map_err(IntoProblem::into_problem)?;
        let told = self.figures.read_store(move |reader| reader.alert(rule, to)).await?;
        let days = days_observed_hundredths(found.recorded_count().into());
        let days = Number::from_hundredths(days);
        Ok(AlertsTold::new(&told.run, &told.events, to, told.slots, status, days))
    }
}

impl IntoProblem for RuleError {
    fn into_problem(self) -> Problem {
        let Self { field, why } = self;
        Problem::new(ProblemCode::InvalidParameter, format!("{field}: {why}"))
            .field(field)
            .hint("`exitgap alert replay --help` lists the fields of a rule")
    }
}

impl IntoProblem for AlertRunError {
    fn into_problem(self) -> Problem {
        tracing::error!(error = %self, "an alert was not evaluated");
        Problem::new(ProblemCode::InternalError, "the rule could not be evaluated")
    }
}
