//! Documents identified by hashes: evidence, windows, snapshots and their states.

use core::fmt::Display;

use exitgap_api::operations::parameters::SLOT;
use exitgap_api::operations::{Operation, Target};
use exitgap_api::{ProblemCode, SlotStatus};
use exitgap_core::evidence::{MAX_EVIDENCE_BYTES, MAX_WINDOW_BYTES};
use exitgap_core::ids::{ChainSlug, PoolId, SnapshotHash};
use exitgap_core::log_folder::LogFile;
use exitgap_core::pools::{MAX_STATE_BYTES, PoolState};
use exitgap_core::proof::{MAX_ANCHOR_BYTES, MAX_PROOF_BYTES};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{MAX_SNAPSHOT_BYTES, Snapshot, SnapshotDocuments};

use crate::client::JSON;
use crate::{Client, ClientError, EvidenceOf, Transport};

impl<T: Transport> Client<T> {
    /// The evidence file of a result, not verified yet.
    pub async fn evidence(&self, of: &EvidenceOf) -> Result<Vec<u8>, ClientError> {
        self.bytes(&of.target(), JSON, MAX_EVIDENCE_BYTES).await
    }

    /// The pool's head window that ends at `slot`, not verified yet.
    pub async fn window(&self, pool: &PoolId, slot: Slot) -> Result<Vec<u8>, ClientError> {
        let target = Operation::Window.target_of(pool).with(&SLOT, slot.number());
        self.bytes(&target, JSON, MAX_WINDOW_BYTES).await
    }

    /// The stored state proof of a pool's contract at a slot, not verified yet.
    pub async fn state_proof(&self, pool: &PoolId, slot: Slot) -> Result<Vec<u8>, ClientError> {
        let target = Operation::StateProof.target_of(format_args!("{pool}/{}", slot.number()));
        self.bytes(&target, "application/octet-stream", MAX_PROOF_BYTES).await
    }

    /// The anchors of a day, in days since 1970-01-01 UTC, not verified yet. `None`: the log has none for that day.
    pub async fn anchors(
        &self,
        chain: &ChainSlug,
        day: u32,
    ) -> Result<Option<Vec<u8>>, ClientError> {
        let file = LogFile::Anchors(chain.clone(), day).to_string();
        let target = Operation::Log.target_of(file);
        match self.bytes(&target, "application/octet-stream", MAX_ANCHOR_BYTES).await {
            Err(error) if error.code() == ProblemCode::NotFound.as_str() => Ok(None),
            read => read.map(Some),
        }
    }

    /// What happened to a slot after it was sealed.
    pub async fn slot_status(&self, pool: &PoolId, slot: Slot) -> Result<SlotStatus, ClientError> {
        self.json(&Operation::SlotStatus.target_of(pool).with(&SLOT, slot.number())).await
    }

    /// The pool's snapshot with this hash, with its state; both hashes are checked here.
    pub async fn snapshot(
        &self,
        pool: &PoolId,
        hash: SnapshotHash,
    ) -> Result<Snapshot, ClientError> {
        let SnapshotDocuments { snapshot, state } = self.snapshot_documents(hash).await?;
        let target = Operation::Snapshot.target_of(hash);
        Snapshot::of_pool(pool, &snapshot, &state).map_err(|error| match error.newer() {
            Some(newer) => self.made_by_newer(&target, newer),
            None => self.not_as_specified(&target, error.to_string()),
        })
    }

    /// The bytes of the snapshot with this hash and of its state; both hashes are checked here. They may be of a kind
    /// that only a later version of exitgap can read.
    pub async fn snapshot_documents(
        &self,
        hash: SnapshotHash,
    ) -> Result<SnapshotDocuments, ClientError> {
        let target = Operation::Snapshot.target_of(hash);
        let snapshot = self.bytes(&target, JSON, MAX_SNAPSHOT_BYTES).await?;
        self.require_hash(&target, &hash, &Snapshot::hash_of(&snapshot))?;
        let named = Snapshot::state_named_in(&snapshot)
            .ok_or_else(|| self.not_as_specified(&target, "the snapshot does not name a state"))?;
        let target = Operation::State.target_of(named);
        let state = self.bytes(&target, JSON, MAX_STATE_BYTES).await?;
        self.require_hash(&target, &named, &PoolState::hash_of(&state))?;
        Ok(SnapshotDocuments { snapshot, state })
    }

    fn require_hash<H: PartialEq + Display>(
        &self,
        target: &Target,
        named: &H,
        found: &H,
    ) -> Result<(), ClientError> {
        if found == named {
            return Ok(());
        }
        let why = format!("the hash of the served bytes is {found}, not {named}");
        Err(self.not_as_specified(target, why))
    }
}
