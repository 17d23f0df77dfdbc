//! Recording slots, with clocks and chains.

mod anchored;
mod binary;
mod bucket;
mod chain;
mod claims;
mod configured;
mod drawn;
mod example;
mod example_chains;
mod four;
mod init;
mod on_a_server;
mod peers;
mod proofs;
mod shared;
mod slots;
mod witnessed;
