//! What is open where it fits and closed on a phone: there, what was asked for is read first, and the rest is a tap away.

use leptos::prelude::*;

/// As wide as a phone's page is at most: what the style sheet makes cards of.
const PHONE_PX: f64 = 640.0;

/// Whether the page is wider than a phone's.
fn is_wide() -> bool {
    let width = window().inner_width().ok().and_then(|width| width.as_f64());
    width.is_none_or(|width| width > PHONE_PX)
}

/// Within a section: a line to open it by. What is not `read` by most is closed everywhere.
pub fn render_collapsible(
    id: &'static str,
    summary: &'static str,
    read: bool,
    shown: AnyView,
) -> impl IntoView {
    let open = read && is_wide();
    view! { <details class="folded" id=id prop:open=open><summary>{summary}</summary>{shown}</details> }
}

/// A section of its own, which its heading opens; one that the address names is open.
#[component]
pub fn CollapsibleSection(
    /// What the address names it by, where it does.
    #[prop(optional)]
    id: &'static str,
    /// Whether it is open on a phone, too.
    #[prop(optional)]
    open: bool,
    /// Its heading.
    #[prop(into)]
    title: String,
    /// What it says.
    children: Children,
) -> impl IntoView {
    let named = window().location().hash().is_ok_and(|hash| hash.strip_prefix('#') == Some(id));
    let id = (!id.is_empty()).then_some(id);
    view! {
        <details class="folded" id=id prop:open=open || is_wide() || named>
            <summary><h2>{title}</h2></summary>
            {children()}
        </details>
    }
    .into_any()
}
