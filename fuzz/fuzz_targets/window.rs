//! The target `window` of the bodies.

#![no_main]

exitgap_fuzz::target!("window");
