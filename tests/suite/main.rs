//! The integration suite: one binary.

mod audit;
mod audit_damage;
mod audit_log;
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
mod sealing;
mod sealing_binary;
mod sealing_folder;
mod sealing_fsck;
mod second_verifier;
mod store;
mod store_crash;
mod store_scene;
mod store_tamper;
