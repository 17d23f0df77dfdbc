//! Facts: raw contract answers that are recorded with a snapshot, for figures that need them.

use super::error::ObservationError;
use crate::ids::{Address, Code, Word};
use crate::json::wire_struct;
use crate::wide::U256;

/// A contract's answer to a call at the snapshot's block. The figure that uses it defines its meaning. Fills do not
/// depend on it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fact {
    /// Its name, e.g. `paused`.
    pub name: Code,
    /// The contract that was called.
    pub contract: Address,
    /// The call's data: `0x` and 4 to 132 bytes in lower-case hex digits.
    pub call: String,
    /// The answer, at most 32 words.
    pub words: Vec<Word>,
}

impl Fact {
    /// The name of the fact with the key of a pool that belongs to a manager contract: its words hash to the pool's id.
    /// No number depends on it.
    pub const POOL_KEY: &str = "pool_key";

    /// The names of the facts that prove a factory's statement that it created the pool. `contract` is the factory,
    /// `call` is the request that was made when the pool was identified, and the answer's only word is the pool's
    /// address. Which venue the factory belongs to is the operator's claim. No number depends on these facts.
    pub const OF_FACTORY: [&str; 8] = [
        "aerodrome_v2",
        "algebra_integral",
        "curve_stable_ng",
        "pancake_v3",
        "slipstream",
        "sushi_v3",
        "uniswap_v2",
        "uniswap_v3",
    ];

    /// The name of the fact that one of the pool's tokens, its `contract`, takes a fee on transfer, according to logs
    /// of the pool's swaps: a holder receives less than the pool pays, or the pool receives less than a holder sends.
    /// `call` is [`Self::TRANSFER_TOPIC`]. The words are the number of swaps with missing units among the newest
    /// [`Self::TAX_WINDOW`], and the number of consecutive later swaps without missing units. No fill depends on it,
    /// but answers state that they are not exact.
    pub const TOKEN_TAXED: &str = "token_taxed";

    /// The topic of `Transfer(address,address,uint256)`.
    pub const TRANSFER_TOPIC: &str =
        "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

    /// The number of newest swaps by which a token is judged.
    pub const TAX_WINDOW: usize = 50;

    /// The minimum and maximum size of a call's data, in bytes.
    pub const CALL_BYTES: [usize; 2] = [4, 132];

    /// The most facts in a snapshot.
    pub const MAX: usize = 32;

    /// The most words in an answer.
    pub const MAX_WORDS: usize = 32;

    /// Whether this is the name of a fact that identifies a pool.
    pub fn is_of_pool(name: &str) -> bool {
        name == Self::POOL_KEY || Self::OF_FACTORY.contains(&name)
    }

    /// Whether facts with this name have a fixed meaning, so that no configuration may use it for another fact.
    pub fn is_reserved(name: &str) -> bool {
        Self::is_of_pool(name) || name == Self::TOKEN_TAXED
    }

    /// Whether a text is the data of a call: `0x` and 4 to 132 bytes in lower-case hex digits.
    pub fn is_call(text: &str) -> bool {
        let hex = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
        let [least, most] = Self::CALL_BYTES;
        text.strip_prefix("0x").is_some_and(|digits| {
            (2 * least..=2 * most).contains(&digits.len())
                && digits.len().is_multiple_of(2)
                && digits.bytes().all(hex)
        })
    }

    /// Its first word as a number; `None` if it has no words.
    pub fn number(&self) -> Option<U256> {
        let (digits, _) = self.words.first()?.0.as_chunks::<8>();
        let mut limbs = [0; 4];
        for (limb, digits) in limbs.iter_mut().rev().zip(digits) {
            *limb = u64::from_be_bytes(*digits);
        }
        Some(U256::from_limbs(limbs))
    }

    /// Whether this version knows its meaning.
    pub(crate) fn is_known(&self) -> bool {
        Self::is_reserved(self.name.as_str())
    }
}

wire_struct!(Fact { name, contract, call, words });

/// Requires at most 32 facts, strictly ascending by name, contract and call.
pub(super) fn check_facts(facts: &[Fact]) -> Result<(), ObservationError> {
    let ascending =
        facts.is_sorted_by(|a, b| (a.name, a.contract, &a.call) < (b.name, b.contract, &b.call));
    let bounded = |fact: &Fact| Fact::is_call(&fact.call) && fact.words.len() <= Fact::MAX_WORDS;
    if facts.len() <= Fact::MAX && ascending && facts.iter().all(bounded) {
        Ok(())
    } else {
        Err(ObservationError::Facts)
    }
}
