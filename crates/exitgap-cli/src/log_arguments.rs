//! Arguments of `exitgap audit`, `exitgap compare` and `exitgap watch`.

use std::path::PathBuf;

use clap::Args;

use crate::arguments::TrustArgs;
use crate::log_source::LogAt;

pub const AUDIT_NOTES: &str = "\
Examples:
  exitgap audit log/ --trust verifier-key
  exitgap audit log/ --trust verifier-key --since checkpoint.last-week --json
  exitgap audit https://exitgap.example --copy log/ --trust verifier-key

With a URL the log is copied first: all of it, or with --copy what is not there yet, and then audited here.

Without --trust signatures are checked by the folder's own key. That shows that the log agrees
with itself, not whose log it is: the verdict is then `incomplete` at best.

Exit codes:
  0  valid       6  invalid       7  incomplete       5  could not be read       2  wrong arguments";

pub const WATCH_NOTES: &str = "\
For who would rather trust their own machine than the service that is watched: the log is a copy that any mirror of files
keeps up to date, or with --copy this program, and everything that is said follows from it. With each new checkpoint the
whole copy is audited, against the last checkpoint seen here too, so that a history that was rewritten is noticed.

A line for each alarm, with --json an object: `slot` says that one holds, `missing` that a pool has none, `late` that
none came, `rule` an event of a rule, in the bytes that a service sends. With --seen the last checkpoint is kept in a
file, and the next run begins after it.

Ends with 6 as soon as the log does not hold: nothing after that is to be believed. A service that is not reached does not
end it: that is said once, on stderr, and tried again at the next look.

Examples:
  exitgap watch ./log --trust verifier-key --rule rule.json --seen seen.checkpoint
  exitgap watch https://exitgap.example --copy ./log --trust verifier-key --seen seen.checkpoint
";

pub const COMPARE_NOTES: &str = "\
Both logs are replayed as `exitgap audit` does, and then held against each other: of every pool that both recorded, whatever
each calls its chain, the block, the state, the feeds that both read and the tokens' decimals, slot by slot. Slots that one
of them took back are left out.

`state_differs` and `feed_differs` are about one and the same block: one of the two does not say what the chain holds. Which
one, the chain says: `exitgap verify <evidence of that slot> --rpc <your node> --keep-proof lie.egp`. The file that this
keeps, beside the signed evidence, shows it to anybody.

Examples:
  exitgap compare log/ other/ --trust verifier-key --trust other.key
  exitgap compare https://exits.example https://other.example --copy-first ours --copy-second theirs --json

Exit codes:
  0  valid       6  invalid       7  incomplete       5  could not be read       2  wrong arguments";

#[derive(Debug, Args)]
pub struct CompareArgs {
    /// A log's folder or a copy of it; or the URL of a service, or of its log, which is copied first.
    #[arg(value_name = "FOLDER|URL", value_parser = clap::value_parser!(LogAt))]
    pub first: LogAt,
    /// Another operator's.
    #[arg(value_name = "FOLDER|URL", value_parser = clap::value_parser!(LogAt))]
    pub second: LogAt,
    /// With a URL first: the folder that the copy is kept in; the next run goes on from there.
    #[arg(long, value_name = "FOLDER")]
    pub copy_first: Option<PathBuf>,
    /// The same of the second.
    #[arg(long, value_name = "FOLDER")]
    pub copy_second: Option<PathBuf>,
    #[command(flatten)]
    pub trust: TrustArgs,
}

#[derive(Debug, Args)]
pub struct AuditArgs {
    /// The log's folder or a copy of it; or the URL of a service, or of its log, which is copied first.
    #[arg(value_name = "FOLDER|URL", value_parser = clap::value_parser!(LogAt))]
    pub log: LogAt,
    /// With a URL: the folder that the copy is kept in; the next run goes on from there.
    #[arg(long, value_name = "FOLDER")]
    pub copy: Option<PathBuf>,
    #[command(flatten)]
    pub trust: TrustArgs,
    /// A signed checkpoint of the log that you kept: the log must still hold it.
    #[arg(long, value_name = "FILE", help_heading = "Policy")]
    pub since: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct WatchArgs {
    /// The log's folder, or a copy of it that is kept up to date; or the URL of a service, or of its log.
    #[arg(value_name = "FOLDER|URL", value_parser = clap::value_parser!(LogAt))]
    pub log: LogAt,
    /// With a URL: the folder that the copy is kept in, and brought up to date at each look.
    #[arg(long, value_name = "FOLDER")]
    pub copy: Option<PathBuf>,
    #[command(flatten)]
    pub trust: TrustArgs,
    /// A rule, a JSON file as of `exitgap alert replay`; may be given again.
    #[arg(long, value_name = "FILE")]
    pub rule: Vec<PathBuf>,
    /// Keeps the last checkpoint seen in this file.
    #[arg(long, value_name = "FILE", help_heading = "Policy")]
    pub seen: Option<PathBuf>,
    /// How often is looked for a new checkpoint, seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 15)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=3_600))]
    pub every_s: u32,
    /// Alarms once no slot came for so many seconds, by this machine's clock; 0: never.
    #[arg(long, value_name = "SECONDS", default_value_t = 900)]
    pub late_after_s: u32,
    /// Looks once, and ends.
    #[arg(long)]
    pub once: bool,
}
