//! Market sessions: the calendars of a contract's tokens, applied to the block's timestamp.

use super::error::ObservationError;
use super::observation::Observation;
use super::oracle::{OracleReading, OracleRole, OracleSource};
use crate::hours::{Calendar, Market, Markets};

/// A token's calendar. Its session follows from the block's timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenSession {
    /// The token's index in its contract.
    pub token: u8,
    /// The calendar of its market.
    pub calendar: Calendar,
}

/// The market session of a pool's assets at its block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Whether the markets of both tokens are open. A token without a calendar is always open.
    pub market_open: bool,
    /// The notes of the tokens with a calendar, e.g. `XNYS@1/regular`; `continuous` if no token has one.
    pub note: String,
}

/// The freshness of the oracle's answers, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OracleState {
    /// No answer is older than its heartbeat.
    Fresh,
    /// An answer is older than its heartbeat, but was not when its token's market closed, and the market is still
    /// closed. The feed promised no newer round since then.
    HeldOverClose,
    /// An answer is older than its heartbeat for another reason, or the chain's sequencer is down or has only just come
    /// back.
    Stale,
}

impl OracleState {
    /// Its stable code.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::HeldOverClose => "held_over_close",
            Self::Stale => "stale",
        }
    }
}

impl Observation {
    /// The same observation with calendars of its contract's tokens, ascending by token, at most one per token.
    pub fn with_sessions(mut self, sessions: Vec<TokenSession>) -> Result<Self, ObservationError> {
        let tokens = self.contract_tokens().len();
        let ascending = sessions.is_sorted_by(|a, b| a.token < b.token);
        if !ascending || sessions.iter().any(|session| usize::from(session.token) >= tokens) {
            return Err(ObservationError::Sessions);
        }
        self.sessions = sessions;
        Ok(self)
    }

    /// The calendars of the contract's tokens, ascending by token.
    pub fn sessions(&self) -> &[TokenSession] {
        &self.sessions
    }

    /// The sessions of the pool's own two tokens, numbered 0 and 1 here.
    pub fn pool_sessions(&self) -> Vec<TokenSession> {
        let mut found = Vec::with_capacity(2);
        for (own, index) in (0..).zip(self.pair().bytes()) {
            let calendar = self.sessions.iter().find(|session| session.token == index);
            found.extend(calendar.map(|session| TokenSession { token: own, ..*session }));
        }
        found
    }

    /// The markets of the pool's own two tokens.
    pub fn markets(&self) -> Markets {
        Markets::new(self.pool_sessions().iter().map(|session| session.calendar).collect())
    }

    /// The market session of the pool's tokens at its block.
    pub fn session(&self) -> Session {
        let (at, sessions) = (self.block().timestamp, self.pool_sessions());
        let notes: Vec<String> = sessions.iter().map(|own| own.calendar.note(at)).collect();
        let market_open = sessions.iter().all(|own| own.calendar.market(at).is_open());
        let note = if notes.is_empty() { "continuous".to_owned() } else { notes.join(", ") };
        Session { market_open, note }
    }

    /// The freshness of the oracle's answers: that of the worst one.
    pub fn oracle_state(&self) -> OracleState {
        let (at, sessions) = (self.block().timestamp, self.pool_sessions());
        let states = self.pool_oracles().into_iter().map(|(role, reading)| {
            let own = sessions.iter().find(|own| OracleRole::TokenUsd(own.token) == role);
            state_of(reading, own.map(|own| own.calendar), at)
        });
        states.max().unwrap_or(OracleState::Fresh)
    }
}

/// The freshness of one reading at a block with this timestamp.
fn state_of(reading: &OracleReading, calendar: Option<Calendar>, at: u64) -> OracleState {
    if !reading.is_stale(at) {
        return OracleState::Fresh;
    }
    let (Some(calendar), OracleSource::Chainlink(round)) = (calendar, &reading.source) else {
        return OracleState::Stale;
    };
    let Market::Closed(closure) = calendar.market(at) else { return OracleState::Stale };
    let closed_at = (at + closure.opens_in_s).saturating_sub(closure.length_s);
    if round.updated_at.saturating_add(round.heartbeat_s.into()) >= closed_at {
        OracleState::HeldOverClose
    } else {
        OracleState::Stale
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
