//! The parts of the headline gap over all venues of the split, and the age of the oracle answers it is relative to.

use exitgap_api::AddedParts;
use exitgap_api::operations::Operation;
use exitgap_api::operations::parameters::{AT, BASE, SIZE};
use exitgap_client::{Browser, Client, ClientError};
use exitgap_core::ids::PoolId;
use exitgap_core::units::{Percent, SizeUsd};
use leptos::prelude::*;

use super::exit_comparison::Comparison;
use crate::document::Document;
use crate::parts::LiveQuery;
use crate::service::client;
use crate::text;

/// The line about the parts.
#[component]
pub fn MadeOf(comparison: StoredValue<Comparison>) -> impl IntoView {
    let found = LiveQuery::new(
        || (),
        move |()| {
            let (client, told) = (client(), comparison.get_value());
            async move { Ok::<_, ClientError>(words(&told, &fetch(&client, &told).await?)) }
        },
    );
    move || match found.answer(&()) {
        None => "Loading the parts of the gap…".to_owned(),
        Some(Ok(words)) => words.unwrap_or_default(),
        Some(Err(error)) => format!("The parts of the gap are not available: {error}"),
    }
}

/// The exit of each venue's part of the split, with its size.
async fn fetch(
    client: &Client<Browser>,
    told: &Comparison,
) -> Result<Vec<(SizeUsd, Document)>, ClientError> {
    let mut exits = Vec::new();
    for venue in &told.venues {
        let Some(leg) = &venue.leg else { continue };
        let pool: PoolId = exitgap_api::parse_pool(&venue.pool)?;
        let target = Operation::Exit.target_of(&pool).with(&SIZE, leg.size);
        let target = target.with(&BASE, &told.token).with(&AT, told.slot);
        exits.push((leg.size, client.get_document(&target).await?));
    }
    Ok(exits)
}

/// The parts of one exit.
fn parts_of(exit: &Document) -> Option<AddedParts> {
    let split = exit.part("split")?;
    let percent = |of: &Document, name: &str| Percent::parse(&of.text(name)?).ok();
    let gap = percent(exit, "exit_gap_pct")?;
    AddedParts::from_factors(gap, percent(&split, "basis_pct")?, percent(&split, "fee_pct")?)
}

fn words(told: &Comparison, exits: &[(SizeUsd, Document)]) -> Option<String> {
    let sale = |(size, exit): &(SizeUsd, Document)| Some((*size, parts_of(exit)?));
    let sales: Option<Vec<_>> = exits.iter().map(sale).collect();
    // With as many decimals as the headline, so that the shown parts add up to it.
    let shown = text::percent_read(&told.gap);
    let decimals =
        shown.trim_end_matches('%').split_once('.').map_or(0, |(_, digits)| digits.len());
    let parts = AddedParts::of_sales(Percent::parse(&told.gap).ok()?, &sales?)?;
    let parts = parts.rounded(u32::try_from(decimals).ok()?)?;
    let percent = |part: Percent| text::percent_read(&part.to_string());
    let AddedParts { gap, basis, fee, impact } = parts;
    let (pools, prices) = match exits {
        [_] => ("the pool trades", "the pool's own price"),
        _ => ("the pools trade", "the pools' own prices"),
    };
    let cost = parts.against_pool().map_or_else(String::new, |cost| {
        format!(" Against {prices} this sale costs {}.", percent(cost))
    });
    let oracles = |exit: &Document| {
        exit.part("method").map(|method| method.list("oracles")).unwrap_or_default()
    };
    let ages = exits.iter().flat_map(|(_, exit)| oracles(exit));
    let oldest = ages.filter_map(|one| one.text("age_s")?.parse::<u64>().ok()).max();
    let oldest = oldest.map_or_else(String::new, |age| {
        format!(
            " The oldest oracle price was {} old at the block. If the market has moved since, part of the basis is oracle lag, not a loss.",
            text::age(age)
        )
    });
    Some(format!(
        "Of the gap of {}: {} because {pools} away from the oracle (basis), {} fee, {} price impact.{cost}{oldest}",
        percent(gap),
        percent(basis),
        percent(fee),
        percent(impact)
    ))
}
