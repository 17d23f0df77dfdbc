//! Checks whether the chain contains a snapshot's block, according to sources that the reader chose.

use super::{StateCheck, StateCheckName};
use crate::evidence::Outcome;
use crate::ids::BlockHash;
use crate::proof::header::BlockHeader;
use crate::snapshot::BlockRef;

/// A source that the reader chose: a node, a wallet, another operator's log, anchors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockSource {
    /// The reader's name for it.
    pub name: String,
    /// Its answer.
    pub said: BlockSaid,
}

/// A source's answer about a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockSaid {
    /// The hash of the block with that number.
    Block(BlockHash),
    /// The hash of the next block, whose header names the asked block as its parent.
    Next(BlockHash),
    /// The hashes of both.
    Both {
        /// The block's.
        block: BlockHash,
        /// The next block's.
        next: BlockHash,
    },
    /// No answer.
    Nothing,
}

impl BlockSaid {
    /// The hash of the next block, if the source gave it.
    pub fn next(&self) -> Option<BlockHash> {
        match self {
            Self::Next(next) | Self::Both { next, .. } => Some(*next),
            Self::Block(_) | Self::Nothing => None,
        }
    }
}

impl BlockSource {
    /// The answer of a source that was asked for the block by number; `None`: it did not answer.
    pub fn from_answer(name: impl Into<String>, hash: Option<BlockHash>) -> Self {
        let said = hash.map_or(BlockSaid::Nothing, BlockSaid::Block);
        Self { name: name.into(), said }
    }
}

/// The sources, by their answer.
struct SourceVotes {
    /// Sources that have the block.
    having: Vec<String>,
    /// Sources that have another block, with its hash.
    against: Vec<String>,
    /// Sources that did not answer.
    silent: Vec<String>,
}

/// Checks whether the chain contains a snapshot's block. `child` is the next header in a proof; answers about the next
/// block are compared with it. At least `at_least` of the sources must have the block; `None`: all of them.
///
/// It passes if at least that many sources have the block, and more than have another one. It fails if at least as many
/// sources have another block as have this one, or if those with another block leave fewer than `at_least` sources.
/// Contradicting sources are always named.
///
/// A source with another next block than the proof does not contradict the block itself, because only the file's author
/// states the next header. The source then does not count for the block.
pub fn check_canonical(
    block: BlockRef,
    child: Option<&BlockHeader>,
    sources: &[BlockSource],
    at_least: Option<usize>,
) -> StateCheck {
    let name = StateCheckName::Canonical;
    let next = child.filter(|child| {
        child.parent == block.hash && block.number.checked_add(1) == Some(child.number)
    });
    let (mut having, mut against, mut silent) = (Vec::new(), Vec::new(), Vec::new());
    for BlockSource { name, said } in sources {
        let (expected, found) = match said {
            BlockSaid::Block(hash) | BlockSaid::Both { block: hash, .. } => {
                (Some(block.hash), *hash)
            }
            BlockSaid::Next(hash) => (next.map(|next| next.hash), *hash),
            BlockSaid::Nothing => {
                silent.push(name.clone());
                continue;
            }
        };
        match (expected, said) {
            (Some(expected), _) if expected == found => having.push(name.clone()),
            (Some(_), BlockSaid::Next(_)) => silent.push(format!("{name} (next: {found})")),
            (Some(_), _) => against.push(format!("{name} ({found})")),
            (None, _) => silent.push(name.clone()),
        }
    }
    let counted = SourceVotes { having, against, silent };
    let (most, needed) = (sources.len(), at_least.unwrap_or(sources.len()).max(1));
    let SourceVotes { having, against, .. } = &counted;
    let found = counted.words(block.number, block.hash, most);
    let outvoted = against.is_empty() || having.len() > against.len();
    if having.len() >= needed && outvoted {
        return StateCheck::pass(name, found, &[AGREEING_UNPROVEN]);
    }
    let out_of_reach = most.saturating_sub(against.len()) < needed;
    if !against.is_empty() && (!outvoted || out_of_reach) {
        let expected = format!("{}, according to at least {needed} of {most} sources", block.hash);
        return StateCheck::with_outcome(name, Outcome::Fail, "other_block", [expected, found]);
    }
    let expected = format!("an answer from at least {needed} of the {most} sources asked");
    StateCheck::with_outcome(name, Outcome::NotChecked, "not_answered", [expected, found])
}

/// What the reader still has to trust about the sources.
const AGREEING_UNPROVEN: &str = "that the sources asked do not collude";

impl SourceVotes {
    fn words(&self, number: u64, hash: BlockHash, most: usize) -> String {
        let Self { having, against, silent } = self;
        let mut words =
            format!("block {number} is {hash} according to {} of {most} sources", having.len());
        for (before, named) in [
            (": ", having),
            ("; a different block according to ", against),
            ("; no answer from ", silent),
        ] {
            if !named.is_empty() {
                words.push_str(before);
                words.push_str(&named.join(", "));
            }
        }
        words
    }
}
