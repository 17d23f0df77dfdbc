//! Sealed slots as server-sent events: `GET /v1/stream`.
//!
//! An event's id is its slot and its position in the slot, a function of the log and of the requested pools: a client
//! that reconnects with the last id it received continues after it, at any replica, up to seven days back. Events are
//! not buffered for slow connections: the next event is created when the previous one is written, and a connection on
//! which nothing can be written is closed like any other (`listen`).

use std::collections::HashMap;
use std::fmt::Write as _;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use exitgap_api::Problem;
use exitgap_api::operations::{EventPlace, Operation, StreamAsked};
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;
use exitgap_store::alerts::Owner;
use hyper::body::Frame;
use tokio::sync::{mpsc, watch};

use super::SharedApp;
use super::address::Address;
use super::alerts;
use super::edge::Client;
use super::reply::HttpRefusal;
use crate::alerts::AlertService;
use crate::ops::{LogProgress, Service, too_many_streams};

/// Maximum number of streams, in total and per client.
const MOST: usize = 10_000;
const MOST_OF_CLIENT: usize = 6;

/// How far back a client can resume: seven days of slots.
const REACH: u32 = 7 * Slot::PER_DAY;

/// How long a process may take until it has read its store.
const BEGINNING: Duration = Duration::from_secs(5);

/// Maximum time without an event or keep-alive.
const SILENCE: Duration = Duration::from_secs(15);

/// The open streams.
#[derive(Debug, Default)]
pub struct Streams {
    open: Mutex<HashMap<Option<IpAddr>, usize>>,
}

/// The slot of one stream, released when dropped.
struct Place {
    streams: Arc<Streams>,
    client: Option<IpAddr>,
}

impl Streams {
    /// The number of open streams.
    pub fn count(&self) -> usize {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).values().sum()
    }

    fn place(self: &Arc<Self>, client: Option<IpAddr>) -> Result<Place, Problem> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.values().sum::<usize>() >= MOST {
            return Err(too_many_streams(MOST));
        }
        let of_client = open.entry(client).or_default();
        if client.is_some() && *of_client >= MOST_OF_CLIENT {
            return Err(too_many_streams(MOST_OF_CLIENT));
        }
        *of_client += 1;
        drop(open);
        Ok(Place { streams: self.clone(), client })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.streams.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.client);
            }
        }
    }
}

/// Starts a stream.
pub async fn serve(
    State(app): State<SharedApp>,
    address: Address,
    request: Request,
) -> Result<Response, HttpRefusal> {
    let StreamAsked { pools, ticket, after } = address.parse_question(Operation::Stream)?;
    let after = match last_event_id(request.headers())? {
        Some(after) => Some(after),
        None => after,
    };
    if after.is_some() {
        known_slots(&app.service).await;
    }
    app.service.require_pools(&pools)?;
    let own = match ticket {
        None => None,
        Some(ticket) => {
            let desk = app.desk.clone().ok_or_else(alerts::not_kept)?;
            let owner = desk.owner_of(&ticket)?;
            let evaluated = desk.watch_evaluated().await?;
            Some(Own { desk, owner, evaluated })
        }
    };
    let client = request.extensions().get::<Client>().and_then(|Client(client)| *client);
    let place = app.streams.place(client)?;
    let (frames, rest) = mpsc::channel(1);
    let mut told = StreamSession { service: app.service.clone(), pools, own, frames };
    tokio::spawn(async move {
        // The stream ends when the process ends, when the client disconnects, or when the store cannot be read.
        let _ = told.tell(after).await;
        drop(place);
    });
    let mut headers = HeaderMap::with_capacity(4);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let unbuffered = HeaderName::from_static("x-accel-buffering");
    headers.insert(unbuffered, HeaderValue::from_static("no"));
    Ok((headers, Body::new(Frames(rest))).into_response())
}

/// Waits briefly until a newly started process has read its store. A reconnecting client would otherwise get an error,
/// after which a browser does not reconnect.
async fn known_slots(service: &Service) {
    let mut sealed = service.watch_slots();
    let until = tokio::time::Instant::now() + BEGINNING;
    while service.current().last_slot.is_none() && !sealed.borrow_and_update().ends {
        if !matches!(tokio::time::timeout_at(until, sealed.changed()).await, Ok(Ok(()))) {
            return;
        }
    }
}

/// The last event id that a reconnecting browser sends.
fn last_event_id(headers: &HeaderMap) -> Result<Option<EventPlace>, Problem> {
    let Some(value) = headers.get("last-event-id").filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    let place = value.to_str().ok().and_then(EventPlace::parse);
    place.map(Some).ok_or_else(|| {
        Problem::new(
            exitgap_api::ProblemCode::InvalidParameter,
            "Last-Event-ID: it is not the id of an event",
        )
        .field("Last-Event-ID")
        .hint("give the id of the last event as it came, or none")
    })
}

/// A response body of frames as they arrive.
struct Frames(mpsc::Receiver<Bytes>);

impl hyper::body::Body for Frames {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(context).map(|frame| frame.map(|frame| Ok(Frame::data(frame))))
    }
}

/// A running stream.
struct StreamSession {
    service: Arc<Service>,
    pools: Vec<PoolId>,
    own: Option<Own>,
    frames: mpsc::Sender<Bytes>,
}

/// The owner whose rules' events are sent, and how far the rules are evaluated.
struct Own {
    desk: AlertService,
    owner: Owner,
    evaluated: watch::Receiver<Option<Slot>>,
}

/// The client has disconnected, or the stream cannot continue.
struct Over;

impl StreamSession {
    async fn tell(&mut self, after: Option<EventPlace>) -> Result<(), Over> {
        let mut sealed = self.service.watch_slots();
        let sealed_last = self.service.current().last_slot;
        // If nothing has been evaluated yet, no rule is older than the newest slot.
        let newest = self.reach(sealed_last).or(sealed_last);
        let mut next = if let Some(after) = after {
            // A newly started process may not have read its store yet; slots that were sealed meanwhile are known once
            // it has.
            let newest = self.wait(&mut sealed, None).await?;
            self.resume(after, newest).await?
        } else {
            // The id of the stream's beginning, so that a client that loses the connection immediately resumes here.
            let id = newest.map_or(String::new(), |newest| {
                let last = u32::try_from(self.pools.len()).unwrap_or(u32::MAX);
                format!("id: {}\n", EventPlace { slot: newest, place: last })
            });
            self.send_frame(format!("retry: {}\n{id}data\n\n", retry_ms())).await?;
            newest.and_then(Slot::next)
        };
        loop {
            let newest = self.wait(&mut sealed, next).await?;
            let mut slot = next.unwrap_or(newest);
            while slot <= newest {
                self.slot(slot, 0).await?;
                next = slot.next();
                match next {
                    Some(later) => slot = later,
                    None => return Ok(()),
                }
            }
        }
    }

    /// Sends what followed an event. If that is too long ago or in the future, sends a notice of it and the present
    /// state. Returns the next slot.
    async fn resume(&self, after: EventPlace, newest: Slot) -> Result<Option<Slot>, Over> {
        let near = after.slot <= newest && newest.number() - after.slot.number() <= REACH;
        let retry = retry_ms();
        if !near {
            let number = newest.number();
            let reset = format!("retry: {retry}\nevent: reset\ndata: {{\"slot\":{number}}}\n\n");
            self.send_frame(reset).await?;
            self.slot(newest, 0).await?;
            return Ok(newest.next());
        }
        self.send_frame(format!("retry: {retry}\nid: {after}\ndata\n\n")).await?;
        self.slot(after.slot, after.place.saturating_add(1)).await?;
        Ok(after.slot.next())
    }

    /// Waits until a slot is sealed, and returns the newest; sends keep-alives meanwhile.
    async fn wait(
        &mut self,
        sealed: &mut watch::Receiver<LogProgress>,
        next: Option<Slot>,
    ) -> Result<Slot, Over> {
        loop {
            let LogProgress { newest, ends } = *sealed.borrow_and_update();
            // Slots that were sealed before the first watcher subscribed must also be found.
            let newest = self.reach(newest.or_else(|| self.service.current().last_slot));
            if ends {
                return Err(Over);
            }
            if let Some(newest) = newest.filter(|newest| next.is_none_or(|next| next <= *newest)) {
                return Ok(newest);
            }
            tokio::select! {
                changed = sealed.changed() => changed.map_err(|_| Over)?,
                () = wait_for_evaluation(&mut self.own) => {}
                () = self.frames.closed() => return Err(Over),
                () = tokio::time::sleep(SILENCE) => self.send_frame(":\n\n".to_owned()).await?,
            }
        }
    }

    /// Sends a slot's events from a position on, in one frame.
    async fn slot(&self, slot: Slot, from: u32) -> Result<(), Over> {
        let told = self.service.slot_events(slot, &self.pools).await;
        let events = told.map_err(|problem| {
            tracing::warn!(%slot, detail = %problem.detail, "a stream ends");
            Over
        })?;
        let said = self.said(slot).await?;
        let mut frame = String::new();
        let after = u32::try_from(self.pools.len()).unwrap_or(u32::MAX).saturating_add(1);
        let all = std::iter::once(("slot", 0, &events.slot))
            .chain(events.pools.iter().map(|(place, text)| ("pool", *place, text)))
            .chain((after..).zip(&said).map(|(place, text)| ("alert", place, text)));
        for (event, place, text) in all.filter(|(_, place, _)| *place >= from) {
            let id = EventPlace { slot, place };
            // Writing to a String cannot fail.
            let _ = write!(frame, "event: {event}\nid: {id}\ndata: {text}\n\n");
        }
        if frame.is_empty() { Ok(()) } else { self.send_frame(frame).await }
    }

    /// The newest slot for which all events are known.
    fn reach(&self, newest: Option<Slot>) -> Option<Slot> {
        match &self.own {
            None => newest,
            Some(own) => newest.min(*own.evaluated.borrow()),
        }
    }

    /// The events of the owner's rules in a slot.
    async fn said(&self, slot: Slot) -> Result<Vec<String>, Over> {
        let Some(Own { desk, owner, .. }) = &self.own else { return Ok(Vec::new()) };
        let said = desk.said_in(*owner, slot).await.map_err(|problem| {
            tracing::warn!(%slot, detail = %problem.detail, "a stream ends");
            Over
        })?;
        // Serialization cannot fail: these documents were parsed before.
        said.iter().map(|event| serde_json::to_string(event).map_err(|_| Over)).collect()
    }

    async fn send_frame(&self, frame: String) -> Result<(), Over> {
        self.frames.send(frame.into()).await.map_err(|_| Over)
    }
}

/// Waits until rules are evaluated further; waits forever if the stream has no rules.
async fn wait_for_evaluation(own: &mut Option<Own>) {
    match own {
        // The sender lives as long as the alert service.
        Some(own) => {
            let _ = own.evaluated.changed().await;
        }
        None => std::future::pending().await,
    }
}

/// When browsers reconnect: randomized, so that they do not all do so at once.
fn retry_ms() -> u32 {
    let mut random = [0; 2];
    // Without randomness they reconnect all at once, which is only a peak in load.
    let _ = getrandom::fill(&mut random);
    3_000 + u32::from(u16::from_le_bytes(random)) % 7_000
}
