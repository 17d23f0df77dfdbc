//! The target `bundle` of the bodies.

#![no_main]

exitgap_fuzz::target!("bundle");
