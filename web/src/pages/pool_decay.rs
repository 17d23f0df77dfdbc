//! How the pool's depth decreases after price moves, and a check that recomputes it in this browser.

use exitgap_api::operations::DecayAsked;
use exitgap_api::{DepthDecay, DepthDecayEvent, DepthDecayHorizon, Guards, ProblemCode, slot_at};
use exitgap_client::ClientError;
use exitgap_core::ids::PoolId;
use exitgap_core::units::GapLimit;
use leptos::prelude::*;

use super::figure_check::CheckedFigure;
use super::pool::base_name;
use crate::browser::download;
use crate::chart::{Line, LineChart, parse_number};
use crate::parts::{Empty, FailureNotice, LiveQuery, LoadingNotice, Table, number};
use crate::service::client;
use crate::text;

/// The minimum price moves offered by the control, in millionths of a percent.
const MOVES: [(&str, u32); 5] =
    [("0.2", 200_000), ("0.5", 500_000), ("1", 1_000_000), ("2", 2_000_000), ("5", 5_000_000)];

/// The default move.
const FIRST_MOVE: u32 = 1_000_000;

/// Number of listed events, newest first.
const LISTED: usize = 12;

/// The section.
#[component]
pub fn PoolDecay(
    /// The pool.
    pool: PoolId,
    /// The token that is sold.
    base: Memo<usize>,
) -> impl IntoView {
    let (opened, set_opened) = signal(false);
    let pool = StoredValue::new(pool);
    view! {
        <section id="decay">
            <h2>"Depth after price moves"</h2>
            <p class="quiet">
                "Depth here is measured at 2% from the pool's own mid price. After each price move within 15 minutes, its change \
                 is split exactly: the effect of the move alone on the existing liquidity, and the liquidity that providers added \
                 or withdrew."
            </p>
            // The service reads four weeks of snapshots for this, so it is loaded only on demand.
            <details on:toggle=move |_| set_opened.set(true)>
                <summary>"Show price moves of the last four weeks"</summary>
                <Show when=move || opened.get()><Moves pool=pool.get_value() base=base/></Show>
            </details>
        </section>
    }
}

/// The content, once it is open.
#[component]
fn Moves(pool: PoolId, base: Memo<usize>) -> impl IntoView {
    let (moved, set_moved) = signal(FIRST_MOVE);
    let asked = Memo::new(move |_| DecayAsked {
        pool: pool.clone(),
        base: Some(base_name(base.get()).to_owned()),
        from: None,
        to: None,
        move_e8: moved.get(),
        within_slots: 3,
        gap: GapLimit::DEPTH,
        guards: Guards::default(),
    });
    let decay = LiveQuery::new(
        move || asked.get(),
        |asked| {
            let client = client();
            async move { client.depth_decay(&asked).await }
        },
    );
    let retry = decay.again();
    let choices: Vec<_> = MOVES
        .into_iter()
        .map(|(shown, e8)| {
            view! { <option value=e8.to_string() prop:selected=move || moved.get() == e8>{format!("{shown}%")}</option> }
        })
        .collect();
    let choose = move |event| {
        if let Ok(chosen) = event_target_value(&event).parse() {
            set_moved.set(chosen);
        }
    };
    let answer = move || match decay.answer(&asked.get()) {
        None => view! { <LoadingNotice what="the depth after moves"/> }.into_any(),
        Some(Err(error)) if is_other_kind(&error) => {
            let words = "Available only for concentrated-liquidity and constant-product pools.";
            view! { <Empty words=words.to_owned()/> }.into_any()
        }
        Some(Err(error)) => view! { <FailureNotice error=error retry=retry/> }.into_any(),
        Some(Ok(decay)) => {
            view! { <DecayView decay=decay asked=asked.get_untracked()/> }.into_any()
        }
    };
    view! {
        <form class="controls" on:submit=|event| event.prevent_default()>
            <label>"Moves of at least" <select on:change=choose>{choices}</select></label>
        </form>
        {answer}
    }
}

/// Whether a figure is not available for this kind of pool.
pub fn is_other_kind(error: &ClientError) -> bool {
    matches!(error, ClientError::Refused(problem) if problem.code == ProblemCode::FigureUnsupportedKind.as_str())
}

/// Renders the answer.
#[component]
fn DecayView(decay: DepthDecay, asked: DecayAsked) -> impl IntoView {
    let DepthDecay { have, needed, slots_missing, events_suppressed, .. } = decay;
    let (from, to) = (text::instant(&decay.of.from), text::instant(&decay.of.to));
    let count = decay.events.len();
    let moves = format!("{count} of {}% or more", decay.of.move_pct);
    let suppressed = (events_suppressed > 0)
        .then(|| view! { <small>{format!("{events_suppressed} follow-on moves (within 4 h) not counted")}</small> });
    let short = (!decay.enough).then(|| {
        view! { <p class="quiet">{format!("Statistics need {needed} slots (seven days); {have} are recorded. Single moves are listed anyway.")}</p> }
    });
    let half_life = [("falls", &decay.down), ("rises", &decay.up)].map(|(name, side)| {
        let words = side.half_life_slots_q50.map_or_else(
            || "not known".to_owned(),
            |slots| format!("{} minutes", u64::from(slots) * 5),
        );
        view! { <div><dt>{format!("Half recovered after {name}")}</dt><dd>{words}</dd></div> }
    });
    let figure = StoredValue::new(asked_exactly(&decay, asked));
    let service = client();
    let fetch = move || {
        let (client, asked) = (service.clone(), figure.get_value());
        async move { client.decay_file(&asked).await }
    };
    let csv = csv(&decay);
    let keep = move |_| download(csv.as_bytes(), "text/csv", "decay.csv");
    view! {
        <dl class="facts">
            <div><dt>"Period"</dt><dd>{format!("{from} to {to}")}</dd></div>
            <div><dt>"Slots"</dt><dd>{format!("{have} recorded, {slots_missing} missing or retracted")}</dd></div>
            <div><dt>"Moves"</dt><dd>{moves}{suppressed}</dd></div>
            {half_life}
        </dl>
        {short}
        {fan(&decay)}
        {(count > 0).then(|| view! {
            <Events events=decay.events.clone()/>
            <button type="button" class="small" on:click=keep>"Download CSV"</button>
        })}
        <CheckedFigure at="check-decay" fetch=fetch/>
    }
}

/// The request with the exact period of the answer, so that its file never changes.
fn asked_exactly(decay: &DepthDecay, asked: DecayAsked) -> DecayAsked {
    let slot = |name: &str, text: &str| slot_at(name, text).ok();
    let (from, to) = (slot("from", &decay.of.from), slot("to", &decay.of.to));
    DecayAsked { base: Some(decay.of.base.clone()), from, to, ..asked }
}

/// A chart of the remaining depth after a move: the medians if there are any, else the newest move.
fn fan(decay: &DepthDecay) -> AnyView {
    let sides = [("fell", &decay.down), ("rose", &decay.up)];
    let known = |horizon: &DepthDecayHorizon| horizon.retained_pct_q50.is_some();
    let side = sides.into_iter().find(|(_, side)| side.horizons.iter().any(known));
    let (title, places, rows): (String, Vec<u32>, Vec<[Option<String>; 2]>) = match side {
        Some((way, side)) => {
            let title = format!("Depth remaining after the price {way} (median, % of before)");
            let row = |one: &DepthDecayHorizon| {
                [&one.static_pct_q50, &one.retained_pct_q50]
                    .map(|value| value.as_ref().map(ToString::to_string))
            };
            (
                title,
                side.horizons.iter().map(|one| one.h_slots).collect(),
                side.horizons.iter().map(row).collect(),
            )
        }
        None => match decay.events.last() {
            Some(event) => {
                let title = format!(
                    "Depth remaining after the move of {}% at {} (% of before)",
                    event.move_pct,
                    text::instant(&event.time)
                );
                let share = |part: &str, whole: &str| {
                    let (part, whole) =
                        (parse_number(part)?, parse_number(whole).filter(|whole| *whole > 0.0)?);
                    Some(crate::chart::format_fixed(100.0 * part / whole, 2))
                };
                let row = |step: &exitgap_api::DepthDecayStep| {
                    let before = step.book_before_usd.as_str();
                    [&step.book_static_usd, &step.book_usd].map(|book| share(book.as_str(), before))
                };
                (
                    title,
                    event.at.iter().map(|step| step.h_slots).collect(),
                    event.at.iter().map(row).collect(),
                )
            }
            None => {
                return view! { <Empty words="The price did not move that far.".to_owned()/> }
                    .into_any();
            }
        },
    };
    let line = |name: &str, class, which: usize| Line {
        name: name.to_owned(),
        class,
        values: rows.iter().map(|row| row[which].as_deref().and_then(parse_number)).collect(),
        others: Vec::new(),
        shown: rows
            .iter()
            .map(|row| row[which].as_deref().map_or_else(String::new, text::percent))
            .collect(),
    };
    let lines = vec![
        line("if no one had added or removed liquidity", "line-b", 0),
        line("recorded", "line-a", 1),
    ];
    let places: Vec<String> =
        places
            .into_iter()
            .map(|slots| {
                if slots == 0 {
                    "at the move".to_owned()
                } else {
                    format!("{} min after", slots * 5)
                }
            })
            .collect();
    view! { <LineChart title=title places=places lines=lines unit="%" reference=100.0/> }.into_any()
}

/// The newest moves, each with its depth one slot later.
#[component]
fn Events(events: Vec<DepthDecayEvent>) -> impl IntoView {
    const COLUMNS: [&str; 6] = [
        "Move",
        "Depth before",
        "Effect of the move",
        "Added or withdrawn",
        "Depth after",
        "Half recovered",
    ];
    let more = events.len().saturating_sub(LISTED);
    let rows: Vec<_> = events
        .iter()
        .rev()
        .take(LISTED)
        .map(|event| {
            let step = event.at.iter().find(|step| step.h_slots >= 1).or(event.at.first());
            let usd = |number: Option<&exitgap_api::Number>| {
                number.map_or_else(|| "–".to_owned(), |usd| text::usd(usd.as_str()))
            };
            let after = step.map_or(String::new(), |step| format!("{} min", step.h_slots * 5));
            let back = match (event.half_life_slots, event.censored) {
                (Some(slots), _) => format!("{} min", slots * 5),
                (None, true) => "not within four hours".to_owned(),
                (None, false) => "–".to_owned(),
            };
            let book = usd(step.map(|step| &step.book_usd));
            let cells = vec![
                format!("{}%", event.move_pct).into_any(),
                usd(step.map(|step| &step.book_before_usd)).into_any(),
                usd(step.map(|step| &step.mechanical_usd)).into_any(),
                usd(step.map(|step| &step.liquidity_usd)).into_any(),
                view! { {book}<small>{after}</small> }.into_any(),
                back.into_any(),
            ];
            (text::instant(&event.time).into_any(), cells)
        })
        .collect();
    view! {
        <Table caption="Moves, newest first" first="Time" columns=COLUMNS.map(number).into() rows=rows/>
        {(more > 0).then(|| view! { <p class="quiet">{format!("{more} earlier moves are in the CSV.")}</p> })}
    }
}

/// One CSV line for each step of each move.
fn csv(decay: &DepthDecay) -> String {
    let mut lines = vec![
        "time,move_pct,h_slots,book_before_usd,mechanical_usd,liquidity_usd,book_usd,figure_url"
            .to_owned(),
    ];
    for event in &decay.events {
        for step in &event.at {
            let numbers =
                [&step.book_before_usd, &step.mechanical_usd, &step.liquidity_usd, &step.book_usd];
            let numbers = numbers.map(exitgap_api::Number::as_str).join(",");
            let (time, moved, after) = (&event.time, &event.move_pct, step.h_slots);
            lines.push(format!("{time},{moved},{after},{numbers},{}", decay.of.figure_url));
        }
    }
    lines.join("\n") + "\n"
}
