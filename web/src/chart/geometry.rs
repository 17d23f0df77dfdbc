//! From values to places on paper.

/// A number that a text begins with. The browser reads it: the tables for that would weigh more here
/// than all charts.
pub fn parsed(text: &str) -> Option<f64> {
    Some(js_sys::parse_float(text)).filter(|number| number.is_finite())
}

/// A number in digits, with so many decimals: written by the browser, too.
pub fn fixed(number: f64, decimals: u8) -> String {
    js_sys::Number::from(number).to_fixed(decimals).map_or_else(|_| String::new(), String::from)
}

/// A length on paper.
pub fn length(number: f64) -> String {
    fixed(number, 1)
}

/// Maps values to a length of paper.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

impl Scale {
    /// `low` lies at `start`, `high` at `end`; a span of nothing is widened so that it has a middle.
    pub fn new((low, high): (f64, f64), (start, end): (f64, f64)) -> Self {
        let flat = (high - low).abs() < f64::EPSILON;
        let margin = if flat { (low.abs() * 0.05).max(0.5) } else { 0.0 };
        Self { low: low - margin, high: high + margin, start, end }
    }

    /// Where a value lies.
    pub fn at(&self, value: f64) -> f64 {
        self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)
    }

    /// Round values to write beside the axis, about `count` of them.
    pub fn ticks(&self, count: u32) -> Vec<f64> {
        let step = round_step((self.high - self.low) / f64::from(count.max(1)));
        let mut tick = (self.low / step).ceil() * step;
        let mut ticks = Vec::new();
        while tick <= self.high + step * 1e-9 && ticks.len() < 20 {
            // What is nearly nothing is nothing.
            ticks.push(if tick.abs() < step * 1e-9 { 0.0 } else { tick });
            tick += step;
        }
        ticks
    }
}

/// The nearest step of 1, 2 or 5 times a power of ten that is not below `rough`.
fn round_step(rough: f64) -> f64 {
    let power = 10_f64.powf(rough.abs().max(1e-12).log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= rough);
    factor.unwrap_or(10.0) * power
}

/// The least and greatest of all values that are there.
pub fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|value| value.is_finite()).fold(None, |extent, value| match extent {
        None => Some((value, value)),
        Some((low, high)) => Some((low.min(value), high.max(value))),
    })
}

/// A path through the points that are there, broken where one is not.
pub fn path(points: impl Iterator<Item = Option<(f64, f64)>>) -> String {
    let (mut out, mut open) = (String::new(), false);
    for point in points {
        if let Some((x, y)) = point {
            out.push_str(if open { "L" } else { "M" });
            out.push_str(&length(x));
            out.push(' ');
            out.push_str(&length(y));
        }
        open = point.is_some();
    }
    out
}

/// Runs of `true`, as first and last index.
pub fn runs(marks: &[bool]) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (index, marked) in marks.iter().enumerate() {
        if *marked {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == index => *last = index,
                _ => runs.push((index, index)),
            }
        }
    }
    runs
}
