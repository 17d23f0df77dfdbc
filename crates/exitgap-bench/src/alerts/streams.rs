//! A slot sent to ten thousand streams: service and clients are separate processes, on loopback.

use std::io::BufRead;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use exitgap_core::tlog::SignerKey;
use exitgap_server::http::{App, Connections, Limits, Listener, Operators, router};
use exitgap_server::ops::{Bounds, Service, Urls};
use exitgap_store::Store;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpSocket;
use tokio::sync::watch;

use super::failed;
use crate::BenchError;
use crate::effort::Effort;
use crate::evidence::slot;
use crate::http::Part;
use crate::market::BusyPool;
use crate::report::Report;

/// Number of streams.
const STREAMS: Effort<u32> = Effort::new(10_000, 60);

/// Streams per client, the maximum allowed.
const OF_CLIENT: u32 = 6;

/// Pools of the service; each stream subscribes to one.
const POOLS: u16 = 20;

/// Number of slots sent; the slowest of them counts.
const SLOTS: Effort<u32> = Effort::new(3, 1);

/// Adds `stream.connections` and `stream.fanout_p99_ms`.
pub fn measure(report: &mut Report) -> Result<(), BenchError> {
    let folder = tempfile::tempdir().map_err(failed)?;
    let store = folder.path().join("series.db").display().to_string();
    let mut service = Part::start(&["sealing", &store])?;
    let address = service.line()?;
    let mut crowd = Part::start(&["streams", &address, &STREAMS.get().to_string()])?;
    let open: u32 = crowd.line()?.parse().map_err(failed)?;
    report.add("stream.connections", f64::from(open));
    let mut slowest: f64 = 0.0;
    for _ in 0..SLOTS.get() {
        service.say("seal")?;
        let sealed: u64 = service.line()?.parse().map_err(failed)?;
        let told: u64 = crowd.line()?.parse().map_err(failed)?;
        let late = told.saturating_sub(sealed);
        slowest = slowest.max(f64::from(u32::try_from(late).unwrap_or(u32::MAX)) / 1e3);
    }
    report.add("stream.fanout_p99_ms", slowest);
    drop((service.end(), crowd.end()));
    Ok(())
}

fn micros() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_micros()).unwrap_or(u64::MAX)
}

fn pools() -> Vec<BusyPool> {
    (0..POOLS).map(|number| BusyPool::real(number, 50)).collect()
}

/// A service that seals a slot for each input line; prints its address, then the time of each commit.
pub async fn sealing(path: PathBuf) -> Result<(), BenchError> {
    let key = SignerKey::from_seed("exitgap.example/bench", [7; 32]).map_err(failed)?;
    let mut store = Store::create(&path, &key).map_err(failed)?;
    let mut pools = pools();
    let mut seal = move |n: u32| -> Result<(), BenchError> {
        let at = slot(n)?;
        let entries = pools.iter_mut().map(|pool| pool.recorded(at));
        let entries = entries.collect::<Result<Vec<_>, _>>()?;
        store.append_slot(at, &entries).map_err(failed).map(|_| ())
    };
    seal(0)?;
    let now = slot(0)?.unix_s() + 60;
    let urls = Urls { base: "http://bench.example".into(), web: "http://bench.example".into() };
    let service = Service::new(path.clone(), urls, Arc::new(move || now), Bounds::default());
    let app = App {
        till: None,
        service: Arc::new(service),
        telemetry: Arc::default(),
        log_folder: path.with_file_name("log").into(),
        site: Arc::default(),
        described: Arc::default(),
        streams: Arc::default(),
        challenges: None,
        witness: None,
        desk: None,
    };
    app.service.refresh().await.map_err(|problem| failed(problem.detail))?;
    let connections =
        Connections { most: 19_000, most_per_address: None, ..Connections::default() };
    let (_sender, stop) = watch::channel(false);
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let listener = Listener::bind(any, "none").map_err(failed)?;
    println!("{}", listener.address());
    let routes = router(app.clone(), &Limits::default(), Operators::Public);
    tokio::spawn(listener.serve(routes, connections, app.telemetry.clone(), stop));
    for n in 1.. {
        let told = tokio::task::spawn_blocking(|| {
            let mut line = String::new();
            std::io::stdin().lock().read_line(&mut line).map(|read| read > 0)
        });
        if !told.await.map_err(failed)?.map_err(failed)? {
            break;
        }
        tokio::task::block_in_place(|| seal(n))?;
        println!("{}", micros());
        app.service.refresh().await.map_err(|problem| failed(problem.detail))?;
    }
    Ok(())
}

/// The state shared by the streams.
#[derive(Default)]
struct Crowd {
    open: AtomicU32,
    told: AtomicU32,
    /// When 99 in 100 streams had received the slot, microseconds.
    at: AtomicU64,
}

/// Opens streams, six per address of this machine; prints how many are open, and for each slot when 99 in 100 had
/// received it.
pub async fn crowd(address: SocketAddr, count: u32) -> Result<(), BenchError> {
    let shared = Arc::new(Crowd::default());
    let pools: Vec<String> = pools().iter().map(|pool| pool.id.to_string()).collect();
    for n in 0..count {
        let pool = &pools[n as usize % pools.len()];
        let target = format!("/v1/stream?pool={pool}");
        let (shared, source) = (shared.clone(), client(n / OF_CLIENT));
        tokio::spawn(async move {
            // A stream that ends is no longer counted.
            let _ = listen(address, source, &target, &shared, count).await;
        });
        if n % 200 == 199 {
            // The system's queue for new connections is short.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    let mut before = 0;
    for _ in 0..120 {
        let open = shared.open.load(Ordering::SeqCst);
        if open == count || (open > 0 && open == before) {
            break;
        }
        before = open;
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    println!("{}", shared.open.load(Ordering::SeqCst));
    for _ in 0..SLOTS.get() {
        let mut waited = 0;
        while shared.told.load(Ordering::SeqCst) < count {
            waited += 1;
            if waited > 3_000 {
                return Err(failed("a slot was not told to all within half a minute"));
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let at = shared.at.swap(0, Ordering::SeqCst);
        shared.told.store(0, Ordering::SeqCst);
        println!("{at}");
    }
    Ok(())
}

/// A separate address of this machine for each client.
fn client(n: u32) -> Ipv4Addr {
    let [_, high, middle, low] = (n + 1).to_be_bytes();
    Ipv4Addr::new(127, high + 1, middle, low)
}

async fn listen(
    address: SocketAddr,
    source: Ipv4Addr,
    target: &str,
    shared: &Crowd,
    count: u32,
) -> std::io::Result<()> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddrV4::new(source, 0).into())?;
    let mut stream = socket.connect(address).await?;
    let head = format!("GET {target} HTTP/1.1\r\nHost: bench\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    let (mut lines, mut begun) = (BufReader::new(stream).lines(), false);
    let most = count - count / 100;
    while let Some(line) = lines.next_line().await? {
        if !begun && line.starts_with("id: ") {
            begun = true;
            shared.open.fetch_add(1, Ordering::SeqCst);
        } else if line == "event: slot" {
            let told = shared.told.fetch_add(1, Ordering::SeqCst) + 1;
            if told <= most {
                shared.at.fetch_max(micros(), Ordering::SeqCst);
            }
        }
    }
    shared.open.fetch_sub(1, Ordering::SeqCst);
    Ok(())
}
