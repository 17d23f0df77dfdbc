//! Compares two operators' records of one slot, and decides by the chain's own state if they differ for the same block.

use std::collections::{BTreeMap, BTreeSet};

use exitgap_api::{ComparedSlot, PeerDifference};
use exitgap_core::evidence::Outcome as CheckOutcome;
use exitgap_core::ids::PoolId;
use exitgap_core::log_folder::ProofName;
use exitgap_core::proof::{Reach, StateProof, check_state};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{Difference, Snapshot, Testimony, place_of, without_chain};
use exitgap_store::proofs::Proofs;
use exitgap_store::{Outcome, Pool, Reader};

use super::Trouble;
use super::slot::Said;

/// This operator's records of a slot, keyed by the pools' contracts without the chain's name.
pub struct Own<'a> {
    reader: &'a Reader,
    slot: Slot,
    pools: BTreeMap<String, Vec<Pool>>,
}

/// A pool recorded by both, with different data.
pub struct Differs {
    /// This operator's snapshot.
    pub ours: Snapshot,
    /// The peer's snapshot.
    pub theirs: Snapshot,
    /// The difference.
    pub difference: Difference,
    /// The same as a document, completed with the deciding proof once it is known.
    pub told: PeerDifference,
}

/// The result of comparing a slot.
#[derive(Default)]
pub struct SlotComparison {
    /// Number of pools that both recorded.
    pub pools: u64,
    /// The pools in which they differ.
    pub differs: Vec<Differs>,
}

impl<'a> Own<'a> {
    /// Loads a slot from a store; nothing is decompressed yet.
    pub fn for_slot(reader: &'a Reader, slot: Slot) -> Result<Self, Trouble> {
        let mut pools: BTreeMap<String, Vec<Pool>> = BTreeMap::new();
        for pool in reader.pools().map_err(Trouble::own)? {
            let entry = reader.entry(&pool, slot).map_err(Trouble::own)?;
            if entry.is_some_and(|entry| matches!(entry.outcome, Outcome::Recorded(_)))
                && reader.retraction_of(&pool, slot).map_err(Trouble::own)?.is_none()
            {
                pools.entry(without_chain(&pool.id)).or_default().push(pool);
            }
        }
        Ok(Self { reader, slot, pools })
    }

    /// The contracts to compare, without the chain's name.
    pub fn contracts(&self) -> BTreeSet<String> {
        self.pools.keys().cloned().collect()
    }

    /// Compares a peer's records with these.
    pub fn compare(&self, said: Vec<Said>) -> Result<SlotComparison, Trouble> {
        let mut compared = SlotComparison::default();
        for said in said {
            for pool in self.pools.get(&without_chain(&said.pool)).into_iter().flatten() {
                let snapshot = self.reader.snapshot_at(pool, self.slot).map_err(Trouble::own)?;
                // The same contract address may exist on several chains.
                let Some(ours) = snapshot.filter(|ours| place_of(ours) == place_of(&said.snapshot))
                else {
                    continue;
                };
                let entry = self.reader.entry(pool, self.slot).map_err(Trouble::own)?;
                let Some(Outcome::Recorded(hash)) = entry.map(|entry| entry.outcome) else {
                    continue;
                };
                let documents = self.reader.documents(hash).map_err(Trouble::own)?;
                let state =
                    documents.and_then(|documents| Snapshot::state_named_in(&documents.snapshot));
                let state = state.ok_or_else(|| Trouble::own("a snapshot without a state"))?;
                let testimony = Testimony::from_snapshot(&ours, state);
                compared.pools += 1;
                if let Some(difference) = testimony.differs_from(&said.testimony) {
                    let names: [&PoolId; 2] = [&pool.id, &said.pool];
                    let told = PeerDifference {
                        compared: ComparedSlot::from_difference(
                            self.slot,
                            names.map(ToString::to_string),
                            difference,
                            [&testimony, &said.testimony],
                        ),
                        snapshots: [hash.to_string(), said.hash.to_string()],
                        proof: None,
                        refutes: Vec::new(),
                    };
                    let theirs = said.snapshot.clone();
                    compared.differs.push(Differs { ours, theirs, difference, told });
                }
            }
        }
        Ok(compared)
    }
}

impl Differs {
    /// Whether the chain's own state can decide who is wrong: both claim to have read the same block.
    pub fn can_be_decided(&self) -> bool {
        matches!(self.difference, Difference::StateDiffers | Difference::FeedDiffers(_))
    }

    /// The name of the proof that may decide.
    pub fn proof(&self, reach: Reach) -> ProofName {
        let contract = self.ours.observation().pool().contract().clone();
        ProofName { contract, slot: self.ours.slot(), reach }
    }

    /// Decides by a stored proof if it contradicts either side; the proof is then kept permanently and published.
    pub fn decide_by(&mut self, kept: &Proofs, reach: Reach) -> Result<bool, Trouble> {
        let name = self.proof(reach);
        let Some(file) = kept.file(&name).map_err(Trouble::own)? else { return Ok(false) };
        let proof = StateProof::from_bytes(&file);
        let fails = |snapshot: &Snapshot| {
            let checks = check_state(&proof, snapshot, None);
            checks.iter().any(|check| check.outcome == CheckOutcome::Fail)
        };
        let of = [("ours", &self.ours), ("theirs", &self.theirs)];
        let refuted: Vec<&'static str> = of
            .into_iter()
            .filter(|(_, snapshot)| fails(snapshot))
            .map(|(whose, _)| whose)
            .collect();
        if refuted.is_empty() {
            return Ok(false);
        }
        kept.let_stay([&name]).map_err(Trouble::own)?;
        self.told.proof = Some(name.to_string());
        self.told.refutes = refuted;
        Ok(true)
    }
}
