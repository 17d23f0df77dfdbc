//! A token's market session as a snapshot document contains it.

use super::error::ObservationError;
use super::session::TokenSession;
use super::wire::SnapshotError;
use crate::Newer;
use crate::hours::Calendar;
use crate::ids::{Code, TableHash};
use crate::json::{DocumentError, wire_struct};

/// A token's market session.
pub(super) struct WireSession {
    token: u8,
    calendar: Code,
    table: TableHash,
    state: Code,
    note: String,
}

wire_struct!(WireSession { token, calendar, table, state, note });

impl WireSession {
    /// The session according to a calendar at an instant.
    pub fn from_session(session: &TokenSession, at: u64) -> Self {
        let TokenSession { token, calendar } = *session;
        Self {
            token,
            calendar: calendar.code(),
            table: calendar.table().hash(),
            state: Code::of_name(calendar.state(at).as_str()),
            note: calendar.note(at),
        }
    }

    /// The session, if its table is known. It must be what the table says about the block's timestamp.
    fn known(&self, at: u64) -> Result<Result<TokenSession, Newer>, ObservationError> {
        let Some(calendar) = Calendar::from_code(&self.calendar) else {
            return Ok(Err(Newer::Calendar(self.calendar)));
        };
        let Some(calendar) = calendar.with_table(self.table) else {
            return Ok(Err(Newer::Table(self.table)));
        };
        let session = TokenSession { token: self.token, calendar };
        let expected = Self::from_session(&session, at);
        for (expected, found) in
            [(expected.state.as_str(), self.state.as_str()), (&expected.note, &self.note)]
        {
            if expected != found {
                return Err(ObservationError::SessionContradicts {
                    token: self.token,
                    timestamp: at,
                    expected: expected.to_owned(),
                    found: found.to_owned(),
                });
            }
        }
        Ok(Ok(session))
    }
}

/// The sessions of a snapshot, or the first value that only a later version knows: one per token, ascending, each with
/// a printable note.
pub(super) fn read_sessions(
    sessions: &[WireSession],
    tokens: usize,
    at: u64,
) -> Result<Result<Vec<TokenSession>, Newer>, SnapshotError> {
    let ascending = sessions.is_sorted_by(|a, b| a.token < b.token);
    let of_tokens = sessions.iter().all(|session| usize::from(session.token) < tokens);
    let printable = |note: &str| note.bytes().all(|c| c.is_ascii_graphic() || c == b' ');
    let noted = sessions
        .iter()
        .all(|session| (1..=64).contains(&session.note.len()) && printable(&session.note));
    if !(ascending && of_tokens && noted) {
        let rule =
            "sessions: out of order, without a valid token, or without a valid note".to_owned();
        return Err(DocumentError::Shape(rule).into());
    }
    // Every known session is checked, even if another one is unknown.
    let known: Result<Vec<_>, _> = sessions.iter().map(|session| session.known(at)).collect();
    Ok(known?.into_iter().collect())
}
