//! Slots, recorded by clock and chain.

mod binary;
mod chain;
mod example;
mod slots;
