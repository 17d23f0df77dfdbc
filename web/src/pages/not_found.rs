//! Nothing is at this address.

use leptos::prelude::*;

/// The page.
#[component]
pub fn NotFound() -> impl IntoView {
    view! {
        <h1>"Nothing is at this address"</h1>
        <p>"The link may be mistyped. The "<a href="/">"board"</a>" lists every pool."</p>
    }
}
