//! Numbers: one that leads, one with all of its digits, and slippage drawn.

use leptos::prelude::*;

use crate::chart::{Line, LineChart, parse_number};
use crate::text;

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

/// What is shown, and what is exact: on hover, and as what the words are called to those who hear them.
pub fn exact(shown: String, digits: String) -> AnyView {
    if shown == digits {
        return shown.into_any();
    }
    view! { <span class="exact" title=digits>{shown}</span> }.into_any()
}

/// Slippage by size of a snapshot, drawn: sizes from 1,000 USD up to what the pool fills.
#[component]
pub fn Drawn(
    /// Size in words and gap in digits.
    points: Vec<(String, String)>,
) -> impl IntoView {
    let (places, shown): (Vec<_>, Vec<_>) = points.into_iter().unzip();
    let values = shown.iter().map(|gap| parse_number(gap)).collect();
    let shown = shown.iter().map(|gap| text::percent(gap)).collect();
    let line =
        Line { name: "exit gap".to_owned(), class: "line-a", values, others: Vec::new(), shown };
    let title = "Exit gap by size (% below the oracle price, log scale)".to_owned();
    view! { <LineChart title=title places=places lines=vec![line] unit="%"/> }
}
