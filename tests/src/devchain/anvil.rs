//! The node's process: started on a free port, and ended with its owner in every case.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::{DevChainError, Options, Result};
use crate::fixtures;

/// Runs the node in place of the shell, with a watcher process that blocks on a pipe held by this process.
///
/// The pipe closes when this process ends, however it ends (a panic, Ctrl-C, SIGKILL), and the watcher then ends the
/// node. `$$` is the shell's process id, which the node keeps after `exec`.
const WITH_WATCHER: &str = "exec 3<&0; (read -r _ <&3; kill -TERM $$) >/dev/null 2>&1 & exec \"$0\" \"$@\" 3<&- </dev/null";

/// Time limit for starting the node, also on a machine under load.
const START_LIMIT: Duration = Duration::from_mins(1);

/// Time limit for the node's shutdown before it is killed.
const STOP_LIMIT: Duration = Duration::from_secs(2);

/// A running node. Dropping it ends the process and waits for it.
#[derive(Debug)]
pub struct Anvil {
    child: Child,
    /// Held so that the watcher keeps waiting; `None` once the node is being stopped.
    lifeline: Option<ChildStdin>,
    port: u16,
    /// The node's cache folder, deleted with it.
    _cache: TempDir,
}

impl Anvil {
    /// Starts the node and waits until it listens. Blocks the calling thread (about 0.1 s).
    pub fn spawn(options: &Options) -> Result<Self> {
        let path = fixtures::anvil()?;
        let spawn_error = |source| DevChainError::Spawn { path: path.clone(), source };
        let cache = tempfile::tempdir().map_err(spawn_error)?;
        let mut command = Command::new("sh");
        command
            .arg("-c")
            .arg(WITH_WATCHER)
            .arg(&path)
            .args(arguments(options))
            .arg("--cache-path")
            .arg(cache.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().map_err(spawn_error)?;
        let lifeline = child.stdin.take();
        let stdout = child.stdout.take();
        let mut anvil = Self { child, lifeline, port: 0, _cache: cache };
        let (sender, receiver) = std::sync::mpsc::channel();
        // The node prints a line per request for as long as it lives, so its output must be read.
        std::thread::spawn(move || {
            let Some(stdout) = stdout else { return };
            for line in BufReader::new(stdout).lines().map_while(std::io::Result::ok) {
                // The receiver is dropped once the port is known.
                let _ = sender.send(line);
            }
        });
        anvil.port = wait_for_port(&receiver)?;
        Ok(anvil)
    }

    /// The URL of its JSON-RPC.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The process id, for tests that stop or kill the node.
    pub fn process_id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Anvil {
    fn drop(&mut self) {
        drop(self.lifeline.take());
        let started = Instant::now();
        while started.elapsed() < STOP_LIMIT {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(2)),
                Ok(Some(_)) | Err(_) => return,
            }
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn arguments(options: &Options) -> Vec<String> {
    let mut arguments: Vec<String> = [
        "--port",
        "0",
        "--host",
        "127.0.0.1",
        "--no-mining",
        // Keep transactions within a block in the order in which they were sent.
        "--order",
        "fifo",
        "--hardfork",
        "prague",
        "--gas-limit",
        "30000000000",
        "--balance",
        "1000000000",
        // A block's transactions are sent together, and may be large.
        "--no-request-size-limit",
        "--disable-console-log",
        "--color",
        "never",
    ]
    .map(str::to_owned)
    .into();
    let mut pair = |name: &str, value: String| arguments.extend([name.to_owned(), value]);
    pair("--chain-id", options.chain_id.to_string());
    pair("--timestamp", options.genesis_timestamp.to_string());
    if let Some(states) = options.prune_history {
        pair("--prune-history", states.to_string());
    }
    arguments
}

/// Reads lines until the one with the port that the system assigned.
fn wait_for_port(lines: &std::sync::mpsc::Receiver<String>) -> Result<u16> {
    let deadline = Instant::now() + START_LIMIT;
    let mut last = String::new();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let Ok(line) = lines.recv_timeout(left) else {
            return Err(DevChainError::NotListening {
                reason: format!("it did not tell its port; its last line was {last:?}"),
            });
        };
        if let Some(port) =
            line.strip_prefix("Listening on 127.0.0.1:").and_then(|port| port.trim().parse().ok())
        {
            return Ok(port);
        }
        if !line.trim().is_empty() {
            last = line;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_watcher_ends_the_process_when_the_pipe_closes() {
        let started = Instant::now();
        let mut child = Command::new("sh")
            .args(["-c", WITH_WATCHER, "sleep", "60"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(50));
        assert!(child.try_wait().unwrap().is_none(), "it ended while the pipe was open");
        drop(child.stdin.take());
        let status = child.wait().unwrap();
        assert!(!status.success());
        assert!(started.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn a_node_that_says_nothing_is_an_error_with_its_last_words() {
        let (sender, receiver) = std::sync::mpsc::channel();
        sender.send("Error: address in use".to_owned()).unwrap();
        drop(sender);
        let error = wait_for_port(&receiver).unwrap_err().to_string();
        assert!(error.contains("address in use"), "{error}");
    }
}
