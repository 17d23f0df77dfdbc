//! Accepting connections, with bounds: how many, how long they may idle, how slowly they may
//! write and read.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio_io_timeout::TimeoutStream;
use tower::ServiceExt;

use super::edge::Peer;
use super::telemetry::Telemetry;

/// A request's head must be there whole within this time from the connection's start or the
/// answer before.
const HEAD_WITHIN: Duration = Duration::from_secs(20);

/// A connection on which nothing can be written for so long is closed.
const WRITE_WITHIN: Duration = Duration::from_secs(20);

/// The buffer of a connection: a longer head is refused.
const MAX_HEAD_BYTES: usize = 32 << 10;

/// How long requests in hand may take after the end was asked for.
const FINISH_WITHIN: Duration = Duration::from_secs(10);

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
#[error("listening on {address}: {source}; choose another address with [http] listen or --listen")]
pub struct ListenError {
    address: SocketAddr,
    source: io::Error,
}

/// A bound address.
pub struct Listener {
    listener: TcpListener,
    address: SocketAddr,
}

impl Listener {
    /// Binds the address.
    pub async fn bind(address: SocketAddr) -> Result<Self, ListenError> {
        let failed = |source| ListenError { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address })
    }

    /// The address, with the port that the system chose where 0 was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` says so, then finishes the requests in hand.
    pub async fn serve(
        self,
        router: Router,
        max_connections: usize,
        telemetry: Arc<Telemetry>,
        mut stop: watch::Receiver<bool>,
    ) {
        let graceful = GracefulShutdown::new();
        let free = Arc::new(Semaphore::new(max_connections));
        loop {
            let accepted = tokio::select! {
                _ = stop.wait_for(|stop| *stop) => break,
                accepted = self.accept(&free) => accepted,
            };
            let Some((stream, peer, permit)) = accepted else { continue };
            let (router, watcher) = (router.clone(), graceful.watcher());
            let telemetry = telemetry.clone();
            tokio::spawn(async move {
                telemetry.connections().inc();
                answer_all(stream, peer, router, watcher).await;
                telemetry.connections().dec();
                drop(permit);
            });
        }
        drop(self.listener);
        if tokio::time::timeout(FINISH_WITHIN, graceful.shutdown()).await.is_err() {
            tracing::warn!("requests in hand were cut off");
        }
    }

    /// The next connection, once there is room for it.
    async fn accept(
        &self,
        free: &Arc<Semaphore>,
    ) -> Option<(TcpStream, SocketAddr, tokio::sync::OwnedSemaphorePermit)> {
        let permit = free.clone().acquire_owned().await.ok()?;
        match self.listener.accept().await {
            Ok((stream, peer)) => Some((stream, peer, permit)),
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                // Such as too many open files: it passes when others end.
                tokio::time::sleep(Duration::from_millis(50)).await;
                None
            }
        }
    }
}

/// Answers a connection's requests until it ends, or the service does.
async fn answer_all(stream: TcpStream, peer: SocketAddr, router: Router, watcher: Watcher) {
    // Answers are written whole; waiting for more to send with them only delays them.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(WRITE_WITHIN));
    let answer = service_fn(move |request: hyper::Request<Incoming>| {
        let mut request: Request = request.map(Body::new);
        request.extensions_mut().insert(Peer(peer.ip()));
        router.clone().oneshot(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_WITHIN)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(Box::pin(stream)), answer);
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!(%peer, %error, "a connection ended");
    }
}
