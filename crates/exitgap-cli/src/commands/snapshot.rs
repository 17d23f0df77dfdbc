//! `exitgap snapshot`: a snapshot's canonical bytes.

use std::io::{self, Write};

use exitgap_api::{Problem, ProblemCode};

use crate::arguments::Question;
use crate::failure::Failure;
use crate::source;

pub fn run(question: &Question) -> Result<(), Failure> {
    let found = source::find(question)?;
    let Some(bytes) = found.canonical else {
        let detail =
            "the latest block of a chain is not a slot's snapshot: it has no bytes to name";
        return Err(Problem::new(ProblemCode::InvalidParameter, detail)
            .field("rpc")
            .hint("read a recorded slot with --db")
            .into());
    };
    Ok(io::stdout().write_all(&bytes)?)
}
