//! A series that includes a market closure.

use exitgap_core::hours::{Calendar, Hours};
use exitgap_core::snapshot::{Snapshot, TokenSession};
use exitgap_store::NewEntry;
use tempfile::TempDir;

use crate::scenes::here::stored;
use crate::scenes::store::{BusyPool, slot};

/// Monday, 2026-08-24, 13:30 UTC: the first opening in the series, which begins on a Saturday.
pub const OPENING: u32 = 2 * 288 + 162;

/// A pool with a calendar for token 0, and one without, until an hour after the first opening.
pub fn a_weekend_and_an_hour() -> TempDir {
    let (mut share, mut other) = (BusyPool::new(1, 4), BusyPool::new(2, 4));
    let calendar = Calendar::for_exchange("XNYS", Hours::Regular).unwrap();
    let with_calendar = |entry: NewEntry| {
        let snapshot = entry.reading.unwrap();
        let sessions = vec![TokenSession { token: 0, calendar }];
        let observation = snapshot.observation().clone().with_sessions(sessions).unwrap();
        NewEntry { reading: Ok(Snapshot::new(snapshot.slot(), observation).unwrap()), ..entry }
    };
    let entries = |n: u32| vec![with_calendar(share.recorded(slot(n))), other.recorded(slot(n))];
    let slots: Vec<Vec<NewEntry>> = (0..OPENING + 12).map(entries).collect();
    stored(&slots)
}
