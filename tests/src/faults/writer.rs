//! The process that is killed and cut off: it records and publishes like the recorder, slot after slot, and prints each
//! to standard output.

use std::io::Write;
use std::process::{Command, Stdio};

use super::Result;
use super::home::{Home, next_slot};
use super::scene::{Scene, slot};
use crate::binaries;

/// Records into `home` until killed, or up to, but excluding, slot `until`. Closes and reopens the store after every
/// `sitting` slots, so that the writes at closing occur too.
pub fn record(home: &Home, until: Option<u32>, sitting: Option<u32>) -> Result<()> {
    loop {
        let mut store = home.open_or_create()?;
        let folder = home.log_folder();
        folder.check(store.reader())?;
        folder.publish(store.reader())?;
        let next = next_slot(store.reader())?;
        if let Some(last) = next.checked_sub(1) {
            home.give_again(&mut store, last)?;
        }
        for n in next..sitting.map_or(u32::MAX, |slots| next + slots) {
            if until.is_some_and(|until| n >= until) {
                return Ok(());
            }
            store.append_slot(slot(n), &home.scene().entries(n))?;
            say(&format!("committed {n}"))?;
            folder.publish(store.reader())?;
            say(&format!("published {n}"))?;
        }
    }
}

/// Prints a line to standard output, in one write.
pub fn say(line: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes())?;
    out.flush()
}

/// The command line of the built program `faults` for a role (`writer` or `recorder`) in `home`.
pub fn arguments(part: &str, home: &Home) -> Vec<String> {
    let Scene { pools, positions } = home.scene();
    let program = binaries::path("faults").display().to_string();
    let folder = home.folder().display().to_string();
    let pools = pools.to_string();
    let positions = positions.to_string();
    [&program, part, "--home", &folder, "--pools", &pools, "--positions", &positions]
        .map(str::to_owned)
        .into()
}

/// A command with these arguments, whose standard output is read.
pub fn command(words: &[String]) -> Command {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}
