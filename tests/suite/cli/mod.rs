//! The command line `exitgap`.

mod audit;
mod audit_damage;
mod commands;
mod evidence;
mod rpc;
