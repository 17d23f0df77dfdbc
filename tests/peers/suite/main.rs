//! Our code against other people's, in one binary: `cargo xtask test --all`.

mod calendars;
mod merkle;
mod parity;
