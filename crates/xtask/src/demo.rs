//! `cargo xtask demo`: builds the programs and hands over to `exitgap-demo`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Failure, Result};
use crate::{process, setup, web, workspace};

/// What `cargo xtask demo --help` prints.
pub const HELP: &str = "\
Play days on a development chain, record them, ask what an exit fills at, and serve.

Usage: cargo xtask demo [--once]

  --once   play one day, the same each time, print, and end

Builds the site (without --once), starts a private node with the real Uniswap and Chainlink contracts, plays eight days of five-minute
slots up to the present in step with the recorder (about four minutes), prints pools, a ladder and some
sizes, makes the real swap of an estimated size and shows the difference in token units. Then it leaves
the service and its pages running on http://127.0.0.1:8080 (or a free port), which records every five minutes like any
other, until Ctrl-C. Everything it starts ends with it. Database and configuration lie in target/demo
afterwards, to ask on.";

/// The programs of a demonstration.
pub struct Programs {
    /// `exitgap-demo`.
    pub demo: PathBuf,
    /// `exitgap-server`.
    pub server: PathBuf,
    /// `exitgap`.
    pub cli: PathBuf,
}

/// Builds them.
pub fn build(root: &Path) -> Result<Programs> {
    let mut build = workspace::cargo(root);
    // What the tests build, too: a selection of packages has other features of what they share.
    build.arg("build").args(workspace::NATIVE).arg("--bins");
    process::run(&mut build, "cargo build")?;
    let metadata = workspace::metadata(root)?;
    let binary = |name: &str| {
        let path = workspace::debug_binary(&metadata, name);
        if path.is_file() {
            return Ok(path);
        }
        Err(Failure::new(format!("the build made no {}", path.display()))
            .remedy("one of the packages does not declare its binary"))
    };
    let (demo, server) = (binary("exitgap-demo")?, binary("exitgap-server")?);
    Ok(Programs { demo, server, cli: binary("exitgap")? })
}

/// Builds and runs it.
pub fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let once = crate::flag(arguments, "--once")?;
    setup::ensure(root)?;
    if !once {
        web::build(root)?;
    }
    let programs = build(root)?;
    let mut demo = Command::new(programs.demo);
    demo.arg("--server").arg(programs.server);
    demo.arg("--cli").arg(programs.cli);
    demo.arg("--folder").arg(root.join("target/demo"));
    if once {
        demo.arg("--once");
    }
    demo.arg("--lifeline");
    process::run_on_lifeline(demo.current_dir(root), "exitgap-demo")
}
