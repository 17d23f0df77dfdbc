//! The frame around every page.

use leptos::prelude::*;
use leptos_router::components::{A, FlatRoutes, Route, Router};
use leptos_router::hooks::use_location;
use leptos_router::path;

use crate::later;
use crate::pages::board::Board;
use crate::pages::not_found::NotFound;
use crate::parts::Whose;
use crate::paths::{self, Page};
use crate::service;

/// The whole site.
#[component]
pub fn App() -> impl IntoView {
    let Some(client) = service::client_of_this_page() else {
        return view! { <p class="failed">"These pages must be served over HTTP."</p> }.into_any();
    };
    provide_context(client);
    let main = NodeRef::new();
    view! {
        <Router>
            <Arrival main=main/>
            <a class="skip" href="#content" on:click=move |event| {
                // Following the link would replace the URL fragment, which contains a portfolio.
                event.prevent_default();
                focus(main);
            }>"Skip to content"</a>
            <header>
                <A href=Page::Board.href() {..} class="brand">"exitgap"</A>
                <nav aria-label="Pages">
                    <A href=Page::Board.href() exact=true>"Board"</A>
                    <A href=Page::Risk.href()>"Risk"</A>
                    <A href=Page::Portfolio.href()>"Portfolio"</A>
                    <A href=Page::Alerts.href()>"Alerts"</A>
                    <A href=Page::Verify.href()>"Verify"</A>
                    <A href=Page::Method.href()>"How it works"</A>
                    <A href=Page::Capabilities.href()>"Capabilities"</A>
                    <a href="/docs" rel="external">"API"</a>
                </nav>
            </header>
            <main id="content" tabindex="-1" node_ref=main>
                <FlatRoutes fallback=NotFound>
                    <Route path=path!("/") view=Board/>
                    <Route path=path!("/pools/:pool") view=later::pool/>
                    <Route path=path!("/api/v1/exit/:pool") view=later::evidence/>
                    <Route path=path!("/exit/:token") view=later::exit/>
                    <Route path=path!("/risk") view=later::risk/>
                    <Route path=path!("/verify") view=later::verify/>
                    <Route path=path!("/portfolio") view=later::portfolio/>
                    <Route path=path!("/accuracy") view=later::accuracy/>
                    <Route path=path!("/equities") view=later::equities/>
                    <Route path=path!("/alerts") view=later::alerts/>
                    <Route path=path!("/capabilities") view=later::capabilities/>
                    <Route path=path!("/method") view=later::method/>
                </FlatRoutes>
            </main>
            <footer>
                <Whose/>
                <p>
                    "These pages load nothing from third parties and need no account. "
                    <a href="/third-party.txt" rel="external">"Licences"</a>
                    " of the packages they are built from."
                </p>
            </footer>
        </Router>
    }
    .into_any()
}

fn focus(main: NodeRef<leptos::html::Main>) {
    if let Some(main) = main.get_untracked() {
        let _ = main.focus();
    }
}

/// Runs when another page replaces the one that was served: sets its title, and moves the focus to its content for
/// users of screen readers or keyboards.
#[component]
fn Arrival(main: NodeRef<leptos::html::Main>) -> impl IntoView {
    let location = use_location();
    Effect::new(move |before: Option<String>| {
        let path = location.pathname.get();
        if before.is_some_and(|before| before != path) {
            paths::set_title(&paths::title_of(&path));
            focus(main);
        }
        path
    });
}
