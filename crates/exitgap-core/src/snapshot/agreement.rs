//! Compares two operators' snapshots of one pool at one slot, whatever names they use for it.
//!
//! Only values from the chain are compared: the block, the state, token decimals, and the feeds that both operators
//! read. Each operator's own choices are not compared: names, which feeds price a token, and how old a round may be.

use super::{BlockRef, OracleSource, Snapshot};
use crate::ids::{Address, PoolId, StateHash};
use crate::wide::U256;

/// The values of a snapshot that come from the chain and can be compared with another operator's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Testimony {
    /// The block.
    pub block: BlockRef,
    /// The hash of the state, which contains only contract data and no names chosen by an operator.
    pub state: StateHash,
    tokens: Vec<(Address, u8)>,
    feeds: Vec<(Address, Round)>,
}

/// A feed's reading: round, answer, decimals, and the time at which the round was written.
type Round = (u128, U256, u8, u64);

/// A pool's identity that operators cannot choose: the chain's id and the contract, and the token pair if the contract
/// has several. The operator's own name of the chain is left out.
pub fn place_of(snapshot: &Snapshot) -> String {
    let observation = snapshot.observation();
    format!("{}:{}", observation.chain().caip2, without_chain(observation.pool()))
}

/// A pool's name without its operator's name of the chain.
pub fn without_chain(pool: &PoolId) -> String {
    let name = pool.to_string();
    name.split_once(':').map_or_else(|| name.clone(), |(_, contract)| contract.to_owned())
}

/// A difference between two operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    /// They read at different blocks. Until blocks are final, a retraction decides who is right.
    OtherBlock,
    /// The same block but another state: one of them did not record the state that the chain has.
    StateDiffers,
    /// The same block but another round, answer or time of this feed.
    FeedDiffers(Address),
    /// Different decimals of this token.
    DecimalsDiffer(Address),
}

impl Difference {
    /// The code used in documents.
    pub fn code(self) -> &'static str {
        match self {
            Self::OtherBlock => "other_block",
            Self::StateDiffers => "state_differs",
            Self::FeedDiffers(_) => "feed_differs",
            Self::DecimalsDiffer(_) => "decimals_differ",
        }
    }
}

impl Testimony {
    /// The chain values of a snapshot; `state` is the hash of its state.
    pub fn from_snapshot(snapshot: &Snapshot, state: StateHash) -> Self {
        let observation = snapshot.observation();
        let tokens = observation.contract_tokens().iter();
        let feeds = observation.oracles().iter().filter_map(|reading| match &reading.source {
            OracleSource::Chainlink(read) => {
                let round = (read.round, reading.answer, reading.decimals, read.updated_at);
                Some((read.feed, round))
            }
            OracleSource::Fixed => None,
        });
        Self {
            block: observation.block(),
            state,
            tokens: tokens.map(|token| (token.address, token.decimals)).collect(),
            feeds: feeds.collect(),
        }
    }

    /// The first difference from another operator; `None` if everything that both recorded is equal.
    pub fn differs_from(&self, other: &Self) -> Option<Difference> {
        if self.block != other.block {
            return Some(Difference::OtherBlock);
        }
        if self.state != other.state {
            return Some(Difference::StateDiffers);
        }
        let feed = find_difference(&self.feeds, &other.feeds).map(Difference::FeedDiffers);
        feed.or_else(|| {
            find_difference(&self.tokens, &other.tokens).map(Difference::DecimalsDiffer)
        })
    }
}

/// The first address in both lists whose values differ.
fn find_difference<T: PartialEq>(
    ours: &[(Address, T)],
    theirs: &[(Address, T)],
) -> Option<Address> {
    let differs =
        |(of, one): &&(Address, T)| theirs.iter().any(|(other, value)| other == of && value != one);
    ours.iter().find(differs).map(|(of, _)| *of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::BlockHash;

    type Change = fn(&mut Testimony);

    fn testimony() -> Testimony {
        let block = BlockRef { hash: BlockHash([1; 32]), number: 7, timestamp: 70 };
        let round = (1, U256::from(5_u8), 8, 60);
        Testimony {
            block,
            state: StateHash([2; 32]),
            tokens: vec![(Address([3; 20]), 18), (Address([4; 20]), 6)],
            feeds: vec![(Address([5; 20]), round), (Address([6; 20]), round)],
        }
    }

    #[test]
    fn what_both_say_is_compared_and_nothing_else() {
        let ours = testimony();
        assert_eq!(ours.differs_from(&testimony()), None);
        // A feed that only one of them recorded is not compared.
        let mut fewer = testimony();
        fewer.feeds.remove(0);
        fewer.feeds.push((Address([9; 20]), (9, U256::from(9_u8), 9, 9)));
        assert_eq!(ours.differs_from(&fewer), None);
        let changes: [(Change, Difference); 7] = [
            (|one| one.block.hash = BlockHash([8; 32]), Difference::OtherBlock),
            (|one| one.block.number = 8, Difference::OtherBlock),
            (|one| one.state = StateHash([9; 32]), Difference::StateDiffers),
            (|one| one.feeds[1].1.0 += 1, Difference::FeedDiffers(Address([6; 20]))),
            (|one| one.feeds[1].1.1 += U256::from(1_u8), Difference::FeedDiffers(Address([6; 20]))),
            (|one| one.feeds[0].1.3 += 1, Difference::FeedDiffers(Address([5; 20]))),
            (|one| one.tokens[1].1 = 18, Difference::DecimalsDiffer(Address([4; 20]))),
        ];
        for (change, expected) in changes {
            let mut other = testimony();
            change(&mut other);
            assert_eq!(ours.differs_from(&other), Some(expected), "{}", expected.code());
            assert_eq!(other.differs_from(&ours), Some(expected));
        }
    }
}
