//! A scatter chart of pairs, with the line on which both values are equal.

use leptos::ev::{KeyboardEvent, PointerEvent};
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::geometry::{Scale, extent, length};
use super::plane::next_by_key;
use super::plane::{Paper, label};

/// A pair.
#[derive(Debug, Clone, PartialEq)]
pub struct Dot {
    /// The horizontal value.
    pub across: f64,
    /// The vertical value.
    pub up: f64,
    /// Its text.
    pub said: String,
}

/// Approximate number of labels on an axis.
const TICKS: u32 = 5;

/// The two scales of a chart.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Plane {
    across: Scale,
    up: Scale,
    width: f64,
}

impl Plane {
    /// Both scales include all values of both axes, so that the line of equal values is the diagonal.
    fn for_dots(paper: Paper, dots: &[Dot]) -> Self {
        let all = dots.iter().flat_map(|dot| [dot.across, dot.up]);
        let span = extent(all).unwrap_or((0.0, 1.0));
        let across = Scale::with_round_ends(span, (Paper::LEFT, paper.right()), TICKS);
        let up = Scale::with_round_ends(span, (Paper::floor(), Paper::TOP), TICKS);
        Self { across, up, width: paper.width() }
    }

    fn place(&self, dot: &Dot) -> (f64, f64) {
        (self.across.at(dot.across), self.up.at(dot.up))
    }

    /// The dot nearest to a position on the paper.
    fn nearest(&self, dots: &[Dot], (x, y): (f64, f64)) -> usize {
        let away = |dot: &Dot| {
            let (cx, cy) = self.place(dot);
            (cx - x).powi(2) + (cy - y).powi(2)
        };
        let found = dots.iter().enumerate().min_by(|a, b| away(a.1).total_cmp(&away(b.1)));
        found.map_or(0, |(index, _)| index)
    }

    fn axes(&self, unit: &'static str) -> impl IntoView + use<> {
        let (left, floor) = (length(Paper::LEFT), length(Paper::floor()));
        let beside = self.up.ticks(TICKS).into_iter().map(|tick| {
            let y = self.up.at(tick);
            let end = length(self.across.at(self.across.ticks(TICKS).last().copied().unwrap_or(tick)));
            view! {
                <line class="rule" x1=left.clone() x2=end y1=length(y) y2=length(y)/>
                <text class="tick" x=length(Paper::LEFT - 8.0) y=length(y + 4.0) text-anchor="end">{format!("{}{unit}", label(tick))}</text>
            }
        });
        let beside = beside.collect_view();
        let ticks = self.across.ticks(TICKS);
        let last = ticks.len().saturating_sub(1);
        let below = ticks.into_iter().enumerate().map(|(place, tick)| {
            let x = length(self.across.at(tick));
            // The last label would extend beyond the edge.
            let anchor = if place == last { "end" } else { "middle" };
            view! {
                <line class="rule" x1=x.clone() x2=x.clone() y1=length(Paper::TOP) y2=floor.clone()/>
                <text class="tick" x=x y=length(Paper::floor() + 18.0) text-anchor=anchor>{format!("{}{unit}", label(tick))}</text>
            }
        });
        view! { {beside}{below.collect_view()} }
    }

    /// The line of equal values, from the minimum to the maximum of both.
    fn equals(&self) -> impl IntoView + use<> {
        let ticks = self.across.ticks(TICKS);
        let ends = ticks.first().copied().zip(ticks.last().copied());
        ends.map(|(from, to)| {
            let [x1, x2] = [from, to].map(|value| length(self.across.at(value)));
            let [y1, y2] = [from, to].map(|value| length(self.up.at(value)));
            view! { <line class="zero" x1=x1 y1=y1 x2=x2 y2=y2/> }
        })
    }
}

/// The chart.
#[component]
pub fn Scatter(
    /// A description of the chart.
    title: String,
    /// The pairs, in the order in which keys select them.
    dots: Vec<Dot>,
    /// The unit after each value.
    unit: &'static str,
) -> impl IntoView {
    let paper = Paper::for_screen();
    let plane = Plane::for_dots(paper, &dots);
    let (chosen, choose) = signal(None::<usize>);
    let drawn = dots.iter().map(|dot| {
        let (x, y) = plane.place(dot);
        view! { <circle class="line-a dot" cx=length(x) cy=length(y) r="3"/> }
    });
    let drawn = drawn.collect_view();
    let last = dots.len().saturating_sub(1);
    let held = StoredValue::new(dots);
    let point = move |event: PointerEvent| {
        let Some(at) = place_of(&event, plane.width) else { return };
        choose.set(Some(held.with_value(|dots| plane.nearest(dots, at))));
    };
    let tap = point;
    let key = move |event: KeyboardEvent| {
        if let Some(next) = next_by_key(&event, chosen.get_untracked(), last) {
            choose.set(Some(next));
        }
    };
    let read = move || {
        let said =
            |index: usize| held.with_value(|dots| dots.get(index).map(|dot| dot.said.clone()));
        chosen
            .get()
            .and_then(said)
            .unwrap_or_else(|| "Hover, tap or use arrow keys to read values.".to_owned())
    };
    let met = move || {
        let place =
            |index: usize| held.with_value(|dots| dots.get(index).map(|dot| plane.place(dot)));
        chosen.get().and_then(place).map(|(x, y)| {
            view! { <circle class="met line-c" cx=length(x) cy=length(y) r="5.5"/> }
        })
    };
    let help = format!("{title}. Use the arrow keys to read the values one by one.");
    view! {
        <figure class="chart">
            <figcaption>{title}</figcaption>
            <ul class="legend">
                <li><span class="swatch line-a"></span>"a swap"</li>
                <li><span class="swatch line-b"></span>"exact estimate; points above the line filled worse"</li>
            </ul>
            <svg viewBox=paper.view_box() tabindex="0" role="img" aria-label=help
                on:pointermove=point on:pointerdown=tap on:keydown=key>
                {plane.axes(unit)}{plane.equals()}{drawn}{met}
            </svg>
            <output class="reading" aria-live="polite">{read}</output>
        </figure>
    }
}

/// The pointer's position on the paper.
fn place_of(event: &PointerEvent, width: f64) -> Option<(f64, f64)> {
    let picture: web_sys::Element = event.current_target()?.dyn_into().ok()?;
    let frame = picture.get_bounding_client_rect();
    let scale = width / frame.width().max(1.0);
    let [x, y] =
        [f64::from(event.client_x()) - frame.left(), f64::from(event.client_y()) - frame.top()];
    Some((x * scale, y * scale))
}
