//! Events of pools and tokens, read from logs.

use exitgap_core::U256;
use exitgap_core::ids::{Address, Word};
use exitgap_math::keccak256;

use super::block::Log;

/// What a contract logged, where it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A pair's reserves.
    Sync([u128; 2]),
    /// A swap of a pair.
    PairSwap(PairSwap),
    /// A swap of a pool of ranges.
    RangeSwap(RangeSwap),
    /// Liquidity that was added to a range, or taken out where it is below zero.
    Liquidity {
        /// The lower and the upper tick.
        ticks: [i32; 2],
        /// How much.
        amount: i128,
    },
    /// Units of a token that went from one to another.
    Transfer {
        /// From whom.
        from: Address,
        /// To whom.
        to: Address,
        /// How many.
        units: U256,
    },
    /// A swap of a kind that is not judged.
    OtherSwap(&'static str),
}

/// A swap of a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairSwap {
    /// Of each token, what came.
    pub came: [U256; 2],
    /// Of each token, what went.
    pub went: [U256; 2],
    /// To whom.
    pub to: Address,
}

/// A swap of a pool of ranges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RangeSwap {
    /// Whether token 0 was sold.
    pub zero_for_one: bool,
    /// What came.
    pub sold: U256,
    /// What went.
    pub paid: U256,
    /// √price after.
    pub sqrt_price: U256,
    /// Active liquidity after.
    pub liquidity: u128,
    /// The tick after.
    pub tick: i32,
    /// To whom.
    pub to: Address,
}

/// Swaps of kinds that are counted, and not judged.
const OTHER_SWAPS: [(&str, &str); 4] = [
    ("uniswap_v4", "Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)"),
    ("pancake_v3", "Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)"),
    ("curve", "TokenExchange(address,int128,uint256,int128,uint256)"),
    ("balancer_v2", "Swap(bytes32,address,address,uint256,uint256)"),
];

impl Event {
    /// What this log says.
    pub fn from_log(log: &Log) -> Option<Self> {
        let event = log.topics.first()?.0;
        let is = |signature: &str| keccak256(signature.as_bytes()) == event;
        let word = |at: usize| log.data.get(32 * at..32 * at + 32);
        let number = |at: usize| Some(unsigned(word(at)?));
        if is("Transfer(address,address,uint256)") {
            let (from, to) = (address(log.topics.get(1)?), address(log.topics.get(2)?));
            return Some(Self::Transfer { from, to, units: number(0)? });
        }
        if is("Sync(uint112,uint112)") {
            return Some(Self::Sync([small(word(0)?)?, small(word(1)?)?]));
        }
        if is("Swap(address,uint256,uint256,uint256,uint256,address)") {
            return Some(Self::PairSwap(PairSwap {
                came: [number(0)?, number(1)?],
                went: [number(2)?, number(3)?],
                to: address(log.topics.get(2)?),
            }));
        }
        if is("Swap(address,address,int256,int256,uint160,uint128,int24)") {
            let [zero, one] = [signed(word(0)?), signed(word(1)?)];
            // What goes out of the pool is below zero.
            let zero_for_one = !zero.0;
            let [sold, paid] = if zero_for_one { [zero.1, one.1] } else { [one.1, zero.1] };
            return Some(Self::RangeSwap(RangeSwap {
                zero_for_one,
                sold,
                paid,
                sqrt_price: number(2)?,
                liquidity: small(word(3)?)?,
                tick: tick(word(4)?),
                to: address(log.topics.get(2)?),
            }));
        }
        if is("Mint(address,address,int24,int24,uint128,uint256,uint256)") {
            let ticks = [tick(&log.topics.get(2)?.0), tick(&log.topics.get(3)?.0)];
            return Some(Self::Liquidity { ticks, amount: i128::try_from(small(word(1)?)?).ok()? });
        }
        if is("Burn(address,int24,int24,uint128,uint256,uint256)") {
            let ticks = [tick(&log.topics.get(2)?.0), tick(&log.topics.get(3)?.0)];
            return Some(Self::Liquidity {
                ticks,
                amount: -i128::try_from(small(word(0)?)?).ok()?,
            });
        }
        let other = OTHER_SWAPS.iter().find(|(_, signature)| is(signature));
        other.map(|(kind, _)| Self::OtherSwap(kind))
    }
}

fn address(word: &Word) -> Address {
    let mut bytes = [0; 20];
    bytes.copy_from_slice(&word.0[12..]);
    Address(bytes)
}

/// The number of these bytes, at most 32, most significant first.
pub(super) fn unsigned(bytes: &[u8]) -> U256 {
    let mut limbs = [0; 4];
    for (limb, eight) in limbs.iter_mut().zip(bytes.rchunks(8)) {
        *limb = eight.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    }
    U256::from_limbs(limbs)
}

/// Whether a number is below zero, and its amount.
fn signed(bytes: &[u8]) -> (bool, U256) {
    let is_below = bytes.first().is_some_and(|byte| byte >> 7 == 1);
    if !is_below {
        return (false, unsigned(bytes));
    }
    let inverse: Vec<u8> = bytes.iter().map(|byte| !byte).collect();
    (true, unsigned(&inverse).saturating_add(U256::from(1_u8)))
}

fn small(bytes: &[u8]) -> Option<u128> {
    let (high, low) = bytes.split_at(16);
    let is_small = high.iter().all(|byte| *byte == 0);
    is_small.then(|| low.try_into().ok().map(u128::from_be_bytes)).flatten()
}

/// A tick, which is in the low 32 bits of its word.
fn tick(bytes: &[u8]) -> i32 {
    let mut low = [0; 4];
    low.copy_from_slice(&bytes[28..32]);
    i32::from_be_bytes(low)
}
