//! Whether the chain has a snapshot's block, by sources that the reader chose.

use super::{StateCheck, StateCheckName};
use crate::evidence::Outcome;
use crate::ids::BlockHash;
use crate::proof::header::BlockHeader;
use crate::snapshot::BlockRef;

/// Somebody whom the reader chose to ask for a block: a node, a wallet, another operator's log, anchors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockSource {
    /// As the reader knows them.
    pub name: String,
    /// What they said.
    pub said: BlockSaid,
}

/// What a source says of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockSaid {
    /// The hash of the block of that number.
    Block(BlockHash),
    /// The hash of the next one, which names that one as its parent.
    Next(BlockHash),
    /// Nothing.
    Nothing,
}

impl BlockSource {
    /// Of whoever was asked for the block by its number; `None`: no answer.
    pub fn from_answer(name: impl Into<String>, hash: Option<BlockHash>) -> Self {
        let said = hash.map_or(BlockSaid::Nothing, BlockSaid::Block);
        Self { name: name.into(), said }
    }
}

/// What sources have at a block's height.
struct SourceVotes {
    /// Those that have the block.
    having: Vec<String>,
    /// Those that have another, with its hash.
    against: Vec<String>,
    /// Those that did not say.
    silent: Vec<String>,
}

/// Whether the chain has a snapshot's block. `child` is the next header of a proof, which what is said of the next block is about.
/// At least `at_least` of the sources must have the block; `None`: all of them.
///
/// It passes where so many have it, and more than have another. It fails where those that have another are as many as those
/// that have it, or leave fewer than `at_least` that could. Who contradicts is named, whatever comes of it.
///
/// A source that has another next block than the proof does not contradict: the next header is the word of whoever made the
/// file. It says nothing of the block then.
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
            BlockSaid::Block(hash) => (Some(block.hash), *hash),
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

/// What is left to be believed of those who were asked.
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
