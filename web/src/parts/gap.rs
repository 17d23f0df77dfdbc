//! A published gap with its standing: not checked here, until the reader checks it.

use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use crate::app::client;
use crate::check::{self, Standing};
use crate::paths::evidence_href;

/// How a number stands, in a word.
#[component]
pub fn StandingMark(
    /// How.
    #[prop(into)]
    standing: Signal<Standing>,
) -> impl IntoView {
    move || match standing.get() {
        Standing::NotChecked => {
            view! { <span class="standing">"not checked here"</span> }.into_any()
        }
        Standing::Checking => {
            view! { <span class="standing" role="status">"checking…"</span> }.into_any()
        }
        Standing::Confirmed => {
            view! { <span class="standing pass">"confirmed here"</span> }.into_any()
        }
        Standing::Refuted(why) => {
            view! { <span class="standing fail" role="alert">"does not hold: "{why}</span> }
                .into_any()
        }
        Standing::Failed(why) => {
            view! { <span class="standing warn" >"could not check: "{why}</span> }.into_any()
        }
    }
}

/// A number that the service published, with a link to its evidence and a way to check it here.
#[component]
pub fn CheckedGap(
    /// The number, as published.
    published: String,
    /// The number, as shown.
    shown: String,
    /// Its evidence.
    evidence_url: String,
    /// How it stands; kept by the page, so that it can check many.
    standing: RwSignal<Standing>,
) -> impl IntoView {
    let href = evidence_href(&evidence_url);
    let client = client();
    let start = move |_| {
        standing.set(Standing::Checking);
        let (client, url, published) = (client.clone(), evidence_url.clone(), published.clone());
        spawn_local(async move { standing.set(check::gap(&client, &url, &published).await) });
    };
    let linked = match href {
        Some(href) => {
            view! { <a href=href title="Open its evidence"><b>{shown}</b></a> }.into_any()
        }
        None => view! { <b>{shown}</b> }.into_any(),
    };
    let idle = move || standing.get() == Standing::NotChecked;
    view! {
        <span class="checked-gap">
            {linked}
            <StandingMark standing=standing/>
            <Show when=idle>
                <button type="button" class="small" on:click=start.clone()>"check"</button>
            </Show>
        </span>
    }
}

/// A number to check: its evidence, its digits, and how it stands.
pub type Published = (String, String, RwSignal<Standing>);

/// Checks all numbers in view, one after the other.
#[component]
pub fn CheckAll(
    /// The numbers.
    published: Vec<Published>,
) -> impl IntoView {
    let client = client();
    let start = move |_| {
        let (client, published) = (client.clone(), published.clone());
        spawn_local(async move {
            for (url, digits, standing) in published {
                if standing.get_untracked() == Standing::NotChecked {
                    standing.set(Standing::Checking);
                    standing.set(check::gap(&client, &url, &digits).await);
                }
            }
        });
    };
    view! { <button type="button" class="small" on:click=start>"Check every gap in view"</button> }
}
