//! A chain's tries, as small as anchors need them.

use std::collections::BTreeMap;

use alloy_primitives::keccak256;

/// A trie: its nodes, and the hash of its root.
pub struct Trie {
    /// Every node that has a hash of its own.
    pub nodes: Vec<Vec<u8>>,
    /// The hash of the root.
    pub root: [u8; 32],
}

/// A list in RLP.
pub fn encode(items: &[Vec<u8>]) -> Vec<u8> {
    let payload = items.concat();
    [head(payload.len(), 0xc0), payload].concat()
}

/// A text in RLP.
pub fn string(bytes: &[u8]) -> Vec<u8> {
    match bytes {
        [one] if *one < 0x80 => vec![*one],
        _ => [head(bytes.len(), 0x80), bytes.to_vec()].concat(),
    }
}

fn head(length: usize, base: u8) -> Vec<u8> {
    let short = |number: usize| u8::try_from(number).unwrap_or_default();
    if length < 56 {
        return vec![base + short(length)];
    }
    let digits: Vec<u8> = length.to_be_bytes().into_iter().skip_while(|byte| *byte == 0).collect();
    [vec![base + 55 + short(digits.len())], digits].concat()
}

fn nibbles(key: &[u8; 32]) -> Vec<u8> {
    key.iter().flat_map(|byte| [byte >> 4, byte & 15]).collect()
}

fn path(nibbles: &[u8], is_leaf: bool) -> Vec<u8> {
    let flag = if is_leaf { 2 } else { 0 };
    let padded = match nibbles.len() % 2 {
        0 => [&[flag, 0], nibbles].concat(),
        _ => [&[flag + 1], nibbles].concat(),
    };
    string(&padded.chunks(2).map(|pair| (pair[0] << 4) | pair[1]).collect::<Vec<u8>>())
}

impl Trie {
    /// The trie of these values, by the hashes of their keys.
    pub fn new(entries: &BTreeMap<[u8; 32], Vec<u8>>) -> Self {
        let entries: Vec<(Vec<u8>, &[u8])> =
            entries.iter().map(|(key, value)| (nibbles(key), value.as_slice())).collect();
        let mut trie = Self { nodes: Vec::new(), root: [0; 32] };
        let root = trie.node(&entries, 0);
        trie.root = keccak256(&root).0;
        trie.nodes.push(root);
        trie
    }

    /// The node for entries that share their first `depth` nibbles.
    fn node(&mut self, entries: &[(Vec<u8>, &[u8])], depth: usize) -> Vec<u8> {
        if let [(key, value)] = entries {
            return encode(&[path(&key[depth..], true), string(value)]);
        }
        let (first, last) = (&entries[0].0, &entries[entries.len() - 1].0);
        let common = first[depth..].iter().zip(&last[depth..]).take_while(|(a, b)| a == b).count();
        if common > 0 {
            let child = self.node(entries, depth + common);
            let named = self.named(child);
            return encode(&[path(&first[depth..depth + common], false), named]);
        }
        let mut items = Vec::new();
        for nibble in 0..16 {
            let below: Vec<_> =
                entries.iter().filter(|(key, _)| key[depth] == nibble).cloned().collect();
            items.push(if below.is_empty() {
                string(&[])
            } else {
                let child = self.node(&below, depth + 1);
                self.named(child)
            });
        }
        items.push(string(&[]));
        encode(&items)
    }

    /// A node as its parent contains it.
    fn named(&mut self, node: Vec<u8>) -> Vec<u8> {
        if node.len() < 32 {
            return node;
        }
        let hash = keccak256(&node).0;
        self.nodes.push(node);
        string(&hash)
    }
}
