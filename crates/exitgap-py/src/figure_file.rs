//! The figure file at an address.

use exitgap_api::operations::{
    AccuracyFileAsked, DecayFileAsked, ExposureFileAsked, HoursFileAsked, Operation,
    VenueStressFileAsked,
};
use exitgap_client::{Client, ClientError, HistoryOf, Native};

/// The operations that have one.
const FIGURES: [Operation; 5] = [
    Operation::HoursFile,
    Operation::DecayFile,
    Operation::AccuracyFile,
    Operation::ExposureFile,
    Operation::VenueStressFile,
];

/// Asks the client's service for the file that a `figure_url` is of, whichever host that names: bytes, not verified.
/// `None` where the address is no figure's.
pub async fn figure_file(
    client: &Client<Native>,
    url: &str,
) -> Result<Option<Vec<u8>>, ClientError> {
    let Some((operation, named, query)) = asked(url) else { return Ok(None) };
    let named = Some(named.as_str()).filter(|named| !named.is_empty());
    let file = match operation {
        Operation::HoursFile => {
            let HoursFileAsked { series } = operation.read(named, query)?;
            client.hours_file(&HistoryOf::from(&series)).await?
        }
        Operation::DecayFile => {
            let DecayFileAsked(asked) = operation.read(named, query)?;
            client.decay_file(&asked).await?
        }
        Operation::AccuracyFile => {
            let AccuracyFileAsked(asked) = operation.read(named, query)?;
            client.accuracy_file(&asked).await?
        }
        Operation::ExposureFile => {
            let ExposureFileAsked(asked) = operation.read(named, query)?;
            client.exposure_file(&asked).await?
        }
        _ => {
            let VenueStressFileAsked(asked) = operation.read(named, query)?;
            client.venue_stress_file(&asked).await?
        }
    };
    Ok(Some(file))
}

/// Which figure an address is of, what varies of its path, and its query.
fn asked(url: &str) -> Option<(Operation, String, &str)> {
    let (_, rest) = url.split_once("://")?;
    let (before, query) = rest.split_once('?').unwrap_or((rest, ""));
    let path = before[before.find('/')?..].replace("%3A", ":").replace("%3a", ":");
    let query = query.split('#').next()?;
    FIGURES.into_iter().find_map(|operation| {
        // Where the pages are, may be below a path of their own.
        let at = path.find(operation.prefix())?;
        let found = &path[at..];
        operation
            .is_at(found)
            .then(|| (operation, found[operation.prefix().len()..].to_owned(), query))
    })
}
