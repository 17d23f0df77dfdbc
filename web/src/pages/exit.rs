//! "I hold this much of this token: where and when should I sell, and can I trust the answer?"

use leptos::prelude::*;
use leptos_router::hooks::{query_signal_with_options, use_params_map, use_query_map};

use super::exit_cash::InCash;
use super::exit_comparison::{Comparison, ExitQuery, compare};
use super::exit_numbers::Numbers;
use super::exit_venues::Venues;
use super::exit_wait::Wait;
use super::exit_when::When;
use super::pool_size::in_place;
use crate::parts::{AskExit, FailureNotice, LiveQuery, LoadingNotice, PreviewNotice};
use crate::service::client;
use crate::text;

/// If the newest slot is older than this, seconds, it is not current: two slots should have followed it.
const OLD_S: u64 = 600;

/// The page. Its address contains the whole request: token, size, what to sell for, limit, and the venue shown over
/// time.
#[component]
pub fn ExitPage() -> impl IntoView {
    let (params, query) = (use_params_map(), use_query_map());
    let asked = Memo::new(move |_| {
        let token = params.read().get("token").unwrap_or_default();
        let query = query.read();
        let into = query.get("into").filter(|into| !into.is_empty());
        ExitQuery::parse(&token, &query.get("size_usd").unwrap_or_default(), into)
    });
    let found = LiveQuery::new(
        move || asked.get(),
        |asked| {
            let client = client();
            async move { compare(&client, &asked?).await }
        },
    );
    let retry = found.again();
    let (_, set_into) = query_signal_with_options::<String>("into", in_place());
    view! {
        <h1>"Where and when to exit"</h1>
        <AskExit/>
        <InCash asked=asked/>
        {move || match found.answer(&asked.get()) {
            None => view! { <LoadingNotice what="the venues"/> }.into_any(),
            Some(Err(error)) => {
                // The required end token may be the reason for the failure. The form above still contains it; the
                // button removes it.
                let named = query.read().get("into").is_some();
                let without = named.then(|| view! { <p><button type="button" id="into-any" on:click=move |_| set_into.set(None)>"Allow any token"</button></p> });
                view! { <FailureNotice error=error retry=retry/>{without} }.into_any()
            }
            Some(Ok(comparison)) => view! { <ComparisonView comparison=comparison/> }.into_any(),
        }}
    }
}

/// Renders the comparison.
#[component]
fn ComparisonView(comparison: Comparison) -> impl IntoView {
    let refused = comparison.refused.clone().map(|why| {
        let size = text::usd_exact(&comparison.size.to_string());
        view! {
            <div class="refused" role="status" id="beyond">
                <p><strong>"All recorded venues together cannot fill this size."</strong>" "{text::grouped_within(&why)}</p>
                <p>{format!("The figures below are for {size}, the most that they can fill. Each venue links to the proof that it cannot fill your size.")}</p>
            </div>
        }
    });
    let slot = format!(
        "Recorded {} ({} ago) · {} days of history",
        text::instant(&comparison.slot_time),
        text::age(comparison.age_s),
        comparison.days_observed,
    );
    let stale = (comparison.oracle_state != "fresh").then(|| {
        let words = format!("An oracle price is {}.", comparison.oracle_state.replace('_', " "));
        view! { <p class="standing warn">{words}</p> }
    });
    let old = (comparison.age_s > OLD_S).then(|| {
        let age = text::age(comparison.age_s);
        view! { <p class="standing warn">{format!("The newest recorded slot is {age} old. A sale now may fill at a different price.")}</p> }
    });
    let comparison = StoredValue::new(comparison);
    view! {
        <PreviewNotice shown=comparison.read_value().preview/>
        {refused}
        <p class="quiet">{slot}</p>
        {stale}
        {old}
        <Numbers comparison=comparison/>
        <Venues comparison=comparison/>
        <When comparison=comparison/>
        <Wait comparison=comparison/>
    }
}
