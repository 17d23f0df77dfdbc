//! The command line `exitgap`.

mod accuracy;
mod alert;
mod audit;
mod audit_damage;
mod audit_documents;
mod audit_page;
mod commands;
mod compare;
mod copied;
mod copied_hostile;
mod evidence;
mod full_disk;
mod rpc;
mod series;
mod try_sample;
mod verify_chain;
mod verify_release;
mod verify_sources;
mod watch;
