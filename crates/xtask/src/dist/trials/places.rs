//! Runs a program in a root of its own, and asks a service.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::failure::{Context, Failure, Result};
use crate::process;

/// How long a service may take for an answer.
const PATIENCE: Duration = Duration::from_mins(1);

/// A folder that is the root of a program.
pub struct Root {
    pub folder: PathBuf,
    /// The numeric user; `None` for this process's.
    user: Option<u32>,
    /// Whether this process may change the root.
    is_possible: bool,
}

impl Root {
    pub fn new(folder: PathBuf, user: Option<u32>) -> Self {
        let id = process::output(Command::new("id").arg("-u"), "id");
        Self { folder, user, is_possible: id.is_ok_and(|id| id.trim() == "0") }
    }

    /// Where programs run.
    pub fn describe(&self) -> &'static str {
        if self.is_possible {
            "in a root with nothing else"
        } else {
            "in this system, because only root may change the root"
        }
    }

    /// The program at a path in the root, without variables.
    pub fn command(&self, program: &str) -> Command {
        if !self.is_possible {
            let mut command = Command::new(self.folder.join(program));
            command.env_clear();
            return command;
        }
        let mut command = Command::new("chroot");
        if let Some(user) = self.user {
            command.arg(format!("--userspec={user}:{user}")).arg("--groups=");
        }
        command.arg(&self.folder).arg(format!("/{program}"));
        // Where `chroot` itself is found.
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        command
    }
}

/// A service that ends with this value.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs `exitgap-server try`, which must answer with pages and numbers, and end when asked to.
pub fn serves(root: &Root, program: &str) -> Result<()> {
    let mut command = root.command(program);
    let child = command.arg("try").stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let mut serving = Serving(child.context(format!("starting {program}"))?);
    let output = serving.0.stdout.take().ok_or_else(|| Failure::new("no output"))?;
    let mut said = String::new();
    for line in BufReader::new(output).lines().map_while(std::result::Result::ok) {
        said += &(line + "\n");
        if said.contains("Ctrl-C") {
            break;
        }
    }
    let address = said.split_once("http://").and_then(|(_, rest)| rest.split('/').next());
    let address: Option<SocketAddr> = address.and_then(|address| address.parse().ok());
    let address = address.ok_or_else(|| Failure::new(format!("{program} try printed {said:?}")))?;
    for (target, accept, part) in [
        ("/v1/pools", "application/json", "\"pools\""),
        ("/", "text/html", "<script type=\"module\">"),
    ] {
        let answer = ask(address, target, accept)?;
        if !answer.starts_with("HTTP/1.1 200 ") || !answer.contains(part) {
            let begin: String = answer.chars().take(300).collect();
            return Err(Failure::new(format!("{program} answered {target} with: {begin}")));
        }
    }
    let id = serving.0.id().to_string();
    process::output(Command::new("kill").args(["-TERM", &id]), "kill")?;
    let status = serving.0.wait().context("waiting for the service")?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::new(format!("{program} try ended with {status} after SIGTERM")))
}

/// The whole answer to one request.
fn ask(address: SocketAddr, target: &str, accept: &str) -> Result<String> {
    let asking = || format!("asking http://{address}{target}");
    let mut stream = TcpStream::connect(address).context(asking())?;
    stream.set_read_timeout(Some(PATIENCE)).context(asking())?;
    let request = format!(
        "GET {target} HTTP/1.1\r\nHost: {address}\r\nAccept: {accept}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).context(asking())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).context(asking())?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
