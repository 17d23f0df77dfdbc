//! Serves HTTP in the background of the process: the service, the operators' listener, and the periodic tasks.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use exitgap_store::Outcome;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::CliError;
use crate::config::{HttpConfig, ServeConfig};
use crate::http::{
    App, Connections, FreeEstimates, Limits, Listener, Operators, Telemetry, operators_router,
    router,
};
use crate::ops::{Current, Service};

/// Polling interval for newly sealed slots.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Maximum connections of the operators' listener: only a few programs poll it.
const OPERATORS_CONNECTIONS: usize = 64;

/// The listeners of a process.
pub struct Listeners {
    public: Listener,
    operators: Option<Listener>,
}

impl Listeners {
    /// Binds the addresses, so that an address in use is reported before a store is opened or created.
    pub fn bind(http: &mut HttpConfig, serve: &ServeConfig) -> Result<Self, CliError> {
        let public = Listener::bind(http.listen, "[http] listen or --listen")?;
        http.listen = public.address();
        let operators = match serve.operators {
            Some(address) => Some(Listener::bind(address, "[serve] operators")?),
            None => None,
        };
        Ok(Self { public, operators })
    }
}

/// The running HTTP server.
pub struct HttpServer {
    end: watch::Sender<bool>,
    service: Arc<Service>,
    listening: Vec<JoinHandle<()>>,
    /// These tasks are aborted at the end.
    looking: [JoinHandle<()>; 2],
}

impl HttpServer {
    /// Starts serving; `free`: how many estimates per day are free for each client if others must be paid for.
    pub fn begin(app: App, listeners: Listeners, http: &HttpConfig, free: Option<u32>) -> Self {
        let (end, ended) = watch::channel(false);
        let service = Arc::clone(&app.service);
        let looking = [
            tokio::spawn(look(app.clone(), ended.clone())),
            tokio::spawn(sum_up(Arc::clone(&service), ended.clone())),
        ];
        let Listeners { public, operators } = listeners;
        let (mut listening, mut at) = (Vec::new(), Operators::Public);
        if let Some(listener) = operators {
            at = Operators::Apart;
            tracing::info!(operators = %listener.address(), "answering operators");
            let (router, telemetry) = (operators_router(app.clone()), app.telemetry.clone());
            let connections = Connections {
                most: OPERATORS_CONNECTIONS,
                most_per_address: None,
                ..Connections::default()
            };
            let operating = listener.serve(router, connections, telemetry, ended.clone());
            listening.push(tokio::spawn(operating));
        }
        listening.push(tokio::spawn(answer(public, (http, free), app, at, ended)));
        Self { end, service, listening, looking }
    }

    /// A receiver that reports when the server should end.
    pub fn watch_end(&self) -> watch::Receiver<bool> {
        self.end.subscribe()
    }

    /// Ends: requests in progress are answered, streams are cut off.
    pub async fn end(self) {
        self.service.end_streams();
        // All receivers may have ended by themselves.
        let _ = self.end.send(true);
        for listening in self.listening {
            let _ = listening.await;
        }
        self.looking.iter().for_each(JoinHandle::abort);
    }
}

fn answer(
    listener: Listener,
    (http, free): (&HttpConfig, Option<u32>),
    app: App,
    operators: Operators,
    ended: watch::Receiver<bool>,
) -> impl Future<Output = ()> + Send + use<> {
    let header = http.client_ip_header.as_deref().map(str::parse).transpose();
    let urls = http.urls();
    let limits = Limits {
        rate_per_minute: http.rate_per_minute,
        tools_per_minute: http.tools_per_minute,
        // The configuration check has already validated it.
        client_ip_header: header.unwrap_or_default(),
        free: free.map(|per_day| FreeEstimates { per_day, base_url: urls.base.clone() }),
        ..Limits::default()
    };
    tracing::info!(listen = %listener.address(), base_url = urls.base, web_url = urls.web, "serving");
    // Behind a proxy, all connections come from the proxy, which limits its own clients.
    let bounded = http.max_connections_per_address > 0 && limits.client_ip_header.is_none();
    let connections = Connections {
        most: http.max_connections as usize,
        most_per_address: bounded.then_some(http.max_connections_per_address as usize),
        ..Connections::default()
    };
    let telemetry = app.telemetry.clone();
    listener.serve(router(app, &limits, operators), connections, telemetry, ended)
}

/// Polls for sealed slots, refreshes the pools' current state after each, and updates the metrics.
async fn look(app: App, ended: watch::Receiver<bool>) {
    while !*ended.borrow() {
        // A store that does not exist yet is not an error; any other error is logged.
        if let Ok(Some(_)) = app.service.refresh().await {
            count(&app.telemetry, &app.service.current());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Keeps the accuracy table up to date: one row at a time, each followed by a pause as long as the row took.
async fn sum_up(service: Arc<Service>, ended: watch::Receiver<bool>) {
    while !*ended.borrow() {
        let began = Instant::now();
        let rest = if service.make_accuracy_row().await { began.elapsed() } else { LOOK_EVERY };
        tokio::time::sleep(rest).await;
    }
}

/// Updates the metrics from the newest slot.
fn count(telemetry: &Telemetry, current: &Current) {
    let (mut recorded, mut missing) = (0, BTreeMap::new());
    for now in current.pools.values() {
        match now.latest.entry.outcome {
            Outcome::Recorded(_) => recorded += 1,
            Outcome::Missing(reason) => *missing.entry(reason).or_default() += 1,
            Outcome::Retired => {}
        }
    }
    telemetry.count_slot(recorded, &missing);
    telemetry.doubtful(current.doubtful_slots);
}
