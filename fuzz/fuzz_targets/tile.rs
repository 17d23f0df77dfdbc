//! The target `tile` of the bodies.

#![no_main]

exitgap_fuzz::target!("tile");
