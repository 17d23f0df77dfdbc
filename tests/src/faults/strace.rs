//! `strace`: it writes down what a process asks of the kernel, and answers in the kernel's place.

use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, Stdio};

use super::Result;

/// The calls that change files, their names and what of them is on disk.
const CALLS: &str = "open,openat,creat,close,dup,write,pwrite64,writev,pwritev,lseek,ftruncate,\
                     truncate,fallocate,fsync,fdatasync,rename,renameat,renameat2,link,linkat,\
                     unlink,unlinkat,mkdir,mkdirat,rmdir";

/// Why there is no `strace`, with the remedy; `None` where it works.
pub fn missing() -> Option<String> {
    let asked = Command::new("strace")
        .args(["-o", "/dev/null", "-e", "trace=close", "true"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match asked {
        Ok(status) if status.success() => None,
        Ok(status) => Some(format!("strace may not trace here ({status})")),
        Err(error) => Some(format!(
            "strace cannot be started ({error}); install the package `strace` of your system"
        )),
    }
}

/// The words of a command that runs `program` and writes every change it asks for to `file`, with
/// all the bytes.
pub fn recording(program: &[String], file: &Path) -> Vec<String> {
    let file = file.display().to_string();
    let trace = format!("trace={CALLS}");
    let words = ["strace", "-xx", "-s", "16777216", "-e", &trace, "-e", "signal=none", "-o", &file];
    words.iter().map(|word| (*word).to_owned()).chain(program.iter().cloned()).collect()
}

/// The words of a command that runs `program` and fails the `nth` sync of each of its threads, and
/// all later ones too if it is `for_good`. What it did is written to `file`.
pub fn failing_sync(program: &[String], file: &Path, nth: u32, for_good: bool) -> Vec<String> {
    let file = file.display().to_string();
    let more = if for_good { "+" } else { "" };
    let inject = format!("inject=fsync,fdatasync:error=EIO:when={nth}{more}");
    let calls = "trace=fsync,fdatasync,write";
    let words = ["strace", "-f", "-y", "-e", calls, "-e", &inject, "-o", &file];
    words.iter().map(|word| (*word).to_owned()).chain(program.iter().cloned()).collect()
}

/// What a process did under [`failing_sync`], in the order in which the kernel was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// This file or folder was synced.
    Synced(String),
    /// Syncing this one was answered with an error.
    Failed(String),
    /// This line was written to standard output.
    Said(String),
}

/// What [`failing_sync`] wrote.
pub fn events(file: &Path) -> Result<Vec<Event>> {
    let text = std::fs::read_to_string(file)?;
    // A call that another thread's came between stands in two lines.
    let mut begun: HashMap<&str, &str> = HashMap::new();
    let mut events = Vec::new();
    for line in text.lines() {
        let Some((thread, call)) = line.split_once(' ') else { continue };
        let call = call.trim_start();
        if let Some(first) = call.strip_suffix("<unfinished ...>") {
            begun.insert(thread, first);
            continue;
        }
        let resumed = call.strip_prefix("<... ").and_then(|rest| rest.split_once("resumed>"));
        let whole = match resumed {
            Some((_, rest)) => {
                let first = begun.remove(thread).ok_or("a call goes on that never began")?;
                format!("{first}{rest}")
            }
            None => call.to_owned(),
        };
        events.extend(Event::of(&whole)?);
    }
    Ok(events)
}

impl Event {
    /// The event of a whole call; `None` where it is of no interest.
    fn of(call: &str) -> Result<Option<Self>> {
        if let Some(rest) = call.strip_prefix("write(1<") {
            let line = rest.split_once(">, \"").and_then(|(_, rest)| rest.split_once("\\n\""));
            let (line, _) = line.ok_or("a line that is not understood")?;
            return Ok(Some(Self::Said(line.to_owned())));
        }
        if !call.starts_with("fsync(") && !call.starts_with("fdatasync(") {
            return Ok(None);
        }
        let (file, result) = call
            .split_once('<')
            .and_then(|(_, rest)| rest.split_once(">)"))
            .ok_or_else(|| format!("a sync that is not understood: {call}"))?;
        let failed = result.contains("EIO") && result.contains("(INJECTED)");
        let synced = result.trim_start().starts_with("= 0");
        match (failed, synced) {
            (true, _) => Ok(Some(Self::Failed(file.to_owned()))),
            (false, true) => Ok(Some(Self::Synced(file.to_owned()))),
            // The process was gone before the answer.
            (false, false) if result.contains("= ?") => Ok(None),
            (false, false) => Err(format!("a sync that failed by itself: {call}").into()),
        }
    }
}
