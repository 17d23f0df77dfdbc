//! The bodies of the fuzz targets, shared by `libFuzzer` (`fuzz/`, started by `cargo xtask fuzz`) and the suite, which
//! runs them over the corpus and mutations of it.
//!
//! A body panics if a guarantee is violated, and returns whether the input was accepted as valid. The guarantees go
//! beyond not panicking: whatever parses is written as the same bytes, whatever verifies was signed, and nothing else
//! verifies.
//!
//! These files are also compiled into `fuzz/`, so they only use the core and the command line's log reader, and not the
//! rest of this package.

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
pub(crate) mod log;
mod snapshot;
mod verify;
mod window;

/// A fuzz target.
pub struct Target {
    /// Its name, also that of its binary and of its corpus.
    pub name: &'static str,
    /// Processes an input; returns whether it was accepted.
    pub body: fn(&[u8]) -> bool,
    /// The initial corpus, made from the shared vectors.
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
