//! Payments: a service with a price, real processes, Circle's own token on a real node.

mod adversaries;
mod authorizations;
mod clients;
mod faults;
mod identifiers;
mod offers;
mod proofs;
mod reorgs;
mod wallet;
