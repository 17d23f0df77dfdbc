//! Lines over a common axis, read by pointer and by keyboard, with a table behind.

use leptos::ev::{KeyboardEvent, PointerEvent};
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::geometry::{Scale, extent, path, runs};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 30.0;

/// One line: a value for each place of the axis, or none.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// What it is, in words.
    pub name: String,
    /// Its colour: a class of the style sheet.
    pub class: &'static str,
    /// Where the line lies.
    pub values: Vec<Option<f64>>,
    /// The values in digits, as they were published.
    pub shown: Vec<String>,
}

/// Several lines over one axis.
#[component]
pub fn LineChart(
    /// What the chart shows, in words.
    title: String,
    /// The places of the horizontal axis, in words.
    places: Vec<String>,
    /// The lines.
    lines: Vec<Line>,
    /// Unit of the vertical axis.
    unit: &'static str,
    /// Places that are missing, with the reason: drawn as such.
    #[prop(optional)]
    missing: Vec<Option<String>>,
    /// Told the first and last place that were dragged over.
    #[prop(optional)]
    on_range: Option<Callback<(usize, usize)>>,
) -> impl IntoView {
    let count = places.len();
    if count == 0 {
        return view! { <p class="empty">"Nothing to draw yet."</p> }.into_any();
    }
    let plane = Plane::of(&lines, count);
    let x = move |index: usize| plane.x(index);
    let (chosen, choose) = signal(None::<usize>);
    let (dragged, drag) = signal(None::<usize>);
    let at = move |event: &PointerEvent| place_at(event, count);
    let key = move |event: KeyboardEvent| {
        let now = chosen.get().unwrap_or(count - 1);
        let next = match event.key().as_str() {
            "ArrowLeft" => now.saturating_sub(1),
            "ArrowRight" => (now + 1).min(count - 1),
            "Home" => 0,
            "End" => count - 1,
            _ => return,
        };
        event.prevent_default();
        choose.set(Some(next));
    };
    let (bands, axis) = (plane.bands(&missing), plane.axis());
    let (below, drawn) = (plane.below(&places), plane.drawn(&lines));
    let legend: Vec<_> = lines
        .iter()
        .map(|line| {
            view! { <li><span class=format!("swatch {}", line.class)></span>{line.name.clone()}</li> }
        })
        .collect();
    let table = table(&places, &lines, &missing);
    let reading = reading(places, lines, missing, unit);
    let help = format!("{title}. Arrow keys read the values one by one.");
    let end_drag = move |event: PointerEvent| {
        let (Some(on_range), Some(from)) = (on_range, dragged.get_untracked()) else { return };
        drag.set(None);
        let to = at(&event);
        if from != to {
            on_range.run((from.min(to), from.max(to)));
        }
    };
    view! {
        <figure class="chart">
            <figcaption>{title}</figcaption>
            <ul class="legend">{legend}</ul>
            <svg viewBox=format!("0 0 {WIDTH} {HEIGHT}") tabindex="0" role="img" aria-label=help
                on:pointermove=move |event| choose.set(Some(at(&event)))
                on:pointerdown=move |event| drag.set(Some(at(&event)))
                on:pointerup=end_drag
                on:keydown=key>
                {bands}
                {axis}
                {below}
                {move || dragged.get().zip(chosen.get()).filter(|(a, b)| a != b && on_range.is_some()).map(|(a, b)| {
                    let (from, to) = (x(a.min(b)), x(a.max(b)));
                    view! { <rect class="selected" x=from y=TOP width=to - from height=HEIGHT - TOP - BOTTOM/> }
                })}
                {drawn}
                {move || chosen.get().map(|index| view! {
                    <line class="cursor" x1=x(index) x2=x(index) y1=TOP y2=HEIGHT - BOTTOM/>
                })}
            </svg>
            <output class="reading" aria-live="polite">
                {move || chosen.get().map_or_else(
                    || "Point at the chart, or use the arrow keys, to read values.".to_owned(),
                    &reading,
                )}
            </output>
            <details><summary>"As a table"</summary><div class="wide" tabindex="0" role="group" aria-label="Table, scrolls sideways">{table}</div></details>
        </figure>
    }
    .into_any()
}

/// Where values lie on the paper.
#[derive(Clone, Copy)]
struct Plane {
    across: Scale,
    up: Scale,
    count: usize,
}

impl Plane {
    fn of(lines: &[Line], count: usize) -> Self {
        let all = lines.iter().flat_map(|line| line.values.iter().flatten().copied());
        let span = extent(all.chain([0.0])).unwrap_or((0.0, 1.0));
        let last = f64::from(u32::try_from(count - 1).unwrap_or(u32::MAX)).max(1.0);
        let across = Scale::new((0.0, last), (LEFT, WIDTH - RIGHT));
        Self { across, up: Scale::new(span, (HEIGHT - BOTTOM, TOP)), count }
    }

    fn x(&self, index: usize) -> f64 {
        self.across.at(f64::from(u32::try_from(index).unwrap_or(0)))
    }

    /// What is missing, shaded.
    fn bands(&self, missing: &[Option<String>]) -> impl IntoView + use<> {
        runs(&missing.iter().map(Option::is_some).collect::<Vec<_>>())
        .into_iter()
        .map(|(first, end)| {
            let (from, to) = (self.x(first) - 1.5, self.x(end) + 1.5);
            view! { <rect class="missing" x=from y=TOP width=to - from height=HEIGHT - TOP - BOTTOM/> }
        })
        .collect_view()
    }

    /// Round values and their rules.
    fn axis(&self) -> impl IntoView + use<> {
        self.up
            .ticks(5)
            .into_iter()
            .map(|tick| {
                let y = self.up.at(tick);
                let class = if tick == 0.0 { "zero" } else { "rule" };
                view! {
                    <line class=class x1=LEFT x2=WIDTH - RIGHT y1=y y2=y/>
                    <text class="tick" x=LEFT - 8.0 y=y + 4.0 text-anchor="end">{label(tick)}</text>
                }
            })
            .collect_view()
    }

    /// The first, middle and last place.
    fn below(&self, places: &[String]) -> impl IntoView + use<> {
        [0, (self.count - 1) / 2, self.count - 1]
        .into_iter()
        .zip(["start", "middle", "end"])
        .filter(|(index, _)| self.count > 2 || *index == 0)
        .map(|(index, anchor)| {
            let words = places[index].clone();
            view! { <text class="tick" x=self.x(index) y=HEIGHT - 8.0 text-anchor=anchor>{words}</text> }
        })
        .collect_view()
    }

    /// The lines.
    fn drawn(&self, lines: &[Line]) -> impl IntoView + use<> {
        lines
            .iter()
            .map(|line| {
                let points = line.values.iter().enumerate();
                let points = points
                    .map(|(index, value)| value.map(|value| (self.x(index), self.up.at(value))));
                let dots = isolated(&line.values)
                    .into_iter()
                    .filter_map(|index| Some((self.x(index), self.up.at(line.values[index]?))))
                    .map(|(cx, cy)| view! { <circle class=line.class cx=cx cy=cy r="2"/> })
                    .collect_view();
                view! { <path class=line.class d=path(points) fill="none"/>{dots} }
            })
            .collect_view()
    }
}

/// The place nearest to the pointer.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to the places"
)]
fn place_at(event: &PointerEvent, count: usize) -> usize {
    let target =
        event.current_target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
    let Some(target) = target else { return 0 };
    let frame = target.get_bounding_client_rect();
    let along = (f64::from(event.client_x()) - frame.left()) / frame.width().max(1.0) * WIDTH;
    let last = f64::from(u32::try_from(count - 1).unwrap_or(u32::MAX));
    let share = (along - LEFT) / (WIDTH - LEFT - RIGHT);
    (share * last).round().clamp(0.0, last) as usize
}

/// What a place reads.
fn reading(
    places: Vec<String>,
    lines: Vec<Line>,
    missing: Vec<Option<String>>,
    unit: &'static str,
) -> impl Fn(usize) -> String + Clone + Send + 'static {
    move |index| {
        let place = places.get(index).cloned().unwrap_or_default();
        if let Some(Some(reason)) = missing.get(index) {
            return format!("{place}: {reason}");
        }
        let values = lines.iter().filter_map(|line| {
            let shown = line.shown.get(index).filter(|shown| !shown.is_empty())?;
            Some(format!("{} {shown} {unit}", line.name))
        });
        let values: Vec<_> = values.collect();
        format!("{place}: {}", values.join(" · "))
    }
}

/// Values without a neighbour: a line through one point is not seen.
fn isolated(values: &[Option<f64>]) -> Vec<usize> {
    let there = |index: Option<usize>| index.and_then(|index| *values.get(index)?).is_some();
    (0..values.len())
        .filter(|index| {
            there(Some(*index)) && !there(index.checked_sub(1)) && !there(Some(index + 1))
        })
        .collect()
}

fn label(tick: f64) -> String {
    let text = if tick.abs() >= 1_000.0 { format!("{tick:.0}") } else { format!("{tick:.3}") };
    let short = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    };
    crate::text::grouped(&short)
}

fn table(places: &[String], lines: &[Line], missing: &[Option<String>]) -> impl IntoView + use<> {
    let heads: Vec<_> =
        lines.iter().map(|line| view! { <th scope="col">{line.name.clone()}</th> }).collect();
    let span = lines.len().to_string();
    let rows: Vec<_> = places
        .iter()
        .enumerate()
        .map(|(index, place)| {
            let cells = match missing.get(index) {
                Some(Some(reason)) => {
                    view! { <td colspan=span.clone() class="none">{reason.clone()}</td> }.into_any()
                }
                _ => lines
                    .iter()
                    .map(|line| {
                        view! { <td>{line.shown.get(index).cloned().unwrap_or_default()}</td> }
                    })
                    .collect_view()
                    .into_any(),
            };
            view! { <tr><th scope="row">{place.clone()}</th>{cells}</tr> }
        })
        .collect();
    view! {
        <table>
            <thead><tr><th scope="col">"at"</th>{heads}</tr></thead>
            <tbody>{rows}</tbody>
        </table>
    }
}
