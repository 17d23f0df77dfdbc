//! `exitgap verify --expect`: whether a figure file is of what the reader asked for. A file can be valid, and of another pool,
//! period, log or status.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use exitgap_api::invalid_parameter;
use exitgap_core::analytics::figure::FigureClaim;
use serde::Serialize;

use crate::failure::Failure;
use crate::format::printable;

/// What can be expected of a figure.
const NAMES: [&str; 7] = ["figure", "pool", "base", "from", "to", "log", "status"];

/// An expected value, compared with what the file states.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// What, such as `pool`.
    name: &'static str,
    /// The value given; of `pool` every one.
    expected: Vec<String>,
    /// What the file states.
    found: Vec<String>,
    /// Whether they are the same.
    agrees: bool,
}

impl Comparison {
    /// Whether they are the same.
    pub fn agrees(&self) -> bool {
        self.agrees
    }
}

/// Compares what a file states with what is expected, each as `<name>=<value>`. `pool` may be given for each pool.
pub fn compare(expect: &[String], claim: Option<&FigureClaim>) -> Result<Vec<Comparison>, Failure> {
    let mut all: Vec<Comparison> = Vec::new();
    for given in expect {
        let parted = given.split_once('=').filter(|(_, value)| !value.is_empty());
        let known = parted.and_then(|(name, value)| {
            Some((NAMES.into_iter().find(|known| *known == name)?, value.to_owned()))
        });
        let Some((name, value)) = known else {
            let detail =
                format!("expect: {:?} is not <name>=<value> with a known name", printable(given));
            let hint = format!("names are {}", NAMES.join(", "));
            return Err(invalid_parameter("expect", &detail, &hint).into());
        };
        match all.iter_mut().find(|before| before.name == name) {
            Some(before) if name == "pool" => before.expected.push(value),
            Some(_) => {
                let detail = format!("expect: {name} is given twice");
                let hint = "give each name once, and pool once for each pool";
                return Err(invalid_parameter("expect", &detail, hint).into());
            }
            None => {
                let (expected, found) = (vec![value], stated(name, claim));
                all.push(Comparison { name, expected, found, agrees: false });
            }
        }
    }
    for one in &mut all {
        one.agrees = agree(one);
    }
    Ok(all)
}

/// What a file states under a name: a slot by its number and its time.
fn stated(name: &str, claim: Option<&FigureClaim>) -> Vec<String> {
    let Some(claim) = claim else { return Vec::new() };
    let slot = |slot: Option<_>, time: &Option<String>| {
        let number = slot.map(exitgap_core::series::Slot::number);
        number.map(|number| number.to_string()).into_iter().chain(time.clone()).collect()
    };
    match name {
        "figure" => vec![claim.figure.clone()],
        "pool" => claim.venues.iter().map(|venue| venue.pool.clone()).collect(),
        "base" => {
            let base = |base: &Option<String>| base.clone().unwrap_or_else(|| "both".to_owned());
            let mut bases: Vec<String> =
                claim.venues.iter().map(|venue| base(&venue.base)).collect();
            bases.dedup();
            bases
        }
        "from" => slot(claim.first_slot, &claim.first_slot_time),
        "to" => slot(claim.last_slot, &claim.last_slot_time),
        "log" => claim.log.clone().into_iter().collect(),
        _ => claim.status.clone().into_iter().collect(),
    }
}

fn agree(one: &Comparison) -> bool {
    match one.name {
        "pool" => {
            let sorted = |pools: &[String]| {
                let mut pools = pools.to_vec();
                pools.sort_unstable();
                pools
            };
            sorted(&one.expected) == sorted(&one.found)
        }
        "from" | "to" => one.found.contains(&one.expected[0]),
        _ => one.expected == one.found,
    }
}

/// The comparisons, in words.
pub fn print(out: &mut impl Write, expected: &[Comparison]) -> Result<(), Failure> {
    for Comparison { name, expected, found, agrees } in expected {
        let (colour, word) = if *agrees {
            (AnsiColor::Green, "as expected")
        } else {
            (AnsiColor::Red, "NOT AS EXPECTED")
        };
        let style = Style::new().bold().fg_color(Some(colour.into()));
        let join = |values: &[String]| match values {
            [] => "none".to_owned(),
            values => printable(&values.join(", ")),
        };
        writeln!(out, "{name:<14}{style}{word}{style:#}  {}", join(found))?;
        if !agrees {
            writeln!(out, "{:<27}expected  {}", "", join(expected))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &[u8] = br#"{"figure":"exposure/1","parameters":{"from":5958000,"to":5958010,"venues":[{"base":"token0","pool":"a:1"},
        {"base":"token0","pool":"a:2"}]},"result":{"status":"preview"}}"#;

    fn disagreeing(expect: &[&str]) -> Vec<&'static str> {
        let claim = FigureClaim::from_bytes(FILE);
        let expect: Vec<String> = expect.iter().map(|given| (*given).to_owned()).collect();
        let compared = compare(&expect, claim.as_ref()).unwrap();
        compared.iter().filter(|one| !one.agrees()).map(|one| one.name).collect()
    }

    #[test]
    fn a_file_of_another_pool_period_log_or_status_is_not_as_expected() {
        let own = [
            "figure=exposure/1",
            "pool=a:2",
            "pool=a:1",
            "base=token0",
            "from=5958000",
            "status=preview",
        ];
        assert_eq!(disagreeing(&own), [""; 0]);
        let last = FigureClaim::from_bytes(FILE).unwrap().last_slot_time.unwrap();
        assert_eq!(disagreeing(&[&format!("to={last}")]), [""; 0]);
        for (other, name) in [
            ("figure=exposure/2", "figure"),
            ("pool=a:1", "pool"),
            ("base=token1", "base"),
            ("from=5958001", "from"),
            ("to=2026-08-22T00:00:00Z", "to"),
            ("log=exitgap.example/log/1", "log"),
            ("status=live", "status"),
        ] {
            assert_eq!(disagreeing(&[other]), [name], "{other}");
        }
    }

    #[test]
    fn what_cannot_be_expected_is_refused() {
        for wrong in [&["size=1"][..], &["pool"], &["pool="], &["to=1", "to=1"]] {
            let wrong: Vec<String> = wrong.iter().map(|given| (*given).to_owned()).collect();
            assert!(compare(&wrong, None).is_err(), "{wrong:?}");
        }
        assert!(!compare(&["log=a".to_owned()], None).unwrap()[0].agrees());
    }
}
