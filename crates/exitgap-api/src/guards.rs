//! What a caller requires of an answer before it is given: whoever acts on figures by itself reads no
//! warning beside them.

use core::fmt;

use exitgap_core::series::{Slot, days_observed_hundredths};
use exitgap_core::snapshot::Observation;
use exitgap_core::units::parse_scaled;

use crate::operations::Target;
use crate::operations::parameters::{MAX_AGE, MIN_DAYS, REQUIRE};
use crate::{Context, Number, Problem, ProblemCode, Provenance, Status, invalid_parameter};

/// What an answer must meet; nothing where all is left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Guards {
    /// The most seconds that the answer's snapshot may be old.
    pub max_age_s: Option<u32>,
    /// The least days that the series behind it may have observed.
    pub min_days_observed: Option<Days>,
    /// Whether its status must be [`Status::Live`].
    pub require_live: bool,
}

/// Days of a series, in hundredths, as `days_observed` counts them: a day is 288 recorded slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Days(u32);

impl Days {
    /// More than any series will have.
    const MOST: i128 = 9_999_999;

    /// Reads a `min_days_observed`: a plain decimal from 0 to 99999.99 with at most two decimals.
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

    /// The days that so many recorded slots are, cut to hundredths.
    pub fn of_slots(recorded: u64) -> Self {
        Self(u32::try_from(days_observed_hundredths(recorded)).unwrap_or(u32::MAX))
    }
}

/// As documents write it.
impl fmt::Display for Days {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Number::from_hundredths(self.0.into()).fmt(f)
    }
}

/// How what an answer rests on stands when it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuardInputs {
    /// Whether its figures may be relied on.
    pub status: Status,
    /// Slots that its series has recorded; `None` where nothing is recorded.
    pub recorded_slots: Option<u64>,
    /// How old it is, seconds; `None` where there is no snapshot.
    pub age_s: Option<u64>,
}

impl GuardInputs {
    /// That of a recorded answer at `now_s`, seconds since 1970, according to its slot and series.
    pub fn from_context(context: &Context, now_s: u64) -> Self {
        let slot = context.method.depth_source.slot;
        let slot = slot.and_then(|number| Slot::new(number.into()).ok());
        Self {
            status: context.status,
            recorded_slots: context.window.as_ref().map(|window| window.slots_recorded),
            age_s: slot.map(|slot| now_s.saturating_sub(slot.unix_s())),
        }
    }

    /// That of an observation at `now_s`, seconds since 1970. One of a slot is as old as the slot,
    /// any other as its block.
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
    /// The address with them: of a question that takes them.
    pub fn apply_to(&self, target: Target) -> Target {
        let target = target.maybe(&MAX_AGE, self.max_age_s);
        let target = target.maybe(&MIN_DAYS, self.min_days_observed);
        target.maybe(&REQUIRE, self.require_live.then_some("live"))
    }

    /// Refuses what does not meet them: with `not_live`, `series_too_short` or `snapshot_too_old`, the
    /// first of these that is so. The refusal says what was found, what was required, and what to do.
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

    /// What of `guards` refuses it: the code, and the parameter at fault.
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
        // A series that has begun has observed no day, and says so.
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
