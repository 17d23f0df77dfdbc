//! A rule of the reader's own about this pool: tested on its history, and stored.

use core::time::Duration;

use exitgap_api::operations::{Operation, Target, parameters};
use exitgap_api::{
    History, HistoryRow, Interval, Problem, RowOrder, size_as_written, slot_at, usd_as_written,
};
use exitgap_client::{Browser, Client, ClientError, HistoryOf};
use exitgap_core::evidence::Base;
use exitgap_core::ids::PoolId;
use exitgap_core::units::SizeUsd;
use js_sys::{JSON, Object, Reflect};
use leptos::prelude::*;

use super::pool::base_name;
use crate::chart::{Line, LineChart, Mark, MarkNote, parse_number};
use crate::kept_rules::{Backtest, Event, Made, keep_token, request_owned, token};
use crate::parts::{FailureNotice, LiveQuery, LoadingNotice, debounce_value, size_asked};
use crate::paths::Page;
use crate::service::client;
use crate::text;

/// How long the reader must pause before a rule is tested.
const PAUSE: Duration = Duration::from_millis(500);

/// The available kinds: kind, description, meaning of its number, and initial number.
const KINDS: [(&str, &str, &str, &str); 3] = [
    ("gap_above", "the gap for this size is above", "Percent", "2"),
    ("depth_below", "depth at 2% is below", "USD", "100000"),
    ("missing", "slots are missing", "", ""),
];

/// A rule as the reader has entered it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RuleDraft {
    kind: &'static str,
    number: String,
    size: String,
    base: usize,
}

impl RuleDraft {
    /// Its members except the pool, by the names of the operation's parameters.
    /// Rejects an amount in dollars with two possible meanings: the service would parse `1.000` as one dollar.
    fn members(&self) -> Result<Vec<(&'static str, String)>, Problem> {
        let mut members =
            vec![("kind", self.kind.to_owned()), ("base", base_name(self.base).to_owned())];
        match self.kind {
            "gap_above" => {
                let size = size_asked(&self.size)?.to_string();
                members.extend([("size_usd", size), ("pct", self.number.clone())]);
            }
            "depth_below" => {
                members.push(("usd", usd_as_written("usd", &self.number)?.to_string()));
            }
            _ => {}
        }
        Ok(members)
    }

    /// The address at which it is tested.
    fn target(&self, pool: &PoolId) -> Result<Target, Problem> {
        let known = [
            &parameters::ALERT_KIND,
            &parameters::BASE,
            &parameters::ALERT_SIZE,
            &parameters::ALERT_PCT,
            &parameters::ALERT_USD,
        ];
        let add = |target: Target, (name, value): (&str, String)| {
            let parameter = known.into_iter().find(|one| one.name == name);
            target.maybe(parameter.unwrap_or(&parameters::BASE), parameter.map(|_| value))
        };
        Ok(self.members()?.into_iter().fold(Operation::AlertsOf.target_of(pool), add))
    }

    /// The body of the request to store it.
    fn body(&self, pool: &PoolId, webhook: &str) -> Result<String, Problem> {
        let object = Object::new();
        let webhook = (!webhook.is_empty()).then(|| ("webhook_url", webhook.to_owned()));
        let members =
            self.members()?.into_iter().chain([("pool", pool.to_string())]).chain(webhook);
        for (name, value) in members {
            // A plain object accepts every member.
            let _ = Reflect::set(&object, &name.into(), &value.into());
        }
        Ok(JSON::stringify(&object).map(String::from).unwrap_or_default())
    }
}

/// The section.
#[component]
pub fn PoolAlert(
    /// The pool.
    pool: PoolId,
    /// The token that is sold.
    base: Memo<usize>,
    /// The text of the size box.
    size: Memo<String>,
) -> impl IntoView {
    let opened = RwSignal::new(false);
    view! {
        <section id="alert">
            <h2>"Alerts"</h2>
            <details on:toggle=move |_| opened.set(true)>
                <summary>"Create an alert for this pool"</summary>
                {move || opened.get().then(|| view! { <RuleForm pool=pool.clone() base=base size=size/> })}
            </details>
        </section>
    }
}

#[component]
fn RuleForm(pool: PoolId, base: Memo<usize>, size: Memo<String>) -> impl IntoView {
    let kind = RwSignal::new(0_usize);
    let number = RwSignal::new(KINDS[0].3.to_owned());
    let webhook = RwSignal::new(String::new());
    let typed = Memo::new(move |_| RuleDraft {
        kind: KINDS[kind.get()].0,
        number: number.get(),
        size: size.get(),
        base: base.get(),
    });
    let wanted = debounce_value(typed, PAUSE);
    let tried = {
        let pool = pool.clone();
        LiveQuery::new(
            move || wanted.get(),
            move |wanted| {
                let pool = pool.clone();
                let client = client();
                async move { try_rule(&client, &pool, &wanted).await }
            },
        )
    };
    let retry = tried.again();
    let choose = move |event| {
        let chosen = event_target_value(&event);
        let place = KINDS.iter().position(|(kind, ..)| *kind == chosen).unwrap_or(0);
        kind.set(place);
        number.set(KINDS[place].3.to_owned());
    };
    let kinds: Vec<_> = KINDS
        .into_iter()
        .map(|(kind, words, ..)| view! { <option value=kind>{words}</option> })
        .collect();
    let unit = move || KINDS[kind.get()].2;
    view! {
        <form class="controls" on:submit=|event| event.prevent_default()>
            <label>"Alert when" <select on:change=choose>{kinds}</select></label>
            {move || (!unit().is_empty()).then(|| view! {
                <label>{unit()}
                    <input type="text" inputmode="decimal" autocomplete="off" id="alert-number" prop:value=move || number.get()
                        on:input=move |event| number.set(event_target_value(&event))/>
                </label>
            })}
            <label>"Webhook URL (optional)"
                <input type="url" autocomplete="off" id="alert-webhook" placeholder="https://…" prop:value=move || webhook.get()
                    on:input=move |event| webhook.set(event_target_value(&event))/>
            </label>
        </form>
        {move || match tried.answer(&wanted.get()) {
            None => view! { <LoadingNotice what="the backtest"/> }.into_any(),
            Some(Err(error)) => view! { <FailureNotice error=error retry=retry/> }.into_any(),
            Some(Ok((told, history))) => {
                view! { <BacktestView told=told history=history wanted=wanted.get()/> }.into_any()
            }
        }}
        <Keep pool=pool wanted=typed webhook=webhook/>
    }
}

/// The most pages of a history that are requested: 31 days of hours, also if each page is computed.
const PAGES: usize = 8;

/// The slots at which a rule would have triggered, and the gap of its size in the whole period of the test.
async fn try_rule(
    client: &Client<Browser>,
    pool: &PoolId,
    wanted: &RuleDraft,
) -> Result<(Backtest, History), ClientError> {
    let told: Backtest = client.get_document(&wanted.target(pool)?).await?;
    let base = Some(if wanted.base == 0 { Base::Token0 } else { Base::Token1 });
    let size = size_as_written(&wanted.size).unwrap_or(SizeUsd::STANDARD[2]);
    let (pool, interval, order) = (pool.clone(), Interval::Hour, RowOrder::Ascending);
    let (from, to) = (Some(told.from.clone()), Some(told.to.clone()));
    let mut of = HistoryOf { pool, base, size, interval, order, from, to, cursor: None };
    let mut history = client.history(&of).await?;
    for _ in 1..PAGES {
        let Some(cursor) = history.next_cursor.take() else { break };
        of.cursor = Some(cursor);
        let page = client.history(&of).await?;
        history.rows.extend(page.rows);
        history.next_cursor = page.next_cursor;
    }
    Ok((told, history))
}

/// A position of the chart: an hour, or a slot in which the alert would have fired.
struct ChartPlace {
    slot: u32,
    time: String,
    /// The gap: the worst of the hour, or that of the slot.
    gap: Option<String>,
    fires: bool,
}

/// The hours of the history and the slots in which the alert would have fired, ascending.
fn chart_places(told: &Backtest, history: &History, kind: &str) -> Vec<ChartPlace> {
    let hour = |row: &HistoryRow| {
        let slot = slot_at("time", &row.time).ok()?.number();
        let gap = row.worst.as_ref().and_then(|worst| worst.exit_gap_pct.as_ref());
        let gap = gap.map(|gap| gap.as_str().to_owned());
        Some(ChartPlace { slot, time: row.time.clone(), gap, fires: false })
    };
    let firing = |event: &Event| {
        // The samples of other rules are not gaps.
        let samples = event.document.data.samples.iter().filter(|_| kind == KINDS[0].0);
        let own = samples.into_iter().find(|sample| sample.slot == event.slot);
        let gap = own.map(|sample| sample.value.clone()).filter(|gap| parse_number(gap).is_some());
        let time = event.document.timestamp.clone();
        ChartPlace { slot: event.slot, time, gap, fires: true }
    };
    let fired = told.events.iter().filter(|event| event.r#type == "alert.firing").map(firing);
    let mut places: Vec<ChartPlace> = history.rows.iter().filter_map(hour).chain(fired).collect();
    places.sort_by_key(|place| (place.slot, place.fires));
    places
}

/// Renders a rule's backtest.
#[component]
fn BacktestView(told: Backtest, history: History, wanted: RuleDraft) -> impl IntoView {
    let at = chart_places(&told, &history, wanted.kind);
    let line = |name: &str, class, values: Vec<Option<f64>>, shown| Line {
        name: name.to_owned(),
        class,
        values,
        others: Vec::new(),
        shown,
    };
    let value = |place: &ChartPlace| place.gap.as_deref().and_then(parse_number);
    let shown = |place: &ChartPlace| place.gap.as_deref().map(text::percent).unwrap_or_default();
    let limit = (wanted.kind == KINDS[0].0).then(|| parse_number(&wanted.number)).flatten();
    let mut lines = vec![line(
        "exit gap, worst slot in the interval",
        "line-c",
        at.iter().map(value).collect(),
        at.iter().map(shown).collect(),
    )];
    if limit.is_some() {
        let words = text::percent(&wanted.number);
        lines.push(line("alert limit", "line-b", vec![limit; at.len()], vec![words; at.len()]));
    }
    let mark = |place: &ChartPlace| {
        let words =
            format!("the alert would have fired in the slot of {}", text::instant(&place.time));
        place.fires.then_some(MarkNote { mark: Mark::Fired, words }).into_iter().collect()
    };
    let marks: Vec<Vec<MarkNote>> = at.iter().map(mark).collect();
    let places = at.iter().map(|place| text::instant(&place.time)).collect();
    let size = text::usd(history.of.size_usd.as_str());
    let title = format!(
        "Exit gap (%) for a sale of {size} of {}, and when the alert would have fired",
        history.of.base
    );
    let times = match at.iter().filter(|place| place.fires).count() {
        0 => "The alert would not have fired".to_owned(),
        1 => "The alert would have fired once".to_owned(),
        many => format!("The alert would have fired {many} times"),
    };
    let period = format!("{} to {}", text::instant(&told.from), text::instant(&told.to));
    let short = history.next_cursor.is_some().then(|| {
        view! { <p class="quiet">"The chart ends before the period does."</p> }
    });
    view! {
        <p role="status">{format!("{times} from {period}. Current status: {}.", told.state.standing.replace('_', " "))}</p>
        <LineChart title=title places=places lines=lines unit="%" marks=marks/>
        {short}
    }
}

/// The button that stores it, and the secrets that are shown once.
#[component]
fn Keep(pool: PoolId, wanted: Memo<RuleDraft>, webhook: RwSignal<String>) -> impl IntoView {
    let made = RwSignal::new(None::<Result<Made, ClientError>>);
    let busy = RwSignal::new(false);
    let asker = client();
    let keep = move |_| {
        let body = match wanted.get_untracked().body(&pool, webhook.get_untracked().trim()) {
            Ok(body) => body,
            Err(problem) => return made.set(Some(Err(problem.into()))),
        };
        busy.set(true);
        let asked = request_owned::<Made>(
            asker.clone(),
            Operation::KeepAlert.target(),
            token(),
            Some(body),
        );
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            if let Ok(Made { token: Some(token), .. }) = &answer {
                keep_token(token);
            }
            // The reader may have left the page.
            let _ = busy.try_set(false);
            drop(made.try_set(Some(answer)));
        });
    };
    view! {
        <p><button type="button" id="keep-alert" disabled=move || busy.get() on:click=keep>"Create alert"</button></p>
        {move || made.get().map(|made| match made {
            Err(error) => view! { <FailureNotice error=error/> }.into_any(),
            Ok(made) => {
                let secret = made.webhook_secret.map(|secret| view! {
                    <p>"Verify webhook messages with this key. It is shown only once: "<code>{secret}</code></p>
                });
                view! {
                    <div role="status">
                        <p>"The alert was created and is checked in every slot from now on. "<a href=Page::Alerts.href()>"Your alerts"</a></p>
                        {secret}
                    </div>
                }.into_any()
            }
        })}
    }
}
