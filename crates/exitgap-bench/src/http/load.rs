//! Load: clients that keep their connection and send the next request as soon as they get an answer, or at given times.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::failed;
use crate::BenchError;

/// Number of concurrent clients.
pub const CLIENTS: u64 = 32;

/// Returns the target of the n-th request.
pub type Targets = Arc<dyn Fn(u64) -> String + Send + Sync>;

/// The result of a load: rates and latencies.
pub struct Found {
    /// Answers per second.
    pub rps: f64,
    /// The latencies in milliseconds, ascending.
    pub latency_ms: Vec<f64>,
}

impl Found {
    /// The latency at this percentile.
    pub fn percentile(&self, percent: usize) -> f64 {
        let last = self.latency_ms.len().saturating_sub(1);
        self.latency_ms.get(last * percent / 100).copied().unwrap_or(f64::NAN)
    }
}

/// One client.
pub struct Client {
    sender: SendRequest<Empty<Bytes>>,
    /// A header of every request.
    header: Option<(&'static str, String)>,
}

impl Client {
    /// Connects.
    pub async fn connect(address: SocketAddr) -> Result<Self, BenchError> {
        let stream = TcpStream::connect(address).await.map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(failed)?;
        // Ends with its connection; errors are reported where the request was sent.
        tokio::spawn(connection);
        Ok(Self { sender, header: None })
    }

    /// Adds this header to every request.
    pub fn with(self, header: (&'static str, String)) -> Self {
        Self { header: Some(header), ..self }
    }

    /// Sends a request, and reads the whole answer, which must be a 200.
    pub async fn ask(&mut self, target: &str) -> Result<Bytes, BenchError> {
        match self.send(target).await? {
            (StatusCode::OK, body) => Ok(body),
            (status, body) => Err(unexpected(target, status, &body)),
        }
    }

    async fn send(&mut self, target: &str) -> Result<(StatusCode, Bytes), BenchError> {
        let mut request = Request::get(target).header("host", "bench.example");
        if let Some((name, value)) = &self.header {
            request = request.header(*name, value);
        }
        let request = request.body(Empty::new()).map_err(failed)?;
        self.sender.ready().await.map_err(failed)?;
        let response = self.sender.send_request(request).await.map_err(failed)?;
        let status = response.status();
        let body = response.into_body().collect().await.map_err(failed)?.to_bytes();
        Ok((status, body))
    }
}

fn unexpected(target: &str, status: StatusCode, body: &[u8]) -> BenchError {
    BenchError::Http(format!("{target}: {status} {}", String::from_utf8_lossy(body)))
}

/// Sends requests for `time`: one per client at any moment, or at the given `rate` per second. With a rate, latencies
/// count from the scheduled time, even if no client was free.
pub async fn load(
    address: SocketAddr,
    targets: &Targets,
    time: Duration,
    rate: Option<f64>,
) -> Result<Found, BenchError> {
    let next = Arc::new(AtomicU64::new(0));
    let mut clients = JoinSet::new();
    let started = Instant::now() + Duration::from_millis(20);
    for _ in 0..CLIENTS {
        let (next, targets) = (next.clone(), targets.clone());
        clients.spawn(async move {
            let mut client = Client::connect(address).await?;
            let mut latency_ms = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let due = rate.map(|rate| {
                    let number = f64::from(u32::try_from(number).unwrap_or(u32::MAX));
                    started + Duration::from_secs_f64(number / rate)
                });
                if let Some(due) = due {
                    tokio::time::sleep_until(due.into()).await;
                }
                let begun = due.unwrap_or_else(Instant::now);
                if begun.saturating_duration_since(started) >= time || started.elapsed() >= time * 2
                {
                    return Ok::<_, BenchError>(latency_ms);
                }
                client.ask(&targets(number)).await?;
                latency_ms.push(begun.elapsed().as_secs_f64() * 1e3);
            }
        });
    }
    let mut latency_ms = Vec::new();
    while let Some(ended) = clients.join_next().await {
        latency_ms.extend(ended.map_err(failed)??);
    }
    let answers = f64::from(u32::try_from(latency_ms.len()).unwrap_or(u32::MAX));
    let rps = answers / started.elapsed().as_secs_f64();
    latency_ms.sort_by(f64::total_cmp);
    Ok(Found { rps, latency_ms })
}

/// The targets that are answered successfully; the others are rejected because of their content.
pub async fn answered(
    address: SocketAddr,
    targets: impl Iterator<Item = String>,
) -> Result<Vec<bool>, BenchError> {
    let mut client = Client::connect(address).await?;
    let mut answered = Vec::new();
    for target in targets {
        answered.push(match client.send(&target).await? {
            (StatusCode::OK, _) => true,
            (StatusCode::UNPROCESSABLE_ENTITY, _) => false,
            (status, body) => return Err(unexpected(&target, status, &body)),
        });
    }
    Ok(answered)
}

/// Sends `count` requests one after the other.
pub async fn one_by_one(
    address: SocketAddr,
    targets: &Targets,
    count: u64,
) -> Result<Found, BenchError> {
    let mut client = Client::connect(address).await?;
    let (started, mut latency_ms) = (Instant::now(), Vec::new());
    for number in 0..count {
        let begun = Instant::now();
        client.ask(&targets(number)).await?;
        latency_ms.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    let rps = f64::from(u32::try_from(count).unwrap_or(u32::MAX)) / started.elapsed().as_secs_f64();
    latency_ms.sort_by(f64::total_cmp);
    Ok(Found { rps, latency_ms })
}
