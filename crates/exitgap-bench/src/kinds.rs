//! Every kind of pool: the time for a fill and for the largest exit. If a published crate supports a kind, it
//! alternates with ours on the same pool and sizes; other kinds are measured on recorded states.

use std::path::Path;

use alloy_primitives::U256;
use exitgap_core::pools::vectors::{RecordedFills, RecordedPool};
use exitgap_core::pools::{
    ConcentratedV4, DRule, Direction, PoolState, StableSwap, StableSwapParts, VaultParts, Weighted,
};
use exitgap_tests::parity::folder::{fills_of, sizes::Question};

use crate::BenchError;
use crate::clock::{median, nanoseconds};
use crate::effort::Effort;
use crate::peers::{BalancerMaths, CurveMath, Ours, Peer, UniswapV3Sdk};
use crate::quotes::{Trial, of_ticks, take_turns};
use crate::report::Report;
use crate::scene::{SIZES, Scene};

/// Number of recorded pools per kind whose fills, and whose size searches, are measured.
const POOLS: Effort<usize> = Effort::new(12, 1);
const QUESTIONS: Effort<u64> = Effort::new(40, 2);
/// The random seed of the questions.
const SEED: u64 = 15;

/// Adds `quote.v4.<ticks>.*`, `quote.stableswap3.*` and `quote.weighted.*`, and for every recorded kind
/// `quote.<kind>.ours_ns`, `size.<kind>_us` and `size.<kind>_worst_us`.
pub fn measure(scene: &Scene, report: &mut Report) -> Result<(), BenchError> {
    v4(scene, report)?;
    stableswap3(report)?;
    weighted(report)?;
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/pools");
    for fills in fills_of(&vectors).map_err(peer)? {
        recorded(&fills, report);
    }
    Ok(())
}

/// The scene's ticks in a Uniswap v4 pool; the peer only supports v3, which fills identically.
fn v4(scene: &Scene, report: &mut Report) -> Result<(), BenchError> {
    let pool = &scene.pool;
    let state = ConcentratedV4::new(
        pool.sqrt_price_x96(),
        pool.tick(),
        pool.liquidity(),
        pool.fee_pips(),
        [0, 0],
        pool.tick_spacing(),
        pool.ticks().to_vec(),
    );
    let ours = Ours::new(&state.map_err(peer)?.into(), crate::scene::DIRECTION);
    let mut peers: Vec<Box<dyn Peer>> = vec![Box::new(ours), Box::new(UniswapV3Sdk::new(scene))];
    take_turns(&mut peers, of_ticks(scene, "v4.")?, report).map(drop)
}

/// Three coins like those of 3pool: 170 million each, with 18, 6 and 6 decimals.
fn stableswap3(report: &mut Report) -> Result<(), BenchError> {
    let ten = |exponent: u32| U256::from(10).pow(U256::from(exponent));
    let parts = StableSwapParts {
        balances: vec![
            U256::from(171) * ten(24),
            U256::from(168) * ten(12),
            U256::from(173) * ten(12),
        ],
        rates: vec![ten(18), ten(30), ten(30)],
        amp: 2_000,
        a_precision: 1,
        d_rule: DRule::EachN,
        less_one: true,
        fee: 1_000_000,
        admin_fee: 5_000_000_000,
        ng: None,
    };
    let state: PoolState = StableSwap::new(parts.clone()).map_err(peer)?.into();
    let mut theirs = CurveMath::new(&parts);
    // Its view occasionally rounds differently from the sale.
    let trial =
        Trial::where_equal("stableswap3", &state, U256::from(1_000) * ten(18), &mut theirs)?;
    let ours = Ours::new(&state, Direction::ZeroForOne);
    let mut peers: Vec<Box<dyn Peer>> = vec![Box::new(ours), Box::new(theirs)];
    take_turns(&mut peers, vec![trial], report).map(drop)
}

/// A version 3 pool with weights of four fifths and one fifth.
fn weighted(report: &mut Report) -> Result<(), BenchError> {
    let ten = |exponent: u32| U256::from(10).pow(U256::from(exponent));
    let balances = vec![U256::from(8_000) * ten(18), U256::from(6_000_000) * ten(18)];
    let vault = VaultParts {
        balances: balances.clone(),
        live_balances: Some(balances),
        scaling_factors: vec![U256::from(1); 2],
        rates: vec![ten(18); 2],
        swap_fee: 3_000_000_000_000_000,
    };
    let weights = vec![800_000_000_000_000_000, 200_000_000_000_000_000];
    let state = Weighted::new(vault.clone(), weights.clone(), None).map_err(peer)?;
    let state = PoolState::from(state);
    let mut theirs = BalancerMaths::new(&vault, &weights);
    let trial = Trial::where_equal("weighted", &state, ten(17), &mut theirs)?;
    let ours = Ours::new(&state, Direction::ZeroForOne);
    let mut peers: Vec<Box<dyn Peer>> = vec![Box::new(ours), Box::new(theirs)];
    take_turns(&mut peers, vec![trial], report).map(drop)
}

impl Trial {
    /// As many sizes as in the other trials, from `step` upwards, for which a peer returns the same amount as ours.
    fn where_equal(
        name: &str,
        state: &PoolState,
        step: U256,
        theirs: &mut impl Peer,
    ) -> Result<Self, BenchError> {
        let mut ours = Ours::new(state, Direction::ZeroForOne);
        let (mut amounts, mut amounts_out) = (Vec::new(), Vec::new());
        for number in 1..=4 * SIZES {
            // Neither a round number nor a multiple of the one before.
            let amount = step * U256::from(number) + U256::from(number * 7_919);
            let filled = ours.run(&[amount], 1)?.amounts_out;
            if filled == theirs.run(&[amount], 1)?.amounts_out {
                amounts.push(amount);
                amounts_out.extend(filled);
            }
            if amounts.len() == SIZES as usize {
                return Ok(Self { name: name.to_owned(), amounts, amounts_out });
            }
        }
        Err(BenchError::Different { peer: theirs.name(), what: name.to_owned() })
    }
}

/// Fills of prepared recorded pools, and the largest exits within limits near recorded sales.
fn recorded(fills: &RecordedFills, report: &mut Report) {
    let kind = fills.kind.name();
    let quotes: Vec<f64> = fills.pools.iter().filter_map(of_pool).take(POOLS.get()).collect();
    if !quotes.is_empty() {
        report.add(format!("quote.{kind}.ours_ns"), median(quotes));
    }
    let questions = (0..QUESTIONS.get()).filter_map(|number| Question::draw(fills, SEED, number));
    let sizes: Vec<f64> = questions
        .filter_map(|question| {
            let exit = question.exit()?;
            exit.max_size_for(question.limit).ok()?;
            Some(nanoseconds(|| exit.max_size_for(question.limit)) / 1e3)
        })
        .collect();
    if !sizes.is_empty() {
        report.add(format!("size.{kind}_worst_us"), sizes.iter().copied().fold(0.0, f64::max));
        report.add(format!("size.{kind}_us"), median(sizes));
    }
}

/// Nanoseconds per fill of the pool's recorded sales; `None` if there are none.
fn of_pool(pool: &RecordedPool) -> Option<f64> {
    let state = pool.state.as_ref().ok()?;
    let first = pool.cases.first()?;
    let curve = state.clone().of_pair(first.pair)?.curve(first.direction);
    let same = pool
        .cases
        .iter()
        .filter(|case| (case.pair, case.direction) == (first.pair, first.direction));
    let amounts: Vec<U256> =
        same.map(|case| case.amount_in).filter(|amount| curve.fill(*amount).is_ok()).collect();
    let count = u32::try_from(amounts.len()).ok().filter(|count| *count > 0)?;
    let all = nanoseconds(|| {
        for amount in &amounts {
            let _ = std::hint::black_box(curve.fill(std::hint::black_box(*amount)));
        }
    });
    Some(all / f64::from(count))
}

fn peer(error: impl std::fmt::Display) -> BenchError {
    BenchError::Peer(error.to_string())
}
