//! What can go wrong with a store: one variant per broken rule.

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

/// Why the store did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A server that was not reached a moment ago is not asked again yet.
    #[error("{path} could not be reached just now")]
    Away {
        /// Its URL.
        path: PathBuf,
    },
    /// The snapshot of a slot has left the database, and nobody said where its day is.
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
    /// There is nothing of a day that could leave.
    #[error("the store has no snapshots of {day} to remove")]
    NothingToLeave {
        /// The day.
        day: Day,
    },
    /// The files of a day do not have what has left the database.
    #[error(
        "the snapshot of {slot} was removed from the database, but is not in the files of its day: {path}: {why}; \
         restore this folder from a copy, such as the bucket's"
    )]
    LeftUnread {
        /// The slot.
        slot: Slot,
        /// The day's folder.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Others than its owner may read or write a database that holds secrets.
    #[error("{path}: {loose}")]
    LooseMode {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        loose: LooseMode,
    },
    /// There is something already where all of another database is to be copied to.
    #[error("{path} already exists and is not overwritten")]
    NotEmpty {
        /// The file, or the server's URL.
        path: PathBuf,
    },
    /// There is no such file.
    #[error("there is no store at {path}; a recorder creates the store when it first starts")]
    NotFound {
        /// The path asked for.
        path: PathBuf,
    },
    /// A server's database has no tables, or old ones.
    #[error(
        "{path} does not have the tables of this version; run `exitgap-server migrate` to create them"
    )]
    NotMigrated {
        /// Its URL.
        path: PathBuf,
    },
    /// A role may not read a server's database.
    #[error(
        "the role of {path} is not allowed to read it; run `exitgap-server migrate` with the role's name"
    )]
    NotGranted {
        /// Its URL.
        path: PathBuf,
    },
    /// A server was not reached.
    #[error("{path} cannot be reached: {source}")]
    Unreachable {
        /// The database's URL.
        path: PathBuf,
        /// Why not.
        source: DatabaseError,
    },
    /// A URL names no database. It is not shown: it may hold a password.
    #[error("the store's URL cannot be used: {why}")]
    ServerUrl {
        /// What is wrong with it.
        why: String,
    },
    /// A role's name is unusual.
    #[error("{found:?} is not a valid role; use at most 63 letters, digits and underscores")]
    RoleName {
        /// The name.
        found: String,
    },
    /// Whoever records would own what is recorded.
    #[error(
        "{role} is the recording role, so it must not own the tables; migrate as another role that can create \
         roles and schemas"
    )]
    RecorderOwns {
        /// The role.
        role: String,
    },
    /// A server's database is to be copied into a file.
    #[error(
        "{path} is on a database server; back it up with pg_dump, or `restore` it from the published log"
    )]
    BackupOfServer {
        /// Its URL.
        path: PathBuf,
    },
    /// A file is there already.
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
        /// The one found; 0 for a file that is no `SQLite` database or an empty one.
        found: i32,
    },
    /// Fills that cannot be a pool's next ones.
    #[error("slot {slot}: the fills of {pool} are not written: {rule}")]
    Fills {
        /// The pool.
        pool: PoolId,
        /// The slot whose head would commit to them.
        slot: Slot,
        /// What they break.
        rule: String,
    },
    /// Issued estimates that a pool's head cannot commit to.
    #[error("slot {slot}: the issued estimates of {pool} are not written: {rule}")]
    Issued {
        /// The pool.
        pool: PoolId,
        /// The slot whose head would commit to them.
        slot: Slot,
        /// What they break.
        rule: String,
    },
    /// The file was written by a newer exitgap.
    #[error(
        "{path} has schema version {found}, but this version reads up to {expected}; use a newer exitgap"
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
        "{path} has schema version {found}, but this version reads {expected}; record into a new store"
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
    #[error("the key's name is not valid for a log: {0}")]
    LogName(CheckpointError),
    /// A successor has its predecessor's name.
    #[error(
        "{name} is the name of the ended log, and its successor needs a different name; create a key with \
         `exitgap-server key new --name <another name>`"
    )]
    SameName {
        /// The name.
        name: String,
    },
    /// The store's log is signed by another key, or has another name.
    #[error(
        "the store's log is signed by {expected}, but the given key is {found}; use the log's key, or, if the \
         log's key was changed after this copy of the store was made, restore into a new file"
    )]
    WrongKey {
        /// The verifier key in the store.
        expected: String,
        /// That of the key given, under the name of such a log.
        found: String,
    },
    /// None of the keys that are trusted is of the log that is followed.
    #[error("the log is {log}, but no given key has that name; found {found}")]
    OtherLogsKeys {
        /// The log's origin.
        log: String,
        /// The keys given.
        found: String,
    },
    /// A key of another name is to sign, too.
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
    /// A key is to retire before its log has begun.
    #[error("the log has not started, so it has no key to retire; remove retiring_key_file")]
    KeyBeforeLog,
    /// A table, index or trigger is missing, changed or foreign: what protects the series cannot be relied on.
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
        /// The process that wrote itself into the lock file.
        holder: Option<u32>,
    },
    /// Another recorder seals on a server.
    #[error(
        "another recorder ({holder}) uses {path}, for {seconds} s more unless it continues; `exitgap-server \
         record` waits for it, but for any other command stop it first"
    )]
    Leased {
        /// The database's URL.
        path: PathBuf,
        /// Who holds it.
        holder: String,
        /// How long it holds if it is not renewed.
        seconds: u64,
    },
    /// This machine's clock is far from the server's.
    #[error(
        "this machine's clock is {} s {} the clock of the server at {path}; at most {most_s} s is allowed for a \
         recorder. Correct the wrong clock (`timedatectl` shows whether it is synchronized)",
        differs_s.unsigned_abs(),
        if *differs_s > 0 { "ahead of" } else { "behind" }
    )]
    ClockDiffers {
        /// The database's URL.
        path: PathBuf,
        /// By how much it is ahead; below zero: behind.
        differs_s: i64,
        /// How much it may be.
        most_s: i64,
    },
    /// A slot was claimed with another content.
    #[error(
        "the slot that makes the log {size} slots long was already claimed for signing, by another recorder or \
         earlier by this one; it is sealed as first claimed"
    )]
    Claimed {
        /// The log's size with the slot.
        size: u64,
    },
    /// What is about to be signed could not be claimed outside of the database, or what is claimed there could not be read.
    #[error(
        "the slot that makes the log {size} slots long is not sealed because of its claim: {source}"
    )]
    NotClaimed {
        /// The log's size with the slot.
        size: u64,
        /// Why.
        source: ClaimsError,
    },
    /// A file could not be opened, created or locked.
    #[error("{path}: {}", explained(source))]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
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
    #[error(
        "slot {found} is before the store's first slot, {first}; earlier slots cannot be added"
    )]
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
    /// Something was to be sealed in a store that follows a log which others seal.
    #[error("this store follows a log sealed elsewhere, and has no key to seal a slot")]
    NoSigner,
    /// A slot to be restored does not make the checkpoint that was signed.
    #[error(
        "slot {slot} gives a different checkpoint from the signed one: {found:?} instead of {expected:?}"
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
    /// The database finds its own file damaged.
    #[error("the database's pages are damaged: {found}")]
    Pages {
        /// What it says first.
        found: String,
    },
    /// A table has other rows than the series makes.
    #[error(
        "{table} has {found} rows, but the series gives {expected}{}",
        if matches!(*table, "figures" | "day" | "standing") {
            "; run `exitgap-server fsck --rebuild` to rebuild these rows"
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
    #[error("the store is damaged: {table} contains {found}")]
    CorruptRow {
        /// The table.
        table: &'static str,
        /// What was found.
        found: String,
    },
    /// A pool that is monitored no longer has an entry, or is to retire again.
    #[error(
        "{pool} retired at slot {retired}; retirement is final, and the pool cannot be recorded again in this log"
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
        "{table} has values for {pool} at {at} that do not follow from the series; run `exitgap-server fsck \
         --rebuild` to rebuild these rows"
    )]
    Derived {
        /// The table.
        table: &'static str,
        /// The pool.
        pool: PoolId,
        /// The slot; the first one of a day.
        at: Slot,
    },
    /// Whether the slot is written is not known. Open the store anew, and give the same slot again: that is accepted.
    #[error("committing slot {slot} failed, and it is unknown whether it was written: {source}")]
    CommitUnknown {
        /// The slot.
        slot: Slot,
        /// What the database said.
        source: DatabaseError,
    },
    /// The write-ahead log could not be folded into the database. What was committed is safe in it.
    #[error(
        "merging the write-ahead log into the database failed: {source}; committed data is safe; check the disk"
    )]
    Fold {
        /// What the database said.
        source: DatabaseError,
    },
    /// A thread of a check ended before it was done.
    #[error("the check was interrupted; see the process's log for the reason")]
    Interrupted,
    /// Compressing failed.
    #[error("compressing the snapshot of {pool}: {source}")]
    Compress {
        /// The pool.
        pool: PoolId,
        /// What zstd said.
        source: io::Error,
    },
    /// The database refused. Nothing was written.
    #[error("{doing}: {source}")]
    Database {
        /// What was being done.
        doing: &'static str,
        /// What the database said.
        source: DatabaseError,
    },
}
