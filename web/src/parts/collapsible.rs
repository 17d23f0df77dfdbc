//! Sections that are open on wide screens and closed on a phone, where the main result should come first.

use leptos::prelude::*;

/// Maximum width of a phone's page: below it, the style sheet shows tables as cards.
const PHONE_PX: f64 = 640.0;

/// Whether the page is wider than a phone's.
fn is_wide() -> bool {
    let width = window().inner_width().ok().and_then(|width| width.as_f64());
    width.is_none_or(|width| width > PHONE_PX)
}

/// A collapsible part of a section, with a line to open it. Without `read`, it is closed everywhere, because few
/// readers need it.
pub fn render_collapsible(
    id: impl Into<String>,
    summary: &'static str,
    read: bool,
    shown: AnyView,
) -> impl IntoView {
    let id = id.into();
    let open = read && is_wide();
    view! { <details class="folded" id=id prop:open=open><summary>{summary}</summary>{shown}</details> }
}

/// A collapsible section, opened by its heading; it is open if the address names it.
#[component]
pub fn CollapsibleSection(
    /// Its id in the address, if it has one.
    #[prop(optional)]
    id: &'static str,
    /// Whether it is open on a phone, too.
    #[prop(optional)]
    open: bool,
    /// Its heading.
    #[prop(into)]
    title: String,
    /// Its content.
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
