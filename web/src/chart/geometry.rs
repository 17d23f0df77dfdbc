//! Maps values to positions on paper. This module does not use the browser, so that it can be tested without one.

/// The number at the beginning of a text, in the notation of documents: digits, a point, a sign.
#[expect(clippy::cast_precision_loss, reason = "a place on paper has no use for more than 53 bits")]
pub fn parse_number(text: &str) -> Option<f64> {
    let (sign, digits) = text.strip_prefix('-').map_or((1.0, text), |digits| (-1.0, digits));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let plain = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
    if whole.is_empty() || !plain(whole) || !plain(fraction) {
        return None;
    }
    let read = |digits: &str| digits.parse::<u64>().ok().map(|number| number as f64);
    let fraction = fraction.get(..fraction.len().min(15))?;
    let part = if fraction.is_empty() { 0.0 } else { read(fraction)? };
    let places = i32::try_from(fraction.len()).ok()?;
    Some(sign * (read(whole)? + part / 10_f64.powi(places)))
}

/// A number in digits with this many decimals, at most nine.
#[expect(clippy::cast_possible_truncation, reason = "what is out of bounds is cut to them")]
pub fn format_fixed(number: f64, decimals: u8) -> String {
    let decimals = usize::from(decimals.min(9));
    let scale = 10_f64.powi(i32::try_from(decimals).unwrap_or(0));
    let scaled = (number * scale).round() as i64;
    let sign = if scaled < 0 { "-" } else { "" };
    let digits = format!("{:0>width$}", scaled.unsigned_abs(), width = decimals + 1);
    let (whole, fraction) = digits.split_at(digits.len() - decimals);
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

/// Formats a length on paper.
pub fn length(number: f64) -> String {
    format_fixed(number, 1)
}

/// Maps values to positions on paper.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
    /// The distance between its ticks, if it begins and ends at a tick.
    step: Option<f64>,
}

impl Scale {
    /// `low` is at `start`, `high` at `end`; an empty span is widened so that it has a middle.
    pub fn new((low, high): (f64, f64), (start, end): (f64, f64)) -> Self {
        let flat = (high - low).abs() < f64::EPSILON;
        let margin = if flat { (low.abs() * 0.05).max(0.5) } else { 0.0 };
        Self { low: low - margin, high: high + margin, start, end, step: None }
    }

    /// The same, widened to begin and end at round values: the first and last of about `count` ticks.
    pub fn with_round_ends(span: (f64, f64), paper: (f64, f64), count: u32) -> Self {
        let wide = Self::new(span, paper);
        let step = wide.step(count);
        let low = (wide.low / step + 1e-9).floor() * step;
        let high = (wide.high / step - 1e-9).ceil() * step;
        Self { low, high, step: Some(step), ..wide }
    }

    /// The position of a value.
    pub fn at(&self, value: f64) -> f64 {
        self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)
    }

    /// About `count` round values for the axis labels.
    pub fn ticks(&self, count: u32) -> Vec<f64> {
        let step = self.step(count);
        let mut tick = (self.low / step - 1e-9).ceil() * step;
        let mut ticks = Vec::new();
        while tick <= self.high + step * 1e-9 && ticks.len() < 20 {
            // A value that is nearly zero because of rounding becomes zero.
            ticks.push(if tick.abs() < step * 1e-9 { 0.0 } else { tick });
            tick += step;
        }
        ticks
    }

    fn step(&self, count: u32) -> f64 {
        let rough = (self.high - self.low) / f64::from(count.max(1));
        self.step.unwrap_or_else(|| round_step(rough))
    }
}

/// The smallest step of 1, 2 or 5 times a power of ten that is not below `rough`.
fn round_step(rough: f64) -> f64 {
    let power = 10_f64.powf(rough.abs().max(1e-12).log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= rough);
    factor.unwrap_or(10.0) * power
}

/// At most `most` round positions of an axis, with their labels: sizes that are powers of ten, and times at full hours
/// or midnights. Empty if there are fewer than two.
pub fn round_places(places: &[String], most: usize) -> Vec<(usize, String)> {
    /// The candidate steps, in minutes.
    const STEPS: [u32; 5] = [60, 180, 360, 720, 1_440];
    let times = places.iter().map(|place| time_of(place)).enumerate();
    let times: Vec<_> = times.filter_map(|(index, time)| Some((index, time?))).collect();
    let written = |(index, (day, minutes)): &(usize, (&str, u32))| {
        let hour = format!("{:02}:{:02}", minutes / 60, minutes % 60);
        (*index, if *minutes == 0 { (*day).to_owned() } else { hour })
    };
    let sizes = places.iter().enumerate().filter(|(_, place)| is_power_of_ten(place));
    let mut found: Vec<_> = sizes.map(|(index, place)| (index, place.clone())).collect();
    for step in STEPS {
        if times.is_empty() || found.len() > 1 && found.len() <= most {
            break;
        }
        let round = times.iter().filter(|(_, (_, minutes))| minutes.is_multiple_of(step));
        found = round.map(written).collect();
    }
    let every = found.len().div_ceil(most.max(1)).max(1);
    let found: Vec<_> = found.into_iter().step_by(every).collect();
    if found.len() < 2 { Vec::new() } else { found }
}

/// The day and minute of `2026-11-20 14:05 UTC`.
fn time_of(place: &str) -> Option<(&str, u32)> {
    let (day, time) = place.strip_suffix(" UTC")?.split_once(' ')?;
    let (hours, minutes) = time.split_once(':')?;
    Some((day, hours.parse::<u32>().ok()? * 60 + minutes.parse::<u32>().ok()?))
}

/// Whether a dollar label is a power of ten.
fn is_power_of_ten(place: &str) -> bool {
    let digits = place.strip_prefix("$1");
    digits.is_some_and(|rest| rest.bytes().all(|one| one == b'0' || one == b','))
}

/// The minimum and maximum of all values.
pub fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|value| value.is_finite()).fold(None, |extent, value| match extent {
        None => Some((value, value)),
        Some((low, high)) => Some((low.min(value), high.max(value))),
    })
}

/// A path through the existing points, interrupted where a point is missing.
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

/// The outlines of the band between the lower and upper value of each pair: one for each run of pairs.
pub fn band(pairs: &[Option<((f64, f64), f64)>]) -> String {
    let there: Vec<bool> = pairs.iter().map(Option::is_some).collect();
    let mut out = String::new();
    for (first, last) in runs(&there) {
        let run = || pairs[first..=last].iter().flatten();
        let above = run().map(|((x, y), _)| Some((*x, *y)));
        let below = run().rev().map(|((x, _), other)| Some((*x, *other)));
        out.push_str(&path(above.chain(below)));
        out.push('Z');
    }
    out
}

/// The parts of a stacked bar, each with its start and width, and the position of zero: positive parts follow each
/// other to its right, negative ones to its left.
pub fn stack_parts(parts: &[f64], width: f64) -> (Vec<(f64, f64)>, f64) {
    let whole: f64 = parts.iter().map(|part| part.abs()).sum();
    if whole <= 0.0 {
        return (vec![(0.0, 0.0); parts.len()], 0.0);
    }
    let unit = width / whole;
    let zero = parts.iter().map(|part| (-part).max(0.0)).sum::<f64>() * unit;
    let (mut right, mut left) = (zero, zero);
    let place = |part: &f64| {
        let wide = part.abs() * unit;
        let start = if *part < 0.0 {
            left -= wide;
            left
        } else {
            right += wide;
            right - wide
        };
        (start, wide)
    };
    (parts.iter().map(place).collect(), zero)
}

/// The shade of a value, one of `steps`: each shade covers the same number of values, equal values get the same shade,
/// and the lowest get the first.
pub fn shade(value: f64, all: &[f64], steps: u8) -> u8 {
    let less = all.iter().filter(|one| **one < value).count();
    let place = less * usize::from(steps) / all.len().max(1);
    u8::try_from(place).unwrap_or(steps).min(steps.saturating_sub(1))
}
