//! The service that these pages ask.

use exitgap_client::{BaseUrl, Browser, Client};
use leptos::prelude::*;

/// The client of the service that served this page. Evidence and log are where the page is; the API
/// may have a host of its own, which the page then says.
pub fn client() -> Client<Browser> {
    expect_context()
}

/// The client of the page in this window; none where it was not served over HTTP.
pub fn client_of_this_page() -> Option<Client<Browser>> {
    let origin = window().location().origin().ok()?;
    let here: BaseUrl = origin.parse().ok()?;
    let api = document().query_selector("meta[name=exitgap-api]").ok().flatten();
    let api = api.and_then(|tag| tag.get_attribute("content")?.parse().ok());
    Some(Client::new(Browser, api.unwrap_or_else(|| here.clone())).with_web(here))
}
