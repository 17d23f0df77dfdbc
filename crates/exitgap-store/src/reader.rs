//! Reading a store, also while a recorder writes it.

use std::path::Path;

use exitgap_core::ids::{PoolId, SnapshotHash, StateHash};
use exitgap_core::pools::{MAX_STATE_BYTES, PoolState};
use exitgap_core::published::{FrameRef, MAX_BACK};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::{MAX_SNAPSHOT_BYTES, Snapshot, SnapshotDocuments};
use rusqlite::{Connection, OptionalExtension, Row, named_params};

use crate::body::{Dictionaries, Record};
use crate::columns::Columns;
use crate::error::{CorruptBody, Doing, StoreError};
use crate::model::{Entry, Latest, Outcome, Page, Pool, Totals, direction_of};
use crate::{body, schema, sql};

/// A read-only view of a store. Every call sees whole slots only; two calls may see
/// different ones. Any number of readers may be open beside the one recorder.
#[derive(Debug)]
pub struct Reader {
    pub(crate) connection: Connection,
}

impl Reader {
    /// The most entries of one [`Page`]: five weeks.
    pub const MAX_PAGE: usize = 10_080;

    /// Opens the store at `path` for reading.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Ok(Self { connection: schema::open_reader(path.as_ref())? })
    }

    /// The store's first and last slot; `None` while nothing was recorded. Every slot
    /// between them is in the store.
    pub fn slots(&self) -> Result<Option<(Slot, Slot)>, StoreError> {
        let doing = "reading the store's slots";
        let mut statement =
            self.connection.prepare_cached(sql::SELECT_SEALED_SLOTS).doing(doing)?;
        let ends: (Option<i64>, Option<i64>) =
            statement.query_row((), |row| Ok((row.get(0)?, row.get(1)?))).doing(doing)?;
        match ends {
            (Some(first), Some(last)) => {
                Ok(Some((slot_of("sealed_slot", first)?, slot_of("sealed_slot", last)?)))
            }
            _ => Ok(None),
        }
    }

    /// All pools of the store, in the order of their names.
    pub fn pools(&self) -> Result<Vec<Pool>, StoreError> {
        let doing = "reading the pools";
        let mut statement = self.connection.prepare_cached(sql::SELECT_POOLS).doing(doing)?;
        let rows = statement.query_map((), pool_row).doing(doing)?;
        rows.map(|row| check_pool(row.doing(doing)?)).collect()
    }

    /// The pool of this name; `None` if the store has none.
    pub fn pool(&self, id: &PoolId) -> Result<Option<Pool>, StoreError> {
        let doing = "reading a pool";
        let mut statement = self.connection.prepare_cached(sql::SELECT_POOL).doing(doing)?;
        let row = statement
            .query_row(named_params! { ":pool_id": id.to_string() }, pool_row)
            .optional()
            .doing(doing)?;
        row.map(check_pool).transpose()
    }

    /// The pool's entry for `slot`; `None` before its first slot and after the last.
    pub fn entry(&self, pool: &Pool, slot: Slot) -> Result<Option<Entry>, StoreError> {
        Ok(self.entries(pool, slot, slot, 1)?.entries.pop())
    }

    /// The pool's entries from slot `from` to `to`, both included, ascending: at most
    /// `limit` of them and never more than [`Reader::MAX_PAGE`].
    pub fn entries(
        &self,
        pool: &Pool,
        from: Slot,
        to: Slot,
        limit: usize,
    ) -> Result<Page, StoreError> {
        let doing = "reading entries";
        let limit = limit.clamp(1, Self::MAX_PAGE);
        let mut statement = self.connection.prepare_cached(sql::SELECT_ENTRIES).doing(doing)?;
        let rows = statement
            .query_map(
                named_params! {
                    ":pool_no": pool.number,
                    ":from_slot": from.number(),
                    ":to_slot": to.number(),
                    ":limit": limit.cast_signed(),
                },
                entry_row,
            )
            .doing(doing)?;
        let entries =
            rows.map(|row| check_entry(row.doing(doing)?)).collect::<Result<Vec<_>, _>>()?;
        // A page that is full may have a successor; the page after the last is empty.
        let next = match entries.last() {
            Some(last) if entries.len() == limit => last.slot.next().filter(|next| *next <= to),
            _ => None,
        };
        Ok(Page { entries, next })
    }

    /// Where the pool stands at slot `at`, or now: its newest entry at or before it, and its
    /// newest snapshot that is not retracted. `None` before its first slot.
    pub fn latest(&self, pool: &Pool, at: Option<Slot>) -> Result<Option<Latest>, StoreError> {
        let Some(entry) = self.newest_entry(pool, at.unwrap_or(Slot::LAST))? else {
            return Ok(None);
        };
        let (mut newest, mut newer_retracted) = (entry.newest_snapshot(pool), 0);
        while let Some(slot) = newest {
            if self.retraction_of(pool, slot)?.is_none() {
                break;
            }
            newer_retracted += 1;
            let before = slot.previous().filter(|before| *before >= pool.first_slot);
            let before = before.map(|before| self.newest_entry(pool, before)).transpose()?;
            newest = before.flatten().and_then(|before| before.newest_snapshot(pool));
        }
        let mut snapshot = None;
        if let Some(slot) = newest {
            let found = self.entry(pool, slot)?.map(|found| found.outcome);
            let Some(Outcome::Recorded(hash)) = found else {
                let found = format!("no snapshot at {slot}, which {} names", entry.slot);
                return Err(StoreError::CorruptRow { table: "entry", found });
            };
            snapshot = Some((slot, hash));
        }
        let since = newest.map_or(pool.first_slot.number(), |newest| newest.number() + 1);
        let retired = u32::from(entry.outcome == Outcome::Retired);
        let newer = (entry.slot.number() + 1).saturating_sub(since + newer_retracted + retired);
        Ok(Some(Latest { entry, snapshot, newer_missing: newer, newer_retracted }))
    }

    /// The pool's newest entry at or before `at`.
    pub(crate) fn newest_entry(&self, pool: &Pool, at: Slot) -> Result<Option<Entry>, StoreError> {
        let doing = "reading the newest entry";
        let mut statement =
            self.connection.prepare_cached(sql::SELECT_NEWEST_ENTRY).doing(doing)?;
        let parameters = named_params! { ":pool_no": pool.number, ":at_slot": at.number() };
        let newest = statement.query_row(parameters, entry_row).optional().doing(doing)?;
        newest.map(check_entry).transpose()
    }

    /// How many slots of the pool are recorded and not retracted, up to and with `at` or now.
    /// Kept as a running count: this reads one row.
    pub fn recorded_count(&self, pool: &Pool, at: Option<Slot>) -> Result<u32, StoreError> {
        let newest = self.newest_entry(pool, at.unwrap_or(Slot::LAST))?;
        Ok(newest.map_or(0, |newest| newest.recorded_count))
    }

    /// The pool's snapshot of `slot`; `None` where there is no entry or it is missing.
    /// Checked against its hash and against the entry.
    pub fn snapshot_at(&self, pool: &Pool, slot: Slot) -> Result<Option<Snapshot>, StoreError> {
        let Some(Entry { outcome: Outcome::Recorded(hash), .. }) = self.entry(pool, slot)? else {
            return Ok(None);
        };
        let corrupt = |what| StoreError::Corrupt { hash, what };
        let snapshot = self.snapshot(hash)?.ok_or_else(|| corrupt(CorruptBody::Absent))?;
        let (found_pool, found_slot) = (snapshot.observation().pool(), snapshot.slot());
        if *found_pool == pool.id && found_slot == slot {
            return Ok(Some(snapshot));
        }
        Err(corrupt(CorruptBody::OfAnother { pool: found_pool.clone(), slot: found_slot }))
    }

    /// The snapshot of this name, checked; `None` if the store has none.
    pub fn snapshot(&self, hash: SnapshotHash) -> Result<Option<Snapshot>, StoreError> {
        let Some(documents) = self.documents(hash)? else { return Ok(None) };
        parse(hash, &documents).map(Some)
    }

    /// The canonical bytes of the snapshot of this name and of its state, hashed again; `None` if
    /// the store has none.
    pub fn documents(&self, hash: SnapshotHash) -> Result<Option<SnapshotDocuments>, StoreError> {
        let records = self.chain(hash)?;
        let joined = unpack(&records)?.pop();
        Ok(joined.zip(records.last()).map(|(joined, row)| row.split(joined)))
    }

    /// The canonical bytes of the state of this name; `None` if no snapshot of the store is of it.
    pub fn state(&self, hash: StateHash) -> Result<Option<Vec<u8>>, StoreError> {
        let doing = "reading a state";
        let mut statement =
            self.connection.prepare_cached(sql::SELECT_BODY_BY_STATE).doing(doing)?;
        let parameters = named_params! { ":state_sha256": hash.0 };
        let snapshot = statement.query_row(parameters, |row| row.get(0)).optional().doing(doing)?;
        let Some(snapshot) = snapshot.map(SnapshotHash) else { return Ok(None) };
        Ok(self.documents(snapshot)?.map(|documents| documents.state))
    }

    /// The same of a pool's slot, where the dictionaries of the slots before may be at hand: a
    /// series is followed without unpacking them again for each slot.
    pub(crate) fn documents_after(
        &self,
        hash: SnapshotHash,
        slot: Slot,
        kept: &mut Dictionaries,
    ) -> Result<Option<SnapshotDocuments>, StoreError> {
        let Some(row) = self.body_row(hash)? else { return Ok(None) };
        self.documents_of(&row, slot, kept)
    }

    /// The same of a row that was read.
    pub(crate) fn documents_of(
        &self,
        row: &BodyRow,
        slot: Slot,
        kept: &mut Dictionaries,
    ) -> Result<Option<SnapshotDocuments>, StoreError> {
        let dictionary = row.dictionary_body_no.and_then(|body_no| kept.find(body_no));
        let lower = dictionary.is_some_and(|dictionary| dictionary.level < row.level);
        if row.level > 0 && !lower {
            let chain = self.chain(row.hash)?;
            let mut last = None;
            for (row, joined) in chain.iter().zip(unpack(&chain)?) {
                last = Some(row.split(joined.clone()));
                kept.add(Record { body_no: row.body_no, level: row.level, slot, joined });
            }
            return Ok(last);
        }
        let dictionary = dictionary.filter(|_| lower).map(|record| record.joined.as_slice());
        let joined = row.unpack(dictionary)?;
        if row.level < body::MAX_LEVEL {
            let joined = joined.clone();
            kept.add(Record { body_no: row.body_no, level: row.level, slot, joined });
        }
        Ok(Some(row.split(joined)))
    }

    /// What the store holds and weighs. Reads every row: not for requests.
    pub fn totals(&self) -> Result<Totals, StoreError> {
        let doing = "summing up the store";
        let pragma = |name| self.connection.pragma_query_value(None, name, |row| row.get(0));
        let page_bytes: i64 = pragma("page_size").doing(doing)?;
        let pages: i64 = pragma("page_count").doing(doing)?;
        self.connection
            .query_row(sql::SELECT_TOTALS, (), |row| {
                let sum = |name| row.get(name).map(i64::unsigned_abs);
                Ok(Totals {
                    snapshots: sum("snapshots")?,
                    key_records: sum("key_records")?,
                    canonical_bytes: sum("canonical_bytes")?,
                    zstd_bytes: sum("zstd_bytes")?,
                    database_bytes: page_bytes.unsigned_abs() * pages.unsigned_abs(),
                })
            })
            .doing(doing)
    }

    /// The body of this name after those it needs, each the dictionary of the next, the
    /// first standing alone. Empty if there is no such body.
    pub(crate) fn chain(&self, hash: SnapshotHash) -> Result<Vec<BodyRow>, StoreError> {
        let doing = "reading a body";
        let Some(mut row) = self.body_row(hash)? else { return Ok(Vec::new()) };
        let mut by_number = self.connection.prepare_cached(sql::SELECT_DICTIONARY).doing(doing)?;
        let mut chain = Vec::new();
        // Levels fall strictly, so that a hostile file cannot lead this round in circles.
        while row.level > 0 {
            let (level, body_no) = (row.level.min(body::MAX_LEVEL), row.dictionary_body_no);
            chain.push(row);
            let parameters = named_params! { ":body_no": body_no };
            let found = by_number.query_row(parameters, BodyRow::read).optional().doing(doing)?;
            row = found
                .filter(|found| found.level < level)
                .ok_or(StoreError::Corrupt { hash, what: CorruptBody::NoDictionary { body_no } })?;
        }
        chain.push(row);
        chain.reverse();
        Ok(chain)
    }
}

impl Reader {
    pub(crate) fn body_row(&self, hash: SnapshotHash) -> Result<Option<BodyRow>, StoreError> {
        let doing = "reading a body";
        let mut by_hash = self.connection.prepare_cached(sql::SELECT_BODY).doing(doing)?;
        let parameters = named_params! { ":snapshot_sha256": hash.0 };
        by_hash.query_row(parameters, BodyRow::read).optional().doing(doing)
    }
}

/// A row of the table of bodies, unchecked.
pub(crate) struct BodyRow {
    pub body_no: i64,
    pub level: u8,
    pub slot: Slot,
    base_slot: Option<i64>,
    dictionary_body_no: Option<i64>,
    hash: SnapshotHash,
    state: StateHash,
    snapshot_bytes: usize,
    state_bytes: usize,
    zstd: Vec<u8>,
}

impl BodyRow {
    pub(crate) fn read(row: &Row) -> rusqlite::Result<Self> {
        Ok(Self {
            body_no: row.get("body_no")?,
            level: row.get("level")?,
            slot: Columns::slot_of(row.get("slot")?)?,
            base_slot: row.get("base_slot")?,
            dictionary_body_no: row.get("dictionary_body_no")?,
            hash: SnapshotHash(row.get("snapshot_sha256")?),
            state: StateHash(row.get("state_sha256")?),
            snapshot_bytes: usize::try_from(row.get::<_, i64>("snapshot_bytes")?).unwrap_or(0),
            state_bytes: usize::try_from(row.get::<_, i64>("state_bytes")?).unwrap_or(0),
            zstd: row.get("zstd")?,
        })
    }

    /// The bytes of both documents, which must have the row's hashes.
    pub(crate) fn unpack(&self, dictionary: Option<&[u8]>) -> Result<Vec<u8>, StoreError> {
        let corrupt = |what| StoreError::Corrupt { hash: self.hash, what };
        let snapshot_bytes = self.snapshot_bytes.min(MAX_SNAPSHOT_BYTES);
        let expected = snapshot_bytes + self.state_bytes.min(MAX_STATE_BYTES);
        let joined = body::decompress(&self.zstd, expected, dictionary)
            .map_err(|error| corrupt(CorruptBody::Zstd { expected, reason: error.to_string() }))?;
        let (snapshot, state) = joined.split_at(snapshot_bytes);
        let found = Snapshot::hash_of(snapshot);
        if found != self.hash {
            return Err(corrupt(CorruptBody::Hash { found }));
        }
        let found = PoolState::hash_of(state);
        if found != self.state {
            let expected = self.state;
            return Err(corrupt(CorruptBody::State { expected, found }));
        }
        Ok(joined)
    }

    /// The body as it stands in the log's folder.
    pub(crate) fn into_frame(self) -> Result<(FrameRef, Vec<u8>), StoreError> {
        let table = "body";
        let corrupt = |found: String| StoreError::CorruptRow { table, found };
        let base = self.base_slot.map(|base| slot_of(table, base)).transpose()?;
        let back = base.map_or(Some(0), |base| self.slot.number().checked_sub(base.number()));
        let back = back.filter(|back| *back <= MAX_BACK && (*back > 0) == base.is_some());
        let back = back.ok_or_else(|| corrupt(format!("a body that refers to {base:?}")))?;
        let length = |bytes: usize| {
            u32::try_from(bytes).map_err(|_| corrupt(format!("a body of {bytes} bytes")))
        };
        let frame = FrameRef {
            back,
            bytes: length(self.zstd.len())?,
            snapshot: length(self.snapshot_bytes)?,
            state: length(self.state_bytes)?,
        };
        Ok((frame, self.zstd))
    }

    /// The body it refers to, by number; `None`: it stands alone.
    pub(crate) fn base_no(&self) -> Option<i64> {
        self.dictionary_body_no.filter(|_| self.level > 0)
    }

    /// Both documents.
    pub(crate) fn split(&self, joined: Vec<u8>) -> SnapshotDocuments {
        body::split(joined, self.snapshot_bytes)
    }
}

/// The snapshot that a body's documents are.
pub(crate) fn parse(
    hash: SnapshotHash,
    documents: &SnapshotDocuments,
) -> Result<Snapshot, StoreError> {
    Snapshot::from_canonical(&documents.snapshot, &documents.state)
        .map_err(|error| StoreError::Corrupt { hash, what: CorruptBody::NotASnapshot(error) })
}

/// The bytes of each body of a chain, all checked.
pub(crate) fn unpack(chain: &[BodyRow]) -> Result<Vec<Vec<u8>>, StoreError> {
    let mut unpacked: Vec<Vec<u8>> = Vec::with_capacity(chain.len());
    for row in chain {
        unpacked.push(row.unpack(unpacked.last().map(Vec::as_slice))?);
    }
    Ok(unpacked)
}

pub(crate) fn slot_of(table: &'static str, number: i64) -> Result<Slot, StoreError> {
    u64::try_from(number)
        .ok()
        .and_then(|number| Slot::new(number).ok())
        .ok_or_else(|| StoreError::CorruptRow { table, found: format!("slot {number}") })
}

pub(crate) type PoolRow = (i64, String, i64, i64, Option<i64>);

pub(crate) fn pool_row(row: &Row) -> rusqlite::Result<PoolRow> {
    Ok((
        row.get("pool_no")?,
        row.get("pool_id")?,
        row.get("default_base_token")?,
        row.get("first_slot")?,
        row.get("retired_slot")?,
    ))
}

pub(crate) fn check_pool(
    (number, id, base, first_slot, retired): PoolRow,
) -> Result<Pool, StoreError> {
    let table = "pool";
    let id =
        id.parse().map_err(|error| StoreError::CorruptRow { table, found: format!("{error}") });
    let default_base = direction_of(base)
        .ok_or_else(|| StoreError::CorruptRow { table, found: format!("base token {base}") });
    let first_slot = slot_of(table, first_slot)?;
    let retired_slot = retired.map(|slot| slot_of("retirement", slot)).transpose()?;
    Ok(Pool { id: id?, default_base: default_base?, first_slot, retired_slot, number })
}

pub(crate) type EntryRow = (i64, Option<[u8; 32]>, Option<String>, i64, i64);

pub(crate) fn entry_row(row: &Row) -> rusqlite::Result<EntryRow> {
    Ok((
        row.get("slot")?,
        row.get("snapshot_sha256")?,
        row.get("missing_reason")?,
        row.get("recorded_count")?,
        row.get("missing_run_slots")?,
    ))
}

pub(crate) fn check_entry((slot, hash, reason, count, run): EntryRow) -> Result<Entry, StoreError> {
    let table = "entry";
    let corrupt = |found| StoreError::CorruptRow { table, found };
    let outcome = match (hash, reason) {
        (Some(hash), None) => Outcome::Recorded(SnapshotHash(hash)),
        (None, Some(code)) => {
            // What is recorded here has a reason that is known here.
            let known = MissingReason::ALL.into_iter().find(|reason| reason.code() == code);
            Outcome::Missing(known.ok_or_else(|| corrupt(format!("the reason {code:?}")))?)
        }
        (None, None) => Outcome::Retired,
        _ => return Err(corrupt("both a snapshot and a reason".to_owned())),
    };
    let small =
        |number: i64| u32::try_from(number).map_err(|_| corrupt(format!("the count {number}")));
    let entry = Entry {
        slot: slot_of(table, slot)?,
        outcome,
        recorded_count: small(count)?,
        missing_run: small(run)?,
    };
    let recorded = matches!(outcome, Outcome::Recorded(_));
    let newest = entry.slot.number().checked_sub(entry.missing_run);
    let newest = newest.is_some_and(|newest| newest >= Slot::FIRST.number());
    let counts_agree = recorded == (entry.missing_run == 0)
        && (entry.recorded_count > 0 || !recorded)
        && (entry.recorded_count == 0 || newest);
    if counts_agree { Ok(entry) } else { Err(corrupt(format!("the counts {count} and {run}"))) }
}
