//! The integration test suite: one binary, with a folder for each area.

mod agents;
mod browser;
mod chain;
mod cli;
mod client;
mod documents;
mod evidence;
mod harness;
mod payments;
mod recorder;
mod scenes;
mod service;
mod store;
mod witness;
