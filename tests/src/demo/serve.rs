//! The service on the recorded data, in real time until stopped.

use std::error::Error;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::process::Child;

use super::play::Day;
use super::{Demo, operators, step};
use crate::devchain::{DevChain, Market, SLOT_SECONDS, Venues, World};

/// The service's port, unless it is in use.
pub const PORT: u16 = 8080;

/// Time limit for the service's first answer.
const START_WITHIN: Duration = Duration::from_secs(30);

/// The number of the current slot.
pub fn slot_now() -> Result<u64, Box<dyn Error>> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() / SLOT_SECONDS)
}

/// Starts the service, which records from here on, and simulates each slot in real time.
pub async fn go_on(
    demo: &Demo,
    chain: &DevChain,
    market: &mut Market<'_>,
    (world, venues): (&World, &Venues),
    day: &Day,
) -> Result<(), Box<dyn Error>> {
    let site = match &demo.pages {
        Some(pages) => wait_for_pages(pages).await?,
        None => None,
    };
    let address = free_address("")?;
    let second = operators::prepare(demo, chain, (world, venues), day, &address)?;
    step("serving, and recording every five minutes from now on");
    let site = site.map(|site| site.display().to_string());
    let pages: Vec<&str> = site.iter().flat_map(|site| ["--site", site]).collect();
    let mut other = operators::serving(demo, &second.config, &second.address, &[])?;
    wait_until_ready(&mut other, &second.address).await?;
    let mut service = operators::serving(demo, &day.config, &address, &pages)?;
    wait_until_ready(&mut service, &address).await?;
    show(demo, &format!("http://{address}"), &second.address, world);
    let mut next = u64::from(day.slot.number()) + 1;
    loop {
        let instant = UNIX_EPOCH + Duration::from_secs(next * SLOT_SECONDS);
        let left = instant.duration_since(SystemTime::now()).unwrap_or_default();
        tokio::select! {
            ended = service.wait() => return Err(format!("the service ended with {}", ended?).into()),
            ended = other.wait() => return Err(format!("the second operator's ended with {}", ended?).into()),
            () = tokio::time::sleep(left) => {}
        }
        market.play_slot(next).await?;
        next = next.max(slot_now()?) + 1;
    }
}

/// Waits until the build of the pages writes their folder, or reports that it failed: then the service starts without
/// them.
async fn wait_for_pages(pages: &Path) -> Result<Option<PathBuf>, Box<dyn Error>> {
    if !pages.exists() {
        step("waiting for the service's pages, which are still being built");
    }
    while !pages.exists() {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let site = std::fs::read_to_string(pages)?;
    if site.is_empty() {
        eprintln!("   the pages could not be built: the service begins without them");
    }
    Ok(Some(site).filter(|site| !site.is_empty()).map(PathBuf::from))
}

/// A free address for a service: the expected port, unless it is in use or reserved.
pub fn free_address(taken: &str) -> Result<String, Box<dyn Error>> {
    let port = match TcpListener::bind((Ipv4Addr::LOCALHOST, PORT)) {
        Ok(_) if !taken.ends_with(&format!(":{PORT}")) => PORT,
        _ => TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port(),
    };
    Ok(format!("127.0.0.1:{port}"))
}

/// Waits until the service answers.
pub async fn wait_until_ready(service: &mut Child, address: &str) -> Result<(), Box<dyn Error>> {
    let answers = async {
        while tokio::net::TcpStream::connect(address).await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::select! {
        ended = service.wait() => Err(format!("the service ended with {}", ended?).into()),
        answered = tokio::time::timeout(START_WITHIN, answers) => Ok(answered?),
    }
}

/// Prints suggestions for what to try.
fn show(demo: &Demo, base: &str, second: &str, world: &World) {
    let (cli, witnesses) = (demo.cli.display(), demo.folder.join("witnesses"));
    let witnesses = witnesses.display();
    let deep = format!("anvil:{:#x}", world.pools[0].pool.address);
    println!(
        "
Begin here, in a browser: {base}/

The service answers at {base} until Ctrl-C. To try from a shell:

  curl '{base}/v1/pools'
  curl '{base}/v1/exit/{deep}?size_usd=50000'        # exit_gap_pct, days_observed, evidence_url
  curl '{base}/v1/ladder/{deep}'
  curl '{base}/v1/history/{deep}?size_usd=100000&interval=1h'
  curl '{base}/v1/fragility'
  curl '{base}/v1/portfolio?position={deep}:250000'
  curl -o evidence.json '<the evidence_url of a result>'
  curl -o key '{base}/log/verifier-key'
  {cli} verify evidence.json --trust key
  {cli} verify {deep} --size-usd 50000 --api {base} --kept seen    # all of that, and remembers the log
  {cli} alert keep {deep} --kind gap_above --size-usd 50000 --pct 1 --api {base}    # be told when it is worse

A second operator records the same pools at http://{second}; from the next slot on each cosigns the other's log:

  {cli} verify evidence.json --trust key --witnesses {witnesses}    # also: since when it was there, and by whose clock

  {base}/docs lists every address."
    );
}
