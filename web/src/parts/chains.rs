//! The chains of this deployment, to choose one of.

use leptos::prelude::*;

use super::LiveQuery;
use crate::service::client;

/// One of them is chosen, or all, which is no text. The chosen one is among them, whatever it is.
#[component]
pub fn Chains(
    /// The chain that is chosen.
    #[prop(into)]
    chosen: Signal<String>,
    /// What is done with another choice.
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
