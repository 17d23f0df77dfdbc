//! The command line's arguments.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use exitgap_api::{Days, Guards, Problem};

use crate::pay_arguments::{EXIT_NOTES, ExitArgs, LEDGER_NOTES, PayCommand};

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
     enough for a statistic (hours, decay, exposure, accuracy)
  5  the database, file or chain could not be read
  6  invalid: the evidence, the log or the receipt does not hold (verify, audit, verify-receipt, exit --pay)
  7  incomplete: nothing is wrong, but not everything could be checked (the same)
  8  not paid for, or paid and not answered (exit --pay)

Environment:
  EXITGAP_DB      default of --db
  EXITGAP_CONFIG  default of --config
  NO_COLOR        no colours";

const VERIFY_NOTES: &str = "\
Examples:
  exitgap verify --explain
  exitgap verify evidence.json --trust verifier-key
  exitgap verify evidence.json --trust verifier-key --explain
  exitgap verify - --trust 'exitgap.example/log/5957856+d837dc1b+ARl/…' < evidence.json
  exitgap verify evidence.json --trust verifier-key --since checkpoint.last-week --log log/
  exitgap verify ethereum:0x88e6… --size-usd 250000 --api https://exitgap.example --kept seen/

With --api and no --trust, keys kept by an earlier run count; on the first, those that the service names.

Exit codes:
  0  valid       6  invalid       7  incomplete       5  could not be read       2  wrong arguments
  With --api also 3 and 4: the pool has no such fill, or nothing recorded (see `exitgap --help`)";

const RECEIPT_NOTES: &str = "\
A receipt says who paid what, and for which bytes, signed by the service. Nothing is asked of anybody. Whether the number is
right, evidence proves: `exitgap verify`.

Examples:
  curl -o payments.json https://exitgap.example/v1/payments
  exitgap verify-receipt receipt.jws --key payments.json
  exitgap verify-receipt receipt.jws --key payments.json --answer answer.json --evidence evidence.json

Exit codes:
  0  valid       6  invalid       7  incomplete       5  could not be read       2  wrong arguments";

const AUDIT_NOTES: &str = "\
Examples:
  exitgap audit log/ --trust verifier-key
  exitgap audit log/ --trust verifier-key --since checkpoint.last-week --json

Without --trust signatures are checked by the folder's own key. That shows that the log agrees
with itself, not whose log it is: the verdict is then `incomplete` at best.

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
        /// The recorder's database.
        #[arg(long, env = "EXITGAP_DB", value_name = "FILE", required_unless_present = "api")]
        db: Option<PathBuf>,
        /// A service's address.
        #[arg(long, value_name = "URL")]
        api: Option<String>,
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
    /// Open against closed markets: when the pool's market opens, and what its closures were like.
    Hours(HoursArgs),
    /// The worst of a period at any size: the ten worst slots, quantiles, and how long a gap was exceeded.
    #[command(after_long_help = STRESS_NOTES)]
    Stress(StressArgs),
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

#[derive(Debug, Args)]
pub struct HoursArgs {
    /// The pool's name.
    #[arg(help = "The pool, <chain>:<address>")]
    pub pool: String,
    /// One of the standard sizes, USD: 1000, 10000, 100000 or 1000000.
    #[arg(long, value_name = "USD", default_value = "10000")]
    pub size_usd: String,
    /// The token to sell: token0 or token1 [default: the pool's].
    #[arg(long, value_name = "TOKEN", value_parser = ["token0", "token1"])]
    pub base: Option<String>,
    /// Read from a recorder's database.
    #[arg(long, env = "EXITGAP_DB", value_name = "FILE", required_unless_present = "api")]
    pub db: Option<PathBuf>,
    /// Ask a service.
    #[arg(long, value_name = "URL")]
    pub api: Option<String>,
    #[command(flatten)]
    pub guards: GuardArgs,
}

const STRESS_NOTES: &str = "\
A slot in which the pool could not fill the size is worse than any number. The gaps of 1000, 10000, 100000 and 1000000 USD are \
kept of every slot; those of any other size are computed from the snapshots, of at most seven days at a time.

Examples:
  exitgap stress ethereum:0x88e6… --size-usd 250k --limit-pct 1 --db exitgap.db
  exitgap stress ethereum:0x88e6… --size-usd 1m --from 2026-08-01T00:00:00Z --to 2026-08-31T00:00:00Z --db exitgap.db
";

#[derive(Debug, Args)]
pub struct StressArgs {
    /// The pool's name.
    #[arg(help = "The pool, <chain>:<address>")]
    pub pool: String,
    /// The size to sell, USD at the oracle's price, such as 250000 or 250k.
    #[arg(long, value_name = "USD")]
    pub size_usd: String,
    /// Tell how long the gap lay above this, percent.
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    pub limit_pct: Option<String>,
    /// The token to sell: token0 or token1 [default: the pool's].
    #[arg(long, value_name = "TOKEN", value_parser = ["token0", "token1"])]
    pub base: Option<String>,
    /// The first slot, an RFC 3339 instant [default: the pool's first, or a week back].
    #[arg(long, value_name = "INSTANT")]
    pub from: Option<String>,
    /// The last slot, an RFC 3339 instant [default: the newest].
    #[arg(long, value_name = "INSTANT")]
    pub to: Option<String>,
    /// Read from a recorder's database.
    #[arg(long, env = "EXITGAP_DB", value_name = "FILE", required_unless_present = "api")]
    pub db: Option<PathBuf>,
    /// Ask a service.
    #[arg(long, value_name = "URL")]
    pub api: Option<String>,
    #[command(flatten)]
    pub guards: GuardArgs,
}

const DECAY_NOTES: &str = "\
The book is the depth at a gap from the pool's own mid price, in dollars of the oracle. After each move it is split exactly into \
what the move alone did, the liquidity of before under the price of after, and what providers put in or took out. Of pools of \
concentrated liquidity and of constant product. Exit code 4 where less than seven days are recorded.

Examples:
  exitgap decay ethereum:0x88e6… --db exitgap.db
  exitgap decay ethereum:0x88e6… --move-pct 0.2 --db exitgap.db
  exitgap decay ethereum:0x88e6… --file decay.json --db exitgap.db
  exitgap verify decay.json --trust verifier-key --snapshots exitgap.db
";

#[derive(Debug, Args)]
pub struct DecayArgs {
    /// The pool's name.
    #[arg(help = "The pool, <chain>:<address>")]
    pub pool: String,
    /// How far the pool's mid price must have moved, percent; of pegged tokens 0.2 tells more.
    #[arg(long, value_name = "PERCENT", default_value = "2")]
    pub move_pct: String,
    /// Over how many slots of five minutes it must have moved, 1 to 48.
    #[arg(long, value_name = "SLOTS", default_value = "3")]
    pub within_slots: String,
    /// The gap from the mid price at which books are measured, percent.
    #[arg(long, value_name = "PERCENT", default_value = "2")]
    pub gap: String,
    /// The token to sell: token0 or token1 [default: the pool's].
    #[arg(long, value_name = "TOKEN", value_parser = ["token0", "token1"])]
    pub base: Option<String>,
    /// The first slot, an RFC 3339 instant [default: 28 days before the last].
    #[arg(long, value_name = "INSTANT")]
    pub from: Option<String>,
    /// The last slot, an RFC 3339 instant [default: the newest].
    #[arg(long, value_name = "INSTANT")]
    pub to: Option<String>,
    /// Write the figure file that anyone can recompute it from, instead of printing the figure.
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Read from a recorder's database.
    #[arg(long, env = "EXITGAP_DB", value_name = "FILE", required_unless_present = "api")]
    pub db: Option<PathBuf>,
    /// Ask a service.
    #[arg(long, value_name = "URL")]
    pub api: Option<String>,
    #[command(flatten)]
    pub guards: GuardArgs,
}

const EXPOSURE_NOTES: &str = "\
Every slot of a week is looked at after the fall: liquidity stays where it is, the venues' prices and the oracle of the token \
sold fall together. Whoever liquidates gets 1 + bonus × (1 - protocol fee) dollars for each that they repay; up to the \
break-even gap they do not lose. The band says which of the two least depths takes all of it. With --positions what is sold is \
computed here from the venues' newest snapshots, once with an oracle that stays and once with one that follows the sale. A \
file of positions begins with the line `collateral,debt_usd,threshold_pct`: whole tokens, USD, percent. Exit code 4 where \
more than a twentieth of a week is missing.

Examples:
  exitgap exposure ethereum:0x88e6… ethereum:0x8ad5… --cascade-usd 5m --db exitgap.db
  exitgap exposure ethereum:0x88e6…/WETH --positions positions.csv --fall-pct 30 --bonus-pct 5 --db exitgap.db
  exitgap exposure ethereum:0x88e6… --cascade-usd 5m --file exposure.json --db exitgap.db
  exitgap verify exposure.json --trust verifier-key --snapshots exitgap.db
";

#[derive(Debug, Args)]
pub struct ExposureArgs {
    /// Where the collateral is sold: pools of one chain that sell one token.
    #[arg(required = true, num_args = 1..=12, value_name = "VENUE", help = "A pool, <chain>:<address> or <chain>:<address>/<base>; up to 12")]
    pub venues: Vec<String>,
    /// What is sold, USD at the oracle's price after the fall, such as 5m.
    #[arg(long, value_name = "USD", required_unless_present = "positions")]
    pub cascade_usd: Option<String>,
    /// Compute what is sold from these positions.
    #[arg(long, value_name = "FILE", conflicts_with = "cascade_usd")]
    pub positions: Option<PathBuf>,
    /// What whoever liquidates gets beyond what they repay, percent.
    #[arg(long, value_name = "PERCENT", default_value = "5")]
    pub bonus_pct: String,
    /// The protocol's share of the bonus, percent.
    #[arg(long, value_name = "PERCENT", default_value = "0")]
    pub protocol_fee_pct: String,
    /// How far the price of the token sold has fallen, percent.
    #[arg(long, value_name = "PERCENT", default_value = "20")]
    pub fall_pct: String,
    /// With --positions: how much of a debt is repaid at once, percent.
    #[arg(long, value_name = "PERCENT", default_value = "100", requires = "positions")]
    pub close_pct: String,
    /// The first slot, an RFC 3339 instant [default: seven days before the last].
    #[arg(long, value_name = "INSTANT")]
    pub from: Option<String>,
    /// The last slot, an RFC 3339 instant [default: the newest that all venues have].
    #[arg(long, value_name = "INSTANT")]
    pub to: Option<String>,
    /// Write the figure file that anyone can recompute it from, instead of printing the figure.
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Read from a recorder's database.
    #[arg(long, env = "EXITGAP_DB", value_name = "FILE", required_unless_present = "api")]
    pub db: Option<PathBuf>,
    /// Ask a service.
    #[arg(long, value_name = "URL")]
    pub api: Option<String>,
    #[command(flatten)]
    pub guards: GuardArgs,
}

const ACCURACY_NOTES: &str = "\
Nothing is selected: each swap that the pool logged between two recorded slots is compared with the newest estimate before it, \
and with older ones, or counted by why not. That the node kept none back is checked by the snapshots: all logs between two of \
them, replayed on the first, must give the second, bit for bit. Positive errors: reality was worse. Of Uniswap v3 and v2 and \
what logs as they do. Exit code 4 with less than 200 swaps or seven days. The snapshots are taken as they are: `exitgap audit` \
checks them against the signed log.

Example:
  exitgap accuracy ethereum:0x88e6… --rpc https://… --db exitgap.db
";

#[derive(Debug, Args)]
pub struct AccuracyArgs {
    /// The pool's name.
    #[arg(help = "The pool, <chain>:<address>")]
    pub pool: String,
    /// A node of the pool's chain that serves logs; several are tried in turn.
    #[arg(long, value_name = "URL", required = true)]
    pub rpc: Vec<String>,
    /// The chain's id, where it is not a well-known one (ethereum, optimism, base, arbitrum).
    #[arg(long, value_name = "ID")]
    pub chain_id: Option<u64>,
    /// The first slot, an RFC 3339 instant [default: seven days before the last].
    #[arg(long, value_name = "INSTANT")]
    pub from: Option<String>,
    /// The last slot, an RFC 3339 instant [default: the newest].
    #[arg(long, value_name = "INSTANT")]
    pub to: Option<String>,
    /// Read the snapshots from a recorder's database.
    #[arg(long, env = "EXITGAP_DB", value_name = "FILE", required_unless_present = "api")]
    pub db: Option<PathBuf>,
    /// Read the snapshots from a service.
    #[arg(long, value_name = "URL")]
    pub api: Option<String>,
}

const ROUTES_NOTES: &str = "\
Every leg is a sale of its own, exact to the last unit, and has evidence of its own; the legs add up to the size. No split over \
the venues that are not left out is better by more than the optimality gap. With --api every figure is recomputed here \
from the snapshots that the answer names.

Example:
  exitgap routes ethereum/0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2 --size-usd 250k --db exitgap.db
";

#[derive(Debug, Args)]
pub struct RoutesArgs {
    /// The token sold, by chain and address.
    #[arg(value_name = "TOKEN", help = "The token sold, <chain>/<address>")]
    pub token: String,
    /// The size to sell, USD at the oracle's price, such as 250000 or 250k.
    #[arg(long, value_name = "USD")]
    pub size_usd: String,
    /// Only pools that buy a token of this group, as the service's operator configured it.
    #[arg(long, value_name = "NAME", requires = "api")]
    pub quote_group: Option<String>,
    /// What using a venue costs whatever is sold there, such as gas, USD.
    #[arg(long, value_name = "USD", default_value = "0")]
    pub fixed_cost_usd: String,
    /// The slot at or before this RFC 3339 instant [default: the newest recorded].
    #[arg(long, value_name = "INSTANT")]
    pub at: Option<String>,
    /// Read from a recorder's database.
    #[arg(long, env = "EXITGAP_DB", value_name = "FILE", required_unless_present = "api")]
    pub db: Option<PathBuf>,
    /// Ask a service.
    #[arg(long, value_name = "URL")]
    pub api: Option<String>,
    #[command(flatten)]
    pub guards: GuardArgs,
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
pub struct AuditArgs {
    /// The log's folder, or a copy of it.
    #[arg(value_name = "FOLDER")]
    pub log: PathBuf,
    #[command(flatten)]
    pub trust: TrustArgs,
    /// A signed checkpoint of the log that you kept: the log must still hold it.
    #[arg(long, value_name = "FILE", help_heading = "Policy")]
    pub since: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct TrustArgs {
    /// A verifier key whose signature counts, `<origin>+<id>+<base64>`, or a file with one per line.
    #[arg(long, value_name = "KEY|FILE", help_heading = "Policy")]
    pub trust: Vec<String>,
}
