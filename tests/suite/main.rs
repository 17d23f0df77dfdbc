//! The integration suite: one binary.
