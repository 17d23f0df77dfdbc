//! A chart of money over time: what is paid immediately, and what is paid later, after an uncertain time.

use leptos::prelude::*;

use super::geometry::{Scale, extent, length};
use super::plane::{Paper, label};
use crate::text;

/// A path that pays later.
#[derive(Debug, Clone, PartialEq)]
pub struct Later {
    /// Its name.
    pub name: String,
    /// The amount it pays, USD.
    pub usd: f64,
    /// The shortest and the longest time until then, seconds.
    pub wait_s: (f64, f64),
    /// A class of the style sheet that sets its colour.
    pub class: &'static str,
}

/// Approximate number of labels on the axis.
const TICKS: u32 = 4;

/// The chart: a step now, and for each path a band from its earliest to its latest payment.
#[component]
pub fn Payoff(
    /// A description of the chart.
    title: String,
    /// The amount paid immediately, USD.
    now: f64,
    /// The paths that pay later.
    ways: Vec<Later>,
) -> impl IntoView {
    let paper = Paper::for_screen();
    let longest = ways.iter().map(|way| way.wait_s.1).fold(1.0, f64::max);
    let span = extent(ways.iter().map(|way| way.usd).chain([now])).unwrap_or((0.0, 1.0));
    // Leave space below the minimum, so that a step visibly starts at zero.
    let room = ((span.1 - span.0) * 0.5).max(span.1 * 0.000_5);
    let up = Scale::with_round_ends((span.0 - room, span.1), (Paper::floor(), Paper::TOP), TICKS);
    let across = Scale::new((0.0, longest * 1.15), (Paper::LEFT, paper.right()));
    let (left, right, floor) = (across.at(0.0), paper.right(), Paper::floor());
    let ticks = up.ticks(TICKS).into_iter().map(|tick| {
        let at = up.at(tick);
        view! {
            <line class="rule" x1=length(left) x2=length(right) y1=length(at) y2=length(at)/>
            <text class="tick" x=length(Paper::LEFT - 8.0) y=length(at + 4.0) text-anchor="end">{format!("${}", label(tick))}</text>
        }
    });
    let ticks = ticks.collect_view();
    let (first, held) = (length(up.at(now)), length(left));
    let sold = format!("M{held} {}L{held} {first}L{} {first}", length(floor), length(right));
    let drawn = ways.iter().map(|way| {
        let (soon, late, top) = (across.at(way.wait_s.0), across.at(way.wait_s.1), up.at(way.usd));
        let (x, y) = (length(late), length(top));
        let step = format!("M{x} {}L{x} {y}L{} {y}", length(floor), length(right));
        let band = format!("spread {}", way.class);
        // From here on, waiting has paid more than selling immediately.
        let crossing = (way.usd > now).then(|| {
            view! { <circle class=format!("met {}", way.class) cx=x.clone() cy=length(up.at(now)) r="5"/> }
        });
        view! {
            <rect class=band x=length(soon) y=y.clone() width=length((late - soon).max(1.0)) height=length(floor - top)/>
            <path class=way.class d=step fill="none"/>
            {crossing}
        }
    });
    let drawn = drawn.collect_view();
    let named = ways.into_iter().map(|way| (way.class, way.name));
    let legend = [("line-a", "sold now".to_owned())].into_iter().chain(named);
    let legend = legend
        .map(|(class, words)| view! { <li><span class=format!("swatch {class}")></span>{words}</li> })
        .collect_view();
    let end = text::age(seconds(longest));
    view! {
        <figure class="chart">
            <figcaption>{title}</figcaption>
            <ul class="legend">{legend}</ul>
            <svg viewBox=paper.view_box() aria-hidden="true">
                {ticks}{drawn}<path class="line-a" d=sold fill="none"/>
                <text class="tick" x=length(left) y=length(floor + 18.0)>"now"</text>
                <text class="tick" x=length(across.at(longest)) y=length(floor + 18.0) text-anchor="middle">{end}</text>
            </svg>
        </figure>
    }
    .into_any()
}

/// Rounds to whole seconds.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it was read from a whole number"
)]
fn seconds(time: f64) -> u64 {
    time.max(0.0) as u64
}
