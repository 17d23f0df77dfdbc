//! The shell around every page.

use exitgap_client::{BaseUrl, Browser, Client};
use leptos::prelude::*;
use leptos_router::components::{A, Route, Router, Routes};
use leptos_router::path;

use crate::pages::board::Board;
use crate::pages::capabilities::CapabilitiesPage;
use crate::pages::evidence::EvidencePage;
use crate::pages::method::MethodPage;
use crate::pages::not_found::NotFound;
use crate::pages::pool::PoolPage;
use crate::pages::portfolio::PortfolioPage;
use crate::pages::verify::VerifyPage;
use crate::paths::Page;

/// The client of the service that served this page.
pub fn client() -> Client<Browser> {
    expect_context()
}

fn client_of_this_page() -> Option<Client<Browser>> {
    let origin = window().location().origin().ok()?;
    let base: BaseUrl = origin.parse().ok()?;
    Some(Client::new(Browser, base))
}

/// The whole site.
#[component]
pub fn App() -> impl IntoView {
    let Some(client) = client_of_this_page() else {
        return view! { <p class="failed">"These pages must be served over HTTP."</p> }.into_any();
    };
    provide_context(client);
    view! {
        <Router>
            <a class="skip" href="#content">"Skip to content"</a>
            <header>
                <A href=Page::Board.href() {..} class="brand">"exitgap"</A>
                <nav aria-label="Pages">
                    <A href=Page::Board.href() exact=true>"Board"</A>
                    <A href=Page::Portfolio.href()>"Portfolio"</A>
                    <A href=Page::Verify.href()>"Verify"</A>
                    <A href=Page::Method.href()>"How it works"</A>
                    <A href=Page::Capabilities.href()>"Capabilities"</A>
                    <a href="/docs" rel="external">"API"</a>
                </nav>
            </header>
            <main id="content" tabindex="-1">
                <Routes fallback=NotFound>
                    <Route path=path!("/") view=Board/>
                    <Route path=path!("/pools/:pool") view=PoolPage/>
                    <Route path=path!("/api/v1/exit/:pool") view=EvidencePage/>
                    <Route path=path!("/verify") view=VerifyPage/>
                    <Route path=path!("/portfolio") view=PortfolioPage/>
                    <Route path=path!("/capabilities") view=CapabilitiesPage/>
                    <Route path=path!("/method") view=MethodPage/>
                </Routes>
            </main>
            <footer>
                <p>
                    "Every number links to evidence that anyone can check, with no key and no trust in us. "
                    "Nothing on this page comes from anywhere but this server."
                </p>
            </footer>
        </Router>
    }
    .into_any()
}
