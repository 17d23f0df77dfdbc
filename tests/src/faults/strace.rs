//! `strace`: it writes down what a process asks of the kernel, and answers in the kernel's place.

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
    let words = ["strace", "-f", "-y", "-e", "trace=fsync,fdatasync", "-e", &inject, "-o", &file];
    words.iter().map(|word| (*word).to_owned()).chain(program.iter().cloned()).collect()
}

/// The syncs that were failed, from what [`failing_sync`] wrote: the file of each.
pub fn failed_syncs(file: &Path) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(file)?;
    let failed = text.lines().filter(|line| line.contains("(INJECTED)") && line.contains("EIO"));
    let name = |line: &str| {
        let path = line.split('<').nth(1).and_then(|rest| rest.split('>').next());
        path.unwrap_or(line).to_owned()
    };
    Ok(failed.map(name).collect())
}
