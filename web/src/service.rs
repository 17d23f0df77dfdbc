//! The service behind these pages: its client, its stream of sealed slots, and its list of pools.

use exitgap_api::operations::parameters::POOL_CURSOR;
use exitgap_api::operations::{Operation, Target, parameters};
use exitgap_client::{BaseUrl, Browser, Client, ClientError};
use exitgap_core::ids::PoolId;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::EventSource;

use crate::document::Document;

/// The client of the service that served this page. Evidence and log are on the page's host; the API may have another
/// host, which the page then names.
pub fn client() -> Client<Browser> {
    expect_context()
}

/// The client for the page in this window; `None` if it was not served over HTTP.
pub fn client_of_this_page() -> Option<Client<Browser>> {
    let origin = window().location().origin().ok()?;
    let here: BaseUrl = origin.parse().ok()?;
    let api = document().query_selector("meta[name=exitgap-api]").ok().flatten();
    let api = api.and_then(|tag| tag.get_attribute("content")?.parse().ok());
    Some(Client::new(Browser, api.unwrap_or_else(|| here.clone())).with_web(here))
}

/// Calls a function for each sealed slot, as long as the page is open; with a pool, for each slot in which it has a
/// head. After a lost connection, missed slots follow. Does nothing if the browser does not support streams, or the
/// service rejects another one.
pub fn on_sealed(pool: Option<&PoolId>, then: impl Fn() + 'static) {
    let target = Operation::Stream.target();
    match pool {
        Some(pool) => listen(&target.with(&parameters::WATCHED, pool), "pool", then),
        None => listen(&target, "slot", then),
    }
}

/// The same for each slot with which the reader's rules were evaluated; `ticket` identifies the reader.
pub fn on_evaluated(ticket: &str, then: impl Fn() + 'static) {
    listen(&Operation::Stream.target().with(&parameters::TICKET, ticket), "slot", then);
}

fn listen(target: &Target, event: &str, then: impl Fn() + 'static) {
    let url = format!("{}{}", client().base(), target.as_str());
    let Ok(source) = EventSource::new(&url) else { return };
    let told = Closure::<dyn Fn()>::new(then);
    // Adding a listener for a named event cannot fail.
    let _ = source.add_event_listener_with_callback(event, told.as_ref().unchecked_ref());
    let held = StoredValue::new_local((source, told));
    on_cleanup(move || {
        held.try_with_value(|(source, _)| source.close());
    });
}

/// Maximum number of list pages to load for a selector.
const MOST_PAGES: usize = 4;

/// The pools on the list's first pages.
pub async fn listed_pools(client: &Client<Browser>) -> Result<Vec<Document>, ClientError> {
    let (mut pools, mut cursor) = (Vec::new(), None);
    for _ in 0..MOST_PAGES {
        let target = Operation::Pools.target().maybe(&POOL_CURSOR, cursor.as_ref());
        let list: Document = client.get_document(&target).await?;
        pools.extend(list.list("pools"));
        cursor = list.text("next_cursor");
        if cursor.is_none() {
            break;
        }
    }
    Ok(pools)
}

/// The name of a listed pool, from its tokens, venue and fee: untrusted text. `None` if it has no snapshot yet.
pub fn name_of(pool: &Document) -> Option<String> {
    let symbol = |side| Some(pool.part(side)?.text_or_none("symbol"));
    let (base, quote) = (symbol("base")?, symbol("quote")?);
    Some(format!("{base} for {quote}, {}", pool.text_or_none("name")))
}
