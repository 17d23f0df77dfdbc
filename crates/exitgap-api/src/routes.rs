//! Compares venues from their ladders: each alone, and one exit split across them.

use exitgap_core::exit::{self, METHOD_VERSION, RouteError, RouteRow, RouteVenue, rank_routes};
use exitgap_core::units::{Percent, SizeUsd, UsdMicros, parse_scaled};
use serde::{Deserialize, Serialize};

use crate::{Amounts, Ladder, Number, Problem, ProblemCode, Status};

/// The ladder fields that the ranking needs. Every [`Ladder`] document can be parsed as one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteLadder {
    /// The pool's identifier.
    pub pool: String,
    /// Live or preview.
    pub status: Status,
    /// The token sold.
    pub base: RouteToken,
    /// Depth by gap.
    pub by_gap: Vec<RouteRung>,
    /// Slippage by size.
    pub by_size: Vec<RouteRung>,
}

/// The token fields that the ranking needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteToken {
    /// The token contract's address.
    pub address: String,
}

/// The fields of a ladder row that the ranking needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteRung {
    /// The fill of the row's size. A row without a fill is ignored.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub exit: Option<RouteExit>,
}

/// The fields of a fill that the ranking needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteExit {
    /// The size, USD.
    pub size_usd: Number,
    /// Its gap, percent.
    pub exit_gap_pct: Number,
    /// The parts of the gap.
    pub split: RouteSplit,
}

/// The parts of a gap that the ranking needs: basis and fee together are the loss of the smallest sale.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteSplit {
    /// How far the pool's mid price is below the oracle price, percent.
    pub basis_pct: Number,
    /// The pool's fee, percent.
    pub fee_pct: Number,
}

impl From<&Amounts> for RouteExit {
    fn from(exit: &Amounts) -> Self {
        Self {
            size_usd: exit.size_usd.clone(),
            exit_gap_pct: exit.exit_gap_pct.clone(),
            split: RouteSplit {
                basis_pct: exit.split.basis_pct.clone(),
                fee_pct: exit.split.fee_pct.clone(),
            },
        }
    }
}

impl From<&Ladder> for RouteLadder {
    fn from(ladder: &Ladder) -> Self {
        let (rows, context) = (&ladder.figures, &ladder.context);
        let rung = |exit: &Option<Amounts>| RouteRung { exit: exit.as_ref().map(RouteExit::from) };
        Self {
            pool: context.pool.clone(),
            status: context.status,
            base: RouteToken { address: context.base.address.clone() },
            by_gap: rows.by_gap.iter().map(|row| rung(&row.exit)).collect(),
            by_size: rows.by_size.iter().map(|row| rung(&row.exit)).collect(),
        }
    }
}

/// A venue ranked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankedVenue {
    /// The pool's identifier.
    pub pool: String,
    /// Live or preview.
    pub status: Status,
    /// The largest size in its ladder, USD.
    pub largest_usd: Number,
    /// The fixed cost of using the venue, USD.
    pub fixed_cost_usd: Number,
}

/// The share of one venue in an exit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteLeg {
    /// The index in `venues`, from 0.
    pub venue: u32,
    /// The pool.
    pub pool: String,
    /// The size sold here, USD.
    pub size_usd: Number,
    /// The upper bound of the leg's gap, percent: on the line between two rows of the ladder. Not
    /// the gap of a fill.
    pub exit_gap_at_most_pct: Number,
    /// The lower bound of the leg's gap that the rows allow, percent. The difference between the
    /// two bounds shows how coarse the ladder is.
    pub least_gap_pct: Number,
    /// The sizes of the two ladder rows around the leg, USD. Both equal the leg's size if it is a
    /// row.
    pub between_usd: [Number; 2],
    /// The fixed cost of using the venue, USD.
    pub fixed_cost_usd: Number,
}

/// One way to exit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// The share of each venue used.
    pub legs: Vec<RouteLeg>,
    /// The size sold by all legs, USD.
    pub filled_usd: Number,
    /// The size that the ladders do not cover, USD.
    pub unfilled_usd: Number,
    /// The proceeds of the legs at the oracle price before fixed costs, USD.
    pub received_usd: Number,
    /// The fixed costs of the venues, USD.
    pub fixed_cost_usd: Number,
    /// The upper bound of the gap of all legs together, percent. Absent if nothing is filled. An
    /// exact split gives the gap itself.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub exit_gap_at_most_pct: Option<Number>,
    /// The lower bound of the gap that the rows allow, percent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub least_gap_pct: Option<Number>,
}

/// The best way to sell a size over venues, from their ladders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteRanking {
    /// The requested size, USD.
    pub size_usd: Number,
    /// `live` only if every ladder is live.
    pub status: Status,
    /// The venues, in the order of the ladders given.
    pub venues: Vec<RankedVenue>,
    /// Each venue if it took the whole size, best first: ordered by the size filled, then by the
    /// proceeds after its fixed cost.
    pub alone: Vec<Route>,
    /// The best split, never worse than the best venue alone.
    pub split: Route,
    /// The version of the method behind the figures.
    pub method_version: String,
}

impl RouteRanking {
    /// Ranks the venues of `ladders`, which must all be for the same token sold. `fixed_costs` are the costs of using
    /// each venue, in the same order; empty if there are none.
    pub fn from_ladders(
        ladders: &[RouteLadder],
        fixed_costs: &[UsdMicros],
        size: SizeUsd,
    ) -> Result<Self, Problem> {
        if !fixed_costs.is_empty() && fixed_costs.len() != ladders.len() {
            let (costs, ladders) = (fixed_costs.len(), ladders.len());
            let detail = format!("{costs} fixed costs are given for {ladders} ladders");
            return Err(invalid("fixed_costs_usd", detail, "give one for each ladder, or none"));
        }
        check_same_exit(ladders)?;
        let costs = fixed_costs.iter().copied().chain(core::iter::repeat(UsdMicros(0)));
        let venues = (ladders.iter().zip(costs))
            .map(|(ladder, cost)| venue(ladder, cost))
            .collect::<Result<Vec<_>, _>>()?;
        let ranking = rank_routes(&venues, size).map_err(|error| route_problem(&error))?;
        let live = ladders.iter().all(|ladder| ladder.status == Status::Live);
        let venues = ladders.iter().zip(&venues);
        Ok(Self {
            size_usd: size.into(),
            status: if live { Status::Live } else { Status::Preview },
            venues: venues.map(|(ladder, venue)| RankedVenue::from_venue(ladder, venue)).collect(),
            alone: ranking.alone.iter().map(|route| Route::from_route(route, ladders)).collect(),
            split: Route::from_route(&ranking.split, ladders),
            method_version: METHOD_VERSION.to_owned(),
        })
    }
}

/// Parses fixed costs in USD, plain decimals with at most six decimals.
pub fn parse_fixed_costs(texts: &[String]) -> Result<Vec<UsdMicros>, Problem> {
    texts.iter().map(|text| fixed_cost("fixed_costs_usd", text)).collect()
}

/// Parses one fixed cost that applies to every venue.
pub fn parse_fixed_cost(text: &str) -> Result<UsdMicros, Problem> {
    let cost = fixed_cost("fixed_cost_usd", text)?;
    if cost <= RouteVenue::MAX_FIXED_COST {
        return Ok(cost);
    }
    let why = format!("fixed_cost_usd: {text} is above 1000000");
    Err(invalid("fixed_cost_usd", why, FIXED_COST_HINT))
}

fn fixed_cost(field: &str, text: &str) -> Result<UsdMicros, Problem> {
    let micros = parse_scaled(text, 6, false).map_err(|error| error.to_string());
    let cost = micros.and_then(|micros| u64::try_from(micros).map_err(|error| error.to_string()));
    cost.map(UsdMicros).map_err(|why| invalid(field, format!("{field}: {why}"), FIXED_COST_HINT))
}

const FIXED_COST_HINT: &str =
    "a fixed cost is a plain number from 0 to 1000000 with at most six decimals";

/// The venue of a ladder.
fn venue(ladder: &RouteLadder, fixed_cost: UsdMicros) -> Result<RouteVenue, Problem> {
    let wrong = |why: String| {
        invalid(
            "ladders",
            format!("{}: {why}", shown(&ladder.pool)),
            "pass ladders unchanged, as they were answered",
        )
    };
    let percent =
        |number: &Number| Percent::parse(number.as_str()).map_err(|e| wrong(e.to_string()));
    let mut rows = Vec::new();
    let mut first = None;
    for exit in ladder.by_gap.iter().chain(&ladder.by_size).filter_map(|rung| rung.exit.as_ref()) {
        let size = exit.size_usd.as_str().parse::<SizeUsd>().map_err(|e| wrong(e.to_string()))?;
        rows.push(RouteRow { size, gap: percent(&exit.exit_gap_pct)? });
        if first.is_none() {
            let basis = percent(&exit.split.basis_pct)?;
            first = Some(RouteVenue::first_gap(basis, percent(&exit.split.fee_pct)?));
        }
    }
    RouteVenue::new(rows, first.unwrap_or(Percent(0)), fixed_cost).map_err(|error| match error {
        RouteError::FixedCost { .. } => route_problem(&error),
        error => wrong(error.to_string()),
    })
}

/// Refuses ladders of different tokens, as far as that can be detected, and two ladders of one pool, whose liquidity
/// exists only once.
fn check_same_exit(ladders: &[RouteLadder]) -> Result<(), Problem> {
    let chain = |ladder: &RouteLadder| ladder.pool.split(':').next().map(str::to_owned);
    for (at, ladder) in ladders.iter().enumerate() {
        for other in &ladders[..at] {
            if ladder.pool == other.pool {
                let detail = format!("two ladders are for the pool {}", shown(&ladder.pool));
                return Err(invalid("ladders", detail, "give one ladder for each pool"));
            }
            if chain(ladder) == chain(other) && ladder.base.address != other.base.address {
                let [one, two] =
                    [&other.base.address, &ladder.base.address].map(|text| shown(text));
                let detail = format!("the ladders sell different tokens: {one} and {two}");
                return Err(invalid("ladders", detail, "give ladders that sell one token"));
            }
        }
    }
    Ok(())
}

impl RankedVenue {
    fn from_venue(ladder: &RouteLadder, venue: &RouteVenue) -> Self {
        Self {
            pool: ladder.pool.clone(),
            status: ladder.status,
            largest_usd: venue.largest().into(),
            fixed_cost_usd: venue.fixed_cost().into(),
        }
    }
}

impl Route {
    fn from_route(route: &exit::Route, ladders: &[RouteLadder]) -> Self {
        let leg = |leg: &exit::RouteLeg| RouteLeg {
            venue: u32::try_from(leg.venue).unwrap_or(u32::MAX),
            pool: ladders[leg.venue].pool.clone(),
            size_usd: leg.size.into(),
            exit_gap_at_most_pct: leg.gap.into(),
            least_gap_pct: leg.least_gap.into(),
            between_usd: leg.between.map(Number::from),
            fixed_cost_usd: leg.fixed_cost.into(),
        };
        Self {
            legs: route.legs.iter().map(leg).collect(),
            filled_usd: route.filled.into(),
            unfilled_usd: route.unfilled.into(),
            received_usd: route.received.into(),
            fixed_cost_usd: route.fixed_cost.into(),
            exit_gap_at_most_pct: route.gap.map(Number::from),
            least_gap_pct: route.least_gap.map(Number::from),
        }
    }
}

fn route_problem(error: &RouteError) -> Problem {
    let (field, hint) = match error {
        RouteError::FixedCost { .. } => ("fixed_costs_usd", "a fixed cost is per exit, in USD"),
        RouteError::Venues { .. } => ("ladders", "give 1 to 12 ladders"),
        _ => ("ladders", "pass ladders unchanged, as they were answered"),
    };
    invalid(field, error.to_string(), hint)
}

fn invalid(field: &str, detail: String, hint: &str) -> Problem {
    Problem::new(ProblemCode::InvalidParameter, detail).field(field).hint(hint)
}

/// The caller's text, cut to a length that fits into a sentence.
fn shown(text: &str) -> String {
    text.chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn ladder(pool: &str, base: &str, rows: &[(&str, f64)]) -> Value {
        let exit = |(size, gap): &(&str, f64)| {
            json!({"exit": {
                "size_usd": size.parse::<f64>().unwrap(), "exit_gap_pct": gap, "amount_in_raw": "1",
                "split": {"basis_pct": 0.1, "fee_pct": 0.05, "impact_pct": 0.5},
            }})
        };
        let rows: Vec<_> = rows.iter().map(exit).collect();
        let token = |address: &str| json!({"address": address, "symbol": "T", "decimals": 18});
        json!({
            "pool": pool, "status": "live", "base": token(base), "quote": token("0x2"),
            "oracle_price_usd": 2_000, "by_gap": rows, "by_size": [{"problem": {"code": "beyond_liquidity"}}],
            "session_note": "continuous",
        })
    }

    fn rank(ladders: &[Value], costs: &[u64], size: &str) -> Result<RouteRanking, Problem> {
        let ladders: Vec<RouteLadder> =
            ladders.iter().map(|one| serde_json::from_value(one.clone()).unwrap()).collect();
        let costs: Vec<_> = costs.iter().copied().map(UsdMicros).collect();
        RouteRanking::from_ladders(&ladders, &costs, size.parse().unwrap())
    }

    #[test]
    fn a_ladder_document_is_ranked() {
        let rows = [("1000", 0.2), ("10000", 0.65), ("100000", 5.0)];
        let one = ladder("ethereum:0xa", "0x1", &rows);
        let two = ladder("ethereum:0xb", "0x1", &[("20000", 1.0)]);
        let ranking = rank(&[one, two], &[0, 1_500_000], "25000").unwrap();
        let document = serde_json::to_value(&ranking).unwrap();
        assert_eq!(document["status"], "live");
        assert_eq!(document["venues"][1]["largest_usd"], 20_000);
        assert_eq!(document["alone"][0]["legs"][0]["pool"], "ethereum:0xa");
        assert_eq!(document["alone"][1]["unfilled_usd"], 5_000);
        let legs = document["split"]["legs"].as_array().unwrap();
        let sizes: Vec<_> = legs.iter().map(|leg| leg["size_usd"].as_i64().unwrap()).collect();
        assert_eq!(sizes, [10_000, 15_000]);
        assert_eq!(legs[1]["between_usd"], json!([0, 20_000]));
        assert_eq!(document["split"]["fixed_cost_usd"], 1.5);
        assert_eq!(serde_json::from_value::<RouteRanking>(document).unwrap(), ranking);
    }

    #[test]
    fn what_cannot_be_ranked_is_refused_with_the_field_at_fault() {
        let one = ladder("ethereum:0xa", "0x1", &[("1000", 0.2)]);
        let other = ladder("ethereum:0xb", "0x9", &[("1000", 0.2)]);
        let elsewhere = ladder("base:0xb", "0x9", &[("1000", 0.2)]);
        let odd = |size, gap| ladder("ethereum:0xc", "0x1", &[(size, gap)]);
        for (ladders, costs, field, said) in [
            (vec![], &[][..], "ladders", "0 venues"),
            (vec![one.clone(), one.clone()], &[], "ladders", "the pool ethereum:0xa"),
            (vec![one.clone(), other], &[], "ladders", "different tokens: 0x1 and 0x9"),
            (
                vec![one.clone()],
                &[1, 2],
                "fixed_costs_usd",
                "2 fixed costs are given for 1 ladders",
            ),
            (vec![one.clone()], &[u64::MAX], "fixed_costs_usd", "above the maximum"),
            (vec![odd("0.001", 0.0)], &[], "ladders", "ethereum:0xc: size_usd: 0.001 is below"),
            (vec![odd("1", 100.5)], &[], "ladders", "100.5% is outside"),
            (vec![odd("1", 1e-9)], &[], "ladders", "more than 6 decimals"),
        ] {
            let problem = rank(&ladders, costs, "1000").unwrap_err();
            assert_eq!(problem.code, ProblemCode::InvalidParameter);
            assert_eq!(problem.field.as_deref(), Some(field), "{problem:?}");
            assert!(problem.detail.contains(said), "{problem:?}");
        }
        assert!(rank(&[one, elsewhere], &[], "1000").is_ok());
        let costs = |text: &str| parse_fixed_costs(&[text.to_owned()]);
        assert_eq!(costs("1.5").unwrap(), [UsdMicros(1_500_000)]);
        for (text, said) in
            [("-1", "plain decimal"), ("1e3", "plain"), ("99999999999999999", "range")]
        {
            let problem = costs(text).unwrap_err();
            assert_eq!(problem.field.as_deref(), Some("fixed_costs_usd"));
            assert!(problem.detail.contains(said), "{problem:?}");
        }
    }
}
