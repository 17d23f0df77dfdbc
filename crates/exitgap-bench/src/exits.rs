//! Measures what is built on the step table: the table itself, the largest exit, a ladder.

use alloy_primitives::U256;
use exitgap_core::exit::Exit;
use exitgap_core::units::{GapLimit, UsdPrice};

use crate::BenchError;
use crate::clock::nanoseconds;
use crate::quotes::Speed;
use crate::report::Report;
use crate::scene::{DIRECTION, Scene, TICKS_CROSSED};

/// Number of rows in the measured ladder.
const LADDER_ROWS: i64 = 20;

/// Adds `table.build_us`, `table.break_even_quotes`, `max_size_us` and `ladder.rows20_us`.
pub fn measure(scene: &Scene, speeds: &[Speed], report: &mut Report) -> Result<(), BenchError> {
    let build = nanoseconds(|| scene.state.curve(DIRECTION));
    report.add("table.build_us", build / 1e3);
    if let Some(saved) = saved_per_quote(speeds) {
        report.add("table.break_even_quotes", (build / saved).ceil());
    }
    let price = |answer: u64| UsdPrice::product(&[(U256::from(answer), 8)]);
    let usd = [price(100_050_000)?, price(100_000_000)?];
    let exit = Exit::new(&scene.state, DIRECTION, [18, 18], usd);
    exit.max_size_for(GapLimit::DEPTH).map_err(|error| BenchError::Peer(error.to_string()))?;
    report.add("max_size_us", nanoseconds(|| exit.max_size_for(GapLimit::DEPTH)) / 1e3);
    // Every half percent up to ten.
    let limits: Vec<GapLimit> = (1..=LADDER_ROWS)
        .map(|row| GapLimit::from_millionths(row * 500_000))
        .collect::<Result<_, _>>()?;
    report.add("ladder.rows20_us", nanoseconds(|| exit.ladder_by_gap(&limits)) / 1e3);
    Ok(())
}

/// Nanoseconds saved per prepared quote compared with the fastest crate, at ten ticks crossed.
fn saved_per_quote(speeds: &[Speed]) -> Option<f64> {
    let at = TICKS_CROSSED.iter().position(|ticks| *ticks == 10)?;
    let of =
        |name| speeds.iter().find(|speed| speed.name == name).map(|speed| speed.nanoseconds[at]);
    Some(of("uniswap_v3_sdk")?.min(of("uniswap_v3_math")?) - of("ours")?)
}
