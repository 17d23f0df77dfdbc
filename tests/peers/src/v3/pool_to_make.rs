//! Random v3 pools, chosen to be awkward.

use std::collections::BTreeMap;

use alloy::primitives::U256;
use exitgap_core::pools::{
    MAX_SQRT_RATIO, MAX_TICK, MIN_SQRT_RATIO, MIN_TICK, sqrt_ratio_at_tick, tick_at_sqrt_ratio,
};

use exitgap_tests::devchain::Rng;

/// Fees and spacings that the factory knows on public chains; the first by a vote, the rest from
/// its constructor.
const TIERS: [(u32, i32); 4] = [(100, 1), (500, 10), (3_000, 60), (10_000, 200)];

/// Fees that the factory's constructor enables.
const BUILT_IN_FEES: [u32; 3] = [500, 3_000, 10_000];

/// Fees and spacings that forks use or could use.
const OTHER_FEES: [u32; 7] = [0, 1, 100, 2_500, 30_000, 250_000, 999_999];
const OTHER_SPACINGS: [i32; 8] = [1, 2, 10, 50, 60, 200, 1_000, 16_383];

/// A pool to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolToMake {
    /// The fee in millionths.
    pub fee_pips: u32,
    /// The tick spacing.
    pub tick_spacing: i32,
    /// √price at the start, Q64.96.
    pub sqrt_price_x96: U256,
    /// The share of fees, one in this many, that goes to the protocol; 0 for none. It changes no
    /// amount, which is what is tested.
    pub protocol_fee: u8,
    /// Positions to mint, in order.
    pub positions: Vec<Position>,
}

/// A position to mint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Lower tick, a multiple of the spacing.
    pub lower: i32,
    /// Upper tick, a multiple of the spacing.
    pub upper: i32,
    /// Its liquidity, greater than zero.
    pub liquidity: u128,
}

impl PoolToMake {
    /// A random pool.
    pub fn random(rng: &mut Rng) -> Self {
        let (fee_pips, tick_spacing) = if rng.once_in(4) {
            let fee = OTHER_FEES[pick(rng, OTHER_FEES.len())];
            (fee, OTHER_SPACINGS[pick(rng, OTHER_SPACINGS.len())])
        } else {
            TIERS[pick(rng, TIERS.len())]
        };
        let sqrt_price_x96 = price(rng, tick_spacing);
        let protocol_fee = if rng.once_in(3) { small(rng.between(4, 10)) } else { 0 };
        let centre = tick_at_sqrt_ratio(sqrt_price_x96);
        let positions = positions(rng, centre, tick_spacing);
        Self { fee_pips, tick_spacing, sqrt_price_x96, protocol_fee, positions }
    }

    /// A random pool so small that every amount it takes can be tried.
    pub fn tiny(rng: &mut Rng) -> Self {
        let (fee_pips, tick_spacing) = TIERS[pick(rng, TIERS.len())];
        let centre = within(rng, -6_000, 6_000);
        let middle = centre.div_euclid(tick_spacing);
        let positions = (0..rng.between(1, 6)).map(|_| {
            let low = middle + within(rng, -40, 40);
            let high = low + within(rng, 1, 300);
            let liquidity = u128::from(rng.between(1, 20_000));
            Position { lower: low * tick_spacing, upper: high * tick_spacing, liquidity }
        });
        let positions = positions.collect();
        let sqrt_price_x96 = sqrt_ratio_at_tick(centre).expect("the tick is in bounds");
        Self { fee_pips, tick_spacing, sqrt_price_x96, protocol_fee: 0, positions }
    }

    /// Whether the factory knows fee and spacing from its constructor.
    pub(super) fn built_in_tier(&self) -> bool {
        BUILT_IN_FEES.contains(&self.fee_pips)
    }
}

/// The most liquidity the contract lets positions have at one tick (`Tick.sol`).
pub fn most_per_tick(spacing: i32) -> u128 {
    u128::MAX / u128::from((2 * (MAX_TICK / spacing) + 1).unsigned_abs())
}

fn price(rng: &mut Rng, spacing: i32) -> U256 {
    let near = i64::from(MAX_TICK) - i64::from(spacing) * small::<u64, i64>(rng.below(400));
    let near = i32::try_from(near.max(0)).expect("at most the highest tick");
    let anywhere = within(rng, MIN_TICK, MAX_TICK - 1);
    let tick = match rng.below(16) {
        0 => return MIN_SQRT_RATIO + U256::from(rng.below(3)),
        1 => return MAX_SQRT_RATIO - U256::from(1 + rng.below(3)),
        2 => -near,
        3 => near.min(MAX_TICK - 1),
        4..=6 => anywhere,
        7 | 8 => anywhere / spacing * spacing,
        // The last tick of a bitmap word.
        9 => (anywhere.div_euclid(spacing * 256) * spacing * 256).max(MIN_TICK),
        _ => within(rng, -200_000, 200_000),
    };
    let low = sqrt_ratio_at_tick(tick).expect("the tick is in bounds");
    let high = sqrt_ratio_at_tick(tick + 1).expect("the tick is not the last");
    let price = match rng.below(4) {
        0 => low,
        1 => low + U256::ONE,
        2 => high - U256::ONE,
        _ => low + (high - low) * U256::from(rng.below(1 << 32)) / U256::from(1_u64 << 32),
    };
    price.clamp(MIN_SQRT_RATIO, MAX_SQRT_RATIO - U256::ONE)
}

fn positions(rng: &mut Rng, centre: i32, spacing: i32) -> Vec<Position> {
    let last = MAX_TICK / spacing;
    let middle = centre.div_euclid(spacing).clamp(-last, last - 1);
    let reach = [2, 12, 120, 700, 4_000][pick(rng, 5)];
    let chain = rng.once_in(3);
    let count = match rng.below(8) {
        0 => rng.below(3),
        1..=5 => rng.between(1, 24),
        6 => rng.between(24, 60),
        _ => rng.between(60, 300),
    };
    let scale = Scale::random(rng, most_per_tick(spacing));
    let mut gross = BTreeMap::<i32, u128>::new();
    let mut positions = Vec::new();
    let mut next = middle - small::<u64, i32>(count) / 2;
    for index in 0..count {
        let (low, high) = match rng.below(12) {
            // Both ends of everything.
            0 => (-last, last),
            // Ranges that follow each other share ticks, some of net liquidity zero.
            _ if chain => (next, next + 1 + small::<u64, i32>(rng.below(2))),
            1 => (-last, middle + within(rng, -reach, reach)),
            2 => (middle + within(rng, -reach, reach), last),
            _ => {
                let low = middle + within(rng, -reach, reach);
                (low, low + within(rng, 1, reach))
            }
        };
        next = high;
        let (low, high) = (low.clamp(-last, last), high.clamp(-last, last));
        if low >= high {
            continue;
        }
        let (lower, upper) = (low * spacing, high * spacing);
        let used = gross.get(&lower).max(gross.get(&upper)).copied().unwrap_or(0);
        let room = most_per_tick(spacing) - used;
        let liquidity = scale.draw(rng, index).min(room);
        if liquidity == 0 {
            continue;
        }
        *gross.entry(lower).or_default() += liquidity;
        *gross.entry(upper).or_default() += liquidity;
        positions.push(Position { lower, upper, liquidity });
    }
    positions
}

/// How much liquidity the positions of one pool have.
enum Scale {
    /// Powers of two between these, evenly.
    Spread(u64, u64),
    /// All the same: what follows each other cancels out.
    Same(u128),
    /// As much as the contract lets in.
    Most(u128),
}

impl Scale {
    fn random(rng: &mut Rng, most: u128) -> Self {
        match rng.below(8) {
            0 => Self::Spread(0, 10),
            1 => Self::Most(most),
            2 => Self::Spread(90, 127),
            3 | 4 => Self::Same(u128::from(rng.next_u64())),
            5 => Self::Spread(0, 127),
            _ => Self::Spread(40, 85),
        }
    }

    fn draw(&self, rng: &mut Rng, index: u64) -> u128 {
        match *self {
            Self::Spread(low, high) => {
                let random = u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64());
                (random >> (127 - rng.between(low, high))).max(1)
            }
            Self::Same(liquidity) => liquidity,
            // Every other one leaves a little room for the next.
            Self::Most(most) => most - u128::from(index % 2),
        }
    }
}

fn pick(rng: &mut Rng, count: usize) -> usize {
    small(rng.below(count as u64))
}

fn within(rng: &mut Rng, low: i32, high: i32) -> i32 {
    let width = u64::from(high.abs_diff(low));
    low + small::<u64, i32>(rng.between(0, width))
}

/// A number that was drawn small enough for its type.
fn small<A, B: TryFrom<A>>(number: A) -> B {
    B::try_from(number).ok().expect("the draw is bounded by the type")
}
