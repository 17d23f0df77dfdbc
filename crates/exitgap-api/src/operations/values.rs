//! Parses parameter values by their kind. A refusal names the parameter and gives a hint.

use exitgap_core::ids::{Address, ChainSlug};
use exitgap_core::proof::TickRange;
use exitgap_core::units::{GapLimit, Percent, PercentError, SizeUsd};

use super::parameters::{
    CHAIN, GAP, POOL_CURSOR, QUOTE_GROUP, SLOT_CURSOR, SNAPSHOT_HASH, STANDARD_SIZE, TOKEN_IN_PATH,
    TOLERANCE,
};
use super::{Kind, Parameter};
use crate::parameters::{digits, shown};
use crate::{Problem, RowOrder, invalid_parameter, parse_size, parse_token_name};

pub(super) fn token_name(text: &str) -> Result<String, Problem> {
    parse_token_name(text).map(str::to_owned)
}

pub(super) fn chain(text: &str) -> Result<ChainSlug, Problem> {
    let no_slug = || format!("{}: {:?} is not a valid chain name", CHAIN.name, shown(text));
    text.parse().map_err(|_| refusal(&CHAIN, &no_slug()))
}

/// Parses a group's name, which has the form of a chain slug.
pub(super) fn group(text: &str) -> Result<String, Problem> {
    let no_name = || format!("{}: {:?} is not a valid group name", QUOTE_GROUP.name, shown(text));
    let slug: Result<ChainSlug, _> = text.parse();
    slug.map(|slug| slug.to_string()).map_err(|_| refusal(&QUOTE_GROUP, &no_name()))
}

/// Parses a token's contract address.
pub(super) fn address(text: &str) -> Result<Address, Problem> {
    let no_address = || format!("{}: {:?} is not a valid address", TOKEN_IN_PATH.name, shown(text));
    text.parse().map_err(|_| refusal(&TOKEN_IN_PATH, &no_address()))
}

/// Parses one of the standard sizes, whose gaps every slot stores.
pub(super) fn standard_size(text: &str) -> Result<SizeUsd, Problem> {
    let size = parse_size(text)?;
    if SizeUsd::STANDARD.contains(&size) {
        return Ok(size);
    }
    let detail = format!("size_usd: gaps of {size} USD are not stored in the series");
    Err(refusal(&STANDARD_SIZE, &detail))
}

/// Parses the widest gap accepted.
pub(super) fn gap_limit(text: &str) -> Result<GapLimit, Problem> {
    text.parse().map_err(|error: PercentError| refusal(&GAP, &format!("{}: {error}", GAP.name)))
}

/// Parses a percentage from 0 to 100.
pub(super) fn tolerance(text: &str) -> Result<Percent, Problem> {
    let percent = Percent::parse(text).ok();
    percent.filter(|percent| (0..=100_000_000).contains(&percent.0)).ok_or_else(|| {
        let detail = format!("tolerance_pct: {:?} is not from 0 to 100", shown(text));
        refusal(&TOLERANCE, &detail)
    })
}

/// Parses a whole number within the bounds of the parameter's kind.
pub(super) fn whole(parameter: &Parameter, text: &str) -> Result<u32, Problem> {
    let (least, most) = match parameter.kind {
        Kind::Whole(least, most) => (least, most),
        _ => (0, 0),
    };
    let number = digits(text).and_then(|number| u32::try_from(number).ok());
    number.filter(|number| (least..=most).contains(number)).ok_or_else(|| {
        let detail =
            format!("{}: {:?} is not a number from {least} to {most}", parameter.name, shown(text));
        refusal(parameter, &detail)
    })
}

/// Parses a tick of a concentrated-liquidity pool.
pub(super) fn tick(parameter: &Parameter, text: &str) -> Result<i32, Problem> {
    let TickRange { low, high } = TickRange::ALL;
    let tick = text.parse().ok().filter(|tick: &i32| tick.to_string() == text);
    tick.filter(|tick| (low..=high).contains(tick)).ok_or_else(|| {
        let detail = format!("{}: {:?} is not a valid tick", parameter.name, shown(text));
        refusal(parameter, &detail)
    })
}

/// Parses the maximum number of rows in a page.
pub(super) fn rows(parameter: &Parameter, text: &str) -> Result<usize, Problem> {
    whole(parameter, text).map(|rows| usize::try_from(rows).unwrap_or(usize::MAX))
}

/// Parses one of a parameter's named values.
pub(super) fn word<T>(
    parameter: &Parameter,
    text: &str,
    of: impl FnOnce(&str) -> Option<T>,
) -> Result<T, Problem> {
    of(text).ok_or_else(|| {
        let detail = format!("{}: {:?} is not one of its values", parameter.name, shown(text));
        refusal(parameter, &detail)
    })
}

pub(super) fn no_cursor(text: &str) -> Problem {
    refusal(&POOL_CURSOR, &format!("cursor: {:?} is not a cursor of this address", shown(text)))
}

/// The refusal of a cursor that continues pages in the other order.
pub(super) fn other_order(text: &str, of: RowOrder, order: RowOrder) -> Problem {
    let [of, order] = [of, order].map(RowOrder::code);
    let detail =
        format!("cursor: {:?} continues pages in the order {of}, not {order}", shown(text));
    refusal(&SLOT_CURSOR, &detail)
}

pub(super) fn no_hash(text: &str, of: &str) -> Problem {
    refusal(&SNAPSHOT_HASH, &format!("{:?} is not a valid hash of a {of}", shown(text)))
}

pub(super) fn refusal(parameter: &Parameter, detail: &str) -> Problem {
    invalid_parameter(parameter.name, detail, parameter.hint.unwrap_or_default())
}

/// Adds the parameter's hint to a refusal.
pub(super) fn add_hint(problem: Problem, parameter: &Parameter) -> Problem {
    match parameter.hint {
        Some(hint) => problem.hint(hint),
        None => problem,
    }
}
