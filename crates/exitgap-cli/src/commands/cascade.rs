//! Which positions in a file a price drop liquidates, computed from the venues' newest snapshots.

use std::io::Write;
use std::path::Path;

use exitgap_api::operations::ExposureAsked;
use exitgap_api::{LiquidationCascade, Problem, ProblemCode};
use exitgap_core::analytics::exposure::{CascadeTerms, Position, cascade};
use exitgap_core::units::{Percent, UsdMicros, parse_scaled};
use exitgap_core::{U256, pools::Direction, snapshot::Observation};

use crate::arguments::ExposureArgs;
use crate::failure::Failure;
use crate::format::{Columns, group_digits};
use crate::source;

/// The first line of a positions file.
const HEADER: &str = "collateral,debt_usd,threshold_pct";

/// Maximum size of a positions file.
const MAX_BYTES: usize = 1 << 20;

const ALL_E8: u32 = 100_000_000;

/// The cascades of a file's positions: one with an unchanged oracle price, one with the oracle following completely.
pub fn of_positions(
    args: &ExposureArgs,
    asked: &ExposureAsked,
    path: &Path,
) -> Result<Vec<LiquidationCascade>, Failure> {
    let close = Percent::parse(&args.close_pct).ok().and_then(|one| u32::try_from(one.0).ok());
    let close_e8 = close.filter(|e8| (1..=ALL_E8).contains(e8)).ok_or_else(|| {
        let detail = "close_pct must be above 0 and at most 100, with at most six decimals";
        Problem::new(ProblemCode::InvalidParameter, detail).field("close_pct")
    })?;
    let venues: Vec<(Observation, Direction)> = asked
        .venues
        .iter()
        .map(|venue| {
            let (db, api) = (args.source.from.db.as_deref(), args.source.from.api.as_deref());
            let found = source::newest(db, api, &venue.pool, venue.base.as_deref())?;
            let direction = found.direction(venue.base.as_deref())?;
            Ok((found.observation, direction))
        })
        .collect::<Result<_, Failure>>()?;
    let venues: Vec<_> =
        venues.iter().map(|(observed, direction)| (observed, *direction)).collect();
    let decimals = venues
        .first()
        .map_or(0, |(observed, direction)| observed.tokens()[direction.base_index()].decimals);
    let bytes = source::read_named("file of positions", path, MAX_BYTES)?;
    let positions = positions(&String::from_utf8_lossy(&bytes), decimals)?;
    [0, ALL_E8]
        .into_iter()
        .map(|follow_e8| {
            let rules = CascadeTerms { liquidation: asked.liquidation, close_e8, follow_e8 };
            let found = cascade(&venues, &positions, &rules);
            let found = found.map_err(|error| wrong(&error.to_string()))?;
            Ok(LiquidationCascade::new(&found, &rules, positions.len()))
        })
        .collect()
}

fn wrong(detail: &str) -> Problem {
    let hint = format!(
        "write a line `{HEADER}`, then one position per line: whole tokens, USD, percent of the collateral's value"
    );
    Problem::new(ProblemCode::InvalidParameter, format!("positions: {detail}"))
        .field("positions")
        .hint(hint)
}

/// Parses a positions file.
fn positions(text: &str, decimals: u8) -> Result<Vec<Position>, Problem> {
    let mut lines = text.lines().map(str::trim);
    if lines.next().map(|first| first.trim_start_matches('\u{feff}')) != Some(HEADER) {
        return Err(wrong(&format!("the first line is not `{HEADER}`")));
    }
    let mut positions = Vec::new();
    for (number, line) in (2..).zip(lines).filter(|(_, line)| !line.is_empty()) {
        let at = |what: &str| wrong(&format!("line {number}: {what}"));
        let parts: Vec<&str> = line.split(',').map(str::trim).collect();
        let &[collateral, debt, threshold] = parts.as_slice() else {
            return Err(at("it does not have three numbers"));
        };
        let plain = |text: &str, decimals: u32, what: &str| {
            parse_scaled(text, decimals, false).map_err(|error| at(&format!("{what}: {error}")))
        };
        let collateral = plain(collateral, decimals.into(), "collateral")?.unsigned_abs();
        let debt = u64::try_from(plain(debt, 6, "debt_usd")?).ok();
        let threshold_e8 = u32::try_from(plain(threshold, 6, "threshold_pct")?).ok();
        positions.push(Position {
            collateral: U256::from(collateral),
            debt: UsdMicros(debt.ok_or_else(|| at("debt_usd is too large"))?),
            threshold_e8: threshold_e8.ok_or_else(|| at("threshold_pct is too large"))?,
        });
    }
    Ok(positions)
}

/// Prints the cascades.
pub fn print(cascades: &[LiquidationCascade]) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let header = [
        "<oracle follows",
        "liquidated",
        "of",
        "sold (USD)",
        "repaid (USD)",
        "debt left (USD)",
        "price drop %",
        "exit gap %",
    ];
    let mut table = Columns::new(&header);
    for one in cascades {
        let gap = one.exit_gap_pct.as_ref().map(ToString::to_string);
        let none = if one.unfillable { "not absorbed" } else { "-" };
        table.row(vec![
            format!("{}%", one.follow_pct),
            one.liquidated.to_string(),
            one.positions.to_string(),
            group_digits(one.cascade_usd.as_str()),
            group_digits(one.repaid_usd.as_str()),
            group_digits(one.residual_debt_usd.as_str()),
            one.fall_pct.to_string(),
            gap.unwrap_or_else(|| none.to_owned()),
        ]);
    }
    Ok(writeln!(out, "{table}")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_positions_is_read_or_refused_by_line() {
        let text = format!("\u{feff}{HEADER}\r\n1.5, 2000.25,80\n\n0.000001,1,82.5\n");
        let read = positions(&text, 6).unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!(read[0].collateral, U256::from(1_500_000_u32));
        assert_eq!((read[0].debt, read[1].threshold_e8), (UsdMicros(2_000_250_000), 82_500_000));
        for (text, said) in [
            ("", "first line"),
            ("a,b,c\n1,1,1", "first line"),
            ("1,2", "line 2: it does not have three"),
            ("1,2,3,4", "line 2: it does not have three"),
            ("x,2,3", "line 2: collateral"),
            ("0.0000001,2,3", "line 2: collateral"),
            ("1,-2,3", "line 2: debt_usd"),
            ("1,99999999999999999999,3", "line 2: debt_usd"),
            ("1,2,99999", "line 2: threshold_pct"),
        ] {
            let whole =
                if text.contains(char::is_alphabetic) && text.starts_with('a') || text.is_empty() {
                    text.to_owned()
                } else {
                    format!("{HEADER}\n{text}")
                };
            let refused = positions(&whole, 6).unwrap_err();
            assert!(refused.detail.contains(said), "{text}: {}", refused.detail);
        }
    }
}
