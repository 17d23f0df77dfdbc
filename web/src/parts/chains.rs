//! A selector for the chains of this deployment.

use leptos::prelude::*;

use super::LiveQuery;
use crate::service::client;

/// Selects one chain, or all (an empty text). The selected one is always listed, whatever it is.
#[component]
pub fn Chains(
    /// The selected chain.
    #[prop(into)]
    chosen: Signal<String>,
    /// Receives a new selection.
    choose: Callback<String>,
) -> impl IntoView {
    let known = LiveQuery::new(
        || (),
        |()| {
            let client = client();
            async move { client.capabilities().await.map(|told| told.chains) }
        },
    );
    let chips = move || {
        let told = known.answer(&()).and_then(Result::ok).unwrap_or_default();
        let mut chains: Vec<String> = told.into_iter().map(|one| one.chain).collect();
        let now = chosen.get();
        if !now.is_empty() && !chains.contains(&now) {
            chains.push(now);
        }
        chains.insert(0, String::new());
        let chip = |chain: String| {
            let shown = if chain.is_empty() { "all chains".to_owned() } else { chain.clone() };
            let of = chain.clone();
            let pressed = move || (*chosen.read() == of).to_string();
            let choose = move |_| choose.run(chain.clone());
            view! { <button type="button" class="chip" aria-pressed=pressed on:click=choose>{shown}</button> }
        };
        chains.into_iter().map(chip).collect_view()
    };
    view! { <div class="chips" role="group" aria-label="Chain">{chips}</div> }
}
