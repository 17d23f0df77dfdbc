//! `exitgap snapshot`: a snapshot's canonical bytes.

use std::io::{self, Write};

use crate::arguments::Question;
use crate::failure::Failure;
use crate::source;

pub fn run(question: &Question) -> Result<(), Failure> {
    let found = source::find(question)?;
    let bytes =
        found.canonical.ok_or_else(|| source::unreadable("the snapshot's bytes are gone"))?;
    Ok(io::stdout().write_all(&bytes)?)
}
