//! A published gap with the state of its check: unchecked, until the reader checks it.

use core::time::Duration;

use exitgap_client::Options;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use crate::check::{CheckState, PublishedGap};
use crate::later;
use crate::paths::evidence_href;
use crate::service::client;
use crate::text;

/// The longest pause to wait for if the service asks for one while many numbers are checked.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// The state of a number, in a word. A number in a list shows none before it is checked, because the list shows it
/// once.
#[component]
fn StandingMark(
    standing: RwSignal<CheckState>,
    href: Option<String>,
    alone: bool,
) -> impl IntoView {
    move || match standing.get() {
        CheckState::NotChecked => {
            alone.then(|| view! { <span class="standing">"not checked here"</span> }).into_any()
        }
        CheckState::Checking => {
            view! { <span class="standing" role="status">"checking…"</span> }.into_any()
        }
        CheckState::Confirmed => {
            view! { <span class="standing pass">"confirmed here"</span> }.into_any()
        }
        CheckState::Refuted(why) => {
            let evidence =
                href.clone().map(|href| view! { " "<a href=href>"Open its evidence"</a> });
            view! { <span class="standing fail" role="alert">"refuted: "{why}{evidence}</span> }
                .into_any()
        }
        CheckState::Failed(why) => {
            view! { <span class="standing warn">"could not check: "{why}</span> }.into_any()
        }
    }
}

/// A number with a link to the evidence of a sale.
pub fn link_evidence(shown: String, href: Option<String>) -> AnyView {
    match href {
        Some(href) => {
            view! { <a href=href title="Open the evidence of this sale">{shown}</a> }.into_any()
        }
        None => shown.into_any(),
    }
}

/// Whether it still needs checking.
fn is_open(standing: &CheckState) -> bool {
    matches!(standing, CheckState::NotChecked | CheckState::Failed(_))
}

/// A published number, with a link to its evidence and the state of its check.
#[component]
pub fn CheckedGap(
    /// The number, with everything it claims to be about.
    published: PublishedGap,
    /// The state of its check; owned by the page, so that it can check many.
    standing: RwSignal<CheckState>,
    /// Whether it has a check button of its own; lists share one, [`CheckAll`].
    #[prop(optional)]
    alone: bool,
) -> impl IntoView {
    let href = evidence_href(&published.evidence_url);
    let shown = text::percent_read(&published.exit_gap_pct);
    let exact = format!("Exactly {}. Open its evidence", text::percent(&published.exit_gap_pct));
    let linked = match href.clone() {
        Some(href) => view! { <a href=href title=exact><b>{shown}</b></a> }.into_any(),
        None => view! { <b>{shown}</b> }.into_any(),
    };
    let check = alone.then(|| view! { <CheckOne published=published standing=standing/> });
    view! {
        <span class="checked-gap">
            {linked}
            <StandingMark standing=standing href=href alone=alone/>
            {check}
        </span>
    }
}

/// Checks one number.
#[component]
fn CheckOne(published: PublishedGap, standing: RwSignal<CheckState>) -> impl IntoView {
    let client = client();
    let start = move |_| {
        if !standing.try_with_untracked(is_open).unwrap_or(false) {
            return;
        }
        standing.set(CheckState::Checking);
        let (client, published) = (client.clone(), published.clone());
        // The reader may have left the page meanwhile.
        spawn_local(async move { drop(standing.try_set(later::gap(&client, &published).await)) });
    };
    // The button stays in place, so that the keyboard focus is not lost.
    let closed = move || (!standing.with(is_open)).to_string();
    let word = move || match standing.get() {
        CheckState::NotChecked | CheckState::Checking => "check",
        CheckState::Failed(_) => "check again",
        CheckState::Confirmed | CheckState::Refuted(_) => "checked",
    };
    view! { <button type="button" class="small" aria-disabled=closed on:click=start>{word}</button> }
}

/// Checks all visible numbers that are not checked yet, one after the other.
#[component]
pub fn CheckAll(
    /// The numbers, with the states of their checks.
    published: Vec<(PublishedGap, RwSignal<CheckState>)>,
) -> impl IntoView {
    let patient = Options { longest_pause: LONGEST_PAUSE, ..Options::default() };
    let client = client().with_options(patient);
    let stand: Vec<_> = published.iter().map(|(_, standing)| *standing).collect();
    let told = move || {
        let of = |wanted: fn(&CheckState) -> bool| {
            stand.iter().filter(|standing| standing.with(wanted)).count()
        };
        let (all, confirmed) = (stand.len(), of(|one| *one == CheckState::Confirmed));
        if of(|one| *one == CheckState::NotChecked) == all {
            return "no gap is checked here yet".to_owned();
        }
        format!("{confirmed} of {all} confirmed here")
    };
    let start = move |_| {
        let (client, published) = (client.clone(), published.clone());
        spawn_local(async move {
            for (published, standing) in published {
                match standing.try_with_untracked(is_open) {
                    Some(true) => {}
                    Some(false) => continue,
                    // The reader has left the page.
                    None => return,
                }
                standing.set(CheckState::Checking);
                let found = later::gap(&client, &published).await;
                drop(standing.try_set(found));
            }
        });
    };
    view! {
        <span class="actions">
            <button type="button" on:click=start>"Check every gap in view"</button>
            <span class="standing" role="status">{told}</span>
        </span>
    }
}
