//! The holder's form, "I hold this much of this token": on the front page, above an answer and for a portfolio.

use core::cmp::Reverse;

use exitgap_client::{Browser, Client, ClientError};
use leptos::prelude::*;
use leptos_router::hooks::{use_navigate, use_params_map, use_query_map};

use super::{FailureNotice, LiveQuery, LoadingNotice};
use crate::paths::Page;
use crate::service::{client, listed_pools};
use crate::text;

/// The default size.
pub const DEFAULT: &str = "100,000";

/// A token: its name in addresses of this site, and its display name.
type Held = (String, String);

/// Every token that a recorded pool sells: first the one that most pools sell by default, then by symbol.
async fn tokens(client: Client<Browser>) -> Result<Vec<Held>, ClientError> {
    let mut tokens: Vec<Held> = Vec::new();
    let mut sold_at: Vec<String> = Vec::new();
    for pool in listed_pools(&client).await? {
        let chain = pool.text_or_none("chain");
        for side in ["base", "quote"] {
            let Some(token) = pool.part(side) else { continue };
            let value = format!("{chain}:{}", token.text_or_none("address"));
            if side == "base" {
                sold_at.push(value.clone());
            }
            if !tokens.iter().any(|(one, _)| *one == value) {
                tokens.push((value, format!("{} on {chain}", token.text_or_none("symbol"))));
            }
        }
    }
    let pools = |value: &String| sold_at.iter().filter(|one| *one == value).count();
    tokens.sort_by_cached_key(|(value, words)| (Reverse(pools(value)), words.to_lowercase()));
    let twice = |words: &str, all: &[Held]| all.iter().filter(|(_, one)| one == words).count() > 1;
    let named = |(value, words): &Held| {
        let words = if twice(words, &tokens) {
            format!("{words}, {}", text::short_pool(value))
        } else {
            words.clone()
        };
        (value.clone(), words)
    };
    Ok(tokens.iter().map(named).collect())
}

/// The form, initialized from the address.
#[component]
pub fn AskExit() -> impl IntoView {
    let (params, query) = (use_params_map(), use_query_map());
    let held = Memo::new(move |_| params.read().get("token").unwrap_or_default());
    let size =
        Memo::new(move |_| query.read().get("size_usd").unwrap_or_else(|| DEFAULT.to_owned()));
    let navigate = use_navigate();
    let go = Callback::new(move |(token, worth): (String, String)| {
        let worth = String::from(js_sys::encode_uri_component(&worth));
        // Other parameters about the same token are kept.
        let same = params.read_untracked().get("token").as_deref() == Some(token.as_str());
        let into = query.read_untracked().get("into").filter(|_| same);
        let into = into.map(|into| format!("&into={}", js_sys::encode_uri_component(&into)));
        let into = into.unwrap_or_default();
        let href = format!("{}?size_usd={worth}{into}", Page::Exit(token).href());
        navigate(&href, leptos_router::NavigateOptions { scroll: false, ..Default::default() });
    });
    view! { <HoldingForm held=held size=size action="Compare exits" go=go/> }
}

/// The token and size inputs with a button.
#[component]
pub fn HoldingForm(
    /// The initially selected token, if any.
    held: Memo<String>,
    /// The initial text of the size box.
    size: Memo<String>,
    /// The button's label.
    action: &'static str,
    /// Receives token and size, as entered.
    go: Callback<(String, String)>,
) -> impl IntoView {
    let known = LiveQuery::new(|| (), |()| tokens(client()));
    let retry = known.again();
    let (picker, boxed) =
        (NodeRef::<leptos::html::Select>::new(), NodeRef::<leptos::html::Input>::new());
    let submit = move || {
        let (Some(picker), Some(boxed)) = (picker.get_untracked(), boxed.get_untracked()) else {
            return;
        };
        let (token, worth) = (picker.value(), boxed.value());
        if !token.is_empty() {
            go.run((token, worth.trim().to_owned()));
        }
    };
    move || match known.answer(&()) {
        None => view! { <LoadingNotice what="the tokens"/> }.into_any(),
        Some(Err(error)) => view! { <FailureNotice error=error retry=retry/> }.into_any(),
        Some(Ok(mut tokens)) => {
            let asked = held.get();
            if !asked.is_empty() && !tokens.iter().any(|(value, _)| *value == asked) {
                tokens.insert(0, (asked.clone(), text::short_pool(&asked)));
            }
            let option = |(value, words): Held| {
                let chosen = value == asked;
                view! { <option value=value selected=chosen>{words}</option> }
            };
            let options = tokens.into_iter().map(option).collect_view();
            view! {
                <form class="ask card" on:submit=move |event| {
                    event.prevent_default();
                    submit();
                }>
                    <label>"Token" <select id="held" node_ref=picker>{options}</select></label>
                    <label>"Amount (USD)" <input id="worth" type="text" inputmode="decimal" autocomplete="off"
                        node_ref=boxed prop:value=move || size.get()/></label>
                    <button type="submit" class="primary">{action}</button>
                </form>
            }
            .into_any()
        }
    }
}
