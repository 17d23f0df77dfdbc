//! What a figure file states that it is of: pools, period, log, status. The checks show whether that holds; a reader of the
//! verdict has to see it, because a valid file may be of another pool or period than was asked for.

use serde::Serialize;

use super::file::MAX_FIGURE_WINDOWS;
use crate::json::{Json, parse_json};
use crate::series::Slot;
use crate::tlog::{Checkpoint, LogProof};

/// The most characters of a text that is repeated: true ones are shorter.
const MAX_CHARS: usize = 120;

/// The most venues that are named: a figure has at most twenty-four.
const MAX_VENUES: usize = 24;

/// A venue of a figure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClaimedVenue {
    /// The pool.
    pub pool: String,
    /// The token sold there: `token0` or `token1`. Absent of a figure that is of both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
}

/// What a figure file states that it is of, as it spells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FigureClaim {
    /// The rules, such as `decay/1`.
    pub figure: String,
    /// Its pools, in its order.
    pub venues: Vec<ClaimedVenue>,
    /// The first slot of its period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_slot: Option<Slot>,
    /// The instant of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_slot_time: Option<String>,
    /// The last slot of its period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_slot: Option<Slot>,
    /// The instant of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_slot_time: Option<String>,
    /// The log that its first window is of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// `live` or `preview`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The signed checkpoints of its windows, each once.
    #[serde(skip)]
    pub checkpoints: Vec<String>,
}

impl FigureClaim {
    /// What a file states; `None` if it is not JSON that names a figure. A file that fails other checks still has a claim.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let file = parse_json(bytes).ok()?;
        let figure = text(file.field("figure"))?;
        let parameters = file.field("parameters").unwrap_or(&Json::Null);
        let only = slot(parameters.field("slot"));
        let [first, last] =
            ["from", "to"].map(|name| only.or_else(|| slot(parameters.field(name))));
        let checkpoints = file.field("windows").map(checkpoints_of).unwrap_or_default();
        let time = |slot: Option<Slot>| slot.map(|slot| slot.to_string());
        Some(Self {
            figure,
            venues: venues(parameters),
            first_slot: first,
            first_slot_time: time(first),
            last_slot: last,
            last_slot_time: time(last),
            log: checkpoints.first().and_then(|note| log_of(note)),
            status: file.field("result").and_then(|result| text(result.field("status"))),
            checkpoints,
        })
    }
}

fn venues(parameters: &Json<'_>) -> Vec<ClaimedVenue> {
    let base = text(parameters.field("base"));
    let venue = |of: &Json<'_>| {
        let (pool, own) = (text(of.field("pool"))?, text(of.field("base")));
        Some(ClaimedVenue { pool, base: own.or_else(|| base.clone()) })
    };
    let pool = |of: &Json<'_>| Some(ClaimedVenue { pool: text(Some(of))?, base: None });
    match (parameters.field("venues"), parameters.field("pools")) {
        (Some(Json::List(venues)), _) => venues.iter().take(MAX_VENUES).filter_map(venue).collect(),
        (_, Some(Json::List(pools))) => pools.iter().take(MAX_VENUES).filter_map(pool).collect(),
        _ => venue(parameters).into_iter().collect(),
    }
}

/// The checkpoints of windows that can be read, each once.
fn checkpoints_of(windows: &Json<'_>) -> Vec<String> {
    let Json::List(windows) = windows else { return Vec::new() };
    let mut notes: Vec<String> = Vec::new();
    for window in windows.iter().take(MAX_FIGURE_WINDOWS) {
        let Some(Json::Text(proof)) = window.field("log_proof") else { continue };
        let note = LogProof::from_text(proof).ok().map(|proof| proof.checkpoint);
        notes.extend(note.filter(|note| !notes.contains(note)));
    }
    notes
}

/// The log that a checkpoint is of.
fn log_of(note: &str) -> Option<String> {
    let (checkpoint, _) = Checkpoint::from_note(note).ok()?;
    Some(checkpoint.origin.to_string())
}

fn text(json: Option<&Json<'_>>) -> Option<String> {
    match json? {
        Json::Text(text) => Some(text.chars().take(MAX_CHARS).collect()),
        _ => None,
    }
}

fn slot(json: Option<&Json<'_>>) -> Option<Slot> {
    match json? {
        Json::Number(number) => number.parse().ok().and_then(|number: u64| Slot::new(number).ok()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_is_of_is_named_whatever_else_it_has() {
        let file = br#"{"figure":"exposure/2","parameters":{"from":5958000,"to":5958001,"venues":[{"base":"token0","pool":"a:1"},
            {"base":"token1","pool":"a:2"}]},"result":{"status":"preview"},"windows":[{}],"more":[]}"#;
        let claim = FigureClaim::from_bytes(file).unwrap();
        let venue = |pool: &str, base: &str| ClaimedVenue {
            pool: pool.to_owned(),
            base: Some(base.to_owned()),
        };
        assert_eq!(claim.venues, [venue("a:1", "token0"), venue("a:2", "token1")]);
        assert_eq!(
            (claim.figure.as_str(), claim.status.as_deref()),
            ("exposure/2", Some("preview"))
        );
        let slots = [claim.first_slot, claim.last_slot].map(|slot| slot.unwrap().number());
        assert_eq!((slots, claim.log), ([5_958_000, 5_958_001], None));
        assert_eq!(claim.last_slot_time.unwrap(), claim.last_slot.unwrap().to_string());
        let bare = FigureClaim::from_bytes(
            br#"{"figure":"decay/1","parameters":{"base":"token1","pool":"p","to":-1}}"#,
        );
        let bare = bare.unwrap();
        assert_eq!((bare.venues, bare.last_slot), (vec![venue("p", "token1")], None));
        let route = br#"{"figure":"route/1","parameters":{"pools":["p","q"],"slot":5958000}}"#;
        let route = FigureClaim::from_bytes(route).unwrap();
        let named: Vec<_> = route.venues.iter().map(|venue| venue.pool.as_str()).collect();
        assert_eq!((named, route.first_slot), (vec!["p", "q"], route.last_slot));
        for other in [&b"{}"[..], b"[]", b"{\"figure\":1}", b"{\"figure\":\"decay/1\""] {
            assert_eq!(FigureClaim::from_bytes(other), None);
        }
    }
}
