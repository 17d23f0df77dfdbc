//! Slippage, drawn.

use leptos::prelude::*;

use crate::chart::{Line, LineChart, parsed};
use crate::text;

/// Slippage by size of a snapshot, drawn: sizes from 1,000 USD up to what the pool fills.
#[component]
pub fn Drawn(
    /// Size in words and gap in digits.
    points: Vec<(String, String)>,
) -> impl IntoView {
    let (places, shown): (Vec<_>, Vec<_>) = points.into_iter().unzip();
    let values = shown.iter().map(|gap| parsed(gap)).collect();
    let shown = shown.iter().map(|gap| text::percent(gap)).collect();
    let line =
        Line { name: "exit gap".to_owned(), class: "line-a", values, others: Vec::new(), shown };
    let title = "Exit gap by size (% below the oracle price, log scale)".to_owned();
    view! { <LineChart title=title places=places lines=vec![line] unit="%"/> }
}
