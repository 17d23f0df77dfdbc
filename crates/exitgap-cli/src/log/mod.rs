//! A published log's folder, read and replayed. Everything in it is untrusted: each
//! file has a limit, and what breaks a rule is named.
//!
//! - `folder`, `parts`: files and tiles, manifests and parts
//! - `history`: one pool's heads from its first on
//! - `tree`: the log's root and tiles, grown leaf by leaf
//! - `replay`: the walk over all slots
//! - `proofs`: state proofs that are published beside it
//! - `accounting`: files that nothing signed commits to
//! - `fault`: which rule is broken, in which slot, by which pool

mod accounting;
mod fault;
mod folder;
mod history;
mod parts;
mod proofs;
mod replay;
mod tree;
// The fuzz targets compile this module too, without the client, so the copier's file is compiled here again.
#[path = "../../../exitgap-client/src/copy/unpack.rs"]
mod unpack;

pub use accounting::unsigned_files;
pub use fault::{Fault, Rule};
pub use folder::FolderReader;
pub use proofs::{ProofAudit, ProofFetcher};
pub use replay::{
    Against, Counts, SignedCheckpoint, WatchedPools, WatchedSlot, check_signature, replay,
};
pub use tree::leaf_hashes;
