//! `cargo xtask bench web`: the site's size, and the speed of its pages in a real browser.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::failure::{Context, Failure, Result};
use crate::{demo, process, setup, web};

/// Simulates and records a day, serves it, and measures the pages.
pub fn bench(root: &Path) -> Result<()> {
    setup::ensure(root)?;
    let modules = setup::ensure_npm_tools(root)?;
    let lighthouse = setup::ensure_lighthouse(root)?;
    setup::ensure_chromium();
    web::build(root)?;
    let programs = demo::build(root)?;
    let folder = root.join("target/bench-web");
    let mut play = Command::new(&programs.demo);
    play.arg("--server").arg(&programs.server).arg("--cli").arg(&programs.cli);
    // Only the figures go to standard output.
    play.arg("--folder").arg(&folder).arg("--once").stdout(Stdio::null());
    process::run(&mut play, "exitgap-demo")?;
    let mut serve = Command::new(&programs.server);
    serve.args(["serve", "--config", "exitgap.toml", "--no-record", "--listen", "127.0.0.1:0"]);
    serve.env("EXITGAP_HTTP_RATE_PER_MINUTE", "100000").env("EXITGAP_LOG_LEVEL", "info");
    let mut service = Service(
        serve
            .current_dir(&folder)
            .stderr(Stdio::piped())
            .spawn()
            .context("starting exitgap-server")?,
    );
    let address = service.address()?;
    let mut measure = Command::new("node");
    measure.arg(root.join("tests/web/measure.mjs")).arg(address).arg(modules);
    measure.arg(root.join("web/dist")).arg(folder.join("screenshots")).arg(lighthouse);
    process::run(&mut measure, "node (measuring the pages)")
}

/// Ends with this process.
struct Service(Child);

impl Service {
    /// Its address, from its output.
    fn address(&mut self) -> Result<String> {
        let stderr =
            self.0.stderr.take().ok_or_else(|| Failure::new("exitgap-server has no stderr"))?;
        let mut lines = BufReader::new(stderr).lines().map_while(std::result::Result::ok);
        let said = lines.find_map(|line| {
            let rest = line.split_once("listen=")?.1;
            rest.split(' ').next().map(|address| format!("http://{address}"))
        });
        // Later output is read and discarded, so that the process never blocks on a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        said.ok_or_else(|| Failure::new("exitgap-server did not print its address"))
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
