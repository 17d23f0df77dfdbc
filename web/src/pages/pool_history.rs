//! The recorded series of a pool: quoted and realized price, and the worst of a selected period.

use exitgap_api::{Interval, RowOrder, size_as_written};
use exitgap_client::HistoryOf;
use exitgap_core::evidence::Base;
use exitgap_core::ids::PoolId;
use exitgap_core::units::SizeUsd;
use leptos::prelude::*;

use super::pool_hours::{Closure, closures};
use super::pool_series::Series;
use super::pool_stress::{Period, Worst};
use crate::parts::{CollapsibleSection, Empty, FailureNotice, LiveQuery, LoadingNotice};
use crate::service::client;
use crate::text;

/// A first and a last instant, RFC 3339.
pub type Between = Option<(String, String)>;

/// The intervals, as named in the control.
const INTERVALS: [(&str, Interval, &str); 3] = [
    (Interval::FiveMinutes.code(), Interval::FiveMinutes, "each slot"),
    (Interval::Hour.code(), Interval::Hour, "each hour"),
    (Interval::Day.code(), Interval::Day, "each day"),
];

/// The section.
#[component]
pub fn PoolHistory(
    /// The pool.
    pool: PoolId,
    /// The token that is sold.
    base: Memo<usize>,
    /// Both tokens' symbols.
    symbols: [String; 2],
    /// The text of the size box: the series begins with the nearest standard size.
    asked: Memo<String>,
    /// Whether a token's market closes.
    closes: bool,
) -> impl IntoView {
    let asked = size_as_written(&asked.get_untracked()).unwrap_or(SizeUsd::STANDARD[2]);
    let apart = |one: &SizeUsd| one.micros().abs_diff(asked.micros());
    let nearest = SizeUsd::STANDARD.into_iter().min_by_key(apart).unwrap_or(asked);
    let (size, set_size) = signal(nearest);
    let (interval, set_interval) = signal(Interval::Hour);
    let (period, set_period) = signal(None::<(String, String)>);
    let shut = LiveQuery::new(move || base.get(), {
        let pool = pool.clone();
        move |base| {
            let closures = closes.then(|| closures(pool.clone(), base));
            async move { if let Some(closures) = closures { closures.await } else { Vec::new() } }
        }
    });
    let shut = Memo::new(move |_| shut.answer(&base.get()).unwrap_or_default());
    let of = move |interval, period: Between| {
        let (from, to) = period.unzip();
        let base = Some(if base.get() == 0 { Base::Token0 } else { Base::Token1 });
        let (pool, size, order) = (pool.clone(), size.get(), RowOrder::Ascending);
        HistoryOf { pool, base, size, interval, order, from, to, cursor: None }
    };
    let series_of = Memo::new({
        let of = of.clone();
        move |_| of(interval.get(), None)
    });
    let stress_of = Memo::new(move |_| of(Interval::Hour, period.get()));
    let sells = Memo::new(move |_| symbols[base.get()].clone());
    view! {
        <CollapsibleSection id="history" title="Quoted and realized price">
            <p class="quiet">
                "The price that the pool quoted for an infinitely small sale, and the price that a sale of this size \
                 would have filled at, both in percent of the oracle price. Drag on the chart or enter two times to find \
                 the worst moment in a period."
            </p>
            <Controls size=size set_size=set_size interval=interval set_interval=set_interval/>
            <SeriesLoader of=series_of sells=sells closures=shut set_period=set_period/>
            <Period period=period set_period=set_period/>
            <WorstOf of=stress_of sells=sells/>
        </CollapsibleSection>
    }
}

/// Controls for size and interval.
#[component]
fn Controls(
    size: ReadSignal<SizeUsd>,
    set_size: WriteSignal<SizeUsd>,
    interval: ReadSignal<Interval>,
    set_interval: WriteSignal<Interval>,
) -> impl IntoView {
    let sizes: Vec<_> = SizeUsd::STANDARD
        .into_iter()
        .map(|one| {
            let text = one.to_string();
            let (value, shown) = (text.clone(), text::usd(&text));
            view! { <option value=value prop:selected=move || size.get() == one>{shown}</option> }
        })
        .collect();
    let choices: Vec<_> = INTERVALS
        .into_iter()
        .map(|(value, one, shown)| {
            view! { <option value=value prop:selected=move || interval.get() == one>{shown}</option> }
        })
        .collect();
    let choose_size = move |event| {
        if let Ok(chosen) = event_target_value(&event).parse() {
            set_size.set(chosen);
        }
    };
    let choose_interval = move |event| {
        let value = event_target_value(&event);
        let chosen = INTERVALS.into_iter().find(|(name, ..)| *name == value);
        set_interval.set(chosen.map_or(Interval::Hour, |(_, interval, _)| interval));
    };
    view! {
        <form class="controls" on:submit=|event| event.prevent_default()>
            <label>"Size sold" <select on:change=choose_size>{sizes}</select></label>
            <label>"Interval" <select on:change=choose_interval>{choices}</select></label>
        </form>
    }
}

/// The requested series, once it has loaded.
#[component]
fn SeriesLoader(
    of: Memo<HistoryOf>,
    sells: Memo<String>,
    closures: Memo<Vec<Closure>>,
    set_period: WriteSignal<Between>,
) -> impl IntoView {
    let history = LiveQuery::new(
        move || of.get(),
        |of| {
            let client = client();
            async move { client.history(&of).await }
        },
    );
    let retry = history.again();
    move || {
        match history.answer(&of.get()) {
        None => view! { <LoadingNotice what="the series"/> }.into_any(),
        Some(Err(error)) => view! { <FailureNotice error=error retry=retry/> }.into_any(),
        Some(Ok(history)) if history.rows.is_empty() => {
            view! { <Empty words="No slots are recorded in this period.".to_owned()/> }.into_any()
        }
        Some(Ok(history)) => {
            view! { <Series history=history size=of.get().size sells=sells closures=closures set_period=set_period/> }
                .into_any()
        }
    }
    }
}

/// The worst of the requested period, once it has loaded.
#[component]
fn WorstOf(of: Memo<HistoryOf>, sells: Memo<String>) -> impl IntoView {
    let stress = LiveQuery::new(
        move || of.get(),
        |of| {
            let client = client();
            async move { client.stress(&of, None).await }
        },
    );
    let retry = stress.again();
    move || match stress.answer(&of.get()) {
        None => view! { <LoadingNotice what="the worst of the period"/> }.into_any(),
        Some(Err(error)) => view! { <FailureNotice error=error retry=retry/> }.into_any(),
        Some(Ok(stress)) => {
            view! { <Worst stress=stress size=of.get().size sells=sells/> }.into_any()
        }
    }
}
