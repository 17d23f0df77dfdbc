//! The target `verify` of the bodies.

#![no_main]

exitgap_fuzz::target!("verify");
