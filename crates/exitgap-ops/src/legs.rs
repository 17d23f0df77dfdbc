//! What an answer says of all its legs together: the worst oracle, the shortest series, a closed market, whether
//! amounts are exact.

use std::collections::BTreeSet;

use exitgap_api::{
    Context, Exactness, Number, OracleState, Problem, ProblemCode, Window, inexact_detail,
};
use exitgap_core::pools::Direction;

use super::FoundSnapshot;

/// The legs of an answer as one.
pub struct Legs {
    /// The context of each leg, in order; at least one.
    pub contexts: Vec<Context>,
    /// The least reliable state of their oracles.
    pub oracle_state: OracleState,
    /// Whether the markets of all legs are open.
    pub market_open: bool,
    /// The session of a leg whose market is closed, or else of the first.
    pub session_note: String,
    /// The length of the shortest series, and its slots.
    pub days_observed: Number,
    pub window: Window,
    /// Whether the amounts are what a holder sends and receives, with the reason of every leg where they are not.
    pub exactness: Exactness,
}

impl Legs {
    /// The legs, each a snapshot and the direction of its sale. An answer without a leg is a fault of the service.
    pub fn new(legs: &[(&FoundSnapshot, Direction)]) -> Result<Self, Problem> {
        let fault = |what: &str| Problem::new(ProblemCode::InternalError, what);
        let contexts: Vec<Context> = legs
            .iter()
            .map(|(found, direction)| found.prepared.context(*direction, None, None))
            .collect();
        let states = contexts.iter().map(|one| one.oracle_state);
        let oracle_state = states.max_by_key(|state| rank(*state));
        let shortest =
            legs.iter().zip(&contexts).min_by_key(|((found, _), _)| found.prepared.recorded_count);
        let series =
            shortest.and_then(|(_, one)| one.days_observed.clone().zip(one.window.clone()));
        let first = contexts.first().ok_or_else(|| fault("an answer has no leg"))?;
        let (days_observed, window) = series.ok_or_else(|| fault("a leg has no series"))?;
        let inexact = legs.iter();
        let inexact: BTreeSet<String> = inexact
            .filter_map(|(pool, _)| inexact_detail(pool.prepared.snapshot.observation()))
            .collect();
        let inexact =
            (!inexact.is_empty()).then(|| inexact.into_iter().collect::<Vec<_>>().join("; "));
        let session = contexts.iter().find(|one| !one.market_open).unwrap_or(first);
        Ok(Self {
            oracle_state: oracle_state.unwrap_or(first.oracle_state),
            market_open: session.market_open,
            session_note: session.session_note.clone(),
            days_observed,
            window,
            exactness: Exactness::new(inexact),
            contexts,
        })
    }
}

/// The higher, the less reliable.
fn rank(state: OracleState) -> u8 {
    match state {
        OracleState::Fresh => 0,
        OracleState::HeldOverClose => 1,
        OracleState::Stale => 2,
    }
}
