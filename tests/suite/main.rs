//! The integration suite: one binary.

mod devchain;
