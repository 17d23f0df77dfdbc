//! Components for numbers: a headline number, a number with all its digits on hover, and a chart of slippage.

use leptos::prelude::*;

use crate::chart::{Line, LineChart, parse_number};
use crate::text;

/// A card.
#[component]
pub fn Card(
    /// The number's name.
    #[prop(into)]
    name: String,
    /// A control next to the name.
    #[prop(optional)]
    extra: Option<AnyView>,
    /// The number, with its evidence if there is any.
    value: AnyView,
    /// An explanation of the number.
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

/// A rounded value with the exact one: on hover, and as the accessible label.
pub fn exact(shown: String, digits: String) -> AnyView {
    if shown == digits {
        return shown.into_any();
    }
    view! { <span class="exact" title=digits>{shown}</span> }.into_any()
}

/// A chart of a snapshot's slippage by size: from 1,000 USD up to what the pool can fill.
#[component]
pub fn Drawn(
    /// The size as text, and the gap in digits.
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
