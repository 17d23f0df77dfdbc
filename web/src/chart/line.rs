//! A line chart over a common axis, readable by pointer and keyboard, with a table of the same data.

use leptos::ev::{KeyboardEvent, PointerEvent};
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::plane::next_by_key;
use super::plane::{Paper, Plane};
use crate::parts::{Table, words};

/// A line: a value, or none, for each position on the axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// A class of the style sheet that sets its colour.
    pub class: &'static str,
    /// The line's values.
    pub values: Vec<Option<f64>>,
    /// The other end of a range at each position: a band is drawn between the two. Empty: no band.
    pub others: Vec<Option<f64>>,
    /// The values in digits with their unit, as published; or the reason why there is none.
    pub shown: Vec<String>,
}

/// A kind of irregularity at a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// The market was closed.
    Closed,
    /// Nothing was recorded.
    Missing,
    /// The recorded slot was retracted.
    Retracted,
    /// Some slots are missing or retracted.
    Partly,
    /// The slot was recorded, but the size cannot be filled.
    Refused,
    /// An alert would have fired in this slot.
    Fired,
}

impl Mark {
    /// All marks, in the order of the legend.
    pub const ALL: [Self; 6] =
        [Self::Closed, Self::Missing, Self::Retracted, Self::Partly, Self::Refused, Self::Fired];

    /// The colour of its swatch, and its meaning.
    fn legend(self) -> (&'static str, &'static str) {
        match self {
            Self::Closed => ("swatch closed", "market closed"),
            Self::Missing => ("swatch missing", "missing"),
            Self::Retracted => ("swatch retracted", "retracted"),
            Self::Partly => ("swatch partly", "some slots missing or retracted (top edge)"),
            Self::Refused => ("swatch refused-band", "cannot be filled (bottom edge)"),
            Self::Fired => ("swatch fired", "alert would have fired"),
        }
    }
}

/// A mark with its explanation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkNote {
    /// The kind.
    pub mark: Mark,
    /// The explanation.
    pub words: String,
}

/// A chart of several lines over one axis.
#[component]
pub fn LineChart(
    /// A description of the chart.
    title: String,
    /// The labels of the positions on the horizontal axis.
    places: Vec<String>,
    /// The lines.
    lines: Vec<Line>,
    /// The unit after each value of the vertical axis.
    unit: &'static str,
    /// The value that the others are compared with: it is always visible.
    #[prop(optional)]
    reference: f64,
    /// The marks for each position.
    #[prop(optional)]
    marks: Vec<Vec<MarkNote>>,
    /// Receives the first and last position after dragging over a range.
    #[prop(optional)]
    on_range: Option<Callback<(usize, usize)>>,
) -> impl IntoView {
    if places.is_empty() {
        return view! { <p class="empty">"No data to draw yet."</p> }.into_any();
    }
    let paper = Paper::for_screen();
    let plane = Plane::for_lines(paper, &lines, places.len(), reference);
    let (chosen, choose) = signal(None::<usize>);
    let still = (plane.bands(&marks), plane.axis(unit), plane.below(&places), plane.drawn(&lines))
        .into_any();
    let (legend, table) = (legend(&lines, &marks), table(&places, &lines, &marks));
    let help = format!("{title}. Use the arrow keys to read the values one by one.");
    let last = places.len() - 1;
    let drawn = lines.clone();
    let reading = describe_places(places, lines, marks);
    view! {
        <figure class="chart">
            <figcaption>{title}</figcaption>
            {legend}
            <PlotArea plane=plane view_box=paper.view_box() help=help last=last still=still lines=drawn
                chosen=chosen choose=choose on_range=on_range/>
            <output class="reading" aria-live="polite">
                {move || chosen.get().map_or_else(
                    || "Hover, tap or use arrow keys to read values.".to_owned(),
                    &reading,
                )}
            </output>
            <details><summary>"Show as table"</summary>{table}</details>
        </figure>
    }
    .into_any()
}

/// The chart area, and its reactions to pointer and keys.
#[component]
fn PlotArea(
    plane: Plane,
    view_box: String,
    help: String,
    last: usize,
    still: AnyView,
    lines: Vec<Line>,
    chosen: ReadSignal<Option<usize>>,
    choose: WriteSignal<Option<usize>>,
    on_range: Option<Callback<(usize, usize)>>,
) -> impl IntoView {
    let (dragged, drag) = signal(None::<usize>);
    let at = move |event: &PointerEvent| plane.place_at(share_of(event));
    let key = move |event: KeyboardEvent| {
        if let Some(next) = next_by_key(&event, chosen.get_untracked(), last) {
            choose.set(Some(next));
        }
    };
    let begin = move |event: PointerEvent| {
        // A tap causes no pointer movement.
        choose.set(Some(at(&event)));
        if on_range.is_some() {
            // Captures the pointer, so that a drag that leaves the chart still ends here.
            if let Some(picture) = picture_of(&event) {
                let _ = picture.set_pointer_capture(event.pointer_id());
            }
            drag.set(Some(at(&event)));
        }
    };
    let end = move |event: PointerEvent| {
        let (Some(on_range), Some(from)) = (on_range, dragged.get_untracked()) else { return };
        drag.set(None);
        let to = at(&event);
        if from != to {
            on_range.run((from.min(to), from.max(to)));
        }
    };
    view! {
        <svg viewBox=view_box tabindex="0" role="img" aria-label=help
            on:pointermove=move |event| choose.set(Some(at(&event)))
            on:pointerdown=begin
            on:pointerup=end
            on:pointercancel=move |_| drag.set(None)
            on:keydown=key>
            {still}
            {move || dragged.get().zip(chosen.get()).filter(|(a, b)| a != b).map(|(a, b)| plane.selection(a, b))}
            {move || chosen.get().map(|index| plane.cursor(index, &lines))}
        </svg>
    }
}

fn picture_of(event: &PointerEvent) -> Option<web_sys::Element> {
    event.current_target()?.dyn_into().ok()
}

/// The pointer's horizontal position as a share of the chart's width.
fn share_of(event: &PointerEvent) -> f64 {
    picture_of(event).map_or(0.0, |picture| {
        let frame = picture.get_bounding_client_rect();
        (f64::from(event.client_x()) - frame.left()) / frame.width().max(1.0)
    })
}

/// The legend of the lines, and of the marks that occur.
fn legend(lines: &[Line], marks: &[Vec<MarkNote>]) -> impl IntoView + use<> {
    let there = |mark: &Mark| marks.iter().flatten().any(|one| one.mark == *mark);
    let marks = Mark::ALL.into_iter().filter(there).map(Mark::legend);
    let marks = marks.map(|(class, words)| (class.to_owned(), words.to_owned()));
    let lines = lines.iter().map(|line| (format!("swatch {}", line.class), line.name.clone()));
    let entries: Vec<_> = lines
        .chain(marks)
        .map(|(class, words)| view! { <li><span class=class></span>{words}</li> })
        .collect();
    view! { <ul class="legend">{entries}</ul> }
}

fn notes(marks: &[Vec<MarkNote>], index: usize) -> String {
    let marks = marks.get(index).map(Vec::as_slice).unwrap_or_default();
    marks.iter().map(|one| one.words.as_str()).collect::<Vec<_>>().join("; ")
}

/// The text for each position.
fn describe_places(
    places: Vec<String>,
    lines: Vec<Line>,
    marks: Vec<Vec<MarkNote>>,
) -> impl Fn(usize) -> String + Clone + Send + 'static {
    move |index| {
        let place = places.get(index).cloned().unwrap_or_default();
        let values = lines.iter().filter_map(|line| {
            let shown = line.shown.get(index).filter(|shown| !shown.is_empty())?;
            Some(format!("{} {shown}", line.name))
        });
        let note = Some(notes(&marks, index)).filter(|note| !note.is_empty());
        let parts: Vec<_> = values.chain(note).collect();
        format!("{place}: {}", parts.join(" · "))
    }
}

fn table(places: &[String], lines: &[Line], marks: &[Vec<MarkNote>]) -> impl IntoView + use<> {
    let noted = marks.iter().any(|all| !all.is_empty());
    let names = lines.iter().map(|line| words(&line.name));
    let columns = names.chain(noted.then(|| words("Note"))).collect();
    let rows = places.iter().enumerate().map(|(index, place)| {
        let cell = |line: &Line| line.shown.get(index).cloned().unwrap_or_default().into_any();
        let note =
            noted.then(|| view! { <span class="none">{notes(marks, index)}</span> }.into_any());
        (place.clone().into_any(), lines.iter().map(cell).chain(note).collect())
    });
    view! { <Table first="At" columns=columns rows=rows.collect()/> }
}
