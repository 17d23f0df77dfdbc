//! Transparency logs, as C2SP has them: a Merkle tree over leaves, its signed states and the
//! proofs between them. What a leaf says is for others ([`evidence`](crate::evidence)).
//!
//! - `tree`: RFC 6962 hashes and proofs, from leaves or from any complete subtrees
//! - `tiles`: where a published log keeps them (`tlog-tiles`)
//! - `note`: texts with Ed25519 signatures (`signed-note`)
//! - `checkpoint`: a log's state, and a leaf's place in it (`tlog-checkpoint`, `tlog-proof`)
//! - `signed`: whether a checkpoint is signed by whom one trusts; nothing else judges that
//!
//! Why by hand: `docs/decisions/0021-the-transparency-log-by-hand.md`.

mod checkpoint;
mod note;
mod signed;
mod tiles;
mod tree;

pub use checkpoint::{
    Checkpoint, CheckpointError, LogProof, MAX_PROOF_BYTES, MAX_PROOF_HASHES, Origin,
};
pub use note::{
    KeyId, MAX_NOTE_BYTES, MAX_SIGNATURES, Note, NoteError, SignerKey, Signers, VerifierKey,
};
pub use signed::{SignedError, Unsigned};
pub use tiles::{Shelf, TILE_WIDTH, Tile, push_entry, split_entries};
pub use tree::{
    Frontier, Hash, Subtree, consistency_proof, consistency_ranges, inclusion_proof,
    inclusion_ranges, is_consistent, join, leaf_hash, node_hash, root, root_from_inclusion,
    subtrees,
};
