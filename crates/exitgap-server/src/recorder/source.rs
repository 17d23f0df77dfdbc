//! What the recorder reads from: one reader per chain.

use std::error::Error;
use std::future::{Future, ready};

use exitgap_chain::config::{ChainPlan, Plan};
use exitgap_chain::{ChainReader, Limits, Missing, SlotReading};
use exitgap_core::ids::{BlockHash, ChainSlug, PoolId};
use exitgap_core::pools::Direction;
use exitgap_core::series::{MissingReason, Slot};
use tokio::time::Instant;

/// Reads all pools of one chain at a slot.
pub trait SlotReader: Send + 'static {
    /// Reads them until `deadline`. What cannot be read is missing with its reason; never
    /// fails as a whole.
    fn read_slot(&mut self, slot: Slot, deadline: Instant) -> impl Future<Output = SlotReading>;

    /// The hash of the block that is canonical at this number now. A reader that cannot tell
    /// leaves slots unchecked.
    fn canonical_hash(
        &self,
        number: u64,
        _deadline: Instant,
    ) -> impl Future<Output = Result<BlockHash, Missing>> {
        let detail = format!("nobody tells the hash of block {number}");
        ready(Err(Missing { reason: MissingReason::BlockUnavailable, detail }))
    }

    /// How many blocks later a slot's block is looked at again.
    fn confirmations(&self) -> u32 {
        64
    }
}

impl SlotReader for ChainReader {
    fn read_slot(&mut self, slot: Slot, deadline: Instant) -> impl Future<Output = SlotReading> {
        Self::read_slot(self, slot, deadline)
    }

    fn canonical_hash(
        &self,
        number: u64,
        deadline: Instant,
    ) -> impl Future<Output = Result<BlockHash, Missing>> {
        Self::canonical_hash(self, number, deadline)
    }

    fn confirmations(&self) -> u32 {
        self.plan().confirmations()
    }
}

/// Makes a chain's reader: at the start, and again where one was lost.
pub type MakeReader<R> = Box<dyn Fn() -> Result<R, Box<dyn Error + Send + Sync>> + Send>;

/// One chain of the recorder.
pub struct Source<R> {
    /// The chain, for logs.
    pub chain: ChainSlug,
    /// Its pools, each with its default direction.
    pub pools: Vec<(PoolId, Direction)>,
    /// Its reader, made when needed.
    pub make: MakeReader<R>,
}

impl Source<ChainReader> {
    /// The chains of a plan, read from their nodes.
    pub fn of_plan(plan: &Plan, limits: &Limits) -> Vec<Self> {
        plan.chains().iter().map(|chain| Self::of_chain(chain, limits)).collect()
    }

    fn of_chain(chain: &ChainPlan, limits: &Limits) -> Self {
        let (plan, limits) = (chain.clone(), limits.clone());
        Self {
            chain: chain.slug().clone(),
            pools: chain.pools().iter().map(|pool| (pool.id.clone(), pool.base)).collect(),
            make: Box::new(move || Ok(ChainReader::new(plan.clone(), limits.clone())?)),
        }
    }
}
