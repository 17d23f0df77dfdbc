//! Requirements that a caller can set for an answer. A program that acts on figures automatically does not read
//! warnings, so it must be able to demand a refusal instead.

use core::fmt;

use exitgap_core::series::{Slot, days_observed_hundredths};
use exitgap_core::snapshot::Observation;
use exitgap_core::units::parse_scaled;

use crate::operations::Target;
use crate::operations::parameters::{MAX_AGE, MIN_DAYS, REQUIRE};
use crate::{Context, Number, Problem, ProblemCode, Provenance, Status, invalid_parameter};

/// The requirements for an answer. All are optional.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Guards {
    /// The maximum age of the answer's snapshot, in seconds.
    pub max_age_s: Option<u32>,
    /// The minimum number of observed days in the series.
    pub min_days_observed: Option<Days>,
    /// Whether its status must be [`Status::Live`].
    pub require_live: bool,
}

/// Days of a series, in hundredths, as `days_observed` counts them: a day is 288 recorded slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Days(u32);

impl Days {
    /// More days than any series will have.
    const MOST: i128 = 9_999_999;

    /// Parses a `min_days_observed`: a plain decimal from 0 to 99999.99 with at most two decimals.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let refused = |why: String| {
            let detail = format!("{}: {why}", MIN_DAYS.name);
            invalid_parameter(MIN_DAYS.name, &detail, MIN_DAYS.hint.unwrap_or_default())
        };
        let hundredths =
            parse_scaled(text, 2, false).map_err(|error| refused(error.to_string()))?;
        let within = Some(hundredths).filter(|hundredths| *hundredths <= Self::MOST);
        let days = within.and_then(|hundredths| u32::try_from(hundredths).ok()).map(Self);
        days.ok_or_else(|| refused("more than 99999.99 days".to_owned()))
    }

    /// The days that correspond to this many recorded slots, truncated to hundredths.
    pub fn of_slots(recorded: u64) -> Self {
        Self(u32::try_from(days_observed_hundredths(recorded)).unwrap_or(u32::MAX))
    }
}

/// Writes it as in documents.
impl fmt::Display for Days {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Number::from_hundredths(self.0.into()).fmt(f)
    }
}

/// The properties of an answer's data that the guards check, at the time of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuardInputs {
    /// Whether the data is live or a preview.
    pub status: Status,
    /// The number of recorded slots in its series; `None` without a series.
    pub recorded_slots: Option<u64>,
    /// Its age in seconds; `None` without a snapshot.
    pub age_s: Option<u64>,
}

impl GuardInputs {
    /// The properties of a recorded answer at `now_s`, seconds since 1970, according to its slot and series.
    pub fn from_context(context: &Context, now_s: u64) -> Self {
        let slot = context.method.depth_source.slot;
        let slot = slot.and_then(|number| Slot::new(number.into()).ok());
        Self {
            status: context.status,
            recorded_slots: context.window.as_ref().map(|window| window.slots_recorded),
            age_s: slot.map(|slot| now_s.saturating_sub(slot.unix_s())),
        }
    }

    /// The properties of an observation at `now_s`, seconds since 1970. The age counts from its slot if it has one,
    /// otherwise from its block.
    pub fn from_observation(
        observation: &Observation,
        provenance: &Provenance,
        now_s: u64,
    ) -> Self {
        let read_s = provenance.slot().map(Slot::unix_s);
        let read_s = read_s.unwrap_or(observation.block().timestamp);
        Self {
            status: observation.chain().kind.into(),
            recorded_slots: match provenance {
                Provenance::Recorded { recorded_slots, .. } => Some(*recorded_slots),
                Provenance::Direct(_) => None,
            },
            age_s: Some(now_s.saturating_sub(read_s)),
        }
    }
}

impl Guards {
    /// These guards, with those of `other` where these have none.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            max_age_s: self.max_age_s.or(other.max_age_s),
            min_days_observed: self.min_days_observed.or(other.min_days_observed),
            require_live: self.require_live || other.require_live,
        }
    }

    /// Adds the guards to the address of an operation that accepts them.
    pub fn apply_to(&self, target: Target) -> Target {
        let target = target.maybe(&MAX_AGE, self.max_age_s);
        let target = target.maybe(&MIN_DAYS, self.min_days_observed);
        target.maybe(&REQUIRE, self.require_live.then_some("live"))
    }

    /// Refuses data that does not meet the guards, with the first that applies of `not_live`, `series_too_short` and
    /// `snapshot_too_old`. The refusal contains the value found, the requirement, and a hint.
    pub fn check(&self, found: &GuardInputs) -> Result<(), Problem> {
        let Self { max_age_s, min_days_observed, require_live } = self;
        if *require_live && found.status != Status::Live {
            let detail = "the status of the answer is preview, but live was required";
            let hint = "ask for a pool of a live chain, or omit require; GET /v1/capabilities \
                        lists the status of each chain";
            return Err(Problem::new(ProblemCode::NotLive, detail).field(REQUIRE.name).hint(hint));
        }
        if let Some(least) = min_days_observed {
            let observed = Days::of_slots(found.recorded_slots.unwrap_or_default());
            if found.recorded_slots.is_none() || observed < *least {
                let detail = format!("{observed} days were observed, but {least} were required");
                let hint = format!(
                    "accept {observed}, or ask again later: 288 recorded slots add one day"
                );
                return Err(Problem::new(ProblemCode::SeriesTooShort, detail)
                    .field(MIN_DAYS.name)
                    .hint(hint));
            }
        }
        let Some(most) = max_age_s else { return Ok(()) };
        let (detail, hint) = match found.age_s {
            Some(age) if age <= u64::from(*most) => return Ok(()),
            Some(age) => (
                format!("the snapshot is {age} s old, but at most {most} s were accepted"),
                format!(
                    "accept {age} s or more, ask without an earlier time, or ask again later: a \
                     slot is recorded every 300 s"
                ),
            ),
            None => (
                format!("no snapshot is recorded, but one of the last {most} s was required"),
                "ask again later: a slot is recorded every 300 s".to_owned(),
            ),
        };
        Err(Problem::new(ProblemCode::SnapshotTooOld, detail).field(MAX_AGE.name).hint(hint))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOUND: GuardInputs =
        GuardInputs { status: Status::Preview, recorded_slots: Some(2_016), age_s: Some(600) };

    /// The refusal by `guards`: the code, the parameter at fault and the detail.
    fn refused(guards: Guards, found: &GuardInputs) -> Option<(ProblemCode, String, String)> {
        let problem = guards.check(found).err()?;
        assert!(problem.hint.is_some(), "{problem:?}");
        Some((problem.code, problem.field?, problem.detail))
    }

    #[test]
    fn each_guard_refuses_just_what_it_names() {
        let none = Guards::default();
        assert_eq!(refused(none, &FOUND), None);
        let aged = |most| Guards { max_age_s: Some(most), ..none };
        assert_eq!(refused(aged(600), &FOUND), None);
        let (code, field, detail) = refused(aged(599), &FOUND).unwrap();
        assert_eq!((code, field.as_str()), (ProblemCode::SnapshotTooOld, "max_age_s"));
        assert!(detail.contains("600 s old") && detail.contains("599 s"), "{detail}");
        let days = |text| Guards { min_days_observed: Some(Days::parse(text).unwrap()), ..none };
        assert_eq!(refused(days("7"), &FOUND), None);
        let (code, field, detail) = refused(days("7.01"), &FOUND).unwrap();
        assert_eq!((code, field.as_str()), (ProblemCode::SeriesTooShort, "min_days_observed"));
        assert!(detail.contains("7 days were") && detail.contains("7.01"), "{detail}");
        let live = Guards { require_live: true, ..none };
        let (code, field, _) = refused(live, &FOUND).unwrap();
        assert_eq!((code, field.as_str()), (ProblemCode::NotLive, "require"));
        assert_eq!(refused(live, &GuardInputs { status: Status::Live, ..FOUND }), None);
    }

    #[test]
    fn what_nothing_is_known_of_meets_no_guard() {
        let nothing = GuardInputs { status: Status::Live, recorded_slots: None, age_s: None };
        let none = Guards::default();
        assert_eq!(refused(none, &nothing), None);
        let zero_days = Guards { min_days_observed: Some(Days::of_slots(0)), ..none };
        assert_eq!(refused(zero_days, &nothing).unwrap().0, ProblemCode::SeriesTooShort);
        let aged = Guards { max_age_s: Some(u32::MAX), ..none };
        assert_eq!(refused(aged, &nothing).unwrap().0, ProblemCode::SnapshotTooOld);
        // A series that has only begun has zero observed days, which meets a requirement of zero.
        let begun = GuardInputs { recorded_slots: Some(0), ..nothing };
        assert_eq!(refused(zero_days, &begun), None);
    }

    #[test]
    fn days_are_read_as_they_are_told() {
        for (text, told) in
            [("0", "0"), ("0.01", "0.01"), ("007.5", "7.5"), ("99999.99", "99999.99")]
        {
            assert_eq!(Days::parse(text).unwrap().to_string(), told);
        }
        for text in ["", "-1", "+1", "1e2", "0.001", "100000", "x", "1,5", "NaN"] {
            let problem = Days::parse(text).unwrap_err();
            assert_eq!(problem.field.as_deref(), Some("min_days_observed"), "{text:?}");
        }
    }
}
