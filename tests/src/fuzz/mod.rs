//! What the fuzz targets do with their input: one place for `libFuzzer` (`fuzz/`, started by
//! `cargo xtask fuzz`) and for the suite, which runs the same over the corpus and mutations of it.
//!
//! A body panics where a promise is broken, and answers whether the input was accepted as what
//! it should be. More is promised than not to panic: what is read writes the same bytes again,
//! what verifies is what was signed, and nothing else does.
//!
//! These files are compiled into `fuzz/` too, so they use the core and the command line's log
//! reader only: not the rest of this package.

mod checkpoint;
mod folder;
mod known;
#[expect(
    dead_code,
    unused_imports,
    clippy::result_large_err,
    reason = "the replay as a whole is not driven from here, and it makes one error at most"
)]
#[path = "../../../crates/exitgap-cli/src/log/mod.rs"]
mod log;
mod snapshot;
mod verify;
mod window;

/// A fuzz target.
pub struct Target {
    /// Its name, which is that of its binary and of its corpus.
    pub name: &'static str,
    /// What it does with an input; whether the input was accepted.
    pub body: fn(&[u8]) -> bool,
    /// What its corpus begins with, made of the shared vectors.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All of them.
pub const TARGETS: [Target; 6] = [
    Target { name: "verify", body: verify::body, seeds: verify::seeds },
    Target { name: "checkpoint", body: checkpoint::body, seeds: checkpoint::seeds },
    Target { name: "window", body: window::body, seeds: window::seeds },
    Target { name: "snapshot", body: snapshot::body, seeds: snapshot::seeds },
    Target { name: "slot", body: folder::slot, seeds: folder::slot_seeds },
    Target { name: "tile", body: folder::tile, seeds: folder::tile_seeds },
];
