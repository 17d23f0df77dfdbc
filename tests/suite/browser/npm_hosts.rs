//! The npm package on every host of its README, installed from its tarball into an empty folder: the README's program
//! runs there unchanged.

use std::fs;
use std::process::Command;

use crate::scenes::npm::{self, Project, as_the_readme_says, has_extension, root, said};

/// The number of hosts.
const ALL: usize = 20;

#[test]
fn import() {
    works("import");
}

#[test]
fn require() {
    works("require");
}

#[test]
fn vite() {
    works("vite");
}

#[test]
#[ignore = "slow: `cargo xtask test --all` runs it"]
fn dynamic_import() {
    works("dynamic_import");
}

#[test]
#[ignore = "slow: `cargo xtask test --all` runs it"]
fn webpack() {
    works("webpack");
}

#[test]
#[ignore = "slow: `cargo xtask test --all` runs it"]
fn parcel() {
    works("parcel");
}

#[test]
#[ignore = "slow: `cargo xtask test --all` runs it"]
fn react() {
    works("react");
}

#[test]
#[ignore = "slow: `cargo xtask test --all` runs it"]
fn bun() {
    works("bun");
}

#[test]
#[ignore = "slow: `cargo xtask test --all` runs it"]
fn deno() {
    works("deno");
}

#[test]
#[ignore = "slow: `cargo xtask test --all` runs it"]
fn vitest_node() {
    works("vitest_node");
}

#[test]
#[ignore = "slow: `cargo xtask test --all` runs it"]
fn vitest_jsdom() {
    works("vitest_jsdom");
}

#[test]
#[ignore = "slow: `cargo xtask test --all` runs it"]
fn vitest_happy_dom() {
    works("vitest_happy_dom");
}

#[test]
#[ignore = "slow: `cargo xtask test --all` runs it"]
fn jest() {
    works("jest");
}

#[test]
#[ignore = "slow: `cargo xtask test --all` runs it"]
fn strict_policy() {
    works("strict_policy");
}

#[test]
#[ignore = "slow: `cargo xtask test --all` runs it"]
fn next_server() {
    works("next_server");
}

#[test]
#[ignore = "slow: `cargo xtask test --all` runs it"]
fn next_client() {
    works("next_client");
}

#[test]
#[ignore = "slow: `cargo xtask test --all` runs it"]
fn next_edge() {
    works("next_edge");
}

#[test]
#[ignore = "slow: `cargo xtask test --all` runs it"]
fn workers() {
    works("workers");
}

#[test]
#[ignore = "slow: `cargo xtask test --all` runs it"]
fn esbuild() {
    works("esbuild");
}

#[test]
#[ignore = "slow: `cargo xtask test --all` runs it"]
fn rollup() {
    works("rollup");
}

/// Requires that the program finds on a host what the README says, and counts the host.
fn works(host: &str) {
    let hosts = npm::hosts();
    // Packages that a host needs are found from the project's folder upwards, like those of a user.
    let folder = tempfile::tempdir().unwrap();
    let parent = hosts.as_deref().unwrap_or(folder.path());
    let mut command = Command::new("node");
    command.arg(root().join("tests/js/hosts/run.mjs")).arg(host).arg(npm::tarball());
    command.arg(parent).arg(npm::tools()).args(hosts.as_deref());
    let output = command.output().expect("node is there");
    assert!(output.status.success(), "the host {host}: {}", said(&output));
    as_the_readme_says(std::str::from_utf8(&output.stdout).unwrap());
    // `cargo xtask test --all` counts these files.
    let measured = root().join("target/measured/pkg.hosts_ok");
    fs::create_dir_all(&measured).unwrap();
    fs::write(measured.join(host), ALL.to_string()).unwrap();
}

#[test]
fn every_host_has_a_test() {
    let table = fs::read_to_string(root().join("tests/js/hosts/table.mjs")).unwrap();
    let (_, rows) = table.split_once("HOSTS = {\n").unwrap();
    let names = rows.lines().filter_map(|line| line.strip_prefix("  ")?.split([':', ',']).next());
    let names: Vec<&str> = names.filter(|name| !name.starts_with([' ', '}'])).collect();
    assert_eq!(names.len(), ALL, "{names:?}");
    let tests = include_str!("npm_hosts.rs");
    for name in names {
        assert!(tests.contains(&format!("fn {name}() {{\n    works(\"{name}\");")), "{name}");
    }
}

/// Vite copies the module. Pages load the copy, and not the script that carries the module.
#[test]
fn vite_builds_it_with_one_module_beside_the_scripts() {
    let project = Project::new();
    project.add_from_readme();
    project.tool("vite", &["build", "--logLevel", "error"]);
    let built = project.path().join("dist");
    let assets: Vec<String> = fs::read_dir(built.join("assets"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let modules = assets.iter().filter(|name| has_extension(name, "wasm")).count();
    assert_eq!(modules, 1, "{assets:?}");
    let page = fs::read_to_string(built.join("index.html")).unwrap();
    for script in assets.iter().filter(|name| has_extension(name, "js")) {
        let size = fs::metadata(built.join("assets").join(script)).unwrap().len();
        assert!(size < 100_000 || !page.contains(script.as_str()), "{script} has the module in it");
    }
    as_the_readme_says(&project.page(&built, "index.html"));
}

#[test]
#[ignore = "slow: `cargo xtask test --all` runs it"]
fn vite_serves_it() {
    let project = Project::new();
    project.add_from_readme();
    let server = Vite::start(&project);
    as_the_readme_says(&project.page_at(project.path(), "index.html", Some(&server.address)));
}

/// The development server of Vite. Dropping this value stops it.
struct Vite {
    process: std::process::Child,
    address: String,
}

impl Vite {
    fn start(project: &Project) -> Self {
        use std::io::{BufRead, BufReader};
        let mut process = Command::new("node")
            .arg(npm::tool("vite"))
            .args(["--host", "127.0.0.1", "--port", "0", "--clearScreen", "false"])
            .current_dir(project.path())
            .env("NO_COLOR", "1")
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let address = lines
            .map_while(Result::ok)
            .find_map(|line| Some(format!("http://{}", line.split_once("http://")?.1)));
        let address = address.expect("vite says where it listens");
        Self { process, address: address.trim().trim_end_matches('/').to_owned() }
    }
}

impl Drop for Vite {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
