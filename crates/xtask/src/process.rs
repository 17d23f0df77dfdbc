//! Runs other programs, always in this process group, so that Ctrl-C reaches them too.

use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::process::{Command, ExitStatus, Stdio};

use crate::failure::{Context, Failure, Result};

/// Runs a program with this process's stdin, stdout and stderr; if it fails, the failure has its exit code.
pub fn run(command: &mut Command, what: &str) -> Result<()> {
    let status = command.status().context(format!("starting {what}"))?;
    judge(status, what)
}

/// The same for a program that ends when its standard input ends, so that it never outlives this process.
pub fn run_on_lifeline(command: &mut Command, what: &str) -> Result<()> {
    let mut child = command.stdin(Stdio::piped()).spawn().context(format!("starting {what}"))?;
    // Waiting would close it, but it must stay open as long as this process exists.
    let lifeline = child.stdin.take();
    let status = child.wait().context(format!("waiting for {what}"))?;
    drop(lifeline);
    judge(status, what)
}

/// Runs a program whose output is passed on to stderr line by line, and returns the lines selected by `wanted` (without
/// colours), whether it succeeded or not.
pub fn run_and_pick(
    command: &mut Command,
    what: &str,
    wanted: fn(&str) -> bool,
) -> Result<(Vec<String>, Result<()>)> {
    if std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none() {
        command.env("CARGO_TERM_COLOR", "always");
    }
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context(format!("starting {what}"))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let picked = std::thread::scope(|scope| {
        let other = scope.spawn(move || stderr.map(|pipe| pass_on(pipe, wanted)));
        let mut picked = stdout.map(|pipe| pass_on(pipe, wanted)).unwrap_or_default();
        picked.extend(other.join().ok().flatten().unwrap_or_default());
        picked
    });
    let status = child.wait().context(format!("waiting for {what}"))?;
    Ok((picked, judge(status, what)))
}

/// Runs a program and returns its standard output; if it fails, the failure has its standard error.
pub fn output(command: &mut Command, what: &str) -> Result<String> {
    let output = command.output().context(format!("starting {what}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    Err(Failure::new(format!("{what} ended with {}:\n    {}", output.status, words.trim())))
}

/// Converts an exit status to a result.
fn judge(status: ExitStatus, what: &str) -> Result<()> {
    if status.success() {
        return Ok(());
    }
    // A program ended by a signal has no exit code; this then uses the general one.
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Err(Failure::new(format!("{what} ended with {status}")).with_code(code))
}

fn pass_on(pipe: impl std::io::Read, wanted: fn(&str) -> bool) -> Vec<String> {
    let mut picked = Vec::new();
    let mut reader = BufReader::new(pipe);
    let mut line = Vec::new();
    while matches!(reader.read_until(b'\n', &mut line), Ok(read) if read > 0) {
        // Keep reading the program's output to its end, even if stderr is closed.
        let _ = std::io::stderr().lock().write_all(&line);
        let plain = without_colours(&String::from_utf8_lossy(&line));
        if wanted(&plain) {
            picked.push(plain.trim().to_owned());
        }
        line.clear();
    }
    picked
}

/// Removes the escape sequences that set colours.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' {
            characters.by_ref().find(char::is_ascii_alphabetic);
        } else {
            plain.push(character);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_removed_and_words_kept() {
        let coloured = "\u{1b}[32;1m     Summary\u{1b}[0m [ 1.0s] 3 tests run";
        assert_eq!(without_colours(coloured), "     Summary [ 1.0s] 3 tests run");
    }

    #[test]
    fn lines_are_picked_from_both_streams_and_the_exit_code_is_kept() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo keep 1; echo drop; echo keep 2 >&2; exit 7"]);
        let (mut lines, end) =
            run_and_pick(&mut command, "a script", |line| line.starts_with("keep")).unwrap();
        lines.sort();
        assert_eq!(lines, ["keep 1", "keep 2"]);
        assert_eq!(end.unwrap_err().code(), 7);
    }
}
