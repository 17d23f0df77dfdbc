//! The cost of a slot with many rules.

use std::time::Instant;

use exitgap_core::alerts::{AlertCheckpoint, AlertRule, AlertRun, SealedSlot};
use exitgap_core::evidence::{Commits, Head, HeadEntry, depths};
use exitgap_core::exit::METHOD_VERSION;
use exitgap_core::ids::SnapshotHash;
use exitgap_core::snapshot::Snapshot;
use exitgap_core::tlog::Hash;

use super::failed;
use crate::BenchError;
use crate::effort::Effort;
use crate::evidence::slot;
use crate::market::BusyPool;

/// Number of pools, and of rules per pool: a hundred thousand rules.
const POOLS: Effort<u16> = Effort::new(100, 4);
const RULES: Effort<usize> = Effort::new(1_000, 20);

/// The ticks of each pool.
const TICKS: usize = 250;

/// Milliseconds for evaluating all rules for a slot, one after the other: seven in ten watch the gap of a size of their
/// own, the others a depth, the lowest depth or a stale oracle.
pub fn eval_ms() -> Result<f64, BenchError> {
    let mut pools = Vec::new();
    for number in 0..POOLS.get() {
        let mut pool = BusyPool::real(number, TICKS);
        let (mut slots, mut runs) = (Vec::new(), Vec::new());
        for n in 0..2 {
            let entry = pool.recorded(slot(n)?)?;
            let snapshot = entry.reading.map_err(|_| failed("nothing was drawn"))?;
            slots.push((head_of(&snapshot, n), snapshot));
        }
        for n in 0..RULES.get() {
            runs.push(AlertRun::new(rule(&pool, n)?));
        }
        pools.push((slots, runs));
    }
    let checkpoint =
        AlertCheckpoint { origin: "exitgap.example/bench".into(), size: 1, root: Hash([1; 32]) };
    let mut taken = 0.0;
    // The first slot only provides a previous one, and is not counted.
    for place in 0..2 {
        let start = Instant::now();
        let mut said = 0;
        for (slots, runs) in &mut pools {
            let (head, snapshot) = &slots[place];
            for run in runs {
                let sealed = SealedSlot { head, snapshot: Some(snapshot), checkpoint: &checkpoint };
                said += run.process_slot(sealed).map_err(failed)?.len();
            }
        }
        taken = start.elapsed().as_secs_f64() * 1e3;
        if place == 1 && said == 0 {
            return Err(failed("no rule had anything to say"));
        }
    }
    Ok(taken)
}

fn rule(pool: &BusyPool, n: usize) -> Result<AlertRule, BenchError> {
    let what = match n % 10 {
        0 => format!("\"kind\":\"depth_below\",\"usd\":\"{}\"", 1_000 + n),
        1 => format!("\"kind\":\"lowest_depth_below\",\"usd\":\"{}\"", 1_000 + n),
        2 => "\"kind\":\"oracle_stale\"".to_owned(),
        // From nothing to many times the pool's capacity, however many rules there are.
        _ => {
            let share = n * 1_000 / RULES.get();
            let size = 1_000 + share * share * 10;
            format!("\"kind\":\"gap_above\",\"size_usd\":\"{size}\",\"pct\":\"1\"")
        }
    };
    let (id, first) = (&pool.id, slot(0)?.number());
    let text = format!(
        "{{\"v\":1,\"alert\":\"a{n}\",\"pool\":\"{id}\",\"base\":\"token{}\",\"first_slot\":{first},\"web_url\":\"https://exits.example\",{what}}}",
        n % 2
    );
    AlertRule::from_json(text.as_bytes()).map_err(failed)
}

fn head_of(snapshot: &Snapshot, n: u32) -> Head {
    let depth_usd = depths(snapshot);
    Head {
        pool: snapshot.observation().pool().clone(),
        slot: snapshot.slot(),
        height: n,
        recorded_count: n + 1,
        prev: None,
        entry: HeadEntry::Recorded { snapshot: SnapshotHash([1; 32]), depth_usd },
        lowest_depth_7d_usd: depth_usd,
        method_version: METHOD_VERSION.to_owned(),
        retracts: Vec::new(),
        commits: Commits::default(),
    }
}
