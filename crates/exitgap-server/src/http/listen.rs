//! Accepts connections within limits: the total number, the number per address, the idle time, and the time for writing
//! and reading.

use std::collections::HashMap;
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::CONNECTION;
use axum::response::IntoResponse;
use exitgap_api::{PROBLEM_JSON, Problem, ProblemCode, ProblemDocument};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_io_timeout::TimeoutStream;
use tower::ServiceExt;

use super::edge::Peer;
use super::head::{self, MAX_HEAD_BYTES};
use super::rate::subscriber;
use super::telemetry::Telemetry;

/// Limits on the number and duration of connections.
#[derive(Debug, Clone)]
pub struct Connections {
    /// Maximum number of connections; more wait in the system's queue.
    pub most: usize,
    /// Maximum number per address (an IPv4 address, an IPv6 /64); more are closed. `None`: unlimited, for example for a
    /// reverse proxy.
    pub most_per_address: Option<usize>,
    /// A request's head must be complete within this time from the connection's start or the previous answer.
    pub head_within: Duration,
    /// A connection is closed if nothing can be written to it for this long.
    pub write_within: Duration,
    /// How long requests in progress may take after shutdown began.
    pub finish_within: Duration,
}

impl Default for Connections {
    fn default() -> Self {
        Self {
            most: 12_000,
            most_per_address: Some(100),
            head_within: Duration::from_secs(20),
            write_within: Duration::from_secs(20),
            finish_within: Duration::from_secs(10),
        }
    }
}

/// Why the address could not be bound.
#[derive(Debug, thiserror::Error)]
#[error("listening on {address}: {source}; choose another address with {remedy}")]
pub struct ListenError {
    address: SocketAddr,
    remedy: &'static str,
    source: io::Error,
}

/// How many connections may wait to be accepted. The system drops what comes beyond them, and a client that was dropped
/// tries again after a second; so this is more than a hundred clients open at once.
const WAITING_CONNECTIONS: u32 = 4_096;

/// A bound listener.
pub struct Listener {
    listener: TcpListener,
    address: SocketAddr,
}

impl Listener {
    /// Binds the address; `remedy` says where to configure another one. Needs a tokio runtime.
    pub fn bind(address: SocketAddr, remedy: &'static str) -> Result<Self, ListenError> {
        let failed = |source| ListenError { address, remedy, source };
        let listener = Self::listen(address).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address })
    }

    fn listen(address: SocketAddr) -> io::Result<TcpListener> {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        // Connections of an earlier process that are still closing do not keep this one from binding.
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(WAITING_CONNECTIONS)
    }

    /// The address, with the port that the system chose if 0 was configured.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` fires, then finishes the requests in progress.
    pub async fn serve(
        self,
        router: Router,
        connections: Connections,
        telemetry: Arc<Telemetry>,
        mut stop: watch::Receiver<bool>,
    ) {
        let graceful = GracefulShutdown::new();
        let free = Arc::new(Semaphore::new(connections.most));
        let open = Arc::new(Open::default());
        loop {
            let accepted = tokio::select! {
                _ = stop.wait_for(|stop| *stop) => break,
                accepted = self.accept(&free) => accepted,
            };
            let Some((stream, peer, permit)) = accepted else { continue };
            let most = connections.most_per_address;
            let Some(place) = open.clone().place(subscriber(peer.ip()), most) else {
                telemetry.connection_refused();
                refuse(stream);
                continue;
            };
            let (router, watcher) = (router.clone(), graceful.watcher());
            let (telemetry, connections) = (telemetry.clone(), connections.clone());
            tokio::spawn(async move {
                telemetry.connections().inc();
                answer_all(stream, peer, router, &connections, watcher).await;
                telemetry.connections().dec();
                drop((permit, place));
            });
        }
        drop(self.listener);
        if tokio::time::timeout(connections.finish_within, graceful.shutdown()).await.is_err() {
            tracing::warn!("requests in hand were cut off");
        }
    }

    /// Waits for the next connection, once there is room for it.
    async fn accept(
        &self,
        free: &Arc<Semaphore>,
    ) -> Option<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
        let permit = free.clone().acquire_owned().await.ok()?;
        match self.listener.accept().await {
            Ok((stream, peer)) => Some((stream, peer, permit)),
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                // An error such as too many open files: it resolves when other connections end.
                tokio::time::sleep(Duration::from_millis(50)).await;
                None
            }
        }
    }
}

/// How many connections each address has open.
#[derive(Default)]
struct Open {
    by_address: Mutex<HashMap<IpAddr, usize>>,
}

/// The slot of one open connection, released when dropped.
struct Place {
    open: Arc<Open>,
    address: IpAddr,
}

impl Open {
    /// Reserves a slot for this address; `None` if it already has `most`.
    fn place(self: Arc<Self>, address: IpAddr, most: Option<usize>) -> Option<Place> {
        let mut by_address = self.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        let count = by_address.entry(address).or_default();
        if most.is_some_and(|most| *count >= most) {
            return None;
        }
        *count += 1;
        drop(by_address);
        Some(Place { open: self, address })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut by_address = self.open.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = by_address.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                by_address.remove(&self.address);
            }
        }
    }
}

/// Sends the reason, as far as possible without waiting, and closes the connection.
fn refuse(stream: TcpStream) {
    let problem =
        Problem::new(ProblemCode::RateLimited, "more connections than one address may hold")
            .hint("use connections again, or end some");
    let document = ProblemDocument::new(problem, "-".to_owned());
    // A problem contains only strings and numbers, so serialization cannot fail.
    let body = serde_json::to_string(&document).unwrap_or_default();
    let head = "HTTP/1.1 429 Too Many Requests\r\nconnection: close\r\nretry-after: 20";
    let length = body.len();
    let answer =
        format!("{head}\r\ncontent-type: {PROBLEM_JSON}\r\ncontent-length: {length}\r\n\r\n{body}");
    // The answer is a courtesy: the connection is closed even if the client does not read it.
    if let Ok(mut stream) = stream.into_std() {
        let _ = stream.write(answer.as_bytes());
    }
}

/// Answers a connection's requests until it ends or the service stops.
async fn answer_all(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    connections: &Connections,
    watcher: Watcher,
) {
    // Answers are written in one go, so waiting for more data would only delay them.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(connections.write_within));
    let answer = service_fn(move |request: hyper::Request<Incoming>| {
        let router = router.clone();
        async move {
            if head::is_too_large(&request) {
                // Same answer as for a head that exceeds the connection's buffer.
                let refusal =
                    (StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, [(CONNECTION, "close")]);
                return Ok(refusal.into_response());
            }
            let host = head::check_host(&request);
            let mut request: Request = request.map(Body::new);
            request.extensions_mut().insert(Peer(peer.ip()));
            if let Err(fault) = host {
                request.extensions_mut().insert(fault);
            }
            router.oneshot(request).await
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(connections.head_within)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(Box::pin(stream)), answer);
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!(%peer, %error, "a connection ended");
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::super::{Limits, empty_router};
    use super::*;

    /// The service's answer to these bytes: the first line, and the rest.
    fn answer_to(address: SocketAddr, request: &[u8]) -> String {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        // If a head is rejected before its end, the write may fail.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn request(hosts: &str, padding: usize) -> Vec<u8> {
        let padding = "v".repeat(padding);
        format!("GET / HTTP/1.1\r\n{hosts}connection: close\r\nx: {padding}\r\n\r\n").into_bytes()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_request_has_one_host_and_a_head_within_its_limit() {
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap(), "--listen").unwrap();
        let address = listener.address();
        let (stop, stopped) = watch::channel(false);
        let router = empty_router(&Limits::default(), Vec::new());
        let serving =
            tokio::spawn(listener.serve(router, Connections::default(), Arc::default(), stopped));
        let host = "host: exitgap.example\r\n";
        let form = request(host, 0).len();
        let sent = [
            ("one host", request(host, 1), "HTTP/1.1 200"),
            ("no host", request("", 1), "HTTP/1.1 400"),
            ("two hosts", request(&format!("{host}{host}"), 1), "HTTP/1.1 400"),
            ("an invalid host", request("host: a/b\r\n", 1), "HTTP/1.1 400"),
            ("the largest head", request(host, MAX_HEAD_BYTES - form), "HTTP/1.1 200"),
            ("a byte more", request(host, MAX_HEAD_BYTES - form + 1), "HTTP/1.1 431"),
            ("40 KiB", request(host, 40 << 10), "HTTP/1.1 431"),
            ("63 KiB", request(host, 63 << 10), "HTTP/1.1 431"),
        ];
        let answers = tokio::task::spawn_blocking(move || {
            let answer = |(what, request, status): (&'static str, Vec<u8>, &'static str)| {
                (what, status, answer_to(address, &request))
            };
            sent.into_iter().map(answer).collect::<Vec<_>>()
        });
        for (what, status, answer) in answers.await.unwrap() {
            assert!(answer.starts_with(status), "{what}: {answer}");
            if status.ends_with("400") {
                assert!(answer.contains("\"field\":\"host\""), "{what}: {answer}");
            }
        }
        stop.send(true).unwrap();
        serving.await.unwrap();
    }
}
