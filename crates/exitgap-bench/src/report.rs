//! Results: named numbers, as one JSON object or as a table.

use serde_json::{Map, Value};

use crate::quotes::Speed;
use crate::scene::TICKS_CROSSED;

/// Measured numbers in the order they were added.
#[derive(Default)]
pub struct Report {
    numbers: Vec<(String, f64)>,
}

impl Report {
    /// Adds a number, and prints it immediately, so that it is known even if the run ends early.
    pub fn add(&mut self, key: impl Into<String>, number: f64) {
        let key = key.into();
        eprintln!("{key:<34} {number:>12.3}");
        self.numbers.push((key, number));
    }

    /// One flat object of numbers, with three decimals.
    pub fn json(&self) -> String {
        let rounded = |number: &f64| Value::from((number * 1e3).round() / 1e3);
        let numbers = self.numbers.iter().map(|(key, number)| (key.clone(), rounded(number)));
        Value::Object(numbers.collect::<Map<_, _>>()).to_string()
    }

    /// The numbers that are not in the table of quotes, one per line.
    pub fn print_rest(&self) {
        let in_table = |key: &str| {
            let trial = key.strip_prefix("quote.");
            trial.is_some_and(|trial| trial.starts_with(|c: char| c.is_ascii_digit()))
        };
        for (key, number) in self.numbers.iter().filter(|(key, _)| !in_table(key)) {
            println!("{key:<34} {number:>12.2}");
        }
    }
}

/// The quotes as a table: nanoseconds, and the ratio to ours.
pub fn print_quotes(speeds: &[Speed]) {
    let Some(ours) = speeds.first() else { return };
    println!("nanoseconds per quote (times ours), by initialised ticks crossed");
    print!("{:<16}", "");
    for ticks in TICKS_CROSSED {
        print!("{ticks:>22}");
    }
    println!();
    for speed in speeds {
        print!("{:<16}", speed.name);
        for (nanoseconds, ours) in speed.nanoseconds.iter().zip(&ours.nanoseconds) {
            let times = format!("({:.1})", nanoseconds / ours);
            print!("{nanoseconds:>12.0} {times:>9}");
        }
        println!();
    }
    println!();
}
