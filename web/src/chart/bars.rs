//! Horizontal bars, with a line at the amount that the others are compared with.

use leptos::prelude::*;

use super::geometry::{Scale, extent, length};
use super::plane::Paper;

/// An amount: its name, its value, and its text with the unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// The name.
    pub name: String,
    /// The length of the bar; `None` if the amount is unknown.
    pub value: Option<f64>,
    /// A class of the style sheet that sets its colour.
    pub class: &'static str,
    /// The amount as published.
    pub shown: String,
}

/// The height of a name with its bar.
const STEP: f64 = 40.0;
const EDGE: f64 = 12.0;

/// The chart. It is not read aloud, because a table next to it has the same content.
#[component]
pub fn Bars(
    /// A description of the chart.
    title: String,
    /// The amounts; the line is at the first one.
    bars: Vec<Bar>,
) -> impl IntoView {
    let wide = Paper::for_screen().width();
    let all = bars.iter().filter_map(|bar| bar.value).chain([0.0]);
    let across = Scale::new(extent(all).unwrap_or((0.0, 1.0)), (EDGE, wide - EDGE));
    let high = EDGE + STEP * f64::from(u32::try_from(bars.len()).unwrap_or(1));
    let rule = bars.first().and_then(|bar| bar.value).map(|value| {
        let x = length(across.at(value));
        // At each bar, and not across the text above it.
        let beside = |row: u32| {
            let top = EDGE + STEP * f64::from(row);
            view! { <line class="cursor" x1=x.clone() x2=x.clone() y1=length(top + 14.0) y2=length(top + 34.0)/> }
        };
        (0..u32::try_from(bars.len()).unwrap_or(0)).map(beside).collect_view()
    });
    let rows = (0_u32..).zip(bars).map(|(row, Bar { name, value, class, shown })| {
        let top = EDGE + STEP * f64::from(row);
        let bar = value.map(|value| {
            let long = (across.at(value) - across.at(0.0)).max(1.0);
            view! { <rect class=format!("fill {class}") x=length(across.at(0.0)) y=length(top + 17.0) width=length(long) height="14" rx="2"/> }
        });
        view! { <text class="tick" x=length(EDGE) y=length(top + 11.0)>{format!("{name}: {shown}")}</text>{bar} }
    });
    let rows = rows.collect_view();
    view! {
        <figure class="chart">
            <figcaption>{title}</figcaption>
            <svg viewBox=format!("0 0 {} {}", length(wide), length(high + 4.0)) aria-hidden="true">{rows}{rule}</svg>
        </figure>
    }
    .into_any()
}
