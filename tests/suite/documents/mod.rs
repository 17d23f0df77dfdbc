//! The documents for whoever is new here: what they say to type is typed, and what they list is whole.

mod deployed;
mod every_address;
mod examples;
mod languages;
mod lists;
mod operators;
mod tutorial;

use std::fs;
use std::path::Path;

/// A document of the repository, by its path from the root.
fn document(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}
