//! Days of bodies: each has a place of its own, which is made before its first slot and leaves whole, when the day's files
//! have what was in it.

use std::path::Path;
use std::time::Duration;

use exitgap_core::series::Slot;

use super::super::statements::statements;
use super::open::{on_one_of, open_connection};
use super::place::Place;
use super::{Postgres, database_error};
use crate::derived::rollup::day_of;
use crate::error::StoreError;

statements! {
    "left_day": SELECT_BODY_DAYS, SELECT_LEFT_DAY, SELECT_LEFT_DAYS, SELECT_LEFT_NAMED, SELECT_LEFT_SNAPSHOTS, SELECT_LEFT_STATES;
}

/// From which of a day's slots on the next one's place is made: with that one's first slot it might have to be waited for.
const AHEAD_FROM: u32 = Slot::PER_DAY - 24;

/// How long the rows of a day may take to be named.
const LEAVING_LIMIT: Duration = Duration::from_hours(2);

const LEAVING: &str = "having a day's bodies leave";

/// What is different for whoever has a day leave: it takes long, and chooses how rows are joined. That it left is not waited for on
/// a standby, with the readers kept waiting: if it is lost, the day is there again.
const LEAVING_SETTINGS: &str = "SET statement_timeout = '2h'; SET enable_hashjoin = on; SET enable_seqscan = on; \
                                SET synchronous_commit = local; \
                                SET ROLE exitgap_owner";

impl Postgres {
    /// Makes the place of the slot's bodies, where it is not there.
    pub fn make_room(&self, slot: Slot) -> Result<(), StoreError> {
        let ahead = day_of(slot) + u32::from(slot.number() % Slot::PER_DAY >= AHEAD_FROM);
        if self.room.get() == Some(ahead) {
            return Ok(());
        }
        for day in day_of(slot)..=ahead {
            let made = self.connection.ask("SELECT exitgap.make_day($1)", &[&i64::from(day)]);
            made.map_err(|fault| database_error("making room for a day's bodies", fault))?;
        }
        self.room.set(Some(ahead));
        Ok(())
    }
}

/// The day that is to leave, and whose it is.
#[derive(Debug, Clone, Copy)]
pub struct DayRemoval<'a> {
    /// Days since 1970-01-01.
    pub day: u32,
    /// The log's first key.
    pub key: &'a str,
    /// The checkpoint of the day's last slot.
    pub checkpoint: &'a str,
}

impl Postgres {
    /// Has the bodies of a day leave this database, and tells how many there were. `admin` is a URL of the same server: another's,
    /// which does not have this checkpoint, is left as it is.
    pub fn leave(&self, admin: &Path, leaving: DayRemoval) -> Result<u64, StoreError> {
        let mut place = Place::from_url(admin)?;
        place.for_writing();
        place.config.dbname(self.place.config.get_dbname().unwrap_or_default());
        on_one_of(&place, |server| {
            let mut connection = open_connection(&server)?;
            connection.limit(LEAVING_LIMIT);
            let fail = |fault| database_error(LEAVING, fault);
            connection.batch(LEAVING_SETTINGS).map_err(fail)?;
            let sql = "SELECT exitgap.leave_day($1, $2, $3)";
            let args: [&(dyn tokio_postgres::types::ToSql + Sync); 3] =
                [&i64::from(leaving.day), &leaving.key, &leaving.checkpoint];
            let rows = connection.ask(sql, &args).map_err(fail)?;
            let bodies: i64 = rows.first().and_then(|row| row.try_get(0).ok()).unwrap_or_default();
            Ok(u64::try_from(bodies).unwrap_or_default())
        })
    }
}
