//! From nodes to snapshots, and the development chain itself.

mod arbitrum;
mod balancer;
mod budget;
mod curve;
mod devchain;
mod factories;
mod faults;
mod hours;
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
