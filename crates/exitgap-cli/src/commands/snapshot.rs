//! `exitgap snapshot`: a snapshot with its state, as their canonical bytes.

use std::io::{self, Write};

use crate::arguments::Question;
use crate::failure::Failure;
use crate::source::{self, unreadable};

pub fn run(question: &Question) -> Result<(), Failure> {
    let file = source::documents(question)?.to_file();
    let file = file.map_err(|error| unreadable(format!("the snapshot: {error}")))?;
    Ok(io::stdout().write_all(&file)?)
}
