//! Arguments of `exitgap alert`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::arguments::TrustArgs;
use crate::log_source::LogAt;

#[derive(Debug, Subcommand)]
pub enum AlertCommand {
    /// Replay a rule over a log; output is reproducible byte for byte.
    #[command(after_long_help = REPLAY_NOTES)]
    Replay(ReplayArgs),
    /// Create an alert at a service. Events are sent to a webhook and listed by `alert events`.
    ///
    /// The first alert returns a token, which is shown only once. Keep it as
    /// `EXITGAP_ALERTS_TOKEN`. For a new webhook address, the key that verifies its events is shown
    /// too.
    #[command(after_long_help = KEEP_NOTES)]
    Keep(Box<KeepArgs>),
    /// List your alerts at a service.
    List(OwnerArgs),
    /// Show one alert and the status of its webhook.
    Show(OwnedArgs),
    /// Events of one alert, last 30 days.
    Events(EventsArgs),
    /// Delete an alert.
    End(OwnedArgs),
    /// Re-send the webhook verification request.
    Ask(OwnedArgs),
    /// Replace a webhook's keys; the old keys also sign for one more day.
    Rotate(OwnedArgs),
    /// Send events again.
    Resend(ResendArgs),
}

/// The owner of the alerts.
#[derive(Debug, Args)]
pub struct OwnerArgs {
    /// URL of an exitgap service.
    #[arg(long, value_name = "URL")]
    pub api: String,
    /// The token shown when the first alert was created.
    #[arg(long, env = "EXITGAP_ALERTS_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    pub token: Option<String>,
}

#[derive(Debug, Args)]
pub struct OwnedArgs {
    /// The alert's id, `al_…`.
    #[arg(value_name = "ALERT")]
    pub alert: String,
    #[command(flatten)]
    pub owner: OwnerArgs,
}

#[derive(Debug, Args)]
pub struct EventsArgs {
    #[command(flatten)]
    pub of: OwnedArgs,
    /// Only events after this event.
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    pub after: u32,
}

#[derive(Debug, Args)]
pub struct ResendArgs {
    #[command(flatten)]
    pub of: OwnedArgs,
    /// From this event onwards.
    #[arg(long, value_name = "SEQ", default_value_t = 1)]
    pub from: u32,
}

/// A rule, with the fields of `POST /v1/alerts`.
#[derive(Debug, Args)]
pub struct KeepArgs {
    /// The pool.
    #[arg(value_name = "POOL")]
    pub pool: String,
    /// `gap_above`, `depth_below`, `lowest_depth_below`, `oracle_stale`, `market_closed` or `missing`.
    #[arg(long, value_name = "KIND")]
    pub kind: String,
    /// The token to sell: token0, token1, a symbol or an address [default: the pool's].
    #[arg(long, value_name = "TOKEN")]
    pub base: Option<String>,
    /// For `gap_above`: the size sold, USD.
    #[arg(long, value_name = "USD")]
    pub size_usd: Option<String>,
    /// For `gap_above`: a gap above this is a breach, percent.
    #[arg(long, value_name = "PCT", allow_hyphen_values = true)]
    pub pct: Option<String>,
    /// For `gap_above`: a gap of at most this is clear, percent.
    #[arg(long, value_name = "PCT", allow_hyphen_values = true)]
    pub clear_pct: Option<String>,
    /// For `depth_below` and `lowest_depth_below`: a depth below this is a breach, USD.
    #[arg(long, value_name = "USD")]
    pub usd: Option<String>,
    /// For `depth_below` and `lowest_depth_below`: a depth of at least this is clear, USD.
    #[arg(long, value_name = "USD")]
    pub clear_usd: Option<String>,
    /// For `depth_below`: the gap limit of the depth, percent [default: 2].
    #[arg(long, value_name = "PCT")]
    pub at_pct: Option<String>,
    /// For `missing`: only this reason; may be given several times.
    #[arg(long, value_name = "REASON")]
    pub reason: Vec<String>,
    /// Consecutive breaches before the alert fires [default: 2].
    #[arg(long, value_name = "SLOTS")]
    pub for_slots: Option<u32>,
    /// Consecutive clear slots before the alert ends [default: 3].
    #[arg(long, value_name = "SLOTS")]
    pub clear_for_slots: Option<u32>,
    /// Consecutive slots without data before that is reported; 0 is never [default: 3].
    #[arg(long, value_name = "SLOTS")]
    pub no_data_slots: Option<u32>,
    /// Slots after firing in which the alert does not fire again [default: 12].
    #[arg(long, value_name = "SLOTS")]
    pub refire_slots: Option<u32>,
    /// Slots between reminders while the alert lasts [default: no reminders].
    #[arg(long, value_name = "SLOTS")]
    pub remind_slots: Option<u32>,
    /// How a slot without data counts: hold, breach or clear [default: hold].
    #[arg(long, value_name = "WORD")]
    pub on_missing: Option<String>,
    /// The webhook URL for events: https, at a public address.
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
    /// The rule, as a JSON file.
    #[arg(value_name = "RULE")]
    pub rule: PathBuf,
    /// A published log's folder or a copy; or the URL of a service or its log, which is copied
    /// first. The log is audited as well.
    #[arg(long, value_name = "FOLDER|URL", value_parser = clap::value_parser!(LogAt))]
    #[arg(required_unless_present = "db", conflicts_with = "db")]
    pub log: Option<LogAt>,
    /// With a URL: the folder for the copy; the next run continues from there.
    #[arg(long, value_name = "FOLDER", conflicts_with = "db")]
    pub copy: Option<PathBuf>,
    /// A recorder's database, which is trusted without an audit.
    #[arg(long, env = "EXITGAP_DB", value_name = "FILE")]
    pub db: Option<PathBuf>,
    #[command(flatten)]
    pub trust: TrustArgs,
}

pub const ALERT_NOTES: &str = "\
An alert depends only on its rule and on sealed slots, not on any clock or earlier run. So anyone can recompute from the published log which events should have fired.
";

const REPLAY_NOTES: &str = "\
With --json, each event is a line of canonical JSON, byte for byte as a service sends it. It names the rule, the slots it is based on and the checkpoint that covers them. Slots before the rule's `first_slot` do not count.

A rule:
  {\"v\": 1, \"alert\": \"mine\", \"pool\": \"ethereum:0x88e6…\", \"base\": \"token1\", \"kind\": \"gap_above\",
   \"size_usd\": \"250000\", \"pct\": \"2\", \"first_slot\": 5958000, \"web_url\": \"https://exits.example\"}

Kinds and their fields: gap_above (size_usd, pct, clear_pct), depth_below (usd, clear_usd, at_pct), lowest_depth_below (usd, \
clear_usd), oracle_stale, market_closed, missing (reasons). Defaults: clear_pct and clear_usd, a tenth of the threshold on the safe side; for_slots 2, clear_for_slots 3, no_data_slots 3, refire_slots 12, remind_slots 0 (never), on_missing hold (or breach, or clear).

Exit code 6 if the log fails the audit; do not rely on its events then.

Examples:
  exitgap alert replay rule.json --log ./log --trust log.pub
  exitgap alert replay rule.json --log https://exits.example --copy ./log --trust log.pub
";
