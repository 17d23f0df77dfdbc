//! Answering in the background, whatever else the process does: the service, its operators, and what it looks at by itself.

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

/// How often is looked whether a slot was sealed.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What operators' listener takes: a few programs that look now and then.
const OPERATORS_CONNECTIONS: usize = 64;

/// Where a process answers.
pub struct Listeners {
    public: Listener,
    operators: Option<Listener>,
}

impl Listeners {
    /// Takes the addresses: one in use is told before a store is opened or begun.
    pub async fn bind(http: &mut HttpConfig, serve: &ServeConfig) -> Result<Self, CliError> {
        let public = Listener::bind(http.listen, "[http] listen or --listen").await?;
        http.listen = public.address();
        let operators = match serve.operators {
            Some(address) => Some(Listener::bind(address, "[serve] operators").await?),
            None => None,
        };
        Ok(Self { public, operators })
    }
}

/// What answers.
pub struct HttpServer {
    end: watch::Sender<bool>,
    service: Arc<Service>,
    listening: Vec<JoinHandle<()>>,
    /// They stop where they are.
    looking: [JoinHandle<()>; 2],
}

impl HttpServer {
    /// Begins to answer; `free`: so many estimates a day are free for each client, and the others paid for.
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

    /// Says when it is to end.
    pub fn watch_end(&self) -> watch::Receiver<bool> {
        self.end.subscribe()
    }

    /// Ends: requests in hand are answered, streams are not gone on with.
    pub async fn end(self) {
        self.service.end_streams();
        // All may have ended by themselves.
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
        // It was checked with the configuration.
        client_ip_header: header.unwrap_or_default(),
        free: free.map(|per_day| FreeEstimates { per_day, base_url: urls.base.clone() }),
        ..Limits::default()
    };
    tracing::info!(listen = %listener.address(), base_url = urls.base, web_url = urls.web, "serving");
    // A proxy in front has all the connections, and its clients in its own hands.
    let bounded = http.max_connections_per_address > 0 && limits.client_ip_header.is_none();
    let connections = Connections {
        most: http.max_connections as usize,
        most_per_address: bounded.then_some(http.max_connections_per_address as usize),
        ..Connections::default()
    };
    let telemetry = app.telemetry.clone();
    listener.serve(router(app, &limits, operators), connections, telemetry, ended)
}

/// Looks for sealed slots, reads where the pools stand after each, and counts.
async fn look(app: App, ended: watch::Receiver<bool>) {
    while !*ended.borrow() {
        // A store that is not there yet is no failure, and any other is logged.
        if let Ok(Some(_)) = app.service.refresh().await {
            count(&app.telemetry, &app.service.current());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Keeps the table of accuracy: a row at a time, and after each as long a rest as it took.
async fn sum_up(service: Arc<Service>, ended: watch::Receiver<bool>) {
    while !*ended.borrow() {
        let began = Instant::now();
        let rest = if service.make_accuracy_row().await { began.elapsed() } else { LOOK_EVERY };
        tokio::time::sleep(rest).await;
    }
}

/// Counts what the newest slot holds.
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
