//! When to sell: the cost at each hour of the week, over up to four weeks.

use core::fmt::Write;

use exitgap_api::operations::Operation;
use exitgap_api::operations::parameters::{BASE, FROM, INTERVAL, SERIES_SIZE, TO};
use exitgap_api::{Interval, slot_at};
use exitgap_client::{Browser, Client, ClientError, EvidenceOf};
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;
use leptos::prelude::*;
use leptos_router::hooks::query_signal_with_options;

use super::exit_comparison::Comparison;
use super::exit_numbers::week_before;
use super::pool_size::in_place;
use crate::browser::download;
use crate::chart::{HOURS, Heat, Hour, SHADES, hour_in_words, parse_number};
use crate::document::Document;
use crate::parts::{
    FailureNotice, LiveQuery, LoadingNotice, Table, link_evidence, number, render_collapsible,
    words,
};
use crate::paths::{Page, evidence_href};
use crate::service::client;
use crate::text;

/// Number of weeks: the service computes at most seven days at a time for an arbitrary size.
const WEEKS: usize = 4;

/// A row of the history is an hour.
const SLOTS_OF_AN_HOUR: u32 = 12;

/// The worst result for an hour of the week.
#[derive(Debug, Clone, Default, PartialEq)]
struct Seen {
    /// Number of recorded slots.
    slots: u64,
    /// Number of these slots in which the size could not be filled.
    refused: u64,
    /// The largest gap, its time, and its evidence.
    worst: Option<(String, String, Option<String>)>,
    /// Among the slots that could not fill the size, the one with the lowest maximum, and its time.
    refused_at: Option<(u64, String)>,
}

impl Seen {
    fn hour(&self) -> Hour {
        match &self.worst {
            _ if self.refused > 0 => Hour::Refused,
            Some((gap, ..)) => parse_number(gap).map_or(Hour::Unknown, Hour::Of),
            None => Hour::Unknown,
        }
    }

    fn add(&mut self, row: &Document) {
        self.slots += row.count("slots_recorded");
        self.refused += row.count("slots_refused");
        if let Some(worst) = row.part("worst") {
            let gap = worst.text_or_none("exit_gap_pct");
            let wider =
                self.worst.as_ref().is_none_or(|(one, ..)| parse_number(one) < parse_number(&gap));
            if wider && parse_number(&gap).is_some() {
                self.worst = Some((gap, worst.text_or_none("time"), worst.text("evidence_url")));
            }
        }
        if let Some(least) = row.part("least_fillable") {
            self.refused_at = Some((least.count("slot"), least.text_or_none("time")));
        }
    }
}

/// The hours of the week, starting at Monday 00:00 UTC.
type Week = Vec<Seen>;

async fn week(
    client: &Client<Browser>,
    told: &Comparison,
    pool: &PoolId,
) -> Result<Week, ClientError> {
    let mut week: Week = vec![Seen::default(); HOURS];
    let mut to = told.slot;
    for place in 0..WEEKS {
        let from = week_before(to);
        let target = Operation::History.target_of(pool).with(&SERIES_SIZE, told.size);
        let target = target.with(&BASE, &told.token).with(&FROM, from).with(&TO, to);
        let rows =
            client.get_document::<Document>(&target.with(&INTERVAL, Interval::Hour.code())).await;
        let rows = match rows {
            Ok(history) => history.list("rows"),
            // There is nothing before the series begins.
            Err(ClientError::Refused(_)) if place > 0 => break,
            Err(error) => return Err(error),
        };
        let mut earliest = to;
        for row in rows {
            if let Ok(slot) = slot_at("time", &row.text_or_none("time")) {
                earliest = earliest.min(slot);
                // The first day of Unix time was a Thursday.
                let hour = usize::try_from(slot.unix_s() / 3_600 + 72).unwrap_or(0) % HOURS;
                week[hour].add(&row);
            }
        }
        // If the series began during this week, there is no earlier week.
        if earliest.number() > from.number() + SLOTS_OF_AN_HOUR {
            break;
        }
        let before = u64::from(from.number().saturating_sub(1));
        match Slot::new(before) {
            Ok(slot) if from > Slot::FIRST => to = slot,
            _ => break,
        }
    }
    Ok(week)
}

/// The section.
#[component]
pub fn When(comparison: StoredValue<Comparison>) -> impl IntoView {
    let (asked, set) = query_signal_with_options::<String>("venue", in_place());
    let venue = Memo::new(move |_| {
        let asked = asked.get();
        comparison.with_value(|told| {
            let found = told.venues.iter().position(|venue| Some(&venue.pool) == asked.as_ref());
            found.unwrap_or(0)
        })
    });
    let found = LiveQuery::new(
        move || venue.get(),
        move |place| {
            let (client, told) = (client(), comparison.get_value());
            async move {
                let Some(venue) = told.venues.get(place) else { return Ok(Vec::new()) };
                let pool = exitgap_api::parse_pool(&venue.pool)?;
                week(&client, &told, &pool).await
            }
        },
    );
    let retry = found.again();
    let options = comparison.with_value(|told| {
        let option = |(place, venue): (usize, &super::exit_comparison::Venue)| {
            view! { <option value=venue.pool.clone() selected=move || venue_is(place, comparison, asked.get().as_ref())>{venue.name.clone()}</option> }
        };
        told.venues.iter().enumerate().map(option).collect_view()
    });
    let size = comparison.with_value(|told| text::usd_exact(&told.size.to_string()));
    view! {
        <section id="when">
            <h2>"When to sell"</h2>
            <p class="quiet">{format!("The widest gap for {size} in each hour of the week, sold in one venue, over at most four weeks. Times are UTC.")}</p>
            <form class="controls" on:submit=|event| event.prevent_default()>
                <label>"Venue" <select id="venue" on:change=move |event| set.set(Some(event_target_value(&event)))>{options}</select></label>
            </form>
            {move || match found.answer(&venue.get()) {
                None => view! { <LoadingNotice what="four weeks of this venue"/> }.into_any(),
                Some(Err(error)) => view! { <FailureNotice error=error retry=retry/> }.into_any(),
                Some(Ok(week)) => {
                    let of = comparison.with_value(|told| {
                        let evidence = told.venues.get(venue.get())?.evidence.clone()?;
                        Some(EvidenceOf { size: told.size, ..evidence })
                    });
                    let now = comparison.with_value(|told| told.venues.get(venue.get())?.alone.clone());
                    view! { <WeekView week=week of=of now=now/> }.into_any()
                }
            }}
        </section>
    }
}

fn venue_is(place: usize, comparison: StoredValue<Comparison>, asked: Option<&String>) -> bool {
    comparison.with_value(|told| {
        let found = told.venues.iter().position(|venue| Some(&venue.pool) == asked);
        found.unwrap_or(0) == place
    })
}

/// The evidence for an hour's result.
fn href(seen: &Seen, of: Option<&EvidenceOf>) -> Option<String> {
    if seen.refused > 0 {
        let (slot, _) = seen.refused_at.as_ref()?;
        let of = EvidenceOf { slot: Slot::new(*slot).ok()?, ..of?.clone() };
        return Some(Page::Evidence(of).href());
    }
    evidence_href(seen.worst.as_ref()?.2.as_ref()?)
}

fn said(seen: &Seen) -> String {
    let refused = format!("cannot be filled in {} of {} slots", seen.refused, seen.slots);
    match (&seen.worst, &seen.refused_at) {
        (_, Some((_, time))) if seen.refused > 0 => {
            format!("{refused}, for example {}", text::instant(time))
        }
        _ if seen.refused > 0 => refused,
        (Some((gap, time, _)), _) => {
            format!(
                "{} in the worst of {} slots, {}",
                text::percent_read(gap),
                seen.slots,
                text::instant(time)
            )
        }
        (None, _) => "nothing recorded".to_owned(),
    }
}

/// The chart with its key results, and the same data as a table and as a file.
#[component]
fn WeekView(
    week: Week,
    of: Option<EvidenceOf>,
    /// The gap of the whole size in this venue now, percent.
    now: Option<String>,
) -> impl IntoView {
    let now = now.and_then(|now| verdict(&week, &now));
    let hours = week.iter().map(Seen::hour).collect();
    let chosen = RwSignal::new(None::<usize>);
    let csv = csv(&week, of.as_ref());
    let keep = move |_| download(csv.as_bytes(), "text/csv", "hours-of-the-week.csv");
    let mut known: Vec<usize> = (0..week.len()).filter(|hour| week[*hour].slots > 0).collect();
    let cost = |hour: &usize| match week[*hour].hour() {
        Hour::Refused => f64::INFINITY,
        Hour::Of(gap) => gap,
        Hour::Unknown => f64::NEG_INFINITY,
    };
    known.sort_by(|one, other| cost(one).total_cmp(&cost(other)));
    let best = known.first().map(|hour| {
        format!("Lowest weekly peak: {} ({}). ", hour_in_words(*hour), said(&week[*hour]))
    });
    let few =
        (known.len() < HOURS).then(|| format!("{} of {HOURS} hours are recorded.", known.len()));
    known.sort_unstable();
    let row = |hour: &usize| {
        let seen = &week[*hour];
        let value = link_evidence(said(seen), href(seen, of.as_ref()));
        (hour_in_words(*hour).into_any(), vec![value, seen.slots.into_any()])
    };
    let rows = known.iter().map(row).collect();
    let gaps = week.iter().filter(|seen| seen.refused == 0);
    let gaps = gaps.filter_map(|seen| seen.worst.as_ref().map(|(gap, ..)| gap.as_str()));
    let by_gap = |one: &&str, other: &&str| {
        let [one, other] = [one, other].map(|gap| parse_number(gap).unwrap_or_default());
        one.total_cmp(&other)
    };
    let spread = gaps.clone().min_by(by_gap).zip(gaps.max_by(by_gap)).map(|(least, greatest)| {
        let [least, greatest] = [least, greatest].map(text::percent_read);
        format!(" {least} to {greatest}, each shade covers the same number of hours")
    });
    let shades = (0..SHADES)
        .map(|one| view! { <span class=format!("swatch shade-{one}")></span> })
        .collect_view();
    let week = StoredValue::new((week, of));
    let reading = move || {
        let Some(hour) = chosen.get() else {
            return "Hover, tap or use arrow keys to read an hour.".into_any();
        };
        let (words, href) =
            week.with_value(|(week, of)| (said(&week[hour]), href(&week[hour], of.as_ref())));
        view! { <b>{hour_in_words(hour)}</b>": "{link_evidence(words, href)} }.into_any()
    };
    let figure = view! {
        <figure class="chart heat">
            <ul class="legend">
                <li>{shades}{spread}</li>
                <li><span class="swatch refused-hour"></span>"could not be filled"</li>
                <li><span class="swatch unknown"></span>"not recorded"</li>
            </ul>
            <Heat title="Gap by hour of the week" hours=hours chosen=chosen/>
            <output class="reading" aria-live="polite">{reading}</output>
            <details><summary>"Show as table"</summary>
                <Table first="Hour" columns=vec![words("Worst gap"), number("Slots")] rows=rows/>
            </details>
            <p class="actions"><button type="button" on:click=keep>"Download CSV"</button></p>
        </figure>
    };
    view! {
        <p id="best-hour">{now}{best}{few}</p>
        {render_collapsible("by-hour", "Each hour of the week", true, figure.into_any())}
    }
}

/// The current gap compared with the largest gap of each recorded hour.
fn verdict(week: &Week, now: &str) -> Option<String> {
    let gap = parse_number(now)?;
    let known = week.iter().filter(|seen| seen.slots > 0);
    // An hour in which the size could not be filled counts as worse than any gap.
    let was_worse = |seen: &&Seen| match seen.hour() {
        Hour::Of(worst) => worst > gap,
        Hour::Refused => true,
        Hour::Unknown => false,
    };
    let (all, worse) = (known.clone().count(), known.filter(was_worse).count());
    let now = text::percent_read(now);
    Some(format!(
        "Right now: {now}. The worst gap was higher in {worse} of {all} hours of the week. "
    ))
}

fn csv(week: &Week, of: Option<&EvidenceOf>) -> String {
    let mut out = String::from("hour_utc,exit_gap_pct,slots,slots_refused,time,evidence_url\n");
    let origin = window().location().origin().unwrap_or_default();
    for (hour, seen) in week.iter().enumerate().filter(|(_, seen)| seen.slots > 0) {
        let (gap, time) = match &seen.worst {
            Some((gap, time, _)) if seen.refused == 0 => (gap.as_str(), time.as_str()),
            _ => ("", seen.refused_at.as_ref().map_or("", |(_, time)| time)),
        };
        let proof = href(seen, of).map(|href| format!("{origin}{href}")).unwrap_or_default();
        let hour = hour_in_words(hour);
        let _ = writeln!(out, "{hour},{gap},{},{},{time},{proof}", seen.slots, seen.refused);
    }
    out
}
