//! Arguments of commands about figures over many slots, or over several venues.

use std::path::PathBuf;

use clap::Args;

use crate::recorded_source::{RecordedArgs, RecordedFrom};

#[derive(Debug, Args)]
pub struct HoursArgs {
    /// The pool's name.
    #[arg(help = "The pool, <chain>:<address>")]
    pub pool: String,
    /// A standard size in USD: 1000, 10000, 100000 or 1000000.
    #[arg(long, value_name = "USD", default_value = "10000")]
    pub size_usd: String,
    /// The token to sell: token0 or token1 [default: the pool's].
    #[arg(long, value_name = "TOKEN", value_parser = ["token0", "token1"])]
    pub base: Option<String>,
    /// Write the figure file, from which anyone can recompute the figure, instead of printing the figure.
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub source: RecordedArgs,
}

pub const EQUITIES_NOTES: &str = "\
A tokenized stock is a token that the operator configured, with its kind and the recorded facts that give its status. With --db, the [[equity]] tables of --config provide the same. Each of its pools has statistics by session over 42 days up to the last whole UTC day, not one score. Slots while trading is paused, or within a day of a multiplier change, are counted and excluded from the statistics.

The figure does not cover issuer, custody or eligibility.

Examples:
  exitgap equities --api https://exitgap.example
  exitgap equities ethereum/0x1234… --size-usd 50k --api https://exitgap.example
  exitgap equities ethereum/0x1234… --db exitgap.db --config exitgap.toml --file share.json
  exitgap verify share.json --trust verifier-key --snapshots exitgap.db
";

#[derive(Debug, Args)]
pub struct EquitiesArgs {
    /// The stock's token, by chain and address.
    #[arg(
        value_name = "TOKEN",
        help = "The stock's token, <chain>/<address> [default: all, without statistics by session]"
    )]
    pub token: Option<String>,
    /// The size for the gaps, USD at the oracle price, such as 50000 or 50k.
    #[arg(long, value_name = "USD", default_value = "10000")]
    pub size_usd: String,
    /// The gap limit for the depths by session, percent.
    #[arg(long, value_name = "PERCENT", default_value = "2")]
    pub gap_pct: String,
    /// Write the figure file of one pool, from which anyone can recompute the figure, instead of printing.
    #[arg(long, value_name = "FILE", requires = "token")]
    pub file: Option<PathBuf>,
    /// With --file: the pool [default: the deepest].
    #[arg(long, value_name = "POOL", requires = "file")]
    pub pool: Option<String>,
    /// With --db: the recorder's configuration file, whose `equity` tables list the tokenized stocks.
    #[arg(long, env = "EXITGAP_CONFIG", value_name = "FILE", required_unless_present = "api")]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    pub source: RecordedArgs,
}

pub const HISTORY_NOTES: &str = "\
Every slot of the period is counted; each row shows how many slots are missing. The worst gap of a row is the largest among the slots that could be filled. Slots that could not fill the size are worse, and are counted separately. Without --from, one page is shown: 720 rows up to --to. With --from, all rows since then. With --json, pages are printed one after the other as the service serves them.

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
    /// The size to sell, USD at the oracle price, such as 250000 or 250k.
    #[arg(long, value_name = "USD")]
    pub size_usd: String,
    /// The length of a row.
    #[arg(long, value_name = "INTERVAL", default_value = "1h", value_parser = ["5m", "1h", "1d"])]
    pub interval: String,
    /// The order of the rows: asc, the oldest first, or desc, the newest first.
    #[arg(long, value_name = "ORDER", default_value = "asc", value_parser = ["asc", "desc"])]
    pub order: String,
    /// The token to sell: token0 or token1 [default: the pool's].
    #[arg(long, value_name = "TOKEN", value_parser = ["token0", "token1"])]
    pub base: Option<String>,
    /// The first slot, an RFC 3339 time [default: the start of one page of rows; with --order desc, the beginning of the series].
    #[arg(long, value_name = "INSTANT")]
    pub from: Option<String>,
    /// The last slot, an RFC 3339 time [default: the newest].
    #[arg(long, value_name = "INSTANT")]
    pub to: Option<String>,
    #[command(flatten)]
    pub source: RecordedArgs,
}

pub const WHEN_NOTES: &str = "\
All recorded slots of the period count, and a slot in which the pool could not fill the size ranks worse than any gap. Each hour of the week has the number of its slots and weeks, the median gap, its 95th percentile and the worst slot. The best hour is the one with the lowest 95th percentile. It is only named if the period covers four weeks; otherwise the exit code is 4.

Examples:
  exitgap when ethereum:0x88e6… --size-usd 250k --db exitgap.db
  exitgap when ethereum:0x88e6… --size-usd 250k --api https://exitgap.example --json
";

#[derive(Debug, Args)]
pub struct WhenArgs {
    /// The pool.
    #[arg(value_name = "POOL", help = "The pool, <chain>:<address>")]
    pub pool: String,
    /// The size to sell, USD at the oracle price, such as 250000 or 250k.
    #[arg(long, value_name = "USD")]
    pub size_usd: String,
    /// The token to sell: token0 or token1 [default: the pool's].
    #[arg(long, value_name = "TOKEN", value_parser = ["token0", "token1"])]
    pub base: Option<String>,
    /// The first slot, an RFC 3339 time [default: four weeks before the last].
    #[arg(long, value_name = "INSTANT")]
    pub from: Option<String>,
    /// The last slot, an RFC 3339 time [default: the newest].
    #[arg(long, value_name = "INSTANT")]
    pub to: Option<String>,
    #[command(flatten)]
    pub source: RecordedArgs,
}

pub const PORTFOLIO_NOTES: &str = "\
Positions in one pool are sold one after the other: the second starts at the price that the first leaves. Tokens are sold for cash as by `exitgap cash`, in one plan for all tokens of a chain: no pool is used twice. What cannot be filled is shown, not omitted.

Examples:
  exitgap portfolio ethereum:0x88e6…:250k ethereum:0x8ad5…/WETH:1m --db exitgap.db
  exitgap portfolio ethereum/0xc02a…:2m ethereum/0x2260…:500k --api https://exitgap.example
";

#[derive(Debug, Args)]
pub struct PortfolioArgs {
    /// The positions to sell, with sizes.
    #[arg(required = true, num_args = 1..=100, value_name = "POSITION", help = "<pool>:<size>, <pool>/<base>:<size> or <chain>/<token>:<size>, USD; up to 100")]
    pub positions: Vec<String>,
    /// What tokens must be sold for: cash, another group of the service's operator, or token addresses separated by commas.
    #[arg(long, value_name = "TOKENS", default_value = "cash")]
    pub into: String,
    /// How much less than stated you accept, percent; determines the minimum received.
    #[arg(long, value_name = "PERCENT", default_value = "0.5")]
    pub tolerance_pct: String,
    #[command(flatten)]
    pub source: RecordedArgs,
}

pub const FRAGILITY_NOTES: &str = "\
The score is 1 - lowest / median depth of seven days: the share of the usual depth that was missing at the lowest point. With --json, pages are printed one after the other as the service serves them.

Examples:
  exitgap fragility --db exitgap.db
  exitgap fragility --sort depth --chain ethereum --api https://exitgap.example
";

#[derive(Debug, Args)]
pub struct FragilityArgs {
    #[command(flatten)]
    pub from: RecordedFrom,
    /// Only pools of this chain, by its recorded name, such as ethereum or base.
    #[arg(long, value_name = "CHAIN")]
    pub chain: Option<String>,
    /// The sort order.
    #[arg(long, value_name = "ORDER", default_value = "gap", value_parser = ["gap", "score", "book_score", "depth"])]
    pub sort: String,
    /// The standard size whose gap is shown: 1000, 10000, 100000 or 1000000, or as 100k or 1m.
    #[arg(long, value_name = "USD", default_value = "100000")]
    pub size_usd: String,
}

pub const STRESS_NOTES: &str = "\
A slot in which the pool could not fill the size ranks worse than any gap. Gaps for 1000, 10000, 100000 and 1000000 USD are stored for every slot. Gaps for other sizes are computed from the snapshots, for at most seven days at a time.

With several pools of one token, or with --haircut-pct, --fall-pct, --shock, --after-move-pct or --file, every slot of at most a week is recomputed. The size is split exactly over the pools after the given share of all liquidity is withdrawn and the price drops by the given percent. With --after-move-pct, only slots after such a price move count. Shocks and --after-move-pct work only for concentrated-liquidity and constant-product pools.

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
    /// The pools to sell in: all on one chain, selling one token.
    #[arg(required = true, num_args = 1..=12, value_name = "VENUE", help = "A pool, <chain>:<address> or <chain>:<address>/<base>; up to 12")]
    pub venues: Vec<String>,
    /// The size to sell, USD at the oracle price, such as 250000 or 250k.
    #[arg(long, value_name = "USD")]
    pub size_usd: String,
    /// Share of all liquidity that is withdrawn, percent, 0 to 99.
    #[arg(long, value_name = "PERCENT")]
    pub haircut_pct: Option<String>,
    /// Price drop of the token sold, percent, 0 to 99.
    #[arg(long, value_name = "PERCENT")]
    pub fall_pct: Option<String>,
    /// Instead of both: a named historical shock of the service, listed by `exitgap shocks`.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["haircut_pct", "fall_pct"])]
    pub shock: Option<String>,
    /// Only slots after the mid price of a venue moved by at least this, percent, up or down.
    #[arg(long, value_name = "PERCENT")]
    pub after_move_pct: Option<String>,
    /// The number of five-minute slots within which the price must have moved, 1 to 48 [default: 3].
    #[arg(long, value_name = "SLOTS", requires = "after_move_pct")]
    pub within_slots: Option<String>,
    /// Show how long the gap was above this, percent.
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    pub limit_pct: Option<String>,
    /// The token to sell: token0 or token1 [default: the pool's]. With several pools, add it to
    /// each pool after a slash.
    #[arg(long, value_name = "TOKEN", value_parser = ["token0", "token1"])]
    pub base: Option<String>,
    /// The first slot, an RFC 3339 time [default: the pool's first, or a week before the last].
    #[arg(long, value_name = "INSTANT")]
    pub from: Option<String>,
    /// The last slot, an RFC 3339 time [default: the newest].
    #[arg(long, value_name = "INSTANT")]
    pub to: Option<String>,
    /// With several pools or a shock: measure gaps from the oracle price, or from the pools' own mid prices.
    #[arg(long, value_name = "PRICE", default_value = "oracle", value_parser = ["oracle", "mid"])]
    pub reference: String,
    /// Write the figure file, from which anyone can recompute the figure, instead of printing the figure.
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub source: RecordedArgs,
}

pub const DECAY_NOTES: &str = "\
Depth here is measured at a gap from the pool's own mid price, in USD at the oracle price. After each move, its change is split exactly into two parts: the effect of the move alone (the liquidity before the move at the price after the move), and liquidity added or withdrawn by providers. Works for concentrated-liquidity and constant-product pools. Exit code 4 if fewer than seven days are recorded.

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
    /// The smallest move of the pool's mid price, percent; use 0.2 for pegged tokens.
    #[arg(long, value_name = "PERCENT", default_value = "2")]
    pub move_pct: String,
    /// The number of five-minute slots within which the price must have moved, 1 to 48.
    #[arg(long, value_name = "SLOTS", default_value = "3")]
    pub within_slots: String,
    /// The gap from the mid price at which depth is measured, percent.
    #[arg(long, value_name = "PERCENT", default_value = "2")]
    pub gap: String,
    /// The token to sell: token0 or token1 [default: the pool's].
    #[arg(long, value_name = "TOKEN", value_parser = ["token0", "token1"])]
    pub base: Option<String>,
    /// The first slot, an RFC 3339 time [default: 28 days before the last].
    #[arg(long, value_name = "INSTANT")]
    pub from: Option<String>,
    /// The last slot, an RFC 3339 time [default: the newest].
    #[arg(long, value_name = "INSTANT")]
    pub to: Option<String>,
    /// Write the figure file, from which anyone can recompute the figure, instead of printing the figure.
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub source: RecordedArgs,
}

pub const EXPOSURE_NOTES: &str = "\
Every slot of a week is checked after the price drop. Liquidity stays where it is; the venues' prices and the oracle price of the token sold drop together. A liquidator receives 1 + bonus × (1 - protocol fee) dollars for each dollar repaid, and breaks even up to the break-even gap. The rating shows which of the two lowest depths (at 2% and at the break-even gap) covers the full size. With --positions, the size is computed here from the venues' newest snapshots, once with a fixed oracle price and once with an oracle that follows the sale. A positions file begins with the line `collateral,debt_usd,threshold_pct`: whole tokens, USD, percent. Exit code 4 if more than a twentieth of a week is missing.

Examples:
  exitgap exposure ethereum:0x88e6… ethereum:0x8ad5… --cascade-usd 5m --db exitgap.db
  exitgap exposure ethereum:0x88e6…/WETH --positions positions.csv --fall-pct 30 --bonus-pct 5 --db exitgap.db
  exitgap exposure ethereum:0x88e6… --cascade-usd 5m --file exposure.json --db exitgap.db
  exitgap verify exposure.json --trust verifier-key --snapshots exitgap.db
";

#[derive(Debug, Args)]
pub struct ExposureArgs {
    /// The pools to sell the collateral in: all on one chain, selling one token.
    #[arg(required = true, num_args = 1..=12, value_name = "VENUE", help = "A pool, <chain>:<address> or <chain>:<address>/<base>; up to 12")]
    pub venues: Vec<String>,
    /// The liquidation size, USD at the oracle price after the drop, such as 5m.
    #[arg(long, value_name = "USD", required_unless_present = "positions")]
    pub cascade_usd: Option<String>,
    /// Compute the liquidation size from these positions.
    #[arg(long, value_name = "FILE", conflicts_with = "cascade_usd")]
    pub positions: Option<PathBuf>,
    /// Liquidation bonus, percent.
    #[arg(long, value_name = "PERCENT", default_value = "5")]
    pub bonus_pct: String,
    /// The protocol's share of the bonus, percent.
    #[arg(long, value_name = "PERCENT", default_value = "0")]
    pub protocol_fee_pct: String,
    /// Price drop of the token sold, percent.
    #[arg(long, value_name = "PERCENT", default_value = "20")]
    pub fall_pct: String,
    /// With --positions: the share of a debt that one liquidation repays, percent.
    #[arg(long, value_name = "PERCENT", default_value = "100", requires = "positions")]
    pub close_pct: String,
    /// The first slot, an RFC 3339 time [default: seven days before the last].
    #[arg(long, value_name = "INSTANT")]
    pub from: Option<String>,
    /// The last slot, an RFC 3339 time [default: the newest that all venues have].
    #[arg(long, value_name = "INSTANT")]
    pub to: Option<String>,
    /// Measure depths, gaps and the rating from the oracle price, or from the pools' own mid prices.
    #[arg(long, value_name = "PRICE", default_value = "mid", value_parser = ["oracle", "mid"])]
    pub reference: String,
    /// Write the figure file, from which anyone can recompute the figure, instead of printing the figure.
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub source: RecordedArgs,
}

pub const ACCURACY_NOTES: &str = "\
No swap is selected or dropped: each swap that the pool logged between two recorded slots is compared with the newest estimate before it and with older ones, or counted by the reason why it was not compared. Without --rpc, the swaps are those that the recorder read and the pool's heads commit to. With --rpc, they are read again from a node, so the recorder is not trusted for them. The snapshots show that no swap was left out: the logs between two snapshots are replayed on the first; each swap must be one that the contract would make, and the replay must end at the second snapshot bit for bit. A positive error means the swap filled worse than estimated. Exact means equal in raw units. An order for an output amount is bracketed if the output lies between the estimates for the amount sold and for one raw unit less; its error is 0. Supported: Uniswap v2 and v3, and pools that log the same way. Exit code 4 with fewer than 200 compared swaps or fewer than 2,016 slots (seven days) whose swaps were judged. The snapshots themselves are not checked here; `exitgap audit` checks them against the signed log. Without a pool, one row is shown per recorded pool, for the last seven days. A service updates the rows in turn and shows the time of each;
from a database, all are computed first, which may take minutes.

Example:
  exitgap accuracy --api https://…
  exitgap accuracy ethereum:0x88e6… --api https://…
  exitgap accuracy ethereum:0x88e6… --api https://… --rpc https://…
";

#[derive(Debug, Args)]
pub struct AccuracyArgs {
    /// The pool; if omitted, one row per recorded pool.
    #[arg(help = "The pool, <chain>:<address> [default: one row per pool]")]
    pub pool: Option<String>,
    /// Recompute from a node of the pool's chain that serves logs; several nodes are tried in turn.
    #[arg(long, value_name = "URL", requires = "pool")]
    pub rpc: Vec<String>,
    /// The chain's id; required unless the chain is ethereum, optimism, base or arbitrum.
    #[arg(long, value_name = "ID")]
    pub chain_id: Option<u64>,
    /// The first slot, an RFC 3339 time [default: seven days before the last].
    #[arg(long, value_name = "INSTANT", requires = "pool")]
    pub from: Option<String>,
    /// The last slot, an RFC 3339 time [default: the newest].
    #[arg(long, value_name = "INSTANT", requires = "pool")]
    pub to: Option<String>,
    /// Write the figure file, from which anyone can recompute the figure, instead of printing the figure.
    #[arg(long, value_name = "FILE", conflicts_with = "rpc", requires = "pool")]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub source: RecordedArgs,
}

pub const CASH_NOTES: &str = "\
The sale ends in cash: the dollar tokens of the chain, or the tokens that --into names. It passes through at most three recorded pools in a row, all of one slot and block. The legs can be executed one after the other, and each is exact to the last token unit. No other route through the pools that count improves on the gap by more than the optimality gap. With --api, the numbers are those of the service: write the file with --file and verify it.

Examples:
  exitgap cash ethereum/0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2 --size-usd 250k --api https://exitgap.example
  exitgap cash ethereum/0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2 --amount 12.5 --db exitgap.db
  exitgap cash ethereum/0xc02a… --amount 12.5 --into 0xa0b8… --db exitgap.db --file cash.json
  exitgap verify cash.json --trust verifier-key --snapshots exitgap.db
";

#[derive(Debug, Args)]
pub struct CashArgs {
    /// The token sold, by chain and address.
    #[arg(value_name = "TOKEN", help = "The token sold, <chain>/<address>")]
    pub token: String,
    /// The size to sell, USD at the oracle price, such as 250000 or 250k.
    #[arg(long, value_name = "USD", required_unless_present = "amount", conflicts_with = "amount")]
    pub size_usd: Option<String>,
    /// The amount to sell in whole tokens, such as 0.125.
    #[arg(long, value_name = "TOKENS")]
    pub amount: Option<String>,
    /// What the sale must end in: cash, another group of the service's operator, or token addresses separated by commas.
    #[arg(long, value_name = "TOKENS", default_value = "cash")]
    pub into: String,
    /// How much less than stated you accept, percent; determines the minimum received.
    #[arg(long, value_name = "PERCENT", default_value = "0.5")]
    pub tolerance_pct: String,
    /// Your assumption of the gas for the whole sale, USD; shown on its own [default: not counted].
    #[arg(long, value_name = "USD")]
    pub gas_usd: Option<String>,
    /// The slot at or before this RFC 3339 time [default: the newest recorded].
    #[arg(long, value_name = "INSTANT")]
    pub at: Option<String>,
    /// Write the figure file, from which anyone can recompute the figure, instead of printing the figure.
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub source: RecordedArgs,
}

pub const ROUTES_NOTES: &str = "\
Each leg is a separate sale, exact to the last token unit, with its own evidence. The legs add up to the size. No other split over the included venues improves on this by more than the optimality gap. With --api, every figure is recomputed here from the snapshots that the answer names.

Example:
  exitgap routes ethereum/0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2 --size-usd 250k --db exitgap.db
";

#[derive(Debug, Args)]
pub struct RoutesArgs {
    /// The token sold, by chain and address.
    #[arg(value_name = "TOKEN", help = "The token sold, <chain>/<address>")]
    pub token: String,
    /// The size to sell, USD at the oracle price, such as 250000 or 250k.
    #[arg(long, value_name = "USD")]
    pub size_usd: String,
    /// Only pools that pay in a token of this group, as configured by the service's operator.
    #[arg(long, value_name = "NAME", requires = "api")]
    pub quote_group: Option<String>,
    /// Fixed cost of using a venue, such as gas, USD.
    #[arg(long, value_name = "USD", default_value = "0")]
    pub fixed_cost_usd: String,
    /// The slot at or before this RFC 3339 time [default: the newest recorded].
    #[arg(long, value_name = "INSTANT")]
    pub at: Option<String>,
    #[command(flatten)]
    pub source: RecordedArgs,
}

pub const REDEEM_NOTES: &str = "\
The result is a model: you write the terms file from published redemption terms, and the output includes its hash. The file states how the redemption pays, the fee, the minimum and maximum amount, who is eligible, and where and when you read the terms:

  {\"v\": 1, \"kind\": \"on_days\", \"calendar\": \"XNYS\", \"cutoff_before_close_s\": 3600, \"settlement_days\": [1, 2],
   \"fee_pct\": \"0.1\", \"minimum_usd\": \"1000\", \"capacity_usd\": \"5000000\",
   \"eligibility\": \"…\", \"source\": \"https://…\", \"read_on\": \"2026-11-20\"}

A request before the cut-off (cutoff_before_close_s before a trading day's close) counts for that day, a later one for the next. It is paid at the close, settlement_days trading days later (minimum, maximum). Other kinds are at_once, and in_turn with ahead_usd and per_day_usd (the lowest, middle and highest amount paid per day). The request is made at the time of the block.

Instead of numbers, a file may name facts that the recorder reads ([[fact]]): capacity_fact, ahead_fact, fee_fact with fee_fact_decimals, and paused_fact. For a vault: nav_fact (the amount one token pays) and capacity_asset_fact (the amount it holds), with asset (a token of the pool), or with asset_decimals and asset_usd. With per_day_recorded true, the pace of a queue comes from its recorded lengths (--db, or a service):

  {\"v\": 1, \"kind\": \"in_turn\", \"ahead_fact\": \"queue\", \"per_day_recorded\": true,
   \"nav_fact\": \"pays\", \"asset_decimals\": 18, \"asset_usd\": \"2500\",
   \"eligibility\": \"…\", \"source\": \"https://…\", \"read_on\": \"2026-11-20\"}

Example:
  exitgap redeem ethereum:0x88e6… --base token0 --size-usd 1m --terms terms.json --db exitgap.db
";
