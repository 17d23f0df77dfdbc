//! State proofs that a log's folder publishes, held against what the log says: those that are there, and those that were drawn.
//!
//! Nothing of the log commits to them: a proof certifies itself, under the hash of the block that the log's own snapshot names. So
//! one that says otherwise than the snapshot shows that the operator signed what was not so.

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

/// Brings a proof into the folder where it may be had and is not there; whether it is there then.
pub type ProofFetcher<'a> = dyn FnMut(&ProofName) -> bool + 'a;

/// A folder's proofs, while its log is replayed.
pub struct ProofAudit<'a> {
    folder: &'a FolderReader,
    bring: Option<&'a mut ProofFetcher<'a>>,
    there: BTreeSet<ProofName>,
    chains: BTreeMap<ChainSlug, Newest>,
    /// What was found so far.
    pub counts: AuditedProofs,
    /// The first that says otherwise than the log.
    pub fault: Option<Box<Fault>>,
}

/// A chain's newest slot in which anything was recorded, and its contracts there.
struct Newest {
    slot: Slot,
    recorded: BTreeMap<Contract, DrawCandidate>,
}

/// A contract in that slot, of which a proof may be drawn by the next.
struct DrawCandidate {
    pool: PoolId,
    /// Whether the folder has the whole proof.
    is_there: bool,
    /// Kept where the proof may still have to be brought.
    snapshot: Option<Snapshot>,
}

/// What a proof says of a snapshot.
enum ProofVerdict {
    Holds,
    Differs(Rule),
    Unusable,
}

impl<'a> ProofAudit<'a> {
    /// The proofs in a folder. `bring` is asked for those that were drawn and are not there.
    pub fn from_folder(folder: &'a FolderReader, bring: Option<&'a mut ProofFetcher<'a>>) -> Self {
        let there = folder.proofs();
        let (chains, counts) = (BTreeMap::new(), AuditedProofs::default());
        Self { folder, bring, there, chains, counts, fault: None }
    }

    /// A pool's slot, all of which holds; slots ascend.
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
        // Nothing is due of a contract that keeps its words in a way that is not known.
        if Place::from_observation(snapshot.observation()).layout.is_some()
            && let Some(newest) = self.chains.get_mut(chain)
        {
            newest.recorded.insert(contract.clone(), recorded);
        }
    }

    /// What the first snapshot of a chain's next slot draws of its slot before.
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
                // Nothing of the log commits to it: one that proves nothing does not stay, and no more are fetched.
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
