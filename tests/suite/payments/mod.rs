//! Payments: a service with a price, real processes, Circle's own token on a real node.

mod authorizations;
mod clients;
mod facilitator;
mod faults;
mod free;
mod offers;
mod proofs;
mod receipts;
