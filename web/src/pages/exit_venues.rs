//! Where to sell: the venues ranked, best first, and each one's part of the optimal split.

use exitgap_api::size_to_write;
use exitgap_client::EvidenceOf;
use leptos::prelude::*;
use leptos_router::hooks::query_signal_with_options;

use super::exit_comparison::{Comparison, Leg, Venue};
use super::pool_size::in_place;
use crate::chart::{length, parse_number};
use crate::check::{CheckState, PublishedGap, Sold};
use crate::parts::{CheckAll, CheckedGap, Row, Table, link_evidence, number};
use crate::paths::Page;
use crate::text;

/// The width in the chart's `viewBox`.
const WIDTH: f64 = 600.0;

/// Number of colours for a split's parts; the chart adds nothing to the table below it.
const SHADES: usize = 6;

/// A gap to check, with the state of the check.
type GapCheck = (PublishedGap, RwSignal<CheckState>);

/// The section.
#[component]
pub fn Venues(comparison: StoredValue<Comparison>) -> impl IntoView {
    let told = comparison.get_value();
    let published = |url: &Option<String>, venue: &Venue, size, gap: &str| {
        let published = PublishedGap {
            evidence_url: url.clone()?,
            pool: venue.pool.clone(),
            sold: Sold::Token(told.token.clone()),
            size,
            time: told.slot_time.clone(),
            exit_gap_pct: gap.to_owned(),
        };
        Some((published, RwSignal::new(CheckState::NotChecked)))
    };
    let mut all: Vec<GapCheck> = Vec::new();
    let rows: Vec<Row> = told
        .venues
        .iter()
        .enumerate()
        .map(|(place, venue)| {
            let alone = venue.alone.as_deref();
            let alone = alone.and_then(|gap| published(&venue.evidence_url, venue, told.size, gap));
            let leg = venue.leg.as_ref();
            let leg_gap =
                leg.and_then(|leg| published(&leg.evidence_url, venue, leg.size, &leg.gap));
            // A leg of the whole size is the same sale.
            let whole = leg.is_some_and(|leg| leg.size == told.size);
            all.extend(alone.clone());
            all.extend(leg_gap.clone().filter(|_| !whole));
            row(place, venue, &told, alone, leg_gap.filter(|_| !whole))
        })
        .collect();
    let left_out = told.left_out.iter().map(|(pool, why)| {
        let href = Page::Pool(pool.clone()).href();
        view! { <li><a href=href>{text::short_pool(pool)}</a>": "{why.clone()}</li> }
    });
    let left_out = left_out.collect_view();
    let best = told.optimality.as_deref().map_or_else(
        || {
            "Another split may be better, because a venue that is left out is better on its own."
                .to_owned()
        },
        |gap| {
            format!(
                "No other split of these venues improves on this by more than {}.",
                text::percent(gap)
            )
        },
    );
    let size = text::usd_exact(&told.size.to_string());
    view! {
        <section id="where">
            <h2>"Where to sell"</h2>
            <p class="quiet">{format!("Each venue if it took the whole {size}, best first, and its share of the optimal split. {best}")}</p>
            <Into told=told.clone()/>
            <Bar venues=told.venues.clone() whole=told.size.to_string()/>
            <p><CheckAll published=all/></p>
            <Table first="Venue" columns=["Sell everything here", "Share of the split", "Gap on that share"].map(number).into() rows=rows/>
            {(!told.left_out.is_empty()).then(|| view! { <p class="quiet">"Not compared:"</p><ul>{left_out}</ul> })}
        </section>
    }
}

fn shade_of(place: usize) -> String {
    format!("part-{}", place % SHADES)
}

fn row(
    place: usize,
    venue: &Venue,
    told: &Comparison,
    alone: Option<GapCheck>,
    leg: Option<GapCheck>,
) -> Row {
    let whole = match (alone, &venue.most) {
        (Some((published, standing)), _) if told.refused.is_none() => {
            view! { <CheckedGap published=published standing=standing/> }.into_any()
        }
        _ => cannot(venue, told),
    };
    let sells = venue.leg.as_ref().map_or_else(
        || "nothing".into_any(),
        |leg: &Leg| {
            let exact = leg.size.to_string();
            view! { <span title=text::usd_exact(&exact)>{text::usd_cents(&exact)}</span> }
                .into_any()
        },
    );
    let gap = match (leg, &venue.leg) {
        (Some((published, standing)), _) => {
            view! { <CheckedGap published=published standing=standing/> }.into_any()
        }
        (None, Some(leg)) => text::percent_read(&leg.gap).into_any(),
        (None, None) => "–".into_any(),
    };
    let size = size_to_write(told.size);
    let href = format!("{}?size_usd={size}", Page::Pool(venue.pool.clone()).href());
    let swatch = venue.leg.as_ref().map(|_| {
        view! { <span class=format!("swatch {}", shade_of(place))></span> }
    });
    let heading = view! {
        {swatch}<a href=href>{venue.name.clone()}</a><small>{text::short_pool(&venue.pool)}</small>
    };
    (heading.into_any(), vec![whole, sells, gap])
}

/// The notice that a venue cannot fill the size, with its evidence.
fn cannot(venue: &Venue, told: &Comparison) -> AnyView {
    let of = venue.evidence.clone().map(|of| EvidenceOf { size: told.asked, ..of });
    let href = of.map(|of| Page::Evidence(of).href());
    let most = venue
        .most
        .as_ref()
        .map(|most| view! { <small>{format!("at most {}", text::usd(most))}</small> });
    view! { {link_evidence("cannot be filled".to_owned(), href)}{most} }.into_any()
}

/// The tokens received, with a choice if the service has quote groups.
#[component]
fn Into(told: Comparison) -> impl IntoView {
    let (_, set) = query_signal_with_options::<String>("into", in_place());
    let ends_in = told.ends_in.join(", ");
    let words = format!("You receive {ends_in}, valued at each token's oracle price.");
    let option = |group: Option<String>| {
        let words =
            group.clone().map_or_else(|| "any token".to_owned(), |group| format!("{group} only"));
        let chosen = group == told.into;
        view! { <option value=group.unwrap_or_default() selected=chosen>{words}</option> }
    };
    let groups = told.groups.iter().cloned().map(Some);
    let options = core::iter::once(None).chain(groups).map(option).collect_view();
    let choose =
        move |event| set.set(Some(event_target_value(&event)).filter(|into| !into.is_empty()));
    let choice = (!told.groups.is_empty()).then(|| {
        view! { <label>"Sell for" <select id="into" on:change=choose>{options}</select></label> }
    });
    view! {
        <form class="controls" on:submit=|event| event.prevent_default()>
            {choice}
            <p class="quiet" id="ends-in">{words}</p>
        </form>
    }
}

/// The split as parts of one bar.
#[component]
fn Bar(venues: Vec<Venue>, whole: String) -> impl IntoView {
    let whole = parse_number(&whole).unwrap_or(1.0);
    let mut start = 0.0;
    let parts = venues.iter().enumerate().filter_map(|(place, venue)| {
        let width = parse_number(&venue.leg.as_ref()?.size.to_string())? / whole * WIDTH;
        let x = length(start);
        start += width;
        let class = format!("fill {}", shade_of(place));
        Some(view! { <rect class=class x=x y="0" width=length(width) height="14"/> })
    });
    let parts = parts.collect_view();
    view! {
        <svg class="split" viewBox="0 0 600 14" preserveAspectRatio="none" aria-hidden="true">{parts}</svg>
    }
}
