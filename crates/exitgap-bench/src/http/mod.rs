//! The service under load, on loopback: requests per second and latencies, compared with an empty handler in the same
//! layers; its memory; recording at the same time; idle connections.
//!
//! - `generate`, `template`: a generated store of 1,000 pools and 90 days
//! - `child`: the service as a separate process, so that its memory can be measured
//! - `load`: the clients
//! - `flood`: recording during requests
//! - `wide`: pools of 1,200 ticks
//! - `paid`: paid answers compared with free ones
//!
//! Clients and service share the machine, and so do the empty handler and its clients.

pub mod child;
mod flood;
mod generate;
mod load;
mod paid;
mod template;
mod wide;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use exitgap_core::series::Slot;

pub use child::{Part, ROLE, play};

use crate::BenchError;
use crate::effort::Effort;
use crate::report::Report;
use child::Served;
use generate::{Extent, Generated, generate};
use load::{Found, Targets, answered, load, one_by_one};

/// The dimensions of the generated data: so few positions that all pools' newest snapshots fit the service's cache, as
/// those of 1,000 quiet pools do.
const EXTENT: Effort<Extent> = Effort::new(
    Extent { pools: 1_000, positions: 12, days: 90, with_bodies: 288 },
    Extent { pools: 20, positions: 12, days: 31, with_bodies: 12 },
);

/// Duration of each load.
const TIME: Effort<Duration> = Effort::new(Duration::from_secs(6), Duration::from_millis(200));
/// Number of sequential requests for a median.
const SINGLE: Effort<u64> = Effort::new(200, 4);
/// The largest requested size, dollars.
const MOST_ASKED: u64 = 509;
/// Number of idle connections.
const IDLE: Effort<u32> = Effort::new(10_000, 50);

/// Adds `http.*`.
pub fn measure(report: &mut Report) -> Result<(), BenchError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(failed)?;
    runtime.block_on(paid::measure(report))?;
    runtime.block_on(wide::measure(report))?;
    let folder = tempfile::tempdir().map_err(failed)?;
    let generated = generate(folder.path(), EXTENT.get())?;
    let bytes = std::fs::metadata(&generated.path).map_err(failed)?.len();
    eprintln!("http: the generated store has {} MB", bytes >> 20);
    runtime.block_on(async {
        answers(&generated, report).await?;
        flood::measure().await
    })
}

/// Measures rates and latencies of each kind of answer, then the service's memory, then idle connections.
async fn answers(generated: &Generated, report: &mut Report) -> Result<(), BenchError> {
    let served = Served::start(&generated.path, generated.last, false)?;
    let address = served.address;
    let empty: Targets = Arc::new(|_| "/".to_owned());
    let all: Vec<String> = generated.pools.iter().map(ToString::to_string).collect();
    let able = fillable(address, &all).await?;
    let exit = of_pools(&able, |pool, n| format!("/v1/exit/{pool}?size_usd={}", 10 + n % 500));
    let ladder = of_pools(&all, |pool, _| format!("/v1/ladder/{pool}"));
    // First read and prepare what was not requested before.
    one_by_one(address, &exit, EXTENT.get().pools.into()).await?;
    let empty_rps = tell("empty", load(served.empty, &empty, TIME.get(), None).await?).rps;
    let exit_rps = tell("exit", load(address, &exit, TIME.get(), None).await?).rps;
    let half = Some(exit_rps / 2.0);
    let at_half = tell("exit at half of that", load(address, &exit, TIME.get(), half).await?);
    one_by_one(address, &ladder, EXTENT.get().pools.into()).await?;
    let ladder_rps = tell("ladder", load(address, &ladder, TIME.get(), None).await?).rps;
    report.add("http.empty_rps", empty_rps);
    report.add("http.exit_rps", exit_rps);
    report.add("http.exit_p99_ms", at_half.percentile(99));
    report.add("http.ladder_rps", ladder_rps);
    eprintln!("http: exit reaches {:.0}% of empty", 100.0 * exit_rps / empty_rps);

    let thirty_days = Slot::PER_DAY * 30;
    let newest = generated.last.number();
    let from = Slot::new(u64::from(newest - newest % 12 + 12 - thirty_days)).map_err(failed)?;
    let history = of_pools(&all, move |pool, _| {
        format!("/v1/history/{pool}?size_usd=100000&interval=1h&from={from}")
    });
    let fragility: Targets = Arc::new(|_| "/v1/fragility?limit=1000".to_owned());
    let last = generated.last.number();
    let evidence = of_pools(&able, move |pool, n| {
        let size = 10 + n;
        format!("/api/v1/exit/{pool}?base=token0&slot={last}&size_usd={size}")
    });
    check_rows(address, &history(0), "rows", 720).await?;
    check_rows(address, &fragility(0), "rows", EXTENT.get().pools.into()).await?;
    for (key, words, targets) in [
        ("http.history_30d_ms", "history of 30 days by the hour", history),
        ("http.fragility_1000_ms", "fragility of 1,000 pools", fragility),
        ("http.evidence_ms", "evidence, made anew", evidence),
    ] {
        let found = tell(words, one_by_one(address, &targets, SINGLE.get()).await?);
        report.add(key, found.percentile(50));
    }
    report.add("http.rss_mb", served.part.rss_mb()?);
    idle(&served, &exit).await
}

/// Measures the service with idle connections.
async fn idle(served: &Served, exit: &Targets) -> Result<(), BenchError> {
    let mut crowd = Part::start(&["idle", &served.address.to_string(), &IDLE.get().to_string()])?;
    let stood: u32 = crowd.line()?.parse().map_err(failed)?;
    if stood < IDLE.get() {
        eprintln!("http: only {stood} of {IDLE} idle connections are allowed here");
    }
    let found = load(served.address, exit, TIME.get(), Some(500.0)).await?;
    eprintln!(
        "http: beside {stood} idle connections 500 requests/s are answered: p50 {:.2} ms, p99 {:.2} \
         ms, {:.0} MB",
        found.percentile(50),
        found.percentile(99),
        served.part.rss_mb()?,
    );
    Ok(())
}

/// Targets that cycle through all pools.
fn of_pools(
    names: &[String],
    target: impl Fn(&str, u64) -> String + Send + Sync + 'static,
) -> Targets {
    let names = names.to_vec();
    Arc::new(move |n| target(&names[usize::try_from(n).unwrap_or(0) % names.len()], n))
}

/// The pools that can fill the largest requested size: after a day of trades some are near the end of their liquidity.
async fn fillable(address: SocketAddr, all: &[String]) -> Result<Vec<String>, BenchError> {
    let targets = all.iter().map(|pool| format!("/v1/exit/{pool}?size_usd={MOST_ASKED}"));
    let answered = answered(address, targets).await?;
    let able = all.iter().zip(answered).filter(|(_, answered)| *answered);
    let able: Vec<String> = able.map(|(pool, _)| pool.clone()).collect();
    eprintln!("http: {} of {} pools fill {MOST_ASKED} USD", able.len(), all.len());
    if able.is_empty() { Err(BenchError::Http("no pool fills it".to_owned())) } else { Ok(able) }
}

/// Prints the result of a load.
fn tell(what: &str, found: Found) -> Found {
    eprintln!(
        "http: {what}: {:.0} requests/s, p50 {:.2} ms, p99 {:.2} ms",
        found.rps,
        found.percentile(50),
        found.percentile(99),
    );
    found
}

/// Requires that an answer has this many rows, so that the intended case is measured.
async fn check_rows(
    address: SocketAddr,
    target: &str,
    field: &str,
    expected: usize,
) -> Result<(), BenchError> {
    let body = load::Client::connect(address).await?.ask(target).await?;
    let document: serde_json::Value = serde_json::from_slice(&body).map_err(failed)?;
    let found = document[field].as_array().map_or(0, Vec::len);
    if found == expected {
        return Ok(());
    }
    Err(BenchError::Http(format!("{target}: {found} {field} instead of {expected}")))
}

fn failed(error: impl std::fmt::Display) -> BenchError {
    BenchError::Http(error.to_string())
}
