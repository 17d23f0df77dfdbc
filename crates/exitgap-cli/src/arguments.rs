//! The command line's arguments.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use exitgap_api::{Days, Guards, Problem};

use crate::alert_arguments::{ALERT_NOTES, AlertCommand};
use crate::chain_arguments::ChainArgs;
use crate::figure_arguments::{
    ACCURACY_NOTES, DECAY_NOTES, EXPOSURE_NOTES, ROUTES_NOTES, STRESS_NOTES,
};
pub use crate::figure_arguments::{
    AccuracyArgs, DecayArgs, EQUITIES_NOTES, EquitiesArgs, ExposureArgs, FRAGILITY_NOTES,
    FragilityArgs, HISTORY_NOTES, HistoryArgs, HoursArgs, PORTFOLIO_NOTES, PortfolioArgs,
    REDEEM_NOTES, RoutesArgs, StressArgs,
};
use crate::log_arguments::{AUDIT_NOTES, COMPARE_NOTES, EXPORT_NOTES, WATCH_NOTES};
pub use crate::log_arguments::{AuditArgs, CompareArgs, ExportArgs, WatchArgs};
use crate::log_source::LogAt;
use crate::pay_arguments::{EXIT_NOTES, ExitArgs, LEDGER_NOTES, PayCommand};
use crate::recorded::RecordedFrom;

/// At this size, how far below the oracle price will I really fill?
///
/// Answers are exact to the last unit of the pool contract's own fill. They come
/// from a recorder's database (--db), from a service (--api), from a chain's latest
/// block (--rpc) or from a snapshot file (--snapshot). They are computed here, also
/// where a service holds the snapshots.
#[derive(Debug, Parser)]
#[command(name = "exitgap", version, arg_required_else_help = true, after_long_help = EXIT_CODES)]
pub struct Cli {
    /// Print JSON, in the service's own fields; with --api what it serves, byte for byte.
    #[arg(long, global = true)]
    pub json: bool,

    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "\
Examples:
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
  1  unexpected: the result could not be written
  2  the arguments are wrong
  3  refused: this pool has no fill for this question (too large, too small), or what there
     is does not meet a guard
  4  nothing recorded to answer from (unknown pool, missing slot, before the series), or not
     enough for a statistic (hours, decay, exposure, accuracy, equities)
  5  the database, file or chain could not be read
  6  invalid: the evidence, the log or the receipt does not hold (verify, audit, verify-receipt, exit --pay)
  7  incomplete: nothing is wrong, but not everything could be checked (the same)
  8  not paid for, or paid and not answered (exit --pay)

Environment:
  EXITGAP_DB      default of --db
  EXITGAP_CONFIG  default of --config
  EXITGAP_ALERTS_TOKEN  default of --token, of rules that a service keeps
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

A file is evidence of one number, a figure, a proof that two histories of a log were signed, or a report: several of the first two, one a
line, which is valid where each of them is. A report's first line names the files that follow: where one is left out, changed,
doubled or out of place, it is invalid; a report without such a line is said to be of no stated length.
With --api and no --trust, keys kept by an earlier run count; on the first, those that the service names.

Exit codes:
  0  valid       6  invalid       7  incomplete       5  could not be read       2  wrong arguments
  With --api also 3 and 4: the pool has no such fill, or nothing recorded (see `exitgap --help`)";

const RECEIPT_NOTES: &str = "\
A receipt says who paid what, and for which bytes, signed by the service. Nothing is asked of anybody, but for a log
at its URL. Whether the number is right, evidence proves: `exitgap verify`. With --log, a head of the pool must commit to the
receipt: what was sold cannot be forgotten, and what it was worth later is told. Valid is that only by a key named with --trust.

Examples:
  curl -o payments.json https://exitgap.example/v1/payments
  exitgap verify-receipt receipt.jws --key payments.json
  exitgap verify-receipt receipt.jws --key payments.json --answer answer.json --evidence evidence.json
  exitgap verify-receipt receipt.jws --key payments.json --log https://exitgap.example --trust exitgap.pub

Exit codes:
  0  valid       6  invalid       7  incomplete       5  could not be read       2  wrong arguments";

const MCP_NOTES: &str = "\
Eight read-only tools. With --api, snapshots are fetched, hashed and answered from here, and evidence is verified here: what
an agent is told follows from the log, or it is told that it does not. Nothing is paid for.

Examples:
  exitgap mcp --api https://exitgap.example
  exitgap mcp --api https://exitgap.example --kept seen/
  exitgap mcp --db exitgap.db";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the pools of a recorder's database or a service, with the length of each series.
    Pools {
        #[command(flatten)]
        from: RecordedFrom,
        /// Only the pools of this chain, as it is called there: ethereum, base.
        #[arg(long, value_name = "CHAIN")]
        chain: Option<String>,
    },
    /// What an exit of a stated size fills at: its gap, and what the gap is made of.
    Estimate {
        #[command(flatten)]
        question: Guarded,
        /// The size in USD at the oracle's price, 0.01 to 1000000000: 250000, $250,000, 250k, 1.5m.
        #[arg(long, value_name = "USD", allow_hyphen_values = true)]
        size_usd: String,
    },
    /// What a service answers now for an exit of a stated size; with --pay, paid for where it asks.
    #[command(after_long_help = EXIT_NOTES)]
    Exit(ExitArgs),
    /// Rules that say when a pool is worth a word.
    #[command(subcommand, after_long_help = ALERT_NOTES)]
    Alert(AlertCommand),
    /// What was paid: list the ledger, and ask the chain about what is not known.
    #[command(subcommand, after_long_help = LEDGER_NOTES)]
    Pay(PayCommand),
    /// Depth by gap and slippage by size.
    Ladder {
        #[command(flatten)]
        question: Guarded,
        /// Gap steps in percent, comma separated [default: 0.1,0.25,0.5,1,2,3,5,10].
        #[arg(long, value_name = "PCT,…", value_delimiter = ',', allow_hyphen_values = true)]
        gap: Vec<String>,
        /// Size steps in USD, comma separated: 1k,250k,1.5m [default: 1000,10000,100000,1000000].
        #[arg(long, value_name = "USD,…", value_delimiter = ',', allow_hyphen_values = true)]
        size_usd: Vec<String>,
    },
    /// The largest exit whose gap stays within a limit.
    Size {
        #[command(flatten)]
        question: Guarded,
        /// The largest gap accepted, in percent: -100 to 100, at most six decimals.
        #[arg(long, value_name = "PCT", allow_hyphen_values = true)]
        gap: String,
    },
    /// One exit in several orders, beside the same exit at once.
    ///
    /// Between two orders √price moves back by --recovery-pct of its distance from
    /// where it stood before the first; liquidity and oracle stay as they are. That
    /// is an assumption of yours, not a forecast of ours.
    Simulate {
        #[command(flatten)]
        question: Guarded,
        /// The whole size in USD: 250000, $250,000, 250k, 1.5m.
        #[arg(long, value_name = "USD", allow_hyphen_values = true)]
        size_usd: String,
        /// Number of orders, 1 to 1000.
        #[arg(long, value_name = "N")]
        orders: u32,
        /// Share of its displacement that √price recovers between orders: 0 to 100.
        #[arg(long, value_name = "PCT", default_value = "0", allow_hyphen_values = true)]
        recovery_pct: String,
        /// Seconds between orders; echoed, nothing is computed from it.
        #[arg(long, value_name = "S", default_value_t = 0)]
        interval_s: u32,
    },
    /// Sell now, or redeem later? One sale beside what terms pay, and the yearly rate at which waiting breaks even.
    #[command(after_long_help = REDEEM_NOTES)]
    Redeem {
        #[command(flatten)]
        question: Guarded,
        /// The size in USD: 250000, $250,000, 250k, 1.5m.
        #[arg(long, value_name = "USD", allow_hyphen_values = true)]
        size_usd: String,
        /// A file of terms, JSON; may be given several times.
        #[arg(long, value_name = "FILE", required = true)]
        terms: Vec<PathBuf>,
    },
    /// Open against closed markets: when the pool's market opens, and what its closures were like.
    Hours(HoursArgs),
    /// Tokenized equities: where each stands, and how its pools trade in each session of its exchange.
    #[command(after_long_help = EQUITIES_NOTES)]
    Equities(EquitiesArgs),
    /// What a service can do, how far that may be depended on, and why a chain is not live.
    Capabilities {
        /// The service.
        #[arg(long, value_name = "URL")]
        api: String,
    },
    /// Several positions sold at once: what each exit fills at, and all of them together.
    #[command(after_long_help = PORTFOLIO_NOTES)]
    Portfolio(PortfolioArgs),
    /// Every pool of a recorder or a service beside the others, the most fragile first.
    #[command(after_long_help = FRAGILITY_NOTES)]
    Fragility(FragilityArgs),
    /// The gap over time, a row for each slot, hour or day, with what was not recorded or could not be filled.
    #[command(after_long_help = HISTORY_NOTES)]
    History(HistoryArgs),
    /// The worst of a period at any size: the ten worst slots, quantiles, and how long a gap was exceeded.
    #[command(after_long_help = STRESS_NOTES)]
    Stress(StressArgs),
    /// What recorded moves did that a service's operator named, as `stress --shock` takes them.
    Shocks {
        /// The service.
        #[arg(long, value_name = "URL")]
        api: String,
    },
    /// How a pool's book thins after its price has moved, and how much of it was withdrawn.
    #[command(after_long_help = DECAY_NOTES)]
    Decay(DecayArgs),
    /// Could the market of any slot of a week have absorbed a liquidation, after a fall of the price?
    #[command(after_long_help = EXPOSURE_NOTES)]
    Exposure(ExposureArgs),
    /// Every real swap of a pool against what was estimated of it, recounted from a node.
    #[command(after_long_help = ACCURACY_NOTES)]
    Accuracy(AccuracyArgs),
    /// Through which venues is a size best sold: each alone, and the exact split over all of them.
    #[command(after_long_help = ROUTES_NOTES)]
    Routes(RoutesArgs),
    /// Write a snapshot and the pool's state that it names to stdout, as one JSON object.
    ///
    /// Both stand in it as their canonical bytes: the SHA-256 of `snapshot` is the name that heads
    /// give it, that of `state` the one that the snapshot gives its state.
    ///
    /// With --rpc, the pool is read at the chain's newest slot, as a recorder reads it: the same
    /// blocks, pools and oracles give the same bytes.
    Snapshot {
        #[command(flatten)]
        question: Question,
    },
    /// Check evidence, a file or asked of a service: does its number follow from the signed log?
    #[command(after_long_help = VERIFY_NOTES)]
    Verify(VerifyArgs),
    /// Check the receipt of a payment: is it the service's word, and of this answer?
    #[command(after_long_help = RECEIPT_NOTES)]
    VerifyReceipt(VerifyReceiptArgs),
    /// Replay a published log: every head, snapshot, depth and hash of every slot.
    #[command(after_long_help = AUDIT_NOTES)]
    Audit(AuditArgs),
    /// Fetch closed days of a log as Parquet, and check each file against the signed log of days.
    #[command(after_long_help = EXPORT_NOTES)]
    Export(ExportArgs),
    /// Hold two operators' published logs against each other, slot by slot.
    #[command(after_long_help = COMPARE_NOTES)]
    Compare(CompareArgs),
    /// Follow a published log: audit each slot that comes, and alarm at what does not hold, is missing, late, or a rule's.
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
pub struct Guarded {
    #[command(flatten)]
    pub question: Question,
    #[command(flatten)]
    guards: GuardArgs,
}

impl Guarded {
    /// What the answer must meet.
    pub fn guards(&self) -> Result<Guards, Problem> {
        self.guards.read()
    }
}

impl GuardArgs {
    /// What the answer must meet.
    pub fn read(&self) -> Result<Guards, Problem> {
        let Self { max_age_s, min_days_observed, require } = self;
        let min_days_observed = min_days_observed.as_deref().map(Days::parse).transpose()?;
        Ok(Guards { max_age_s: *max_age_s, min_days_observed, require_live: require.is_some() })
    }
}

#[derive(Debug, Args)]
pub struct GuardArgs {
    /// Refuse a snapshot, or a block that is not recorded, older than so many seconds.
    #[arg(long, value_name = "S", help_heading = "Guards")]
    max_age_s: Option<u32>,
    /// Refuse a series of fewer days: a plain number with at most two decimals. What is not recorded
    /// has no series.
    #[arg(long, value_name = "DAYS", help_heading = "Guards", allow_hyphen_values = true)]
    min_days_observed: Option<String>,
    /// Refuse what has another status.
    #[arg(long, value_name = "STATUS", help_heading = "Guards", value_parser = ["live"])]
    require: Option<String>,
}

/// A pool, a direction and a place to read from.
#[derive(Debug, Args)]
pub struct Question {
    /// The pool's name.
    #[arg(help = "The pool, <chain>:<address>. May be left out with --snapshot")]
    pub pool: Option<String>,
    /// The token to sell: token0, token1, its symbol or its address [default: the pool's; to be
    /// named with --snapshot, and with --rpc without --config].
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
    /// Read from a closed day's folder, as `exitgap export` writes it; with --at. The file that is read is checked against
    /// the day's manifest, and by `exitgap audit` against its log.
    #[arg(long, value_name = "FOLDER", help_heading = "Source", requires = "at", conflicts_with_all = ["api", "rpc", "snapshot"])]
    pub day: Option<PathBuf>,
    /// Read a recorded snapshot from a service; its hash is checked and the answer computed here.
    #[arg(long, value_name = "URL", help_heading = "Source", conflicts_with_all = ["rpc", "snapshot"])]
    pub api: Option<String>,
    /// The slot at or before this instant, which must be a recorded one, RFC 3339 [default: the newest recorded].
    #[arg(long, value_name = "TIME", help_heading = "Source", conflicts_with_all = ["rpc", "snapshot"])]
    pub at: Option<String>,
    /// Read the chain's latest block from this node (unrecorded); several are tried in turn.
    #[arg(long, value_name = "URL", help_heading = "Source", conflicts_with = "snapshot")]
    pub rpc: Vec<String>,
    /// With --rpc: the file that describes chain, pool and oracles, as the recorder reads it.
    #[arg(long, env = "EXITGAP_CONFIG", value_name = "FILE", help_heading = "Source")]
    pub config: Option<PathBuf>,
    /// With --rpc and no --config: the USD price of token 0, `chainlink:<feed>[@<heartbeat s>]` or
    /// `fixed:<price>` (preview chains only); two joined by `*` are multiplied.
    #[arg(long, value_name = "ORACLE", help_heading = "Source", requires = "rpc")]
    pub token0_usd: Option<String>,
    /// With --rpc and no --config: the same for token 1.
    #[arg(long, value_name = "ORACLE", help_heading = "Source", requires = "rpc")]
    pub token1_usd: Option<String>,
    /// With --rpc and no --config, for v2 pairs: the fee, e.g. 3/1000.
    #[arg(long, value_name = "N/D", help_heading = "Source", requires = "rpc")]
    pub fee: Option<String>,
    /// With --rpc and no --config: the chain's id, where the pool's chain is not a
    /// well-known one (ethereum, optimism, base, arbitrum).
    #[arg(long, value_name = "ID", help_heading = "Source", requires = "rpc")]
    pub chain_id: Option<u64>,
    /// Read from a file that `exitgap snapshot` wrote, or from an evidence file (- is stdin).
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
    /// Say what each check means, what it proves and what it does not; of a file or pool beside
    /// what was found.
    #[arg(long)]
    pub explain: bool,
    #[command(flatten)]
    pub trust: TrustArgs,
    #[command(flatten)]
    pub remote: RemoteArgs,
    /// A signed checkpoint of the log that you kept: the file's must be of the same history.
    #[arg(long, value_name = "FILE", help_heading = "Policy")]
    pub since: Option<PathBuf>,
    /// With --since: the consistency proof between the two, one base64 hash per line.
    #[arg(long, value_name = "FILE", help_heading = "Policy", requires = "since")]
    pub proof: Option<PathBuf>,
    /// With --since: a copy of the log's folder to compute that proof from.
    #[arg(
        long,
        value_name = "FOLDER",
        help_heading = "Policy",
        requires = "since",
        conflicts_with = "proof"
    )]
    pub log: Option<PathBuf>,
    /// The pool's head window that ends at the file's head, which bears out its seven-day figures;
    /// or one that goes on from there, which claims what came after: it tells of a slot taken back.
    #[arg(long, value_name = "FILE", help_heading = "Policy")]
    pub window: Option<PathBuf>,
    /// Whose cosignatures the log's checkpoint must bear: a policy of witnesses (C2SP tlog-policy), with lines such as
    /// `witness <name> <key>`, `group <name> 2 <name> <name> <name>` and `quorum <name>`.
    #[arg(long, value_name = "FILE", help_heading = "Policy", conflicts_with = "api")]
    pub witnesses: Option<PathBuf>,
    #[command(flatten)]
    pub chain: ChainArgs,
    /// Of a figure file: where the snapshots are that it is recomputed from, a recorder's database or a service's URL.
    #[arg(long, value_name = "FILE|URL")]
    pub snapshots: Option<String>,
}

#[derive(Debug, Args)]
pub struct VerifyReceiptArgs {
    /// The receipt, as the header X-Payment-Receipt had it (- is stdin).
    #[arg(value_name = "FILE")]
    pub receipt: PathBuf,
    /// The key of the service's receipts: 43 characters, or a file with them, a JSON Web Key or what
    /// GET /v1/payments answered.
    #[arg(long, value_name = "KEY|FILE", allow_hyphen_values = true)]
    pub key: String,
    /// The answer's body, byte for byte, or as `exitgap exit --json` prints it: it must be the one that was paid
    /// for.
    #[arg(long, value_name = "FILE")]
    pub answer: Option<PathBuf>,
    /// The evidence file: it must rest on the snapshot that was answered from.
    #[arg(long, value_name = "FILE")]
    pub evidence: Option<PathBuf>,
    /// A published log's folder or a copy of it; or the URL of a service, or of its log, which is copied first. It is
    /// audited, a head of it must commit to the receipt, and the estimate is quoted again at the slots after it.
    #[arg(long, value_name = "FOLDER|URL", value_parser = clap::value_parser!(LogAt))]
    pub log: Option<LogAt>,
    /// With a URL: the folder that the copy is kept in; the next run goes on from there.
    #[arg(long, value_name = "FOLDER", requires = "log")]
    pub copy: Option<PathBuf>,
    #[command(flatten)]
    pub trust: TrustArgs,
}

/// Evidence that a service is asked for.
#[derive(Debug, Args)]
pub struct RemoteArgs {
    /// Fetch the evidence, the head window, the log's newest checkpoint and what came after from a
    /// service.
    #[arg(
        long,
        value_name = "URL",
        help_heading = "From a service",
        requires_all = ["size_usd", "subject"],
        conflicts_with_all = ["since", "proof", "log", "window"]
    )]
    pub api: Option<String>,
    /// The size in USD: 250000, $250,000, 250k, 1.5m.
    #[arg(long, value_name = "USD", help_heading = "From a service", requires = "api")]
    pub size_usd: Option<String>,
    /// The token to sell: token0, token1, its symbol or its address [default: the pool's].
    #[arg(long, value_name = "TOKEN", help_heading = "From a service", requires = "api")]
    pub base: Option<String>,
    /// The slot at or before this instant, which must be a recorded one, RFC 3339 [default: the newest recorded].
    #[arg(long, value_name = "TIME", help_heading = "From a service", requires = "api")]
    pub at: Option<String>,
    /// Keep the log's keys and its newest checkpoint in this folder, and hold the log against
    /// what an earlier run kept there: a history rewritten since is noticed.
    #[arg(long, value_name = "FOLDER", help_heading = "From a service", requires = "api")]
    pub kept: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct McpArgs {
    /// The service to ask.
    #[arg(long, value_name = "URL", help_heading = "Source")]
    pub api: Option<String>,
    /// The recorder's database to ask.
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
    /// Keep the log's keys and its newest checkpoint in this folder, and hold the log against what an
    /// earlier run kept there: a history rewritten since is noticed.
    #[arg(long, value_name = "FOLDER", help_heading = "Policy", requires = "api")]
    pub kept: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct TrustArgs {
    /// A verifier key whose signature counts, `<origin>+<id>+<base64>`, or a file with one per line.
    #[arg(long, value_name = "KEY|FILE", help_heading = "Policy")]
    pub trust: Vec<String>,
}
