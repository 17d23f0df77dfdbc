//! Arguments of `exitgap audit`, `exitgap compare` and `exitgap watch`.

use std::path::PathBuf;

use clap::Args;
use exitgap_core::series::Day;

use crate::arguments::TrustArgs;
use crate::log_source::LogAt;

pub const AUDIT_NOTES: &str = "\
Examples:
  exitgap audit log/ --trust verifier-key
  exitgap audit log/ --trust verifier-key --since checkpoint.last-week --json
  exitgap audit https://exitgap.example --copy log/ --trust verifier-key
  exitgap audit days/2026-11-26 --trust verifier-key

With a URL the log is copied first: all of it, or with --copy what is not there yet, and then audited here.

The folder of one closed day, as `exitgap export` fetches it, is audited from its own files: every head, snapshot, depth
and figure of the day is computed anew, and held against the checkpoints that the log signed over its slots. What a head
says of the days before (the lowest depth of seven days, and of a day's first head what it follows) needs those.

Without --trust signatures are checked by the folder's own key. That shows that the log agrees
with itself, not whose log it is: the verdict is then `incomplete` at best.

Exit codes:
  0  valid       6  invalid       7  incomplete       5  could not be read       2  wrong arguments";

pub const EXPORT_NOTES: &str = "\
A day is closed once no later slot can take back any of its own: 24 hours after its end. Each is a folder of its date:
slots.parquet, and of every range of pools figures-<range>.parquet (depths, gaps at the standard sizes, books) and
snapshots-<range>.parquet (heads, snapshots and states, byte for byte). Its manifest.json has the hash of each file, and
the log of days, signed by the log's own key, that of the manifest: what does not agree is refused, and not kept.

Any tool for Parquet reads them; DuckDB, for one:
  select slot_time, pool, token0_depth_usd from 'out/*/figures-*.parquet' where token0_depth_usd < 100000

With --pools only files that have rows of these pools are fetched. Files that are there already are checked, not fetched
again. `exitgap audit <day's folder>` recomputes a day; `exitgap estimate <pool> --day <folder> --at <time>` answers from it.

Examples:
  exitgap export https://exitgap.example --out days/ --trust verifier-key
  exitgap export log/ --from 2026-11-01 --to 2026-11-07 --pools ethereum:0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640 --out days/

Exit codes:
  0  valid       6  invalid       7  incomplete (the log's own key)       4  no such day       5  could not be read";

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
pub struct ExportArgs {
    /// The log's folder or a copy of it; or the URL of a service, or of its log.
    #[arg(value_name = "FOLDER|URL", value_parser = clap::value_parser!(LogAt))]
    pub log: LogAt,
    /// The folder to put days into, each in a folder of its date.
    #[arg(long, value_name = "FOLDER")]
    pub out: PathBuf,
    /// The first day, UTC, such as 2026-11-26 [default: the log's first].
    #[arg(long, value_name = "DATE")]
    pub from: Option<Day>,
    /// The last day [default: the last that is closed].
    #[arg(long, value_name = "DATE")]
    pub to: Option<Day>,
    /// Only files that have rows of these pools, `<chain>:<address>`; several with commas between, or again.
    #[arg(long, value_name = "POOL", value_delimiter = ',')]
    pub pools: Vec<String>,
    #[command(flatten)]
    pub trust: TrustArgs,
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
