//! The reader's own rules: their states and events, with evidence; visible to anyone with the link.

use exitgap_api::operations::{Operation, parameters};
use leptos::prelude::*;

use crate::kept_rules::{
    KeptEvents, KeptRule, in_words, keep_token, list, request_owned, ticket, token,
};
use crate::parts::{Empty, FailureNotice, LiveQuery, LoadingNotice, Table, link_evidence, words};
use crate::paths::{Page, evidence_href};
use crate::service::{client, on_evaluated};
use crate::text;

/// Maximum number of events shown per rule.
const SHOWN: u32 = 1_000;

/// The page.
#[component]
pub fn AlertsPage() -> impl IntoView {
    let shown = RwSignal::new(token());
    let rules = LiveQuery::new(move || shown.get(), |token| list(client(), token));
    let again = rules.again();
    // Unchanged content is not rendered again.
    let found = Memo::new(move |_| rules.answer(&shown.get()));
    let tickets = LiveQuery::new(move || shown.get(), |token| ticket(client(), token));
    Effect::new(move || {
        if let Some(Some(ticket)) = tickets.answer(&shown.get()) {
            on_evaluated(&ticket, move || rules.renew());
        }
    });
    let forget = move |_| {
        keep_token("");
        let _ = window().location().set_hash("");
        shown.set(None);
    };
    view! {
        <h1>"Alerts"</h1>
        <p class="lead">"Alerts stored by this service, checked every five minutes. Anyone with the rule and the public log can reproduce \
            the result. Create an alert on a pool's page."</p>
        {move || match found.get() {
            None => view! { <LoadingNotice what="your alerts"/> }.into_any(),
            Some(Err(error)) => view! { <FailureNotice error=error retry=again/> }.into_any(),
            Some(Ok(rules)) if rules.is_empty() => {
                let words = "No alerts yet. If you created some in another browser, open your alerts link here.".to_owned();
                view! { <Empty words=words/> }.into_any()
            }
            Some(Ok(rules)) => {
                let rules: Vec<_> = rules
                    .into_iter()
                    .map(|rule| view! { <OneRule rule=rule token=shown again=again/> })
                    .collect();
                view! { {rules} }.into_any()
            }
        }}
        {move || shown.get().map(|token| {
            let link = format!("{}#{token}", Page::Alerts.href());
            view! {
                <p class="quiet">
                    <a href=link rel="external">"Your alerts link"</a>
                    ": anyone with this link can view and delete them. It is stored only in this browser. "
                    <button type="button" on:click=forget>"Remove from this browser"</button>
                </p>
            }
        })}
    }
}

/// One rule.
#[component]
fn OneRule(rule: KeptRule, token: RwSignal<Option<String>>, again: Callback<()>) -> impl IntoView {
    let name = rule.alert.clone();
    let (asked, of) = (name.clone(), rule.last_seq);
    let after = of.saturating_sub(SHOWN);
    let events = LiveQuery::new(
        move || (asked.clone(), of),
        move |(name, _)| {
            let target = Operation::AlertEvents.target_of(name).with(&parameters::AFTER_SEQ, after);
            let target = target.with(&parameters::LIMIT, SHOWN);
            request_owned::<KeptEvents>(client(), target, token.get_untracked(), None)
        },
    );
    let ended = rule.ended.clone();
    let standing = ended.clone().unwrap_or_else(|| rule.state.standing.clone());
    let class = if standing == "firing" { "tag preview" } else { "tag" };
    let end = {
        let (name, client) = (name.clone(), client());
        move |_| {
            let client = client.clone();
            let (target, token) = (Operation::EndAlert.target_of(&name), token.get_untracked());
            leptos::task::spawn_local(async move {
                // If ending it failed, it is still in the list.
                drop(request_owned::<KeptRule>(client, target, token, None).await);
                again.run(());
            });
        }
    };
    let webhook = rule.webhook.clone().map(|webhook| {
        let why = webhook.last_failure.map(|why| format!(": {why}")).unwrap_or_default();
        let waiting = (webhook.pending > 0).then(|| format!(", {} pending", webhook.pending));
        format!("{} ({}{}{why})", webhook.url, webhook.state, waiting.unwrap_or_default())
    });
    let is_gap = rule.rule.kind == "gap_above";
    let (pool, id) = (Page::Pool(rule.pool.clone()).href(), name.clone());
    view! {
        <section id=id>
            <h2>{in_words(&rule.rule)}" "<span class=class>{standing}</span></h2>
            <p class="quiet">
                <a href=pool>{text::short_pool(&rule.pool)}</a>
                {webhook.map(|webhook| format!(" · sent to {webhook}"))}
                {format!(" · stored until {}", rule.expires)}
            </p>
            {move || match events.answer(&(name.clone(), of)) {
                None => view! { <LoadingNotice what="the events"/> }.into_any(),
                Some(Err(error)) => view! { <FailureNotice error=error/> }.into_any(),
                Some(Ok(told)) if told.events.is_empty() => {
                    view! { <Empty words="Not triggered yet.".to_owned()/> }.into_any()
                }
                Some(Ok(told)) => view! { <Said told=told is_gap=is_gap/> }.into_any(),
            }}
            {ended.is_none().then(|| view! { <p><button type="button" on:click=end>"Delete alert"</button></p> })}
        </section>
    }
}

/// Its events, the newest first.
#[component]
fn Said(told: KeptEvents, is_gap: bool) -> impl IntoView {
    let rows: Vec<_> = told
        .events
        .into_iter()
        .rev()
        .map(|kept| {
            let document = kept.event.document;
            let samples: Vec<_> = document
                .data
                .samples
                .into_iter()
                .map(|sample| {
                    let href = evidence_href(&sample.evidence_url);
                    let is_number = sample.value.ends_with(|last: char| last.is_ascii_digit());
                    let value = if is_gap && is_number {
                        text::percent(&sample.value)
                    } else {
                        sample.value
                    };
                    view! { {link_evidence(value, href)}" " }
                })
                .collect();
            let event = kept.event.r#type.trim_start_matches("alert.").replace('_', " ");
            let sent = kept.delivery.unwrap_or_else(|| "–".to_owned()).replace('_', " ");
            let cells = vec![event.into_any(), samples.into_any(), sent.into_any()];
            (text::instant(&document.timestamp).into_any(), cells)
        })
        .collect();
    let columns = ["Event", "Values", "Delivery"].map(words).into();
    view! { <Table first="Time" columns=columns rows=rows/> }
}
