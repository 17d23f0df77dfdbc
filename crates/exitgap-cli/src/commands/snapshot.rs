//! `exitgap snapshot`: prints the canonical bytes of a snapshot with its state.

use std::io::{self, Write};

use crate::arguments::Question;
use crate::failure::Failure;
use crate::source::{self, unreadable};

pub fn run(question: &Question) -> Result<(), Failure> {
    let (pool, documents) = source::documents(question)?;
    let file = documents.to_file(&pool);
    let file = file.map_err(|error| unreadable(format!("the snapshot: {error}")))?;
    Ok(io::stdout().write_all(&file)?)
}
