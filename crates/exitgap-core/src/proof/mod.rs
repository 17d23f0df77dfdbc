//! State proofs, `state-proof/1`: a pool's state as proven by the chain itself, under a block hash.
//!
//! - `rlp`: encodings of the chain; `trie`: a walk down its tries, node after node; `header`:
//!   blocks and accounts
//! - `layout`: where contracts store their words, and `feed`, where oracles do; `code`: what code of
//!   pools is known; `subject`: what is to be proven; `words`: what was proven
//! - `file`: a proof as a file (`.egp`); `assembly`: a proof made from a node's answers
//! - `claim`: a snapshot's content in the chain's words; `check`: its comparison with the proven
//!   state and with the blocks reported by the sources that the reader asked
//! - `draw`: the slots for which a pool is proven completely, unknown to anyone while they are
//!   signed
//! - `anchor`: older block hashes proven from a newer block; `anchor_chain`: day after day
//!
//! A proof shows that *a block with this hash had this state*. It does not show that the chain has
//! a block with this hash. A reader completes the proof by looking up the hash, at a node or in a
//! log of their own choice.

mod anchor;
mod anchor_chain;
mod assembly;
mod check;
mod claim;
mod code;
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
    MAX_HOPS, history_slot, history_window,
};
pub use anchor_chain::{AnchorChain, AnchorChainError, plan_hops};
pub use check::{
    BlockSaid, BlockSource, ChainSays, Place, Rung, StateCheck, StateCheckName, WitnessesSay,
    check_canonical, check_claim, check_code, check_state, confirm_next,
};
pub use claim::{
    ClaimedCode, ClaimedRanges, ClaimedReading, ClaimedState, StateClaim, needed_ticks, ranges_of,
};
pub use code::{V3Immutables, is_v2_pair};
pub use draw::{DRAWN_BELOW, is_drawn};
pub use feed::{FeedLayout, FeedSubject, ProvenReading};
pub use file::{MAX_PROOF_BYTES, ProofError, ProofParts, StateProof};
pub use header::BlockHeader;
pub use layout::Layout;
pub use subject::{ProofSubject, RangeSubject, Reach, TickRange};
pub use trie::{WalkError, value_under};
pub use words::ProvenWords;

#[cfg(test)]
mod tests;
