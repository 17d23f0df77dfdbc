//! The clients of a flood: twelve addresses that send the most expensive requests, and rarely wait for the answers.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use exitgap_core::exit::METHOD_VERSION;
use exitgap_core::series::Slot;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::Result;
use super::writer::say;
use crate::devchain::Rng;

/// Number of clients, from 127.0.0.2 on.
const CLIENTS: u8 = 12;
/// Number of requests that each client sends at once: all clients send together, in waves.
const AT_ONCE: u64 = 40;
/// The interval between waves: in half a minute a client sends as many requests as it may send in a minute.
const PAUSE: Duration = Duration::from_secs(2);
/// How long a client holds a connection without using it.
const HOLD: Duration = Duration::from_secs(4);
/// Time limit for connecting, and for an answer.
const PATIENCE: Duration = Duration::from_secs(20);
/// Number of positions in a portfolio.
const POSITIONS: usize = 12;
/// Number of orders of a split sale.
const ORDERS: u64 = 20;

/// The instructions for the crowd.
#[derive(Debug, Serialize, Deserialize)]
pub struct CrowdOrder {
    /// The service.
    pub address: SocketAddr,
    /// Its pools.
    pub pools: Vec<String>,
    /// Slots that it has recorded.
    pub slots: Vec<u64>,
    /// Hashes of its snapshots.
    pub hashes: Vec<String>,
    /// The duration, seconds.
    pub seconds: u64,
}

/// Runs the crowd according to a plan's file, and prints the number of requests.
pub fn play(plan: &Path) -> Result<()> {
    let plan: CrowdOrder = serde_json::from_slice(&std::fs::read(plan)?)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let requests = runtime.block_on(crowd(Arc::new(plan)));
    runtime.shutdown_background();
    Ok(say(&requests.to_string())?)
}

async fn crowd(plan: Arc<CrowdOrder>) -> u64 {
    let began = Instant::now();
    let end = began + Duration::from_secs(plan.seconds);
    let mut clients = JoinSet::new();
    let mut asked = Vec::new();
    for client in 0..CLIENTS {
        let count = Arc::new(AtomicU64::new(0));
        asked.push(count.clone());
        for part in 0..AT_ONCE {
            let rng = Rng::new(u64::from(client) * AT_ONCE + part + 1);
            clients.spawn(ask(plan.clone(), client, count.clone(), rng, [began, end]));
        }
    }
    while clients.join_next().await.is_some() {}
    asked.iter().map(|count| count.load(Ordering::Relaxed)).sum()
}

/// One of a client's concurrent loops: request after request until the end.
async fn ask(
    plan: Arc<CrowdOrder>,
    client: u8,
    count: Arc<AtomicU64>,
    mut rng: Rng,
    [began, end]: [Instant; 2],
) {
    let source = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2 + client));
    loop {
        let number = count.fetch_add(1, Ordering::Relaxed);
        let wave = u32::try_from(number / AT_ONCE).unwrap_or(u32::MAX);
        sleep_until(began + PAUSE.saturating_mul(wave)).await;
        if Instant::now() >= end {
            count.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        let request = plan.request(&mut rng);
        // Rejected and broken connections are expected.
        let _ = timeout(PATIENCE, one(source, plan.address, &request, &mut rng)).await;
    }
}

/// One request: abandoned, incomplete, read byte by byte, or read completely.
async fn one(source: IpAddr, service: SocketAddr, request: &str, rng: &mut Rng) -> io::Result<()> {
    let mut stream = connect(source, service).await?;
    match rng.below(10) {
        0..=5 => {
            stream.write_all(request.as_bytes()).await?;
            sleep(Duration::from_millis(rng.below(40))).await;
        }
        6 => {
            stream.write_all(&request.as_bytes()[..request.len() / 2]).await?;
            sleep(HOLD).await;
        }
        7 => {
            stream.write_all(request.as_bytes()).await?;
            let until = Instant::now() + HOLD;
            let mut byte = [0];
            while Instant::now() < until && stream.read(&mut byte).await? > 0 {
                sleep(Duration::from_millis(100)).await;
            }
        }
        _ => {
            stream.write_all(request.as_bytes()).await?;
            stream.read_to_end(&mut Vec::new()).await?;
        }
    }
    Ok(())
}

/// A connection from an address of this machine.
pub async fn connect(source: IpAddr, to: SocketAddr) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::new(source, 0))?;
    timeout(PATIENCE, socket.connect(to)).await?
}

impl CrowdOrder {
    /// An expensive request, different each time: to an HTTP address, or to a tool.
    fn request(&self, rng: &mut Rng) -> String {
        if rng.below(16) > 0 {
            let target = self.target(rng);
            return format!("GET {target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        }
        let (pool, size) = (pick(&self.pools, rng), 1_000 + rng.below(900_000));
        let arguments = serde_json::json!({ "pool": pool, "size_usd": size, "orders": ORDERS });
        let params = serde_json::json!({ "name": "simulate_orders", "arguments": arguments });
        let call = serde_json::json!({
            "jsonrpc": "2.0", "id": size, "method": "tools/call", "params": params,
        });
        let call = call.to_string();
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{call}",
            self.address,
            call.len()
        )
    }

    /// An expensive HTTP address.
    fn target(&self, rng: &mut Rng) -> String {
        let pool = pick(&self.pools, rng);
        let slot = *pick(&self.slots, rng);
        let at = Slot::new(slot).map_or_else(|_| slot.to_string(), |slot| slot.to_string());
        let (base, size) = (rng.below(2), 1_000 + rng.below(900_000));
        match rng.below(15) {
            0 | 1 => format!("/api/v1/window/{pool}?slot={slot}"),
            2 => format!(
                "/api/v1/exit/{pool}?base=token{base}&slot={slot}&size_usd={size}&method_version={METHOD_VERSION}"
            ),
            3 => format!("/v1/ladder/{pool}?base=token{base}"),
            4 => format!("/v1/ladder/{pool}?base=token{base}&at={at}"),
            5 => format!("/v1/exit/{pool}?size_usd={size}&base=token{base}&at={at}"),
            6 => format!("/v1/exit/{pool}?size_usd={size}&base=token{base}"),
            7 => {
                let position = |_| format!("position={}:{size}", pick(&self.pools, rng));
                let positions: Vec<_> = (0..POSITIONS).map(position).collect();
                format!("/v1/portfolio?{}", positions.join("&"))
            }
            8 => format!("/v1/history/{pool}?size_usd=1000&base=token{base}&interval=5m"),
            9 => format!("/v1/stress/{pool}?size_usd=1000000&base=token{base}"),
            10 => format!("/log/slots/{slot}.jsonl"),
            11 => format!("/api/v1/snapshots/{}", pick(&self.hashes, rng)),
            12 => format!("/v1/size/{pool}?gap_pct=0.{size:06}&base=token{base}"),
            13 => format!("/v1/simulate/{pool}?size_usd={size}&orders={ORDERS}&base=token{base}"),
            _ => format!("/api/v1/status/{pool}?slot={slot}"),
        }
    }
}

/// A random element of a non-empty list.
fn pick<'a, T>(of: &'a [T], rng: &mut Rng) -> &'a T {
    &of[usize::try_from(rng.below(of.len() as u64)).unwrap_or(0)]
}
