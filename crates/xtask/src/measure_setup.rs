//! `cargo xtask bench setup`: how long a newcomer waits for the sample's number, for the first number and for the pages.
//!
//! The last commit is cloned, and built with empty caches of cargo and npm by the README's command, whose output is
//! watched. The machine's own tools (the Rust toolchain, Node.js) are used.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::failure::{Context, Failure, Result};
use crate::process;

/// The line with the number of the recorded sample, which precedes every other number.
const SAMPLE_NUMBER: &str = "SAMPLE  exit gap ";

/// The line in which the first estimate prints its number.
const FIRST_NUMBER: &str = "exit gap ";

/// The line with the service's URL.
const PAGES: &str = "Begin here, in a browser: ";

/// Longer than any slow machine takes.
const WITHIN: Duration = Duration::from_hours(1);

/// Clones, builds, watches, and prints the times.
pub fn bench(root: &Path, json: bool) -> Result<()> {
    let folder = root.join("target/bench-setup");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).context(format!("removing {}", folder.display()))?;
    }
    std::fs::create_dir_all(&folder).context(format!("creating {}", folder.display()))?;
    let place = Place { folder };
    let clone = place.folder.join("clone");
    let mut git = Command::new("git");
    git.args(["clone", "--quiet", "--no-hardlinks"]).arg(root).arg(&clone);
    process::run(&mut git, "git clone")?;
    eprintln!("setup: the README's first command, from empty caches, in {}", clone.display());
    let started = Instant::now();
    let mut demo = Demo::start(&place.folder, &clone)?;
    let sample = demo.line_with(SAMPLE_NUMBER, started)?;
    eprintln!("setup: the sample's number after {} s: {}", sample.seconds, sample.line.trim());
    let first = demo.line_with(FIRST_NUMBER, started)?;
    eprintln!("setup: the first number after {} s: {}", first.seconds, first.line.trim());
    let pages = demo.line_with(PAGES, started)?;
    let address = pages.line.split_once(PAGES).map_or("", |(_, address)| address.trim());
    first_page(address)?;
    drop(demo);
    let try_s = try_seconds(&clone)?;
    let disk_mb = bytes_below(&place.folder)? / 1_000_000;
    let keys = [
        ("try_s", try_s),
        ("sample_number_s", sample.seconds),
        ("first_number_s", first.seconds),
        ("pages_s", pages.seconds),
        ("disk_mb", disk_mb),
    ];
    if json {
        let fields = keys.map(|(key, value)| format!("\"setup.{key}\":{value}"));
        println!("{{{}}}", fields.join(","));
    } else {
        for (key, value) in keys {
            println!("setup.{key:<28} {value:>12}");
        }
    }
    Ok(())
}

/// How long `exitgap try` takes, without any environment variable, in seconds, rounded up.
fn try_seconds(clone: &Path) -> Result<u64> {
    let started = Instant::now();
    let mut shown = Command::new(clone.join("target/debug/exitgap"));
    process::run(shown.arg("try").env_clear().stdout(Stdio::null()), "exitgap try")?;
    Ok(started.elapsed().as_millis().div_ceil(1000).try_into().unwrap_or(u64::MAX))
}

/// The working folder; removed at the end.
struct Place {
    folder: PathBuf,
}

impl Drop for Place {
    fn drop(&mut self) {
        // Leftovers are in target/, and the next run removes them.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A line, with the time it arrived.
struct Said {
    line: String,
    seconds: u64,
}

/// The demonstration, which ends with this process.
struct Demo {
    child: Child,
    lines: std::sync::mpsc::Receiver<String>,
}

impl Demo {
    fn start(folder: &Path, clone: &Path) -> Result<Self> {
        let mut demo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        demo.args(["xtask", "demo"]).current_dir(clone);
        demo.env("CARGO_HOME", folder.join("cargo")).env("npm_config_cache", folder.join("npm"));
        // This process's variables, which would point to this checkout.
        for name in ["CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH", "CARGO_TARGET_DIR"] {
            demo.env_remove(name);
        }
        let mut child =
            demo.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().context("starting cargo")?;
        let stdout = child.stdout.take();
        let (sender, lines) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let lines = stdout.into_iter().flat_map(|pipe| BufReader::new(pipe).lines());
            lines.map_while(std::io::Result::ok).try_for_each(|line| sender.send(line))
        });
        Ok(Self { child, lines })
    }

    /// Waits for a line that contains `wanted`.
    fn line_with(&mut self, wanted: &str, started: Instant) -> Result<Said> {
        loop {
            let left = WITHIN.saturating_sub(started.elapsed());
            let line = self.lines.recv_timeout(left).map_err(|_| {
                Failure::new(format!(
                    "the demo ended, or {WITHIN:?} passed, before it printed {wanted:?}"
                ))
                .remedy("its output is above")
            })?;
            if line.contains(wanted) {
                return Ok(Said { line, seconds: started.elapsed().as_secs() });
            }
        }
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // Its child processes end when it does.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Requests the page at `address` once, and requires that it is a page.
fn first_page(address: &str) -> Result<()> {
    let wrong = |what: String| Failure::new(format!("the first page at {address}: {what}"));
    let host = address.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(host).map_err(|error| wrong(error.to_string()))?;
    let request =
        format!("GET / HTTP/1.1\r\nhost: {host}\r\naccept: text/html\r\nconnection: close\r\n\r\n");
    let mut answer = String::new();
    stream
        .write_all(request.as_bytes())
        .and_then(|()| stream.read_to_string(&mut answer))
        .map_err(|error| wrong(error.to_string()))?;
    if answer.starts_with("HTTP/1.1 200") && answer.contains("<html") {
        return Ok(());
    }
    Err(wrong(format!("expected a page, got {}", answer.lines().next().unwrap_or("nothing"))))
}

/// The disk usage of the files in a folder.
fn bytes_below(folder: &Path) -> Result<u64> {
    let output = Command::new("du").args(["-s", "--block-size=1"]).arg(folder).output();
    let output = output.context("starting du")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let bytes = text.split_whitespace().next().and_then(|number| number.parse().ok());
    bytes.ok_or_else(|| Failure::new(format!("du reported no size for {}", folder.display())))
}
