//! The scene of the store's tests, which the fault harness plays as well.

pub use exitgap_tests::faults::scene::{BusyPool, key, slot};

use exitgap_core::U256;
use exitgap_core::pools::{FeeRate, PoolState, Solidly};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::{Observation, Snapshot};
use exitgap_store::NewEntry;

/// The market of a busy pool around a pool whose liquidity lies in no ranges: a volatile one of Aerodrome's kind.
pub struct OtherKind(BusyPool);

impl OtherKind {
    pub fn new(number: u8) -> Self {
        Self(BusyPool::new(number, 2))
    }

    /// An entry with the pool's snapshot.
    pub fn recorded(&mut self, slot: Slot) -> NewEntry {
        let entry = self.0.recorded(slot);
        let drawn = entry.reading.unwrap();
        let drawn = drawn.observation();
        let fee = FeeRate { numerator: 30, denominator: 10_000 };
        let reserve = U256::from(10_u64.pow(18));
        let decimals = [self.0.decimals; 2];
        let state = Solidly::new(false, [reserve; 2], decimals, fee).unwrap();
        let observation = Observation::new(
            drawn.pool().clone(),
            drawn.chain(),
            drawn.block(),
            drawn.tokens().clone(),
            PoolState::Solidly(state),
            drawn.oracles().to_vec(),
            Vec::new(),
        );
        let snapshot = Snapshot::new(slot, observation.unwrap()).unwrap();
        NewEntry { reading: Ok(snapshot), ..entry }
    }
}

/// The code of a known reason.
pub fn code_of(reason: MissingReason) -> &'static str {
    const KNOWN: &[MissingReason] = &MissingReason::ALL;
    KNOWN.iter().find(|known| **known == reason).expect("it is a known one").code()
}
