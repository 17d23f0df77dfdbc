//! The scene of the store's tests, which the fault harness plays as well.

pub use exitgap_tests::faults::scene::{BusyPool, key, slot};
