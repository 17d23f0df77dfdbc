//! Shards of the pools: which recorder reads each, and the readings for a slot that is not sealed yet.
//!
//! Each recorder reports every few seconds that it is running, and takes its share of the shards, by the server's
//! clock. Its readings count only after they are committed. The sealing recorder first freezes the slot, and the schema
//! then refuses further readings. So every committed reading is in the sealed slot, and every other one was refused.

use std::path::Path;
use std::time::Duration;

use super::connect::{Connection, Fault};
use super::lease::{LEASE_S, holds, require_clock, somebody};
use super::open::{COMMITTED, inspect, on_one_of};
use super::place::Place;
use super::{Postgres, database_error};
use crate::error::StoreError;

/// Limits for attending: other recorders do so as well, each only briefly.
const ATTEND_LIMITS: &str = "BEGIN; SET LOCAL lock_timeout = '2s'; SET LOCAL statement_timeout = '5s'; \
     LOCK TABLE exitgap.attending IN SHARE ROW EXCLUSIVE MODE; \
     DELETE FROM exitgap.attending WHERE until <= clock_timestamp()";

/// The time limit of operations on a shard, because a slot must be sealed within a minute.
const LIMIT: Duration = Duration::from_secs(8);

/// A recorder that stops in the middle of a transaction blocks others from attending, and the slot from being frozen.
/// This limit is shorter than the time that either waits.
const SETTINGS: &str = "SET idle_in_transaction_session_timeout = '1s'";

/// The schema's codes for a reading of a shard that another recorder has taken over, and for a frozen slot.
const TAKEN_OVER: &str = "EG001";
const FROZEN: &str = "EG002";

/// A recorder of a server's store that shares the reading with others.
pub struct Attendant {
    connection: Connection,
    /// All servers in its URL, and the one that it uses.
    all: Place,
    place: Place,
    recorder: String,
    holds: Duration,
}

/// A shard that this recorder must read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeldShard {
    /// Its name.
    pub shard: String,
    /// Incremented whenever the shard changes hands.
    pub epoch: i64,
}

/// The result of storing a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// It is stored: the slot will be sealed with it, or with the one that was stored before.
    Counts,
    /// Another recorder now reads the shard.
    TakenOver,
    /// The slot is already frozen.
    Frozen,
}

impl Attendant {
    /// A recorder with a unique name, connected to the server that accepts writes.
    pub fn open(url: &Path) -> Result<Self, StoreError> {
        let mut all = Place::from_url(url)?;
        all.for_writing();
        Self::at_one_of(&all, &somebody())
    }

    /// The same recorder over another connection, after a failover to another server.
    pub fn again(&self) -> Result<Self, StoreError> {
        Self::at_one_of(&self.all, &self.recorder)
    }

    fn at_one_of(all: &Place, recorder: &str) -> Result<Self, StoreError> {
        on_one_of(all, |place| Self::at(all.clone(), place, recorder.to_owned()))
    }

    fn at(all: Place, place: Place, recorder: String) -> Result<Self, StoreError> {
        let mut connection = super::open::open_connection(&place)?;
        inspect(&connection, &place.shown)?;
        connection.limit(LIMIT);
        let setting_up = |fault| database_error("setting up the connection", fault);
        connection.batch(SETTINGS).map_err(setting_up)?;
        let holds = holds(&connection)?;
        // Of several servers, uses the one on which commits succeed, not a former primary.
        connection.batch(COMMITTED).map_err(setting_up)?;
        connection.commit_within(LIMIT).map_err(setting_up)?;
        Ok(Self { connection, all, place, recorder, holds })
    }

    /// How long its shards stay assigned to it after it last attended.
    pub fn holds(&self) -> Duration {
        self.holds
    }

    /// Whether the connection can be used.
    pub fn is_open(&self) -> bool {
        self.connection.is_open()
    }

    /// Reports that this recorder is running, and assigns it its share of these shards: those that it already has, and
    /// free ones. With `may_leave`, shards beyond its share are given up.
    pub fn attend(&self, shards: &[String], may_leave: bool) -> Result<Vec<HeldShard>, StoreError> {
        const DOING: &str = "sharing the reading";
        require_clock(&self.connection, &self.place)?;
        let attended = self.connection.batch(ATTEND_LIMITS);
        let attended = attended.and_then(|()| self.share_of(shards, may_leave));
        match attended {
            Ok(held) => {
                self.connection
                    .commit_within(LIMIT)
                    .map_err(|fault| database_error(DOING, fault))?;
                Ok(held)
            }
            Err(fault) => {
                self.connection.roll_back();
                Err(database_error(DOING, fault))
            }
        }
    }

    fn share_of(&self, shards: &[String], may_leave: bool) -> Result<Vec<HeldShard>, Fault> {
        let until = format!("clock_timestamp() + make_interval(secs => {LEASE_S})");
        let Self { connection, recorder, .. } = self;
        let here = format!(
            "INSERT INTO exitgap.attending VALUES ($1, {until}) \
             ON CONFLICT (recorder) DO UPDATE SET until = excluded.until"
        );
        connection.ask(&here, &[recorder])?;
        let names = "INSERT INTO exitgap.shard SELECT shard, 'nobody', 0, '-infinity' \
                     FROM unnest($1::text[]) AS shard ON CONFLICT (shard) DO NOTHING";
        connection.ask(names, &[&shards])?;
        let renew = format!(
            "UPDATE exitgap.shard SET until = {until} \
             WHERE owner = $1 AND until > clock_timestamp() AND shard = ANY($2) RETURNING shard, epoch"
        );
        let mut held = held_of(&connection.ask(&renew, &[recorder, &shards])?)?;
        held.sort_unstable();
        let share = self.share_in(shards.len())?;
        if may_leave && held.len() > share {
            let left: Vec<String> = held.drain(share..).map(|held| held.shard).collect();
            let leave = "UPDATE exitgap.shard SET until = '-infinity', epoch = epoch + 1 \
                         WHERE owner = $1 AND shard = ANY($2)";
            connection.ask(leave, &[recorder, &left])?;
        }
        let more = i64::try_from(share.saturating_sub(held.len())).unwrap_or(0);
        if more > 0 {
            let take = format!(
                "UPDATE exitgap.shard SET owner = $1, epoch = epoch + 1, until = {until} WHERE shard IN \
                 (SELECT shard FROM exitgap.shard WHERE shard = ANY($2) AND until <= clock_timestamp() \
                  ORDER BY shard LIMIT $3) RETURNING shard, epoch"
            );
            held.extend(held_of(&connection.ask(&take, &[recorder, &shards, &more])?)?);
            held.sort_unstable();
        }
        Ok(held)
    }

    /// Its share of this number of shards. Remaining shards go to the recorders whose names come first.
    fn share_in(&self, shards: usize) -> Result<usize, Fault> {
        let asked = "SELECT count(*), count(*) FILTER (WHERE recorder < $1) FROM exitgap.attending";
        let rows = self.connection.ask(asked, &[&self.recorder])?;
        let Some(row) = rows.first() else { return Ok(0) };
        let number = |at: usize| {
            Ok::<_, Fault>(usize::try_from(row.try_get::<_, i64>(at)?).unwrap_or(usize::MAX))
        };
        let (attending, before) = (number(0)?.max(1), number(1)?);
        Ok(shards / attending + usize::from(before < shards % attending))
    }

    /// Gives up its shards immediately.
    pub fn leave(&self) -> Result<(), StoreError> {
        let fail = |fault| database_error("leaving the reading to others", fault);
        let leave = "UPDATE exitgap.shard SET until = '-infinity', epoch = epoch + 1 WHERE owner = $1 \
                     AND until > clock_timestamp()";
        self.connection.ask(leave, &[&self.recorder]).map_err(fail)?;
        let gone = "DELETE FROM exitgap.attending WHERE recorder = $1";
        self.connection.ask(gone, &[&self.recorder]).map_err(fail).map(|_| ())
    }

    /// Stores a reading of a shard that it holds. It counts once this returns [`Put::Counts`].
    pub fn put(&self, slot: u32, of: &HeldShard, bytes: &[u8]) -> Result<Put, StoreError> {
        let fail = |fault| database_error("writing a reading", fault);
        // The clock may have been changed since the start of the slot.
        require_clock(&self.connection, &self.place)?;
        self.connection.batch("BEGIN").map_err(fail)?;
        let insert = "INSERT INTO exitgap.reading (slot, shard, epoch, bytes) VALUES ($1, $2, $3, $4) \
                      ON CONFLICT (slot, shard) DO NOTHING";
        let written =
            self.connection.ask(insert, &[&i64::from(slot), &of.shard, &of.epoch, &bytes]);
        match written {
            Ok(_) => {
                let committed = self.connection.commit_within(LIMIT);
                // Only a new connection can find out what happened.
                committed.inspect_err(|_| self.connection.give_up()).map_err(fail)?;
                Ok(Put::Counts)
            }
            Err(fault) => {
                self.connection.roll_back();
                match fault.state() {
                    Some(TAKEN_OVER) => Ok(Put::TakenOver),
                    Some(FROZEN) => Ok(Put::Frozen),
                    _ => Err(fail(fault)),
                }
            }
        }
    }
}

fn held_of(rows: &[tokio_postgres::Row]) -> Result<Vec<HeldShard>, Fault> {
    let held = |row: &tokio_postgres::Row| {
        Ok(HeldShard { shard: row.try_get(0)?, epoch: row.try_get(1)? })
    };
    rows.iter().map(held).collect()
}

/// Operations of the sealing recorder.
impl Postgres {
    /// The shards with readings for a slot.
    pub fn shards_read(&self, slot: u32) -> Result<Vec<String>, StoreError> {
        self.shard_names(
            "SELECT shard FROM exitgap.reading WHERE slot = $1 ORDER BY shard",
            &[&i64::from(slot)],
        )
    }

    /// The shards that are assigned to a recorder.
    pub fn shards_held(&self) -> Result<Vec<String>, StoreError> {
        self.shard_names("SELECT shard FROM exitgap.shard WHERE until > clock_timestamp()", &[])
    }

    fn shard_names(
        &self,
        sql: &str,
        args: &[&(dyn tokio_postgres::types::ToSql + Sync)],
    ) -> Result<Vec<String>, StoreError> {
        let fail = |fault| database_error("looking for readings", fault);
        let rows = self.connection.ask(sql, args).map_err(fail)?;
        rows.iter().map(|row| row.try_get(0).map_err(|error| fail(error.into()))).collect()
    }

    /// Refuses further readings of a slot, after waiting for those in progress. Deletes the readings of sealed slots.
    pub fn freeze(&self, slot: u32) -> Result<(), StoreError> {
        let fail = |fault| database_error("freezing a slot", fault);
        self.holds().map_err(fail)?;
        let connection = &self.connection;
        connection.batch("BEGIN").map_err(fail)?;
        let frozen = "UPDATE exitgap.frozen SET slot = greatest(slot, $1)";
        let sealed =
            "DELETE FROM exitgap.reading WHERE slot <= (SELECT max(slot) FROM exitgap.sealed_slot)";
        let done = connection
            .ask(frozen, &[&i64::from(slot)])
            .and_then(|_| connection.batch(sealed))
            .inspect_err(|_| connection.roll_back());
        done.map_err(fail)?;
        connection.commit().inspect_err(|_| connection.give_up()).map_err(fail)
    }

    /// The reading of a shard for a slot.
    pub fn reading_of(&self, slot: u32, shard: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let fail = |fault| database_error("reading what was read", fault);
        let select = "SELECT bytes FROM exitgap.reading WHERE slot = $1 AND shard = $2";
        let rows = self.connection.ask(select, &[&i64::from(slot), &shard]).map_err(fail)?;
        rows.first().map(|row| row.try_get(0).map_err(|error| fail(error.into()))).transpose()
    }

    /// The next slot after this one that has readings.
    pub fn next_read(&self, after: Option<u32>) -> Result<Option<i64>, StoreError> {
        let fail = |fault| database_error("looking for readings", fault);
        let select = "SELECT min(slot) FROM exitgap.reading WHERE slot > $1";
        let rows = self.connection.ask(select, &[&after.map_or(0, i64::from)]).map_err(fail)?;
        let row = rows.first().map(|row| row.try_get::<_, Option<i64>>(0));
        Ok(row.transpose().map_err(|error| fail(error.into()))?.flatten())
    }
}
