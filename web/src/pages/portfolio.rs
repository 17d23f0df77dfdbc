//! Several positions: those in pools are computed here and stay in this browser, tokens are planned by the service.

use core::time::Duration;

use exitgap_api::Problem;
use exitgap_api::operations::PositionAsked;
use leptos::prelude::*;
use leptos_router::hooks::use_location;

use super::portfolio_exits::{Found, Kept, compute, parse};
use super::portfolio_table::Exits;
use crate::parts::{DEFAULT, Empty, HoldingForm, LiveQuery, LoadingNotice, debounce_value};
use crate::service::client;

/// How long the reader must pause before the input is computed.
const PAUSE: Duration = Duration::from_millis(300);

/// The page.
#[component]
pub fn PortfolioPage() -> impl IntoView {
    let location = use_location();
    let in_address = Memo::new(move |_| lines_of(&location.hash.get()));
    let (text, set_text) = signal(lines_of(&window().location().hash().unwrap_or_default()));
    let typed = Memo::new(move |_| parse(&text.read()));
    let rested = debounce_value(typed, PAUSE);
    // Handles another address of this page, such as one pasted into the address bar.
    Effect::new(move |before: Option<String>| {
        let now = in_address.get();
        if before.is_some_and(|before| before != now) {
            set_text.set(now.clone());
        }
        now
    });
    Effect::new(move || {
        if let Ok(positions) = &*rested.read() {
            keep_in_address(positions);
        }
    });
    let kept = StoredValue::new(Kept::default());
    let found = LiveQuery::new(
        move || rested.get(),
        move |positions| {
            let (before, client) = (kept.get_value(), client());
            async move {
                let Ok(positions) = positions else { return Found::default() };
                let (found, now) = compute(&client, &positions, before).await;
                drop(kept.try_set_value(now));
                found
            }
        },
    );
    let retry = found.again();
    let add = Callback::new(move |(token, worth): (String, String)| {
        let line = format!("{}:{worth}", token.replacen(':', "/", 1));
        set_text.update(|text| {
            let before = text.trim_end().to_owned();
            *text = if before.is_empty() { line } else { format!("{before}\n{line}") };
        });
    });
    view! {
        <h1>"Portfolio"</h1>
        <p class="lead">"What you would receive for everything at once. Positions that name a pool stay in this browser: it computes them from \
            recorded snapshots, and the server learns only which pools you look at. Tokens are sold for cash in one plan, which \
            the server searches. If you enter a token, it receives all positions."</p>
        <HoldingForm held=Memo::new(|_| String::new()) size=Memo::new(|_| DEFAULT.to_owned()) action="Add position" go=add/>
        <label for="positions">"One position per line: "<code>"<pool>:<size_usd>"</code>", "<code>"<pool>/<base>:<size_usd>"</code>" or "<code>"<chain>/<token>:<size_usd>"</code>", which is sold for cash"</label>
        <textarea id="positions" rows="5" spellcheck="false" prop:value=move || text.get()
            on:input=move |event| set_text.set(event_target_value(&event))></textarea>
        {move || shown(typed.get(), found.answer(&typed.get()), retry)}
    }
}

fn shown(
    typed: Result<Vec<PositionAsked>, Problem>,
    found: Option<Found>,
    retry: Callback<()>,
) -> AnyView {
    match (typed, found) {
        (Err(problem), _) => {
            view! { <p class="refused" role="alert">{problem.detail}</p> }.into_any()
        }
        (Ok(positions), _) if positions.is_empty() => {
            let words = "No positions yet. Add some above.".to_owned();
            view! { <Empty words=words/> }.into_any()
        }
        (Ok(_), None) => view! { <LoadingNotice what="the snapshots"/> }.into_any(),
        (Ok(_), Some(found)) => view! { <Exits found=found retry=retry/> }.into_any(),
    }
}

/// The box's text from the address's fragment.
fn lines_of(fragment: &str) -> String {
    let text = fragment.trim_start_matches('#');
    let text = js_sys::decode_uri_component(text).map_or_else(|_| text.to_owned(), String::from);
    text.replace(',', "\n")
}

/// Writes the positions to the fragment, without a new history entry.
fn keep_in_address(positions: &[PositionAsked]) {
    let lines: Vec<String> = positions.iter().map(PositionAsked::to_written).collect();
    let Ok(path) = window().location().pathname() else { return };
    let address = if lines.is_empty() { path } else { format!("{path}#{}", lines.join(",")) };
    if let Ok(history) = window().history() {
        let state = history.state().unwrap_or_default();
        // Browsers reject too many updates; the next pause tries again.
        let _ = history.replace_state_with_url(&state, "", Some(&address));
    }
}
