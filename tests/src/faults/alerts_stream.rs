//! A stream from a service that is killed (-9) repeatedly: a client that reconnects with its last id receives every
//! slot once, in order.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::alerts_scene::Scene;
use super::{Part, Progress, Result};
use crate::binaries;
use crate::devchain::Rng;

/// Number of clients, each subscribed to all slots.
const CLIENTS: usize = 3;

/// Latest time of a kill after the start of its process.
const LATEST_MS: u64 = 400;

/// Time limit for the remaining events.
const PATIENCE: Duration = Duration::from_mins(1);

/// The slots that a client received, in order.
type Told = Arc<Mutex<Vec<u32>>>;

/// Kills a service this many times while slots are sealed.
pub fn run(kills: u64, seed: u64, part: &mut Part, progress: Progress<'_>) -> Result<()> {
    for key in ["kills", "gaps", "events"] {
        part.set(&format!("stream.{key}"), 0_u64);
    }
    let mut scene = Scene::new(seed)?;
    let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
    let over = Arc::new(AtomicBool::new(false));
    let mut service = serve(scene.folder(), address)?;
    let clients: Vec<Told> = (0..CLIENTS).map(|_| Told::default()).collect();
    for told in &clients {
        let (told, over) = (told.clone(), over.clone());
        std::thread::spawn(move || listen(address, &told, &over));
    }
    let first = scene.last().number() + 1;
    until("the clients listen", || clients.iter().all(|told| !lock(told).is_empty()))?;
    let mut rng = Rng::new(seed ^ 0x57);
    for done in 0..kills {
        let (begun, at) = (Instant::now(), Duration::from_millis(rng.below(LATEST_MS)));
        while begun.elapsed() < at {
            scene.seal(0)?;
            std::thread::sleep(Duration::from_millis(20));
        }
        service.kill()?;
        service.wait()?;
        part.count("stream.kills");
        service = serve(scene.folder(), address)?;
        progress("stream: kills", done + 1, kills);
    }
    scene.seal(0)?;
    let last = scene.last().number();
    // Missing slots are counted below.
    let _ = until("the last slot is told", || {
        clients.iter().all(|told| lock(told).last() == Some(&last))
    });
    over.store(true, Ordering::SeqCst);
    service.kill()?;
    service.wait()?;
    for told in &clients {
        // Each list begins where the client started to listen, which is sent without an event.
        let told = lock(told).clone();
        let expected: Vec<u32> = (first..=last).collect();
        part.set("stream.events", part.number("stream.events") + told.len() as u64);
        let told: Vec<u32> = told.into_iter().filter(|slot| *slot >= first).collect();
        if told != expected {
            let at = told.iter().zip(&expected).position(|(one, other)| one != other);
            part.problem(
                "stream.gaps",
                format!("from the {at:?}th of {} slots on", expected.len()),
            );
        }
    }
    Ok(())
}

fn lock(told: &Told) -> std::sync::MutexGuard<'_, Vec<u32>> {
    told.lock().unwrap_or_else(PoisonError::into_inner)
}

fn until(what: &str, is_so: impl Fn() -> bool) -> Result<()> {
    let begun = Instant::now();
    while !is_so() {
        if begun.elapsed() > PATIENCE {
            return Err(format!("never: {what}").into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

fn serve(folder: &Path, address: SocketAddr) -> Result<Child> {
    let mut command = Command::new(binaries::path("exitgap-server"));
    command.args(["serve", "--no-record", "--listen", &address.to_string()]).current_dir(folder);
    command.env("EXITGAP_LOG_LEVEL", "error").env("EXITGAP_ALERTS_ENABLED", "false");
    command.env("EXITGAP_HTTP_RATE_PER_MINUTE", "0");
    Ok(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?)
}

/// Listens, and reconnects with the last id whenever the connection ends.
fn listen(address: SocketAddr, told: &Told, over: &AtomicBool) {
    let mut last = None;
    while !over.load(Ordering::SeqCst) {
        // The service may be down.
        let _ = listen_once(address, told, &mut last);
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn listen_once(address: SocketAddr, told: &Told, last: &mut Option<String>) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let from = last.as_ref().map_or(String::new(), |last| format!("Last-Event-ID: {last}\r\n"));
    write!(
        stream,
        "GET /v1/stream HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n{from}\r\n"
    )?;
    let (mut name, mut id) = (String::new(), String::new());
    for line in BufReader::new(stream).lines() {
        let line = line?;
        match line.split_once(": ") {
            Some(("event", text)) => text.clone_into(&mut name),
            Some(("id", text)) => text.clone_into(&mut id),
            // An event counts once it is complete.
            _ if line.is_empty() && !id.is_empty() => {
                let slot = id.split('.').next().and_then(|slot| slot.parse().ok());
                // The first event states the beginning, and is not a slot's.
                if let Some(slot) = slot.filter(|_| name == "slot" || lock(told).is_empty()) {
                    lock(told).push(slot);
                }
                *last = Some(std::mem::take(&mut id));
                name.clear();
            }
            _ => {}
        }
    }
    Ok(())
}
