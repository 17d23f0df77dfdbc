//! Transparency logs as specified by C2SP: a Merkle tree over leaves, its signed states and the
//! proofs between them.
//!
//! **In scope**, one module per C2SP page:
//!
//! - `tree`: RFC 6962 hashes and proofs, from leaves or from complete subtrees
//! - `tiles`: where a published log stores them (`tlog-tiles`)
//! - `note`: texts with Ed25519 signatures (`signed-note`); `keys`: the key file of a log
//! - `checkpoint`: the state of a log, and the place of a leaf in it (`tlog-checkpoint`,
//!   `tlog-proof`)
//! - `cosignature`: a witness's statement about a checkpoint (`tlog-cosignature`)
//! - `policy`: the witnesses that a reader requires (`tlog-policy`)
//! - `witness`: the checkpoints that a witness may cosign (`tlog-witness`)
//! - `release`: the signed list of a release's files, and its entry in a log of releases
//! - `signatures`: whether a trusted key signed a checkpoint; only this module decides that
//!
//! **Out of scope**, with the crate responsible: the content of a leaf, origins that name a log's
//! first slot and proofs of two histories (`exitgap-core`, which re-exports this crate as its
//! module `tlog`), storing a log (`exitgap-store`), serving a log and asking witnesses
//! (`exitgap-server`).
//!
//! Invariants: no clock, no network, no files, no global state, no logging, no floating point. Data
//! from callers never causes a panic.
//!
//! Why this crate is written by hand: `docs/decisions/0021-the-transparency-log-by-hand.md` in
//! `exitgap-core`.

#![warn(clippy::float_arithmetic)]

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod checkpoint;
mod cosignature;
mod keys;
mod note;
mod policy;
mod release;
mod signatures;
mod tiles;
mod tree;
mod witness;

pub use checkpoint::{
    Checkpoint, CheckpointError, LogProof, MAX_PROOF_BYTES, MAX_PROOF_HASHES, Origin, OriginLine,
};
pub use cosignature::{
    CosignatureStatus, Cosigner, MAX_COSIGNATURE_TIME_S, WitnessKey, WitnessKeyError,
};
pub use keys::{MAX_KEY_FILE_BYTES, keys_from_lines};
pub use note::{
    KeyId, MAX_NOTE_BYTES, MAX_SIGNATURES, Note, NoteError, SignerKey, Signers, VerifierKey,
};
pub use policy::{
    MAX_POLICY_BYTES, MAX_POLICY_ITEMS, PolicyError, PolicyRule, PolicyWitness, WitnessPolicy,
};
pub use release::{
    MAX_RELEASE_FILES, MAX_RELEASE_NAME_BYTES, RELEASE_PROOF_FILE, ReleaseFile, ReleaseList,
    ReleaseListError, ReleasePlace, ReleaseProofError, SUMS_FILE, SUMS_NOTE_FILE,
};
pub use signatures::{SignedError, TrustError};
pub use tiles::{TILE_WIDTH, Tile, TileKind, push_entry, split_entries};
pub use tree::{
    Frontier, Hash, Subtree, consistency_proof, consistency_ranges, inclusion_proof,
    inclusion_ranges, is_consistent, join, leaf_hash, node_hash, root, root_from_inclusion,
    subtrees,
};
pub use witness::{
    AddCheckpoint, MAX_REQUEST_BYTES, MAX_REQUEST_HASHES, RequestError, WitnessRefusal,
    WitnessedState, may_cosign,
};
