//! `exitgap capabilities`: what a service supports, and how far clients may rely on it.

use std::io::Write;
use std::process::ExitCode;

use exitgap_api::Capabilities;

use super::print_json;
use crate::failure::Failure;
use crate::format::{Columns, printable};
use crate::source::api;

pub fn run(url: &str, json: bool) -> Result<ExitCode, Failure> {
    let told = api::with(url, async |client| client.capabilities().await)?;
    if json { print_json(&told) } else { print_text(&told) }?;
    Ok(ExitCode::SUCCESS)
}

fn print_text(told: &Capabilities) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let mut chains = Columns::new(&["<chain", "<status", "<newest slot", "<not live because"]);
    for chain in &told.chains {
        let or_none = |text: &Option<String>| text.as_deref().map_or("-".to_owned(), printable);
        chains.row(vec![
            printable(&chain.chain),
            chain.status.code().to_owned(),
            or_none(&chain.newest_recorded_slot),
            or_none(&chain.not_live_because),
        ]);
    }
    let mut can =
        Columns::new(&["<capability", "<status", "<live on", "<where, or what is missing"]);
    for one in &told.capabilities {
        let live_on = if one.live_on.is_empty() { "-".to_owned() } else { one.live_on.join(", ") };
        can.row(vec![
            printable(&one.capability),
            one.status.code().to_owned(),
            printable(&live_on),
            printable(&one.place),
        ]);
    }
    Ok(write!(out, "{chains}\n{can}")?)
}
