//! The target `slot` of the bodies.

#![no_main]

exitgap_fuzz::target!("slot");
