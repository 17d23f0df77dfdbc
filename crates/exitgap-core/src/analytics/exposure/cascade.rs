//! Which positions a price drop liquidates, and how much collateral is sold as a result.

use super::Liquidation;
use super::terms::ONE_E8;
use crate::analytics::FigureError;
use crate::exit::{Exit, SplitError, SplitVenue, split_exit};
use crate::pools::{Direction, PoolState, RawPrice};
use crate::snapshot::Observation;
use crate::units::{Percent, UsdMicros, UsdPrice};
use crate::wide::{U256, U1024, narrow, power_of_ten};

/// A debt position whose collateral is the token sold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Collateral, in raw units of the token sold.
    pub collateral: U256,
    /// Debt.
    pub debt: UsdMicros,
    /// The liquidation threshold, in millionths of a percent of the collateral's value: 1 to 100,000,000. The position
    /// is liquidated if collateral × price × threshold is below the debt.
    pub threshold_e8: u32,
}

/// The rules by which positions are liquidated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CascadeTerms {
    /// The liquidator's bonus and the price drop.
    pub liquidation: Liquidation,
    /// How much of a debt is repaid in one liquidation, in millionths of a percent: 1 to 100,000,000.
    pub close_e8: u32,
    /// How far the oracle follows the further fall of the mid price that the sale causes, in millionths of a percent
    /// from 0.
    pub follow_e8: u32,
}

/// The result of a price drop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cascade {
    /// Raw units sold.
    pub sold: U256,
    /// Their value at the oracle price after the drop, before the oracle follows; rounded down.
    pub cascade_usd: UsdMicros,
    /// Debt repaid.
    pub repaid_usd: UsdMicros,
    /// Debt that remains after all collateral was seized.
    pub residual_debt_usd: UsdMicros,
    /// The indices of the liquidated positions.
    pub liquidated: Vec<usize>,
    /// The number of rounds. 1 if the sale of the first round liquidates no further position.
    pub rounds: u32,
    /// The oracle's total fall, rounded up.
    pub fall: Percent,
    /// The gap of the optimally split sale against the oracle price after the first drop; `None` if nothing is sold, or
    /// if the venues cannot fill it.
    pub gap: Option<Percent>,
    /// Whether the venues together cannot fill the sale.
    pub unfillable: bool,
}

/// Why a cascade cannot be computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CascadeError {
    /// The venues or the rules are invalid.
    #[error(transparent)]
    Exposure(#[from] FigureError),
    /// No positions, or too many.
    #[error("{found} positions given; the number must be from 1 to {MAX_POSITIONS}")]
    Positions {
        /// Positions found.
        found: usize,
    },
    /// A position's threshold is out of bounds.
    #[error("position {position}: the threshold must be above 0 and at most 100 percent")]
    Threshold {
        /// The position's index.
        position: usize,
    },
    /// Amounts and prices are too large for a dollar amount.
    #[error("position {position}: its value is out of range")]
    Worth {
        /// The position's index.
        position: usize,
    },
    /// The venues cannot share one sale.
    #[error(transparent)]
    Split(#[from] SplitError),
}

/// The most positions that are accepted.
const MAX_POSITIONS: usize = 10_000;

/// A venue after the first drop.
struct Venue {
    state: PoolState,
    exit: Exit,
    decimals: [u8; 2],
    prices: [UsdPrice; 2],
}

/// The liquidations of one round.
#[derive(Default)]
struct Round {
    sold: U256,
    repaid: u64,
    residual: u64,
    liquidated: Vec<usize>,
}

/// Sells the liquidated collateral over the venues, lets the oracle follow, and checks which further positions are
/// liquidated, until there are none. Each round sells the total at once from the state after the first drop, so earlier
/// sales are not sold again.
///
/// At most one round more than there are positions, each with one split.
pub fn cascade(
    venues: &[(&Observation, Direction)],
    positions: &[Position],
    terms: &CascadeTerms,
) -> Result<Cascade, CascadeError> {
    if positions.is_empty() || positions.len() > MAX_POSITIONS {
        return Err(CascadeError::Positions { found: positions.len() });
    }
    let out_of_bounds = |position: &Position| !(1..=ONE_E8).contains(&position.threshold_e8);
    if let Some(position) = positions.iter().position(out_of_bounds) {
        return Err(CascadeError::Threshold { position });
    }
    let liquidation = terms.liquidation.validate()?;
    require_shares(terms)?;
    let Some((first, direction)) = venues.first() else {
        return Err(SplitError::Venues { found: 0 }.into());
    };
    let index = direction.base_index();
    let (price, decimals) = (first.prices()[index], first.tokens()[index].decimals);
    let fallen: Vec<Venue> = venues
        .iter()
        .map(|(observation, direction)| fallen(observation, *direction, liquidation.fall_e8))
        .collect::<Result<_, _>>()?;
    let splits: Vec<SplitVenue<'_>> = fallen.iter().map(Venue::of_split).collect();
    let mut fall_e8 = liquidation.fall_e8;
    let mut found = Cascade::empty(fall_e8);
    for rounds in 1..=u32::try_from(positions.len()).unwrap_or(u32::MAX) + 1 {
        let worth = Worth::new(price, fall_e8, decimals)?;
        let round = liquidate(positions, terms, &worth)?;
        found.rounds = rounds;
        if round.liquidated == found.liquidated && rounds > 1 || round.liquidated.is_empty() {
            break;
        }
        let at_first = Worth::new(price, liquidation.fall_e8, decimals)?;
        found.cascade_usd = UsdMicros(at_first.micros(round.sold).unwrap_or(u64::MAX));
        (found.sold, found.repaid_usd) = (round.sold, UsdMicros(round.repaid));
        (found.residual_debt_usd, found.liquidated) = (UsdMicros(round.residual), round.liquidated);
        match split_exit(&splits, found.sold) {
            Ok(split) => {
                found.gap = Some(split.gap);
                let legs = split.legs.iter().map(|leg| fallen[leg.venue].fall_e8(leg.amount_in));
                let further = legs.max().unwrap_or(0);
                fall_e8 = fall_e8.max(combine_falls(liquidation.fall_e8, further, terms.follow_e8));
            }
            Err(SplitError::BeyondLiquidity { .. }) => {
                (found.gap, found.unfillable) = (None, true);
                break;
            }
            Err(error) => return Err(error.into()),
        }
        found.fall = Percent(fall_e8.into());
    }
    Ok(found)
}

impl Cascade {
    fn empty(fall_e8: u32) -> Self {
        Self {
            sold: U256::ZERO,
            cascade_usd: UsdMicros(0),
            repaid_usd: UsdMicros(0),
            residual_debt_usd: UsdMicros(0),
            liquidated: Vec::new(),
            rounds: 0,
            fall: Percent(fall_e8.into()),
            gap: None,
            unfillable: false,
        }
    }
}

fn require_shares(terms: &CascadeTerms) -> Result<(), FigureError> {
    if !(1..=ONE_E8).contains(&terms.close_e8) {
        let rule = "must be above 0 and at most 100, with at most six decimals";
        return Err(FigureError::Parameter { field: "close_pct", rule });
    }
    if terms.follow_e8 > ONE_E8 {
        let rule = "must be from 0 to 100, with at most six decimals";
        return Err(FigureError::Parameter { field: "follow_pct", rule });
    }
    Ok(())
}

fn fallen(
    observation: &Observation,
    direction: Direction,
    fall_e8: u32,
) -> Result<Venue, CascadeError> {
    let state = observation.state();
    let unsupported = FigureError::not_movable("liquidation", state.protocol());
    let state = state.fallen(direction, fall_e8).ok_or(unsupported)?;
    let decimals = observation.tokens().each_ref().map(|token| token.decimals);
    let mut prices = *observation.prices();
    let base = &mut prices[direction.base_index()];
    *base = base.fallen(fall_e8).ok_or(SplitError::GapOutOfRange)?;
    let exit = Exit::new(&state, direction, decimals, prices);
    Ok(Venue { state, exit, decimals, prices })
}

impl Venue {
    fn of_split(&self) -> SplitVenue<'_> {
        SplitVenue::new(&self.exit, self.decimals, &self.prices, UsdMicros(0))
    }

    /// How far a sale moves the mid price, in millionths of a percent, rounded up.
    fn fall_e8(&self, amount_in: U256) -> u32 {
        let direction = self.exit.direction();
        let moved = || {
            let fill = self.exit.curve().fill(amount_in).ok()?;
            let after = self.state.after(direction, &fill).mid_of_reserves_or_ticks(direction)?;
            Some((self.state.mid_of_reserves_or_ticks(direction)?, after))
        };
        let Some((before, after)) = moved() else { return ONE_E8 };
        let cross =
            |a: RawPrice, b: RawPrice| U1024::from(a.numerator()) * U1024::from(b.denominator());
        let (was, is) = (cross(before, after), cross(after, before));
        let lost = was.checked_sub(is).unwrap_or(U1024::ZERO) * U1024::from(ONE_E8);
        narrow(lost.div_ceil(was.max(U1024::from(1_u32)))).map_or(ONE_E8, |e8| e8.saturating_to())
    }
}

/// Combines both drops, the second scaled by the share that the oracle follows; rounded up, at most 99 percent.
fn combine_falls(fall_e8: u32, further_e8: u32, follow_e8: u32) -> u32 {
    let one = u128::from(ONE_E8);
    let kept = one - u128::from(fall_e8.min(ONE_E8));
    let second = one * one - u128::from(further_e8.min(ONE_E8)) * u128::from(follow_e8);
    let left = u32::try_from(kept * second / (one * one)).unwrap_or(ONE_E8);
    (ONE_E8 - left.min(ONE_E8)).min(Liquidation::MAX_FALL)
}

/// The value of raw units: micro-dollars are `units × numerator ÷ denominator`.
struct Worth {
    numerator: U1024,
    denominator: U1024,
}

impl Worth {
    fn new(price: UsdPrice, fall_e8: u32, decimals: u8) -> Result<Self, CascadeError> {
        let price = price.fallen(fall_e8).ok_or(SplitError::GapOutOfRange)?;
        let numerator = U1024::from(price.numerator()) * power_of_ten(6);
        let denominator = power_of_ten(price.decimals() + u32::from(decimals.min(36)));
        Ok(Self { numerator, denominator })
    }

    /// Rounded down.
    fn micros(&self, units: U256) -> Option<u64> {
        let worth = narrow(U1024::from(units) * self.numerator / self.denominator)?;
        (worth.bit_len() <= 64).then(|| worth.saturating_to())
    }

    /// The most units whose value is at most `micros × by ÷ over`.
    fn units(&self, micros: u64, by: U1024, over: U1024) -> Option<U256> {
        narrow(U1024::from(micros) * by * self.denominator / (over * self.numerator))
    }
}

fn liquidate(
    positions: &[Position],
    terms: &CascadeTerms,
    worth: &Worth,
) -> Result<Round, CascadeError> {
    let mut round = Round::default();
    let one = U1024::from(u128::from(ONE_E8).pow(2));
    let factor = one + U1024::from(terms.liquidation.kept_e16());
    for (place, position) in positions.iter().enumerate() {
        let out_of_range = || CascadeError::Worth { position: place };
        let held = worth.micros(position.collateral).ok_or_else(out_of_range)?;
        let backed = u128::from(held) * u128::from(position.threshold_e8);
        if backed >= u128::from(position.debt.0) * u128::from(ONE_E8) {
            continue;
        }
        let closed = factor * U1024::from(terms.close_e8);
        let wanted = worth.units(position.debt.0, closed, one * U1024::from(ONE_E8));
        let seized = wanted.map_or(position.collateral, |wanted| wanted.min(position.collateral));
        let value = worth.micros(seized).ok_or_else(out_of_range)?;
        let repaid =
            narrow(U1024::from(value) * one / factor).map_or(u64::MAX, |usd| usd.saturating_to());
        round.sold = round.sold.saturating_add(seized);
        round.repaid = round.repaid.saturating_add(repaid);
        if seized == position.collateral {
            round.residual = round.residual.saturating_add(position.debt.0.saturating_sub(repaid));
        }
        round.liquidated.push(place);
    }
    Ok(round)
}
