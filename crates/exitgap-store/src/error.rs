//! Errors of a store: one variant per broken rule.

use std::io;
use std::path::PathBuf;

use exitgap_core::file_errors::explained;
use exitgap_core::ids::{Contract, PoolId, SnapshotHash};
use exitgap_core::secrets::LooseMode;
use exitgap_core::series::{Day, Slot};
use exitgap_core::snapshot::SnapshotError;
use exitgap_core::tlog::CheckpointError;

use crate::claims::ClaimsError;
use crate::corrupt::{CorruptBody, CorruptHead, CorruptLog};
use crate::db::DatabaseError;
use crate::model::Outcome;
use crate::writer::changes::RetractionRule;

/// Why an operation of the store failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A server that could not be reached recently is not tried again yet.
    #[error("{path} could not be reached just now")]
    Away {
        /// Its URL.
        path: PathBuf,
    },
    /// The snapshot of a slot was archived, and no folder with its day was given.
    #[error(
        "the snapshot of {slot} was removed from the database together with those of {day}. It is in the day's \
         files, in the log's folder, from which `exitgap-server serve` and `exitgap --day <folder>` can read it. \
         If the folder lacks the slot, copy it from another folder of the log, or run `exitgap-server restore` to \
         download it from the bucket"
    )]
    Left {
        /// The slot.
        slot: Slot,
        /// Its day.
        day: Day,
    },
    /// A day has no data that could be removed.
    #[error("the store has no snapshots of {day} to remove")]
    NothingToLeave {
        /// The day.
        day: Day,
    },
    /// The files of a day lack data that was removed from the database.
    #[error(
        "the snapshot of {slot} was removed from the database, but is not in the files of its day: {path}: {why}; \
         restore this folder from a copy, such as the bucket's"
    )]
    LeftUnread {
        /// The slot.
        slot: Slot,
        /// The day's folder.
        path: PathBuf,
        /// The cause.
        why: String,
    },
    /// Others than its owner can read or write a database that contains secrets.
    #[error("{path}: {loose}")]
    LooseMode {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        loose: LooseMode,
    },
    /// The target of a copy is not empty.
    #[error("{path} already exists and is not overwritten")]
    NotEmpty {
        /// The file, or the server's URL.
        path: PathBuf,
    },
    /// The file does not exist.
    #[error("there is no store at {path}; a recorder creates the store when it first starts")]
    NotFound {
        /// The path asked for.
        path: PathBuf,
    },
    /// A server's database lacks the tables, or has an old version of them.
    #[error(
        "{path} does not have the tables of this version; run `exitgap-server migrate` to create them"
    )]
    NotMigrated {
        /// Its URL.
        path: PathBuf,
    },
    /// A role lacks permission to read a server's database.
    #[error(
        "the role of {path} is not allowed to read it; run `exitgap-server migrate` with the role's name"
    )]
    NotGranted {
        /// Its URL.
        path: PathBuf,
    },
    /// A server could not be reached.
    #[error("{path} cannot be reached: {source}")]
    Unreachable {
        /// The database's URL.
        path: PathBuf,
        /// The cause.
        source: DatabaseError,
    },
    /// The URL does not name a database. It is not shown, because it may contain a password.
    #[error("the store's URL cannot be used: {why}")]
    ServerUrl {
        /// The cause.
        why: String,
    },
    /// A role's name contains unsupported characters.
    #[error("{found:?} is not a valid role; use at most 63 letters, digits and underscores")]
    RoleName {
        /// The name.
        found: String,
    },
    /// The recording role would own the recorded data.
    #[error(
        "{role} is the recording role, so it must not own the tables; migrate as another role that can create \
         roles and schemas"
    )]
    RecorderOwns {
        /// The role.
        role: String,
    },
    /// A server's database cannot be copied to a file.
    #[error(
        "{path} is on a database server; back it up with pg_dump, or `restore` it from the published log"
    )]
    BackupOfServer {
        /// Its URL.
        path: PathBuf,
    },
    /// The file already exists.
    #[error("{path} already exists and is not changed; choose another name")]
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
        /// The id found; 0 for an empty file or one that is not a `SQLite` database.
        found: i32,
    },
    /// Fills that cannot follow a pool's previous ones.
    #[error("slot {slot}: the fills of {pool} are not written: {rule}")]
    Fills {
        /// The pool.
        pool: PoolId,
        /// The slot whose head would commit to them.
        slot: Slot,
        /// The broken rule.
        rule: String,
    },
    /// Issued estimates that a pool's head cannot commit to.
    #[error("slot {slot}: the issued estimates of {pool} are not written: {rule}")]
    Issued {
        /// The pool.
        pool: PoolId,
        /// The slot whose head would commit to them.
        slot: Slot,
        /// The broken rule.
        rule: String,
    },
    /// The file was written by a newer exitgap.
    #[error(
        "{path} has schema version {found}, but this version reads up to {expected}; use a newer exitgap"
    )]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// The version that this build reads and writes.
        expected: i32,
        /// The version found.
        found: i32,
    },
    /// The file was written by an older exitgap.
    #[error(
        "{path} has schema version {found}, but this version reads {expected}; {}",
        if *found >= crate::db::FIRST_MIGRATED {
            "stop its recorder and run `exitgap-server fsck --rebuild`, which migrates it"
        } else {
            "it is from before the first release: record into a new store"
        }
    )]
    OlderSchema {
        /// The file.
        path: PathBuf,
        /// The version that this build reads and writes.
        expected: i32,
        /// The version found.
        found: i32,
    },
    /// The key's name is not valid for a log.
    #[error("the key's name is not valid for a log: {0}")]
    LogName(CheckpointError),
    /// A successor has the same name as its predecessor.
    #[error(
        "{name} is the name of the ended log, and its successor needs a different name; create a key with \
         `exitgap-server key new --name <another name>`"
    )]
    SameName {
        /// The name.
        name: String,
    },
    /// The store's log is signed with another key, or has another name.
    #[error(
        "the store's log is signed by {expected}, but the given key is {found}; use the log's key, or, if the \
         log's key was changed after this copy of the store was made, restore into a new file"
    )]
    WrongKey {
        /// The verifier key in the store.
        expected: String,
        /// The verifier key of the given key, with the name of such a log.
        found: String,
    },
    /// None of the trusted keys belongs to the log that is followed.
    #[error("the log is {log}, but no given key has that name; found {found}")]
    OtherLogsKeys {
        /// The log's origin.
        log: String,
        /// The given keys.
        found: String,
    },
    /// A key with another name cannot sign as well.
    #[error(
        "the log is named {expected}, but the key is named {found}; create a key with `exitgap-server key new \
         --name {expected}`"
    )]
    OtherName {
        /// The log's name.
        expected: String,
        /// The key's.
        found: String,
    },
    /// A key cannot retire before its log has begun.
    #[error("the log has not started, so it has no key to retire; remove retiring_key_file")]
    KeyBeforeLog,
    /// A table, index or trigger is missing, changed or foreign, so the protection of the series is not guaranteed.
    #[error(
        "{path} was altered: {object} differs from what exitgap created; restore the file from a backup"
    )]
    SchemaAltered {
        /// The file.
        path: PathBuf,
        /// Kind and name of the first object that differs, e.g. `trigger entry_stays`.
        object: String,
    },
    /// Another process records into this store.
    #[error(
        "another recorder{} uses {path}; stop it first, or record into another store (one recorder per store)",
        holder.map(|id| format!(" (process {id})")).unwrap_or_default()
    )]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// The process named in the lock file.
        holder: Option<u32>,
    },
    /// Another recorder holds the lease on a server.
    #[error(
        "another recorder ({holder}) uses {path}, for {seconds} s more unless it continues; `exitgap-server \
         record` waits for it, but for any other command stop it first"
    )]
    Leased {
        /// The database's URL.
        path: PathBuf,
        /// The holder.
        holder: String,
        /// The seconds for which it holds without renewal.
        seconds: u64,
    },
    /// This machine's clock is too far from the server's.
    #[error(
        "this machine's clock is {} s {} the clock of the server at {path}; at most {most_s} s is allowed for a \
         recorder. Correct the wrong clock (`timedatectl` shows whether it is synchronized)",
        differs_s.unsigned_abs(),
        if *differs_s > 0 { "ahead of" } else { "behind" }
    )]
    ClockDiffers {
        /// The database's URL.
        path: PathBuf,
        /// The seconds by which it is ahead; negative if it is behind.
        differs_s: i64,
        /// The maximum.
        most_s: i64,
    },
    /// A slot was claimed with other contents.
    #[error(
        "the slot that makes the log {size} slots long was already claimed for signing, by another recorder or \
         earlier by this one; it is sealed as first claimed"
    )]
    Claimed {
        /// The log's size including the slot.
        size: u64,
    },
    /// The slot could not be claimed in the external storage, or the claim there could not be read.
    #[error(
        "the slot that makes the log {size} slots long is not sealed because of its claim: {source}"
    )]
    NotClaimed {
        /// The log's size including the slot.
        size: u64,
        /// The cause.
        source: ClaimsError,
    },
    /// A file could not be opened, created or locked.
    #[error("{path}: {}", explained(source))]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A slot that could not be published.
    #[error(
        "slot {slot} needs {found} parts, but a slot of the log can have at most {most}, so it was not written; \
         record fewer pools in one log"
    )]
    SlotTooLarge {
        /// The slot.
        slot: Slot,
        /// The number of parts needed.
        found: usize,
        /// The maximum number of parts.
        most: usize,
    },
    /// A slot without any entry.
    #[error("slot {slot} was given without entries")]
    NoEntries {
        /// The slot.
        slot: Slot,
    },
    /// A pool is repeated in a slot.
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
    /// The slot is before the store's first.
    #[error(
        "slot {found} is before the store's first slot, {first}; earlier slots cannot be added"
    )]
    BeforeFirstSlot {
        /// The store's first slot.
        first: Slot,
        /// The given slot.
        found: Slot,
    },
    /// A snapshot of another slot.
    #[error("the snapshot of {pool} belongs to slot {found}, not to {expected}")]
    SnapshotOfOtherSlot {
        /// The pool.
        pool: PoolId,
        /// The slot that is being written.
        expected: Slot,
        /// The snapshot's slot.
        found: Slot,
    },
    /// Two snapshots of one contract in one slot.
    #[error(
        "pools of {contract} have different snapshots in slot {slot}; a contract must have one snapshot"
    )]
    SnapshotsDiffer {
        /// The slot.
        slot: Slot,
        /// The contract.
        contract: Contract,
    },
    /// A snapshot of another pool.
    #[error("the snapshot given for {expected} belongs to {found}")]
    SnapshotOfOtherPool {
        /// The pool that is being written.
        expected: PoolId,
        /// The snapshot's pool.
        found: PoolId,
    },
    /// A sealed slot was given again with other contents.
    #[error("slot {slot} of {pool} is recorded as {recorded:?} and cannot become {offered:?}")]
    EntryDiffers {
        /// The slot.
        slot: Slot,
        /// The pool.
        pool: PoolId,
        /// The stored entry.
        recorded: Outcome,
        /// The given entry.
        offered: Outcome,
    },
    /// The snapshot has no canonical bytes, or too many.
    #[error("the snapshot of {pool} cannot be stored: {error}")]
    Snapshot {
        /// The pool.
        pool: PoolId,
        /// The cause.
        error: SnapshotError,
    },
    /// A stored body does not match its hash.
    #[error("the stored body of snapshot {hash} is damaged: {what}")]
    Corrupt {
        /// The requested snapshot.
        hash: SnapshotHash,
        /// The damage.
        what: CorruptBody,
    },
    /// Sealing was requested in a store that only follows a log.
    #[error("this store follows a log sealed elsewhere, and has no key to seal a slot")]
    NoSigner,
    /// A restored slot does not give the signed checkpoint.
    #[error(
        "slot {slot} gives a different checkpoint from the signed one: {found:?} instead of {expected:?}"
    )]
    SealedOtherwise {
        /// The slot.
        slot: Slot,
        /// The signed checkpoint.
        expected: String,
        /// The checkpoint from the slot's entries.
        found: String,
    },
    /// A head, leaf or checkpoint cannot be built from the given data.
    #[error("sealing slot {slot}: {reason}")]
    Seal {
        /// The slot.
        slot: Slot,
        /// Which document, and the cause.
        reason: String,
    },
    /// A pool's entry does not give the sealed head.
    #[error("the head of {pool} at {slot} is damaged: {what}")]
    CorruptHead {
        /// The pool.
        pool: PoolId,
        /// The slot.
        slot: Slot,
        /// The damage.
        what: CorruptHead,
    },
    /// The log's rows do not give what was sealed and signed.
    #[error("the log is damaged at {slot}: {what}")]
    CorruptLog {
        /// The slot.
        slot: Slot,
        /// The damage.
        what: CorruptLog,
    },
    /// The database reports damage in its own file.
    #[error("the database's pages are damaged: {found}")]
    Pages {
        /// The first damage reported.
        found: String,
    },
    /// A table has other rows than the series gives.
    #[error(
        "{table} has {found} rows, but the series gives {expected}{}",
        if matches!(*table, "figures" | "week" | "day" | "standing") {
            "; run `exitgap-server fsck --rebuild` to rebuild these rows"
        } else {
            ""
        }
    )]
    Rows {
        /// The table.
        table: &'static str,
        /// The number of rows that the series gives.
        expected: u64,
        /// Rows found.
        found: u64,
    },
    /// A row has a value that the store never writes.
    #[error("the store is damaged: {table} contains {found}")]
    CorruptRow {
        /// The table.
        table: &'static str,
        /// The value found.
        found: String,
    },
    /// A retired pool has a further entry, or is retired again.
    #[error(
        "{pool} retired at slot {retired}; retirement is final, and the pool cannot be recorded again in this log"
    )]
    PoolRetired {
        /// The pool.
        pool: PoolId,
        /// The slot of its last entry.
        retired: Slot,
    },
    /// A pool that is not in the store, or that has another entry in the slot, cannot retire.
    #[error("{pool} cannot retire at slot {slot}: {rule}")]
    Retirement {
        /// The pool.
        pool: PoolId,
        /// The slot of the retirement.
        slot: Slot,
        /// The broken rule.
        rule: &'static str,
    },
    /// A slot that cannot be retracted, or not by this slot.
    #[error("slot {slot} of {pool} cannot be retracted at {by}: {rule}")]
    Retraction {
        /// The pool.
        pool: PoolId,
        /// The slot to be retracted.
        slot: Slot,
        /// The slot whose head would retract it.
        by: Slot,
        /// The broken rule.
        rule: RetractionRule,
    },
    /// A sealed slot was given again with other retractions or retirements.
    #[error("slot {slot} of {pool} is sealed with other retractions or another retirement")]
    ChangesDiffer {
        /// The slot.
        slot: Slot,
        /// The first pool whose head differs.
        pool: PoolId,
    },
    /// A derived row does not follow from the series. The series itself is valid.
    #[error(
        "{table} has values for {pool} at {at} that do not follow from the series; run `exitgap-server fsck \
         --rebuild` to rebuild these rows"
    )]
    Derived {
        /// The table.
        table: &'static str,
        /// The pool.
        pool: PoolId,
        /// The slot, or the first slot of a day.
        at: Slot,
    },
    /// It is unknown whether the slot was written. Reopen the store and give the same slot again, which is accepted.
    #[error("committing slot {slot} failed, and it is unknown whether it was written: {source}")]
    CommitUnknown {
        /// The slot.
        slot: Slot,
        /// The database's error.
        source: DatabaseError,
    },
    /// The write-ahead log could not be checkpointed. Committed data is safe in it.
    #[error(
        "merging the write-ahead log into the database failed: {source}; committed data is safe; check the disk"
    )]
    Fold {
        /// The database's error.
        source: DatabaseError,
    },
    /// A thread of a check ended early.
    #[error("the check was interrupted; see the process's log for the reason")]
    Interrupted,
    /// Compressing failed.
    #[error("compressing the snapshot of {pool}: {source}")]
    Compress {
        /// The pool.
        pool: PoolId,
        /// zstd's error.
        source: io::Error,
    },
    /// The database refused the operation. Nothing was written.
    #[error("{doing}: {source}")]
    Database {
        /// The operation.
        doing: &'static str,
        /// The database's error.
        source: DatabaseError,
    },
}
