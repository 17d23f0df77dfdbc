//! Addresses to which nothing may be sent, in every spelling.
//!
//! No packet leaves this machine: addresses outside it are only given to the guard and to a lookup that answers from a
//! table, and nothing is dialled. Addresses of this machine are really tried, with listeners that count connections;
//! the control is the same sender with this machine's network allowed.

use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use exitgap_server::alerts::{AlertKey, GuardedResolver, Lookup, Networks, Poster, SystemLookup};
use exitgap_store::alerts::{DeliveryTask, EndpointKeys, Outcome, Sent};

use super::{Part, Progress, Result};
use crate::receiver::{Does, Receiver};

/// IP literals, in brackets and in other spellings.
const LITERALS: [&str; 46] = [
    "127.0.0.1",
    "127.0.0.1.",
    "127.1",
    "127.255.255.254",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "017700000001",
    "0",
    "0.0.0.0",
    "10.0.0.1",
    "012.0.0.1",
    "0xa000001",
    "100.64.0.1",
    "100.127.255.255",
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "192.168.257",
    "198.18.0.1",
    "198.51.100.7",
    "203.0.113.7",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "[::]",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::a00:1]",
    "[2002:7f00:1::]",
    "[2001:0:7f00:1::]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fe80::1]",
];

/// Other spellings that are not valid destinations.
const SPELLED: [&str; 19] = [
    "https://user@hooks.example/",
    "https://:secret@hooks.example/",
    "https://hooks.example/#part",
    "http://hooks.example/",
    "https://hooks.example:22/",
    "https://hooks.example:6379/",
    "https://hooks.example:80/",
    "https://[fe80::1%25eth0]/",
    "https://[fec0::1]/",
    "https://[ff02::1]/",
    "https://[2001:db8::1]/",
    "ftp://hooks.example/",
    "file:///etc/passwd",
    "gopher://127.0.0.1:70/_",
    "unix:/run/docker.sock",
    "javascript:alert(1)",
    "//hooks.example/",
    "https://",
    "https://\u{ff11}\u{ff12}\u{ff17}\u{3002}0\u{3002}0\u{3002}1/",
];

/// The addresses of names.
const NAMES: [(&str, &[&str]); 12] = [
    ("loopback.example", &["127.0.0.1"]),
    ("loopback6.example", &["::1"]),
    ("unspecified.example", &["0.0.0.0"]),
    ("metadata.example", &["169.254.169.254"]),
    ("metadata6.example", &["fd00:ec2::254"]),
    ("private.example", &["10.20.30.40"]),
    ("shared.example", &["100.100.100.200"]),
    ("mapped.example", &["::ffff:10.0.0.1"]),
    ("embedded.example", &["64:ff9b::a9fe:a9fe"]),
    ("tunnelled.example", &["2002:a00:1::1"]),
    // One non-public address is enough.
    ("mixed.example", &["93.184.215.14", "192.168.1.1"]),
    ("nobody.example", &[]),
];

/// A name whose address changes between two lookups.
const REBOUND: &str = "rebound.example";

/// Answers from the table, and counts lookups.
#[derive(Default)]
struct Table {
    asked: AtomicU64,
}

impl Lookup for Table {
    fn lookup(
        &self,
        name: &str,
    ) -> Pin<Box<dyn Future<Output = std::io::Result<Vec<IpAddr>>> + Send>> {
        let before = self.asked.fetch_add(1, Ordering::SeqCst);
        let found: Vec<IpAddr> = match name {
            // First the harmless address that the owner shows, then the intended one.
            REBOUND if before == 0 => vec![IpAddr::V4(Ipv4Addr::new(93, 184, 215, 14))],
            REBOUND => vec![IpAddr::V4(Ipv4Addr::LOCALHOST)],
            _ => {
                let of = NAMES.iter().find(|(known, _)| *known == name);
                of.map_or(&[][..], |(_, all)| *all)
                    .iter()
                    .filter_map(|ip| ip.parse().ok())
                    .collect()
            }
        };
        Box::pin(async move { Ok(found) })
    }
}

fn system() -> Arc<dyn Lookup> {
    Arc::new(SystemLookup)
}

fn poster(lookup: &Arc<dyn Lookup>, networks: Networks) -> Result<Poster> {
    let key = AlertKey::from_seed([1; 32]);
    Ok(Poster::new(lookup, networks, key, Duration::from_secs(2))?)
}

fn sending(url: &str) -> DeliveryTask {
    let keys = EndpointKeys { salt: [0; 16], generation: 1, rotated_ms: None };
    let (id, document) = ("evt_a".to_owned(), b"{}".to_vec());
    let what = Sent::Event { alert: 1, seq: 1, id, document };
    DeliveryTask { what, endpoint: 1, url: url.to_owned(), host: String::new(), keys, attempt: 1 }
}

/// Listeners on this machine at the permitted ports, if they are free.
fn traps() -> (Vec<TcpListener>, usize) {
    let at = |ip: &str| ["443", "8443"].map(|port| TcpListener::bind(format!("{ip}:{port}")));
    let open: Vec<TcpListener> =
        ["0.0.0.0", "[::1]"].iter().flat_map(|ip| at(ip)).flatten().collect();
    let count = open.len();
    for trap in &open {
        // A blocking listener could not report that there was no connection.
        let _ = trap.set_nonblocking(true);
    }
    (open, count)
}

/// Passes every case to the sender.
pub fn run(part: &mut Part, progress: Progress<'_>) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    for key in ["cases", "reached", "control_reached"] {
        part.set(&format!("ssrf.{key}"), 0_u64);
    }
    let (traps, count) = traps();
    part.note(format!("ssrf: {count} listeners of this machine wait at ports 443 and 8443"));
    let none = Networks::default();
    let strict = poster(&system(), none.clone())?;
    let literals = LITERALS.iter().flat_map(|host| {
        [format!("https://{host}/latest/meta-data"), format!("https://{host}:8443/")]
    });
    let all: Vec<String> = literals.chain(SPELLED.map(str::to_owned)).collect();
    for (done, url) in all.iter().enumerate() {
        progress("ssrf", done as u64, all.len() as u64);
        part.count("ssrf.cases");
        match none.permit(url) {
            // Nothing is sent for this check.
            Ok(_) => part.problem("ssrf.reached", format!("{url} is permitted")),
            Err(_) => tried(&runtime, &strict, url, part),
        }
    }
    names(&runtime, part)?;
    redirects(&runtime, part)?;
    let came = traps.iter().filter(|trap| trap.accept().is_ok()).count();
    if came > 0 {
        part.problem("ssrf.reached", format!("{came} listeners were connected to"));
    }
    control(&runtime, part)
}

/// Really tries what the guard rejects: it must be rejected before anything is dialled.
fn tried(runtime: &tokio::runtime::Runtime, poster: &Poster, url: &str, part: &mut Part) {
    match runtime.block_on(poster.attempt(&sending(url), 1_000_000)) {
        Outcome::Failed { .. } => {}
        other => part.problem("ssrf.reached", format!("{url}: {other:?}")),
    }
}

/// Names of addresses that may not be reached.
fn names(runtime: &tokio::runtime::Runtime, part: &mut Part) -> Result<()> {
    let table: Arc<Table> = Arc::default();
    let guarded = GuardedResolver::new(table.clone(), Networks::default(), false);
    // Its first lookup is a public address, which is never dialled.
    let first = runtime.block_on(guarded.addresses(REBOUND));
    if first.is_err() {
        return Err("a public address is refused: nothing would be shown".into());
    }
    let lookup: Arc<dyn Lookup> = table.clone();
    let poster = poster(&lookup, Networks::default())?;
    for name in NAMES.iter().map(|(name, _)| *name).chain([REBOUND]) {
        part.count("ssrf.cases");
        if runtime.block_on(guarded.addresses(name)).is_ok() {
            part.problem("ssrf.reached", format!("{name} is given addresses of"));
            continue;
        }
        tried(runtime, &poster, &format!("https://{name}:8443/"), part);
    }
    if table.asked.load(Ordering::SeqCst) < 2 * NAMES.len() as u64 {
        return Err("names were not looked up at each attempt".into());
    }
    Ok(())
}

/// Redirects from permitted to forbidden destinations.
fn redirects(runtime: &tokio::runtime::Runtime, part: &mut Part) -> Result<()> {
    let inner = Receiver::start(Ipv4Addr::new(127, 0, 9, 9), |_| Does::Takes)?;
    let own = Networks::new(vec!["127.0.0.1/32".parse()?]);
    let poster = poster(&system(), own)?;
    for status in [301, 302, 303, 307, 308] {
        part.count("ssrf.cases");
        let to = format!("location: {}\r\n", inner.url("/"));
        let outer =
            Receiver::start(Ipv4Addr::LOCALHOST, move |_| Does::Answers(status, to.clone()))?;
        tried(runtime, &poster, &outer.url("/"), part);
        if outer.connections() == 0 {
            return Err("the address that redirects was not reached".into());
        }
    }
    // Of the operator's own networks only the configured ones are permitted.
    part.count("ssrf.cases");
    tried(runtime, &poster, &inner.url("/"), part);
    if inner.connections() > 0 {
        part.problem("ssrf.reached", "a redirect was followed, or another network reached");
    }
    Ok(())
}

/// The same sender with this machine allowed: the destinations are reachable.
fn control(runtime: &tokio::runtime::Runtime, part: &mut Part) -> Result<()> {
    let here = Networks::new(vec!["127.0.0.0/8".parse()?]);
    let poster = poster(&system(), here)?;
    for ip in [[127, 0, 0, 1], [127, 0, 9, 9]] {
        let receiver = Receiver::start(Ipv4Addr::from(ip), |_| Does::Takes)?;
        let outcome = runtime.block_on(poster.attempt(&sending(&receiver.url("/")), 1_000_000));
        if outcome == Outcome::Taken && receiver.connections() == 1 {
            part.count("ssrf.control_reached");
        }
    }
    if part.number("ssrf.control_reached") == 0 {
        return Err("the control reached nothing: no case shows anything".into());
    }
    Ok(())
}
