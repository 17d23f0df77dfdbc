//! A sparkline: a few values in a row, as small as a word.

use leptos::prelude::*;

use super::geometry::{Scale, extent, length, parse_number, path};
use crate::text;

/// The size in the chart's `viewBox`.
const WIDTH: f64 = 96.0;
const HEIGHT: f64 = 26.0;
const EDGE: f64 = 3.0;

/// Values of consecutive days, the newest last.
#[component]
pub fn Spark(
    /// The digits, or `None` if the day has no value.
    values: Vec<Option<String>>,
) -> impl IntoView {
    let numbers: Vec<Option<f64>> =
        values.iter().map(|value| parse_number(value.as_ref()?)).collect();
    let Some((_, high)) = extent(numbers.iter().flatten().copied()) else {
        return view! { <span class="none">"none"</span> }.into_any();
    };
    let last = f64::from(u32::try_from(numbers.len()).unwrap_or(1)) - 1.0;
    let across = Scale::new((0.0, last.max(1.0)), (EDGE, WIDTH - EDGE));
    let up = Scale::new((0.0, high), (HEIGHT - EDGE, EDGE));
    let places = (0_u32..).map(|index| across.at(f64::from(index)));
    let points: Vec<_> =
        places.zip(&numbers).map(|(x, value)| value.map(|value| (x, up.at(value)))).collect();
    let end = points.iter().flatten().next_back().copied();
    let words =
        values.into_iter().map(|value| value.map_or("none".to_owned(), |text| text::usd(&text)));
    let label =
        format!("Lowest depth by day, newest last: {}", words.collect::<Vec<_>>().join(", "));
    let spoken = label.clone();
    view! {
        <svg class="spark" viewBox="0 0 96 26" width="96" height="26" role="img" aria-label=spoken>
            <title>{label}</title>
            <path class="line-a" d=path(points.into_iter()) fill="none"/>
            {end.map(|(cx, cy)| view! { <circle class="line-a" cx=length(cx) cy=length(cy) r="2.5"/> })}
        </svg>
    }
    .into_any()
}
