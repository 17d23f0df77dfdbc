//! Amounts below each other, with a rule at the one that the others are held against.

use leptos::prelude::*;

use super::geometry::{Scale, extent, length};
use super::plane::Paper;

/// An amount: what it is, how much, and in digits with its unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// What it is.
    pub name: String,
    /// How long the bar is; none where the amount is not known.
    pub value: Option<f64>,
    /// Its colour: a class of the style sheet.
    pub class: &'static str,
    /// The amount as it was published.
    pub shown: String,
}

/// The height of a name with its bar.
const STEP: f64 = 40.0;
const EDGE: f64 = 12.0;

/// The picture. What stands in it is a table's beside it: it is not read aloud.
#[component]
pub fn Bars(
    /// What the picture shows, in words.
    title: String,
    /// The amounts; the rule is at the first.
    bars: Vec<Bar>,
) -> impl IntoView {
    let wide = Paper::for_screen().width();
    let all = bars.iter().filter_map(|bar| bar.value).chain([0.0]);
    let across = Scale::new(extent(all).unwrap_or((0.0, 1.0)), (EDGE, wide - EDGE));
    let high = EDGE + STEP * f64::from(u32::try_from(bars.len()).unwrap_or(1));
    let rule = bars.first().and_then(|bar| bar.value).map(|value| {
        let x = length(across.at(value));
        // Beside each bar and not through the words above it.
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
