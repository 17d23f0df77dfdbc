//! A growing store, rules, and the expected events computed from both.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use exitgap_core::alerts::{AlertRule, AlertRun, SealedSlot};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_server::alerts::AlertKey;
use exitgap_store::alerts::{AlertBounds, Alerts, EndpointState, Kept, NewAlert, NewEndpoint};
use exitgap_store::{Reader, Store, WatchCache};
use serde_json::json;
use tempfile::TempDir;

use super::scene::{BusyPool, key, slot};
use super::{Progress, Result};
use crate::binaries;
use crate::devchain::Rng;
use crate::receiver::Receiver;

/// The events of each rule, with id and bytes.
pub(super) type Expected = BTreeMap<String, Vec<(String, Vec<u8>)>>;

/// How long to wait for remaining events.
const PATIENCE: Duration = Duration::from_mins(3);

/// Number of pools.
pub(super) const POOLS: u8 = 3;
const BOUNDS: AlertBounds =
    AlertBounds { per_client: 1_000_000, per_host: 1_000_000, most: 1_000_000 };

/// A folder with a growing store, rules, and their endpoints.
pub(super) struct Scene {
    folder: TempDir,
    store: Store,
    pools: Vec<BusyPool>,
    rng: Rng,
    next: u32,
}

impl Scene {
    pub(super) fn new(seed: u64) -> Result<Self> {
        let folder = TempDir::new()?;
        let store = Store::create(folder.path().join("series.db"), &key())?;
        AlertKey::from_seed([3; 32]).write_file(&folder.path().join("alerts.key"))?;
        fs::write(folder.path().join("exitgap.toml"), CONFIG)?;
        let pools = (0..POOLS).map(|number| BusyPool::new(number, 2)).collect();
        let mut scene = Self { folder, store, pools, rng: Rng::new(seed), next: 0 };
        scene.seal(0)?;
        Ok(scene)
    }

    /// The folder.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The last sealed slot.
    pub(super) fn last(&self) -> Slot {
        slot(self.next.saturating_sub(1))
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Seals a slot in which about one in `once_in` pools is missing.
    pub(super) fn seal(&mut self, once_in: u64) -> Result<()> {
        let at = slot(self.next);
        let (rng, pools) = (&mut self.rng, &mut self.pools);
        let entry = |pool: &mut BusyPool| {
            if once_in > 0 && rng.once_in(once_in) {
                return pool.missing(MissingReason::ChainLagging);
            }
            pool.recorded(at)
        };
        let entries: Vec<_> = pools.iter_mut().map(entry).collect();
        self.store.append_slot(at, &entries)?;
        self.next += 1;
        Ok(())
    }

    /// Stores a rule: every other one about missing slots, the others about depths, gaps and stale prices.
    pub(super) fn keep(
        &self,
        alerts: &Alerts,
        number: u32,
        url: Option<&str>,
    ) -> Result<AlertRule> {
        let pool = &self.pools[usize::try_from(number % u32::from(POOLS))?];
        let mut rule = json!({
            "v": 1, "alert": format!("al_{number}"), "pool": pool.id.to_string(), "base": "token0",
            "first_slot": slot(self.next).number(), "web_url": "https://exits.example",
            "for_slots": 1 + number % 2, "clear_for_slots": 1 + number / 2 % 2, "refire_slots": 0,
            "no_data_slots": number % 3,
        });
        let kinds = [
            json!({"kind": "missing"}),
            json!({"kind": "gap_above", "size_usd": "1000", "pct": "0.2", "clear_pct": "0.2"}),
            json!({"kind": "missing", "reasons": ["chain_lagging"]}),
            json!({"kind": "depth_below", "usd": "1000", "clear_usd": "1000", "on_missing": "breach"}),
        ];
        let kind = &kinds[usize::try_from(number / u32::from(POOLS) % 4)?];
        for (name, value) in kind.as_object().into_iter().flatten() {
            rule[name] = value.clone();
        }
        let rule = AlertRule::from_json(rule.to_string().as_bytes())?;
        let host = |url: &str| url.split(['/', ':']).nth(3).unwrap_or_default().to_owned();
        let endpoint = url.map(|url| NewEndpoint {
            url: url.to_owned(),
            host: host(url),
            salt: [u8::try_from(number % 256).unwrap_or(0); 16],
        });
        let new = NewAlert {
            id: format!("al_{number}"),
            owner: owner(number),
            client: [0; 16],
            idempotency: None,
            request: [0; 32],
            rule: rule.to_canonical(),
            first_slot: rule.first_slot,
            endpoint,
            expires_s: u64::from(u32::MAX),
            run: AlertRun::new(rule.clone()).keep(),
            state: String::new(),
        };
        match alerts.keep(&new, &BOUNDS, 0)? {
            Kept::New(_) => Ok(rule),
            other => Err(format!("a rule was not kept: {other:?}").into()),
        }
    }

    /// Stores this many rules, each with a separate host, because at most three endpoints per host are challenged in an
    /// hour.
    pub(super) fn keep_told(
        &self,
        alerts: &Alerts,
        rules: u32,
        receiver: &Receiver,
    ) -> Result<Vec<AlertRule>> {
        let port = receiver.address().port();
        let url = |number| format!("http://127.0.1.{number}:{port}/{number}");
        (0..rules).map(|number| self.keep(alerts, number, Some(&url(number)))).collect()
    }

    /// The expected events of each rule, as bytes, computed from the rules and the store.
    pub(super) fn expected(&self, rules: &[AlertRule]) -> Result<Expected> {
        let mut expected = Expected::new();
        for pool in 0..self.pools.len() {
            let of_pool = rules.iter().filter(|rule| rule.pool == self.pools[pool].id);
            let mut runs: Vec<AlertRun> = of_pool.cloned().map(AlertRun::new).collect();
            self.each_slot(pool, |sealed| {
                for run in runs.iter_mut().filter(|run| run.next() == Some(sealed.head.slot)) {
                    let events = run.process_slot(sealed)?.into_iter();
                    let name = run.rule().alert.as_str().to_owned();
                    let events = events.map(|event| (event.id, event.canonical));
                    expected.entry(name).or_default().extend(events);
                }
                Ok(())
            })?;
        }
        Ok(expected)
    }

    /// The slots of a pool, starting with the first.
    pub(super) fn each_slot(
        &self,
        pool: usize,
        mut take: impl FnMut(SealedSlot<'_>) -> Result<()>,
    ) -> Result<()> {
        let reader = Reader::open(self.path("series.db"))?;
        let pool = reader.pool(&self.pools[pool].id)?.ok_or("a pool is gone")?;
        let mut watching = WatchCache::default();
        for at in (0..self.next).map(slot) {
            let sealed = reader.watched_slot(&pool, at, &mut watching)?.ok_or("a slot is gone")?;
            take(sealed.as_sealed_slot())?;
        }
        Ok(())
    }
}

/// Starts a process that evaluates rules and sends events.
pub(super) fn start(folder: &Path) -> Result<Child> {
    let mut command = Command::new(binaries::path("exitgap-server"));
    command.arg("alerts").current_dir(folder).stdout(Stdio::null());
    Ok(command.env("EXITGAP_LOG_LEVEL", "error").spawn()?)
}

/// Waits until all endpoints have been verified.
pub(super) fn until_verified(alerts: &Alerts, rules: u32) -> Result<()> {
    let verified = |n: u32| {
        let found = alerts.find_alert(&owner(n), &format!("al_{n}"), 0).ok().flatten();
        let endpoint = found.and_then(|alert| alert.endpoint);
        endpoint.is_some_and(|endpoint| endpoint.state == EndpointState::Verified)
    };
    let begun = Instant::now();
    while !(0..rules).all(verified) {
        if begun.elapsed() > PATIENCE {
            return Err("the endpoints were not asked".into());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// Waits until this many events were created and sent; the comparison counts missing ones.
pub(super) fn until_told(alerts: &Alerts, events: usize, progress: Progress<'_>) -> Result<()> {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        let counts = alerts.counts()?;
        if counts.events == events as u64 && counts.pending == 0 {
            break;
        }
        progress("alerts: told", counts.delivered, events as u64);
        std::thread::sleep(Duration::from_millis(200));
    }
    Ok(())
}

/// The owner of a rule.
pub(super) fn owner(number: u32) -> [u8; 32] {
    [u8::try_from(number % 256).unwrap_or(0); 32]
}

/// A configuration whose chain is never used.
const CONFIG: &str = r#"
[store]
path = "series.db"

[alerts]
enabled = true
timeout_s = 1
allow_networks = ["127.0.0.0/8"]

[[chain]]
slug = "anvil"
chain_id = 31337
rpc_urls = ["http://127.0.0.1:1"]

[[oracle]]
name = "one"
chain = "anvil"
source = "chainlink"
feed = "0x0000000000000000000000000000000000000007"
heartbeat_s = 3600

[[pool]]
chain = "anvil"
address = "0x000000000000000000000000000000000000aa00"
base = "token0"
token0_usd = ["one"]
token1_usd = ["one"]
"#;
