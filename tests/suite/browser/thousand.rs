//! The board with a store of a thousand pools.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::Ordering;

use exitgap_server::http::Connections;
use exitgap_tests::fixtures;

use crate::scenes::here::{Here, With, stored};
use crate::scenes::store::{BusyPool, slot};

const POOLS: u32 = 1_000;

/// Each pool has its own market. Its name does not reveal which of 256 seeds was used.
fn pool(number: u32) -> BusyPool {
    let [.., low] = number.to_be_bytes();
    let mut pool = BusyPool::new(low, 4);
    pool.id = format!("anvil:0x{:040x}", number + 1).parse().unwrap();
    pool
}

#[test]
fn a_thousand_recorded_pools_are_paged_searched_and_ordered() {
    let mut pools: Vec<BusyPool> = (0..POOLS).map(pool).collect();
    let mut sealed = |n| pools.iter_mut().map(|pool| pool.recorded(slot(n))).collect();
    let folder = stored(&[sealed(0), sealed(1)]);
    // At the start, the script requests data of all pools at once.
    let connections = Connections { most_per_address: None, ..Connections::default() };
    let here = Here::start(folder.path(), With { connections, ..With::default() });
    here.now.store(slot(1).unix_s() + 60, Ordering::SeqCst);
    here.refresh();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut script = Command::new("node");
    script.arg(root.join("tests/web/thousand.mjs")).arg(format!("http://{}", here.address));
    script.arg(fixtures::folder().join("npm-tools/node_modules"));
    let output = script.arg(root.join("target/screenshots")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    println!("{said}");
}
