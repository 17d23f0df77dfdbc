//! Tests the files in `deploy/` as far as a single machine allows: the systemd unit with systemd's own check and its
//! command line, and the last stage of the container file, step by step, in a separate root directory.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use exitgap_tests::binaries;
use exitgap_tests::devchain::{DevChain, World};
use tempfile::TempDir;

use super::document;
use crate::scenes::chain::scene;
use crate::scenes::service::exchange;

const UNIT: &str = "crates/exitgap-server/deploy/exitgap.service";
const CONTAINER: &str = "crates/exitgap-server/deploy/Containerfile";

/// The folder in which the unit and the container keep all data.
const HOME: &str = "/var/lib/exitgap";

/// The arguments of `init` for one pool of the chain.
fn init_of(chain: &DevChain, world: &World) -> Vec<String> {
    let pool = world.pools[0].pool;
    let mut words =
        vec!["init", "--config", "exitgap.toml", "--chain", "anvil", "--chain-id", "31337"]
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>();
    words.extend(["--rpc".to_owned(), chain.url()]);
    words.extend(["--pool".to_owned(), format!("{:#x}", pool.address)]);
    for token in [pool.token0, pool.token1] {
        let asset = world.asset(token).unwrap();
        let feed = format!("{:#x}={:#x}@{}", token, asset.feed.proxy, asset.heartbeat);
        words.extend(["--feed".to_owned(), feed]);
    }
    words
}

/// Requires that a command succeeds.
fn succeed(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{out}{err}", output.status);
}

/// A running service and its address. The test stops it at the end.
struct Started {
    child: Child,
    listen: SocketAddr,
    operators: SocketAddr,
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Started {
    fn of(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (mut listen, mut operators, mut heard) = (None, None, String::new());
        while listen.is_none() || operators.is_none() {
            let line = lines.next().unwrap_or_else(|| panic!("it ended: {heard}")).unwrap();
            let said = |what: &str| line.split_once(what)?.1.split(' ').next()?.parse().ok();
            listen = listen.or_else(|| said("listen="));
            operators = operators.or_else(|| said("operators="));
            heard += &line;
            heard.push('\n');
        }
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, listen: listen.unwrap(), operators: operators.unwrap() }
    }

    /// Requires that the service answers, and that SIGTERM ends it well within this time.
    fn answers_and_ends(mut self, within: Duration) {
        let ask = |address: SocketAddr, target: &str| {
            let request = format!("GET {target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
            exchange((std::net::Ipv4Addr::LOCALHOST, address.port()).into(), request.as_bytes())
        };
        assert_eq!(ask(self.operators, "/livez").status, 200);
        assert_eq!(ask(self.listen, "/v1/pools").status, 200);
        let process = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &process]).status().unwrap().success());
        let asked = Instant::now();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        assert!(asked.elapsed() < within, "it took {:?}", asked.elapsed());
    }
}

/// Returns the value of a key in the unit.
fn of_unit(unit: &str, key: &str) -> String {
    let begin = format!("{key}=");
    unit.lines().find_map(|line| line.strip_prefix(&begin)).expect(key).to_owned()
}

/// Returns systemd's complaints about a unit; empty if it has none.
fn verified(unit: &str) -> String {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("exitgap.service");
    fs::write(&file, unit).unwrap();
    let output = Command::new("systemd-analyze").arg("verify").arg(&file).output();
    let output = output.expect("systemd-analyze is here: install the package systemd");
    String::from_utf8(output.stderr).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs systemd: with `cargo xtask test --all`, which installs it"]
async fn systemd_finds_nothing_wrong_with_the_unit_and_its_command_line_serves() {
    let (chain, world) = scene().await;
    let home = TempDir::new().unwrap();
    let unit = document(UNIT);
    let (installed, built) =
        ("/usr/local/bin/exitgap-server", binaries::path("exitgap-server").display().to_string());
    let here = unit.replace(installed, &built);
    assert_eq!(verified(&here), "");
    // Control: an invalid unit causes a complaint.
    let wrong = here.replace("ProtectHome=true", "ProtectHom=true");
    assert!(verified(&wrong).contains("ProtectHom"));

    let folder = home.path();
    let here = here.replace(HOME, &folder.display().to_string());
    succeed(Command::new(&built).args(init_of(&chain, &world)).current_dir(folder));
    let key = "sudo -u exitgap exitgap-server key new ";
    let key = here.lines().find_map(|line| line.trim_start_matches(['#', ' ']).strip_prefix(key));
    let key =
        key.expect("the unit says how its key is made").replace("<your domain>", "example.org");
    succeed(Command::new(&built).args(["key", "new"]).args(key.split_whitespace()));
    let line = of_unit(&here, "ExecStart");
    let mut words = line.split(' ');
    let mut command = Command::new(words.next().unwrap());
    command.args(words).current_dir(of_unit(&here, "WorkingDirectory"));
    command.env("EXITGAP_HTTP_LISTEN", "127.0.0.1:0");
    command.env("EXITGAP_SERVE_OPERATORS", "127.0.0.1:0");
    let within: u64 = of_unit(&here, "TimeoutStopSec").parse().unwrap();
    Started::of(&mut command).answers_and_ends(Duration::from_secs(within));
}

/// The last stage of a container file, executed in a separate root directory.
struct Stage {
    root: PathBuf,
    user: String,
    folder: String,
    variables: BTreeMap<String, String>,
    entry: Vec<String>,
    command: Vec<String>,
    exposed: Option<String>,
}

impl Stage {
    fn new(root: PathBuf) -> Self {
        let (user, folder) = ("0".to_owned(), "/".to_owned());
        let (variables, entry, command) = (BTreeMap::new(), Vec::new(), Vec::new());
        Self { root, user, folder, variables, entry, command, exposed: None }
    }

    /// Executes one instruction.
    fn step(&mut self, instruction: &str, rest: &str) {
        let list = || serde_json::from_str::<Vec<String>>(rest).unwrap();
        match instruction {
            "RUN" => succeed(
                Command::new("chroot")
                    .env_remove("TMPDIR")
                    .arg(&self.root)
                    .args(["sh", "-ec", rest]),
            ),
            "COPY" => self.copy(rest),
            "USER" => rest.clone_into(&mut self.user),
            "WORKDIR" => rest.clone_into(&mut self.folder),
            "ENV" => {
                let (name, value) = rest.split_once('=').unwrap();
                self.variables.insert(name.to_owned(), value.to_owned());
            }
            "ENTRYPOINT" => self.entry = list(),
            "CMD" => self.command = list(),
            "EXPOSE" => self.exposed = Some(rest.to_owned()),
            "VOLUME" => assert!(self.inside(rest).is_dir(), "{rest} is made before"),
            "STOPSIGNAL" => assert_eq!(rest, "SIGTERM"),
            other => panic!("{other} is not known to this test"),
        }
    }

    /// Handles a COPY from the build stage: copies the program that this test run built.
    fn copy(&self, rest: &str) {
        let words: Vec<&str> = rest.split_whitespace().collect();
        let ["--from=build", from, to] = words[..] else { panic!("COPY {rest}") };
        let name = Path::new(from).file_name().unwrap();
        assert!(from.starts_with("/src/target/release/"), "{from}");
        let program = self.inside(to).join(name);
        fs::copy(binaries::path(name.to_str().unwrap()), &program).unwrap();
        fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn inside(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// The container's program with these arguments, as its user, in its working directory.
    fn run(&self, arguments: &[String], variables: &[(&str, &str)]) -> Command {
        let mut command = Command::new("chroot");
        command.arg(format!("--userspec={0}:{0}", self.user)).arg("--groups=").arg(&self.root);
        command.args(["env", "-i", "--chdir", &self.folder, "PATH=/usr/local/bin:/usr/bin:/bin"]);
        let set = self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        command.args(
            set.chain(variables.iter().copied()).map(|(name, value)| format!("{name}={value}")),
        );
        command.args(&self.entry).args(arguments);
        command
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: with `cargo xtask test --all`, as root on Debian, which installs debootstrap"]
async fn the_container_files_steps_make_a_root_in_which_its_program_serves() {
    let (chain, world) = scene().await;
    let file = document(CONTAINER);
    let steps = file.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let steps: Vec<(&str, &str)> = steps.filter_map(|line| line.split_once(' ')).collect();
    let last = steps.iter().rposition(|(instruction, _)| *instruction == "FROM").unwrap();
    let image = steps[last].1.rsplit(':').next().unwrap();
    let suite = image.strip_suffix("-slim").expect("a slim image of Debian");

    let home = TempDir::new().unwrap();
    let root = home.path().join("root");
    let mut debootstrap = Command::new("debootstrap");
    succeed(debootstrap.args(["--variant=minbase", suite]).arg(&root));
    let mut stage = Stage::new(root);
    for (instruction, rest) in &steps[last + 1..] {
        stage.step(instruction, rest);
    }
    assert_ne!(stage.user, "0", "its user is not root");
    let listens = stage.variables["EXITGAP_HTTP_LISTEN"].clone();
    assert_eq!(listens.split(':').next_back(), stage.exposed.as_deref());

    succeed(&mut stage.run(&init_of(&chain, &world), &[]));
    let key = ["key", "new", "--out", "exitgap.key", "--name", "example.org/exits"];
    succeed(&mut stage.run(&key.map(str::to_owned), &[]));
    // The container file documents how to set the address. Here the system chooses a free port.
    let free = [("EXITGAP_HTTP_LISTEN", "0.0.0.0:0"), ("EXITGAP_SERVE_OPERATORS", "0.0.0.0:0")];
    assert!(file.contains("-e EXITGAP_SERVE_OPERATORS=0.0.0.0:"));
    let mut serve = stage.run(&stage.command, &free);
    Started::of(&mut serve).answers_and_ends(Duration::from_secs(90));
    assert!(stage.inside(HOME).join("exitgap.db").is_file());
}
