//! Page not found.

use leptos::prelude::*;

/// The page.
#[component]
pub fn NotFound() -> impl IntoView {
    view! {
        <h1>"Page not found"</h1>
        <p>"The link may be mistyped. The "<a href="/">"board"</a>" lists all pools."</p>
    }
}
