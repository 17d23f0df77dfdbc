//! The arguments of `exitgap try`.

use std::path::PathBuf;

use clap::Args;
use exitgap_sample::SIZE_USD;

use crate::arguments::GuardArgs;

pub const TRY_NOTES: &str = "\
The sample is one pool of a simulated market for seven days, and two more for the last day. Its numbers are not market prices. It is
signed by a key of its own, which signs nothing else. The estimate is computed from the recorded state of the pool. No network, node
or configuration is used. Guards compare with the sample's own clock, which stands one minute after its last slot.

Examples:
  exitgap try
  exitgap try --size-usd 5m
  exitgap try --out exitgap-sample
  exitgap audit exitgap-sample/log --trust exitgap-sample/verifier-key

Exit codes:
  0  shown       2  wrong arguments       3  refused: the size or a guard       5  could not be written
  6  the evidence failed a check, or the changed evidence did not: this program is damaged";

#[derive(Debug, Args)]
pub struct TryArgs {
    /// Size in USD at the oracle price, 0.01 to 1000000000, such as 250000, $250,000, 250k or 1.5m.
    #[arg(long, value_name = "USD", default_value = SIZE_USD, allow_hyphen_values = true)]
    pub size_usd: String,
    /// Write the sample into this new folder: evidence, key, figure file and log.
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub guards: GuardArgs,
}
