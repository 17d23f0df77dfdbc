//! Collects venues, row by row, and ranks them.

use exitgap_api::{
    Number, Problem, ProblemCode, RouteExit, RouteLadder, RouteRanking, RouteRung, RouteSplit,
    RouteToken, Status, parse_fixed_costs, parse_size,
};
use exitgap_core::units::{Percent, SizeUsd};

/// The ladders of venues, as far as ranking needs them.
#[derive(Debug, Default)]
pub struct Venues(Vec<RouteLadder>);

impl Venues {
    /// Adds a venue without rows: its pool, whether its ladder is live, and the token it sells.
    pub fn venue(&mut self, pool: &str, live: bool, base_address: &str) {
        self.0.push(RouteLadder {
            pool: pool.to_owned(),
            status: if live { Status::Live } else { Status::Preview },
            base: RouteToken { address: base_address.to_owned() },
            by_gap: Vec::new(),
            by_size: Vec::new(),
        });
    }

    /// Adds a row to the last added venue.
    pub fn row(
        &mut self,
        size_usd: &str,
        exit_gap_pct: &str,
        basis_pct: &str,
        fee_pct: &str,
    ) -> Result<(), Problem> {
        let percent =
            |text: &str| Percent::parse(text).map(Number::from).map_err(|error| wrong(&error));
        let exit = RouteExit {
            size_usd: size_usd.parse::<SizeUsd>().map_err(|error| wrong(&error))?.into(),
            exit_gap_pct: percent(exit_gap_pct)?,
            split: RouteSplit { basis_pct: percent(basis_pct)?, fee_pct: percent(fee_pct)? },
        };
        if let Some(ladder) = self.0.last_mut() {
            ladder.by_size.push(RouteRung { exit: Some(exit) });
        }
        Ok(())
    }

    /// Ranks the venues for an exit of `size_usd`. `fixed_costs_usd` has one cost per venue, or is empty.
    pub fn rank(
        &self,
        fixed_costs_usd: &[String],
        size_usd: &str,
    ) -> Result<RouteRanking, Problem> {
        let costs = parse_fixed_costs(fixed_costs_usd)?;
        RouteRanking::from_ladders(&self.0, &costs, parse_size(size_usd)?)
    }
}

fn wrong(error: &dyn core::fmt::Display) -> Problem {
    Problem::new(ProblemCode::InvalidParameter, format!("ladders: {error}")).field("ladders")
}
