//! The headline numbers of a figure file, as stated in the file.

use serde::Deserialize;
use serde_json::Value;

use crate::format::group_digits;

/// The parts of a file that are parsed: without the thousands of snapshots that it names.
#[derive(Deserialize)]
struct FigureHeader {
    figure: String,
    parameters: Value,
    result: Value,
}

/// The unit of a number.
#[derive(Clone, Copy)]
enum Unit {
    /// Dollars.
    Usd,
    /// Percent.
    Percent,
    /// Multiples of the amount sold.
    Times,
    /// A word, or a count described by the name.
    Plain,
}

/// A number: its name, its path in the file, and its unit.
type Number = (&'static str, &'static str, Unit);

const EXPOSURE: &[Number] = &[
    ("liquidation size", "/parameters/cascade_usd", Unit::Usd),
    ("rating", "/result/band", Unit::Plain),
    ("coverage", "/result/coverage", Unit::Times),
    ("coverage at break-even", "/result/coverage_break_even", Unit::Times),
    ("worst gap", "/result/worst_gap_pct", Unit::Percent),
    ("shortfall", "/result/shortfall_usd", Unit::Usd),
    ("stranded", "/result/stranded_usd", Unit::Usd),
    ("slots", "/result/have_slots", Unit::Plain),
    ("unfillable slots", "/result/slots_unfillable", Unit::Plain),
    // From version 2 on.
    ("measured from", "/parameters/reference", Unit::Plain),
    ("slots in which the oracle led", "/result/causes/oracle_led_slots", Unit::Plain),
    ("slots with too thin a book", "/result/causes/thin_book_slots", Unit::Plain),
];

const STRESS: &[Number] = &[
    ("sold", "/parameters/size_usd", Unit::Usd),
    ("liquidity withdrawn", "/parameters/haircut_pct", Unit::Percent),
    ("price drop", "/parameters/fall_pct", Unit::Percent),
    ("median gap", "/result/gap_q50_pct", Unit::Percent),
    ("worst gap", "/result/worst/0/gap_pct", Unit::Percent),
    ("lowest depth at 2%", "/result/depth_lowest_usd", Unit::Usd),
    ("slots", "/result/have_slots", Unit::Plain),
    ("unfillable slots", "/result/slots_unfillable", Unit::Plain),
    // From version 2 on.
    ("measured from", "/parameters/reference", Unit::Plain),
    ("slots in which the oracle led", "/result/causes/oracle_led_slots", Unit::Plain),
    ("slots with too thin a book", "/result/causes/thin_book_slots", Unit::Plain),
];

const DEPTHS: &[Number] = &[
    ("lowest depth of token0", "/result/token0/lowest_depth_usd", Unit::Usd),
    ("from its own price", "/result/token0/lowest_book_usd", Unit::Usd),
    ("largest oracle lead", "/result/token0/largest_lead_pct", Unit::Percent),
    ("lowest depth of token1", "/result/token1/lowest_depth_usd", Unit::Usd),
    ("from its own price", "/result/token1/lowest_book_usd", Unit::Usd),
    ("largest oracle lead", "/result/token1/largest_lead_pct", Unit::Percent),
    ("slots", "/result/have_slots", Unit::Plain),
];

// Horizons are 0, 1, 2 and more slots after the move.
const DECAY: &[Number] = &[
    ("moves of", "/parameters/move_pct", Unit::Percent),
    (
        "median withdrawn one slot after drops",
        "/result/down/horizons/1/withdrawn_pct_q50",
        Unit::Percent,
    ),
    ("median slots until half recovered", "/result/down/half_life_slots_q50", Unit::Plain),
    ("slots", "/result/have_slots", Unit::Plain),
];

const ROUTE: &[Number] = &[
    ("received", "/result/received_usd", Unit::Usd),
    ("gap", "/result/exit_gap_pct", Unit::Percent),
    ("best plan at most better by", "/result/optimality_gap_pct", Unit::Percent),
    ("raw units sold", "/parameters/amount_in", Unit::Plain),
];

const OTHERS: &[Number] = &[("slots", "/result/have_slots", Unit::Plain)];

/// The headline numbers of a file; `None` if it cannot be read.
pub fn format_headline(file: &[u8]) -> Option<String> {
    let headed: FigureHeader = serde_json::from_slice(file).ok()?;
    let numbers = match headed.figure.as_str() {
        "depths/1" => DEPTHS,
        "exposure/1" | "exposure/2" => EXPOSURE,
        "stress/1" | "stress/2" => STRESS,
        "decay/1" => DECAY,
        "route/1" => ROUTE,
        _ => OTHERS,
    };
    let whole = |(name, place, unit): &Number| {
        let (part, rest) = place.split_at(place[1..].find('/')? + 1);
        let of = if part == "/result" { &headed.result } else { &headed.parameters };
        Some(format!("{name} {}", shown(of.pointer(rest)?, *unit)?))
    };
    let numbers: Vec<String> = numbers.iter().filter_map(whole).collect();
    (!numbers.is_empty()).then(|| numbers.join(", "))
}

/// A number with its unit, truncated to a plausible length; a missing value is shown as unknown.
fn shown(number: &Value, unit: Unit) -> Option<String> {
    let text = match number {
        Value::String(text) => text.chars().take(40).collect(),
        Value::Number(number) => number.to_string(),
        Value::Null => return Some("unknown".to_owned()),
        _ => return None,
    };
    Some(match unit {
        Unit::Usd => format!("${}", group_digits(&text)),
        Unit::Percent => format!("{text}%"),
        Unit::Times => format!("{text}x"),
        Unit::Plain => text,
    })
}

#[cfg(test)]
mod tests {
    use super::format_headline;

    #[test]
    fn numbers_are_named_with_their_units_and_what_is_null_is_not_known() {
        let file = br#"{"figure":"exposure/1","parameters":{"cascade_usd":"800000"},"result":{"band":"exposed","coverage":"1.25",
            "coverage_break_even":null,"have_slots":4,"shortfall_usd":"1234","slots_unfillable":1,"stranded_usd":"0",
            "worst_gap_pct":"27.530000"},"uses":[]}"#;
        assert_eq!(
            format_headline(file).unwrap(),
            "liquidation size $800,000, rating exposed, coverage 1.25x, coverage at break-even unknown, worst gap 27.530000%, shortfall \
             $1,234, stranded $0, slots 4, unfillable slots 1"
        );
        let decay = br#"{"figure":"decay/1","parameters":{"move_pct":"2"},"result":{"down":{"half_life_slots_q50":3,
            "horizons":[{},{"withdrawn_pct_q50":"12.5"}]},"have_slots":9}}"#;
        assert_eq!(
            format_headline(decay).unwrap(),
            "moves of 2%, median withdrawn one slot after drops 12.5%, median slots until half recovered 3, slots 9"
        );
        let route = br#"{"figure":"route/1","parameters":{"amount_in":"500"},"result":{"exit_gap_pct":"0.130000",
            "optimality_gap_pct":null,"received_usd":"249687.5"}}"#;
        assert_eq!(
            format_headline(route).unwrap(),
            "received $249,687.5, gap 0.130000%, best plan at most better by unknown, raw units sold 500"
        );
        let led = br#"{"figure":"exposure/2","parameters":{"reference":"mid"},"result":{"causes":{"oracle_led_slots":12,
            "thin_book_slots":3},"have_slots":9}}"#;
        assert_eq!(
            format_headline(led).unwrap(),
            "slots 9, measured from mid, slots in which the oracle led 12, slots with too thin a book 3"
        );
        let depths = br#"{"figure":"depths/1","parameters":{},"result":{"have_slots":7,"token0":{"largest_lead_pct":"5.960000",
            "lowest_book_usd":"486468","lowest_depth_usd":"0"},"token1":{"lowest_depth_usd":null}}}"#;
        assert_eq!(
            format_headline(depths).unwrap(),
            "lowest depth of token0 $0, from its own price $486,468, largest oracle lead 5.960000%, lowest depth of token1 \
             unknown, slots 7"
        );
        assert_eq!(format_headline(b"{\"figure\":1}"), None);
    }
}
