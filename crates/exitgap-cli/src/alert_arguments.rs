//! Arguments of `exitgap alert`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::arguments::TrustArgs;
use crate::log_source::LogAt;

#[derive(Debug, Subcommand)]
pub enum AlertCommand {
    /// What a rule has to say of a log: every event, the same bytes from whoever computes it.
    #[command(after_long_help = REPLAY_NOTES)]
    Replay(ReplayArgs),
    /// Has a service keep a rule, and be told by webhook, or by `alert events`.
    ///
    /// The first one is answered with a token, which is shown once: keep it, as `EXITGAP_ALERTS_TOKEN`. Where the address
    /// of the webhook is new, the key that its events are checked with is shown, too.
    #[command(after_long_help = KEEP_NOTES)]
    Keep(Box<KeepArgs>),
    /// One's own rules at a service.
    List(OwnerArgs),
    /// One of them, and how its webhook stands.
    Show(OwnedArgs),
    /// What one of them said in the last 30 days.
    Events(EventsArgs),
    /// Ends one of them.
    End(OwnedArgs),
    /// Has a webhook asked again whether it wants events.
    Ask(OwnedArgs),
    /// New keys for a webhook; for a day those before sign, too.
    Rotate(OwnedArgs),
    /// Has events sent again.
    Resend(ResendArgs),
}

/// Whose rules.
#[derive(Debug, Args)]
pub struct OwnerArgs {
    /// The service.
    #[arg(long, value_name = "URL")]
    pub api: String,
    /// The token that was shown with the first rule.
    #[arg(long, env = "EXITGAP_ALERTS_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    pub token: Option<String>,
}

#[derive(Debug, Args)]
pub struct OwnedArgs {
    /// The rule, `al_…`.
    #[arg(value_name = "ALERT")]
    pub alert: String,
    #[command(flatten)]
    pub owner: OwnerArgs,
}

#[derive(Debug, Args)]
pub struct EventsArgs {
    #[command(flatten)]
    pub of: OwnedArgs,
    /// Only those after this one.
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    pub after: u32,
}

#[derive(Debug, Args)]
pub struct ResendArgs {
    #[command(flatten)]
    pub of: OwnedArgs,
    /// From this one on.
    #[arg(long, value_name = "SEQ", default_value_t = 1)]
    pub from: u32,
}

/// A rule, in the words of `POST /v1/alerts`.
#[derive(Debug, Args)]
pub struct KeepArgs {
    /// The pool.
    #[arg(value_name = "POOL")]
    pub pool: String,
    /// `gap_above`, `depth_below`, `lowest_depth_below`, `oracle_stale`, `market_closed` or missing.
    #[arg(long, value_name = "KIND")]
    pub kind: String,
    /// The token sold: token0, token1, a symbol or an address; else the pool's default.
    #[arg(long, value_name = "TOKEN")]
    pub base: Option<String>,
    /// Of `gap_above`: the size sold.
    #[arg(long, value_name = "USD")]
    pub size_usd: Option<String>,
    /// Of `gap_above`: above this it is a breach, percent.
    #[arg(long, value_name = "PCT", allow_hyphen_values = true)]
    pub pct: Option<String>,
    /// Of `gap_above`: at most this is clear, percent.
    #[arg(long, value_name = "PCT", allow_hyphen_values = true)]
    pub clear_pct: Option<String>,
    /// Of `depth_below` and `lowest_depth_below`: below this it is a breach.
    #[arg(long, value_name = "USD")]
    pub usd: Option<String>,
    /// Of `depth_below` and `lowest_depth_below`: at least this is clear.
    #[arg(long, value_name = "USD")]
    pub clear_usd: Option<String>,
    /// Of `depth_below`: the gap within which it is, percent; 2 where left out.
    #[arg(long, value_name = "PCT")]
    pub at_pct: Option<String>,
    /// Of missing: for this reason; may be given again.
    #[arg(long, value_name = "REASON")]
    pub reason: Vec<String>,
    /// Breaches in a row until it fires; 2 where left out.
    #[arg(long, value_name = "SLOTS")]
    pub for_slots: Option<u32>,
    /// Clear slots in a row until it is over; 3 where left out.
    #[arg(long, value_name = "SLOTS")]
    pub clear_for_slots: Option<u32>,
    /// Slots in a row that say nothing until that is said; 3 where left out, 0: never.
    #[arg(long, value_name = "SLOTS")]
    pub no_data_slots: Option<u32>,
    /// Slots after it fired in which it does not fire again; 12 where left out.
    #[arg(long, value_name = "SLOTS")]
    pub refire_slots: Option<u32>,
    /// Slots after which it is said again while it lasts; never where left out.
    #[arg(long, value_name = "SLOTS")]
    pub remind_slots: Option<u32>,
    /// What a slot that says nothing counts as: hold, breach or clear; hold where left out.
    #[arg(long, value_name = "WORD")]
    pub on_missing: Option<String>,
    /// Where its events are sent: https, at a public address.
    #[arg(long, value_name = "URL")]
    pub webhook_url: Option<String>,
    #[command(flatten)]
    pub owner: OwnerArgs,
}

const KEEP_NOTES: &str = "\
Example:
  exitgap alert keep ethereum:0x88e6… --kind gap_above --size-usd 250k --pct 2 \\
      --webhook-url https://hooks.example/exits --api https://exitgap.example
  export EXITGAP_ALERTS_TOKEN=exa_…
  exitgap alert list --api https://exitgap.example
";

#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The rule, a JSON file.
    #[arg(value_name = "RULE")]
    pub rule: PathBuf,
    /// A published log's folder or a copy of it; or the URL of a service, or of its log, which is copied first. It is
    /// audited on the way.
    #[arg(long, value_name = "FOLDER|URL", value_parser = clap::value_parser!(LogAt))]
    #[arg(required_unless_present = "db", conflicts_with = "db")]
    pub log: Option<LogAt>,
    /// With a URL: the folder that the copy is kept in; the next run goes on from there.
    #[arg(long, value_name = "FOLDER", conflicts_with = "db")]
    pub copy: Option<PathBuf>,
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

Examples:
  exitgap alert replay rule.json --log ./log --trust log.pub
  exitgap alert replay rule.json --log https://exits.example --copy ./log --trust log.pub
";
