//! The command line's arguments.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use exitgap_api::{Days, Guards, Problem};

use crate::alert_arguments::{ALERT_NOTES, AlertCommand};
use crate::chain_arguments::ChainArgs;
use crate::figure_arguments::{
    ACCURACY_NOTES, CASH_NOTES, DECAY_NOTES, EXPOSURE_NOTES, ROUTES_NOTES, STRESS_NOTES, WHEN_NOTES,
};
pub use crate::figure_arguments::{
    AccuracyArgs, CashArgs, DecayArgs, EQUITIES_NOTES, EquitiesArgs, ExposureArgs, FRAGILITY_NOTES,
    FragilityArgs, HISTORY_NOTES, HistoryArgs, HoursArgs, PORTFOLIO_NOTES, PortfolioArgs,
    REDEEM_NOTES, RoutesArgs, StressArgs, WhenArgs,
};
use crate::log_arguments::{AUDIT_NOTES, COMPARE_NOTES, EXPORT_NOTES, WATCH_NOTES};
pub use crate::log_arguments::{AuditArgs, CompareArgs, ExportArgs, WatchArgs};
use crate::log_source::LogAt;
use crate::pay_arguments::{EXIT_NOTES, ExitArgs, LEDGER_NOTES, PayCommand};
use crate::recorded_source::RecordedFrom;
use crate::release_arguments::{RELEASE_NOTES, VerifyReleaseArgs};
use crate::try_arguments::TRY_NOTES;
pub use crate::try_arguments::TryArgs;

/// At this size, how far below the oracle price will I really fill?
///
/// Answers match the pool contract's own fill to the last token unit. The data comes from a
/// recorder's database (--db), a service (--api), a chain's latest block (--rpc) or a snapshot file
/// (--snapshot). Answers are always computed on this machine, even when a service provides the
/// snapshots.
#[derive(Debug, Parser)]
#[command(name = "exitgap", version, arg_required_else_help = true, after_long_help = EXIT_CODES)]
pub struct Cli {
    /// Print JSON with the service's field names; with --api, print the service's response byte for byte.
    #[arg(long, global = true)]
    pub json: bool,

    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "\
Examples:
  exitgap try
  exitgap pools --db exitgap.db
  exitgap estimate ethereum:0x88e6… --size-usd 250000 --db exitgap.db
  exitgap estimate ethereum:0x88e6… --size-usd 250000 --db exitgap.db --at 2026-08-22T12:00:00Z
  exitgap estimate ethereum:0x88e6… --size-usd 250000 --api https://exitgap.example
  exitgap exit ethereum:0x88e6… --size-usd 250000 --api https://exitgap.example
  exitgap size ethereum:0x88e6… --gap 1 --base WETH --db exitgap.db
  exitgap ladder ethereum:0x88e6… --rpc https://… --config exitgap.toml
  exitgap estimate ethereum:0x88e6… --size-usd 250k --base WETH --snapshot snapshot.json
  exitgap verify evidence.json --trust verifier-key

Exit codes:
  0  answered
  1  the result could not be written
  2  the arguments are wrong
  3  refused: the pool cannot fill this size (too large, too small), or the data does not meet
     a guard
  4  no recorded data (unknown pool, missing slot, before the series), or not enough data for
     a statistic (hours, when, decay, exposure, accuracy, equities)
  5  the database, file or chain could not be read
  6  invalid: the evidence, the log, the receipt or the release failed a check (verify, audit, verify-receipt,
     verify-release, exit --pay, try)
  7  incomplete: no check failed, but some could not be made (same commands)
  8  not paid, or paid without an answer (exit --pay)

Environment:
  EXITGAP_DB      default of --db
  EXITGAP_CONFIG  default of --config
  EXITGAP_ALERTS_TOKEN  default of --token, for alerts kept by a service
  NO_COLOR        no colours";

const VERIFY_NOTES: &str = "\
Examples:
  exitgap verify --explain
  exitgap verify evidence.json --trust verifier-key
  exitgap verify evidence.json --trust verifier-key --explain
  exitgap verify - --trust 'exitgap.example/log/5957856+d837dc1b+ARl/…' < evidence.json
  exitgap verify evidence.json --trust verifier-key --since checkpoint.last-week --log log/
  exitgap verify ethereum:0x88e6… --size-usd 250000 --api https://exitgap.example --kept seen/
  exitgap verify evidence.json --trust verifier-key --trust other.key \
    --rpc https://node.example --rpc https://other.example --peer theirs.json --at-least 2
  exitgap verify evidence.json --trust verifier-key --state-proof state.egp \
    --anchors anchors/20800 --anchors anchors/20801 --trusted-block 0x4f1c…
  exitgap verify fork.json --trust verifier-key
  exitgap verify risk.jsonl --trust verifier-key --snapshots https://exitgap.example

A file is evidence of one number, a figure file, a proof that two histories of a log were signed, or a report. A report contains
evidence and figure files, one per line, and is valid if each of them is valid. Its first line lists the files that follow. The report
is invalid if one of them is missing, changed, repeated or out of order. A report without that line is reported as having no stated length.
With --api and no --trust, the keys kept by an earlier run are used; on the first run, the keys that the service names.

Exit codes:
  0  valid       6  invalid       7  incomplete       5  could not be read       2  wrong arguments
  With --api also 3 and 4: the pool cannot fill the size, or no data is recorded (see `exitgap --help`)";

const RECEIPT_NOTES: &str = "\
A receipt shows who paid how much for which bytes, and is signed by the service. This command uses the network only to copy a log
from a URL. A receipt does not prove that the number is right; evidence does (`exitgap verify`). With --log, a head of the pool must
commit to the receipt, so the service cannot drop the sale, and the estimate is compared with later slots. The log check is valid
only with a key given with --trust.

Examples:
  curl -o payments.json https://exitgap.example/v1/payments
  exitgap verify-receipt receipt.jws --key payments.json
  exitgap verify-receipt receipt.jws --key payments.json --answer answer.json --evidence evidence.json
  exitgap verify-receipt receipt.jws --key payments.json --log https://exitgap.example --trust exitgap.pub

Exit codes:
  0  valid       6  invalid       7  incomplete       5  could not be read       2  wrong arguments";

const MCP_NOTES: &str = "\
Eight read-only tools. With --api, this program fetches and hashes the snapshots, computes the answers and verifies the evidence
itself. An agent gets numbers that follow from the log, or an error if they do not. The tools never pay for anything.

Examples:
  exitgap mcp --api https://exitgap.example
  exitgap mcp --api https://exitgap.example --kept seen/
  exitgap mcp --db exitgap.db";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show an estimate, verify its evidence and tamper with the evidence, on a recorded sample in this program.
    #[command(after_long_help = TRY_NOTES)]
    Try(TryArgs),
    /// List the pools of a recorder's database or a service, with the length of each series.
    Pools {
        #[command(flatten)]
        from: RecordedFrom,
        /// Only pools of this chain, by its recorded name, such as ethereum or base.
        #[arg(long, value_name = "CHAIN")]
        chain: Option<String>,
    },
    /// Estimate the exit gap of one sale and its parts: basis, fee and price impact.
    Estimate {
        #[command(flatten)]
        question: GuardedQuestion,
        /// Size in USD at the oracle price, 0.01 to 1000000000, such as 250000, $250,000, 250k or 1.5m.
        #[arg(long, value_name = "USD", allow_hyphen_values = true)]
        size_usd: String,
    },
    /// Ask a service for its current answer for one sale; with --pay, pay if the service requires it.
    #[command(after_long_help = EXIT_NOTES)]
    Exit(ExitArgs),
    /// Create and manage alerts.
    #[command(subcommand, after_long_help = ALERT_NOTES)]
    Alert(AlertCommand),
    /// List payments from the ledger, and check payments of unknown outcome on the chain.
    #[command(subcommand, after_long_help = LEDGER_NOTES)]
    Pay(PayCommand),
    /// Depth at each gap and exit gap at each size.
    Ladder {
        #[command(flatten)]
        question: GuardedQuestion,
        /// Gaps in percent, separated by commas [default: 0.1,0.25,0.5,1,2,3,5,10].
        #[arg(long, value_name = "PCT,…", value_delimiter = ',', allow_hyphen_values = true)]
        gap: Vec<String>,
        /// Sizes in USD, separated by commas, such as 1k,250k,1.5m [default: 1000,10000,100000,1000000].
        #[arg(long, value_name = "USD,…", value_delimiter = ',', allow_hyphen_values = true)]
        size_usd: Vec<String>,
    },
    /// The largest sale whose exit gap stays within a limit.
    Size {
        #[command(flatten)]
        question: GuardedQuestion,
        /// The gap limit in percent, -100 to 100, at most six decimals.
        #[arg(long, value_name = "PCT", allow_hyphen_values = true)]
        gap: String,
    },
    /// Simulate one sale split into several orders, compared with selling at once.
    ///
    /// Between two orders, √price recovers by --recovery-pct of its distance from its value before
    /// the first order. Liquidity and the oracle price do not change. This recovery is your
    /// assumption, not a forecast.
    Simulate {
        #[command(flatten)]
        question: GuardedQuestion,
        /// Total size in USD, such as 250000, $250,000, 250k or 1.5m.
        #[arg(long, value_name = "USD", allow_hyphen_values = true)]
        size_usd: String,
        /// Number of orders, 1 to 1000.
        #[arg(long, value_name = "N")]
        orders: u32,
        /// Percent of its displacement that √price recovers between orders, 0 to 100.
        #[arg(long, value_name = "PCT", default_value = "0", allow_hyphen_values = true)]
        recovery_pct: String,
        /// Seconds between orders; shown in the output, not used in the computation.
        #[arg(long, value_name = "S", default_value_t = 0)]
        interval_s: u32,
    },
    /// Compare selling now with redeeming later, and show the yearly rate at which waiting breaks even.
    #[command(after_long_help = REDEEM_NOTES)]
    Redeem {
        #[command(flatten)]
        question: GuardedQuestion,
        /// Size in USD, such as 250000, $250,000, 250k or 1.5m.
        #[arg(long, value_name = "USD", allow_hyphen_values = true)]
        size_usd: String,
        /// A file of redemption terms, JSON; may be given several times.
        #[arg(long, value_name = "FILE", required = true)]
        terms: Vec<PathBuf>,
    },
    /// Market hours: when the pool's market opens next, and depth and gap during past closures.
    Hours(HoursArgs),
    /// Tokenized stocks: status of each, and depth and gap of its pools in each session of its exchange.
    #[command(after_long_help = EQUITIES_NOTES)]
    Equities(EquitiesArgs),
    /// What a service supports, the stability of each feature, and why a chain is not live.
    Capabilities {
        /// URL of an exitgap service.
        #[arg(long, value_name = "URL")]
        api: String,
    },
    /// Sell several positions at once: the exit gap of each and of all together.
    #[command(after_long_help = PORTFOLIO_NOTES)]
    Portfolio(PortfolioArgs),
    /// Rank all recorded pools by fragility, most fragile first.
    #[command(after_long_help = FRAGILITY_NOTES)]
    Fragility(FragilityArgs),
    /// The exit gap over time, one row per slot, hour or day, with missing and unfillable slots counted.
    #[command(after_long_help = HISTORY_NOTES)]
    History(HistoryArgs),
    /// The worst moments of a period at any size: the ten worst slots, quantiles, and time above a gap limit.
    #[command(after_long_help = STRESS_NOTES)]
    Stress(StressArgs),
    /// When to sell: the newest slot ranked among all others, and the gap by hour of the week.
    #[command(after_long_help = WHEN_NOTES)]
    When(WhenArgs),
    /// List the named historical shocks of a service, for use with `stress --shock`.
    Shocks {
        /// URL of an exitgap service.
        #[arg(long, value_name = "URL")]
        api: String,
    },
    /// How a pool's depth shrinks after price moves, and how much liquidity was withdrawn.
    #[command(after_long_help = DECAY_NOTES)]
    Decay(DecayArgs),
    /// Whether the pools could have absorbed a liquidation after a price drop, in every slot of a week.
    #[command(after_long_help = EXPOSURE_NOTES)]
    Exposure(ExposureArgs),
    /// Estimate accuracy: each swap of a pool compared with its estimate; --rpc recomputes it from a node.
    #[command(after_long_help = ACCURACY_NOTES)]
    Accuracy(AccuracyArgs),
    /// Estimate a sale that ends in cash: amounts received, route, and how much better any other route could be.
    #[command(after_long_help = CASH_NOTES)]
    Cash(CashArgs),
    /// The best way to sell a size: each venue alone, and the exact split across all venues.
    #[command(after_long_help = ROUTES_NOTES)]
    Routes(RoutesArgs),
    /// Write a snapshot and its pool state to stdout, as one JSON object.
    ///
    /// Both are included as canonical bytes. The SHA-256 of `snapshot` is the hash that heads
    /// commit to; the SHA-256 of `state` is the hash in the snapshot.
    ///
    /// With --rpc, the pool is read at the chain's newest slot, like a recorder does. The same
    /// blocks, pools and oracles give the same bytes.
    Snapshot {
        #[command(flatten)]
        question: Question,
    },
    /// Verify evidence from a file or a service: does its number follow from the signed log?
    #[command(after_long_help = VERIFY_NOTES)]
    Verify(VerifyArgs),
    /// Verify a payment receipt: is it signed by the service, and for this answer?
    #[command(after_long_help = RECEIPT_NOTES)]
    VerifyReceipt(VerifyReceiptArgs),
    /// Verify a release of exitgap: is it signed by a key that you trust, and is each file the signed one?
    #[command(after_long_help = RELEASE_NOTES)]
    VerifyRelease(VerifyReleaseArgs),
    /// Replay a published log and check every head, snapshot, depth and hash.
    #[command(after_long_help = AUDIT_NOTES)]
    Audit(AuditArgs),
    /// Download closed days of a log as Parquet files, and check each against the signed log of days.
    #[command(after_long_help = EXPORT_NOTES)]
    Export(ExportArgs),
    /// Compare two operators' logs slot by slot.
    #[command(after_long_help = COMPARE_NOTES)]
    Compare(CompareArgs),
    /// Follow a published log: audit each new slot, and report invalid, missing or late slots and alert events.
    #[command(after_long_help = WATCH_NOTES)]
    Watch(WatchArgs),
    /// Serve the tools for agents on standard input and output (Model Context Protocol).
    #[command(after_long_help = MCP_NOTES)]
    Mcp(McpArgs),
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print the licences of the packages that this program was built from.
    #[command(alias = "licenses")]
    Licences,
}

/// A question, and what its answer must meet.
#[derive(Debug, Args)]
pub struct GuardedQuestion {
    #[command(flatten)]
    pub question: Question,
    #[command(flatten)]
    guards: GuardArgs,
}

impl GuardedQuestion {
    /// What the answer must meet.
    pub fn guards(&self) -> Result<Guards, Problem> {
        self.guards.parse_guards()
    }
}

impl GuardArgs {
    /// What the answer must meet.
    pub fn parse_guards(&self) -> Result<Guards, Problem> {
        let Self { max_age_s, min_days_observed, require } = self;
        let min_days_observed = min_days_observed.as_deref().map(Days::parse).transpose()?;
        Ok(Guards { max_age_s: *max_age_s, min_days_observed, require_live: require.is_some() })
    }
}

#[derive(Debug, Args)]
pub struct GuardArgs {
    /// Fail if the snapshot, or the unrecorded block, is older than this many seconds.
    #[arg(long, value_name = "S", help_heading = "Guards")]
    max_age_s: Option<u32>,
    /// Fail if fewer days were observed; a plain number with at most two decimals. Unrecorded data
    /// has no observed days.
    #[arg(long, value_name = "DAYS", help_heading = "Guards", allow_hyphen_values = true)]
    min_days_observed: Option<String>,
    /// Fail unless the status is this.
    #[arg(long, value_name = "STATUS", help_heading = "Guards", value_parser = ["live"])]
    require: Option<String>,
}

/// A pool, a direction and a place to read from.
#[derive(Debug, Args)]
pub struct Question {
    /// The pool's name.
    #[arg(help = "The pool, <chain>:<address>. Optional with --snapshot")]
    pub pool: Option<String>,
    /// The token to sell: token0, token1, its symbol or its address [default: the pool's; required
    /// with --snapshot, and with --rpc without --config].
    #[arg(long, value_name = "TOKEN")]
    pub base: Option<String>,
    #[command(flatten)]
    pub source: SourceArgs,
}

#[derive(Debug, Args)]
pub struct SourceArgs {
    /// Read from a recorder's database.
    #[arg(long, env = "EXITGAP_DB", value_name = "FILE", help_heading = "Source")]
    pub db: Option<PathBuf>,
    /// Read from a closed day's folder, as written by `exitgap export`; needs --at. The file is
    /// checked against the day's manifest; `exitgap audit` checks the day against its log.
    #[arg(long, value_name = "FOLDER", help_heading = "Source", requires = "at", conflicts_with_all = ["api", "rpc", "snapshot"])]
    pub day: Option<PathBuf>,
    /// Read a recorded snapshot from a service; its hash is checked and the answer is computed here.
    #[arg(long, value_name = "URL", help_heading = "Source", conflicts_with_all = ["rpc", "snapshot"])]
    pub api: Option<String>,
    /// The slot at or before this RFC 3339 time; it must be recorded [default: the newest recorded].
    #[arg(long, value_name = "TIME", help_heading = "Source", conflicts_with_all = ["rpc", "snapshot"])]
    pub at: Option<String>,
    /// Read the chain's latest block from this node (unrecorded); several nodes are tried in turn.
    #[arg(long, value_name = "URL", help_heading = "Source", conflicts_with = "snapshot")]
    pub rpc: Vec<String>,
    /// With --rpc: the recorder's configuration file, which describes chain, pool and oracles.
    #[arg(long, env = "EXITGAP_CONFIG", value_name = "FILE", help_heading = "Source")]
    pub config: Option<PathBuf>,
    /// With --rpc and no --config: the USD price of token 0, `chainlink:<feed>[@<heartbeat s>]` or
    /// `fixed:<price>` (preview chains only). Two oracles joined by `*` are multiplied.
    #[arg(long, value_name = "ORACLE", help_heading = "Source", requires = "rpc")]
    pub token0_usd: Option<String>,
    /// With --rpc and no --config: the same for token 1.
    #[arg(long, value_name = "ORACLE", help_heading = "Source", requires = "rpc")]
    pub token1_usd: Option<String>,
    /// With --rpc and no --config, for v2 pairs: the fee, such as 3/1000.
    #[arg(long, value_name = "N/D", help_heading = "Source", requires = "rpc")]
    pub fee: Option<String>,
    /// With --rpc and no --config: the chain's id; required unless the chain is ethereum, optimism,
    /// base or arbitrum.
    #[arg(long, value_name = "ID", help_heading = "Source", requires = "rpc")]
    pub chain_id: Option<u64>,
    /// Read from a file written by `exitgap snapshot`, or from an evidence file (- is stdin).
    #[arg(long, value_name = "FILE", help_heading = "Source")]
    pub snapshot: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct VerifyArgs {
    #[arg(
        value_name = "FILE|POOL",
        required_unless_present = "explain",
        help = "The evidence or figure file (- is stdin); with --api the pool, <chain>:<address>"
    )]
    pub subject: Option<String>,
    /// Explain each check: what it means, what it proves and what it does not prove. With a file or
    /// pool, results are shown too.
    #[arg(long)]
    pub explain: bool,
    #[command(flatten)]
    pub trust: TrustArgs,
    #[command(flatten)]
    pub remote: RemoteArgs,
    /// A signed checkpoint of the log that you kept; the file's checkpoint must extend the same history.
    #[arg(long, value_name = "FILE", help_heading = "Policy")]
    pub since: Option<PathBuf>,
    /// With --since: the consistency proof between the two checkpoints, one base64 hash per line.
    #[arg(long, value_name = "FILE", help_heading = "Policy", requires = "since")]
    pub proof: Option<PathBuf>,
    /// A copy of the log's folder: with --since to compute that proof from; with a figure file to check that the
    /// log sealed every head that the figure rests on.
    #[arg(long, value_name = "FOLDER", help_heading = "Policy", conflicts_with = "proof")]
    pub log: Option<PathBuf>,
    /// The pool's head window that ends at the file's head, which proves its seven-day figures; or
    /// a window that continues after it, which can show that the slot was retracted later (a
    /// claim).
    #[arg(long, value_name = "FILE", help_heading = "Policy")]
    pub window: Option<PathBuf>,
    /// The witnesses whose cosignatures the log's checkpoint must carry, as a policy file (C2SP
    /// tlog-policy) with lines such as
    /// `witness <name> <key>`, `group <name> 2 <name> <name> <name>` and `quorum <name>`.
    #[arg(long, value_name = "FILE", help_heading = "Policy", conflicts_with = "api")]
    pub witnesses: Option<PathBuf>,
    #[command(flatten)]
    pub chain: ChainArgs,
    /// For a figure file: the recorder's database or service URL with the snapshots to recompute it from.
    #[arg(long, value_name = "FILE|URL")]
    pub snapshots: Option<String>,
    /// For a figure file: what it has to be of, as `figure=`, `pool=` (for each pool), `base=`, `from=`,
    /// `to=`, `log=` or `status=`, with a value; else the verdict is `invalid`.
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Policy", conflicts_with = "api")]
    pub expect: Vec<String>,
}

#[derive(Debug, Args)]
pub struct VerifyReceiptArgs {
    /// The receipt from the X-Payment-Receipt header (- is stdin).
    #[arg(value_name = "FILE")]
    pub receipt: PathBuf,
    /// The key of the service's receipts: 43 characters, or a file with the key, a JSON Web Key or
    /// the response of GET /v1/payments.
    #[arg(long, value_name = "KEY|FILE", allow_hyphen_values = true)]
    pub key: String,
    /// The response body, byte for byte or as printed by `exitgap exit --json`; it must be the one
    /// that was paid for.
    #[arg(long, value_name = "FILE")]
    pub answer: Option<PathBuf>,
    /// The evidence file; it must use the same snapshot as the answer.
    #[arg(long, value_name = "FILE")]
    pub evidence: Option<PathBuf>,
    /// A published log's folder or a copy; or the URL of a service or its log, which is copied
    /// first. The log is audited, one of its heads must commit to the receipt, and the estimate is
    /// recomputed at later slots.
    #[arg(long, value_name = "FOLDER|URL", value_parser = clap::value_parser!(LogAt))]
    pub log: Option<LogAt>,
    /// With a URL: the folder for the copy; the next run continues from there.
    #[arg(long, value_name = "FOLDER", requires = "log")]
    pub copy: Option<PathBuf>,
    #[command(flatten)]
    pub trust: TrustArgs,
}

/// Evidence that a service is asked for.
#[derive(Debug, Args)]
pub struct RemoteArgs {
    /// Fetch the evidence, the head window, the newest checkpoint and later heads from a service.
    #[arg(
        long,
        value_name = "URL",
        help_heading = "From a service",
        requires_all = ["size_usd", "subject"],
        conflicts_with_all = ["since", "proof", "log", "window"]
    )]
    pub api: Option<String>,
    /// Size in USD, such as 250000, $250,000, 250k or 1.5m.
    #[arg(long, value_name = "USD", help_heading = "From a service", requires = "api")]
    pub size_usd: Option<String>,
    /// The token to sell: token0, token1, its symbol or its address [default: the pool's].
    #[arg(long, value_name = "TOKEN", help_heading = "From a service", requires = "api")]
    pub base: Option<String>,
    /// The slot at or before this RFC 3339 time; it must be recorded [default: the newest recorded].
    #[arg(long, value_name = "TIME", help_heading = "From a service", requires = "api")]
    pub at: Option<String>,
    /// Keep the log's keys and newest checkpoint in this folder, and compare the log with the
    /// checkpoint of the last run, which detects a rewritten history.
    #[arg(long, value_name = "FOLDER", help_heading = "From a service", requires = "api")]
    pub kept: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct McpArgs {
    /// URL of an exitgap service.
    #[arg(long, value_name = "URL", help_heading = "Source")]
    pub api: Option<String>,
    /// The recorder's database.
    #[arg(
        long,
        env = "EXITGAP_DB",
        value_name = "FILE",
        help_heading = "Source",
        required_unless_present = "api"
    )]
    pub db: Option<PathBuf>,
    #[command(flatten)]
    pub trust: TrustArgs,
    /// Keep the log's keys and newest checkpoint in this folder, and compare the log with the
    /// checkpoint of the last run, which detects a rewritten history.
    #[arg(long, value_name = "FOLDER", help_heading = "Policy", requires = "api")]
    pub kept: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct TrustArgs {
    /// A trusted verifier key, `<origin>+<id>+<base64>`, or a file with one key per line.
    #[arg(long, value_name = "KEY|FILE", help_heading = "Policy")]
    pub trust: Vec<String>,
}
