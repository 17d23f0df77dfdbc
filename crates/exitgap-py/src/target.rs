//! Requests to a service, as addresses.

use exitgap_api::operations::{Answer, EvidenceOf, Method, Operation, Parameter, Place, Target};
use exitgap_api::{Problem, ProblemCode, invalid_parameter, parse_pool};

/// The operations that have a figure file.
const FIGURES: [Operation; 9] = [
    Operation::HoursFile,
    Operation::EquityFile,
    Operation::DecayFile,
    Operation::DepthsFile,
    Operation::AccuracyFile,
    Operation::ExposureFile,
    Operation::VenueStressFile,
    Operation::CashFile,
    Operation::PortfolioFile,
];

/// The result that the evidence at an address is about.
pub fn evidence_of(url: &str) -> Result<EvidenceOf, Problem> {
    EvidenceOf::from_url(url).ok_or_else(|| {
        let hint = "pass an evidence_url from one of the service's answers";
        invalid_parameter("evidence_url", "evidence_url: not an address of evidence", hint)
    })
}

/// The figure at an address. Its path and query are requested from the client's own service, whatever its host.
pub fn figure_at(url: &str) -> Result<Operation, Problem> {
    let before = url.split('?').next().unwrap_or_default();
    let plain = !url.contains(|c: char| c.is_whitespace() || c.is_control() || "#\\".contains(c));
    let is_of = |operation: &Operation| {
        let at = before.find(operation.prefix());
        at.is_some_and(|at| operation.is_at(&before[at..]))
    };
    let found = FIGURES.into_iter().find(is_of).filter(|_| plain && !before.contains(".."));
    found.ok_or_else(|| {
        let hint = "pass a figure_url from one of the service's answers";
        invalid_parameter("figure_url", "figure_url: not an address of a figure", hint)
    })
}

/// The address of an operation that returns a document. The service validates the parameter values.
pub fn target(
    id: &str,
    named: &[String],
    parameters: &[(String, String)],
) -> Result<Target, Problem> {
    let is_read = |operation: &Operation| {
        operation.method() == Method::Get && matches!(operation.row().answer, Answer::Document(_))
    };
    let operation =
        Operation::list_all().filter(is_read).find(|operation| operation.row().id == id);
    let operation = operation.ok_or_else(|| {
        let ids: Vec<&str> =
            Operation::list_all().filter(is_read).map(|known| known.row().id).collect();
        let detail = format!("operation: {:?} is unknown", shown(id));
        invalid_parameter("operation", &detail, &format!("one of {}", ids.join(", ")))
    })?;
    let known = operation.row().parameters;
    let of = |place: Place| known.iter().copied().filter(move |known| known.place == place);
    let target = operation.target_of(path(of(Place::Path), named)?);
    parameters.iter().try_fold(target, |target, (name, value)| {
        let parameter = of(Place::Query).find(|known| known.name == name).ok_or_else(|| {
            let taken: Vec<&str> = of(Place::Query).map(|known| known.name).collect();
            let detail = format!("{:?} is not a parameter of {id}", shown(name));
            let problem = Problem::new(ProblemCode::UnknownParameter, detail).field(&shown(name));
            problem.hint(format!("it takes {}", taken.join(", ")))
        })?;
        Ok(target.with(parameter, value))
    })
}

/// The variable parts of a path; characters with a meaning in URLs are not allowed in them.
fn path<'a>(
    places: impl Iterator<Item = &'a Parameter>,
    named: &[String],
) -> Result<String, Problem> {
    let places: Vec<&Parameter> = places.collect();
    if places.len() != named.len() {
        let taken: Vec<&str> = places.iter().map(|place| place.name).collect();
        let detail = format!("{} names were given", named.len());
        let hint = format!("its path takes {:?}", taken.join(", "));
        return Err(invalid_parameter("operation", &detail, &hint));
    }
    let parts = places.iter().zip(named).map(|(place, part)| {
        if place.name == "pool" {
            return parse_pool(part).map(|pool| pool.to_string());
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "_:.-".contains(c);
        if part.chars().all(plain) && part.chars().any(|c| c != '.') {
            return Ok(part.clone());
        }
        let detail = format!("{}: {:?} is not a valid name", place.name, shown(part));
        Err(invalid_parameter(place.name, &detail, place.hint.unwrap_or_default()))
    });
    Ok(parts.collect::<Result<Vec<_>, _>>()?.join("/"))
}

/// The beginning of an invalid value, for errors.
fn shown(text: &str) -> String {
    text.chars().take(40).collect()
}
