//! The documents for new users: the tests execute their commands, and their lists are complete.

mod deployed;
mod every_address;
mod examples;
mod install;
mod languages;
mod lists;
mod llms;
mod operators;
mod tutorial;

use std::fs;
use std::path::Path;

/// Reads a document of the repository, by its path from the root.
fn document(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}
