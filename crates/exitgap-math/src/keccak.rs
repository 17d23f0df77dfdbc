//! The hash of Ethereum's states, blocks and contracts.
//!
//! It is here because this crate is optimised in the development profile: the library's hash is generic and is compiled by
//! whoever calls it first.

use sha3::{Digest as _, Keccak256};

/// The Keccak-256 of these bytes, the variant that Ethereum uses and not the later SHA3-256.
///
/// ```
/// let of_nothing = exitgap_math::keccak256(b"");
/// assert_eq!(of_nothing[..4], [0xc5, 0xd2, 0x46, 0x01]);
/// ```
pub fn keccak256(bytes: &[u8]) -> [u8; 32] {
    Keccak256::digest(bytes).into()
}
