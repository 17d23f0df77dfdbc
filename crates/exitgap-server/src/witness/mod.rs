//! Witnesses: other operators' programs that cosign each checkpoint of a log, so that the log cannot show different
//! readers different histories, or backdate entries (C2SP `tlog-witness`).
//!
//! - `config`: the table `[witness]`
//! - `ask`: submits this log's checkpoints to its witnesses before they are published
//! - `list`: lists of logs in the format of witness networks
//! - `stand`: this program as a witness of other logs
//!
//! `exitgap-core::tlog` decides what may be cosigned, `exitgap-store::witness` stores what was.

mod ask;
mod config;
mod list;
mod stand;

pub use ask::{CosignResults, Due, Shown, Witnesses};
pub use config::{WitnessConfig, WitnessEndpoint, WitnessPlan, logs_of};
pub use list::{ListError, ListRule, read_list};
pub use stand::{NotCosigned, Stand, StandError, WitnessedLog};
