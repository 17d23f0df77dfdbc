//! State proofs, `state-proof/1`: what the chain's own state says of a pool, under a block's hash.
//!
//! - `rlp`: encodings of the chain; `trie`: a walk down its tries, node after node; `header`: blocks and accounts
//! - `layout`: where contracts keep their words, and `feed`, where oracles do; `subject`: what is to be proven; `words`: what was
//! - `file`: a proof as a file (`.egp`); `assembly`: one made of what a node answers
//! - `claim`: what a snapshot says in the chain's words; `check`: that beside what was proven, and beside what
//!   those say whom the reader asked for its block
//! - `draw`: of which slots a pool is proven whole, which nobody knows while they are signed
//! - `anchor`: older blocks' hashes proven from a newer one's; `anchor_chain`: day after day
//!
//! A proof says: *a block with this hash had this state*. That the chain has a block with this hash it does not say; whoever
//! looks the hash up, at a node or in a log of their own choice, knows the rest.

mod anchor;
mod anchor_chain;
mod assembly;
mod check;
mod claim;
mod draw;
mod feed;
mod file;
mod header;
mod layout;
mod rlp;
mod subject;
mod trie;
mod words;

pub use anchor::{
    AnchorError, Anchors, HISTORY_CONTRACT, HopParts, MAX_ANCHOR_BYTES, MAX_ANCHORED_BLOCKS,
    MAX_HOPS, history_slot, ring,
};
pub use anchor_chain::{AnchorChain, AnchorChainError, plan_hops};
pub use check::{
    BlockSaid, BlockSource, ChainSays, Place, Rung, StateCheck, StateCheckName, WitnessesSay,
    check_canonical, check_claim, check_state,
};
pub use claim::{ClaimedRanges, ClaimedReading, ClaimedState, StateClaim, needed_ticks, ranges_of};
pub use draw::{DRAWN_BELOW, is_drawn};
pub use feed::{FeedLayout, FeedSubject, ProvenReading};
pub use file::{MAX_PROOF_BYTES, ProofError, ProofParts, StateProof};
pub use header::BlockHeader;
pub use layout::Layout;
pub use subject::{ProofSubject, RangeSubject, Reach, TickRange};
pub use trie::WalkError;
pub use words::ProvenWords;

#[cfg(test)]
mod tests;
