//! The command line of `exitgap-server`: `init`, `key new`, `check`, `migrate`, `record`, `serve`, `alerts`,
//! `follow`, `witness`, `evidence`, `fsck`, `backup`, `restore`, `successor`, `try`.

mod alerts;
mod bucket;
mod check;
mod databases;
mod days;
mod evidence;
mod follow;
mod fsck;
mod http_server;
mod init;
mod key;
mod migrate;
mod peers;
mod prune;
mod record;
mod restore;
mod serve;
mod slot_arg;
mod successor;
mod try_sample;
mod witness;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use exitgap_core::file_errors::explained;
use exitgap_sample::ArchiveError;
use exitgap_store::days::DaysError;
use exitgap_store::proofs::ProofsError;
use exitgap_store::{
    Damage, EvidenceError, FollowError, PublishError, Reader, RestoreError, StoreError,
    SuccessorError,
};

use crate::alerts::AlertsStartError;
use crate::bucket::BucketError;
use crate::config::{CheckedConfig, ConfigError};
use crate::http::ListenError;
use crate::payments::TillError;
use crate::peers::FollowersError;
use crate::recorder::RecorderError;
use crate::replica::ReplicaError;
use crate::witness::StandError;
use alerts::{AlertsArgs, alerts};
use check::check;
use days::days;
use evidence::{EvidenceArgs, evidence};
use follow::{FollowArgs, follow};
use fsck::fsck;
use init::{InitArgs, InitError, init};
use key::{KeyCommand, KeyError, new_alert_key, new_key, new_receipt_key, new_witness_key};
use migrate::{MigrateArgs, migrate};
use prune::{PruneArgs, prune};
use record::{RecordArgs, record};
use restore::restore;
use serve::{ServeArgs, serve};
use successor::{SuccessorArgs, successor};
use try_sample::{TryArgs, try_sample};
use witness::{WitnessArgs, witness};

/// Record the depth of liquidity pools every five minutes, append-only.
///
/// Start with `exitgap-server init`, add your nodes to the file it writes, test them with `check`,
/// create a key with `key new`, then keep `record` running, or `serve`, which also answers over
/// HTTP. `exitgap --db <store>` reads the recorded data at any time.
#[derive(Debug, Parser)]
#[command(name = "exitgap-server", version, after_long_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  failed, or `check` found an error; see standard error for what to do
  2  the command line is wrong";

#[derive(Debug, Subcommand)]
enum Command {
    /// Write a first configuration file.
    ///
    /// With --chain, --rpc and --pool, it reads the pools from the nodes and writes a file that
    /// passes `check`. On a terminal, it asks for missing values. Otherwise it writes a commented
    /// example with well-known Ethereum pools and feeds that explains every key. An existing file
    /// is never overwritten.
    Init(InitArgs),
    /// Create the keys that sign recorded data.
    #[command(subcommand)]
    Key(KeyCommand),
    /// Check the configuration, then query every node, pool and oracle.
    ///
    /// Prints one line for each: `ok`, `warning` (recorded, but marked or at risk) or `error` (its
    /// slots would be missing). Writes nothing.
    Check {
        /// The configuration file.
        #[arg(long, value_name = "FILE", default_value = "exitgap.toml")]
        config: PathBuf,
    },
    /// Turn a `PostgreSQL` database into a store, or upgrade it to this version.
    ///
    /// Requires [store] path = postgresql://<recorder>@<host>/<database>. Creates the database, the
    /// recorder's role, a role without login that owns the tables, the tables, and triggers that
    /// prevent even the recorder from changing recorded data. Existing objects are left unchanged.
    /// Afterwards `restore` loads an earlier log, or `record` starts a new one.
    Migrate(MigrateArgs),
    /// Record every slot until stopped.
    ///
    /// A slot is five minutes. At the slot's time, all pools are read at the last block before it.
    /// 60 seconds later the slot is sealed; pools that were not read are missing, with a reason.
    /// SIGTERM or Ctrl-C finishes the current slot; a second one stops at once. Slots that pass
    /// while no recorder runs stay missing permanently (`recorder_down`).
    Record(RecordArgs),
    /// Record, and answer over HTTP, in one process.
    ///
    /// The REST surface under /v1, evidence under /api/v1, the published log under /log, a
    /// reference at /docs, and /livez, /readyz and /metrics for operators. SIGTERM or Ctrl-C
    /// finishes the current slot and open requests.
    Serve(ServeArgs),
    /// Follow another operator's log as a replica, and answer from it.
    ///
    /// Anyone can do this: it needs no key and no node, only the log's address and the public key
    /// that signs the log. Every published slot is downloaded, recomputed and checked against its
    /// signature before it is served, so a replica audits what it shows. Data that contradicts
    /// earlier data is refused and kept as proof. Answers and evidence equal those of the recording
    /// service. SIGTERM or Ctrl-C finishes the current slot.
    Follow(FollowArgs),
    /// Evaluate stored alert rules and send their events.
    ///
    /// `serve` does this too if [alerts] is enabled; use this command for a separate process.
    /// Running both is harmless, because an event has the same id in each. SIGTERM or Ctrl-C waits
    /// for events that are being sent.
    Alerts(AlertsArgs),
    /// Cosign checkpoints of other operators' logs, as a witness.
    ///
    /// A checkpoint is cosigned if the log's key signed it and it extends the last checkpoint that
    /// was cosigned. So a witnessed log has one history and existed at the time of the cosignature.
    /// `serve` does this too if [witness] lists logs; use this command on a machine that does not
    /// record. SIGTERM or Ctrl-C stops it.
    Witness(WitnessArgs),
    /// Write the evidence file of one result, which anyone can verify offline.
    ///
    /// The file contains the request, the result, the snapshot that the result follows from, and
    /// the proofs up to the first signed checkpoint that covers the slot. Verify it with `exitgap
    /// verify`.
    Evidence(EvidenceArgs),
    /// Check the whole store by hash, from bodies to signed checkpoints.
    ///
    /// Prints the first error, or how much was checked, and compares the store with the published
    /// log. Writes nothing; a recorder may keep running.
    ///
    /// All signed data is checked by its hashes: bodies, heads, slots, the log and its signatures.
    /// Figures are checked against the hash that each day keeps of them as they were written. Only
    /// --derived recomputes them from the bodies.
    Fsck {
        /// Also recompute every depth and every figure from the bodies. Takes about twenty times as long.
        #[arg(long)]
        derived: bool,
        /// First rebuild all derived rows: figures, days, standings. No recorder may run.
        #[arg(long)]
        rebuild: bool,
        /// The configuration file.
        #[arg(long, value_name = "FILE", default_value = "exitgap.toml")]
        config: PathBuf,
    },
    /// Rebuild a lost store, or update an old copy, from the published log.
    ///
    /// Every slot up to the published checkpoint is sealed again from its files and must give the
    /// signed checkpoint byte for byte. Needs the log's key.
    Restore {
        /// The configuration file.
        #[arg(long, value_name = "FILE", default_value = "exitgap.toml")]
        config: PathBuf,
    },
    /// Write each closed day as Parquet files that anyone can analyse and verify.
    ///
    /// A day closes 24 hours after its end, when no later slot can retract one of its slots any
    /// more. The files are in the log's folder under `days/`; a small log of days, signed by the
    /// log's key, commits to them. With [evidence] days = true, `record` and `serve` write days as
    /// they close; use this command for days that closed earlier. A recorder may keep running,
    /// unless it writes days too.
    Days {
        /// The configuration file.
        #[arg(long, value_name = "FILE", default_value = "exitgap.toml")]
        config: PathBuf,
    },
    /// Move the snapshots of old days out of a database server, after checking their files.
    ///
    /// Not needed for a store in a file, which keeps everything. Heads, figures and proofs stay in
    /// the database; snapshots of removed days are then read from their Parquet files by hash. A
    /// day is removed once the log of days contains it, all of its snapshots are in valid files,
    /// and the bucket's copy is identical. Recording and serving continue meanwhile.
    Prune(PruneArgs),
    /// Start the successor of a log whose data is lost or whose key is compromised.
    ///
    /// For cases where files are lost and `restore` cannot rebuild the store. The configuration
    /// needs a new store, a new folder and a key with another name. The first slot of the new log
    /// commits to the old log's last state, and the old folder is marked as ended. Refused while
    /// every slot can still be read, unless the key is compromised.
    Successor(SuccessorArgs),
    /// Copy the store, even while a recorder writes to it.
    ///
    /// The copy is checked before it gets its name. Restore it only if it contains everything
    /// published since; `record` refuses an older copy.
    Backup {
        /// The path of the copy; the file must not exist.
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// The configuration file.
        #[arg(long, value_name = "FILE", default_value = "exitgap.toml")]
        config: PathBuf,
    },
    /// Serve a recorded sample: pages and API without a node, a configuration or a network.
    ///
    /// The sample is in this program. It is one pool of a simulated market for seven days, and two
    /// more for the last day, signed by a key of its own. Its clock stands at the end of the sample.
    /// SIGTERM or Ctrl-C stops it. `exitgap try` shows a number of the sample and its evidence.
    Try(TryArgs),
    /// Print the licences of the packages that this program was built from.
    #[command(alias = "licenses")]
    Licences,
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
enum CliError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("{path} already exists and is not overwritten; choose another name with --config")]
    Exists { path: PathBuf },
    #[error("{path}: {}", explained(source))]
    File { path: PathBuf, source: io::Error },
    #[error("a rehearsal works only with preview chains, but {chain} is live; omit --rehearse-at")]
    RehearsalOnLiveChain { chain: String },
    #[error(transparent)]
    Init(#[from] InitError),
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error("the configuration of chain {chain} cannot be used: {error}")]
    Chain { chain: String, error: String },
    #[error("{errors} of the lines above are errors")]
    Findings { errors: usize },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(
        "the store is the file {path}; to put it on a server, set [store] path to postgresql://<recorder>@<host>/<database>"
    )]
    NoServer { path: PathBuf },
    #[error(
        "{path} is a file store, which keeps everything; only a database on a server can be pruned"
    )]
    NothingToPrune { path: PathBuf },
    #[error(
        "{folder} would be the only copy of the removed snapshots; set [bucket] url, or give --one-copy if the folder is backed up in another way"
    )]
    OneCopy { folder: PathBuf },
    #[error("the bucket's copy: {0}; no snapshot of the day was removed")]
    Copy(#[source] Box<BucketError>),
    #[error(transparent)]
    Proofs(#[from] ProofsError),
    #[error("damaged: {0}")]
    Damaged(Damage),
    #[error("{path} is damaged: {what}. {remedy}")]
    DamagedDatabase { path: PathBuf, what: String, remedy: &'static str },
    #[error(transparent)]
    Restore(#[from] RestoreError),
    #[error(transparent)]
    Successor(#[from] SuccessorError),
    #[error(
        "{folder} is the lost log's folder; set [evidence] folder to another folder for the successor"
    )]
    SuccessorInPlace { folder: PathBuf },
    #[error(transparent)]
    Days(#[from] DaysError),
    #[error(
        "the bucket has {days} closed days, but this machine has none; run `exitgap-server restore` to download them"
    )]
    DaysInBucket { days: u64 },
    #[error(transparent)]
    Publish(#[from] PublishError),
    #[error(transparent)]
    Evidence(#[from] EvidenceError),
    #[error(transparent)]
    Recorder(#[from] RecorderError),
    #[error(transparent)]
    Listen(#[from] ListenError),
    #[error(transparent)]
    Till(#[from] TillError),
    #[error(transparent)]
    Alerts(#[from] AlertsStartError),
    #[error("alerts are not enabled in {path}; set [alerts] enabled = true")]
    AlertsOff { path: PathBuf },
    #[error(transparent)]
    Stand(#[from] StandError),
    #[error("{key}: {error}")]
    WitnessLogs { key: String, error: String },
    #[error("the bucket cannot be reached: {0}")]
    BucketCredentials(String),
    #[error(
        "the bucket: {0}. It may have slots that this store lacks, so recording starts only when it can be reached; remove [bucket] url to record without it"
    )]
    Bucket(#[source] Box<BucketError>),
    #[error(transparent)]
    Followers(#[from] FollowersError),
    #[error("the embedded sample: {0}; install exitgap-server again")]
    Sample(#[source] ArchiveError),
    #[error("the embedded sample: {0}; install exitgap-server again")]
    SampleLog(#[source] Box<FollowError>),
    #[error(transparent)]
    Replica(Box<ReplicaError>),
    #[error("following stopped unexpectedly; see the process's log for the reason")]
    ReplicaCutOff,
    #[error(
        "--trust {argument}: {why}; give a log's key, as in its file verifier-key, or a file with one key per line"
    )]
    Trust { argument: String, why: String },
    #[error("state proofs cannot be requested: {0}")]
    Prover(#[source] exitgap_chain::ClientError),
    #[error("this log's witnesses cannot be contacted: {0}")]
    Witnesses(#[source] reqwest::Error),
    #[error("cannot start: {0}")]
    Start(#[source] io::Error),
    #[error("writing to standard output: {}", explained(.0))]
    Output(#[source] io::Error),
}

impl From<FollowError> for CliError {
    fn from(error: FollowError) -> Self {
        Self::SampleLog(Box::new(error))
    }
}

impl From<Damage> for CliError {
    fn from(damage: Damage) -> Self {
        match *damage.error {
            // These errors do not mean that the store is damaged: it was not examined.
            error @ (StoreError::Locked { .. }
            | StoreError::Leased { .. }
            | StoreError::ClockDiffers { .. }
            | StoreError::Left { .. }
            | StoreError::NotFound { .. }) => Self::Store(error),
            _ => Self::Damaged(damage),
        }
    }
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Init(args) => init(args),
        Command::Key(KeyCommand::New { out, name }) => new_key(&out, &name).map_err(Into::into),
        Command::Key(KeyCommand::Receipts { out }) => new_receipt_key(&out).map_err(Into::into),
        Command::Key(KeyCommand::Witness { out, name }) => {
            new_witness_key(&out, &name).map_err(Into::into)
        }
        Command::Key(KeyCommand::Alerts { out }) => new_alert_key(&out).map_err(Into::into),
        Command::Check { config } => check(&config),
        Command::Migrate(args) => migrate(&args),
        Command::Record(args) => record(&args),
        Command::Serve(args) => serve(&args),
        Command::Follow(args) => follow(&args),
        Command::Alerts(args) => alerts(&args),
        Command::Witness(args) => witness(&args),
        Command::Evidence(args) => evidence(&args),
        Command::Fsck { derived, rebuild, config } => fsck(&config, derived, rebuild),
        Command::Days { config } => days(&config),
        Command::Prune(args) => prune(&args),
        Command::Restore { config } => restore(&config),
        Command::Successor(args) => successor(&args),
        Command::Backup { out, config } => backup(&out, &config),
        Command::Try(args) => try_sample(&args),
        Command::Licences => io::stdout()
            .write_all(include_bytes!("../../THIRD-PARTY.txt"))
            .map_err(CliError::Output),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If even standard error cannot be written, the failure cannot be reported.
            let _ = writeln!(io::stderr(), "exitgap-server: {error}");
            ExitCode::FAILURE
        }
    }
}

fn backup(out: &Path, config: &Path) -> Result<(), CliError> {
    let config = CheckedConfig::from_file(config)?.config;
    Reader::open(&config.store.path)?.backup(out)?;
    let _ = writeln!(io::stderr(), "wrote {}", out.display());
    Ok(())
}

/// A runtime whose threads, including the blocking ones, have this name.
fn runtime(name: &str) -> Result<tokio::runtime::Runtime, CliError> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.thread_name(name).enable_all().build().map_err(CliError::Start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_holds_together() {
        <Cli as clap::CommandFactory>::command().debug_assert();
    }
}
