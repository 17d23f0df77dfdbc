//! Figure files of routes and portfolios.

use serde_json::{Value, json};

use super::figure::{
    Gathered, another, deep_pair, failed, gathered, leaves, moving, report_on_all, two_venues,
};
use super::*;
use crate::analytics::figure::{Figure, FigureCheckName, FigurePass, write_figure};
use crate::analytics::route::{
    PortfolioTerms, RoutePass, RoutePlanLeg, RoutePrice, RouteTerms, SoldAmount, network_of,
};
use crate::exit::find_plan;

/// The route that a search finds in the last slot of two pools of the same two tokens, as a figure of its own.
fn route_of<F: Figure<Pass = RoutePass>>(
    kinds: [Kind; 2],
    amount: u64,
    figure: impl Fn(RouteTerms) -> F,
) -> (Scene, Vec<u8>) {
    let (scene, venues) = two_venues(kinds, Base::Token0);
    let last = slot(11);
    let Gathered { windows, uses, observations } =
        gathered(&scene, &venues.iter().map(|venue| &venue.pool).collect::<Vec<_>>(), last..=last);
    let [sold, cash] = observations[0].tokens().each_ref().map(|token| token.address);
    let network = network_of(&observations, &[sold], &[cash]).unwrap();
    let amount_in = U256::from(amount);
    let plan = find_plan(&network, &[amount_in]).unwrap();
    let leg = |leg: &crate::exit::LegOrder| {
        let (amount_in, base) = (leg.amount_in, Base::BOTH[leg.direction.base_index()]);
        RoutePlanLeg { amount_in, base, pool: venues[leg.pool].pool.clone() }
    };
    let price =
        |price: &crate::exit::TokenPrice| RoutePrice { token: price.token, value: price.value };
    let terms = figure(RouteTerms {
        amount_in,
        cash: vec![cash],
        legs: plan.legs.iter().map(leg).collect(),
        pools: venues.iter().map(|venue| venue.pool.clone()).collect(),
        prices: plan.prices.iter().map(price).collect(),
        slot: last,
        token: sold,
    });
    let mut pass = terms.clone().pass().unwrap();
    for (of, observation) in uses.iter().zip(observations) {
        pass.add_snapshot(&of.pool, of.slot, observation).unwrap();
    }
    let bytes = write_figure(&terms, &windows, &uses, Vec::new(), &pass.finish().unwrap()).unwrap();
    (scene, bytes)
}

/// Of a valid file: requires that none is valid in which one value is another.
fn require_no_other_valid(scene: &Scene, bytes: &[u8]) -> Value {
    let report = report_on_all(scene, bytes);
    assert_eq!(report.verdict, Verdict::Valid, "{report:#?}");
    let value: Value = serde_json::from_slice(bytes).unwrap();
    let mut places = Vec::new();
    leaves(&value, "", &mut places);
    for place in places {
        let mut changed = value.clone();
        let leaf = changed.pointer_mut(&place).unwrap();
        *leaf = another(leaf);
        let report = report_on_all(scene, &canonical(&changed));
        assert_ne!(report.verdict, Verdict::Valid, "{place}");
    }
    value
}

/// The portfolio of a route's one token.
fn portfolio(route: RouteTerms) -> PortfolioTerms {
    let RouteTerms { amount_in, cash, legs, pools, prices, slot, token } = route;
    PortfolioTerms { cash, legs, pools, prices, slot, sold: vec![SoldAmount { amount_in, token }] }
}

#[test]
fn no_field_of_a_portfolio_can_be_changed() {
    let (scene, bytes) = route_of([moving, deep_pair], 1_000_000_000, portfolio);
    let value = require_no_other_valid(&scene, &bytes);
    assert_eq!(value["figure"], "portfolio/1");
    // The same result as a route's, whose figure it is not.
    let mut other = value.clone();
    other["figure"] = json!("route/1");
    let report = report_on_all(&scene, &canonical(&other));
    assert_eq!(failed(&report).unwrap().0, FigureCheckName::Format, "{report:#?}");
}

#[test]
fn no_field_of_a_route_can_be_changed() {
    let (scene, bytes) = route_of([moving, deep_pair], 1_000_000_000, |route| route);
    let value = require_no_other_valid(&scene, &bytes);
    assert_eq!(value["parameters"]["legs"].as_array().unwrap().len(), 2);
    let told = |change: &dyn Fn(&mut Value)| {
        let mut value = value.clone();
        change(&mut value);
        failed(&report_on_all(&scene, &canonical(&value)))
    };
    let other = |value: &mut Value| {
        value["parameters"]["pools"][0] = json!(format!("anvil:0x{}", "aa".repeat(19) + "ab"));
    };
    assert_eq!(told(&other), Some((FigureCheckName::Windows, "windows_invalid")));
    let moved = |value: &mut Value| {
        for (leg, amount) in [(0, "1"), (1, "999999999")] {
            value["parameters"]["legs"][leg]["amount_in"] = json!(amount);
        }
    };
    let code = told(&moved).unwrap().1;
    assert!(["result_mismatch", "route_leg_refused"].contains(&code), "{code}");
}

#[cfg(not(target_family = "wasm"))]
#[test]
fn routes_and_portfolios_have_vectors() {
    use super::figure::is_vector;
    let (scene, bytes) = route_of([moving, deep_pair], 1_000_000_000, |route| route);
    is_vector("route", &scene, &bytes);
    let value: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(value["result"]["legs_out"].as_array().unwrap().len(), 2);
    let (scene, bytes) = route_of([moving, deep_pair], 1_000_000_000, portfolio);
    is_vector("portfolio", &scene, &bytes);
}
