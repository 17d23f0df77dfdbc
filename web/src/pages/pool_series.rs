//! The rows of a series: a chart, and a list of the newest ones with their evidence.

use exitgap_api::{
    DepthPoint, FillablePoint, GapPoint, History, HistoryRow, SeriesOf, SlotState, slot_at,
};
use exitgap_client::EvidenceOf;
use exitgap_core::evidence::Base;
use exitgap_core::series::Slot;
use exitgap_core::units::{Percent, SizeUsd};
use leptos::prelude::*;

use super::pool_history::Between;
use super::pool_hours::Closure;
use crate::chart::{Line, LineChart, Mark, MarkNote, parse_number};
use crate::check::{CheckState, PublishedGap, Sold};
use crate::parts::{CheckAll, CheckedGap, Row, Table, link_evidence, number};
use crate::paths::{Page, evidence_href};
use crate::text;

/// Maximum number of rows in a chart: more than seven days of hours.
const ROWS: usize = 720;

/// Number of rows listed with their evidence.
const LISTED: usize = 24;

/// The rows.
#[component]
pub fn Series(
    /// The rows, as returned by the service.
    history: History,
    /// The size that is sold.
    size: SizeUsd,
    /// The symbol of the token that is sold: untrusted text.
    sells: Memo<String>,
    /// When the market was closed.
    closures: Memo<Vec<Closure>>,
    /// Sets the period for the worst values.
    set_period: WriteSignal<Between>,
) -> impl IntoView {
    let sells = sells.get_untracked();
    let start = history.rows.len().saturating_sub(ROWS);
    let rows = &history.rows[start..];
    let places: Vec<String> = rows.iter().map(|row| text::instant(&row.time)).collect();
    let [quoted_name, realized_name] = if rows.iter().any(|row| slots(row) > 1) {
        [
            "mid price (last slot in the interval)",
            "fill price (same slot; band extends to the worst slot)",
        ]
    } else {
        ["mid price", "fill price"]
    };
    let mut realized = line(realized_name, "line-c", rows.iter().map(realized_place));
    if rows.iter().any(|row| slots(row) > 1) {
        realized.others = rows.iter().map(worst_realized).collect();
    }
    let lines = vec![line(quoted_name, "line-a", rows.iter().map(quoted_place)), realized];
    let times: Vec<String> = rows.iter().map(|row| row.time.clone()).collect();
    let end = history.of.to.clone();
    let dragged = Callback::new(move |(first, last): (usize, usize)| {
        let to = times.get(last + 1).map_or(Some(end.clone()), |next| slot_before(next));
        if let (Some(from), Some(to)) = (times.get(first), to) {
            set_period.set(Some((from.clone(), to)));
        }
    });
    let title = format!(
        "Price in % of the oracle price: {} of {sells}, {} to {}",
        text::usd(&size.to_string()),
        text::instant(&history.of.from),
        text::instant(&history.of.to)
    );
    let newest: Vec<HistoryRow> = rows.iter().rev().take(LISTED).cloned().collect();
    let all = rows.to_vec();
    // The closures may arrive after the rows.
    let chart = move || {
        let closures = closures.get();
        let closed = |row: &HistoryRow| Closure::mark(&closures, &row.time);
        let marks: Vec<Vec<MarkNote>> =
            all.iter().map(|row| closed(row).into_iter().chain(marks(row)).collect()).collect();
        let (title, places, lines) = (title.clone(), places.clone(), lines.clone());
        view! {
            <LineChart title=title places=places lines=lines unit="%" reference=100.0 marks=marks on_range=dragged/>
        }
    };
    view! {
        {chart}
        <p class="quiet">{sums(rows)}</p>
        <NewestIntervals rows=newest of=history.of size=size/>
    }
}

/// The slot before the one that begins at this instant.
fn slot_before(time: &str) -> Option<String> {
    let next = slot_at("time", time).ok()?.number();
    Slot::new(u64::from(next.checked_sub(1)?)).ok().map(|slot| slot.to_string())
}

/// How many of these rows' slots are missing.
fn sums(rows: &[HistoryRow]) -> String {
    let missing: u32 = rows.iter().map(|row| row.slots_missing).sum();
    let retracted: u32 = rows.iter().map(|row| row.slots_retracted).sum();
    let refused = match rows.iter().map(|row| row.slots_refused).sum::<u32>() {
        0 => String::new(),
        some => format!(" {some} recorded slots could not fill this size."),
    };
    format!("{missing} slots missing, {retracted} retracted in these intervals.{refused}")
}

/// Number of slots in a row.
fn slots(row: &HistoryRow) -> u32 {
    row.slots_recorded + row.slots_missing + row.slots_retracted
}

/// Why a row has no figure at all, with the mark for missing or retracted.
fn gone(row: &HistoryRow) -> Option<MarkNote> {
    if row.slots_recorded > 0 {
        return None;
    }
    let (mark, words) = match (row.state, &row.missing_reason) {
        (Some(SlotState::Retired), _) => (Mark::Missing, "the series ended".to_owned()),
        _ if row.slots_retracted > 0 && row.slots_missing > 0 => {
            (Mark::Retracted, partly(row).unwrap_or_default())
        }
        _ if row.slots_retracted > 0 => (Mark::Retracted, "retracted by a later entry".to_owned()),
        (_, Some(why)) => (Mark::Missing, format!("missing: {why}")),
        (_, None) => (Mark::Missing, "missing".to_owned()),
    };
    Some(MarkNote { mark, words })
}

/// How many of a row's slots are missing or retracted.
fn partly(row: &HistoryRow) -> Option<String> {
    let count = |count: u32, what: &str| (count > 0).then(|| format!("{count} {what}"));
    let parts = [count(row.slots_missing, "missing"), count(row.slots_retracted, "retracted")];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("{} of {} slots", parts.join(", "), slots(row)))
}

/// How many of a row's recorded slots could not fill the size, and their lowest maximum.
fn refusals(row: &HistoryRow) -> Option<String> {
    let (refused, recorded) = (row.slots_refused, row.slots_recorded);
    let least = least_fillable(row.least_fillable.as_ref());
    (refused > 0)
        .then(|| format!("{refused} of {recorded} recorded slots could not fill this size{least}"))
}

/// The lowest maximum that could be filled, if the document contains it.
pub fn least_fillable(point: Option<&FillablePoint>) -> String {
    point.map_or_else(String::new, |point| {
        let usd = text::usd_exact(point.max_fillable_usd.as_str());
        format!("; the lowest maximum was {usd} ({})", text::instant(&point.time))
    })
}

fn marks(row: &HistoryRow) -> Vec<MarkNote> {
    if let Some(gone) = gone(row) {
        return vec![gone];
    }
    let marked = |mark| move |words| MarkNote { mark, words };
    let partly = partly(row).map(marked(Mark::Partly));
    let refused = refusals(row).map(marked(Mark::Refused));
    partly.into_iter().chain(refused).collect()
}

/// A price in percent of the oracle's, from its distance below the oracle.
fn of_oracle(below: &str) -> Option<Percent> {
    let Percent(below) = Percent::parse(below).ok()?;
    Some(Percent(100_000_000 - below))
}

/// A position of a line: its value, or why there is none.
type Place = Option<Result<Percent, String>>;

fn quoted_place(row: &HistoryRow) -> Place {
    of_oracle(row.last_basis_pct.as_ref()?.as_str()).map(Ok)
}

/// The value of the last slot: the slot whose mid price is shown.
fn realized_place(row: &HistoryRow) -> Place {
    match &row.last.as_ref()?.exit_gap_pct {
        Some(gap) => of_oracle(gap.as_str()).map(Ok),
        None => Some(Err("cannot be filled".to_owned())),
    }
}

/// The value of the worst slot that could be filled.
fn worst_realized(row: &HistoryRow) -> Option<f64> {
    let gap = row.worst.as_ref()?.exit_gap_pct.as_ref()?;
    parse_number(&of_oracle(gap.as_str())?.to_string())
}

fn line(name: &str, class: &'static str, places: impl Iterator<Item = Place>) -> Line {
    let (mut values, mut shown) = (Vec::new(), Vec::new());
    for place in places {
        let (value, words) = match place {
            None => (None, String::new()),
            Some(Err(why)) => (None, why),
            Some(Ok(percent)) => {
                let digits = percent.to_string();
                (parse_number(&digits), text::percent(&digits))
            }
        };
        values.push(value);
        shown.push(words);
    }
    Line { name: name.to_owned(), class, values, others: Vec::new(), shown }
}

/// A gap of a series, with everything it claims to be about.
pub fn published_gap(point: &GapPoint, of: &SeriesOf, size: SizeUsd) -> Option<PublishedGap> {
    Some(PublishedGap {
        evidence_url: point.evidence_url.clone()?,
        pool: of.pool.clone(),
        sold: Sold::Base(of.base.clone()),
        size,
        time: point.time.clone(),
        exit_gap_pct: point.exit_gap_pct.as_ref()?.as_str().to_owned(),
    })
}

/// A depth, with the evidence of a sale of exactly that size in its slot.
pub fn depth_view(point: &DepthPoint, of: &SeriesOf) -> AnyView {
    let size = point.depth_usd.as_str();
    link_evidence(text::usd(size), sale_href(of, point.slot, size))
}

/// The evidence URL of a sale in a slot of the series.
pub fn sale_href(of: &SeriesOf, slot: u32, size_usd: &str) -> Option<String> {
    let evidence = EvidenceOf {
        pool: of.pool.parse().ok()?,
        base: Base::from_code(&of.base)?,
        slot: Slot::new(slot.into()).ok()?,
        size: size_usd.parse().ok()?,
        method_version: of.method_version.clone(),
    };
    Some(Page::Evidence(evidence).href())
}

/// The gap of one slot with its evidence, or why there is none.
fn gap_view(point: &GapPoint, of: &SeriesOf) -> AnyView {
    let href = || evidence_href(point.evidence_url.as_ref()?);
    match (&point.exit_gap_pct, point.refusal) {
        (Some(gap), _) => link_evidence(text::percent(gap.as_str()), href()),
        (None, Some(code)) if code.has_evidence() => {
            let size = of.size_usd.as_str();
            link_evidence(code.title().to_owned(), sale_href(of, point.slot, size))
        }
        (None, Some(code)) => code.title().into_any(),
        (None, None) => "none".into_any(),
    }
}

/// The newest rows, each with its evidence.
#[component]
fn NewestIntervals(rows: Vec<HistoryRow>, of: SeriesOf, size: SizeUsd) -> impl IntoView {
    let rows: Vec<_> = rows
        .into_iter()
        .map(|row| {
            let published = row.worst.as_ref().and_then(|worst| published_gap(worst, &of, size));
            (row, published.map(|one| (one, RwSignal::new(CheckState::NotChecked))))
        })
        .collect();
    let published = rows.iter().filter_map(|(_, published)| published.clone()).collect();
    let body: Vec<_> =
        rows.into_iter().map(|(row, published)| render_interval(&row, &of, published)).collect();
    view! {
        <details class="listed">
            <summary>{format!("Newest {} intervals with evidence", body.len())}</summary>
            <p><CheckAll published=published/></p>
            <Table first="From" columns=["Worst gap", "Last gap", "Lowest depth", "Its depth from the pool's own price"].map(number).into() rows=body/>
        </details>
    }
}

fn render_interval(
    row: &HistoryRow,
    of: &SeriesOf,
    published: Option<(PublishedGap, RwSignal<CheckState>)>,
) -> Row {
    let time = text::instant(&row.time);
    if let Some(MarkNote { words, .. }) = gone(row) {
        let words = view! { <span class="none">{words}</span> }.into_any();
        return (time.into_any(), vec![words]);
    }
    let last = row.last.as_ref().map_or_else(|| "none".into_any(), |last| gap_view(last, of));
    let worst = if let Some((published, standing)) = published {
        view! { <CheckedGap published=published standing=standing/> }.into_any()
    } else {
        let least = row.least_fillable.as_ref();
        let href = least.and_then(|least| sale_href(of, least.slot, of.size_usd.as_str()));
        let cannot = link_evidence("cannot be filled".to_owned(), href);
        view! { <span class="none">{cannot}</span> }.into_any()
    };
    let depth = row.lowest_depth.as_ref();
    let book = depth.and_then(|point| point.reading.book_usd.as_ref());
    let book = book.map_or_else(|| "–".to_owned(), |usd| text::usd(usd.as_str()));
    let depth = depth.map_or_else(|| "none".into_any(), |point| depth_view(point, of));
    let lacks = [partly(row), refusals(row)]
        .map(|words| words.map(|words| view! { <small>{words}</small> }));
    (view! { {time}{lacks} }.into_any(), vec![worst, last, depth, book.into_any()])
}
