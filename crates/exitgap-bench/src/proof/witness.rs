//! Witnesses: how long a log waits for one, and whether one ever cosigns a different history.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use exitgap_core::series::Slot;
use exitgap_core::tlog::{
    AddCheckpoint, Checkpoint, Cosigner, Hash, Origin, SignerKey, consistency_proof, leaf_hash,
    root,
};
use exitgap_server::http::{Connections, Limits, Listener, witness_router};
use exitgap_server::witness::{
    CosignResults, Shown, Stand, WitnessConfig, WitnessedLog, Witnesses,
};
use exitgap_tests::devchain::Rng;
use tokio::sync::watch;

use super::{failed, float};
use crate::BenchError;
use crate::effort::Effort;
use crate::report::Report;

/// Number of slots submitted over HTTP.
const SLOTS: Effort<usize> = Effort::new(301, 8);
/// Number of different histories that a witness is asked to cosign.
const FORKS: Effort<u64> = Effort::new(5_000, 50);

const LOG: &str = "bench.example/exits";

fn signer() -> Result<SignerKey, BenchError> {
    SignerKey::from_seed(LOG, [4; 32]).map_err(failed)
}

/// A signed checkpoint of a log with these leaves.
fn checkpoint(leaves: &[Hash]) -> Result<String, BenchError> {
    let origin = Origin::new(LOG, Slot::FIRST).map_err(failed)?;
    let key = signer()?.with_name(&origin.to_string()).map_err(failed)?;
    let (size, root) = (leaves.len() as u64, root(leaves));
    key.sign(&Checkpoint { origin, size, root, extensions: Vec::new() }.to_text()).map_err(failed)
}

fn proof(leaves: &[Hash], old: usize) -> Vec<Hash> {
    if old == 0 { Vec::new() } else { consistency_proof(leaves, old).unwrap_or_default() }
}

/// Adds `witness.cosign_ms`, `witness.cosign_p99_ms`, `witness.forks` and `witness.forks_cosigned`.
pub fn measure(report: &mut Report) -> Result<(), BenchError> {
    let folder = tempfile::tempdir().map_err(failed)?;
    let key_file = folder.path().join("witness.key");
    let key = SignerKey::from_seed("bench.example/witness", [5; 32]).map_err(failed)?;
    std::fs::write(&key_file, key.to_secret_text()).map_err(failed)?;
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&key_file, mode).map_err(failed)?;
    let now_s = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let logs = vec![WitnessedLog::of_key(signer()?.verifier())];
    let database = folder.path().join("witness.db");
    let stand = Stand::open(&key_file, &database, logs, Arc::new(now_s)).map_err(failed)?;
    let stand = Arc::new(stand);
    let runtime = tokio::runtime::Runtime::new().map_err(failed)?;
    let verifier = Cosigner::new(key).verifier().to_string();
    let leaves = runtime.block_on(cosigned(report, stand.clone(), &verifier))?;
    forks(report, &stand, leaves)
}

/// Slot by slot, over HTTP; the witness stores each before it answers.
async fn cosigned(
    report: &mut Report,
    stand: Arc<Stand>,
    key: &str,
) -> Result<Vec<Hash>, BenchError> {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let listener = Listener::bind(any, "nothing").map_err(failed)?;
    let asks = vec![format!("{key} http://{}/witness", listener.address())];
    let (_stop, stopped) = watch::channel(false);
    let router = witness_router(stand, &Limits { rate_per_minute: 0, ..Limits::default() });
    tokio::spawn(listener.serve(router, Connections::default(), Arc::default(), stopped));
    let config = WitnessConfig { asks, ..WitnessConfig::default() };
    let plan = config.plan().map_err(|(key, error)| failed(format!("{key}: {error}")))?;
    let witnesses = Witnesses::new(plan.asks).map_err(failed)?;
    let (mut leaves, mut took) = (Vec::new(), Vec::new());
    for place in 0..SLOTS.get() {
        leaves.push(leaf_hash(&place.to_be_bytes()));
        let size = leaves.len() as u64;
        let shown = Shown::now(checkpoint(&leaves)?, size);
        let asks = witnesses.due_witnesses(size).into_iter().map(|due| {
            let old = usize::try_from(due.old).unwrap_or_default();
            (due, proof(&leaves, old))
        });
        let (asks, mut answered) = (asks.collect(), CosignResults::default());
        let started = Instant::now();
        let again = witnesses.ask(&shown, asks, &mut answered).await;
        took.push(started.elapsed().as_secs_f64() * 1e3);
        if !again.is_empty() || answered.cosigned != 1 {
            return Err(failed(format!("slot {place} was not cosigned: {answered:?}")));
        }
    }
    // The first request also opens the connection.
    took.remove(0);
    took.sort_by(f64::total_cmp);
    report.add("witness.cosign_ms", took[(took.len() - 1) / 2]);
    report.add("witness.cosign_p99_ms", took[took.len() * 99 / 100]);
    Ok(leaves)
}

/// Different histories of every age, with proofs that are valid in them, from the last cosigned size and from others.
fn forks(report: &mut Report, stand: &Stand, leaves: Vec<Hash>) -> Result<(), BenchError> {
    let mut random = Rng::new(23);
    let (mut leaves, mut taken) = (leaves, 0_u64);
    for fork in 0..FORKS.get() {
        let size = leaves.len();
        let draw = |random: &mut Rng, below: usize| {
            usize::try_from(random.below(below as u64)).unwrap_or_default()
        };
        let (from, grows) = (draw(&mut random, size), draw(&mut random, 9));
        let mut other = leaves[..from].to_vec();
        let more = size - from + grows;
        other.extend(
            (0..more).map(|at| leaf_hash(&[fork.to_be_bytes(), at.to_be_bytes()].concat())),
        );
        let old = if random.below(4) == 0 { draw(&mut random, size) } else { size };
        let request = AddCheckpoint {
            old: old as u64,
            proof: proof(&other, old),
            checkpoint: checkpoint(&other)?,
        };
        taken += u64::from(stand.cosign(&request.to_text()).is_ok());
        // The honest log continues in between, so that rejections are not caused by the witness rejecting everything.
        if fork % 50 == 0 {
            let old = leaves.len();
            leaves.push(leaf_hash(&fork.to_be_bytes()));
            let (old, proof) = (old as u64, proof(&leaves, old));
            let honest = AddCheckpoint { old, proof, checkpoint: checkpoint(&leaves)? };
            stand.cosign(&honest.to_text()).map_err(failed)?;
        }
    }
    report.add("witness.forks", float(FORKS.get()));
    report.add("witness.forks_cosigned", float(taken));
    Ok(())
}
