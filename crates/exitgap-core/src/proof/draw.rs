//! A random draw of the slots for which a pool is proven completely. No one can predict it when the slot is signed.
//!
//! A slot is sealed at most one minute after its instant, and witnesses date it. The block named by the chain's next
//! recorded slot is at least four minutes younger, so no signer of the slot knew that block's hash. An operator who
//! lies about ticks that no figure uses, and that no proof of figures covers, is therefore drawn one time in twelve and
//! cannot choose when.

use sha2::{Digest, Sha256};

use crate::ids::{BlockHash, Contract};

/// A slot is drawn if the digest's first byte is below this: 21 of 256, one in twelve.
pub const DRAWN_BELOW: u8 = 21;

/// Whether a contract's slot is drawn. `next` is the block of the next later slot in which anything on the same chain
/// was recorded. The digest is SHA-256 of the contract's name as text, followed by the block's hash, 32 bytes.
pub fn is_drawn(contract: &Contract, next: BlockHash) -> bool {
    let digest = Sha256::new_with_prefix(contract.to_string()).chain_update(next.0).finalize();
    digest[0] < DRAWN_BELOW
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slot_in_twelve_is_drawn_and_each_contract_by_itself() {
        let contract = |n: u32| -> Contract { format!("anvil:0x{n:040x}").parse().unwrap() };
        let block = |n: u32| BlockHash(Sha256::digest(n.to_be_bytes()).into());
        let drawn = |of: u32| (0..4_096).filter(|n| is_drawn(&contract(of), block(*n))).count();
        let expected = 4_096 * usize::from(DRAWN_BELOW) / 256;
        for of in 0..8 {
            // Four standard deviations.
            assert!(drawn(of).abs_diff(expected) < 71, "{} of 4096, about {expected}", drawn(of));
        }
        let both = (0..4_096)
            .filter(|n| is_drawn(&contract(0), block(*n)) && is_drawn(&contract(1), block(*n)));
        assert!(both.count() < expected / 4, "one contract's draw says nothing of another's");
        // The same rule, written out.
        let name = "anvil:0x0000000000000000000000000000000000000007";
        let spelled = [name.as_bytes(), &block(9).0].concat();
        assert_eq!(is_drawn(&contract(7), block(9)), Sha256::digest(spelled)[0] < DRAWN_BELOW);
    }
}
