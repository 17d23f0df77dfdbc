//! `strace`: records a process's system calls, and can return errors in the kernel's place.

use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, Stdio};

use super::Result;

/// The calls that change files, their names, or which of their data is on disk.
const CALLS: &str = "open,openat,creat,close,dup,write,pwrite64,writev,pwritev,lseek,ftruncate,\
                     truncate,fallocate,fsync,fdatasync,rename,renameat,renameat2,link,linkat,\
                     unlink,unlinkat,mkdir,mkdirat,rmdir";

/// Why `strace` is not available, with the remedy; `None` if it works.
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

/// The command that runs `program` and records all of its changes in `file`, with all bytes.
pub fn recording(program: &[String], file: &Path) -> Vec<String> {
    let file = file.display().to_string();
    let trace = format!("trace={CALLS}");
    let words = ["strace", "-xx", "-s", "16777216", "-e", &trace, "-e", "signal=none", "-o", &file];
    words.iter().map(|word| (*word).to_owned()).chain(program.iter().cloned()).collect()
}

/// The command that runs `program` and fails the `nth` sync of each of its threads, and with `for_good` also all later
/// ones. Its calls are recorded in `file`.
pub fn failing_sync(program: &[String], file: &Path, nth: u32, for_good: bool) -> Vec<String> {
    let file = file.display().to_string();
    let more = if for_good { "+" } else { "" };
    let inject = format!("inject=fsync,fdatasync:error=EIO:when={nth}{more}");
    let calls = "trace=fsync,fdatasync,write";
    let words = ["strace", "-f", "-y", "-e", calls, "-e", &inject, "-o", &file];
    words.iter().map(|word| (*word).to_owned()).chain(program.iter().cloned()).collect()
}

/// What a process did under [`failing_sync`], in the order of its system calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// This file or folder was synced.
    Synced(String),
    /// Syncing this one returned an error.
    Failed(String),
    /// This line was written to standard output.
    Said(String),
}

/// The events recorded by [`failing_sync`].
pub fn events(file: &Path) -> Result<Vec<Event>> {
    let text = std::fs::read_to_string(file)?;
    // A call that was interleaved with another thread's spans two lines.
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
    /// The event of a complete call; `None` if it is irrelevant.
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
            // The process ended before the call returned.
            (false, false) if result.contains("= ?") => Ok(None),
            (false, false) => Err(format!("a sync that failed by itself: {call}").into()),
        }
    }
}
