//! What a gap is made of.

use exitgap_api::SplitPct;
use leptos::prelude::*;

use crate::chart::{length, parsed};
use crate::text::percent;

/// As the picture's `viewBox` says.
const WIDTH: f64 = 600.0;

/// Basis, fee and impact, in words and as parts of a bar.
#[component]
pub fn Split(
    /// The parts.
    split: SplitPct,
) -> impl IntoView {
    let parts = [
        ("basis", split.basis_pct, "the pool's mid price against the oracle", "line-a"),
        ("fee", split.fee_pct, "what the pool charges", "line-b"),
        ("impact", split.impact_pct, "what moving the price costs", "line-c"),
    ];
    let share = |text: &str| parsed(text).unwrap_or(0.0).max(0.0);
    let whole: f64 = parts.iter().map(|(_, part, ..)| share(part.as_str())).sum::<f64>().max(1e-9);
    let mut start = 0.0;
    let bars: Vec<_> = parts
        .iter()
        .map(|(_, part, _, class)| {
            let width = share(part.as_str()) / whole * WIDTH;
            let x = start;
            start += width;
            view! { <rect class=format!("fill {class}") x=length(x) y="0" width=length(width) height="14"/> }
        })
        .collect();
    let words: Vec<_> = parts
        .iter()
        .map(|(name, part, meaning, class)| {
            view! {
                <div>
                    <dt><span class=format!("swatch {class}")></span>{*name}</dt>
                    <dd><b>{percent(part.as_str())}</b>" "<span class="quiet">{*meaning}</span></dd>
                </div>
            }
        })
        .collect();
    view! {
        <svg class="split" viewBox="0 0 600 14" preserveAspectRatio="none" aria-hidden="true">
            {bars}
        </svg>
        <dl class="split-words">{words}</dl>
        <p class="quiet">
            "The parts multiply: (1 − basis)(1 − fee)(1 − impact) is what is left. A negative part is to the seller's \
             advantage."
        </p>
    }
}
