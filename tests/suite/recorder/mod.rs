//! Slots, recorded by clock and chain.

mod binary;
mod chain;
mod configured;
mod example;
mod example_chains;
mod four;
mod proofs;
mod slots;
mod witnessed;
