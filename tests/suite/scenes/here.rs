//! A service in the test's own process, with real sockets, a real store, and custom limits.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use exitgap_server::alerts::{AlertService, AlertsPlan, AlertsRoom, NowMs};
use exitgap_server::http::{App, Connections, Limits, Listener, Operators, router};
use exitgap_server::ops::{Bounds, Service, TermsOfToken, Urls};
use exitgap_store::{LogFolder, NewEntry, Store};
use exitgap_tests::faults::flood_clients::connect;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::watch;

use crate::scenes::service::{Answer, rest_of};
use crate::scenes::store::{key, slot, store_in};

/// The options of the service.
#[derive(Default)]
pub struct With {
    /// The store, if it is not the folder's own.
    pub store: Option<PathBuf>,
    pub bounds: Bounds,
    pub limits: Limits,
    pub connections: Connections,
    /// Where rules are stored, and the clock for them.
    pub alerts: Option<(AlertsPlan, NowMs)>,
    /// The redemption terms of tokens.
    pub redemption: Vec<TermsOfToken>,
}

/// A running service; dropping it stops it.
pub struct Here {
    pub app: App,
    pub address: SocketAddr,
    /// The current time of the service, in seconds since 1970.
    pub now: Arc<AtomicU64>,
    runtime: Option<Runtime>,
    /// Dropping this stops the service.
    stop: watch::Sender<bool>,
}

impl Drop for Here {
    fn drop(&mut self) {
        let _ = self.stop.send(true);
        // A thread that blocks forever must not delay the end of the test.
        self.runtime.take().unwrap().shutdown_background();
    }
}

impl Here {
    /// Starts a service with the store and the log of a folder.
    pub fn start(folder: &Path, with: With) -> Self {
        let runtime = Runtime::new().unwrap();
        let now = Arc::new(AtomicU64::new(slot(0).unix_s()));
        let urls = Urls { base: "http://any.example".into(), web: "http://any.example".into() };
        let shown = now.clone();
        let clock = Arc::new(move || shown.load(Ordering::SeqCst));
        let store = with.store.unwrap_or_else(|| store_in(folder, "series.db"));
        let service = Service::new(store.clone(), urls, clock, with.bounds);
        let service = service.with_days(&LogFolder::new(folder.join("log")));
        let service = Arc::new(service.with_redemption_terms(with.redemption));
        let room = with.alerts.map(|(plan, now_ms)| AlertsRoom::open(plan, now_ms).unwrap());
        let app = App {
            till: None,
            desk: room.clone().map(|room| AlertService::new(room, service.clone())),
            service,
            telemetry: Arc::default(),
            log_folder: folder.join("log").into(),
            site: Arc::default(),
            described: Arc::default(),
            streams: Arc::default(),
            challenges: None,
            witness: None,
        };
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listener = runtime.block_on(async { Listener::bind(any, "nothing") }).unwrap();
        let address = listener.address();
        let (stop, stopped) = watch::channel(false);
        if let Some(room) = room {
            runtime.spawn(room.run(
                store,
                LogFolder::new(folder.join("log")),
                stopped.clone(),
                |_| {},
            ));
        }
        let routes = router(app.clone(), &with.limits, Operators::Public);
        let telemetry = app.telemetry.clone();
        runtime.spawn(listener.serve(routes, with.connections, telemetry, stopped));
        Self { app, address, now, runtime: Some(runtime), stop }
    }

    /// Makes the service read the store.
    pub fn refresh(&self) {
        self.block_on(self.app.service.refresh()).unwrap();
    }

    /// Waits for a future on the service's runtime.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.as_ref().unwrap().block_on(future)
    }

    /// Opens a connection from this local address and sends a request.
    pub fn asked_from(&self, source: [u8; 4], target: &str) -> TcpStream {
        let mut stream = self.open_from(source);
        let head = "HTTP/1.1\r\nHost: a\r\nConnection: close";
        stream.write_all(format!("GET {target} {head}\r\n\r\n").as_bytes()).unwrap();
        stream
    }

    /// Opens a connection from this local address.
    pub fn open_from(&self, source: [u8; 4]) -> TcpStream {
        let source = IpAddr::V4(source.into());
        let stream = self.block_on(async { connect(source, self.address).await?.into_std() });
        let stream = stream.unwrap();
        stream.set_nonblocking(false).unwrap();
        stream
    }

    pub fn asked(&self, target: &str) -> TcpStream {
        self.asked_from([127, 0, 0, 1], target)
    }

    pub fn get(&self, target: &str) -> Answer {
        rest_of(self.asked(target))
    }

    /// Number of open connections.
    pub fn connections(&self) -> i64 {
        self.app.telemetry.connections().get()
    }
}

/// Waits until a condition is true.
#[track_caller]
pub fn until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_mins(1), "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A folder with a store of these slots, counted from the series' first, and its published log.
pub fn stored(slots: &[Vec<NewEntry>]) -> TempDir {
    let folder = TempDir::new().unwrap();
    let mut store = Store::create(store_in(folder.path(), "series.db"), &key()).unwrap();
    for (n, entries) in slots.iter().enumerate() {
        store.append_slot(slot(u32::try_from(n).unwrap()), entries).unwrap();
    }
    LogFolder::new(folder.path().join("log")).publish(store.reader()).unwrap();
    store.close().unwrap();
    folder
}

/// Replaces a file in a folder's log by a named pipe: reading it blocks a thread until someone writes, like a disk that
/// does not respond.
pub fn stuck_file(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join("log").join(name);
    let _ = std::fs::remove_file(&path);
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

/// How often this process has the file open.
pub fn times_open(path: &Path) -> usize {
    let links = std::fs::read_dir("/proc/self/fd").unwrap().map_while(Result::ok);
    links.filter(|link| std::fs::read_link(link.path()).is_ok_and(|to| to == path)).count()
}
