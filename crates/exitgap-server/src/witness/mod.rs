//! Witnesses: programs of others that cosign each checkpoint of a log, so that it cannot show different readers
//! different pasts, nor say later that it was earlier (C2SP `tlog-witness`).
//!
//! - `config`: the table `[witness]`
//! - `ask`: this log's checkpoints, shown to its witnesses before they are published
//! - `list`: logs as witness networks list them
//! - `stand`: this program as the witness of others' logs
//!
//! What may be cosigned is `exitgap-core::tlog`'s, what was is kept by `exitgap-store::witness`.

mod ask;
mod config;
mod list;
mod stand;

pub use ask::{CosignResults, Due, Shown, Witnesses};
pub use config::{WitnessConfig, WitnessEndpoint, WitnessPlan, logs_of};
pub use list::{ListError, ListRule, read_list};
pub use stand::{NotCosigned, Stand, StandError, WitnessedLog};
