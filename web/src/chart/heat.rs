//! A heat map of a week's hours, readable by pointer, touch and keyboard.

use leptos::ev::{KeyboardEvent, PointerEvent};
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::geometry::{length, shade};
use super::plane::Paper;

/// Hours of a week.
pub const HOURS: usize = 168;

/// The number of shades in the style sheet, the palest first.
pub const SHADES: u8 = 6;

/// The result for an hour of the week.
#[derive(Debug, Clone, PartialEq)]
pub enum Hour {
    /// There is no recorded slot in this hour.
    Unknown,
    /// Some slot has no value, because the size cannot be filled.
    Refused,
    /// The value.
    Of(f64),
}

impl Hour {
    fn value(&self) -> Option<f64> {
        if let Self::Of(value) = self { Some(*value) } else { None }
    }
}

const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// The name of an hour of the week, starting at Monday 00:00.
pub fn hour_in_words(hour: usize) -> String {
    format!("{} {:02}:00 UTC", DAYS[hour / 24 % 7], hour % 24)
}

/// The layout of the cells: days are rows on wide paper, columns on narrow paper.
#[derive(Debug, Clone, Copy)]
struct Grid {
    narrow: bool,
}

impl Grid {
    const EDGE: f64 = 40.0;
    const TOP: f64 = 22.0;

    fn cell(self) -> (f64, f64) {
        if self.narrow { (45.0, 18.0) } else { (28.0, 24.0) }
    }

    fn count(self) -> (usize, usize) {
        if self.narrow { (7, 24) } else { (24, 7) }
    }

    fn size(self) -> (f64, f64) {
        let ((wide, high), (across, down)) = (self.cell(), self.count());
        (Self::EDGE + wide * number(across), Self::TOP + high * number(down))
    }

    /// The column and row of an hour.
    fn place(self, hour: usize) -> (usize, usize) {
        let (day, time) = (hour / 24, hour % 24);
        if self.narrow { (day, time) } else { (time, day) }
    }

    fn corner(self, hour: usize) -> (f64, f64) {
        let ((column, row), (wide, high)) = (self.place(hour), self.cell());
        (Self::EDGE + wide * number(column), Self::TOP + high * number(row))
    }

    /// The hour at a position on the paper.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to the cells"
    )]
    fn hour_at(self, x: f64, y: f64) -> usize {
        let ((wide, high), (across, down)) = (self.cell(), self.count());
        let at = |along: f64, count: usize| along.floor().clamp(0.0, number(count) - 1.0) as usize;
        let (column, row) = (at((x - Self::EDGE) / wide, across), at((y - Self::TOP) / high, down));
        if self.narrow { column * 24 + row } else { row * 24 + column }
    }

    /// The hour to which an arrow key moves.
    fn step(self, hour: usize, key: &str) -> Option<usize> {
        let (along, across) = if self.narrow { (24, 1) } else { (1, 24) };
        let by = match key {
            "ArrowRight" => along,
            "ArrowLeft" => HOURS - along,
            "ArrowDown" => across,
            "ArrowUp" => HOURS - across,
            _ => return None,
        };
        Some((hour + by) % HOURS)
    }
}

fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// The chart; `choose` receives the selected hour.
#[component]
pub fn Heat(
    /// A description of the chart.
    title: &'static str,
    /// The hours, starting at Monday 00:00 UTC.
    hours: Vec<Hour>,
    /// The selected hour.
    chosen: RwSignal<Option<usize>>,
) -> impl IntoView {
    let grid = Grid { narrow: Paper::for_screen().is_narrow() };
    let values = hours.iter().filter_map(Hour::value).collect::<Vec<_>>();
    let (wide, high) = grid.cell();
    let cells = hours.into_iter().enumerate().map(|(hour, one)| {
        let class = match one {
            Hour::Unknown => "cell unknown".to_owned(),
            Hour::Refused => "cell refused-hour".to_owned(),
            Hour::Of(value) => format!("cell shade-{}", shade(value, &values, SHADES)),
        };
        let (x, y) = grid.corner(hour);
        view! { <rect class=class x=length(x) y=length(y) width=length(wide - 2.0) height=length(high - 2.0) rx="2"/> }
    });
    let cells = cells.collect_view();
    let days = (0..7).map(|day| {
        let (x, y) = grid.corner(day * 24);
        let (x, y, anchor) = if grid.narrow {
            (x + wide / 2.0, 14.0, "middle")
        } else {
            (Grid::EDGE - 6.0, y + 16.0, "end")
        };
        view! { <text class="tick" x=length(x) y=length(y) text-anchor=anchor>{DAYS[day]}</text> }
    });
    let days = days.collect_view();
    let times = (0..24).step_by(3).map(|time| {
        let (x, y) = grid.corner(time);
        let (x, y, anchor) = if grid.narrow { (Grid::EDGE - 6.0, y + 13.0, "end") } else { (x, 14.0, "start") };
        view! { <text class="tick" x=length(x) y=length(y) text-anchor=anchor>{format!("{time:02}")}</text> }
    });
    let times = times.collect_view();
    let at = move |event: &PointerEvent| {
        let picture: Option<web_sys::Element> =
            event.current_target().and_then(|one| one.dyn_into().ok());
        let Some(picture) = picture else { return };
        let frame = picture.get_bounding_client_rect();
        let (width, height) = grid.size();
        let x = (f64::from(event.client_x()) - frame.left()) / frame.width().max(1.0) * width;
        let y = (f64::from(event.client_y()) - frame.top()) / frame.height().max(1.0) * height;
        chosen.set(Some(grid.hour_at(x, y)));
    };
    let key = move |event: KeyboardEvent| {
        let next = chosen.get_untracked().map_or(Some(0), |hour| grid.step(hour, &event.key()));
        if let Some(next) = next.filter(|_| event.key().starts_with("Arrow")) {
            event.prevent_default();
            chosen.set(Some(next));
        }
    };
    let mark = move || {
        chosen.get().map(|hour| {
            let (x, y) = grid.corner(hour);
            view! { <rect class="chosen" x=length(x - 1.0) y=length(y - 1.0) width=length(wide) height=length(high) rx="3"/> }
        })
    };
    let (width, height) = grid.size();
    let help = format!("{title}. Use the arrow keys to read the hours one by one.");
    view! {
        <svg viewBox=format!("0 0 {} {}", length(width), length(height)) tabindex="0" role="img" aria-label=help
            on:pointermove=move |event| at(&event) on:pointerdown=move |event| at(&event) on:keydown=key>
            {cells}{days}{times}{mark}
        </svg>
    }
    .into_any()
}
