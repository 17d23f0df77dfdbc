//! Arguments of the commands that ask for figures of many slots, or of several venues.

use std::path::PathBuf;

use clap::Args;

use crate::recorded::{RecordedArgs, RecordedFrom};

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
    /// Write the figure file that anyone can recompute it from, instead of printing the figure.
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub source: RecordedArgs,
}

pub const EQUITIES_NOTES: &str = "\
A share is a token that the operator configured, with its kind and the recorded facts that say where it stands; with --db, the \
[[equity]] tables of --config say the same. Each of its pools has a vector of 42 days up to the last whole day of UTC, never one \
number. Slots while it is paused, or a change of its multiplier is due within a day, are counted and left out.

It says nothing of issuer, custody or eligibility.

Examples:
  exitgap equities --api https://exitgap.example
  exitgap equities ethereum/0x1234… --size-usd 50k --api https://exitgap.example
  exitgap equities ethereum/0x1234… --db exitgap.db --config exitgap.toml --file share.json
  exitgap verify share.json --trust verifier-key --snapshots exitgap.db
";

#[derive(Debug, Args)]
pub struct EquitiesArgs {
    /// The share, by chain and address.
    #[arg(
        value_name = "TOKEN",
        help = "The share, <chain>/<address> [default: all of them, without vectors]"
    )]
    pub token: Option<String>,
    /// The size of the gaps, USD at the oracle's price, such as 50000 or 50k.
    #[arg(long, value_name = "USD", default_value = "10000")]
    pub size_usd: String,
    /// The gap limit of the depths in sessions, percent.
    #[arg(long, value_name = "PERCENT", default_value = "2")]
    pub gap_pct: String,
    /// Write the figure file of one pool that anyone can recompute it from, instead of printing.
    #[arg(long, value_name = "FILE", requires = "token")]
    pub file: Option<PathBuf>,
    /// With --file: of which pool [default: the deepest].
    #[arg(long, value_name = "POOL", requires = "file")]
    pub pool: Option<String>,
    /// With --db: the recorder's file, whose equity tables name the shares.
    #[arg(long, env = "EXITGAP_CONFIG", value_name = "FILE", required_unless_present = "api")]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    pub source: RecordedArgs,
}

pub const HISTORY_NOTES: &str = "\
Every slot of the period is counted: what was not recorded is a number of its row. The worst gap of a row is the widest of the \
slots that were filled; in how many the size could not be filled stands beside it, and is worse. Without --from one page is told, \
720 rows up to --to; with it every row since. With --json each page is printed as the service serves it, one after the other.

Examples:
  exitgap history ethereum:0x88e6… --size-usd 100k --db exitgap.db
  exitgap history ethereum:0x88e6… --size-usd 100k --interval 1d --from 2026-08-01T00:00:00Z --api https://exitgap.example
  exitgap history ethereum:0x88e6… --size-usd 100k --json --db exitgap.db | jq -r '.rows[] | [.time, .worst.exit_gap_pct] | @tsv'
";

#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// The pool.
    #[arg(value_name = "POOL", help = "The pool, <chain>:<address>")]
    pub pool: String,
    /// The size to sell, USD at the oracle's price, such as 250000 or 250k.
    #[arg(long, value_name = "USD")]
    pub size_usd: String,
    /// The length of a row.
    #[arg(long, value_name = "INTERVAL", default_value = "1h", value_parser = ["5m", "1h", "1d"])]
    pub interval: String,
    /// The token to sell: token0 or token1 [default: the pool's].
    #[arg(long, value_name = "TOKEN", value_parser = ["token0", "token1"])]
    pub base: Option<String>,
    /// The first slot, an RFC 3339 instant [default: as far back as one page reaches].
    #[arg(long, value_name = "INSTANT")]
    pub from: Option<String>,
    /// The last slot, an RFC 3339 instant [default: the newest].
    #[arg(long, value_name = "INSTANT")]
    pub to: Option<String>,
    #[command(flatten)]
    pub source: RecordedArgs,
}

pub const PORTFOLIO_NOTES: &str = "\
Positions in one pool are sold together: the second fills where the first has left the price. A token is sold through all of its \
recorded pools, as `exitgap routes` splits it. What cannot be filled is said, not left out.

Examples:
  exitgap portfolio ethereum:0x88e6…:250k ethereum:0x8ad5…/WETH:1m --db exitgap.db
  exitgap portfolio ethereum/0xc02a…:2m --api https://exitgap.example
";

#[derive(Debug, Args)]
pub struct PortfolioArgs {
    /// What is sold, and how much of it.
    #[arg(required = true, num_args = 1..=100, value_name = "POSITION", help = "<pool>:<size>, <pool>/<base>:<size> or <chain>/<token>:<size>, USD; up to 100")]
    pub positions: Vec<String>,
    #[command(flatten)]
    pub source: RecordedArgs,
}

pub const FRAGILITY_NOTES: &str = "\
The score is 1 - lowest / median depth of seven days: the share of the usual depth that was gone when it was lowest. With --json \
each page is printed as the service serves it, one after the other.

Examples:
  exitgap fragility --db exitgap.db
  exitgap fragility --sort depth --chain ethereum --api https://exitgap.example
";

#[derive(Debug, Args)]
pub struct FragilityArgs {
    #[command(flatten)]
    pub from: RecordedFrom,
    /// Only the pools of this chain, as it is called there: ethereum, base.
    #[arg(long, value_name = "CHAIN")]
    pub chain: Option<String>,
    /// What the most fragile comes first by.
    #[arg(long, value_name = "ORDER", default_value = "gap", value_parser = ["gap", "score", "depth"])]
    pub sort: String,
    /// The standard size whose gap is told: 1000, 10000, 100000 or 1000000, also as 100k or 1m.
    #[arg(long, value_name = "USD", default_value = "100000")]
    pub size_usd: String,
}

pub const STRESS_NOTES: &str = "\
A slot in which the pool could not fill the size is worse than any number. The gaps of 1000, 10000, 100000 and 1000000 USD are \
kept of every slot; those of any other size are computed from the snapshots, of at most seven days at a time.

With several pools, which sell one token, with --haircut-pct, --fall-pct, --shock, --after-move-pct or --file, every slot of at \
most a week is computed anew: the size is split over the pools exactly, after that share of everybody's liquidity has gone and \
the price has fallen by that; with --after-move-pct in the slots alone whose price has moved so far. Only pools of concentrated \
liquidity and of constant product can be shocked, or asked about moves.

Examples:
  exitgap stress ethereum:0x88e6… --size-usd 250k --limit-pct 1 --db exitgap.db
  exitgap stress ethereum:0x88e6… --size-usd 1m --from 2026-08-01T00:00:00Z --to 2026-08-31T00:00:00Z --db exitgap.db
  exitgap stress ethereum:0x88e6…/WETH ethereum:0x8ad5…/WETH --size-usd 5m --haircut-pct 40 --fall-pct 20 --db exitgap.db
  exitgap stress ethereum:0x88e6… --size-usd 250k --after-move-pct 2 --within-slots 3 --db exitgap.db
  exitgap stress ethereum:0x88e6… --size-usd 5m --shock march-2026 --api https://exitgap.example
  exitgap stress ethereum:0x88e6… --size-usd 5m --haircut-pct 40 --file stress.json --db exitgap.db
  exitgap verify stress.json --trust verifier-key --snapshots exitgap.db
";

#[derive(Debug, Args)]
pub struct StressArgs {
    /// Where it is sold: pools of one chain that sell one token.
    #[arg(required = true, num_args = 1..=12, value_name = "VENUE", help = "A pool, <chain>:<address> or <chain>:<address>/<base>; up to 12")]
    pub venues: Vec<String>,
    /// The size to sell, USD at the oracle's price, such as 250000 or 250k.
    #[arg(long, value_name = "USD")]
    pub size_usd: String,
    /// How much of everybody's liquidity has gone, percent from 0 to 99.
    #[arg(long, value_name = "PERCENT")]
    pub haircut_pct: Option<String>,
    /// How far the price of the token sold has fallen, percent from 0 to 99.
    #[arg(long, value_name = "PERCENT")]
    pub fall_pct: Option<String>,
    /// In place of both: a recorded fall that the service named, one of `exitgap shocks`.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["haircut_pct", "fall_pct"])]
    pub shock: Option<String>,
    /// Only slots in which the mid price of a venue has moved so far, percent, up or down.
    #[arg(long, value_name = "PERCENT")]
    pub after_move_pct: Option<String>,
    /// Since how many slots of five minutes it must have moved, 1 to 48 [default: 3].
    #[arg(long, value_name = "SLOTS", requires = "after_move_pct")]
    pub within_slots: Option<String>,
    /// Tell how long the gap lay above this, percent.
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    pub limit_pct: Option<String>,
    /// The token to sell: token0 or token1 [default: the pool's]; of several pools, each its own after a slash.
    #[arg(long, value_name = "TOKEN", value_parser = ["token0", "token1"])]
    pub base: Option<String>,
    /// The first slot, an RFC 3339 instant [default: the pool's first, or a week back].
    #[arg(long, value_name = "INSTANT")]
    pub from: Option<String>,
    /// The last slot, an RFC 3339 instant [default: the newest].
    #[arg(long, value_name = "INSTANT")]
    pub to: Option<String>,
    /// Write the figure file that anyone can recompute it from, instead of printing the figure.
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub source: RecordedArgs,
}

pub const DECAY_NOTES: &str = "\
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
    #[command(flatten)]
    pub source: RecordedArgs,
}

pub const EXPOSURE_NOTES: &str = "\
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
    #[command(flatten)]
    pub source: RecordedArgs,
}

pub const ACCURACY_NOTES: &str = "\
Nothing is selected: each swap that the pool logged between two recorded slots is compared with the newest estimate before it, \
and with older ones, or counted by why not. Without --rpc the swaps are those that the recorder read, to which the pool's heads \
commit; with --rpc they are read from a node again, and the recorder's word for them is not taken. That none was kept back is checked by the snapshots: the logs between two of \
them are replayed on the first; each swap must be one that the contract makes there, and they must end at the second, bit for \
bit. Positive errors: reality was worse. Of Uniswap v3 and v2 and what logs as they do. Exit code 4 with less than 200 swaps or seven days. The snapshots are taken as they are: `exitgap audit` \
checks them against the signed log. Without a pool a row for each recorded pool, of the last seven days: a service sums them up in turn
and says until when each knows, from a database all are summed up first, which may take minutes.

Example:
  exitgap accuracy --api https://…
  exitgap accuracy ethereum:0x88e6… --api https://…
  exitgap accuracy ethereum:0x88e6… --api https://… --rpc https://…
";

#[derive(Debug, Args)]
pub struct AccuracyArgs {
    /// The pool's name; left out, a row for each recorded pool.
    #[arg(help = "The pool, <chain>:<address> [default: a row for each]")]
    pub pool: Option<String>,
    /// Recount it from a node of the pool's chain that serves logs; several are tried in turn.
    #[arg(long, value_name = "URL", requires = "pool")]
    pub rpc: Vec<String>,
    /// The chain's id, where it is not a well-known one (ethereum, optimism, base, arbitrum).
    #[arg(long, value_name = "ID")]
    pub chain_id: Option<u64>,
    /// The first slot, an RFC 3339 instant [default: seven days before the last].
    #[arg(long, value_name = "INSTANT", requires = "pool")]
    pub from: Option<String>,
    /// The last slot, an RFC 3339 instant [default: the newest].
    #[arg(long, value_name = "INSTANT", requires = "pool")]
    pub to: Option<String>,
    /// Write the figure file that anyone can recompute it from, instead of printing the figure.
    #[arg(long, value_name = "FILE", conflicts_with = "rpc", requires = "pool")]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub source: RecordedArgs,
}

pub const ROUTES_NOTES: &str = "\
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
    #[command(flatten)]
    pub source: RecordedArgs,
}

pub const REDEEM_NOTES: &str = "\
Modelled: terms are a file that you wrote after what you read, and its hash is told. A file names how it pays, what is kept, the \
least and the most that is redeemed, for whom, and where and when you read it:

  {\"v\": 1, \"kind\": \"on_days\", \"calendar\": \"XNYS\", \"cutoff_before_close_s\": 3600, \"settlement_days\": [1, 2],
   \"fee_pct\": \"0.1\", \"minimum_usd\": \"1000\", \"capacity_usd\": \"5000000\",
   \"eligibility\": \"…\", \"source\": \"https://…\", \"read_on\": \"2026-11-20\"}

What is handed in up to the cut-off, so long before a trading day's close, counts for that day, later for the next; it is paid at \
the close so many trading days after, at the least and at the most. Other kinds are at_once, and in_turn with ahead_usd and \
per_day_usd, which are the least, the middle and the most that is paid a day. It is handed in at the time of the block.

In place of numbers a file may name facts that the recorder reads ([[fact]]): capacity_fact, ahead_fact, fee_fact with \
fee_fact_decimals, paused_fact; of a vault nav_fact, what one token pays, and capacity_asset_fact, what it holds, with asset, a token of \
the pool, or asset_decimals and asset_usd. per_day_recorded true takes a queue's pace from its recorded lengths (--db, or a service):

  {\"v\": 1, \"kind\": \"in_turn\", \"ahead_fact\": \"queue\", \"per_day_recorded\": true,
   \"nav_fact\": \"pays\", \"asset_decimals\": 18, \"asset_usd\": \"2500\",
   \"eligibility\": \"…\", \"source\": \"https://…\", \"read_on\": \"2026-11-20\"}

Example:
  exitgap redeem ethereum:0x88e6… --base token0 --size-usd 1m --terms terms.json --db exitgap.db
";
