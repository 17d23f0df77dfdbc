//! Checks the state proofs published in a log's folder against the log: those that are present, and those that were
//! drawn at random.
//!
//! The log does not commit to them: a proof is self-certifying, relative to the block hash in the log's own snapshot.
//! So a proof that contradicts the snapshot shows that the operator signed false data.

use std::collections::{BTreeMap, BTreeSet};

use exitgap_api::AuditedProofs;
use exitgap_core::evidence::Outcome;
use exitgap_core::ids::{ChainSlug, Contract, PoolId};
use exitgap_core::log_folder::ProofName;
use exitgap_core::proof::{
    MAX_PROOF_BYTES, Place, Reach, StateCheckName, StateProof, check_state, is_drawn,
};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::Snapshot;

use super::WatchedSlot;
use super::fault::{Fault, Rule};
use super::folder::FolderReader;

/// Downloads a missing proof to the folder if possible; returns whether it is there now.
pub type ProofFetcher<'a> = dyn FnMut(&ProofName) -> bool + 'a;

/// Checks a folder's proofs while its log is replayed.
pub struct ProofAudit<'a> {
    folder: &'a FolderReader,
    bring: Option<&'a mut ProofFetcher<'a>>,
    there: BTreeSet<ProofName>,
    chains: BTreeMap<ChainSlug, Newest>,
    /// The counts so far.
    pub counts: AuditedProofs,
    /// The first contradiction between a proof and the log.
    pub fault: Option<Box<Fault>>,
}

/// A chain's newest slot with any recorded data, and its contracts there.
struct Newest {
    slot: Slot,
    recorded: BTreeMap<Contract, DrawCandidate>,
}

/// A contract in that slot, for which the next slot may draw a proof.
struct DrawCandidate {
    pool: PoolId,
    /// Whether the folder has the whole proof.
    is_there: bool,
    /// Kept only if the proof may still have to be downloaded.
    snapshot: Option<Snapshot>,
}

/// The result of checking a snapshot against a proof.
enum ProofVerdict {
    Holds,
    Differs(Rule),
    Unusable,
}

impl<'a> ProofAudit<'a> {
    /// Checks the proofs in a folder. `bring` is called for drawn proofs that are missing.
    pub fn from_folder(folder: &'a FolderReader, bring: Option<&'a mut ProofFetcher<'a>>) -> Self {
        let there = folder.proofs();
        let (chains, counts) = (BTreeMap::new(), AuditedProofs::default());
        Self { folder, bring, there, chains, counts, fault: None }
    }

    /// Adds a pool's valid slot; slots must ascend.
    pub fn add_slot(&mut self, told: &WatchedSlot) {
        let Some((snapshot, _)) = &told.snapshot else { return };
        let (pool, slot) = (&told.head.pool, told.head.slot);
        let chain = pool.chain();
        if self.chains.get(chain).is_none_or(|newest| newest.slot != slot) {
            let newest = Newest { slot, recorded: BTreeMap::new() };
            if let Some(before) = self.chains.insert(chain.clone(), newest) {
                self.draw(before, snapshot);
            }
        }
        let contract = pool.contract();
        if self.chains.get(chain).is_some_and(|newest| newest.recorded.contains_key(contract)) {
            return;
        }
        let named = |reach| ProofName { contract: contract.clone(), slot, reach };
        for reach in [Reach::Figures, Reach::Whole] {
            if self.there.contains(&named(reach)) {
                self.judge(&named(reach), pool, snapshot);
            }
        }
        let recorded = DrawCandidate {
            pool: pool.clone(),
            is_there: self.there.contains(&named(Reach::Whole)),
            snapshot: self.bring.is_some().then(|| snapshot.clone()),
        };
        // No proof is due for a contract with unknown storage layout.
        if Place::from_observation(snapshot.observation()).layout.is_some()
            && let Some(newest) = self.chains.get_mut(chain)
        {
            newest.recorded.insert(contract.clone(), recorded);
        }
    }

    /// Counts the proofs that a chain's next slot draws from its previous slot, and checks newly downloaded ones.
    fn draw(&mut self, before: Newest, next: &Snapshot) {
        let block = next.observation().block().hash;
        for (contract, DrawCandidate { pool, is_there, snapshot }) in before.recorded {
            if !is_drawn(&contract, block) {
                continue;
            }
            self.counts.due += 1;
            let name = ProofName { contract, slot: before.slot, reach: Reach::Whole };
            if is_there {
                self.counts.present += 1;
            } else if let Some(bring) = &mut self.bring
                && bring(&name)
            {
                self.counts.present += 1;
                let unusable = self.counts.unusable;
                if let Some(snapshot) = &snapshot {
                    self.judge(&name, &pool, snapshot);
                }
                // The log does not commit to it: a useless proof is removed, and no more are downloaded.
                if self.counts.unusable > unusable {
                    self.folder.remove(&name.to_string());
                    self.bring = None;
                }
            }
        }
    }

    fn judge(&mut self, name: &ProofName, pool: &PoolId, snapshot: &Snapshot) {
        self.counts.published += 1;
        match self.check_proof(name, snapshot) {
            ProofVerdict::Holds => self.counts.hold += 1,
            ProofVerdict::Unusable => self.counts.unusable += 1,
            ProofVerdict::Differs(rule) => {
                self.counts.differ += 1;
                self.fault.get_or_insert_with(|| Box::new(rule.by(name.slot, pool)));
            }
        }
    }

    fn check_proof(&self, name: &ProofName, snapshot: &Snapshot) -> ProofVerdict {
        let Ok(file) = self.folder.read_file(&name.to_string(), MAX_PROOF_BYTES) else {
            return ProofVerdict::Unusable;
        };
        let proof = StateProof::from_bytes(&file);
        let is_less = |proof: &StateProof| name.reach == Reach::Whole && !proof.subject.is_whole();
        if proof.as_ref().is_ok_and(is_less) {
            return ProofVerdict::Unusable;
        }
        let checks = check_state(&proof, snapshot, None);
        if let Some(check) = checks.iter().find(|check| check.outcome == Outcome::Fail) {
            let (file, code) = (name.to_string(), check.code);
            let (proven, recorded) = (check.expected.clone(), check.found.clone());
            return ProofVerdict::Differs(Rule::StateDiffers { file, code, proven, recorded });
        }
        let is_proven = |check: &exitgap_core::proof::StateCheck| {
            check.name == StateCheckName::PoolState && check.outcome == Outcome::Pass
        };
        if checks.iter().any(is_proven) { ProofVerdict::Holds } else { ProofVerdict::Unusable }
    }
}
