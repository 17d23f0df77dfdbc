//! The integration suite: one binary.

mod cli;
mod devchain;
mod parity;
mod store;
mod store_crash;
mod store_scene;
mod store_tamper;
