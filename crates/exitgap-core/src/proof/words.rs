//! Reads storage words by a walk, and interprets those of a pool.

use super::file::ProofError;
use super::rlp::{self, text};
use super::subject::{ProofSubject, Role};
use super::trie::{InOrder, Walk, keccak256};
use crate::ids::Word;
use crate::wide::U256;

/// The value of an absent word.
const ZERO: Word = Word([0; 32]);

/// The storage words of a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProvenWords {
    /// Reserves.
    Reserves(Vec<Word>),
    /// √price and tick, liquidity, and the first word of each of the subject's ticks.
    Ranges {
        /// √price and tick; for Uniswap v4 also the fees.
        price: Word,
        /// Active liquidity.
        liquidity: Word,
        /// The first word of each tick.
        ticks: Vec<Word>,
    },
}

/// The storage words of a contract, in the order of their slots, found by a walk that must use exactly these nodes.
pub(super) fn walk_words(
    root: [u8; 32],
    slots: &[[u8; 32]],
    nodes: &[u8],
) -> Result<Vec<Word>, ProofError> {
    let mut keys: Vec<([u8; 32], usize)> =
        slots.iter().enumerate().map(|(at, slot)| (keccak256(slot), at)).collect();
    crate::stable_sort::sort(&mut keys, |a, b| a.0.cmp(&b.0));
    let mut walk = Walk::new(root, InOrder(nodes));
    let mut words = vec![ZERO; slots.len()];
    for (key, at) in keys {
        let value = walk.value(&key).map_err(ProofError::Storage)?;
        words[at] = word_of(value).ok_or(ProofError::Word)?;
    }
    if walk.into_nodes().0.is_empty() { Ok(words) } else { Err(ProofError::Surplus) }
}

/// Interprets a pool's words, and requires that the bitmap has exactly the ticks that the subject names.
pub(super) fn words(subject: &ProofSubject, found: Vec<Word>) -> Result<ProvenWords, ProofError> {
    let (mut price, mut liquidity) = (ZERO, ZERO);
    let named = subject.ranges.as_ref().map_or(&[][..], |ranges| &ranges.ticks);
    let (mut bitmap, mut ticks) = (Vec::new(), vec![ZERO; named.len()]);
    for ((_, role), value) in subject.roles()?.into_iter().zip(&found) {
        match role {
            Role::Reserve => {}
            Role::Price => price = *value,
            Role::Liquidity => liquidity = *value,
            Role::Bitmap(word) => bitmap.push((word, *value)),
            Role::Tick(at) => ticks[at] = *value,
        }
    }
    let Some(ranges) = &subject.ranges else {
        return Ok(ProvenWords::Reserves(found));
    };
    let mut left = named.iter().copied();
    for tick in bitmap.into_iter().flat_map(|(word, bits)| ranges.ticks_in(word, bits)) {
        match left.next() {
            Some(expected) if expected == tick => {}
            other => {
                return Err(ProofError::Ticks {
                    tick: other.map_or(tick, |other| other.min(tick)),
                });
            }
        }
    }
    match left.next() {
        Some(tick) => Err(ProofError::Ticks { tick }),
        None => Ok(ProvenWords::Ranges { price, liquidity, ticks }),
    }
}

/// The word in a leaf. An absent leaf is zero, and so is a leaf without digits: a real chain removes such a word from
/// its trie, but development nodes keep it, and their roots commit to it.
fn word_of(leaf: Option<&[u8]>) -> Option<Word> {
    let Some(leaf) = leaf else { return Some(ZERO) };
    match text(leaf)? {
        [] => Some(ZERO),
        digits => Some(Word(rlp::number(digits)?)),
    }
}

/// The number in at most 32 bytes, most significant first.
pub(super) fn number(bytes: &[u8]) -> U256 {
    let mut limbs = [0; 4];
    for (limb, eight) in limbs.iter_mut().zip(bytes.rchunks(8)) {
        *limb = eight.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    }
    U256::from_limbs(limbs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::trie::WalkError;

    /// A trie with one leaf: its root and its node.
    fn trie(slot: &[u8; 32], value: &[u8]) -> ([u8; 32], Vec<u8>) {
        let path = [&[0x20][..], &keccak256(slot)].concat();
        let text = |bytes: &[u8]| {
            let short = bytes.len() == 1 && bytes[0] < 0x80;
            if short {
                bytes.to_vec()
            } else {
                [&[0x80 + u8::try_from(bytes.len()).unwrap()], bytes].concat()
            }
        };
        let items = [text(&path), text(value)].concat();
        let length = u8::try_from(items.len()).unwrap();
        let head = if length < 56 { vec![0xc0 + length] } else { vec![0xf8, length] };
        let node = [head, items].concat();
        (keccak256(&node), node)
    }

    #[test]
    fn a_word_that_a_node_keeps_as_zero_is_zero_and_what_is_no_number_is_none() {
        let slot = [7; 32];
        let word = |value: &[u8]| {
            let (root, node) = trie(&slot, value);
            walk_words(root, &[slot], &node).map(|words| words[0])
        };
        assert_eq!(word(&[0x80]).unwrap(), ZERO);
        let five = word(&[5]).unwrap();
        assert_eq!(five.0[31], 5);
        // A leading zero, a list, and more digits than a word has.
        for wrong in [&[0x00][..], &[0x82, 0, 5], &[0xc0], &[&[0xa1][..], &[1; 33]].concat()] {
            assert!(matches!(word(wrong), Err(ProofError::Word)), "{wrong:?}");
        }
        let (root, mut node) = trie(&slot, &[5]);
        *node.last_mut().unwrap() = 6;
        assert!(matches!(
            walk_words(root, &[slot], &node),
            Err(ProofError::Storage(WalkError::Hash | WalkError::Absent))
        ));
    }
}
