//! From a sealed slot to the events at a thousand endpoints: evaluated, stored, signed and posted, all in this process.

use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use exitgap_core::alerts::{AlertRule, AlertRun};
use exitgap_core::series::MissingReason;
use exitgap_server::alerts::{AlertKey, AlertsConfig, AlertsRoom, machine_clock};
use exitgap_store::alerts::{AlertBounds, Alerts, Kept, NewAlert, NewEndpoint};
use exitgap_store::{LogFolder, Store};
use exitgap_tests::faults::scene::{BusyPool, key, slot};
use exitgap_tests::receiver::Receiver;
use tokio::sync::watch;

use super::failed;
use crate::BenchError;
use crate::effort::Effort;

/// Endpoints, each with its own rule and host.
const ENDPOINTS: Effort<u32> = Effort::new(1_000, 40);

/// Pools of the rules.
const POOLS: u8 = 20;

/// Slots in which all rules trigger; the slowest of them counts.
const SLOTS: Effort<u32> = Effort::new(4, 2);

const BOUNDS: AlertBounds =
    AlertBounds { per_client: u32::MAX, per_host: u32::MAX, most: u32::MAX };

/// How long after a slot's commit 99 in 100 endpoints had received it, milliseconds.
pub fn seal_to_post_p99_ms() -> Result<f64, BenchError> {
    let folder = tempfile::tempdir().map_err(failed)?;
    let path = |name: &str| folder.path().join(name);
    let mut store = Store::create(path("series.db"), &key()).map_err(failed)?;
    let mut pools: Vec<BusyPool> = (0..POOLS).map(|number| BusyPool::new(number, 20)).collect();
    let mut seal = |n: u32, speak: bool| {
        let entry = |pool: &mut BusyPool| {
            if speak { pool.missing(MissingReason::ChainLagging) } else { pool.recorded(slot(n)) }
        };
        let entries: Vec<_> = pools.iter_mut().map(entry).collect();
        store.append_slot(slot(n), &entries).map_err(failed).map(|_| Instant::now())
    };
    seal(0, false)?;
    AlertKey::from_seed([1; 32]).write_file(&path("alerts.key")).map_err(failed)?;
    let receiver = Receiver::start(Ipv4Addr::UNSPECIFIED, |_| exitgap_tests::receiver::Does::Takes);
    let receiver = receiver.map_err(failed)?;
    let config = AlertsConfig {
        enabled: true,
        database: path("alerts.db"),
        key_file: path("alerts.key"),
        allow_networks: vec!["127.0.0.0/8".to_owned()],
        ..AlertsConfig::default()
    };
    let plan = config.plan().map_err(|(_, why)| failed(why))?.ok_or_else(|| failed("off"))?;
    keep(&Alerts::open(&plan.database).map_err(failed)?, receiver.address().port())?;
    let runtime = tokio::runtime::Runtime::new().map_err(failed)?;
    let (end, ended) = watch::channel(false);
    let room = AlertsRoom::open(plan, machine_clock()).map_err(failed)?;
    let running =
        runtime.spawn(room.run(path("series.db"), LogFolder::new(path("log")), ended, |_| {}));
    wait("challenges", || receiver.received().len() >= ENDPOINTS.get() as usize)?;
    let mut slowest: f64 = 0.0;
    for round in 0..SLOTS.get() {
        let committed = seal(1 + round, round % 2 == 0)?;
        let before = (ENDPOINTS.get() * (round + 1)) as usize;
        let all = before + ENDPOINTS.get() as usize;
        wait("events", || receiver.received().len() >= all)?;
        let mut took: Vec<Duration> = receiver.received()[before..]
            .iter()
            .map(|received| received.at.saturating_duration_since(committed))
            .collect();
        took.sort_unstable();
        let p99 = took.get(took.len() * 99 / 100).copied().unwrap_or_default();
        slowest = slowest.max(p99.as_secs_f64() * 1e3);
    }
    let _ = end.send(true);
    drop(runtime.block_on(running));
    Ok(slowest)
}

fn wait(what: &str, is_so: impl Fn() -> bool) -> Result<(), BenchError> {
    let begun = Instant::now();
    while !is_so() {
        if begun.elapsed() > Duration::from_mins(1) {
            return Err(failed(format!("{what} did not come within a minute")));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// Rules that trigger at each missing slot, and at each one that is not missing.
fn keep(alerts: &Alerts, port: u16) -> Result<(), BenchError> {
    for number in 0..ENDPOINTS.get() {
        let pool = BusyPool::new(u8::try_from(number % u32::from(POOLS)).unwrap_or(0), 1).id;
        let rule = format!(
            r#"{{"v":1,"alert":"al_{number}","pool":"{pool}","base":"token0","kind":"missing","first_slot":{},"web_url":"https://bench.example","for_slots":1,"clear_for_slots":1,"refire_slots":0,"no_data_slots":0}}"#,
            slot(1).number()
        );
        let rule = AlertRule::from_json(rule.as_bytes()).map_err(failed)?;
        let [_, _, high, low] = number.to_be_bytes();
        let host = Ipv4Addr::new(127, 1, high, low).to_string();
        let mut owner = [0; 32];
        owner[..4].copy_from_slice(&number.to_be_bytes());
        let new = NewAlert {
            id: rule.alert.as_str().to_owned(),
            owner,
            client: [0; 16],
            idempotency: None,
            request: [0; 32],
            rule: rule.to_canonical(),
            first_slot: rule.first_slot,
            endpoint: Some(NewEndpoint {
                url: format!("http://{host}:{port}/"),
                host,
                salt: [0; 16],
            }),
            expires_s: u64::from(u32::MAX),
            run: AlertRun::new(rule).keep(),
            state: String::new(),
        };
        match alerts.keep(&new, &BOUNDS, 0).map_err(failed)? {
            Kept::New(_) => {}
            other => return Err(failed(format!("not kept: {other:?}"))),
        }
    }
    Ok(())
}
