//! `exitgap-server` as a process: init, check, record, signals, and `kill -9`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::channel;

use exitgap_core::series::Slot;
use exitgap_core::tlog::VerifierKey;
use exitgap_store::{Outcome, Reader};
use exitgap_tests::binaries;
use exitgap_tests::devchain::{DevChain, FIRST_SLOT, Market, PoolKind, World};
use serde_json::Value;
use tempfile::TempDir;

use crate::scenes::chain::scene;
use crate::scenes::proxy::{Lie, Proxy};
use crate::scenes::store::code_of;

pub(super) fn server(arguments: &[&str]) -> Command {
    let mut command = Command::new(binaries::path("exitgap-server"));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = server(arguments).output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

/// A configuration of a v3 pool and a v2 pair, in its own folder.
pub(super) struct Site {
    pub folder: TempDir,
    pub config: PathBuf,
}

impl Site {
    pub fn new(world: &World, url: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let mut text = format!(
            "[store]\npath = \"series.db\"\n[log]\nformat = \"json\"\n\
             [[chain]]\nslug = \"anvil\"\nchain_id = 31337\nrpc_urls = [\"{url}\"]\n"
        );
        for asset in &world.assets {
            let (name, feed) = (&asset.token.symbol, asset.feed.proxy);
            let heartbeat_s = asset.heartbeat;
            write!(
                text,
                "[[oracle]]\nname = \"{name}\"\nchain = \"anvil\"\nsource = \"chainlink\"\n\
                 feed = \"{feed}\"\nheartbeat_s = {heartbeat_s}\n"
            )
            .unwrap();
        }
        for pool in [&world.pools[0].pool, &world.pools[World::FIRST_V2].pool] {
            let symbol = |token| &world.asset(token).unwrap().token.symbol;
            let (token0, token1) = (symbol(pool.token0), symbol(pool.token1));
            write!(
                text,
                "[[pool]]\nchain = \"anvil\"\naddress = \"{}\"\nbase = \"token0\"\n\
                 token0_usd = [\"{token0}\"]\ntoken1_usd = [\"{token1}\"]\n",
                pool.address
            )
            .unwrap();
            if pool.kind == PoolKind::V2 {
                text.push_str("fee = { numerator = 3, denominator = 1000 }\n");
            }
        }
        let config = folder.path().join("exitgap.toml");
        fs::write(&config, text).unwrap();
        let key = folder.path().join("exitgap.key");
        let (code, public, err) =
            run(&["key", "new", "--name", "exitgap.example/test", "--out", key.to_str().unwrap()]);
        assert_eq!(code, Some(0), "{err}");
        let verifier: VerifierKey = public.trim_end().parse().unwrap();
        assert_eq!(verifier.name(), "exitgap.example/test");
        Self { folder, config }
    }

    fn config(&self) -> &str {
        self.config.to_str().unwrap()
    }

    /// Starts a recorder whose clock shows slot `n`, counted from the first slot of the series.
    fn record(&self, n: u64, until: Option<u64>) -> Running {
        Self::record_as(self.config(), n, until, &[])
    }

    /// The same with another configuration and environment variables.
    pub fn record_as(
        config: &str,
        n: u64,
        until: Option<u64>,
        variables: &[(&str, &Path)],
    ) -> Running {
        let at = (FIRST_SLOT + n).to_string();
        let mut command = server(&["record", "--config", config, "--rehearse-at", &at]);
        command.envs(variables.iter().copied());
        if let Some(until) = until {
            command.args(["--until", &(FIRST_SLOT + until).to_string()]);
        }
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        Running { child, lines }
    }

    /// The entries of the store, by slot counted from the series' first; they are the same for all pools.
    fn entries(&self) -> BTreeMap<u64, &'static str> {
        Self::entries_of(&self.folder.path().join("series.db"))
    }

    /// The same for another store.
    pub fn entries_of(store: &Path) -> BTreeMap<u64, &'static str> {
        let reader = Reader::open(store).unwrap();
        let mut all = Vec::new();
        for pool in reader.pools().unwrap() {
            let page = reader.entries(&pool, Slot::FIRST, Slot::LAST, 1_000).unwrap();
            let entry = |entry: &exitgap_store::Entry| {
                let words = match entry.outcome {
                    Outcome::Recorded(_) => "recorded",
                    Outcome::Missing(reason) => code_of(reason),
                    Outcome::Retired => "retired",
                };
                (u64::from(entry.slot.number()) - FIRST_SLOT, words)
            };
            all.push(page.entries.iter().map(entry).collect::<BTreeMap<_, _>>());
        }
        assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{all:?}");
        all.pop().unwrap_or_default()
    }
}

/// A running recorder. The test stops it at the end.
pub(super) struct Running {
    pub child: Child,
    pub lines: Lines<BufReader<ChildStderr>>,
}

impl Running {
    /// Returns the first log line with this message.
    pub fn line(&mut self, message: &str) -> Value {
        for line in self.lines.by_ref() {
            let line: Value = serde_json::from_str(&line.unwrap()).expect("a line is one object");
            if line["message"] == message {
                return line;
            }
        }
        panic!("it ended without saying {message:?}")
    }

    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &id]).status().unwrap();
        assert!(sent.success());
    }

    pub fn kill(mut self) {
        self.child.kill().unwrap();
        assert_eq!(self.child.wait().unwrap().signal(), Some(9), "it was killed");
    }

    /// Waits for the end; returns the exit code and the output after the last line read so far.
    pub fn end(mut self) -> (Option<i32>, String) {
        let rest: Vec<_> = self.lines.by_ref().map(Result::unwrap).collect();
        (self.child.wait().unwrap().code(), rest.join("\n"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The process has already ended, unless the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(super) async fn played(slots: u64) -> (DevChain, World) {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 8).await.unwrap();
    for n in 0..slots {
        market.play_slot(FIRST_SLOT + n).await.unwrap();
    }
    (chain, world)
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_between_slots_and_within_one_it_goes_on_and_shows_what_is_missing() {
    let (chain, world) = played(8).await;
    let proxy = Proxy::start(&chain.url());
    let site = Site::new(&world, &proxy.url());

    let mut first = site.record(0, None);
    let line = first.line("slot");
    assert_eq!((&line["recorded"], &line["missing"]), (&2.into(), &"".into()));
    assert_eq!(line["slot"], "2026-08-22T00:00:00Z");
    assert!(line["requests"].as_u64() > Some(0) && line["ms"].is_u64(), "{line}");

    // A second recorder on the same store.
    let second = site.record(1, None);
    let holder = first.child.id();
    let (code, said) = second.end();
    assert_eq!(code, Some(1));
    assert!(said.contains(&format!("another recorder (process {holder}) uses")), "{said}");
    first.kill();
    assert_eq!(site.entries(), BTreeMap::from([(0, "recorded")]));

    // The process is killed while it reads a slot: the node has received a request and does not answer.
    let (asked, was_asked) = channel();
    let asked = Mutex::new(asked);
    proxy.lie(move |_, _| {
        // The test waits only for the first request.
        let _ = asked.lock().unwrap().send(());
        Some(Lie::Hang)
    });
    let within = site.record(2, None);
    was_asked.recv().unwrap();
    within.kill();
    assert_eq!(site.entries(), BTreeMap::from([(0, "recorded")]), "nothing of the slot is there");

    proxy.be_honest();
    let (code, said) = site.record(4, Some(4)).end();
    assert_eq!(code, Some(0), "{said}");
    let down = "recorder_down";
    let expected = [(0, "recorded"), (1, down), (2, down), (3, down), (4, "recorded")];
    assert_eq!(site.entries(), BTreeMap::from(expected));
}

#[tokio::test(flavor = "multi_thread")]
async fn sigterm_finishes_the_slot_in_hand_and_a_second_one_drops_it_whole() {
    let (chain, world) = played(4).await;
    let proxy = Proxy::start(&chain.url());
    let site = Site::new(&world, &proxy.url());
    let hold = || {
        let (asked, was_asked) = channel();
        let (release, released) = channel::<()>();
        let gate = Mutex::new((asked, released));
        proxy.lie(move |_, _| {
            let gate = gate.lock().unwrap();
            // After the first request, the receiver is gone, and the proxy no longer delays the answers.
            if gate.0.send(()).is_ok() {
                let _ = gate.1.recv();
            }
            None
        });
        (was_asked, release)
    };

    let (was_asked, release) = hold();
    let mut running = site.record(0, None);
    was_asked.recv().unwrap();
    drop(was_asked);
    running.signal("TERM");
    assert_eq!(running.line("stopping on request")["stop"], "AfterSlot");
    drop(release);
    assert_eq!(running.line("slot")["recorded"], 2);
    assert_eq!(running.end().0, Some(0));
    assert_eq!(site.entries(), BTreeMap::from([(0, "recorded")]));

    let (was_asked, release) = hold();
    let mut running = site.record(1, None);
    was_asked.recv().unwrap();
    running.signal("TERM");
    assert_eq!(running.line("stopping on request")["stop"], "AfterSlot");
    running.signal("INT");
    assert_eq!(running.line("stopping on request")["stop"], "Now");
    assert_eq!(running.end().0, Some(0));
    drop((was_asked, release));
    assert_eq!(site.entries(), BTreeMap::from([(0, "recorded")]));

    // The recorder is not working on a slot, so it ends at once.
    proxy.be_honest();
    let mut running = site.record(1, None);
    running.line("slot");
    running.signal("TERM");
    assert_eq!(running.end().0, Some(0));
    assert_eq!(site.entries(), BTreeMap::from([(0, "recorded"), (1, "recorded")]));
}

#[tokio::test(flavor = "multi_thread")]
async fn check_asks_everything_and_says_what_is_wrong_and_what_to_do() {
    let (chain, world) = played(1).await;
    let site = Site::new(&world, &chain.url());
    let (code, out, err) = run(&["check", "--config", site.config()]);
    assert_eq!(code, Some(0), "{out}{err}");
    assert_eq!(out.lines().filter(|line| line.starts_with("ok: ")).count(), out.lines().count());
    assert!(out.contains("ok: pool anvil:") && out.contains("ok: oracle WETH"), "{out}");

    let change = |from: &str, to: &str| {
        let text = fs::read_to_string(&site.config).unwrap();
        assert!(text.contains(from));
        let path = site.folder.path().join("changed.toml");
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        run(&["check", "--config", path.to_str().unwrap()])
    };
    let (code, out, err) = change("chain_id = 31337", "chain_id = 31338");
    assert_eq!(code, Some(1));
    assert!(out.contains("chain id 31337, expected 31338") && out.contains("remedy: "), "{out}");
    assert!(err.contains("are errors"), "{err}");
    let token = world.assets[World::USDC].token.address;
    let (code, out, _) = change(&world.pools[0].pool.address.to_string(), &token.to_string());
    assert_eq!(code, Some(1));
    assert!(out.contains("error: pool anvil:") && out.contains("pool_unsupported"), "{out}");
    let (code, _, err) = change("[log]", "[logs]");
    assert_eq!(code, Some(1));
    assert!(err.contains("line 3") && err.contains("unknown field `logs`"), "{err}");
}

#[test]
fn init_writes_a_file_once_and_a_rehearsal_is_refused_on_a_live_chain() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("exitgap.toml");
    let path = path.to_str().unwrap();
    let (code, _, err) = run(&["init", "--config", path]);
    assert_eq!(code, Some(0), "{err}");
    let written = fs::read_to_string(path).unwrap();
    assert_eq!(written, exitgap_server::config::EXAMPLE);
    fs::write(path, "mine").unwrap();
    let (code, _, err) = run(&["init", "--config", path]);
    assert_eq!(code, Some(1));
    assert!(err.contains("already exists and is not overwritten"), "{err}");
    assert_eq!(fs::read_to_string(path).unwrap(), "mine");

    fs::write(path, written).unwrap();
    let (code, _, err) = run(&["record", "--config", path, "--rehearse-at", "5957857"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("ethereum is live"), "{err}");
    assert!(!Path::new(path).with_file_name("exitgap.db").exists());
    let (code, _, err) = run(&["record", "--config", path, "--until", "tomorrow"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("2026-08-22T00:05:00Z"), "{err}");
    let (code, _, err) = run(&["record", "--config", "nowhere.toml"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("exitgap-server init --config nowhere.toml"), "{err}");
}
