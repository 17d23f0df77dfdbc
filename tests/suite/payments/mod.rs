//! Payments: a service with prices, real processes, and Circle's own token on a real node.

mod adversaries;
mod authorizations;
mod clients;
mod facilitator;
mod faults;
mod free;
mod identifiers;
mod issued;
mod offers;
mod once;
mod proofs;
mod receipts;
mod reorgs;
mod wallet;
