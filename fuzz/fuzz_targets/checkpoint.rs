//! The target `checkpoint` of the bodies.

#![no_main]

exitgap_fuzz::target!("checkpoint");
