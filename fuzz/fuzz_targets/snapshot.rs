//! The target `snapshot` of the bodies.

#![no_main]

exitgap_fuzz::target!("snapshot");
