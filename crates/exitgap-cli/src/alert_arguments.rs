//! Arguments of `exitgap alert`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::arguments::TrustArgs;

#[derive(Debug, Subcommand)]
pub enum AlertCommand {
    /// What a rule has to say of a log: every event, the same bytes from whoever computes it.
    #[command(after_long_help = REPLAY_NOTES)]
    Replay(ReplayArgs),
}

#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The rule, a JSON file.
    #[arg(value_name = "RULE")]
    pub rule: PathBuf,
    /// A published log's folder, or a copy of it; it is audited on the way.
    #[arg(long, value_name = "FOLDER", required_unless_present = "db", conflicts_with = "db")]
    pub log: Option<PathBuf>,
    /// A recorder's database, which is taken at its word.
    #[arg(long, env = "EXITGAP_DB", value_name = "FILE")]
    pub db: Option<PathBuf>,
    #[command(flatten)]
    pub trust: TrustArgs,
}

pub const ALERT_NOTES: &str = "\
An alert is a function of its rule and of sealed slots alone: nobody's clock, and no memory of who looked when. So what should have fired \
can be computed again, by anybody, from the published log.
";

const REPLAY_NOTES: &str = "\
With --json each event is a line of canonical JSON, byte for byte what a service sends; the bytes name the rule, the slots they rest on \
and the checkpoint that covers them. Slots before the rule's `first_slot` do not count.

A rule:
  {\"v\": 1, \"alert\": \"mine\", \"pool\": \"ethereum:0x88e6…\", \"base\": \"token1\", \"kind\": \"gap_above\",
   \"size_usd\": \"250000\", \"pct\": \"2\", \"first_slot\": 5958000, \"web_url\": \"https://exits.example\"}

Kinds, and what they have: gap_above (size_usd, pct, clear_pct), depth_below (usd, clear_usd, at_pct), lowest_depth_below (usd, \
clear_usd), oracle_stale, market_closed, missing (reasons). Left out: clear_pct and clear_usd, a tenth of the threshold on the safe \
side; for_slots 2, clear_for_slots 3, no_data_slots 3, refire_slots 12, remind_slots 0 (never); on_missing hold, which may be breach or \
clear.

Exit code 6 where the log does not hold; its events are not to be believed then.

Example:
  exitgap alert replay rule.json --log ./log --trust log.pub
";
