//! Plans of made-up pools, recomputed, and what each change makes of them.

use super::*;
use crate::analytics::FigureError;
use crate::analytics::figure::{Figure, FigurePass};
use crate::analytics::made_up::{pair, pool_of, ranges, slot};
use crate::evidence::Base;
use crate::exit::find_plan;
use crate::ids::{Address, BlockHash, PoolId};
use crate::json::{Wire, parse_json};
use crate::pools::{Direction, FeeRate, PoolState, Solidly};
use crate::snapshot::{
    BlockRef, ChainKind, ChainTag, Observation, OracleReading, OracleRole, OracleSource, Symbol,
    Token,
};
use crate::units::Percent;
use crate::wide::U256;

const SOLD: u8 = 1;
const BETWEEN: u8 = 2;
const CASH: u8 = 3;

fn token(last: u8) -> Address {
    Address([last; 20])
}

/// An observation of a pool of two of the tokens, which all have six decimals and are worth two dollars.
fn observed(number: u8, tokens: [u8; 2], state: PoolState) -> Observation {
    let at = slot(7);
    let price = |index: u8| OracleReading {
        role: OracleRole::TokenUsd(index),
        answer: U256::from(2_u32),
        decimals: 0,
        source: OracleSource::Fixed,
    };
    let chain = ChainTag { caip2: "eip155:31337".parse().unwrap(), kind: ChainKind::Preview };
    let (number_of, timestamp) = (u64::from(at.number()), at.unix_s() - 12);
    let block = BlockRef { hash: BlockHash([5; 32]), number: number_of, timestamp };
    let tokens = tokens.map(|last| Token {
        address: token(last),
        decimals: 6,
        symbol: Symbol::clean("TOK"),
    });
    let oracles = vec![price(0), price(1)];
    Observation::new(pool_of(number), chain, block, tokens, state, oracles, Vec::new()).unwrap()
}

/// A thin pool to cash, and a deep way to it through a token in between.
fn pools() -> Vec<Observation> {
    let fee = FeeRate { numerator: 5, denominator: 10_000 };
    let stable = Solidly::new(true, [U256::from(1_u64 << 42); 2], [6, 6], fee).unwrap();
    vec![
        observed(1, [SOLD, CASH], pair(1 << 30, 1 << 30)),
        observed(2, [SOLD, BETWEEN], ranges(0, 1 << 44, 1 << 45)),
        observed(3, [BETWEEN, CASH], stable.into()),
        observed(4, [BETWEEN, CASH], pair(1 << 43, 1 << 43)),
    ]
}

/// The parameters of the plan that a search finds.
fn terms_of(observations: &[Observation], amount_in: U256) -> RouteTerms {
    let cash = [token(CASH)];
    let network = network_of(observations, &[token(SOLD)], &cash).unwrap();
    let plan = find_plan(&network, &[amount_in]).unwrap();
    let base = |direction: Direction| Base::BOTH[direction.base_index()];
    RouteTerms {
        amount_in,
        cash: cash.to_vec(),
        legs: plan
            .legs
            .iter()
            .map(|leg| RoutePlanLeg {
                amount_in: leg.amount_in,
                base: base(leg.direction),
                pool: observations[leg.pool].pool().clone(),
            })
            .collect(),
        pools: observations.iter().map(|one| one.pool().clone()).collect(),
        prices: plan
            .prices
            .iter()
            .map(|price| RoutePrice { token: price.token, value: price.value })
            .collect(),
        slot: slot(7),
        token: token(SOLD),
    }
}

fn recomputed<F: Figure<Pass = RoutePass>>(
    terms: &F,
    of: &[Observation],
) -> Result<RouteResult, FigureError> {
    let mut pass = Figure::pass(terms.clone())?;
    for one in of {
        pass.add_snapshot(one.pool(), slot(7), one.clone())?;
    }
    pass.finish()
}

#[test]
fn a_plan_is_recomputed_without_a_search() {
    let (pools, amount) = (pools(), U256::from(2_000_000_000_000_u64));
    let terms = terms_of(&pools, amount);
    assert_eq!(terms.legs.len(), 4, "all of them: {terms:?}");
    let result = recomputed(&terms, &pools).unwrap();
    let network = network_of(&pools, &[terms.token], &terms.cash).unwrap();
    let plan = find_plan(&network, &[amount]).unwrap();
    assert_eq!(result.exit_gap_pct, plan.result.gap.unwrap().to_fixed());
    assert_eq!(result.bound, Some(plan.bound.unwrap().most));
    let received = plan.result.received[0].1;
    assert_eq!(result.received, [RouteReceived { amount_out: received, token: token(CASH) }]);
    assert_eq!(result.received_usd, plan.result.received_usd.to_string());
    let distance = Percent::parse(result.optimality_gap_pct.as_ref().unwrap()).unwrap();
    assert!(distance < Percent::parse("0.0001").unwrap(), "{result:?}");
    assert_eq!(result.status, "preview");
    let parameters = Figure::parameters(&terms);
    let written = parameters.to_json().to_canonical().unwrap();
    let read = RouteParameters::from_json(&parse_json(&written).unwrap()).unwrap();
    assert_eq!(RouteTerms::from_parameters(&read), Ok(terms));
}

#[test]
fn a_plan_that_cannot_be_executed_has_no_figure() {
    let pools = pools();
    let terms = terms_of(&pools, U256::from(2_000_000_000_000_u64));
    let code = |change: &dyn Fn(&mut RouteTerms)| {
        let mut changed = terms.clone();
        change(&mut changed);
        recomputed(&changed, &pools).map_err(|error| error.code())
    };
    let more = |leg: usize| move |terms: &mut RouteTerms| terms.legs[leg].amount_in += U256::ONE;
    let less = |leg: usize| move |terms: &mut RouteTerms| terms.legs[leg].amount_in -= U256::ONE;
    for leg in 0..terms.legs.len() {
        assert_eq!(code(&more(leg)).unwrap_err(), "route_flow", "{leg}");
        assert_eq!(code(&less(leg)).unwrap_err(), "route_flow", "{leg}");
        let backwards = |terms: &mut RouteTerms| terms.legs[leg].base = Base::Token1;
        assert_eq!(code(&backwards).unwrap_err(), "route_off_path", "{leg}");
        let elsewhere = |terms: &mut RouteTerms| terms.legs[leg].pool = pool_of(9);
        assert_eq!(code(&elsewhere).unwrap_err(), "route_off_path", "{leg}");
    }
    let split = |terms: &mut RouteTerms| {
        let mut second = terms.legs[0].clone();
        second.amount_in = U256::ONE;
        terms.legs[0].amount_in -= U256::ONE;
        terms.legs.insert(1, second);
    };
    assert_eq!(code(&split).unwrap_err(), "route_pool_twice");
    assert_eq!(code(&|terms| terms.legs.reverse()).unwrap_err(), "route_flow");
    assert_eq!(code(&|terms| terms.amount_in += U256::ONE).unwrap_err(), "route_flow");
    assert_eq!(code(&|terms| drop(terms.legs.pop())).unwrap_err(), "route_flow");
    let all = |terms: &mut RouteTerms| {
        terms.amount_in = U256::from(1_u64 << 62);
        terms.legs.truncate(2);
        terms.legs[1].amount_in = U256::from(1_u64 << 61);
    };
    assert_eq!(code(&all).unwrap_err(), "route_leg_refused");
}

#[test]
fn lists_are_exactly_those_of_the_pools() {
    let pools = pools();
    let terms = terms_of(&pools, U256::from(2_000_000_000_000_u64));
    let code = |change: &dyn Fn(&mut RouteTerms)| {
        let mut changed = terms.clone();
        change(&mut changed);
        recomputed(&changed, &pools).map_err(|error| error.code())
    };
    assert_eq!(code(&|terms| terms.prices.truncate(1)).unwrap_err(), "route_prices");
    assert_eq!(code(&|terms| terms.prices[0].token = token(0)).unwrap_err(), "route_prices");
    assert_eq!(code(&|terms| drop(terms.pools.pop())).unwrap_err(), "route_pool_missing");
    assert_eq!(code(&|terms| terms.pools.push(pool_of(9))).unwrap_err(), "route_pool_missing");
    assert_eq!(code(&|terms| terms.cash.push(token(9))).unwrap_err(), "route_network");
    assert_eq!(code(&|terms| terms.token = token(9)).unwrap_err(), "route_network");
    assert_eq!(code(&|terms| terms.slot = slot(6)).unwrap_err(), "figure_slot_order");
    for (cash, expected) in [(BETWEEN, "route_prices"), (SOLD, "figure_parameter")] {
        let changed = |terms: &mut RouteTerms| terms.cash = vec![token(cash)];
        assert_eq!(code(&changed).unwrap_err(), expected);
    }
    let mut more = pools.clone();
    more.push(observed(5, [8, 9], pair(1 << 30, 1 << 30)));
    let apart = terms_of(&more, U256::from(1_000_000_u32));
    assert_eq!(recomputed(&apart, &more).unwrap_err().code(), "route_off_path");
    more[4] = observed(5, [CASH, 9], pair(1 << 30, 1 << 30));
    let beyond = terms_of(&more, U256::from(1_000_000_u32));
    assert_eq!(recomputed(&beyond, &more).unwrap_err().code(), "route_off_path");
    // Prices are free: they change the bound and nothing else.
    let before = recomputed(&terms, &pools).unwrap();
    for at in 0..terms.prices.len() {
        let after = code(&|terms| terms.prices[at].value += U256::ONE << 60).unwrap();
        assert_ne!(after.bound, before.bound);
        assert_eq!(after.received, before.received);
    }
}

#[test]
fn parameters_have_bounds_and_one_spelling() {
    let terms = terms_of(&pools(), U256::from(2_000_000_000_000_u64));
    let code = |change: &dyn Fn(&mut RouteTerms)| {
        let mut changed = terms.clone();
        change(&mut changed);
        changed.validate().map_err(|error| error.code()).map(|_| ())
    };
    assert_eq!(code(&|_| ()), Ok(()));
    assert_eq!(code(&|terms| terms.pools.clear()), Err("figure_venues"));
    assert_eq!(code(&|terms| terms.pools.reverse()), Err("figure_venues"));
    assert_eq!(code(&|terms| terms.pools = (1..=25).map(pool_of).collect()), Err("figure_venues"));
    let other = |terms: &mut RouteTerms| {
        terms.pools.push(PoolId::new("base".parse().unwrap(), Address([1; 20])));
    };
    assert_eq!(code(&other), Err("figure_venues"));
    let parameter = Err("figure_parameter");
    assert_eq!(code(&|terms| terms.cash.clear()), parameter);
    assert_eq!(code(&|terms| terms.cash = (3..=11).map(token).collect()), parameter);
    assert_eq!(code(&|terms| terms.cash = vec![token(3), token(3)]), parameter);
    assert_eq!(code(&|terms| terms.legs.clear()), parameter);
    assert_eq!(code(&|terms| terms.legs = vec![terms.legs[0].clone(); 25]), parameter);
    assert_eq!(code(&|terms| terms.legs[0].amount_in = U256::ZERO), parameter);
    assert_eq!(code(&|terms| terms.amount_in = U256::ZERO), parameter);
    assert_eq!(code(&|terms| terms.prices[0].value = U256::ZERO), parameter);
    assert_eq!(code(&|terms| terms.prices.reverse()), parameter);
}

#[test]
fn snapshots_of_two_blocks_are_no_network() {
    let mut pools = pools();
    let at = slot(7);
    let chain = ChainTag { caip2: "eip155:31337".parse().unwrap(), kind: ChainKind::Preview };
    let block = BlockRef { hash: BlockHash([6; 32]), number: 1, timestamp: at.unix_s() - 12 };
    let old = &pools[3];
    let (tokens, oracles) = (old.tokens().clone(), old.oracles().to_vec());
    let state = old.state().clone();
    let terms = terms_of(&pools, U256::from(2_000_000_000_000_u64));
    pools[3] =
        Observation::new(pool_of(4), chain, block, tokens, state, oracles, Vec::new()).unwrap();
    assert_eq!(recomputed(&terms, &pools).unwrap_err().code(), "route_other_block");
}

/// The parameters of the plan that a search finds for two tokens. A route of the first may pass through the second.
fn portfolio_of(observations: &[Observation], amounts_in: [u64; 2]) -> PortfolioTerms {
    let (cash, sold) = ([token(CASH)], [token(SOLD), token(BETWEEN)]);
    let amounts_in = amounts_in.map(U256::from);
    let network = network_of(observations, &sold, &cash).unwrap();
    let plan = find_plan(&network, &amounts_in).unwrap();
    let leg = |leg: &crate::exit::LegOrder| RoutePlanLeg {
        amount_in: leg.amount_in,
        base: Base::BOTH[leg.direction.base_index()],
        pool: observations[leg.pool].pool().clone(),
    };
    let price =
        |price: &crate::exit::TokenPrice| RoutePrice { token: price.token, value: price.value };
    let amount = |(token, amount_in): (&Address, U256)| SoldAmount { amount_in, token: *token };
    PortfolioTerms {
        cash: cash.to_vec(),
        legs: plan.legs.iter().map(leg).collect(),
        pools: observations.iter().map(|one| one.pool().clone()).collect(),
        prices: plan.prices.iter().map(price).collect(),
        slot: slot(7),
        sold: sold.iter().zip(amounts_in).map(amount).collect(),
    }
}

#[test]
fn a_plan_of_several_tokens_is_recomputed_without_a_search() {
    let (pools, amounts) = (pools(), [2_000_000_000_000_u64, 3_000_000_000_000]);
    let terms = portfolio_of(&pools, amounts);
    let result = recomputed(&terms, &pools).unwrap();
    let network = network_of(&pools, &[token(SOLD), token(BETWEEN)], &terms.cash).unwrap();
    let plan = find_plan(&network, &amounts.map(U256::from)).unwrap();
    assert_eq!(result.exit_gap_pct, plan.result.gap.unwrap().to_fixed());
    assert_eq!(result.bound, Some(plan.bound.unwrap().most));
    assert_eq!(result.received[0].amount_out, plan.result.received[0].1);
    let written = Figure::parameters(&terms).to_json().to_canonical().unwrap();
    let read = PortfolioParameters::from_json(&parse_json(&written).unwrap()).unwrap();
    assert_eq!(PortfolioTerms::from_parameters(&read), Ok(terms));
}

#[test]
fn a_portfolio_that_was_changed_has_no_figure() {
    let pools = pools();
    let terms = portfolio_of(&pools, [2_000_000_000_000, 3_000_000_000_000]);
    let code = |change: &dyn Fn(&mut PortfolioTerms)| {
        let mut changed = terms.clone();
        change(&mut changed);
        recomputed(&changed, &pools).map_err(|error| error.code())
    };
    for sold in 0..terms.sold.len() {
        assert_eq!(
            code(&|terms| terms.sold[sold].amount_in += U256::ONE).unwrap_err(),
            "route_flow"
        );
        assert_eq!(
            code(&|terms| {
                terms.sold.remove(sold);
            })
            .unwrap_err(),
            "route_flow"
        );
        let zero = |terms: &mut PortfolioTerms| terms.sold[sold].amount_in = U256::ZERO;
        assert_eq!(code(&zero).unwrap_err(), "figure_parameter");
        let cash = |terms: &mut PortfolioTerms| terms.sold[sold].token = token(CASH);
        assert_eq!(code(&cash).unwrap_err(), "figure_parameter");
    }
    for leg in 0..terms.legs.len() {
        let more = |terms: &mut PortfolioTerms| terms.legs[leg].amount_in += U256::ONE;
        assert_eq!(code(&more).unwrap_err(), "route_flow", "{leg}");
    }
    assert_eq!(code(&|terms| terms.sold.reverse()).unwrap_err(), "figure_parameter");
    assert_eq!(code(&|terms| terms.sold.clear()).unwrap_err(), "figure_parameter");
    let unknown = |terms: &mut PortfolioTerms| terms.sold[1].token = token(9);
    assert_eq!(code(&unknown).unwrap_err(), "route_network");
    let many = |terms: &mut PortfolioTerms| {
        let one = |last: u8| SoldAmount { amount_in: U256::ONE, token: token(last) };
        terms.sold = (100..125).map(one).collect();
    };
    assert_eq!(code(&many).unwrap_err(), "figure_parameter");
}
