//! One number that leads, with what it is and what stands behind it.

use leptos::prelude::*;

/// A card.
#[component]
pub fn Card(
    /// What the number is.
    #[prop(into)]
    name: String,
    /// A control beside the name.
    #[prop(optional)]
    extra: Option<AnyView>,
    /// The number, with its evidence where it has one.
    value: AnyView,
    /// What it means, and of what it is.
    note: AnyView,
) -> impl IntoView {
    view! {
        <div class="card">
            <p class="name">{name}" "{extra}</p>
            <p class="value">{value}</p>
            <p class="note">{note}</p>
        </div>
    }
    .into_any()
}
