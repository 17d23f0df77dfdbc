//! The parameters of the export of closed days.

use exitgap_core::ids::PoolId;
use exitgap_core::series::{Day, NoDay};

use super::parameters::{EXPORT_FROM, EXPORT_POOL, EXPORT_TO};
use super::streams::MAX_WATCHED;
use super::{Given, Parameter, Question, values};
use crate::parameters::shown;
use crate::{Problem, ProblemCode, parse_pool, slot_at};

/// The closed days to export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportAsked {
    /// The first day; default: the log's first day.
    pub from: Option<Day>,
    /// The last day; default: the last closed day.
    pub to: Option<Day>,
    /// Only files with rows of these pools; all files if empty.
    pub pools: Vec<PoolId>,
}

impl Question for ExportAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        let day = |parameter| given.parse_optional(parameter, |text| date(parameter, text));
        // What begins before the series begins with it.
        let from = match day(&EXPORT_FROM) {
            Err(problem) if problem.code == ProblemCode::BeforeSeries => None,
            from => from?,
        };
        let to = day(&EXPORT_TO)?;
        if from.zip(to).is_some_and(|(from, to)| from > to) {
            return Err(Problem::new(ProblemCode::PeriodReversed, "from is after to")
                .field(EXPORT_FROM.name)
                .hint("give the earlier day as from"));
        }
        let count = given.all_values(&EXPORT_POOL).count();
        if count > MAX_WATCHED {
            let detail = format!("pool: at most {MAX_WATCHED} pools are accepted, not {count}");
            return Err(values::refusal(&EXPORT_POOL, &detail));
        }
        let pools: Result<Vec<PoolId>, Problem> =
            given.all_values(&EXPORT_POOL).map(parse_pool).collect();
        Ok(Self { from, to, pools: pools? })
    }
}

/// A date as a day of the series; one that is before the series is refused as that.
fn date(parameter: &Parameter, text: &str) -> Result<Day, Problem> {
    text.parse().map_err(|error: NoDay| {
        let problem = values::refusal(
            parameter,
            &format!("{}: {:?} is {error}", parameter.name, shown(text)),
        );
        let midnight = format!("{text}T00:00:00Z");
        match slot_at(parameter.name, &midnight) {
            Err(before) if before.code == ProblemCode::BeforeSeries && text.len() == 10 => before,
            _ => problem,
        }
    })
}
