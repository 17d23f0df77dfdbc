//! The positions of values on the paper, and what is drawn there.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use super::geometry::{Scale, band, extent, format_fixed, length, path, round_places, runs};
use super::{Line, Mark, MarkNote};

/// Approximate number of labels on an axis.
const TICKS: u32 = 5;

/// The drawing area, in its own units. A narrow screen gets a narrow area, so that text keeps its size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paper {
    width: f64,
}

impl Paper {
    const HEIGHT: f64 = 260.0;
    /// The left edge of the plot.
    pub const LEFT: f64 = 64.0;
    const RIGHT: f64 = 12.0;
    /// The top edge of the plot.
    pub const TOP: f64 = 12.0;
    const BOTTOM: f64 = 30.0;

    /// A drawing area that fits the screen.
    pub fn for_screen() -> Self {
        let screen = window().inner_width().ok().and_then(|width| width.as_f64());
        Self { width: if screen.is_some_and(|width| width < 640.0) { 360.0 } else { 720.0 } }
    }

    /// The attribute `viewBox`.
    pub fn view_box(self) -> String {
        format!("0 0 {} {}", length(self.width), length(Self::HEIGHT))
    }

    /// Whether the screen is narrow.
    pub fn is_narrow(self) -> bool {
        self.width < 640.0
    }

    /// The width in its own units.
    pub fn width(self) -> f64 {
        self.width
    }

    /// The right edge of the plot.
    pub fn right(self) -> f64 {
        self.width - Self::RIGHT
    }

    /// The bottom edge of the plot.
    pub fn floor() -> f64 {
        Self::HEIGHT - Self::BOTTOM
    }
}

/// The scales for the lines' values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plane {
    paper: Paper,
    across: Scale,
    up: Scale,
    count: usize,
    reference: f64,
}

impl Plane {
    /// Includes all values, and the one they are compared with.
    pub fn for_lines(paper: Paper, lines: &[Line], count: usize, reference: f64) -> Self {
        let all =
            lines.iter().flat_map(|line| line.values.iter().chain(&line.others).flatten().copied());
        let span = extent(all.chain([reference])).unwrap_or((0.0, 1.0));
        let last = number(count.saturating_sub(1)).max(1.0);
        let across = Scale::new((0.0, last), (Paper::LEFT, paper.right()));
        let up = Scale::with_round_ends(span, (Paper::floor(), Paper::TOP), TICKS);
        Self { paper, across, up, count, reference }
    }

    /// The horizontal coordinate of a position.
    pub fn x(&self, index: usize) -> f64 {
        self.across.at(number(index))
    }

    /// The position nearest to a share of the paper's width.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to the places"
    )]
    pub fn place_at(&self, share: f64) -> usize {
        let last = number(self.count.saturating_sub(1));
        let span = self.paper.right() - Paper::LEFT;
        let along = (share * self.paper.width - Paper::LEFT) / span * last;
        along.round().clamp(0.0, last) as usize
    }

    /// The bands of the marks, each kind in its own place and colour.
    pub fn bands(&self, marks: &[Vec<MarkNote>]) -> impl IntoView + use<> {
        let whole = Paper::floor() - Paper::TOP;
        let band = |mark: Mark| {
            let (class, y, height) = match mark {
                Mark::Missing => ("missing", Paper::TOP, whole),
                Mark::Retracted => ("retracted", Paper::TOP, whole),
                Mark::Closed => ("closed", Paper::TOP, whole),
                Mark::Partly => ("partly", Paper::TOP - 7.0, 5.0),
                Mark::Refused => ("refused-band", Paper::floor() + 2.0, 5.0),
                Mark::Fired => ("fired", Paper::TOP, whole),
            };
            let there: Vec<bool> =
                marks.iter().map(|all| all.iter().any(|one| one.mark == mark)).collect();
            let half = ((self.x(1) - self.x(0)) / 2.0).max(1.5);
            runs(&there)
                .into_iter()
                .map(|(first, last)| {
                    let from = (self.x(first) - half).max(Paper::LEFT);
                    let to = (self.x(last) + half).min(self.paper.right());
                    view! { <rect class=class x=length(from) y=length(y) width=length(to - from) height=length(height)/> }
                })
                .collect_view()
        };
        Mark::ALL.map(band).into_iter().collect_view()
    }

    /// Round values with their unit, and their grid lines.
    pub fn axis(&self, unit: &'static str) -> impl IntoView + use<> {
        let near = |tick: f64| (tick - self.reference).abs() < 1e-9;
        self.up
            .ticks(TICKS)
            .into_iter()
            .map(|tick| {
                let (left, right, at) = (length(Paper::LEFT), length(self.paper.right()), self.up.at(tick));
                let y = length(at);
                let class = if near(tick) { "zero" } else { "rule" };
                view! {
                    <line class=class x1=left x2=right y1=y.clone() y2=y/>
                    <text class="tick" x=length(Paper::LEFT - 8.0) y=length(at + 4.0) text-anchor="end">{format!("{}{unit}", label(tick))}</text>
                }
            })
            .collect_view()
    }

    /// Labels at round positions; if there are none, at the first, middle and last position, as far as they exist and
    /// fit the screen.
    pub fn below(&self, places: &[String]) -> impl IntoView + use<> {
        let mut shown = round_places(places, if self.paper.is_narrow() { 3 } else { 7 });
        if shown.is_empty() {
            let last = self.count.saturating_sub(1);
            let middle = (self.count > 2 && !self.paper.is_narrow()).then_some(last / 2);
            let end = (last > 0).then_some(last);
            let all = [Some(0), middle, end].into_iter().flatten();
            shown = all.filter_map(|index| Some((index, places.get(index)?.clone()))).collect();
        }
        let anchored = |(index, words): (usize, String)| {
            let x = self.x(index);
            // About half of the label's width.
            let half = number(words.len()) * 3.5;
            let anchor = match x {
                x if x - half < Paper::LEFT - 24.0 => "start",
                x if x + half > self.paper.width => "end",
                _ => "middle",
            };
            view! { <text class="tick" x=length(x) y=length(Paper::HEIGHT - 8.0) text-anchor=anchor>{words}</text> }
        };
        shown.into_iter().map(anchored).collect_view()
    }

    /// Draws the lines.
    pub fn drawn(&self, lines: &[Line]) -> impl IntoView + use<> {
        lines
            .iter()
            .map(|line| {
                let points = line.values.iter().enumerate();
                let points = points
                    .map(|(index, value)| value.map(|value| (self.x(index), self.up.at(value))));
                let dots = find_isolated(&line.values)
                    .into_iter()
                    .filter_map(|index| Some((self.x(index), self.up.at(line.values[index]?))))
                    .map(|(cx, cy)| view! { <circle class=line.class cx=length(cx) cy=length(cy) r="2"/> })
                    .collect_view();
                let others = line.others.iter().map(|other| other.map(|other| self.up.at(other)));
                let pairs: Vec<_> = points.clone().zip(others).map(|(one, other)| one.zip(other)).collect();
                let spread = band(&pairs);
                let spread = (!spread.is_empty())
                    .then(|| view! { <path class=format!("spread {}", line.class) d=spread/> });
                view! { {spread}<path class=line.class d=path(points) fill="none"/>{dots} }
            })
            .collect_view()
    }

    /// A vertical line at the selected position, with a dot on each line.
    pub fn cursor(&self, index: usize, lines: &[Line]) -> impl IntoView + use<> {
        let x = length(self.x(index));
        let (top, floor) = (length(Paper::TOP), length(Paper::floor()));
        let met = |line: &Line| {
            let y = length(self.up.at((*line.values.get(index)?)?));
            Some(view! { <circle class=format!("met {}", line.class) cx=x.clone() cy=y r="4.5"/> })
        };
        let met = lines.iter().filter_map(met).collect_view();
        view! { <line class="cursor" x1=x.clone() x2=x.clone() y1=top y2=floor/>{met} }
    }

    /// The range that is being dragged over.
    pub fn selection(&self, one: usize, other: usize) -> impl IntoView + use<> {
        let (from, to) = (self.x(one.min(other)), self.x(one.max(other)));
        let height = Paper::floor() - Paper::TOP;
        view! { <rect class="selected" x=length(from) y=length(Paper::TOP) width=length(to - from) height=length(height)/> }
    }
}

fn number(index: usize) -> f64 {
    f64::from(u32::try_from(index).unwrap_or(u32::MAX))
}

/// Values without neighbours, because a line through a single point is invisible.
fn find_isolated(values: &[Option<f64>]) -> Vec<usize> {
    let there = |index: Option<usize>| index.and_then(|index| *values.get(index)?).is_some();
    (0..values.len())
        .filter(|index| {
            there(Some(*index)) && !there(index.checked_sub(1)) && !there(Some(index + 1))
        })
        .collect()
}

/// A round value in digits; millions and billions are abbreviated, because there is no room for all zeros.
pub fn label(tick: f64) -> String {
    let (value, name) = match tick.abs() {
        size if size >= 1e9 => (tick / 1e9, " B"),
        size if size >= 1e6 => (tick / 1e6, " M"),
        _ => (tick, ""),
    };
    let text = format_fixed(value, if value.abs() >= 1_000.0 { 0 } else { 3 });
    let short = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    };
    crate::text::group_digits(&short) + name
}

/// The index to which a key moves from `now`, among values up to `last`; `None` if it does not move. A key that moves
/// does not scroll the page.
pub fn next_by_key(event: &KeyboardEvent, now: Option<usize>, last: usize) -> Option<usize> {
    let next = match (event.key().as_str(), now) {
        ("Home", _) => 0,
        ("End", _) | ("ArrowLeft" | "ArrowRight", None) => last,
        ("ArrowLeft", Some(now)) => now.saturating_sub(1),
        ("ArrowRight", Some(now)) => (now + 1).min(last),
        _ => return None,
    };
    event.prevent_default();
    Some(next)
}
