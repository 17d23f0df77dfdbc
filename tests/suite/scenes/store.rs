//! The scene of the store's tests, which the fault harness plays as well.

pub use exitgap_tests::faults::scene::{BusyPool, key, slot};

use exitgap_core::series::MissingReason;

/// The code of a known reason.
pub fn code_of(reason: MissingReason) -> &'static str {
    const KNOWN: &[MissingReason] = &MissingReason::ALL;
    KNOWN.iter().find(|known| **known == reason).expect("it is a known one").code()
}
