//! A browser's own `EventSource` while the service is killed and restarted: it receives each slot exactly once.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use exitgap_store::Store;
use exitgap_tests::{binaries, fixtures};
use tempfile::TempDir;

use crate::scenes::store::{BusyPool, key, slot};

/// How often the test kills the service.
const KILLS: u32 = 3;

/// A configuration of a chain that the test does not query.
const CONFIG: &str = r#"
[store]
path = "series.db"

[[chain]]
slug = "anvil"
chain_id = 31337
rpc_urls = ["http://127.0.0.1:1"]

[[oracle]]
name = "one"
chain = "anvil"
source = "chainlink"
feed = "0x0000000000000000000000000000000000000007"
heartbeat_s = 3600

[[pool]]
chain = "anvil"
address = "0x000000000000000000000000000000000000aa01"
base = "token0"
token0_usd = ["one"]
token1_usd = ["one"]
"#;

fn serve(folder: &Path, address: SocketAddr) -> Child {
    let mut command = Command::new(binaries::path("exitgap-server"));
    command.args(["serve", "--no-record", "--listen", &address.to_string()]).current_dir(folder);
    command.env("EXITGAP_LOG_LEVEL", "error").stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    while std::net::TcpStream::connect(address).is_err() {
        assert!(Instant::now() < until, "the service does not listen");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

#[test]
fn a_browser_is_told_every_slot_once_through_a_service_that_is_killed() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("exitgap.toml"), CONFIG).unwrap();
    let mut store = Store::create(folder.path().join("series.db"), &key()).unwrap();
    let (mut pool, mut next) = (BusyPool::new(1, 5), 0);
    let mut seal = |count: u32| {
        for _ in 0..count {
            store.append_slot(slot(next), &[pool.recorded(slot(next))]).unwrap();
            next += 1;
        }
        next - 1
    };
    let first = seal(2);
    let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let mut service = serve(folder.path(), address);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut page = Command::new("node");
    page.arg(root.join("tests/web/stream.mjs")).arg(format!("http://{address}"));
    page.arg(fixtures::folder().join("npm-tools/node_modules"));
    page.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut page = page.spawn().unwrap();
    let mut lines = BufReader::new(page.stdout.take().unwrap()).lines().map_while(Result::ok);
    for _ in 0..KILLS {
        assert_eq!(lines.next().as_deref(), Some("open"), "the browser is connected");
        seal(2);
        // By now, the stream has sent some of the slots; others may be outstanding.
        std::thread::sleep(Duration::from_millis(700));
        seal(1);
        service.kill().unwrap();
        service.wait().unwrap();
        seal(2);
        service = serve(folder.path(), address);
    }
    assert_eq!(lines.next().as_deref(), Some("open"), "it came back by itself");
    let last = seal(1);
    writeln!(page.stdin.take().unwrap(), "{}", slot(last).number()).unwrap();
    let told: Vec<String> = serde_json::from_str(&lines.next().unwrap_or_default()).unwrap();
    let expected: Vec<String> =
        (first + 1..=last).map(|n| format!("slot {}.0", slot(n).number())).collect();
    assert_eq!(told, expected);
    let output = page.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    service.kill().unwrap();
    service.wait().unwrap();
}
