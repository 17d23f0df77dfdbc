//! One file per page.

pub mod alerts;
pub mod board;
pub mod capabilities;
pub mod evidence;
pub mod exit;
pub mod method;
pub mod not_found;
pub mod pool;
pub mod portfolio;
pub mod risk;
pub mod verify;

mod evidence_break;
mod evidence_chain;
mod evidence_later;
mod evidence_witnesses;
mod exit_comparison;
mod exit_numbers;
mod exit_venues;
mod exit_wait;
mod exit_when;
mod figure_check;
mod pool_alert;
mod pool_answer;
mod pool_decay;
mod pool_history;
mod pool_newest;
mod pool_series;
mod pool_simulate;
mod pool_size;
mod pool_stress;
mod portfolio_exits;
mod portfolio_table;
mod risk_figures;
mod risk_tables;
