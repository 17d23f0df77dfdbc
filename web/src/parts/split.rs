//! The components of a gap.

use exitgap_api::SplitPct;
use leptos::prelude::*;

use super::exact;
use crate::chart::{length, parse_number, stack_parts};
use crate::text::{percent, percent_read};

/// The width in the chart's `viewBox`.
const WIDTH: f64 = 600.0;

/// Basis, fee and impact, as text and as parts of a bar.
#[component]
pub fn Split(
    /// The parts.
    split: SplitPct,
) -> impl IntoView {
    let parts = [
        ("basis", split.basis_pct, "pool mid price compared with the oracle price", "line-a"),
        ("fee", split.fee_pct, "charged by the pool", "line-b"),
        ("impact", split.impact_pct, "price impact of the sale", "line-c"),
    ];
    let shares = parts.each_ref().map(|(_, part, ..)| parse_number(part.as_str()).unwrap_or(0.0));
    let (places, zero) = stack_parts(&shares, WIDTH);
    let bar =
        |((x, width), (_, part, _, class)): ((f64, f64), &(_, exitgap_api::Number, _, &str))| {
            let gains = if part.as_str().starts_with('-') { " gains" } else { "" };
            let class = format!("fill {class}{gains}");
            view! { <rect class=class x=length(x) y="0" width=length(width) height="14"/> }
        };
    let bars: Vec<_> = places.into_iter().zip(&parts).map(bar).collect();
    let zero = (zero > 0.0).then(|| {
        view! { <line class="zero" x1=length(zero) x2=length(zero) y1="0" y2="14"/> }
    });
    let words: Vec<_> = parts
        .iter()
        .map(|(name, part, meaning, class)| {
            view! {
                <div>
                    <dt><span class=format!("swatch {class}")></span>{*name}</dt>
                    <dd><b>{exact(percent_read(part.as_str()), percent(part.as_str()))}</b>" "<span class="quiet">{*meaning}</span></dd>
                </div>
            }
        })
        .collect();
    view! {
        <svg class="split" viewBox="0 0 600 14" preserveAspectRatio="none" aria-hidden="true">
            {bars}{zero}
        </svg>
        <dl class="split-words">{words}</dl>
        <p class="quiet">
            "The parts multiply: the seller keeps (1 − basis)(1 − fee)(1 − impact). A negative part benefits the seller \
             and is drawn pale, to the left of the line."
        </p>
    }
}
