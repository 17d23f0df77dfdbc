//! The integration suite: one binary.

mod chain_reader;
mod chain_reader_budget;
mod chain_reader_faults;
mod chain_reader_proxy;
mod chain_reader_scene;
mod cli;
mod cli_evidence;
mod cli_rpc;
mod devchain;
mod parity;
mod recorder;
mod recorder_binary;
mod recorder_chain;
mod recorder_example;
mod second_verifier;
mod sealing;
mod store;
mod store_crash;
mod store_scene;
mod store_tamper;
