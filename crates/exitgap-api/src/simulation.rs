//! One exit in several orders.

use exitgap_core::exit;
use serde::{Deserialize, Serialize};

use crate::{Amounts, Answer, Number, Problem};

/// One order of a simulated exit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OrderFill {
    /// The number of the order, from 1.
    pub order: u32,
    /// Raw units of the base token sold.
    pub amount_in_raw: String,
    /// Raw units of the quote token bought.
    pub amount_out_raw: String,
    /// The order's own gap, percent.
    pub exit_gap_pct: Number,
}

/// The same size sold at once: the fill, or why the size cannot be filled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AtOnce {
    /// The exit.
    Exit(Box<Amounts>),
    /// Why there is no exit.
    Problem(Box<Problem>),
}

/// An exit in several orders, compared with the same exit at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Simulation {
    /// The whole size, USD.
    pub size_usd: Number,
    /// Number of orders.
    pub orders: u32,
    /// The assumed recovery of √price between two orders, as a share of its displacement, percent.
    /// An assumption, not a forecast.
    pub recovery_pct: Number,
    /// Seconds between orders, as given. Not used in any computation.
    pub interval_s: u32,
    /// Gap of all orders together, percent.
    pub exit_gap_pct: Number,
    /// Raw units of the base token sold.
    pub amount_in_raw: String,
    /// Raw units of the quote token bought.
    pub amount_out_raw: String,
    /// The orders, in sequence.
    pub fills: Vec<OrderFill>,
    /// The same size sold at once.
    pub at_once: AtOnce,
}

impl From<&exit::Simulation> for Simulation {
    fn from(simulation: &exit::Simulation) -> Self {
        let fills = (1..)
            .zip(&simulation.parts)
            .map(|(order, part)| OrderFill {
                order,
                amount_in_raw: part.amount_in.to_string(),
                amount_out_raw: part.amount_out.to_string(),
                exit_gap_pct: part.gap.into(),
            })
            .collect();
        let at_once = match &simulation.at_once {
            Ok(estimate) => AtOnce::Exit(Box::new(estimate.into())),
            Err(refusal) => AtOnce::Problem(Box::new(refusal.into())),
        };
        Self {
            size_usd: simulation.plan.size().into(),
            orders: simulation.plan.parts(),
            recovery_pct: simulation.plan.recovery().into(),
            interval_s: simulation.plan.interval_s(),
            exit_gap_pct: simulation.gap.into(),
            amount_in_raw: simulation.amount_in.to_string(),
            amount_out_raw: simulation.amount_out.to_string(),
            fills,
            at_once,
        }
    }
}

/// The answer to "what if I sell it in several orders?".
pub type SimulationResult = Answer<Simulation>;
