//! Records the vectors kept in `tests/vectors/quotes/` from the contracts: a small set of named pools that
//! reaches every branch of the arithmetic.

use alloy::primitives::U256;
use exitgap_core::pools::{Direction, MAX_TICK, SaleCurve, sqrt_ratio_at_tick};
use exitgap_core::units::GapLimit;
use exitgap_tests::devchain::Rng;
use exitgap_tests::parity::VectorError;
use exitgap_tests::parity::answer::Answer;
use exitgap_tests::parity::oracle::Oracle;
use exitgap_tests::parity::vector::{Sale, Vector};

use crate::max_size::{self, Contract};
use crate::v3::{PoolToMake, Position, most_per_tick};
use crate::{ParityError, Tally, v2, v3};

/// Records the set anew: file name and vector.
pub fn record() -> Result<Vec<(String, Vector)>, ParityError> {
    let mut recorded = Vec::new();
    let bed = v3::Bed::deploy()?;
    for (name, plan) in plans() {
        let mut contract = Contract::V3(Box::new(bed.pool(&plan)?));
        record_both(&format!("uniswap-v3-{name}"), &mut contract, &mut recorded)?;
    }
    let mut fallen = bed.pool(&plans()[1].1)?;
    fall_onto_a_tick(&mut fallen)?;
    record_both(
        "uniswap-v3-fallen-onto-a-tick",
        &mut Contract::V3(Box::new(fallen)),
        &mut recorded,
    )?;
    let bed = v2::Bed::deploy()?;
    let most = (U256::ONE << 112) - U256::ONE;
    let pairs = [
        ("balanced", U256::from(10_u64.pow(18)), U256::from(3 * 10_u64.pow(12))),
        ("nearly-full", most - U256::from(1_000), most / U256::from(7)),
        ("one-unit", U256::ONE, U256::from(10_u64.pow(7))),
        ("tiny", U256::from(900), U256::from(1_200)),
    ];
    for (name, reserve0, reserve1) in pairs {
        let pair = bed.pair([reserve0, reserve1], [U256::ZERO; 2])?;
        let mut contract = Contract::V2(Box::new(pair));
        record_both(&format!("uniswap-v2-{name}"), &mut contract, &mut recorded)?;
    }
    Ok(recorded)
}

/// The v3 pools: what a random draw seldom combines.
fn plans() -> Vec<(&'static str, PoolToMake)> {
    let at = |tick| sqrt_ratio_at_tick(tick).expect("the tick is in bounds");
    let plan = |fee_pips, tick_spacing, sqrt_price_x96, ranges: &[(i32, i32, u128)]| PoolToMake {
        fee_pips,
        tick_spacing,
        sqrt_price_x96,
        protocol_fee: 0,
        positions: ranges
            .iter()
            .map(|&(low, high, liquidity)| Position {
                lower: low * tick_spacing,
                upper: high * tick_spacing,
                liquidity,
            })
            .collect(),
    };
    let steps: Vec<_> = (-12..12).map(|low| (low, low + 1, 10_u128.pow(21))).collect();
    let end = MAX_TICK / 16_383;
    let most = most_per_tick(1);
    vec![
        // Few ticks, many words: most stops are word edges.
        ("word-edges", plan(100, 1, at(-3) + U256::from(7), &[(-1_500, 1_400, 10_u128.pow(15))])),
        // Neighbours of equal liquidity: every inner tick nets to zero.
        ("net-zero-ticks", plan(3_000, 60, at(5), &steps)),
        // Ranges with nothing between them.
        (
            "gaps",
            plan(
                500,
                10,
                at(50_003),
                &[(4_990, 5_005, 7), (5_300, 5_301, 10_u128.pow(30)), (4_200, 4_300, 99)],
            ),
        ),
        // Amounts above 160 bits, and the price limit of the contract.
        ("highest-prices", plan(100, 1, at(866_560), &[(-MAX_TICK, MAX_TICK, most)])),
        ("lowest-prices", plan(10_000, 200, at(-886_900), &[(-4_436, -4_000, most_per_tick(200))])),
        // One step spans half of all prices: products leave 256 bits.
        ("widest-spacing", plan(2_500, 16_383, at(1), &[(-end, end, most_per_tick(16_383))])),
        ("tiny", plan(3_000, 60, at(5), &[(-3, 4, 9_000), (-1, 2, 20_000)])),
        ("empty", plan(500, 10, at(77), &[])),
    ]
}

/// Sells token 0 until the price rests exactly on an initialised tick.
fn fall_onto_a_tick(pool: &mut v3::Pool) -> Result<(), ParityError> {
    let state = exitgap_core::pools::PoolState::Concentrated(pool.state()?);
    let first_stop = state.curve(Direction::ZeroForOne).segment(0).in_end;
    pool.swap(Direction::ZeroForOne, first_stop, true)?
        .map(|_| ())
        .map_err(|revert| ParityError::Machine(format!("a swap to a tick reverted: {revert:?}")))
}

fn record_both(
    name: &str,
    contract: &mut Contract,
    recorded: &mut Vec<(String, Vector)>,
) -> Result<(), ParityError> {
    let state = contract.state()?;
    for direction in Direction::BOTH {
        let curve = state.curve(direction);
        let mut vector = Vector::new(&state, direction);
        let mut tally = Tally::default();
        for amount_in in sizes(&curve) {
            match contract {
                Contract::V3(pool) => v3::try_sale(pool, &state, &curve, amount_in, &mut tally)?,
                Contract::V2(pair) => v2::try_sale(pair, &state, &curve, amount_in, &mut tally)?,
            }
            // Equal to the contract's: the tally holds no mismatch.
            let expected =
                Answer::of_core(&state, &curve, amount_in).map_err(VectorError::Vector)?;
            vector.sales.push(Sale { amount_in, expected });
        }
        let mut rng = Rng::new(1);
        let mut sized = max_size::Tally::default();
        if let Some(oracle) = Oracle::near(&mut rng, &state, direction) {
            vector.depths =
                max_size::try_limits(&mut rng, contract, &oracle, &GapLimit::LADDER, &mut sized)?;
        }
        tally.mismatches.extend(sized.mismatches);
        if let Some(mismatch) = tally.mismatches.first() {
            return Err(VectorError::Vector(format!("{name}: {}", mismatch.reason)).into());
        }
        recorded.push((format!("{name}-sell-token{}.json", direction.base_index()), vector));
    }
    Ok(())
}

/// Sizes around every kind of edge, ascending, each once.
fn sizes(curve: &SaleCurve) -> Vec<U256> {
    let most = curve.most().0;
    let mut sizes = vec![U256::ONE, U256::from(2), U256::from(1_000), most >> 1, most];
    let last = curve.segment_count().saturating_sub(1);
    let edges = [0, 1, 2, last / 2, last.saturating_sub(1)].map(|index| index.min(last));
    if curve.segment_count() > 0 {
        sizes.extend(edges.map(|index| curve.segment(index).in_end));
    }
    let around = |size: U256| [size.saturating_sub(U256::ONE), size, size + U256::ONE];
    let mut sizes: Vec<U256> = sizes.into_iter().flat_map(around).collect();
    sizes.push(most << 1);
    sizes.retain(|size| !size.is_zero());
    sizes.sort();
    sizes.dedup();
    sizes
}
