//! Venues being put together, row by row, and ranked.

use exitgap_api::{
    Number, Problem, ProblemCode, RouteExit, RouteLadder, RouteRanking, RouteRung, RouteSplit,
    RouteToken, Status, parse_fixed_costs, parse_size,
};
use exitgap_core::units::{Percent, SizeUsd};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::{document, lines, refusal};

/// Ladders of venues, as far as ranking needs them.
#[wasm_bindgen]
#[derive(Debug, Default)]
pub struct Venues(Vec<RouteLadder>);

#[wasm_bindgen]
impl Venues {
    /// No venue yet.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a venue without rows: its pool, whether its ladder is live, the token it sells.
    pub fn venue(&mut self, pool: &str, live: bool, base_address: &str) {
        self.0.push(RouteLadder {
            pool: pool.to_owned(),
            status: if live { Status::Live } else { Status::Preview },
            base: RouteToken { address: base_address.to_owned() },
            by_gap: Vec::new(),
            by_size: Vec::new(),
        });
    }

    /// Adds a row to the venue added last.
    pub fn row(
        &mut self,
        size_usd: &str,
        exit_gap_pct: &str,
        basis_pct: &str,
        fee_pct: &str,
    ) -> Result<(), String> {
        let exit = || {
            let percent =
                |text: &str| Percent::parse(text).map(Number::from).map_err(|error| wrong(&error));
            Ok(RouteExit {
                size_usd: size_usd.parse::<SizeUsd>().map_err(|error| wrong(&error))?.into(),
                exit_gap_pct: percent(exit_gap_pct)?,
                split: RouteSplit { basis_pct: percent(basis_pct)?, fee_pct: percent(fee_pct)? },
            })
        };
        let exit = exit().map_err(refusal)?;
        if let Some(ladder) = self.0.last_mut() {
            ladder.by_size.push(RouteRung { exit: Some(exit) });
        }
        Ok(())
    }

    /// Ranks the venues for an exit of `size_usd`. `fixed_costs_usd` are lines, one for each
    /// venue, or none.
    pub fn rank(&self, fixed_costs_usd: &str, size_usd: &str) -> Result<String, String> {
        let costs = parse_fixed_costs(&lines(fixed_costs_usd));
        let ranking = || RouteRanking::of(&self.0, &costs?, parse_size(size_usd)?);
        document(ranking())
    }
}

fn wrong(error: &dyn core::fmt::Display) -> Problem {
    Problem::new(ProblemCode::InvalidParameter, format!("ladders: {error}")).field("ladders")
}
