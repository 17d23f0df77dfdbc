//! State proofs, `state-proof/1`: what the chain's own state says of a pool, under a block's hash.
//!
//! - `rlp`: encodings of the chain; `trie`: a walk down its tries, node after node; `header`: blocks and accounts
//! - `layout`: where contracts keep their words; `file`: a proof as a file (`.egp`); `assembly`: one made of what a node answers
//! - `check`: a snapshot beside what was proven
//!
//! A proof says: *a block with this hash had this state*. That the chain has a block with this hash it does not say; whoever
//! looks the hash up, at a node or in a log of their own choice, knows the rest.

mod assembly;
mod check;
mod file;
mod header;
mod layout;
mod rlp;
mod trie;

pub use check::{
    Place, StateCheck, StateCheckName, check_canonical, check_state, needed_ticks, ranges_of,
};
pub use file::{
    MAX_PROOF_BYTES, ProofError, ProofParts, ProofSubject, ProvenWords, RangeSubject, StateProof,
    TickRange,
};
pub use header::BlockHeader;
pub use layout::Layout;
pub use trie::WalkError;

#[cfg(test)]
mod tests;
