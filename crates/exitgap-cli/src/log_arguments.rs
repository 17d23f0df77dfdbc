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

With a URL, the log is copied first and then audited here. With --copy, only files that are not in the copy yet are downloaded.

The folder of one closed day, as downloaded by `exitgap export`, is audited from its own files: every head, snapshot, depth
and figure of the day is recomputed and compared with the signed checkpoints that cover its slots. Columns that follow from
other days are recomputed if the seven days before it, the day after it and the signed log of days are next to its folder, as
in an export of those days. Columns that could not be checked are listed, and the verdict is then `incomplete`.

Without --trust, signatures are checked with the folder's own key. That shows that the log is consistent, not who signed it,
so the verdict is `incomplete` at best.

Exit codes:
  0  valid       6  invalid       7  incomplete       5  could not be read       2  wrong arguments";

pub const EXPORT_NOTES: &str = "\
A day closes 24 hours after its end, when no later slot can retract one of its slots any more. Each day is a folder named by its
date: slots.parquet, and for every range of pools figures-<range>.parquet (depths, gaps at the standard sizes, depths from the mid
price) and snapshots-<range>.parquet (heads, snapshots and states, byte for byte). Its manifest.json lists the hash of each file.
The log of days, signed by the log's own key, commits to the manifest. Files that do not match are rejected and not kept.

Any Parquet tool can read the files, for example DuckDB:
  select slot_time, pool, token0_depth_usd from 'out/*/figures-*.parquet' where token0_depth_usd < 100000

With --pools, only files with rows of these pools are downloaded. Existing files are checked, not downloaded again.
`exitgap audit <day's folder>` recomputes a day; `exitgap estimate <pool> --day <folder> --at <time>` answers from it.

Examples:
  exitgap export https://exitgap.example --out days/ --trust verifier-key
  exitgap export log/ --from 2026-11-01 --to 2026-11-07 --pools ethereum:0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640 --out days/

Exit codes:
  0  valid       6  invalid       7  incomplete (the log's own key)       4  no such day       5  could not be read";

pub const WATCH_NOTES: &str = "\
Use this to watch a service from your own machine without trusting it. The log is a copy that a file mirror keeps up to date, or
this program with --copy. All output is computed from the copy. At each new checkpoint the whole copy is audited and compared with
the last checkpoint seen here, which detects a rewritten history.

Each event is one line, or one object with --json: `slot` (a new slot is valid), `missing` (a pool has no snapshot in a slot), `late`
(no new slot arrived), `rule` (an alert event, in the bytes that a service sends). With --seen, the last checkpoint is kept in a
file, and the next run starts after it.

The command exits with code 6 as soon as the log fails the audit; do not rely on anything after that. If the service cannot be
reached, the command keeps running: it reports this once on stderr and tries again at the next check.

Examples:
  exitgap watch ./log --trust verifier-key --rule rule.json --seen seen.checkpoint
  exitgap watch https://exitgap.example --copy ./log --trust verifier-key --seen seen.checkpoint
";

pub const COMPARE_NOTES: &str = "\
Both logs are replayed as by `exitgap audit` and then compared slot by slot. For every pool that both recorded, even under different
chain names, the block, the state, the feeds that both read and the tokens' decimals are compared. Retracted slots are skipped.

`state_differs` and `feed_differs` refer to the same block in both logs, so one of the two recorded something that is not on the
chain. A node can show which: `exitgap verify <evidence of that slot> --rpc <your node> --keep-proof lie.egp`. The proof in that
file, together with the signed evidence, convinces anyone.

Examples:
  exitgap compare log/ other/ --trust verifier-key --trust other.key
  exitgap compare https://exits.example https://other.example --copy-first ours --copy-second theirs --json

Exit codes:
  0  valid       6  invalid       7  incomplete       5  could not be read       2  wrong arguments";

#[derive(Debug, Args)]
pub struct CompareArgs {
    /// A log's folder or a copy; or the URL of a service or its log, which is copied first.
    #[arg(value_name = "FOLDER|URL", value_parser = clap::value_parser!(LogAt))]
    pub first: LogAt,
    /// The other operator's log.
    #[arg(value_name = "FOLDER|URL", value_parser = clap::value_parser!(LogAt))]
    pub second: LogAt,
    /// If the first log is a URL: the folder for the copy; the next run continues from there.
    #[arg(long, value_name = "FOLDER")]
    pub copy_first: Option<PathBuf>,
    /// The same for the second log.
    #[arg(long, value_name = "FOLDER")]
    pub copy_second: Option<PathBuf>,
    #[command(flatten)]
    pub trust: TrustArgs,
}

#[derive(Debug, Args)]
pub struct AuditArgs {
    /// The log's folder or a copy; or the URL of a service or its log, which is copied first.
    #[arg(value_name = "FOLDER|URL", value_parser = clap::value_parser!(LogAt))]
    pub log: LogAt,
    /// With a URL: the folder for the copy; the next run continues from there.
    #[arg(long, value_name = "FOLDER")]
    pub copy: Option<PathBuf>,
    #[command(flatten)]
    pub trust: TrustArgs,
    /// A signed checkpoint that you kept; the log must still contain it.
    #[arg(long, value_name = "FILE", help_heading = "Policy")]
    pub since: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The log's folder or a copy; or the URL of a service or its log.
    #[arg(value_name = "FOLDER|URL", value_parser = clap::value_parser!(LogAt))]
    pub log: LogAt,
    /// The output folder; each day gets a subfolder named by its date.
    #[arg(long, value_name = "FOLDER")]
    pub out: PathBuf,
    /// The first day, UTC, such as 2026-11-26 [default: the log's first].
    #[arg(long, value_name = "DATE")]
    pub from: Option<Day>,
    /// The last day [default: the last closed day].
    #[arg(long, value_name = "DATE")]
    pub to: Option<Day>,
    /// Only files with rows of these pools, `<chain>:<address>`; separate several with commas, or
    /// repeat the option.
    #[arg(long, value_name = "POOL", value_delimiter = ',')]
    pub pools: Vec<String>,
    #[command(flatten)]
    pub trust: TrustArgs,
}

#[derive(Debug, Args)]
pub struct WatchArgs {
    /// The log's folder, or a copy that is kept up to date; or the URL of a service or its log.
    #[arg(value_name = "FOLDER|URL", value_parser = clap::value_parser!(LogAt))]
    pub log: LogAt,
    /// With a URL: the folder for the copy, which is updated at each check.
    #[arg(long, value_name = "FOLDER")]
    pub copy: Option<PathBuf>,
    #[command(flatten)]
    pub trust: TrustArgs,
    /// A rule file (JSON), as for `exitgap alert replay`; may be given several times.
    #[arg(long, value_name = "FILE")]
    pub rule: Vec<PathBuf>,
    /// Keep the last checkpoint seen in this file.
    #[arg(long, value_name = "FILE", help_heading = "Policy")]
    pub seen: Option<PathBuf>,
    /// Seconds between checks for a new checkpoint.
    #[arg(long, value_name = "SECONDS", default_value_t = 15)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=3_600))]
    pub every_s: u32,
    /// Report `late` when no new slot arrived for this many seconds, by this machine's clock; 0 is never.
    #[arg(long, value_name = "SECONDS", default_value_t = 900)]
    pub late_after_s: u32,
    /// Check once and exit.
    #[arg(long)]
    pub once: bool,
}
