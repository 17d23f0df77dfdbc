//! The identifiers of contracts that contain pools, and of pools.

use core::cmp::Ordering;
use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Address, ChainSlug, IdError, Word, cut};

/// The contract of a pool: `<chain>:<address>`, or `<chain>:<32-byte id>` if a manager contract of the chain contains
/// many pools. Lower case.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Contract {
    chain: ChainSlug,
    id: ContractId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum ContractId {
    Address(Address),
    Managed(Word),
}

/// Two tokens of a contract with three to eight tokens: their indices, the lower one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair(u8, u8);

/// A pool's name everywhere: its [`Contract`]'s where that pools two tokens, and
/// `<contract>.<i>-<j>` for a pair of three to eight.
///
/// ```
/// use exitgap_math::ids::PoolId;
/// let id: PoolId = "ethereum:0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640".parse()?;
/// assert_eq!(id.chain().as_str(), "ethereum");
/// # Ok::<(), exitgap_math::ids::IdError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PoolId {
    contract: Contract,
    pair: Option<Pair>,
}

impl Contract {
    /// The chain's slug.
    pub fn chain(&self) -> &ChainSlug {
        &self.chain
    }

    /// Its id, if the pool is in a manager contract.
    pub fn id(&self) -> Option<Word> {
        match self.id {
            ContractId::Address(_) => None,
            ContractId::Managed(id) => Some(id),
        }
    }

    /// The pool of these two of its tokens; `None`: the contract has only two tokens.
    pub fn pool(&self, pair: Option<Pair>) -> PoolId {
        PoolId { contract: self.clone(), pair }
    }

    /// Its address; `None` if the pool is in a manager contract.
    pub fn address(&self) -> Option<Address> {
        match self.id {
            ContractId::Address(address) => Some(address),
            ContractId::Managed(_) => None,
        }
    }
}

impl Pair {
    /// The maximum number of tokens of one contract.
    pub const MAX_TOKENS: u8 = 8;
    /// The last of all possible pairs.
    pub const LAST: Self = Self(Self::MAX_TOKENS - 2, Self::MAX_TOKENS - 1);

    /// The pair of these two indices, the lower one first.
    pub fn new(lower: u8, higher: u8) -> Option<Self> {
        (lower < higher && higher < Self::MAX_TOKENS).then_some(Self(lower, higher))
    }

    /// The two indices as bytes.
    pub fn bytes(self) -> [u8; 2] {
        [self.0, self.1]
    }

    /// The two indices, the lower first.
    pub fn indices(self) -> [usize; 2] {
        [self.0, self.1].map(usize::from)
    }
}

impl PoolId {
    /// The id of the two-token pool at `address` on `chain`.
    pub fn new(chain: ChainSlug, address: Address) -> Self {
        Self { contract: Contract { chain, id: ContractId::Address(address) }, pair: None }
    }

    /// The id of the pool with this id in a manager contract of `chain`.
    pub fn from_manager_id(chain: ChainSlug, id: Word) -> Self {
        Self { contract: Contract { chain, id: ContractId::Managed(id) }, pair: None }
    }

    /// The contract of the pool.
    pub fn contract(&self) -> &Contract {
        &self.contract
    }

    /// The chain's slug.
    pub fn chain(&self) -> &ChainSlug {
        &self.contract.chain
    }

    /// The pair of the pool's tokens in a contract with `tokens` tokens; `None` if pools of such a contract cannot have
    /// this id.
    pub fn tokens_of(&self, tokens: usize) -> Option<Pair> {
        match self.pair {
            Some(pair) => (tokens > 2 && pair.indices()[1] < tokens).then_some(pair),
            None => (tokens == 2).then_some(Pair(0, 1)),
        }
    }

    /// The pair of tokens of the contract; `None` if it has only two.
    pub fn pair(&self) -> Option<Pair> {
        self.pair
    }
}

/// The pool of a contract with two tokens.
impl From<Contract> for PoolId {
    fn from(contract: Contract) -> Self {
        Self { contract, pair: None }
    }
}

impl FromStr for Contract {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        const WORD_LENGTH: usize = 66;
        let (chain, id) =
            text.split_once(':').ok_or_else(|| IdError::NotPoolId { found: cut(text) })?;
        let chain = chain.parse()?;
        let id = if id.len() == WORD_LENGTH {
            ContractId::Managed(id.parse()?)
        } else {
            ContractId::Address(id.parse()?)
        };
        Ok(Self { chain, id })
    }
}

impl FromStr for PoolId {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        let Some((contract, pair)) = text.split_once('.') else {
            return Ok(text.parse::<Contract>()?.into());
        };
        let pair = match pair.as_bytes() {
            [lower @ b'0'..=b'7', b'-', higher @ b'0'..=b'7'] => {
                Pair::new(lower - b'0', higher - b'0')
            }
            _ => None,
        };
        let pair = pair.ok_or_else(|| IdError::NotPoolId { found: cut(text) })?;
        Ok(Self { contract: contract.parse()?, pair: Some(pair) })
    }
}

impl fmt::Display for Contract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.id {
            ContractId::Address(address) => write!(f, "{}:{address}", self.chain),
            ContractId::Managed(id) => write!(f, "{}:{id}", self.chain),
        }
    }
}

impl fmt::Display for PoolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.contract.fmt(f)?;
        match self.pair {
            Some(Pair(lower, higher)) => write!(f, ".{lower}-{higher}"),
            None => Ok(()),
        }
    }
}

/// Sorts like the text, byte by byte.
impl Ord for Contract {
    fn cmp(&self, other: &Self) -> Ordering {
        fn text(of: &Contract) -> impl Iterator<Item = u8> {
            of.chain().as_str().bytes().chain(*b":")
        }
        fn bytes(of: &Contract) -> &[u8] {
            match &of.id {
                ContractId::Address(Address(bytes)) => bytes,
                ContractId::Managed(Word(bytes)) => bytes,
            }
        }
        text(self).cmp(text(other)).then_with(|| bytes(self).cmp(bytes(other)))
    }
}

impl PartialOrd for Contract {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Sorts like the text, byte by byte, which is the order of a slot's tree. The dot of a pair sorts before every digit.
impl Ord for PoolId {
    fn cmp(&self, other: &Self) -> Ordering {
        self.contract.cmp(&other.contract).then_with(|| self.pair.cmp(&other.pair))
    }
}

impl PartialOrd for PoolId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl TryFrom<String> for Contract {
    type Error = IdError;
    fn try_from(text: String) -> Result<Self, IdError> {
        text.parse()
    }
}

impl From<Contract> for String {
    fn from(contract: Contract) -> Self {
        contract.to_string()
    }
}

impl TryFrom<String> for PoolId {
    type Error = IdError;
    fn try_from(text: String) -> Result<Self, IdError> {
        text.parse()
    }
}

impl From<PoolId> for String {
    fn from(id: PoolId) -> Self {
        id.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pools_are_ordered_as_their_names_are() {
        let address = "0x00000000000000000000000000000000000000ff";
        let managed = format!("{address}{}", "0".repeat(24));
        let other = format!("0x{}", "00".repeat(20));
        let mut names: Vec<String> = ["base-x", "base", "a", "base1", "b"]
            .iter()
            .flat_map(|slug| {
                [address, &managed, &other].map(|id| {
                    [String::new(), ".0-1".to_owned(), ".0-2".to_owned(), ".1-2".to_owned()]
                        .map(|pair| format!("{slug}:{id}{pair}"))
                })
            })
            .flatten()
            .collect();
        let mut pools: Vec<PoolId> = names.iter().map(|name| name.parse().unwrap()).collect();
        names.sort_unstable();
        pools.sort_unstable();
        let sorted: Vec<String> = pools.iter().map(PoolId::to_string).collect();
        assert_eq!(sorted, names);
    }

    #[test]
    fn a_pair_has_two_tokens_of_eight_and_one_spelling() {
        let address = "anvil:0x00000000000000000000000000000000000000ff";
        let pool: PoolId = format!("{address}.0-7").parse().unwrap();
        assert_eq!(pool.to_string(), format!("{address}.0-7"));
        assert_eq!((pool.pair(), pool.contract().to_string()), (Pair::new(0, 7), address.into()));
        for wrong in ["", "0", "0-0", "1-0", "0-8", "00-1", "0-1-2", "0-1.", "0_1", "-0-1"] {
            assert!(format!("{address}.{wrong}").parse::<PoolId>().is_err(), "{wrong:?}");
        }
        let managed: PoolId = format!("anvil:0x{}", "ab".repeat(32)).parse().unwrap();
        assert_eq!(managed.contract().address(), None);
        assert!(format!("anvil:0x{}", "ab".repeat(31)).parse::<PoolId>().is_err());
    }
}
