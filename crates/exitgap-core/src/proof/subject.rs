//! The parts of a pool that a proof covers, and the storage words that they need.

use super::feed::{FeedSubject, MAX_FEEDS};
use super::file::ProofError;
use super::layout::{Layout, number as word};
use crate::ids::{Address, Caip2, Word};
use crate::pools::{MAX_TICK, MIN_TICK};

/// The most ticks in a proof.
const MAX_TICKS: usize = 8_192;

/// The most bitmap words: those of a tick spacing of 1, over all prices.
const MAX_BITMAP_WORDS: i32 = 6_932;

/// The largest tick spacing of any kind of pool.
const MAX_SPACING: i32 = 32_767;

/// A range of ticks, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TickRange {
    /// The lowest.
    pub low: i32,
    /// The highest.
    pub high: i32,
}

impl TickRange {
    /// All ticks.
    pub const ALL: Self = Self { low: MIN_TICK, high: MAX_TICK };

    /// Whether it contains the whole of another range.
    pub fn covers(self, other: Self) -> bool {
        self.low <= other.low && other.high <= self.high
    }
}

/// The subject of a proof.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProofSubject {
    /// Its chain.
    pub chain: Caip2,
    /// The contract whose storage has the pool.
    pub address: Address,
    /// Its id, if that contract manages many pools.
    pub id: Option<Word>,
    /// The layout of that storage.
    pub layout: Layout,
    /// The ticks to prove, for a concentrated-liquidity pool.
    pub ranges: Option<RangeSubject>,
    /// The feeds that are proven as well, ascending by address.
    pub feeds: Vec<FeedSubject>,
}

/// The ticks of a concentrated-liquidity pool that a proof covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RangeSubject {
    /// The range of ticks.
    pub range: TickRange,
    /// The pool's spacing.
    pub tick_spacing: i32,
    /// All initialised ticks in the range, ascending.
    pub ticks: Vec<i32>,
}

/// How much of a pool a proof covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reach {
    /// The ticks that a head's figures depend on, and a few more on both sides.
    Figures,
    /// All ticks.
    Whole,
}

/// The meaning of a storage word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Reserve,
    Price,
    Liquidity,
    Bitmap(i32),
    Tick(usize),
}

impl ProofSubject {
    /// Whether the proof covers the whole pool: it has no ticks, or the range contains all ticks.
    pub fn is_whole(&self) -> bool {
        self.ranges.as_ref().is_none_or(|ranges| ranges.range == TickRange::ALL)
    }

    /// Whether the proof covers these ticks.
    pub fn covers(&self, range: TickRange) -> bool {
        let within = |own: TickRange| own.low <= range.low && range.high <= own.high;
        self.ranges.as_ref().is_none_or(|ranges| within(ranges.range))
    }

    /// The storage slots of the words that the proof needs.
    pub fn slots(&self) -> Result<Vec<[u8; 32]>, ProofError> {
        Ok(self.roles()?.into_iter().map(|(slot, _)| slot).collect())
    }

    /// The contracts whose storage the proof needs, without duplicates: the pool's, then those of its feeds.
    pub fn contracts(&self) -> Result<Vec<Address>, ProofError> {
        let sorted = self.feeds.is_sorted_by(|a, b| a.feed < b.feed);
        if self.feeds.len() > MAX_FEEDS || !sorted {
            return Err(ProofError::Shape("it has too many feeds, or they are out of order"));
        }
        let mut contracts = vec![self.address];
        for contract in self.feeds.iter().flat_map(|feed| [feed.feed, feed.aggregator]) {
            if !contracts.contains(&contract) {
                contracts.push(contract);
            }
        }
        Ok(contracts)
    }

    /// The bitmap words that the range needs, with their storage slots. They determine which ticks exist.
    pub fn bitmap(&self) -> Result<Vec<(i32, [u8; 32])>, ProofError> {
        let bitmap = |(slot, role)| match role {
            Role::Bitmap(word) => Some((word, slot)),
            _ => None,
        };
        Ok(self.roles()?.into_iter().filter_map(bitmap).collect())
    }

    /// The same subject with the ticks in these bitmap words, given in the order of [`ProofSubject::bitmap`].
    #[must_use]
    pub fn with_ticks(mut self, words: &[(i32, Word)]) -> Self {
        if let Some(ranges) = &mut self.ranges {
            let ticks =
                words.iter().flat_map(|(word, bits)| ranges.ticks_in(*word, *bits)).collect();
            ranges.ticks = ticks;
        }
        self
    }

    pub(super) fn roles(&self) -> Result<Vec<([u8; 32], Role)>, ProofError> {
        if let Some(reserves) = self.layout.reserves() {
            if self.ranges.is_some() || self.id.is_some() {
                return Err(ProofError::Shape("reserves have no ticks and no id"));
            }
            return Ok(reserves.iter().map(|slot| (word(*slot), Role::Reserve)).collect());
        }
        let ranges = self.ranges.as_ref().ok_or(ProofError::Shape("it has no range"))?;
        let places = self.layout.ranges(self.id);
        let places = places.ok_or(ProofError::Shape("the layout and the id do not match"))?;
        let mut roles = vec![(places.price, Role::Price), (places.liquidity, Role::Liquidity)];
        let [first, last] = ranges.bitmap()?;
        roles.extend((first..=last).map(|word| (places.bitmap(word), Role::Bitmap(word))));
        let ticks = ranges.ticks.iter().enumerate();
        roles.extend(ticks.map(|(at, tick)| (places.tick(*tick), Role::Tick(at))));
        Ok(roles)
    }
}

impl RangeSubject {
    /// The first and the last bitmap word that the range needs.
    fn bitmap(&self) -> Result<[i32; 2], ProofError> {
        let Self { range: TickRange { low, high }, tick_spacing, ticks } = self;
        if *low > *high || *low < MIN_TICK || *high > MAX_TICK {
            return Err(ProofError::Shape("its range is invalid"));
        }
        if !(1..=MAX_SPACING).contains(tick_spacing) {
            return Err(ProofError::Shape("its tick spacing is invalid"));
        }
        let fits = |tick: &i32| (*low..=*high).contains(tick) && tick % tick_spacing == 0;
        if ticks.len() > MAX_TICKS || !ticks.iter().all(fits) || !ticks.is_sorted_by(|a, b| a < b) {
            return Err(ProofError::Shape(
                "its ticks are out of order, out of range or not multiples of the spacing",
            ));
        }
        let words = [low, high].map(|tick| tick.div_euclid(*tick_spacing) >> 8);
        if words[1] - words[0] >= MAX_BITMAP_WORDS {
            return Err(ProofError::Shape("its range needs too many words"));
        }
        Ok(words)
    }

    /// The ticks of the range that are set in a bitmap word.
    pub(super) fn ticks_in(&self, word: i32, bits: Word) -> impl Iterator<Item = i32> + '_ {
        let tick = move |bit: i32| (word * 256 + bit) * self.tick_spacing;
        let set = move |bit: &i32| {
            usize::try_from(*bit).is_ok_and(|bit| bits.0[31 - bit / 8] >> (bit % 8) & 1 == 1)
        };
        let TickRange { low, high } = self.range;
        (0..256).filter(set).map(tick).filter(move |tick| (low..=high).contains(tick))
    }
}
