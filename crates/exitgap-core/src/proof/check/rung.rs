//! How far a reader's checks got, from the operator's signature to confirmation by the chain and by witnesses, and whom
//! the reader still has to trust.

use super::{StateCheck, StateCheckName};
use crate::evidence::Outcome;

/// The result of the checks against the chain's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChainSays {
    /// The chain was not asked.
    #[default]
    Nothing,
    /// There is no proof for this number, or it does not cover the number.
    Uncovered,
    /// A block with this hash had this state.
    Proven,
    /// Proven, and sources that the reader chose have that block.
    Confirmed,
    /// That block had another state.
    OtherState,
    /// According to those sources, the chain has another block at that height.
    OtherBlock,
}

/// The result of checking the reader's witnesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WitnessesSay {
    /// No witnesses were required, or too few cosigned.
    #[default]
    Nothing,
    /// Enough witnesses cosigned.
    Cosigned,
    /// A signature under a witness's name is forged.
    Forged,
}

/// The levels that were reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rung {
    /// With the chain.
    pub chain: ChainSays,
    /// With witnesses.
    pub witnesses: WitnessesSay,
}

const CHAIN_CODES: [(ChainSays, &str); 6] = [
    (ChainSays::Nothing, "nothing"),
    (ChainSays::Uncovered, "uncovered"),
    (ChainSays::Proven, "proven"),
    (ChainSays::Confirmed, "confirmed"),
    (ChainSays::OtherState, "other_state"),
    (ChainSays::OtherBlock, "other_block"),
];

impl ChainSays {
    /// The result of these checks; `Nothing` if there are none.
    pub fn from_checks(checks: &[StateCheck]) -> Self {
        let is = |name, outcome| {
            checks.iter().any(|check| check.name == name && check.outcome == outcome)
        };
        let fails = |check: &StateCheck| check.outcome == Outcome::Fail;
        if checks.is_empty() {
            return Self::Nothing;
        }
        if is(StateCheckName::Canonical, Outcome::Fail) {
            return Self::OtherBlock;
        }
        if checks.iter().any(fails) {
            return Self::OtherState;
        }
        let is_proven = is(StateCheckName::Header, Outcome::Pass)
            && is(StateCheckName::PoolState, Outcome::Pass);
        match (is_proven, is(StateCheckName::Canonical, Outcome::Pass)) {
            (false, _) => Self::Uncovered,
            (true, true) => Self::Confirmed,
            (true, false) => Self::Proven,
        }
    }

    /// A code for programs.
    pub fn code(self) -> &'static str {
        let own = CHAIN_CODES.iter().find(|(says, _)| *says == self);
        own.map_or("", |(_, code)| code)
    }

    /// The value with this code.
    pub fn of_code(code: &str) -> Option<Self> {
        CHAIN_CODES.iter().find(|(_, own)| *own == code).map(|(says, _)| *says)
    }

    /// A description for people, without a full stop.
    pub fn words(self) -> &'static str {
        match self {
            Self::Nothing => "Signed by the operator",
            Self::Uncovered => {
                "Not proven: nothing contradicts this number, but no proof covers all the state it uses"
            }
            Self::Proven => {
                "Proven from the block hash down: a block with this hash has this state"
            }
            Self::Confirmed => {
                "Confirmed by the chain: the nodes you asked have this block, and its state matches the record, without relying on any key of the log"
            }
            Self::OtherState => {
                "Contradicted: the chain's state at this block differs from what was signed; keep the proof and the file"
            }
            Self::OtherBlock => {
                "Contradicted: according to the nodes you asked, the chain does not have the block that this number depends on"
            }
        }
    }
}

impl WitnessesSay {
    /// The result of the check of a witness policy.
    pub fn from_outcome(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Pass => Self::Cosigned,
            Outcome::Fail => Self::Forged,
            Outcome::NotChecked => Self::Nothing,
        }
    }
}

impl Rung {
    /// A code for programs: the highest level.
    pub fn code(self) -> &'static str {
        match (self.chain, self.witnesses) {
            (ChainSays::OtherState | ChainSays::OtherBlock, _) | (_, WitnessesSay::Forged) => {
                "contradicted"
            }
            (ChainSays::Confirmed, WitnessesSay::Cosigned) => "block_and_witnesses",
            (ChainSays::Confirmed, WitnessesSay::Nothing) => "block",
            (_, WitnessesSay::Cosigned) => "witnesses",
            (ChainSays::Proven, _) => "proof",
            (ChainSays::Nothing | ChainSays::Uncovered, _) => "signed",
        }
    }

    /// One sentence: the level reached, and whom the reader still has to trust.
    pub fn sentence(self) -> String {
        let chain = self.chain.words();
        let state = match self.chain {
            ChainSays::OtherState | ChainSays::OtherBlock => return format!("{chain}."),
            _ if self.witnesses == WitnessesSay::Forged => {
                return "Contradicted: a signature in the name of a witness you trust was forged; keep the file.".to_owned();
            }
            ChainSays::Nothing | ChainSays::Uncovered => {
                "the operator's statement that the chain had this state"
            }
            ChainSays::Proven => "another party's statement that the chain has this block",
            ChainSays::Confirmed => "that the nodes you asked do not collude",
        };
        let time = match self.witnesses {
            WitnessesSay::Cosigned => "that your witnesses do not collude about when it existed",
            _ => {
                "the operator's statement about when it was recorded and that everyone sees the same log"
            }
        };
        format!("{chain}; you still have to trust: {state}, and {time}.")
    }
}
