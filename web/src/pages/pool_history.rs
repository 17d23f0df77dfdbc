//! The recorded series of a pool: quoted against realized price, and the worst of a chosen period.

use exitgap_api::{GapPoint, History, HistoryRow, Interval, SlotState, Stress};
use exitgap_client::HistoryOf;
use exitgap_core::evidence::Base;
use exitgap_core::ids::PoolId;
use exitgap_core::units::SizeUsd;
use leptos::prelude::*;

use crate::app::client;
use crate::chart::{Line, LineChart};
use crate::check::Standing;
use crate::parts::{CheckAll, CheckedGap, Empty, Failed, Loading};
use crate::text;

/// Rows of a page: seven days of hours fit, with room.
const ROWS: usize = 720;

/// Rows that are listed with their evidence.
const LISTED: usize = 24;

/// The section.
#[component]
pub fn PoolHistory(
    /// The pool.
    pool: PoolId,
    /// The token sold.
    base: Memo<usize>,
) -> impl IntoView {
    let (size, set_size) = signal(SizeUsd::STANDARD[2]);
    let (interval, set_interval) = signal(Interval::Hour);
    let (period, set_period) = signal(None::<(String, String)>);
    let pool = StoredValue::new(pool);
    let of = move |interval, period: Option<(String, String)>| {
        let (from, to) = period.unzip();
        let base = if base.get() == 0 { Base::Token0 } else { Base::Token1 };
        HistoryOf {
            pool: pool.get_value(),
            base: Some(base),
            size: size.get(),
            interval,
            from,
            to,
            cursor: None,
        }
    };
    let history = LocalResource::new(move || {
        let (of, client) = (of(interval.get(), None), client());
        async move { client.history(&of).await }
    });
    let stress = LocalResource::new(move || {
        let (of, client) = (of(Interval::Hour, period.get()), client());
        async move { client.stress(&of).await }
    });
    let sizes: Vec<_> = SizeUsd::STANDARD
        .into_iter()
        .map(|one| {
            let text = one.to_string();
            let (value, shown) = (text.clone(), text::usd(&text));
            view! { <option value=value selected=move || size.get() == one>{shown}</option> }
        })
        .collect();
    let intervals = [
        ("5m", Interval::FiveMinutes, "each slot"),
        ("1h", Interval::Hour, "each hour"),
        ("1d", Interval::Day, "each day"),
    ];
    let choices: Vec<_> = intervals
        .into_iter()
        .map(|(value, one, shown)| {
            view! { <option value=value selected=move || interval.get() == one>{shown}</option> }
        })
        .collect();
    let choose_interval = move |event| {
        let value = event_target_value(&event);
        let one = intervals.into_iter().find(|(name, ..)| *name == value);
        set_interval.set(one.map_or(Interval::Hour, |(_, interval, _)| interval));
    };
    view! {
        <section>
            <h2>"Quoted against realized"</h2>
            <p class="quiet">
                "How far below the oracle price the pool quoted an infinitely small sale, and what a sale of this \
                 size really filled at, slot by slot. Drag over the chart, or set two times, to ask for the worst of a period."
            </p>
            <form class="controls" on:submit=|event| event.prevent_default()>
                <label>"Size sold" <select on:change=move |event| {
                    if let Ok(chosen) = event_target_value(&event).parse() { set_size.set(chosen); }
                }>{sizes}</select></label>
                <label>"Rows" <select on:change=choose_interval>{choices}</select></label>
            </form>
            {move || match history.get() {
                None => view! { <Loading what="the series"/> }.into_any(),
                Some(Err(error)) => view! { <Failed error=error/> }.into_any(),
                Some(Ok(history)) if history.rows.is_empty() => {
                    view! { <Empty words="The series has no slot in this period.".to_owned()/> }.into_any()
                }
                Some(Ok(history)) => view! { <Drawing history=history set_period=set_period/> }.into_any(),
            }}
            <Period period=period set_period=set_period/>
            {move || match stress.get() {
                None => view! { <Loading what="the worst of the period"/> }.into_any(),
                Some(Err(error)) => view! { <Failed error=error/> }.into_any(),
                Some(Ok(stress)) => view! { <Worst stress=stress/> }.into_any(),
            }}
        </section>
    }
}

/// Why a row has no figure.
fn missing(row: &HistoryRow) -> Option<String> {
    if row.slots_recorded > 0 {
        return None;
    }
    let reason = row.missing_reason.as_ref().map_or_else(String::new, |why| format!(": {why}"));
    Some(match row.state {
        Some(SlotState::Retracted) => "retracted: its block was orphaned".to_owned(),
        Some(SlotState::Retired) => "the series ended".to_owned(),
        _ if row.slots_retracted > 0 => format!("{} slots retracted", row.slots_retracted),
        _ => format!("missing{reason}"),
    })
}

#[component]
fn Drawing(history: History, set_period: WriteSignal<Option<(String, String)>>) -> impl IntoView {
    let rows = &history.rows;
    let start = rows.len().saturating_sub(ROWS);
    let rows = &rows[start..];
    let places: Vec<String> = rows.iter().map(|row| text::instant(&row.time)).collect();
    let times: Vec<String> = rows.iter().map(|row| row.time.clone()).collect();
    let gone: Vec<Option<String>> = rows.iter().map(missing).collect();
    let line = |name: &str, class, pick: fn(&HistoryRow) -> Option<String>| {
        let shown = rows.iter().map(pick);
        let shown: Vec<String> = shown.map(Option::unwrap_or_default).collect();
        // Drawn below the axis: so far below the oracle price.
        let values = shown.iter().map(|text| text.parse::<f64>().ok().map(|gap| -gap)).collect();
        Line { name: name.to_owned(), class, values, shown }
    };
    let gap = |row: &HistoryRow| Some(row.last.as_ref()?.exit_gap_pct.as_ref()?.to_string());
    let basis = |row: &HistoryRow| Some(row.last_basis_pct.as_ref()?.to_string());
    let lines = vec![
        line("quoted (mid), below the oracle", "line-a", basis),
        line("realized, below the oracle", "line-c", gap),
    ];
    let dragged = Callback::new(move |(first, last): (usize, usize)| {
        if let (Some(from), Some(to)) = (times.get(first), times.get(last)) {
            set_period.set(Some((from.clone(), to.clone())));
        }
    });
    let missing: u32 = rows.iter().map(|row| row.slots_missing).sum();
    let retracted: u32 = rows.iter().map(|row| row.slots_retracted).sum();
    let title = format!(
        "Price in % of the oracle's, {} to {}",
        text::instant(&history.of.from),
        text::instant(&history.of.to)
    );
    let newest: Vec<HistoryRow> = rows.iter().rev().take(LISTED).cloned().collect();
    view! {
        <LineChart title=title places=places lines=lines unit="%" missing=gone on_range=dragged/>
        <p class="quiet">{format!("{missing} slots missing, {retracted} retracted in these rows; shaded where a whole row is.")}</p>
        <Listed rows=newest/>
    }
}

/// The newest rows, each with its evidence.
#[component]
fn Listed(rows: Vec<HistoryRow>) -> impl IntoView {
    let rows: Vec<_> =
        rows.into_iter().map(|row| (row, RwSignal::new(Standing::NotChecked))).collect();
    let published = rows.iter().filter_map(|(row, standing)| {
        let last = row.last.as_ref()?;
        let gap = last.exit_gap_pct.as_ref()?.as_str().to_owned();
        Some((last.evidence_url.clone()?, gap, *standing))
    });
    let published = published.collect();
    let body: Vec<_> = rows.into_iter().map(|(row, standing)| listed(row, standing)).collect();
    view! {
        <details>
            <summary>{format!("The newest {} rows, with their evidence", body.len())}</summary>
            <p><CheckAll published=published/></p>
            <div class="wide" tabindex="0" role="group" aria-label="Table, scrolls sideways"><table>
                <thead><tr><th scope="col">"From"</th><th scope="col" class="number">"Last gap"</th>
                    <th scope="col" class="number">"Worst gap"</th>
                    <th scope="col" class="number">"Lowest depth"</th></tr></thead>
                <tbody>{body}</tbody>
            </table></div>
        </details>
    }
}

fn listed(row: HistoryRow, standing: RwSignal<Standing>) -> impl IntoView {
    let time = text::instant(&row.time);
    if let Some(why) = missing(&row) {
        return view! { <tr><th scope="row">{time}</th><td colspan="3" class="none">{why}</td></tr> }
            .into_any();
    }
    let gap = |point: Option<&GapPoint>| {
        let point = point?;
        Some(match (&point.exit_gap_pct, point.refusal) {
            (Some(gap), _) => text::percent(gap.as_str()),
            (None, Some(code)) => code.title().to_owned(),
            (None, None) => return None,
        })
    };
    let worst = gap(row.worst.as_ref()).unwrap_or_else(|| "none".to_owned());
    let shown = gap(row.last.as_ref()).unwrap_or_else(|| "none".to_owned());
    let evidence = row.last.and_then(|last| Some((last.evidence_url?, last.exit_gap_pct?)));
    let last = match evidence {
        Some((url, gap)) => {
            let published = gap.as_str().to_owned();
            view! { <CheckedGap published=published shown=shown evidence_url=url standing=standing/> }
                .into_any()
        }
        None => view! { <span class="none">{shown}</span> }.into_any(),
    };
    let depth = row
        .lowest_depth
        .map_or_else(|| "none".to_owned(), |point| text::usd(point.depth_usd.as_str()));
    view! {
        <tr><th scope="row">{time}</th><td class="number">{last}</td><td class="number">{worst}</td>
            <td class="number">{depth}</td></tr>
    }
    .into_any()
}

/// Two times, typed.
#[component]
fn Period(
    period: ReadSignal<Option<(String, String)>>,
    set_period: WriteSignal<Option<(String, String)>>,
) -> impl IntoView {
    let local = |time: &str| time.get(..16).unwrap_or_default().to_owned();
    let from = move || period.read().as_ref().map(|(from, _)| local(from)).unwrap_or_default();
    let to = move || period.read().as_ref().map(|(_, to)| local(to)).unwrap_or_default();
    let (typed_from, set_from) = signal(String::new());
    let (typed_to, set_to) = signal(String::new());
    Effect::new(move || {
        set_from.set(from());
        set_to.set(to());
    });
    let apply = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let (from, to) = (typed_from.get(), typed_to.get());
        let whole = !from.is_empty() && !to.is_empty();
        set_period.set(whole.then(|| (format!("{from}:00Z"), format!("{to}:00Z"))));
    };
    view! {
        <form class="controls" on:submit=apply>
            <label>"From (UTC)" <input type="datetime-local" prop:value=move || typed_from.get()
                on:input=move |event| set_from.set(event_target_value(&event))/></label>
            <label>"To (UTC)" <input type="datetime-local" prop:value=move || typed_to.get()
                on:input=move |event| set_to.set(event_target_value(&event))/></label>
            <button type="submit">"Show the worst of this period"</button>
            <button type="button" class="small" on:click=move |_| set_period.set(None)>"Whole series"</button>
        </form>
    }
}

#[component]
fn Worst(stress: Stress) -> impl IntoView {
    let of = format!("{} to {}", text::instant(&stress.of.from), text::instant(&stress.of.to));
    let gap = match stress.worst_gap {
        None => view! { "no slot of this period has one" }.into_any(),
        Some(point) => {
            let when = text::instant(&point.time);
            match (point.exit_gap_pct, point.evidence_url, point.refusal) {
                (Some(gap), Some(url), _) => {
                    let standing = RwSignal::new(Standing::NotChecked);
                    let published = gap.as_str().to_owned();
                    let shown = text::percent(&published);
                    view! {
                        <CheckedGap published=published shown=shown evidence_url=url standing=standing/>
                        {format!(" at {when}")}
                    }
                    .into_any()
                }
                (_, _, Some(code)) => {
                    format!("{} at {when}: worse than any number", code.title()).into_any()
                }
                _ => "none".into_any(),
            }
        }
    };
    let depth = stress.lowest_depth.map_or_else(
        || "none".to_owned(),
        |point| {
            format!("{} at {}", text::usd(point.depth_usd.as_str()), text::instant(&point.time))
        },
    );
    let slots = format!(
        "{} recorded, {} missing, {} retracted",
        stress.slots_recorded, stress.slots_missing, stress.slots_retracted
    );
    view! {
        <dl class="facts">
            <div><dt>"Period"</dt><dd>{of}</dd></div>
            <div><dt>"Worst gap"</dt><dd>{gap}</dd></div>
            <div><dt>"Lowest depth at 2 %"</dt><dd>{depth}</dd></div>
            <div><dt>"Slots"</dt><dd>{slots}</dd></div>
        </dl>
    }
}
