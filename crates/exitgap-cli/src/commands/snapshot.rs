//! `exitgap snapshot`: a snapshot's canonical bytes.

use std::io::{self, Write};

use crate::arguments::Question;
use crate::failure::Failure;
use crate::source;

pub fn run(question: &Question) -> Result<(), Failure> {
    Ok(io::stdout().write_all(&source::canonical(question)?)?)
}
