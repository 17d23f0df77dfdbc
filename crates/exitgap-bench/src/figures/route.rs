//! Exits into cash over the pools of one slot: twelve pools of four kinds, and the ten of two kinds alone. Sizes from a
//! thousand dollars to a million.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use exitgap_core::U256;
use exitgap_core::analytics::route::{RoutePlanLeg, RoutePrice, RouteTerms, network_of};
use exitgap_core::exit::{Network, Plan, PlanError, find_plan};
use exitgap_core::ids::{Address, PoolId};
use exitgap_core::pools::{
    Concentrated, DRule, Direction, PoolState, StableSwap, StableSwapParts, Tick, VaultParts,
    Weighted, sqrt_ratio_at_tick,
};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{
    Observation, OracleReading, OracleRole, OracleSource, Snapshot, Symbol, Token,
};
use exitgap_core::tlog::SignerKey;
use exitgap_core::units::{Percent, SizeUsd};
use exitgap_store::{Changes, NewEntry, Reader, Ready, Store};

use super::{TICKS, failed, verified};
use crate::BenchError;
use crate::clock::median;
use crate::effort::Effort;
use crate::evidence::slot;
use crate::market::BusyPool;
use crate::report::Report;

/// Number of sizes, in equal steps of their logarithm.
const SIZES: Effort<u32> = Effort::new(100, 3);

/// Every slot of the demonstration's series, or one of a hundred.
const EVERY: Effort<usize> = Effort::new(1, 100);

/// The token sold, a dollar that is not cash, and cash. A pool's second token has the higher address, so the tokens of a
/// portfolio begin with the token sold.
const SOLD: u8 = 1;
const BETWEEN: u8 = 102;
const CASH: u8 = 103;

const ONE: u128 = 10_u128.pow(18);

/// The store of the demonstration, which `cargo xtask demo` leaves behind.
const DEMONSTRATION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/demo/exitgap.db");

/// The tokens sold over the demonstration's series, and those that count as cash there.
const DEMO_SOLD: [&str; 3] = ["WETH", "WBTC", "ALT"];
const DEMO_CASH: [&str; 3] = ["USDC", "USDT", "DAI"];

/// Adds `route.*`.
pub fn measure(report: &mut Report) -> Result<(), BenchError> {
    let all = pools(true)?;
    let ticks_only = pools(false)?;
    for (key, pools) in [("route.median_ms", &all), ("route.ticks_only_median_ms", &ticks_only)] {
        let (taken, worst) = plans(pools)?;
        let worst = worst.map_or_else(
            || "no bound".to_owned(),
            |worst| format!("at most {worst}% from their bound"),
        );
        eprintln!("figures: plans over {} pools, {worst}, {taken:.2} ms", pools.len());
        report.add(key, taken);
    }
    report.add("portfolio.20_positions_ms", portfolio_ms()?);
    let folder = tempfile::tempdir().map_err(failed)?;
    let key = SignerKey::from_seed("exitgap.example/bench", [7; 32]).map_err(failed)?;
    let path = folder.path().join("route.db");
    record(&path, &key, &all)?;
    let reader = Reader::open(&path).map_err(failed)?;
    let file = reader.figure_file(&terms(&all)?).map_err(failed)?;
    let file = verified::File::new(&reader, &key, file)?;
    report.add("route.verify_ms", file.natively_ms()?);
    report.add("route.verify_browser_ms", file.in_browser_ms()?);
    if Path::new(DEMONSTRATION).exists() {
        over_series(&Reader::open(Path::new(DEMONSTRATION)).map_err(failed)?, report)
    } else {
        eprintln!(
            "figures: plans over the demonstration's week are not measured; run `cargo xtask demo` first"
        );
        Ok(())
    }
}

/// Plans each token at each size, in every slot of a series. Measures the largest distance from a bound, percent.
/// Counts plans without a bound, and sizes that the pools cannot fill.
fn over_series(reader: &Reader, report: &mut Report) -> Result<(), BenchError> {
    let pools = reader.pools().map_err(failed)?;
    let (first, last) = reader.slots().map_err(failed)?.ok_or_else(|| failed("no slot"))?;
    let (mut worst, mut without_bound, mut plans, mut refused) = (Percent(0), 0_u32, 0_u32, 0_u32);
    let slots = (first.number()..=last.number()).step_by(EVERY.get());
    for number in slots {
        let at = Slot::new(number.into()).map_err(failed)?;
        let mut found = Vec::new();
        for pool in pools.iter().filter(|pool| pool.first_slot <= at) {
            let snapshot = reader.snapshot_at(pool, at).map_err(failed)?;
            found.extend(snapshot.map(|snapshot| snapshot.observation().clone()));
        }
        let named = |symbol: &&str| {
            let tokens = found.iter().flat_map(|one: &Observation| one.tokens());
            tokens
                .filter(|token| token.symbol.as_str() == *symbol)
                .map(|token| token.address)
                .next()
        };
        let mut cash: Vec<Address> = DEMO_CASH.iter().filter_map(named).collect();
        cash.sort_unstable();
        for sold in DEMO_SOLD.iter().filter_map(named) {
            let network = network_of(&found, &[sold], &cash).map_err(failed)?;
            for size in ["1000", "50000", "1000000"] {
                let size = size.parse().map_err(failed)?;
                let amount =
                    network.amount_asked(sold, size).ok_or_else(|| failed("no pool sells it"))?;
                match find_plan(&network, &[amount]) {
                    Ok(Plan { bound: Some(bound), .. }) => worst = worst.max(bound.optimality_gap),
                    Ok(_) => without_bound += 1,
                    Err(PlanError::BeyondLiquidity { .. }) => refused += 1,
                    Err(error) => return Err(failed(error)),
                }
                plans += 1;
            }
        }
    }
    eprintln!(
        "figures: {plans} plans over the demonstration's series, {refused} sizes beyond its liquidity"
    );
    let percent = worst.to_string().parse().map_err(failed)?;
    report.add("route.gap_to_bound_pct_worst", percent);
    report.add("route.without_bound", f64::from(without_bound));
    Ok(())
}

/// The median time of a search, with all curves prepared anew, and the largest distance from a bound.
fn plans(pools: &[Observation]) -> Result<(f64, Option<Percent>), BenchError> {
    let (mut taken, mut worst) = (Vec::new(), None);
    let sizes = SIZES.get();
    for step in 0..sizes {
        let share = f64::from(step) / f64::from((sizes - 1).max(1));
        let size: SizeUsd =
            format!("{:.2}", 1_000.0 * 1_000.0_f64.powf(share)).parse().map_err(failed)?;
        let start = Instant::now();
        let network = network(pools)?;
        let plan = black_box(plan(&network, size)?.1);
        taken.push(start.elapsed().as_secs_f64() * 1e3);
        // Over some kinds of pools no bound is known, which the figure states.
        worst = worst.max(plan.bound.map(|bound| bound.optimality_gap));
    }
    Ok((median(taken), worst))
}

/// The median time of a plan for twenty tokens of $25,000 each, with all curves prepared anew: each token has a pool of
/// its own, every other one to cash, and four pools lead from the dollar between to cash.
fn portfolio_ms() -> Result<f64, BenchError> {
    let held: Vec<u8> = (SOLD..SOLD + 20).collect();
    let mut pools = Vec::new();
    let first = BusyPool::real(1, TICKS.get()).recorded(slot(0)?)?;
    let first = first.reading.map_err(|_| failed("nothing was drawn"))?.observation().clone();
    for (number, one) in (1_u16..).zip(&held) {
        let drawn = BusyPool::real(number, TICKS.get()).recorded(slot(0)?)?;
        let drawn = drawn.reading.map_err(|_| failed("nothing was drawn"))?;
        let bought = if number % 2 == 0 { CASH } else { BETWEEN };
        pools.push(seen(&first, number, [*one, bought], drawn.observation().state().clone())?);
    }
    for number in 21..25 {
        pools.push(seen(&first, number, [BETWEEN, CASH], ranges()?)?);
    }
    let sold: Vec<Address> = held.iter().map(|one| token(*one).address).collect();
    let size: SizeUsd = "25000".parse().map_err(failed)?;
    let (mut taken, mut worst) = (Vec::new(), None);
    for _ in 0..SIZES.get() {
        let start = Instant::now();
        let network = network_of(&pools, &sold, &[token(CASH).address]).map_err(failed)?;
        let amounts = sold.iter().map(|token| network.amount_asked(*token, size));
        let amounts: Vec<U256> = amounts.collect::<Option<_>>().ok_or_else(|| failed("no pool"))?;
        let plan = black_box(find_plan(&network, &amounts).map_err(failed)?);
        taken.push(start.elapsed().as_secs_f64() * 1e3);
        worst = worst.max(plan.bound.map(|bound| bound.optimality_gap));
    }
    let worst = worst.map_or_else(|| "no bound".to_owned(), |worst| format!("{worst}% from its bound"));
    eprintln!("figures: a plan for twenty tokens over {} pools, {worst}", pools.len());
    Ok(median(taken))
}

fn network(pools: &[Observation]) -> Result<Network<'_>, BenchError> {
    network_of(pools, &[token(SOLD).address], &[token(CASH).address]).map_err(failed)
}

fn plan(network: &Network<'_>, size: SizeUsd) -> Result<(U256, Plan), BenchError> {
    let amount = network.amount_asked(token(SOLD).address, size);
    let amount = amount.ok_or_else(|| failed("no pool sells the token"))?;
    Ok((amount, find_plan(network, &[amount]).map_err(failed)?))
}

/// The parameters of the figure of a hundred thousand dollars.
fn terms(pools: &[Observation]) -> Result<RouteTerms, BenchError> {
    let network = network(pools)?;
    let (amount_in, plan) = plan(&network, SizeUsd::STANDARD[2])?;
    let leg = |leg: &exitgap_core::exit::LegOrder| RoutePlanLeg {
        amount_in: leg.amount_in,
        base: leg.direction.into(),
        pool: pools[leg.pool].pool().clone(),
    };
    let price = |price: &exitgap_core::exit::TokenPrice| RoutePrice {
        token: price.token,
        value: price.value,
    };
    Ok(RouteTerms {
        amount_in,
        cash: vec![token(CASH).address],
        legs: plan.legs.iter().map(leg).collect(),
        pools: pools.iter().map(|one| one.pool().clone()).collect(),
        prices: plan.prices.iter().map(price).collect(),
        slot: slot(0)?,
        token: token(SOLD).address,
    })
}

fn record(path: &Path, key: &SignerKey, pools: &[Observation]) -> Result<(), BenchError> {
    let mut store = Store::create(path, key).map_err(failed)?;
    let at = slot(0)?;
    let entry = |one: &Observation| -> Result<NewEntry, BenchError> {
        let reading = Ok(Snapshot::new(at, one.clone()).map_err(failed)?);
        Ok(NewEntry { pool: one.pool().clone(), default_base: Direction::ZeroForOne, reading })
    };
    let entries: Vec<NewEntry> = pools.iter().map(entry).collect::<Result<_, _>>()?;
    let ready = Ready::prepare_entries(&entries).map_err(failed)?;
    store.append_ready(at, ready, &Changes::default()).map_err(failed)?;
    store.close().map_err(failed)
}

fn token(last: u8) -> Token {
    let symbol = Symbol::clean(match last {
        SOLD => "WETH",
        BETWEEN => "USD2",
        CASH => "USD",
        _ => "TOK",
    });
    Token { address: Address([last; 20]), decimals: 18, symbol }
}

/// Eight pools of concentrated liquidity and two pairs, and with `is_mixed` a stable and a weighted pool.
fn pools(is_mixed: bool) -> Result<Vec<Observation>, BenchError> {
    let at = slot(0)?;
    let drawn = |number: u16| -> Result<Observation, BenchError> {
        let mut market =
            if number < 8 { BusyPool::real(number, TICKS.get()) } else { BusyPool::pair(number) };
        let entry = market.recorded(at)?;
        Ok(entry.reading.map_err(|_| failed("nothing was drawn"))?.observation().clone())
    };
    let first = drawn(1)?;
    let mut found = Vec::new();
    // Sold for cash, and for the dollar between; the last two are pairs.
    for (number, bought) in [
        (1, CASH),
        (2, CASH),
        (3, CASH),
        (4, CASH),
        (5, BETWEEN),
        (6, BETWEEN),
        (7, BETWEEN),
        (8, CASH),
        (9, BETWEEN),
    ] {
        found.push(seen(&first, number, [SOLD, bought], drawn(number)?.state().clone())?);
    }
    found.push(seen(&first, 10, [BETWEEN, CASH], ranges()?)?);
    if is_mixed {
        found.push(seen(&first, 11, [BETWEEN, CASH], stable()?)?);
        found.push(seen(&first, 12, [SOLD, CASH], weighted()?)?);
    }
    Ok(found)
}

/// A pool of these tokens in the first one's block, with its prices; a dollar is a dollar.
fn seen(
    first: &Observation,
    number: u16,
    tokens: [u8; 2],
    state: PoolState,
) -> Result<Observation, BenchError> {
    let mut address = [0xaa; 20];
    address[18..].copy_from_slice(&number.to_be_bytes());
    let price = |index: usize| {
        let own = &first.oracles()[usize::from([BETWEEN, CASH].contains(&tokens[index]))];
        let role = OracleRole::TokenUsd(u8::from(index == 1));
        let source = match &own.source {
            OracleSource::Chainlink(round) => OracleSource::Chainlink(round.clone()),
            OracleSource::Fixed => OracleSource::Fixed,
        };
        OracleReading { role, answer: own.answer, decimals: own.decimals, source }
    };
    let observed = Observation::new(
        PoolId::new(first.pool().chain().clone(), Address(address)),
        first.chain(),
        first.block(),
        tokens.map(token),
        state,
        vec![price(0), price(1)],
        Vec::new(),
    );
    observed.map_err(failed)
}

/// Concentrated liquidity around a price of one.
fn ranges() -> Result<PoolState, BenchError> {
    let liquidity = (40_000_000 * ONE).cast_signed();
    let mut ticks: Vec<Tick> = Vec::new();
    for width in [10, 60, 200, 1_000] {
        ticks.extend([Tick::new(-width, liquidity), Tick::new(width, -liquidity)]);
    }
    ticks.sort_by_key(|tick| tick.tick);
    let price = sqrt_ratio_at_tick(0).ok_or_else(|| failed("no price"))?;
    let active = 4 * liquidity.unsigned_abs();
    Ok(Concentrated::new(price, 0, active, 100, 10, ticks).map_err(failed)?.into())
}

fn stable() -> Result<PoolState, BenchError> {
    let parts = StableSwapParts {
        balances: [5_200_000, 4_900_000].map(|whole: u128| U256::from(whole * ONE)).to_vec(),
        rates: vec![U256::from(ONE); 2],
        amp: 20_000,
        a_precision: 100,
        d_rule: DRule::NPowN,
        less_one: true,
        fee: 1_000_000,
        admin_fee: 5_000_000_000,
        ng: None,
    };
    Ok(StableSwap::new(parts).map_err(failed)?.into())
}

fn weighted() -> Result<PoolState, BenchError> {
    let one = U256::from(ONE);
    let vault = VaultParts {
        balances: [2_000, 1_250_000].map(|whole: u128| U256::from(whole * ONE)).to_vec(),
        live_balances: None,
        scaling_factors: vec![one; 2],
        rates: vec![one; 2],
        swap_fee: 3_000_000_000_000_000,
    };
    let weights = [800_000_000_000_000_000, 200_000_000_000_000_000].to_vec();
    Ok(Weighted::new(vault, weights, None).map_err(failed)?.into())
}
