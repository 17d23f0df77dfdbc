//! A claim as bytes, passed between two parts of one program of the same version. It is never stored in a file.

use super::{ClaimedCode, ClaimedRanges, ClaimedReading, ClaimedState, StateClaim, bytes_of};
use crate::ids::{Address, BlockHash, Caip2, Word};
use crate::proof::check::Place;
use crate::proof::layout::Layout;
use crate::proof::subject::TickRange;
use crate::proof::words::number;
use crate::snapshot::BlockRef;

/// The size of a tick in a claim's bytes.
const TICK_BYTES: usize = 36;

/// Which code a claim's bytes are of.
const PAIR_CODE: u8 = 1;
const RANGE_CODE: u8 = 2;

/// The kind of state in a claim's bytes.
const OTHER: u8 = 0;
const RESERVES: u8 = 1;
const RANGES: u8 = 2;
const MANAGED: u8 = 3;

impl StateClaim {
    /// Its bytes, for [`StateClaim::from_bytes`].
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend_from_slice(&self.chain.0.to_be_bytes());
        bytes.extend_from_slice(&self.block.hash.0);
        for number in [self.block.number, self.block.timestamp, self.instant] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        let Place { address, id, layout } = &self.place;
        part(&mut bytes, address.as_ref().map_or(&[], |address| &address.0));
        part(&mut bytes, id.as_ref().map_or(&[], |id| &id.0));
        part(&mut bytes, layout.map_or("", Layout::code).as_bytes());
        part(&mut bytes, self.protocol.as_bytes());
        part(&mut bytes, &self.code.map_or(Vec::new(), ClaimedCode::to_bytes));
        match &self.state {
            ClaimedState::Other => bytes.push(OTHER),
            ClaimedState::Reserves(layout, reserves) => {
                bytes.push(RESERVES);
                part(&mut bytes, layout.code().as_bytes());
                for reserve in reserves {
                    bytes.extend_from_slice(&bytes_of(*reserve));
                }
            }
            ClaimedState::Ranges(ranges) => ranges.append_to(&mut bytes),
        }
        let mut readings = Vec::new();
        for reading in &self.readings {
            let known = u8::from(reading.is_sequencer) | u8::from(reading.feed.is_some()) << 1;
            readings.push(known);
            readings.extend_from_slice(&reading.feed.map_or([0; 20], |feed| feed.0));
            readings.extend_from_slice(&reading.round.to_be_bytes());
            readings.extend_from_slice(&bytes_of(reading.answer));
            readings.extend_from_slice(&reading.updated_at.to_be_bytes());
        }
        part(&mut bytes, &readings);
        bytes
    }

    /// Parses a claim; `None` if the bytes are invalid.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut left = Left(bytes);
        let chain = Caip2(left.number()?);
        let hash = BlockHash(left.array()?);
        let block = BlockRef { hash, number: left.number()?, timestamp: left.number()? };
        let instant = left.number()?;
        let place = Place {
            address: match left.part()? {
                [] => None,
                address => Some(Address(address.try_into().ok()?)),
            },
            id: match left.part()? {
                [] => None,
                id => Some(Word(id.try_into().ok()?)),
            },
            layout: match left.part()? {
                [] => None,
                code => Some(layout_of(code)?),
            },
        };
        let protocol = core::str::from_utf8(left.part()?).ok()?.to_owned();
        let code = match left.part()? {
            [] => None,
            code => Some(ClaimedCode::from_bytes(code)?),
        };
        let state = match left.array::<1>()?[0] {
            OTHER => ClaimedState::Other,
            RESERVES => {
                let layout = layout_of(left.part()?)?;
                let reserves = [left.array::<32>()?, left.array::<32>()?];
                ClaimedState::Reserves(layout, reserves.map(|reserve| number(&reserve)))
            }
            kind @ (RANGES | MANAGED) => {
                ClaimedState::Ranges(ClaimedRanges::decode(&mut left, kind == MANAGED)?)
            }
            _ => return None,
        };
        let (mut of_readings, mut readings) = (Left(left.part()?), Vec::new());
        while !of_readings.0.is_empty() {
            readings.push(ClaimedReading::decode(&mut of_readings)?);
        }
        let claim = Self { chain, block, instant, place, protocol, code, state, readings };
        left.0.is_empty().then_some(claim)
    }
}

impl ClaimedCode {
    fn to_bytes(self) -> Vec<u8> {
        match self {
            Self::UniswapV2 { factory, fee } => {
                let [part, whole] = fee.map(u64::to_be_bytes);
                [&[PAIR_CODE][..], &factory.0, &part, &whole].concat()
            }
            Self::UniswapV3 { factory, tokens: [token0, token1], fee_pips, tick_spacing } => {
                let (fee, spacing) = (fee_pips.to_be_bytes(), tick_spacing.to_be_bytes());
                [&[RANGE_CODE][..], &factory.0, &token0.0, &token1.0, &fee, &spacing].concat()
            }
        }
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut left = Left(bytes);
        let kind = left.array::<1>()?[0];
        let factory = Address(left.array()?);
        let code = match kind {
            PAIR_CODE => Self::UniswapV2 { factory, fee: [left.number()?, left.number()?] },
            RANGE_CODE => Self::UniswapV3 {
                factory,
                tokens: [Address(left.array()?), Address(left.array()?)],
                fee_pips: u32::from_be_bytes(left.array()?),
                tick_spacing: i32::from_be_bytes(left.array()?),
            },
            _ => return None,
        };
        left.0.is_empty().then_some(code)
    }
}

impl ClaimedRanges {
    fn append_to(&self, bytes: &mut Vec<u8>) {
        bytes.push(if self.is_managed { MANAGED } else { RANGES });
        bytes.extend_from_slice(&self.price.0);
        bytes.extend_from_slice(&self.liquidity.to_be_bytes());
        for number in [self.tick_spacing, self.needed.low, self.needed.high] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        let mut ticks = Vec::with_capacity(self.ticks.len() * TICK_BYTES);
        for (tick, word) in &self.ticks {
            ticks.extend_from_slice(&tick.to_be_bytes());
            ticks.extend_from_slice(&word.0);
        }
        part(bytes, &ticks);
    }

    fn decode(left: &mut Left<'_>, is_managed: bool) -> Option<Self> {
        let price = Word(left.array()?);
        let liquidity = u128::from_be_bytes(left.array()?);
        let tick_spacing = i32::from_be_bytes(left.array()?);
        let [low, high] = [left.array()?, left.array()?].map(i32::from_be_bytes);
        let mut of_ticks = Left(left.part()?);
        let mut ticks = Vec::with_capacity(of_ticks.0.len() / TICK_BYTES);
        while !of_ticks.0.is_empty() {
            ticks.push((i32::from_be_bytes(of_ticks.array()?), Word(of_ticks.array()?)));
        }
        let needed = TickRange { low, high };
        Some(Self { is_managed, price, liquidity, tick_spacing, ticks, needed })
    }
}

impl ClaimedReading {
    fn decode(left: &mut Left<'_>) -> Option<Self> {
        let [known] = left.array()?;
        let feed = Address(left.array()?);
        Some(Self {
            is_sequencer: known & 1 == 1,
            feed: (known & 2 == 2).then_some(feed),
            round: u128::from_be_bytes(left.array()?),
            answer: number(&left.array::<32>()?),
            updated_at: left.number()?,
        })
    }
}

fn layout_of(code: &[u8]) -> Option<Layout> {
    Layout::of_code(core::str::from_utf8(code).ok()?)
}

/// Appends a part, preceded by its length.
fn part(bytes: &mut Vec<u8>, part: &[u8]) {
    bytes.extend_from_slice(&u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes());
    bytes.extend_from_slice(part);
}

/// The bytes that are not yet read.
struct Left<'a>(&'a [u8]);

impl<'a> Left<'a> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*array)
    }

    fn number(&mut self) -> Option<u64> {
        Some(u64::from_be_bytes(self.array()?))
    }

    fn part(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(u32::from_be_bytes(self.array()?)).ok()?;
        let (part, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(part)
    }
}
