//! The stream of sealed slots: every event once, also after a reconnect, and the process can end despite open streams.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use exitgap_core::series::MissingReason;
use exitgap_server::http::Connections;
use exitgap_store::Store;
use serde_json::Value;
use tempfile::TempDir;

use crate::scenes::here::{Here, With};
use crate::scenes::service::{Recorded, Service, recorded};
use crate::scenes::store::{BusyPool, key, slot, store_in};

/// An event as a browser dispatches it; if it has no data, only its id counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub name: String,
    pub id: String,
    pub data: String,
}

/// A connection that reads events.
pub struct Stream {
    reader: BufReader<TcpStream>,
    pub head: String,
    retry: Option<u64>,
}

impl Stream {
    pub fn open(address: SocketAddr, target: &str, last: Option<&str>) -> Self {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let last = last.map_or(String::new(), |last| format!("Last-Event-ID: {last}\r\n"));
        write!(
            stream,
            "GET {target} HTTP/1.1\r\nHost: here\r\nAccept: text/event-stream\r\n{last}\r\n"
        )
        .unwrap();
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
        }
        Self { reader, head, retry: None }
    }

    /// The next event with an id; `None` at the end of the stream.
    pub fn next(&mut self) -> Option<Event> {
        let (mut name, mut id, mut data) = (String::new(), String::new(), String::new());
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let line = line.trim_end();
            // The lines with chunk lengths are skipped: no line of an event looks like them.
            if line == "0" {
                return None;
            }
            match line.split_once(": ") {
                Some(("event", text)) => text.clone_into(&mut name),
                Some(("id", text)) => text.clone_into(&mut id),
                Some(("data", text)) => text.clone_into(&mut data),
                Some(("retry", text)) => self.retry = text.parse().ok(),
                _ if line.is_empty() && (!id.is_empty() || !name.is_empty()) => {
                    return Some(Event { name, id, data });
                }
                _ => {}
            }
        }
    }

    /// Reads this many events, as name and id.
    fn take(&mut self, count: usize) -> Vec<(String, String)> {
        (0..count)
            .map(|n| self.next().unwrap_or_else(|| panic!("event {n}")))
            .map(|event| (event.name, event.id))
            .collect()
    }
}

fn named(name: &str, n: u32, place: u32) -> (String, String) {
    (name.to_owned(), format!("{}.{place}", slot(n).number()))
}

/// A store that seals slot after slot, and a service that reads it.
struct Sealing {
    folder: TempDir,
    store: Store,
    pools: [BusyPool; 2],
    here: Here,
    next: u32,
}

impl Sealing {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let store = Store::create(store_in(folder.path(), "series.db"), &key()).unwrap();
        let here = Here::start(folder.path(), With::default());
        let pools = [1, 2].map(|number| BusyPool::new(number, 5));
        let mut sealing = Self { folder, store, pools, here, next: 0 };
        sealing.seal();
        sealing
    }

    fn seal(&mut self) {
        let at = slot(self.next);
        let [first, second] = &mut self.pools;
        let second = match self.next {
            2 => second.missing(MissingReason::ChainLagging),
            _ => second.recorded(at),
        };
        self.store.append_slot(at, &[first.recorded(at), second]).unwrap();
        self.here.refresh();
        self.next += 1;
    }

    fn open(&self, query: &str, last: Option<&str>) -> Stream {
        Stream::open(self.here.address, &format!("/v1/stream{query}"), last)
    }
}

#[test]
fn every_event_comes_once_and_who_comes_back_goes_on_after_the_last() {
    let mut sealing = Sealing::new();
    let [one, two] = [0, 1].map(|n| sealing.pools[n].id.to_string());
    // The query names the pools in another order and twice; the events are in the order of the pool names.
    let query = format!("?pool={two}&pool={one}&pool={two}");
    let mut stream = sealing.open(&query, None);
    let head = stream.head.to_ascii_lowercase();
    for said in ["200 ok", "text/event-stream", "no-store", "x-accel-buffering: no"] {
        assert!(head.contains(said), "{said}: {head}");
    }
    assert!(!head.contains("content-encoding"), "{head}");
    let first = stream.next().unwrap();
    assert_eq!((first.name.as_str(), first.data.as_str()), ("", ""), "an id and no data");
    assert_eq!(first.id, format!("{}.2", slot(0).number()));
    assert!((3_000..10_000).contains(&stream.retry.unwrap()));
    for n in 1..4 {
        sealing.seal();
        let events: Vec<Event> = (0..3).map(|_| stream.next().unwrap()).collect();
        let told: Vec<_> = events.iter().map(|one| (one.name.clone(), one.id.clone())).collect();
        assert_eq!(told, [named("slot", n, 0), named("pool", n, 1), named("pool", n, 2)]);
        let data = |at: usize| serde_json::from_str::<Value>(&events[at].data).unwrap();
        assert_eq!(
            (&data(0)["slot"], &data(0)["size"]),
            (&slot(n).number().into(), &(n + 1).into())
        );
        assert_eq!(
            (data(1)["pool"].as_str(), data(2)["pool"].as_str()),
            (Some(&*one), Some(&*two))
        );
        let state = if n == 2 { "missing" } else { "recorded" };
        assert_eq!(data(2)["state"], state);
        assert_eq!(data(2)["missing_reason"].as_str(), (n == 2).then_some("chain_lagging"));
        assert_eq!(data(1)["depth_usd"].as_array().unwrap().len(), 2);
    }
    drop(stream);
    // The events missed meanwhile, starting in the middle of a slot.
    sealing.seal();
    let last = format!("{}.1", slot(2).number());
    let mut back = sealing.open(&query, Some(&last));
    assert_eq!(back.next().unwrap().id, last, "an id and no data");
    let expected = [
        named("pool", 2, 2),
        named("slot", 3, 0),
        named("pool", 3, 1),
        named("pool", 3, 2),
        named("slot", 4, 0),
    ];
    assert_eq!(back.take(5), expected);
    // With the id in the address, without pools.
    let mut plain = sealing.open(&format!("?last_event_id={}.0", slot(3).number()), None);
    assert_eq!(plain.take(2)[1], named("slot", 4, 0));
    sealing.seal();
    assert_eq!(plain.take(1), [named("slot", 5, 0)]);
    // An id in the future, and one from more than seven days ago; for an id from exactly seven days ago, no event is
    // missing.
    drop(plain);
    sealing.store.fill_until(slot(2_030)).unwrap();
    sealing.next = 2_030;
    sealing.seal();
    for last in [slot(2_031), slot(13)] {
        let mut far = sealing.open("", Some(&format!("{}.0", last.number())));
        let reset = far.next().unwrap();
        assert_eq!((reset.name.as_str(), reset.id.as_str()), ("reset", ""));
        assert_eq!(reset.data, format!("{{\"slot\":{}}}", slot(2_030).number()));
        assert_eq!(far.take(1), [named("slot", 2_030, 0)]);
    }
    let mut near = sealing.open("", Some(&format!("{}.0", slot(14).number())));
    let told = near.take(2_017);
    assert_eq!(
        (told[1].clone(), told[2_016].clone()),
        (named("slot", 15, 0), named("slot", 2_030, 0))
    );
}

#[test]
fn what_is_no_stream_is_refused_and_a_client_has_six() {
    let sealing = Sealing::new();
    let status = |query: &str, last: Option<&str>| {
        let stream = sealing.open(query, last);
        stream.head.split(' ').nth(1).unwrap().to_owned()
    };
    let unknown = format!("?pool=anvil:0x{}", "11".repeat(20));
    assert_eq!(status(&unknown, None), "404");
    let many: Vec<String> = (0..101).map(|n| format!("pool=anvil:0x{n:040x}")).collect();
    assert_eq!(status(&format!("?{}", many.join("&")), None), "400");
    for wrong in ["?pool=x", "?pools=x", "?last_event_id=5", "?last_event_id=5957856.01"] {
        assert_eq!(status(wrong, None), "400", "{wrong}");
    }
    assert_eq!(status("", Some("no id")), "400");
    let held: Vec<Stream> = (0..6).map(|_| sealing.open("", None)).collect();
    assert!(held.iter().all(|stream| stream.head.contains("200")));
    assert_eq!(status("", None), "429");
    assert_eq!(sealing.here.app.streams.count(), 6);
    drop(held);
    let until = Instant::now() + Duration::from_secs(10);
    while sealing.here.app.streams.count() > 0 {
        assert!(Instant::now() < until, "a stream that nobody reads is given back");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(status("", None), "200");
}

#[test]
fn who_comes_back_to_a_service_that_just_began_loses_nothing() {
    let mut sealing = Sealing::new();
    for _ in 0..3 {
        sealing.seal();
    }
    let folder = sealing.folder.path().to_owned();
    let began = Here::start(&folder, With::default());
    let (address, pool) = (began.address, sealing.pools[0].id.to_string());
    assert_eq!(began.app.service.current().last_slot, None, "it has not read its store");
    let target = format!("/v1/stream?pool={pool}");
    let reading = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        began.refresh();
        began
    });
    let last = format!("{}.1", slot(1).number());
    let mut stream = Stream::open(address, &target, Some(&last));
    assert!(stream.head.contains("200"), "{}", stream.head);
    let told = stream.take(5);
    assert_eq!((told[0].0.as_str(), told[0].1.as_str()), ("", last.as_str()));
    let expected =
        [named("slot", 2, 0), named("pool", 2, 1), named("slot", 3, 0), named("pool", 3, 1)];
    assert_eq!(told[1..], expected);
    drop(reading.join().unwrap());
}

/// The service buffers nothing for a client that does not read: it closes the connection, and after a reconnect the
/// client continues with the next event.
#[test]
fn who_does_not_read_is_closed_and_goes_on_later() {
    let folder = TempDir::new().unwrap();
    let mut store = Store::create(store_in(folder.path(), "series.db"), &key()).unwrap();
    let mut pools: Vec<BusyPool> = (0..40).map(|number| BusyPool::new(number, 2)).collect();
    let entries: Vec<_> = pools.iter_mut().map(|pool| pool.recorded(slot(0))).collect();
    store.append_slot(slot(0), &entries).unwrap();
    store.fill_until(slot(1_500)).unwrap();
    let connections =
        Connections { write_within: Duration::from_millis(500), ..Connections::default() };
    let here = Here::start(folder.path(), With { connections, ..With::default() });
    here.refresh();
    let names: Vec<String> = pools.iter().map(|pool| format!("pool={}", pool.id)).collect();
    let target = format!("/v1/stream?{}", names.join("&"));
    let last = format!("{}.0", slot(1).number());
    let mut slow = Stream::open(here.address, &target, Some(&last));
    assert!(slow.head.contains("200"), "{}", slow.head);
    // The client reads one of about sixty thousand events, and then no more.
    assert_eq!(slow.next().unwrap().id, last);
    let until = Instant::now() + Duration::from_mins(2);
    while here.app.streams.count() > 0 {
        assert!(Instant::now() < until, "its place is given back");
        std::thread::sleep(Duration::from_millis(50));
    }
    // The events in transit arrive, and then the end of the stream, long before the newest slot.
    let mut came = last;
    while let Some(event) = slow.next() {
        came = event.id;
    }
    assert!(came < format!("{}.0", slot(1_400).number()), "{came}");
    let mut back = Stream::open(here.address, &target, Some(&came));
    assert_eq!(back.next().unwrap().id, came);
    let newest = format!("{}.40", slot(1_499).number());
    while back.next().expect("a reader is not closed").id != newest {}
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_is_asked_to_end_ends_its_streams() {
    let recorded: Recorded = recorded(2).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let pool = recorded.pool(0);
    let mut stream = Stream::open(service.address, &format!("/v1/stream?pool={pool}"), None);
    assert_eq!(stream.next().unwrap().id, format!("{}.1", recorded.last.number()));
    let asked = Instant::now();
    service.ask_to_end();
    assert_eq!(stream.next(), None);
    assert_eq!(service.end(), Some(0));
    assert!(asked.elapsed() < Duration::from_secs(9), "not cut off after ten seconds");
}
