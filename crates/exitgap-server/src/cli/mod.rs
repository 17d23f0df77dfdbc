//! The command line of `exitgap-server`: `init`, `key new`, `check`, `migrate`, `record`, `serve`, `alerts`,
//! `follow`, `witness`, `evidence`, `fsck`, `backup`, `restore`, `successor`.

mod alerts;
mod answering;
mod bucket;
mod check;
mod days;
mod evidence;
mod follow;
mod fsck;
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
mod witness;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use exitgap_store::days::DaysError;
use exitgap_store::proofs::ProofsError;
use exitgap_store::{
    Damage, EvidenceError, PublishError, Reader, RestoreError, StoreError, SuccessorError,
};

use crate::alerts::AlertsStartError;
use crate::bucket::BucketError;
use crate::config::{Checked, ConfigError};
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
use witness::{WitnessArgs, witness};

/// Records how deep liquidity pools are, every five minutes, append-only.
///
/// Start with `exitgap-server init`, put your nodes into the file it writes, ask them with
/// `check`, make a key with `key new`, then leave `record` running, or `serve`, which also
/// answers over HTTP. `exitgap --db <store>` reads what was recorded, also meanwhile.
#[derive(Debug, Parser)]
#[command(name = "exitgap-server", version, after_long_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  it failed, or `check` found an error; standard error says what to do
  2  the command line is wrong";

#[derive(Debug, Subcommand)]
enum Command {
    /// Writes a configuration file to start from.
    ///
    /// Of a chain and its pools (--chain, --rpc, --pool) it asks the nodes what the pools are, and writes a file that `check`
    /// passes. On a terminal it asks for them where they are not named. Else it writes a commented example with well-known
    /// Ethereum pools and feeds, in which every key is explained. A file that exists is left alone.
    Init(InitArgs),
    /// Makes the key that signs what is recorded.
    #[command(subcommand)]
    Key(KeyCommand),
    /// Checks the configuration, then asks every node, pool and oracle.
    ///
    /// Prints one line for each: `ok`, `warning` (it records, with a mark or at a risk) or
    /// `error` (its slots would be missing). Nothing is written.
    Check {
        /// The configuration file.
        #[arg(long, value_name = "FILE", default_value = "exitgap.toml")]
        config: PathBuf,
    },
    /// Makes a `PostgreSQL` database a store, or brings it to this version.
    ///
    /// Where [store] path is postgresql://<recorder>@<host>/<database>: makes the database, the role that records, a role
    /// that owns the tables and nobody can log in as, the tables, and triggers that keep even the recorder from changing what
    /// is recorded. What is there is left as it is. Then `restore` brings a log of before into it, or `record` begins one.
    Migrate(MigrateArgs),
    /// Records every slot until it is told to end.
    ///
    /// A slot is five minutes. At its instant all pools are read at the last block before
    /// it; 60 seconds later it is sealed, and what was not read is missing, with its reason.
    /// SIGTERM or Ctrl-C finishes the slot in hand; a second one ends at once. Slots that
    /// pass while nothing records are missing for good (`recorder_down`).
    Record(RecordArgs),
    /// Records, and answers over HTTP, in one process.
    ///
    /// The REST surface under /v1, evidence under /api/v1, the published log under /log, a
    /// reference at /docs, and /livez, /readyz and /metrics for operators. SIGTERM or Ctrl-C
    /// finishes the slot and the requests in hand.
    Serve(ServeArgs),
    /// Follows a log that is recorded elsewhere, and answers from it.
    ///
    /// Anybody may: it needs no key and no node, only the log's address and the key that signs it. Every slot that is published
    /// is fetched, computed anew and held against its signature before it is served, so a replica audits what it shows; what
    /// contradicts what it holds is refused, and kept as proof. Its answers and evidence are those of the service that
    /// records. SIGTERM or Ctrl-C finishes the slot in hand.
    Follow(FollowArgs),
    /// Evaluates the rules that are kept for others, and sends what they say.
    ///
    /// `serve` does that too, where [alerts] is enabled: this is for a process of its own beside one, or after one.
    /// Two at once change nothing: an event has one id, whoever makes it. SIGTERM or Ctrl-C waits for what is being
    /// sent.
    Alerts(AlertsArgs),
    /// Cosigns checkpoints of others' logs, as a witness that they ask.
    ///
    /// A checkpoint is cosigned where its log's key signed it and it goes on from the one that was cosigned last: so a
    /// log that is witnessed has one past, and was there at the time that the witness names. `serve` does that too,
    /// where [witness] names logs: this is for a machine that records nothing. SIGTERM or Ctrl-C ends it.
    Witness(WitnessArgs),
    /// Writes the evidence file of one result: what anyone can check offline.
    ///
    /// It holds the request, the result, the snapshot it follows from, and the proofs up to the
    /// first signed checkpoint that covers the slot. `exitgap verify` checks it.
    Evidence(EvidenceArgs),
    /// Hashes the whole store again, from bodies to signed checkpoints.
    ///
    /// Names the first thing wrong, or says how much holds, and compares the store with what is
    /// published. Nothing is written; a recorder may go on meanwhile.
    ///
    /// Everything that is signed is held by its hashes: bodies, heads, slots, the log and its
    /// signatures. Figures are held to the hash that each day keeps of them as they were written;
    /// that they follow from the bodies is computed anew only with --derived.
    Fsck {
        /// Also computes every depth and every figure anew from the bodies. Takes some twenty times
        /// as long.
        #[arg(long)]
        derived: bool,
        /// First makes all that is derived anew: figures, days, standings. No recorder may run.
        #[arg(long)]
        rebuild: bool,
        /// The configuration file.
        #[arg(long, value_name = "FILE", default_value = "exitgap.toml")]
        config: PathBuf,
    },
    /// Rebuilds a lost store, or brings an old copy up to date, from what is published.
    ///
    /// Every slot up to the published checkpoint is sealed anew from its files and must make,
    /// byte for byte, the checkpoint that was signed then. It needs the log's key.
    Restore {
        /// The configuration file.
        #[arg(long, value_name = "FILE", default_value = "exitgap.toml")]
        config: PathBuf,
    },
    /// Writes each closed day as Parquet files, which anybody can analyse and check.
    ///
    /// A day is closed once no later slot can take back any of its own: 24 hours after its end. Its files stand in the log's
    /// folder under `days/`, and a small log of days, signed by the log's key, commits to them. Where [evidence] days = true,
    /// `record` and `serve` do it as days close; this is for what has closed before. A recorder may go on meanwhile, unless it
    /// writes days, too.
    Days {
        /// The configuration file.
        #[arg(long, value_name = "FILE", default_value = "exitgap.toml")]
        config: PathBuf,
    },
    /// Has the snapshots of old days leave a server's database, once their files were read.
    ///
    /// A file keeps all, and needs no such thing. Heads, figures and proofs stay; of the days that leave, snapshots are read
    /// from their Parquet files, by their hashes, wherever one is asked for. A day leaves once the log of days has it, its
    /// files hold to the last snapshot, and the bucket's copy is the same. Everything else goes on meanwhile.
    Prune(PruneArgs),
    /// Begins the successor of a log whose data is gone for good, or whose key is in other hands.
    ///
    /// For when files are lost and `restore` cannot bring the store back. The configuration
    /// names a new store, a new folder and a key of another name; the first slot of the new log
    /// commits to the old one's last state. The old folder says that its log has ended. Refused while
    /// every slot can be read, unless the log ends because its key is in other hands.
    Successor(SuccessorArgs),
    /// Copies the store, also while a recorder writes it.
    ///
    /// The copy is checked before it is there. To put it back is right only while it has all
    /// that was published since: `record` refuses an older one.
    Backup {
        /// Where to write the copy; no file may be there.
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// The configuration file.
        #[arg(long, value_name = "FILE", default_value = "exitgap.toml")]
        config: PathBuf,
    },
    /// Prints the licences of the packages that this program was built from.
    #[command(alias = "licenses")]
    Licences,
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
enum CliError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("{path} exists and is left as it is; choose another name with --config")]
    Exists { path: PathBuf },
    #[error("{path}: {source}")]
    File { path: PathBuf, source: io::Error },
    #[error("a rehearsal is for preview chains, and {chain} is live; leave out --rehearse-at")]
    RehearsalOnLiveChain { chain: String },
    #[error(transparent)]
    Init(#[from] InitError),
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error("the configuration of chain {chain} cannot be used: {error}")]
    Chain { chain: String, error: String },
    #[error("{errors} of the findings above are errors")]
    Findings { errors: usize },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(
        "the store is the file {path}; set [store] path to postgresql://<recorder>@<host>/<database> to have it on a server"
    )]
    NoServer { path: PathBuf },
    #[error("{path} is a file, which keeps all: only a server's database is pruned")]
    NothingToPrune { path: PathBuf },
    #[error(
        "{folder} would be the only copy of what leaves the database; set [bucket] url, or say --one-copy where it is kept \
         safe otherwise"
    )]
    OneCopy { folder: PathBuf },
    #[error("the bucket's copy: {0}; nothing of the day was removed")]
    Copy(#[source] Box<BucketError>),
    #[error(transparent)]
    Proofs(#[from] ProofsError),
    #[error("damaged: {0}")]
    Damaged(Damage),
    #[error(transparent)]
    Restore(#[from] RestoreError),
    #[error(transparent)]
    Successor(#[from] SuccessorError),
    #[error(
        "{folder} is the lost log's own folder; set [evidence] folder to another one for its successor"
    )]
    SuccessorInPlace { folder: PathBuf },
    #[error(transparent)]
    Days(#[from] DaysError),
    #[error(
        "the bucket has {days} closed days, and this machine none: `exitgap-server restore` fetches them"
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
    #[error("{path} keeps no rules for others; set [alerts] enabled = true")]
    AlertsOff { path: PathBuf },
    #[error(transparent)]
    Stand(#[from] StandError),
    #[error("{key}: {error}")]
    WitnessLogs { key: String, error: String },
    #[error("the bucket cannot be asked: {0}")]
    BucketCredentials(String),
    #[error(
        "the bucket: {0}. It may have slots that this store does not, so nothing is recorded before it is asked; \
         leave out [bucket] url to record without it"
    )]
    Bucket(#[source] Box<BucketError>),
    #[error(transparent)]
    Followers(#[from] FollowersError),
    #[error(transparent)]
    Replica(Box<ReplicaError>),
    #[error("following was cut off; the process's own log says why")]
    ReplicaCutOff,
    #[error(
        "--trust {argument}: {why}; it takes a log's key, such as its file verifier-key has, or a file with one per line"
    )]
    Trust { argument: String, why: String },
    #[error("state proofs cannot be asked for: {0}")]
    Prover(#[source] exitgap_chain::ClientError),
    #[error("the witnesses of this log cannot be asked: {0}")]
    Witnesses(#[source] reqwest::Error),
    #[error("starting: {0}")]
    Start(#[source] io::Error),
    #[error("writing to standard output: {0}")]
    Output(#[source] io::Error),
}

impl From<Damage> for CliError {
    fn from(damage: Damage) -> Self {
        match *damage.error {
            // Nothing was found wrong: nothing was looked at.
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
        Command::Licences => io::stdout()
            .write_all(include_bytes!("../../THIRD-PARTY.txt"))
            .map_err(CliError::Output),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Where even this cannot be written there is nobody to tell.
            let _ = writeln!(io::stderr(), "exitgap-server: {error}");
            ExitCode::FAILURE
        }
    }
}

fn backup(out: &Path, config: &Path) -> Result<(), CliError> {
    let config = Checked::read(config)?.config;
    Reader::open(&config.store.path)?.backup(out)?;
    let _ = writeln!(io::stderr(), "wrote {}", out.display());
    Ok(())
}

/// Threads of this name, those that may block among them.
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
