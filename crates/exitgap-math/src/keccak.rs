//! The hash of Ethereum's states, blocks and contracts.
//!
//! It is in this crate because this crate is optimised in the development profile. The library's hash is generic, so it
//! is compiled as part of the crate that calls it, at that crate's optimisation level.

use sha3::{Digest as _, Keccak256};

/// The Keccak-256 hash of these bytes. Ethereum uses this variant, not the later SHA3-256.
///
/// ```
/// let of_nothing = exitgap_math::keccak256(b"");
/// assert_eq!(of_nothing[..4], [0xc5, 0xd2, 0x46, 0x01]);
/// ```
pub fn keccak256(bytes: &[u8]) -> [u8; 32] {
    Keccak256::digest(bytes).into()
}
