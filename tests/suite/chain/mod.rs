//! From nodes to snapshots, and the development chain itself.

mod anchors;
mod arbitrum;
mod balancer;
mod balancer_third;
mod budget;
mod curve;
mod curve_crypto;
mod curve_plain;
mod devchain;
mod factories;
mod faults;
mod hours;
mod instants;
mod kinds;
mod linked;
mod managed;
mod nodes;
mod parity;
mod proofs;
mod ranges;
mod reader;
mod recorded;
mod settle;
mod slipstream;
mod solidly;
mod sushi;
