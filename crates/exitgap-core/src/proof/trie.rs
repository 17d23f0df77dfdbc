//! A walk down a Merkle-Patricia trie, key by key, through the nodes in a proof.
//!
//! Keys are ascending. Each node appears once, in the order in which the walk first reaches it. The walk therefore only
//! has to remember its own path, and a proof has exactly one encoding. A node is accepted only if its hash is the one
//! in its parent, or the root.

pub(super) use exitgap_math::keccak256;

use super::rlp::{Item, list, split, text};

/// The number of nibbles in a key.
const NIBBLES: usize = 64;

/// Why a walk fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WalkError {
    /// A node that the walk needs is absent.
    #[error("a node is missing")]
    Absent,
    /// A node's hash is not the one in its parent.
    #[error("the hash of a node does not match its reference")]
    Hash,
    /// The bytes are not a valid node.
    #[error("a node is malformed")]
    Malformed,
    /// The keys are not ascending.
    #[error("the keys are not in ascending order")]
    Order,
}

/// A node on the walk's path, and the number of nibbles that lead to it.
#[derive(Debug, Clone, Copy)]
struct Met<'a> {
    depth: usize,
    node: &'a [u8],
}

/// The source of a walk's nodes.
pub(super) trait Nodes<'a> {
    /// The node with this hash.
    fn node(&mut self, hash: &[u8; 32]) -> Result<&'a [u8], WalkError>;
}

/// Consecutive nodes, in the order in which the walk needs them.
#[derive(Debug, Clone, Copy)]
pub(super) struct InOrder<'a>(pub &'a [u8]);

impl<'a> Nodes<'a> for InOrder<'a> {
    fn node(&mut self, hash: &[u8; 32]) -> Result<&'a [u8], WalkError> {
        if self.0.is_empty() {
            return Err(WalkError::Absent);
        }
        let (item, rest) = split(self.0).ok_or(WalkError::Malformed)?;
        if keccak256(item.whole) != *hash {
            return Err(WalkError::Hash);
        }
        self.0 = rest;
        Ok(item.whole)
    }
}

/// A walk from a root.
#[derive(Debug, Clone)]
pub(super) struct Walk<'a, N> {
    root: [u8; 32],
    nodes: N,
    path: Vec<Met<'a>>,
    before: Option<[u8; 32]>,
}

/// The payload under a key, which is hashed already, walked to through exactly these nodes; `None`: the trie has none.
pub fn value_under(
    root: [u8; 32],
    key: [u8; 32],
    nodes: &[u8],
) -> Result<Option<Vec<u8>>, WalkError> {
    let mut walk = Walk::new(root, InOrder(nodes));
    let value = walk.value(&key)?.map(<[u8]>::to_vec);
    if walk.into_nodes().0.is_empty() { Ok(value) } else { Err(WalkError::Malformed) }
}

/// The step from a node towards a key.
enum Step<'a> {
    /// Another node, and the number of nibbles that lead to it.
    Child(&'a [u8], usize),
    /// The key's value; `None` if the trie does not contain the key.
    End(Option<&'a [u8]>),
}

impl<'a, N: Nodes<'a>> Walk<'a, N> {
    pub fn new(root: [u8; 32], nodes: N) -> Self {
        Self { root, nodes, path: Vec::new(), before: None }
    }

    /// The source of nodes after the walk, without those that the walk used.
    pub fn into_nodes(self) -> N {
        self.nodes
    }

    /// The value at the next key, as a string's payload; `None` if the trie does not contain the key.
    pub fn value(&mut self, key: &[u8; 32]) -> Result<Option<&'a [u8]>, WalkError> {
        let Met { mut depth, mut node } = self.begin(key)?;
        self.before = Some(*key);
        loop {
            let (child, nibbles) = match step(node, key, depth)? {
                Step::End(value) => return Ok(value),
                Step::Child(child, nibbles) => (child, nibbles),
            };
            depth += nibbles;
            let (item, _) = split(child).ok_or(WalkError::Malformed)?;
            match item {
                // A node shorter than a hash is embedded in its parent.
                Item { is_list: true, whole, .. } if whole.len() < 32 => node = whole,
                Item { is_list: false, payload: [], .. } => return Ok(None),
                Item { is_list: false, payload, .. } => {
                    let hash = payload.try_into().map_err(|_| WalkError::Malformed)?;
                    node = self.nodes.node(&hash)?;
                    self.path.push(Met { depth, node });
                }
                Item { .. } => return Err(WalkError::Malformed),
            }
        }
    }

    /// The last node that the paths to this key and to the previous one share.
    fn begin(&mut self, key: &[u8; 32]) -> Result<Met<'a>, WalkError> {
        let Some(before) = self.before else {
            let met = Met { depth: 0, node: self.nodes.node(&self.root)? };
            self.path.push(met);
            return Ok(met);
        };
        if before >= *key {
            return Err(WalkError::Order);
        }
        let common = (0..NIBBLES).take_while(|at| nibble(&before, *at) == nibble(key, *at)).count();
        while self.path.len() > 1 && self.path.last().is_some_and(|met| met.depth > common) {
            self.path.pop();
        }
        self.path.last().copied().ok_or(WalkError::Absent)
    }
}

/// The step from a node towards a key, if `depth` nibbles of the key lead to the node.
fn step<'a>(node: &'a [u8], key: &[u8; 32], depth: usize) -> Result<Step<'a>, WalkError> {
    let malformed = WalkError::Malformed;
    // The root node of an empty trie.
    if node == [0x80] {
        return Ok(Step::End(None));
    }
    let (items, count) = list::<17>(node).ok_or(malformed)?;
    match count {
        17 if depth < NIBBLES => Ok(Step::Child(items[usize::from(nibble(key, depth))], 1)),
        2 => {
            let path = text(items[0]).ok_or(malformed)?;
            let (flags, first) =
                path.first().map(|first| (first >> 4, first & 15)).ok_or(malformed)?;
            let is_odd = flags & 1 == 1;
            if flags > 3 || (!is_odd && first != 0) {
                return Err(malformed);
            }
            let skipped = if is_odd { 1 } else { 2 };
            let length = 2 * path.len() - skipped;
            let is_leaf = flags >= 2;
            let end = depth + length;
            // A leaf completes a key, and an extension must not.
            if (is_leaf && end != NIBBLES) || (!is_leaf && (length == 0 || end >= NIBBLES)) {
                return Err(malformed);
            }
            let nibble_of = |at: usize| {
                if at.is_multiple_of(2) { path[at / 2] >> 4 } else { path[at / 2] & 15 }
            };
            if (0..length).any(|at| nibble_of(skipped + at) != nibble(key, depth + at)) {
                return Ok(Step::End(None));
            }
            if is_leaf {
                return Ok(Step::End(Some(text(items[1]).ok_or(malformed)?)));
            }
            Ok(Step::Child(items[1], length))
        }
        _ => Err(malformed),
    }
}

fn nibble(key: &[u8; 32], at: usize) -> u8 {
    if at.is_multiple_of(2) { key[at / 2] >> 4 } else { key[at / 2] & 15 }
}
