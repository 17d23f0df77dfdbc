use std::collections::BTreeMap;

use super::super::assembly::NodePool;
use super::super::trie::{InOrder, Walk, keccak256};

/// A generated trie: its nodes by hash, and its root.
pub struct Trie {
    pub nodes: Vec<Vec<u8>>,
    pub root: [u8; 32],
}

pub fn encode(items: &[Vec<u8>]) -> Vec<u8> {
    let payload = items.concat();
    [head(payload.len(), 0xc0), payload].concat()
}

pub fn string(bytes: &[u8]) -> Vec<u8> {
    match bytes {
        [one] if *one < 0x80 => vec![*one],
        _ => [head(bytes.len(), 0x80), bytes.to_vec()].concat(),
    }
}

fn head(length: usize, base: u8) -> Vec<u8> {
    let short = |number: usize| u8::try_from(number).unwrap();
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
    string(&padded.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect::<Vec<u8>>())
}

impl Trie {
    pub fn new(entries: &BTreeMap<[u8; 32], Vec<u8>>) -> Self {
        let entries: Vec<(Vec<u8>, &[u8])> =
            entries.iter().map(|(key, value)| (nibbles(key), value.as_slice())).collect();
        let mut trie = Self { nodes: Vec::new(), root: [0; 32] };
        let root = if entries.is_empty() { vec![0x80] } else { trie.node(&entries, 0) };
        trie.root = keccak256(&root);
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
        let hash = keccak256(&node);
        self.nodes.push(node);
        string(&hash)
    }
}

/// Pseudo-random numbers.
pub struct Drawn(pub u64);

impl Drawn {
    pub fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }
}

#[test]
fn a_walk_finds_what_a_trie_holds_and_that_it_holds_nothing_else() {
    let mut drawn = Drawn(7);
    for round in 0..300 {
        // Keys that differ only in late nibbles have nodes that are embedded in their parents.
        let close = round % 3;
        let mut entries = BTreeMap::new();
        for _ in 0..drawn.next() % 40 {
            let mut key = [7; 32];
            let from = if close == 0 { 0 } else { 30 };
            for byte in &mut key[from..] {
                *byte = u8::try_from(drawn.next() % if close == 2 { 4 } else { 256 }).unwrap();
            }
            let length =
                usize::try_from(1 + drawn.next() % if close == 0 { 33 } else { 3 }).unwrap();
            let value =
                (0..length).map(|_| u8::try_from(1 + drawn.next() % 255).unwrap()).collect();
            entries.insert(key, value);
        }
        let trie = Trie::new(&entries);
        let mut keys: Vec<[u8; 32]> = entries.keys().copied().collect();
        for _ in 0..10 {
            let mut key = keys.first().copied().unwrap_or([7; 32]);
            key[usize::try_from(drawn.next() % 32).unwrap()] ^= 1;
            keys.push(key);
        }
        keys.sort_unstable();
        keys.dedup();
        let (met, found) = NodePool::from_nodes(&trie.nodes).in_order(trie.root, &keys).unwrap();
        for (key, found) in keys.iter().zip(&found) {
            assert_eq!(*found, entries.get(key).map(Vec::as_slice));
        }
        // The ordered nodes can be walked without a lookup by hash.
        let mut walk = Walk::new(trie.root, InOrder(&met));
        for (key, found) in keys.iter().zip(found) {
            assert_eq!(walk.value(key), Ok(found));
        }
        assert!(walk.into_nodes().0.is_empty());
    }
}
