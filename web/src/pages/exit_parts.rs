//! The components of the gap in the venue that sells most, and the age of the oracle answer it is relative to.

use exitgap_api::operations::Operation;
use exitgap_api::operations::parameters::{AT, BASE, SIZE};
use exitgap_client::ClientError;
use exitgap_core::ids::PoolId;
use leptos::prelude::*;

use super::exit_comparison::{Comparison, Venue};
use crate::document::Document;
use crate::parts::LiveQuery;
use crate::service::client;
use crate::text;

/// The line about the components.
#[component]
pub fn MadeOf(comparison: StoredValue<Comparison>) -> impl IntoView {
    let found = LiveQuery::new(
        || (),
        move |()| {
            let (client, told) = (client(), comparison.get_value());
            async move {
                let Some((pool, size, name)) = largest(&told) else { return Ok(None) };
                let target = Operation::Exit.target_of(&pool).with(&SIZE, &size);
                let target = target.with(&BASE, &told.token).with(&AT, told.slot);
                let exit: Document = client.get_document(&target).await?;
                Ok::<_, ClientError>(Some(words(&exit, &name, &text::usd(&size))))
            }
        },
    );
    move || match found.answer(&()) {
        None => "Loading the parts of the gap…".to_owned(),
        Some(Ok(words)) => words.flatten().unwrap_or_default(),
        Some(Err(error)) => format!("The parts of the gap are not available: {error}"),
    }
}

/// The pool of the largest part, its size, and its name.
fn largest(told: &Comparison) -> Option<(PoolId, String, String)> {
    let size = |venue: &&Venue| venue.leg.as_ref().map(|leg| leg.size);
    let venue = told.venues.iter().filter(|venue| venue.leg.is_some()).max_by_key(size)?;
    Some((venue.pool.parse().ok()?, size(&venue)?.to_string(), venue.name.clone()))
}

fn words(exit: &Document, name: &str, size: &str) -> Option<String> {
    let split = exit.part("split")?;
    let part = |field: &str| split.text(field).map(|percent| text::percent_read(&percent));
    let (basis, fee, impact) = (part("basis_pct")?, part("fee_pct")?, part("impact_pct")?);
    let oracles = exit.part("method").map(|method| method.list("oracles")).unwrap_or_default();
    let oldest = oracles.iter().filter_map(|one| one.text("age_s")?.parse::<u64>().ok()).max();
    let oldest = oldest.map_or_else(String::new, |age| {
        format!(
            " Its oldest oracle price was {} old at the block. If the market has moved since, part of the basis is oracle lag, not a loss.",
            text::age(age)
        )
    });
    Some(format!(
        "In {name} ({size}): {basis} because the pool trades away from the oracle (basis), {fee} fee, {impact} price impact.{oldest}"
    ))
}
