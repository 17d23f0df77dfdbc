//! The cost of proving what each slot is about to sign, and of storing the proofs.

use std::time::{Duration, Instant};

use exitgap_chain::config::Plan;
use exitgap_chain::{Limits, Proven};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::Snapshot;
use exitgap_store::proofs::Proofs;
use exitgap_tests::devchain::{DevChain, Options, World};

use super::{config, create_pools, failed, process_cpu, trade};
use crate::BenchError;
use crate::clock::median;
use crate::effort::Effort;
use crate::report::Report;

/// Number of proven slots; the first is not counted, because no proofs are stored before it.
const SLOTS: Effort<u64> = Effort::new(9, 2);

/// Number of positions per pool, half the number of its ticks. The development chain's node rebuilds its tries for each
/// request: for pools as large as the recorded ones a proof takes six seconds.
const POSITIONS: i32 = 20;

/// Adds `proof.slot_ms` for a hundred small pools, `proof.slot_cpu_ms` without the node's own time,
/// `proof.coverage_pct`, `proof.file_bytes` and `proof.bytes_per_slot`, per pool.
pub async fn measure(report: &mut Report) -> Result<(), BenchError> {
    let chain = DevChain::start(Options { prune_history: Some(8), ..Options::default() }).await?;
    let world = World::deploy(&chain).await?;
    let pools = create_pools(&chain, POSITIONS).await?;
    let plan = Plan::new(&config(&chain, &world, &pools)?).map_err(failed)?;
    let mut readers = exitgap_chain::readers(plan, &Limits::default()).map_err(failed)?;
    let mut reader = readers.pop_first().ok_or_else(|| failed("no chain"))?.1;
    let folder = tempfile::tempdir().map_err(failed)?;
    let kept = Proofs::open(&folder.path().join("proofs.db")).map_err(failed)?;
    let (mut slot_ms, mut cpu_ms) = (Vec::new(), Vec::new());
    let (mut held, mut asked, mut bytes) = (0_u64, 0_u64, 0_u64);
    let mut before = None;
    for index in 0..SLOTS.get() {
        let slot = Slot::new(exitgap_tests::devchain::FIRST_SLOT + index).map_err(failed)?;
        trade(&chain, &pools, index, slot.unix_s()).await?;
        let deadline = tokio::time::Instant::now() + Duration::from_mins(2);
        let reading = reader.read_slot(slot, deadline).await;
        let snapshots: Vec<&Snapshot> =
            reading.pools.iter().filter_map(|(_, read)| read.as_ref().ok()).collect();
        let (started, cpu) = (Instant::now(), process_cpu()?);
        let proven = reader.prove(&snapshots, deadline).await;
        slot_ms.push(started.elapsed().as_secs_f64() * 1e3);
        cpu_ms.push(process_cpu()?.saturating_sub(cpu).as_secs_f64() * 1e3);
        let mut files = Vec::new();
        for (snapshot, proven) in snapshots.iter().zip(proven) {
            asked += 1;
            match proven {
                Proven::Held { file, .. } => {
                    held += 1;
                    bytes += file.len() as u64;
                    files.push((snapshot.observation().pool().contract().clone(), file));
                }
                Proven::Unproven(_) => {}
                Proven::Contradicted(missing) => return Err(failed(missing)),
            }
        }
        kept.keep(slot, &files).map_err(failed)?;
        before = before.or(Some(kept.kept().map_err(failed)?));
    }
    let after = kept.kept().map_err(failed)?;
    let before = before.unwrap_or(after);
    let float = |number: u64| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
    report.add("proof.slot_ms", median(slot_ms));
    report.add("proof.slot_cpu_ms", median(cpu_ms));
    report.add("proof.coverage_pct", float(held) / float(asked.max(1)) * 100.0);
    report.add("proof.file_bytes", float(bytes) / float(held.max(1)));
    let new = float(after.bytes - before.bytes) / float((after.proofs - before.proofs).max(1));
    report.add("proof.bytes_per_slot", new);
    Ok(())
}
