//! Daily partitions of bodies. Each is created before the day's first slot, and dropped as a whole when the day's files
//! have all its contents.

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

/// The slot of a day from which on the next day's partition is created. With the next day's first slot it might have to
/// wait.
const AHEAD_FROM: u32 = Slot::PER_DAY - 24;

/// The time limit for listing the rows of a day.
const LEAVING_LIMIT: Duration = Duration::from_hours(2);

const LEAVING: &str = "having a day's bodies leave";

/// Settings for removing a day, which takes long and needs certain join methods. The removal does not wait for a
/// standby, because readers would have to wait as well; if it is lost, the day still exists.
const LEAVING_SETTINGS: &str = "SET statement_timeout = '2h'; SET enable_hashjoin = on; SET enable_seqscan = on; \
                                SET synchronous_commit = local; \
                                SET ROLE exitgap_owner";

impl Postgres {
    /// Creates the partition of the slot's bodies, if it does not exist.
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

/// The day to remove, and its log.
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
    /// Removes the bodies of a day from this database, and returns their number. `admin` is a URL of the same server.
    /// Another server's database, which does not have this checkpoint, is left unchanged.
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
