//! When to sell: how the newest slot ranks among the slots of up to four weeks, and the cost at each hour of the week.

use core::fmt::Write;

use exitgap_api::operations::Operation;
use exitgap_api::operations::parameters::{BASE, SERIES_SIZE, TO};
use exitgap_api::slot_at;
use exitgap_client::{Browser, Client, ClientError, EvidenceOf};
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;
use leptos::prelude::*;
use leptos_router::hooks::query_signal_with_options;

use super::exit_comparison::Comparison;
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

/// The slots of an hour of the week, as the service counts them.
#[derive(Debug, Clone, PartialEq)]
struct Seen {
    hour: usize,
    /// Number of recorded slots, and of the weeks that they are from.
    slots: u64,
    weeks: u64,
    /// Number of these slots in which the size could not be filled.
    refused: u64,
    /// The median gap and its 95th percentile; `None` if that slot could not fill the size.
    median: Option<String>,
    most: Option<String>,
    /// The worst slot: its gap, if it had one, its number, its time, and its evidence.
    worst: (Option<String>, u64, String, Option<String>),
}

impl Seen {
    fn from_hour(hour: &Document) -> Option<Self> {
        let worst = hour.part("worst")?;
        Some(Self {
            hour: usize::try_from(hour.count("hour")).ok().filter(|hour| *hour < HOURS)?,
            slots: hour.count("slots"),
            weeks: hour.count("weeks"),
            refused: hour.count("slots_refused"),
            median: hour.text("exit_gap_pct_q50"),
            most: hour.text("exit_gap_pct_q95"),
            worst: (
                worst.text("exit_gap_pct"),
                worst.count("slot"),
                worst.text_or_none("time"),
                worst.text("evidence_url"),
            ),
        })
    }

    /// The shade of the hour: its 95th percentile.
    fn shade(&self) -> Hour {
        match &self.most {
            Some(gap) => parse_number(gap).map_or(Hour::Unknown, Hour::Of),
            None => Hour::Refused,
        }
    }
}

async fn fetch(
    client: &Client<Browser>,
    told: &Comparison,
    pool: &PoolId,
) -> Result<Document, ClientError> {
    let target = Operation::When.target_of(pool).with(&SERIES_SIZE, told.size);
    client.get_document::<Document>(&target.with(&BASE, &told.token).with(&TO, told.slot)).await
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
                let Some(venue) = told.venues.get(place) else { return Ok(None) };
                let pool = exitgap_api::parse_pool(&venue.pool)?;
                fetch(&client, &told, &pool).await.map(Some)
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
            <p class="quiet">{format!("The gap for {size}, sold in one venue, in each recorded five-minute slot of at most four weeks. Times are UTC.")}</p>
            <form class="controls" on:submit=|event| event.prevent_default()>
                <label>"Venue" <select id="venue" on:change=move |event| set.set(Some(event_target_value(&event)))>{options}</select></label>
            </form>
            {move || match found.answer(&venue.get()) {
                None => view! { <LoadingNotice what="four weeks of this venue"/> }.into_any(),
                Some(Err(error)) => view! { <FailureNotice error=error retry=retry/> }.into_any(),
                Some(Ok(None)) => ().into_any(),
                Some(Ok(Some(told))) => {
                    let of = comparison.with_value(|told| {
                        let evidence = told.venues.get(venue.get())?.evidence.clone()?;
                        Some(EvidenceOf { size: told.size, ..evidence })
                    });
                    view! { <WeekView told=told of=of/> }.into_any()
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

/// The evidence for an hour's worst slot.
fn href(seen: &Seen, of: Option<&EvidenceOf>) -> Option<String> {
    let (gap, slot, _, evidence) = &seen.worst;
    if gap.is_some() {
        return evidence_href(evidence.as_ref()?);
    }
    let of = EvidenceOf { slot: Slot::new(*slot).ok()?, ..of?.clone() };
    Some(Page::Evidence(of).href())
}

/// A percentile, or that its slot could not fill the size.
fn percentile(gap: Option<&String>) -> String {
    gap.map_or_else(|| "cannot be filled".to_owned(), |gap| text::percent_read(gap))
}

fn counted(seen: &Seen) -> String {
    let refused = match seen.refused {
        0 => String::new(),
        some => format!(", {some} of them could not fill this size"),
    };
    format!("{} slots of {}{refused}", seen.slots, weeks(seen.weeks))
}

fn weeks(count: u64) -> String {
    if count == 1 { "1 week".to_owned() } else { format!("{count} weeks") }
}

/// An hour in one line, without its worst slot.
fn said(seen: &Seen) -> String {
    let [median, most] = [&seen.median, &seen.most].map(|gap| percentile(gap.as_ref()));
    format!("median {median}, 95th percentile {most} ({})", counted(seen))
}

fn worst_in_words(seen: &Seen) -> String {
    let (gap, _, time, _) = &seen.worst;
    format!("{}, {}", percentile(gap.as_ref()), text::instant(time))
}

/// The rank of the newest slot among all others of the period.
fn verdict(told: &Document) -> Option<String> {
    let now = told.part("now")?;
    let gap = now
        .text("exit_gap_pct")
        .map_or_else(|| "this size cannot be filled".to_owned(), |gap| text::percent_read(&gap));
    let worse = now.count("slots_worse");
    let others = worse + now.count("slots_equal") + now.count("slots_better");
    let share = now.text("worse_pct").and_then(|share| parse_number(&share))?;
    let days = period(told)?;
    let [worse, others] = [worse, others].map(|count| text::group_digits(&count.to_string()));
    Some(format!(
        "Right now: {gap}. {share:.0}% of the last {days} were worse ({worse} of {others} other slots). "
    ))
}

/// The length of the period.
fn period(told: &Document) -> Option<String> {
    let [from, to] = ["from", "to"].map(|name| slot_at(name, &told.text_or_none(name)).ok());
    let slots = u64::from(to?.number()).checked_sub(from?.number().into())? + 1;
    Some(text::age(slots * Slot::SECONDS))
}

/// The hour with the lowest 95th percentile, if four weeks are recorded.
fn best(told: &Document, week: &[Seen]) -> String {
    let best = told.text("best_hour").and_then(|hour| hour.parse::<usize>().ok());
    match best.and_then(|hour| week.iter().find(|seen| seen.hour == hour)) {
        Some(seen) => format!("Best hour: {}: {}. ", hour_in_words(seen.hour), said(seen)),
        None if told.is_true("enough") => "No hour of four weeks could fill this size. ".to_owned(),
        None => "No best hour yet: that needs four weeks of data. ".to_owned(),
    }
}

/// The chart with its key results, and the same data as a table and as a file.
#[component]
fn WeekView(told: Document, of: Option<EvidenceOf>) -> impl IntoView {
    let week: Vec<Seen> = told.list("hours").iter().filter_map(Seen::from_hour).collect();
    let summary = view! { <p id="best-hour">{verdict(&told)}{best(&told, &week)}</p> };
    let hours = (0..HOURS)
        .map(|hour| week.iter().find(|seen| seen.hour == hour).map_or(Hour::Unknown, Seen::shade))
        .collect();
    let chosen = RwSignal::new(None::<usize>);
    let file = csv(&week, of.as_ref());
    let keep = move |_| download(file.as_bytes(), "text/csv", "hours-of-the-week.csv");
    let row = |seen: &Seen| {
        let [median, most] =
            [&seen.median, &seen.most].map(|gap| percentile(gap.as_ref()).into_any());
        let worst = link_evidence(worst_in_words(seen), href(seen, of.as_ref()));
        let counts = [seen.slots, seen.weeks].map(IntoAny::into_any);
        let cells = [median, most, worst].into_iter().chain(counts).collect();
        (hour_in_words(seen.hour).into_any(), cells)
    };
    let rows = week.iter().map(row).collect();
    let columns = vec![
        number("Median gap"),
        number("95th percentile"),
        words("Worst slot"),
        number("Slots"),
        number("Weeks"),
    ];
    let spread = spread(&week);
    let shades = (0..SHADES)
        .map(|one| view! { <span class=format!("swatch shade-{one}")></span> })
        .collect_view();
    let week = StoredValue::new((week, of));
    let reading = move || {
        let Some(hour) = chosen.get() else {
            return "Hover, tap or use arrow keys to read an hour.".into_any();
        };
        let found = week.with_value(|(week, of)| {
            let seen = week.iter().find(|seen| seen.hour == hour)?;
            Some((said(seen), worst_in_words(seen), href(seen, of.as_ref())))
        });
        let Some((said, worst, href)) = found else {
            return view! { <b>{hour_in_words(hour)}</b>": not recorded" }.into_any();
        };
        view! { <b>{hour_in_words(hour)}</b>": "{said}"; worst slot: "{link_evidence(worst, href)} }
            .into_any()
    };
    let figure = view! {
        <figure class="chart heat">
            <ul class="legend">
                <li>{shades}{spread}</li>
                <li><span class="swatch refused-hour"></span>"could not be filled at the 95th percentile"</li>
                <li><span class="swatch unknown"></span>"not recorded"</li>
            </ul>
            <Heat title="95th percentile of the gap by hour of the week" hours=hours chosen=chosen/>
            <output class="reading" aria-live="polite">{reading}</output>
            <details><summary>"Show as table"</summary>
                <Table first="Hour" columns=columns rows=rows/>
            </details>
            <p class="actions"><button type="button" on:click=keep>"Download CSV"</button></p>
        </figure>
    };
    view! {
        {summary}
        {render_collapsible("by-hour", "Each hour of the week", true, figure.into_any())}
    }
}

/// The range of the shades.
fn spread(week: &[Seen]) -> Option<String> {
    let by_gap = |one: &&str, other: &&str| {
        let [one, other] = [one, other].map(|gap| parse_number(gap).unwrap_or_default());
        one.total_cmp(&other)
    };
    let gaps = || week.iter().filter_map(|seen| seen.most.as_deref());
    let (least, greatest) = gaps().min_by(by_gap).zip(gaps().max_by(by_gap))?;
    let [least, greatest] = [least, greatest].map(text::percent_read);
    Some(format!(
        " 95th percentile {least} to {greatest}, each shade covers the same number of hours"
    ))
}

fn csv(week: &[Seen], of: Option<&EvidenceOf>) -> String {
    let mut out = String::from(
        "hour_utc,slots,weeks,slots_refused,exit_gap_pct_q50,exit_gap_pct_q95,worst_exit_gap_pct,worst_time,evidence_url\n",
    );
    let origin = window().location().origin().unwrap_or_default();
    for seen in week {
        let Seen { hour, slots, weeks, refused, median, most, worst: (gap, _, time, _) } = seen;
        let proof = href(seen, of).map(|href| format!("{origin}{href}")).unwrap_or_default();
        let [median, most, gap] = [median, most, gap].map(|gap| gap.as_deref().unwrap_or_default());
        let hour = hour_in_words(*hour);
        let _ =
            writeln!(out, "{hour},{slots},{weeks},{refused},{median},{most},{gap},{time},{proof}");
    }
    out
}
