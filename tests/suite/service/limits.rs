//! The service's limits, each with a test that fails without it: connections, time limits, rate limits.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use exitgap_server::http::{Connections, Limits};
use exitgap_server::ops::Bounds;
use exitgap_tests::binaries;
use exitgap_tests::devchain::{FIRST_SLOT, Market};

use crate::scenes::chain::scene;
use crate::scenes::here::{Here, With, stored, stuck_file, times_open, until};
use crate::scenes::service::{Service, configured, recorded, rest_of};
use crate::scenes::store::{BusyPool, slot};

/// One pool with one slot.
fn small() -> tempfile::TempDir {
    stored(&[vec![BusyPool::new(1, 4).recorded(slot(0))]])
}

/// Whether no data arrives for a while. If the limit works, none ever arrives.
fn says_nothing(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    let silent = stream.read(&mut [0]).is_err();
    stream.set_read_timeout(None).unwrap();
    silent
}

#[test]
fn the_times_and_numbers_are_those_of_the_conventions() {
    let conventions = include_str!("../../../crates/exitgap-server/docs/conventions.md");
    let connections = Connections::default();
    let twenty = Duration::from_secs(20);
    assert_eq!(connections.head_within, twenty);
    assert_eq!(connections.write_within, twenty);
    assert_eq!(Limits::default().answer_within, twenty);
    assert_eq!((connections.most, connections.finish_within), (12_000, twenty / 2));
    let Bounds { readers, cache_bytes } = Bounds::default();
    for said in [
        "20 s for a head".to_owned(),
        "20 s for an\nanswer".to_owned(),
        "20 s without progress while an answer is written".to_owned(),
        "12,000 connections,".to_owned(),
        format!("{} connections per address", connections.most_per_address.unwrap()),
        format!("{readers} requests"),
        format!("{} MiB", cache_bytes >> 20),
        format!("{} positions per portfolio", exitgap_api::operations::MAX_POSITIONS),
    ] {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(conventions).contains(&words(&said)), "conventions.md does not say: {said}");
    }
}

#[test]
fn a_head_that_does_not_come_ends_the_connection() {
    let folder = small();
    let connections =
        Connections { head_within: Duration::from_millis(100), ..Connections::default() };
    let here = Here::start(folder.path(), With { connections, ..With::default() });
    let mut half = here.open_from([127, 0, 0, 1]);
    half.write_all(b"GET /livez HTTP/1.1\r\nHos").unwrap();
    let silent = here.open_from([127, 0, 0, 1]);
    until("both are there", || here.connections() == 2);
    until("both are closed", || here.connections() == 0);
    drop((half, silent));
    assert_eq!(here.get("/livez").status, 200);
}

#[test]
fn an_answer_that_nobody_takes_ends_the_connection() {
    let folder = small();
    // More data than all buffers in between can hold.
    let manifest = folder.path().join("log/slots/5957863.jsonl");
    File::create(&manifest).unwrap().set_len(64 << 20).unwrap();
    let connections =
        Connections { write_within: Duration::from_millis(100), ..Connections::default() };
    let here = Here::start(folder.path(), With { connections, ..With::default() });
    let asked = here.asked("/log/slots/5957863.jsonl");
    until("it is read", || times_open(&manifest) == 1);
    until("it is given up", || here.connections() == 0);
    assert_eq!(times_open(&manifest), 0);
    drop(asked);
}

#[test]
fn large_files_of_the_log_are_sent_whole_and_not_held_whole() {
    let folder = small();
    let manifest = folder.path().join("log/slots/5957863.jsonl");
    let bytes: Vec<u8> = (0..3_000_001_u32).map(|n| (n % 251) as u8).collect();
    fs::write(&manifest, &bytes).unwrap();
    let here = Here::start(folder.path(), With::default());
    let answer = here.get("/log/slots/5957863.jsonl");
    assert_eq!((answer.status, answer.body == bytes), (200, true));
    assert_eq!(answer.header("content-length"), Some("3000001"));
    assert_eq!(answer.header("content-encoding"), None);
    assert!(answer.header("etag").is_some());
    until("it is closed", || times_open(&manifest) == 0);
}

#[test]
fn an_answer_that_takes_too_long_is_told_so() {
    let folder = small();
    let stuck = stuck_file(folder.path(), "checkpoint");
    let limits = Limits { answer_within: Duration::from_millis(100), ..Limits::default() };
    let here = Here::start(folder.path(), With { limits, ..With::default() });
    let answer = here.get("/log/checkpoint");
    assert_eq!(answer.problem(), (503, "timed_out".to_owned(), None));
    assert_eq!(answer.header("retry-after"), Some("5"));
    drop(File::options().write(true).open(stuck).unwrap());
}

#[test]
fn clients_that_hang_up_do_not_free_what_their_work_holds() {
    let folder = small();
    let stuck = stuck_file(folder.path(), "checkpoint");
    let with = With {
        bounds: Bounds { readers: 2, ..Bounds::default() },
        limits: Limits { answer_within: Duration::from_millis(200), ..Limits::default() },
        ..With::default()
    };
    let here = Here::start(folder.path(), with);
    // A writer, so that the reader's request gets past opening the pipe.
    let writing = stuck.clone();
    let writer = std::thread::spawn(move || File::options().write(true).open(writing).unwrap());
    let asked = here.asked("/log/checkpoint");
    let writer = writer.join().unwrap();
    until("its thread reads", || times_open(&stuck) == 2);
    drop(asked);
    let asked = here.asked("/log/checkpoint");
    until("the second's thread reads", || times_open(&stuck) == 3);
    drop(asked);
    until("both have hung up", || here.connections() == 0);
    // Every new request waits, because both threads are busy.
    here.refresh();
    for target in [
        "/log/checkpoint",
        "/log/verifier-key",
        "/v1/ladder/anvil:0x000000000000000000000000000000000000aa01",
    ] {
        assert_eq!(here.get(target).problem().1, "timed_out", "{target}");
    }
    assert_eq!(times_open(&stuck), 3, "two read, one writes");
    drop(writer);
    until("both have ended", || times_open(&stuck) == 0);
    assert_eq!(here.get("/log/verifier-key").status, 200);
}

#[test]
#[expect(clippy::result_large_err, reason = "it is the store's own error")]
fn a_store_has_so_many_readers_and_no_more() {
    use exitgap_server::ops::{BlockingPool, Readers};
    use exitgap_store::StoreError;
    use std::sync::mpsc::channel;

    let folder = small();
    let store = folder.path().join("series.db").canonicalize().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let width = Bounds::default().readers;
    let readers = Readers::new(store.clone(), BlockingPool::new(width));
    let (begun, begins) = channel();
    let (go, gone) = channel::<()>();
    let gone = std::sync::Arc::new(std::sync::Mutex::new(gone));
    for _ in 0..width {
        let (readers, begun, gone) = (readers.clone(), begun.clone(), gone.clone());
        let asking = runtime.spawn(async move {
            let ask = move |_: &exitgap_store::Reader| {
                begun.send(()).unwrap();
                // Waits until the other end is dropped.
                let _ = gone.lock().unwrap().recv();
                Ok::<_, StoreError>(())
            };
            readers.read_store(ask).await
        });
        begins.recv().unwrap();
        // The client closes the connection, but its request continues.
        asking.abort();
    }
    let slots = |reader: &exitgap_store::Reader| reader.slots();
    let next = runtime.block_on(async {
        tokio::time::timeout(Duration::from_millis(300), readers.read_store(slots)).await
    });
    assert!(next.is_err(), "one more was asked");
    assert_eq!(times_open(&store), width);
    drop(go);
    assert!(runtime.block_on(readers.read_store(slots)).unwrap().is_some());
    // The opened readers are kept and reused.
    for _ in 0..3 * width {
        runtime.block_on(readers.read_store(slots)).unwrap();
    }
    assert!(times_open(&store) <= width);
}

#[test]
fn connections_beyond_the_most_wait() {
    let folder = small();
    let connections = Connections { most: 2, ..Connections::default() };
    let here = Here::start(folder.path(), With { connections, ..With::default() });
    let first = here.open_from([127, 0, 0, 1]);
    let second = here.open_from([127, 0, 0, 2]);
    until("two are there", || here.connections() == 2);
    let mut third = here.asked_from([127, 0, 0, 3], "/livez");
    assert!(says_nothing(&mut third));
    assert_eq!(here.connections(), 2);
    drop(first);
    assert_eq!(rest_of(third).status, 200);
    drop(second);
}

#[test]
fn one_address_has_its_connections_and_others_have_theirs() {
    let folder = small();
    let connections = Connections { most_per_address: Some(3), ..Connections::default() };
    let here = Here::start(folder.path(), With { connections, ..With::default() });
    let mut held: Vec<_> = (0..3).map(|_| here.open_from([127, 0, 0, 2])).collect();
    until("three are there", || here.connections() == 3);
    let refused = rest_of(here.open_from([127, 0, 0, 2]));
    assert_eq!(refused.status, 429, "{refused:?}");
    assert_eq!(refused.json()["code"], "rate_limited");
    assert!(refused.json()["hint"].as_str().is_some());
    assert_eq!(rest_of(here.asked_from([127, 0, 0, 3], "/livez")).status, 200);
    let metrics = String::from_utf8(rest_of(here.asked_from([127, 0, 0, 3], "/metrics")).body);
    assert!(metrics.unwrap().contains("exitgap_http_connections_refused_total 1"));
    // A closed connection makes room for another.
    held.pop();
    until("one is gone", || here.connections() == 2);
    assert_eq!(rest_of(here.asked_from([127, 0, 0, 2], "/livez")).status, 200);
}

#[test]
fn whatever_is_asked_counts_and_who_is_told_to_wait_is_closed() {
    let folder = small();
    let limits = Limits { rate_per_minute: 20, ..Limits::default() };
    let here = Here::start(folder.path(), With { limits, ..With::default() });
    for (client, request) in [
        (2, "GET /livez"),
        (3, "GET /readyz"),
        (4, "GET /metrics"),
        (5, "OPTIONS /v1/pools"),
        (6, "POST /v1/pools"),
        (7, "GET /nothing"),
    ] {
        let mut stream = here.open_from([127, 0, 0, client]);
        for _ in 0..21 {
            stream.write_all(format!("{request} HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes()).unwrap();
        }
        // The client did not request the end of the connection, but the service closes it after the last answer.
        let mut all = String::new();
        stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
        stream.read_to_string(&mut all).unwrap_or_else(|error| panic!("{request}: {error}"));
        let last = all.rfind("HTTP/1.1 ").unwrap();
        assert!(all[last..].starts_with("HTTP/1.1 429"), "{request}: {}", &all[last..]);
        assert!(all[last..].contains("connection: close"), "{request}");
        assert_eq!(all.matches("HTTP/1.1 429").count(), 1, "{request}");
    }
}

#[test]
fn a_portfolio_has_at_most_a_hundred_positions_and_costs_as_many_requests() {
    let folder = small();
    let limits = Limits { rate_per_minute: 250, ..Limits::default() };
    let here = Here::start(folder.path(), With { limits, ..With::default() });
    here.refresh();
    let pool = BusyPool::new(1, 4).id;
    let portfolio = |count: usize| {
        let positions = vec![format!("position={pool}:1"); count].join("&");
        here.get(&format!("/v1/portfolio?{positions}"))
    };
    let left = |answer: &crate::scenes::service::Answer| -> u32 {
        let header = answer.header("ratelimit").unwrap();
        header.split("r=").nth(1).unwrap().split(';').next().unwrap().parse().unwrap()
    };
    let most = portfolio(100);
    assert_eq!(most.found()["positions"].as_array().unwrap().len(), 100);
    // The limit grants four requests per second meanwhile.
    assert!((150..170).contains(&left(&most)), "{most:?}");
    let more = portfolio(101);
    assert_eq!(more.problem(), (400, "invalid_parameter".into(), Some("position".into())));
    assert!(more.json()["detail"].as_str().unwrap().contains("1 to 100 positions, not 101"));
    assert!(left(&more) < 90, "{more:?}");
    assert_eq!(portfolio(100).status, 429);
    assert_eq!(portfolio(1).status, 200);
}

#[test]
fn what_reads_many_snapshots_counts_as_many_requests() {
    let folder = small();
    let limits = Limits { rate_per_minute: 600, ..Limits::default() };
    let here = Here::start(folder.path(), With { limits, ..With::default() });
    here.refresh();
    let pool = BusyPool::new(1, 4).id;
    let left = |target: &str| -> u32 {
        let answer = here.get(target);
        let header = answer.header("ratelimit").unwrap();
        header.split("r=").nth(1).unwrap().split(';').next().unwrap().parse().unwrap()
    };
    let mut before = left("/livez");
    for (target, cost) in [
        (format!("/v1/pools/{pool}"), 1),
        (format!("/v1/stress/{pool}?size_usd=1000"), 1),
        (format!("/v1/history/{pool}?size_usd=10000"), 1),
        (format!("/v1/stress/{pool}?size_usd=1001"), 5),
        (format!("/v1/history/{pool}?interval=5m&size_usd=12.5"), 5),
        (format!("/v1/decay/{pool}"), 20),
        (format!("/api/v1/decay/{pool}"), 20),
        (format!("/v1/exposure?venue={pool}&cascade_usd=1000"), 20),
        (format!("/api/v1/exposure?venue={pool}&cascade_usd=1000"), 20),
        (format!("/v1/stress?venue={pool}&size_usd=1000"), 20),
        (format!("/api/v1/stress?venue={pool}&size_usd=1000"), 20),
    ] {
        let now = left(&target);
        // The limit grants ten requests per second meanwhile.
        let taken = before.saturating_sub(now);
        assert!(taken <= cost && taken + 4 >= cost, "{target}: {taken}");
        before = now;
    }
}

#[test]
fn another_method_is_refused_whatever_comes_with_it() {
    let folder = small();
    let here = Here::start(folder.path(), With::default());
    let send = |method: &str, target: &str, rest: &str| {
        let mut stream = here.open_from([127, 0, 0, 1]);
        let request = format!("{method} {target} HTTP/1.1\r\nHost: a\r\n{rest}");
        stream.write_all(request.as_bytes()).unwrap();
        rest_of(stream).problem()
    };
    let bodies = [
        "Content-Length: 9\r\n\r\n{\"a\":\"b\"}",
        "Content-Length: 9000000000\r\n\r\nx",
        "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n5\r\n",
        "Connection: close\r\n\r\n",
    ];
    for body in bodies {
        for method in ["POST", "PUT", "DELETE", "PATCH"] {
            assert_eq!(send(method, "/v1/pools", body).1, "method_not_allowed", "{method} {body}");
        }
        assert_eq!(send("POST", "/v1/alerts", body).1, "not_available", "{body}");
        assert_eq!(send("POST", "/nothing", body).1, "not_found", "{body}");
    }
    for body in &bodies[..4] {
        assert_eq!(send("GET", "/v1/pools", body).1, "body_not_accepted", "{body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn operators_ask_at_an_address_of_their_own_where_there_is_one() {
    let recorded = recorded(1).await;
    let apart =
        [("EXITGAP_SERVE_OPERATORS", "127.0.0.1:0"), ("EXITGAP_HTTP_RATE_PER_MINUTE", "20")];
    let service = Service::start(recorded.folder.path(), &["--no-record"], &apart);
    // More requests than the limit of other addresses.
    for _ in 0..30 {
        assert_eq!(service.at_operators("/livez").body, b"ok\n");
    }
    assert_eq!(service.at_operators("/readyz").status, 503);
    let metrics = String::from_utf8(service.at_operators("/metrics").body).unwrap();
    assert!(metrics.contains("exitgap_http_connections "), "{metrics}");
    assert_eq!(service.at_operators("/v1/pools").problem().1, "not_found");
    for target in ["/livez", "/readyz", "/metrics"] {
        assert_eq!(service.get(target).problem().1, "not_found", "{target}");
    }
    assert_eq!(service.end(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_waits_for_the_requests_in_hand() {
    let recorded = recorded(1).await;
    let checkpoint = recorded.path("exitgap-log/checkpoint");
    let text = fs::read(&checkpoint).unwrap();
    fs::remove_file(&checkpoint).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&checkpoint).status();
    assert!(made.unwrap().success());
    let mut service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let mut asked = TcpStream::connect(service.address).unwrap();
    asked.write_all(b"GET /log/checkpoint HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    // Opening blocks until the request's thread has opened the other end.
    let mut file = File::options().write(true).open(&checkpoint).unwrap();
    service.ask_to_end();
    let address = service.address;
    until("nothing more is accepted", || TcpStream::connect(address).is_err());
    // Long enough for a process that does not wait to end.
    std::thread::sleep(Duration::from_millis(500));
    file.write_all(&text).unwrap();
    drop(file);
    let answer = rest_of(asked);
    assert_eq!((answer.status, &answer.body), (200, &text));
    assert_eq!(service.exit_code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slot_does_not_wait_for_the_threads_of_those_who_ask() {
    let (chain, world) = scene().await;
    let folder = configured(&chain, &world);
    let mut market = Market::new(&chain, &world, 4).await.unwrap();
    for number in FIRST_SLOT..FIRST_SLOT + 30 {
        market.play_slot(number).await.unwrap();
    }
    // All of the service's blocking threads are busy: more requests than threads wait for a file that does not respond.
    let unbounded =
        [("EXITGAP_SERVE_READERS", "1024"), ("EXITGAP_HTTP_MAX_CONNECTIONS_PER_ADDRESS", "0")];
    let rehearsal = ["--rehearse-at", &FIRST_SLOT.to_string(), "--rehearse-pace", "60"];
    let service = Service::start(folder.path(), &rehearsal, &unbounded);
    let stuck = folder.path().join("exitgap-log/superseded-by");
    until("the log has its folder", || stuck.with_file_name("checkpoint").exists());
    assert!(std::process::Command::new("mkfifo").arg(&stuck).status().unwrap().success());
    let asked: Vec<_> = (0..520)
        .map(|_| {
            let mut stream = TcpStream::connect(service.address).unwrap();
            stream.write_all(b"GET /log/superseded-by HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
            stream
        })
        .collect();
    until("all threads are taken", || service.threads() > 512);
    let last = || {
        let reader = exitgap_store::Reader::open(folder.path().join("exitgap.db")).unwrap();
        reader.slots().unwrap().map(|(_, last)| last.number())
    };
    let before = last();
    until("the next slots are recorded", || last() > before.map(|before| before + 1));
    drop(asked);
}

#[test]
fn an_address_of_operators_in_use_is_told_with_its_key() {
    let folder = tempfile::TempDir::new().unwrap();
    let taken = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let program = binaries::path("exitgap-server");
    let run = |arguments: &[&str]| {
        let mut command = std::process::Command::new(&program);
        command.args(arguments).env("EXITGAP_SERVE_OPERATORS", &address);
        command.current_dir(folder.path()).output().unwrap()
    };
    assert!(run(&["init"]).status.success());
    let output = run(&["serve", "--listen", "127.0.0.1:0"]);
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.contains(&address) && err.contains("[serve] operators"), "{err}");
    assert!(!folder.path().join("exitgap.db").exists());
}
