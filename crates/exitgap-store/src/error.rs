//! What can go wrong with a store: one variant per broken rule.

use std::io;
use std::path::PathBuf;

use exitgap_core::ids::{HeadHash, PoolId, SnapshotHash, StateHash};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::SnapshotError;
use exitgap_core::tlog::{CheckpointError, Hash};

use crate::model::Outcome;

/// Why the store did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no such file.
    #[error("there is no store at {path}; a recorder creates it with its first start")]
    NotFound {
        /// The path asked for.
        path: PathBuf,
    },
    /// A file is there already.
    #[error("{path} exists already and is left as it is; choose another name")]
    AlreadyExists {
        /// The path asked for.
        path: PathBuf,
    },
    /// The file is something else.
    #[error(
        "{path} is not an exitgap store: its application id is {found:#010x}, not {expected:#010x}"
    )]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// The application id of stores.
        expected: i32,
        /// The one found; 0 for a file that is no `SQLite` database or an empty one.
        found: i32,
    },
    /// The file was written by a newer exitgap.
    #[error(
        "{path} has schema version {found}, and this build reads up to {expected}; use a newer exitgap"
    )]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// The version this build reads and writes.
        expected: i32,
        /// The version found.
        found: i32,
    },
    /// The file was written by an older exitgap, from before the first release.
    #[error(
        "{path} has schema version {found}, and this build reads {expected}; record into a new store"
    )]
    OlderSchema {
        /// The file.
        path: PathBuf,
        /// The version this build reads and writes.
        expected: i32,
        /// The version found.
        found: i32,
    },
    /// The key's name cannot be a log's.
    #[error("the key's name cannot be a log's: {0}")]
    LogName(CheckpointError),
    /// A successor has its predecessor's name.
    #[error(
        "{name} is the name of the log that ended, and its successor needs another: make a key with \
         `exitgap-server key new --name <another name>`"
    )]
    SameName {
        /// The name.
        name: String,
    },
    /// The store's log is signed by another key, or has another name.
    #[error(
        "the store's log is signed by {expected}, and the key given makes {found}; give its own key, or, \
         where the log's key was changed after this copy of its store was made, restore into a new file"
    )]
    WrongKey {
        /// The verifier key in the store.
        expected: String,
        /// That of the key given, under the name of such a log.
        found: String,
    },
    /// A key of another name is to sign, too.
    #[error(
        "the log is named {expected}, and the key {found}; make one with `exitgap-server key new --name {expected}`"
    )]
    OtherName {
        /// The log's name.
        expected: String,
        /// The key's.
        found: String,
    },
    /// A key is to retire before its log has begun.
    #[error("the log has not begun, so that no key of it can retire; take retiring_key_file out")]
    KeyBeforeLog,
    /// A table, index or trigger is missing, changed or foreign: what protects the
    /// series cannot be relied on.
    #[error(
        "{path} was altered: {object} is not as exitgap made it; restore the file from a backup"
    )]
    SchemaAltered {
        /// The file.
        path: PathBuf,
        /// Kind and name of the first object that differs, e.g. `trigger entry_stays`.
        object: String,
    },
    /// Another process records into this store.
    #[error(
        "another recorder{} holds {path}; stop it first, or record into another store (one recorder per store)",
        holder.map(|id| format!(" (process {id})")).unwrap_or_default()
    )]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// The process that wrote itself into the lock file.
        holder: Option<u32>,
    },
    /// A file could not be opened, created or locked.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A slot that could not be published.
    #[error(
        "slot {slot} needs {found} parts, more than the {most} that a slot of the log may have: nothing \
         of it was written; record fewer pools in one log"
    )]
    SlotTooLarge {
        /// The slot.
        slot: Slot,
        /// Parts it needs.
        found: usize,
        /// Parts it may have.
        most: usize,
    },
    /// A slot without any entry.
    #[error("slot {slot} was given without entries")]
    NoEntries {
        /// The slot.
        slot: Slot,
    },
    /// A pool comes twice in one slot.
    #[error("slot {slot} was given two entries for {pool}")]
    PoolRepeated {
        /// The slot.
        slot: Slot,
        /// The pool.
        pool: PoolId,
    },
    /// A pool of the store has no entry in a slot.
    #[error("slot {slot} was given without an entry for {pool}, which is in the store")]
    PoolWithoutEntry {
        /// The slot.
        slot: Slot,
        /// The pool.
        pool: PoolId,
    },
    /// A pool has an entry in a slot that was sealed before the pool was known.
    #[error("slot {slot} is sealed without {pool}")]
    PoolNotInSlot {
        /// The slot.
        slot: Slot,
        /// The pool.
        pool: PoolId,
    },
    /// The slot lies before the store's first.
    #[error("slot {found} lies before the store's first, {first}; the past is not read in")]
    BeforeFirstSlot {
        /// The store's first slot.
        first: Slot,
        /// The slot given.
        found: Slot,
    },
    /// A snapshot of another slot.
    #[error("the snapshot of {pool} belongs to slot {found}, not to {expected}")]
    SnapshotOfOtherSlot {
        /// The pool.
        pool: PoolId,
        /// The slot that is written.
        expected: Slot,
        /// The snapshot's slot.
        found: Slot,
    },
    /// A snapshot of another pool.
    #[error("the snapshot given for {expected} is one of {found}")]
    SnapshotOfOtherPool {
        /// The pool that is written.
        expected: PoolId,
        /// The snapshot's pool.
        found: PoolId,
    },
    /// A slot that is sealed was given again with something else.
    #[error("slot {slot} of {pool} is recorded as {recorded:?} and cannot become {offered:?}")]
    EntryDiffers {
        /// The slot.
        slot: Slot,
        /// The pool.
        pool: PoolId,
        /// What the store holds.
        recorded: Outcome,
        /// What was given now.
        offered: Outcome,
    },
    /// The snapshot has no canonical bytes, or too many.
    #[error("the snapshot of {pool} cannot be stored: {error}")]
    Snapshot {
        /// The pool.
        pool: PoolId,
        /// Why.
        error: SnapshotError,
    },
    /// A stored body is not what its name says.
    #[error("the stored body of snapshot {hash} is damaged: {what}")]
    Corrupt {
        /// The snapshot asked for.
        hash: SnapshotHash,
        /// What is wrong.
        what: CorruptBody,
    },
    /// A slot to be restored does not make the checkpoint that was signed.
    #[error(
        "slot {slot} makes another checkpoint than the one signed: {found:?}, not {expected:?}"
    )]
    SealedOtherwise {
        /// The slot.
        slot: Slot,
        /// The checkpoint as it was signed.
        expected: String,
        /// What the slot's entries make.
        found: String,
    },
    /// A head, leaf or checkpoint cannot be made of what was given.
    #[error("sealing slot {slot}: {reason}")]
    Seal {
        /// The slot.
        slot: Slot,
        /// Which document, and why.
        reason: String,
    },
    /// What a pool's entry makes is not the head that was sealed.
    #[error("the head of {pool} at {slot} is damaged: {what}")]
    CorruptHead {
        /// The pool.
        pool: PoolId,
        /// The slot.
        slot: Slot,
        /// What is wrong.
        what: CorruptHead,
    },
    /// What the log's rows make is not what was sealed and signed.
    #[error("the log is damaged at {slot}: {what}")]
    CorruptLog {
        /// The slot.
        slot: Slot,
        /// What is wrong.
        what: CorruptLog,
    },
    /// `SQLite` finds its own file damaged.
    #[error("the database's pages are damaged: {found}")]
    Pages {
        /// What it says first.
        found: String,
    },
    /// A table has other rows than the series makes.
    #[error(
        "{table} has {found} rows, and the series makes {expected}{}",
        if matches!(*table, "figures" | "day" | "standing") {
            "; `exitgap-server fsck --rebuild` makes such rows anew"
        } else {
            ""
        }
    )]
    Rows {
        /// The table.
        table: &'static str,
        /// Rows that the series makes.
        expected: u64,
        /// Rows found.
        found: u64,
    },
    /// A row holds what the store never writes.
    #[error("the store is damaged: {table} holds {found}")]
    CorruptRow {
        /// The table.
        table: &'static str,
        /// What was found.
        found: String,
    },
    /// A pool that is monitored no longer has an entry, or is to retire again.
    #[error(
        "{pool} retired at slot {retired}, which is final: it is never recorded again under this log"
    )]
    PoolRetired {
        /// The pool.
        pool: PoolId,
        /// The slot of its last entry.
        retired: Slot,
    },
    /// A pool that is not in the store cannot retire, nor one that has another entry in the slot.
    #[error("{pool} cannot retire at slot {slot}: {rule}")]
    Retirement {
        /// The pool.
        pool: PoolId,
        /// The slot it was to retire in.
        slot: Slot,
        /// Why not.
        rule: &'static str,
    },
    /// A slot that cannot be taken back, or not by this one.
    #[error("slot {slot} of {pool} cannot be retracted at {by}: {rule}")]
    Retraction {
        /// The pool.
        pool: PoolId,
        /// The slot to be taken back.
        slot: Slot,
        /// The slot whose head was to say so.
        by: Slot,
        /// The rule it breaks.
        rule: RetractionRule,
    },
    /// A slot that is sealed was given again with other retractions or retirements.
    #[error("slot {slot} of {pool} is sealed with other retractions or another retirement")]
    ChangesDiffer {
        /// The slot.
        slot: Slot,
        /// The first pool whose head differs.
        pool: PoolId,
    },
    /// A derived row is not what follows from the series. The series itself holds.
    #[error(
        "{table} says of {pool} at {at} what does not follow from the series; \
         `exitgap-server fsck --rebuild` makes such rows anew"
    )]
    Derived {
        /// The table.
        table: &'static str,
        /// The pool.
        pool: PoolId,
        /// The slot; the first one of a day.
        at: Slot,
    },
    /// Committing failed: whether the slot is written is not known. Open the store anew and
    /// give the same slot again: if it is there, the identical rewrite is accepted.
    #[error("committing slot {slot} failed, and whether it was written is unknown: {source}")]
    CommitUnknown {
        /// The slot.
        slot: Slot,
        /// What `SQLite` said.
        source: rusqlite::Error,
    },
    /// The write-ahead log could not be folded into the database. All that was committed is safe
    /// in it, and is there when the store is opened anew.
    #[error(
        "folding the write-ahead log into the database failed: {source}; what was committed is safe \
         in the log, and the disk is to be looked at"
    )]
    Fold {
        /// What `SQLite` said.
        source: rusqlite::Error,
    },
    /// A thread of a check ended before it was done.
    #[error("the check was cut off; the process's own log says why")]
    Interrupted,
    /// Compressing failed.
    #[error("compressing the snapshot of {pool}: {source}")]
    Compress {
        /// The pool.
        pool: PoolId,
        /// What zstd said.
        source: io::Error,
    },
    /// `SQLite` refused. Nothing was written.
    #[error("{doing}: {source}")]
    Sqlite {
        /// What was being done.
        doing: &'static str,
        /// What `SQLite` said.
        source: rusqlite::Error,
    },
}

/// Why a slot is not taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RetractionRule {
    /// The pool is not in the store.
    #[error("the store has no such pool")]
    UnknownPool,
    /// It is missing, or not in the store.
    #[error("it has no snapshot to take back")]
    NotRecorded,
    /// It was taken back before, or is given twice.
    #[error("it is retracted already")]
    Twice,
    /// Not 1 to 288 slots back.
    #[error("only the 288 slots before it can be")]
    TooFar,
    /// The block it was read at is the one on the final chain.
    #[error("it was read at that very block")]
    SameBlock,
}

/// What is wrong with a stored body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CorruptBody {
    /// An entry names the snapshot, but it is not there.
    #[error("it is not in the store")]
    Absent,
    /// It refers to a dictionary that is not there, or to none of a lower level.
    #[error("its dictionary, body {body_no:?}, is not one of a lower level")]
    NoDictionary {
        /// The number of the dictionary's row.
        body_no: Option<i64>,
    },
    /// It does not decompress within the size written beside it.
    #[error("it does not decompress to {expected} bytes ({reason})")]
    Zstd {
        /// The size written beside it.
        expected: usize,
        /// What zstd said, or the size found.
        reason: String,
    },
    /// It hashes to something else.
    #[error("its bytes hash to {found}")]
    Hash {
        /// The hash of the bytes found.
        found: SnapshotHash,
    },
    /// Its state hashes to something else.
    #[error("its state is named {expected}, and hashes to {found}")]
    State {
        /// The hash written beside it.
        expected: StateHash,
        /// The hash of the bytes found.
        found: StateHash,
    },
    /// It hashes rightly but is no snapshot this build accepts.
    #[error("{0}")]
    NotASnapshot(SnapshotError),
    /// It is the snapshot of another pool or slot than the entry that names it.
    #[error("it is the snapshot of {pool} at {slot}")]
    OfAnother {
        /// The snapshot's pool.
        pool: PoolId,
        /// The snapshot's slot.
        slot: Slot,
    },
}

/// What is wrong with a stored head.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CorruptHead {
    /// The entry before, whose hash it holds, is not there.
    #[error("the entry before it is not in the store")]
    NoPredecessor,
    /// Its bytes hash to something else.
    #[error("its bytes hash to {found}, sealed was {expected}")]
    Hash {
        /// The hash that was sealed.
        expected: HeadHash,
        /// The hash of what the rows make.
        found: HeadHash,
    },
    /// It is not there, does not follow the head before, or has no canonical form.
    #[error("{0}")]
    Rule(String),
}

/// What is wrong with the stored log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CorruptLog {
    /// The slot, or the log's own row, is not there.
    #[error("{0} is not in the store")]
    Absent(&'static str),
    /// The verifier key is none, or not of a log that begins where the store does.
    #[error("the verifier key {found:?} is not that of this log")]
    VerifierKey {
        /// The text found.
        found: String,
    },
    /// Fewer or more pools than the leaf says.
    #[error("it seals {expected} pools, and {found} have a head")]
    Pools {
        /// What the leaf says.
        expected: u32,
        /// Heads found.
        found: usize,
    },
    /// The heads' root is another.
    #[error("the root over its heads is {found}, sealed was {expected}")]
    HeadsRoot {
        /// What the leaf says.
        expected: Hash,
        /// What the heads make.
        found: Hash,
    },
    /// A tile of the tree over the slot's heads is absent, or not what they make.
    #[error("tile {index} of level {level} of the tree over its heads is absent or another")]
    SlotTile {
        /// Level 0 are the tiles of heads, level 1 is that of their roots.
        level: u32,
        /// The tile's index.
        index: usize,
    },
    /// A node of the log's tree is another.
    #[error("node {index} of level {level} of the log is {found}, its children make {expected}")]
    Node {
        /// The node's level; 0 are the leaves.
        level: u32,
        /// The node's index.
        index: u64,
        /// What its children, or the slot's leaf, make.
        expected: Hash,
        /// What the store holds.
        found: Hash,
    },
    /// The checkpoint is none, or does not say what the store holds.
    #[error("its checkpoint {0}")]
    Checkpoint(String),
}

/// Puts what was being done beside `SQLite`'s error.
pub(crate) trait Doing<T> {
    fn doing(self, doing: &'static str) -> Result<T, StoreError>;
}

impl<T> Doing<T> for Result<T, rusqlite::Error> {
    fn doing(self, doing: &'static str) -> Result<T, StoreError> {
        self.map_err(|source| StoreError::Sqlite { doing, source })
    }
}
