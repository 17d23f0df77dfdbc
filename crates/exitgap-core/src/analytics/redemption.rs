//! Sell now or redeem later, `redemption/1`: **modelled**, from a file of terms and from the snapshot facts that
//! these terms name.
//!
//! "Now" is the proceeds of selling to the pool: `size × (1 − exit_gap_pct)`. "Later" is the redemption:
//! `size × (1 − fee)` at the oracle price, or at the rate that a vault reports, paid between two points in time. The
//! part above the capacity is sold now in both cases. `advantage_pct` is how much more redeeming brings, in percent of
//! selling now. Divided by the waiting time, as a simple yearly rate, it is the break-even rate: a holder whose cost of
//! waiting is lower than that should redeem.
//!
//! - `terms`: files of terms
//! - `facts`: values of a snapshot that replace numbers of the terms; `pace`: how fast a queue was paid, from its
//!   recorded lengths
//!
//! Redemption gates, eligibility, and price changes during the wait are not covered.

use crate::U256;
use crate::exit::{Exit, Refusal};
use crate::hours::Calendar;
use crate::units::{Percent, SizeUsd, UsdMicros, UsdPrice, round_half_even};
use crate::wide::{U1024, narrow, power_of_ten};

use super::stats::{ONE_HUNDRED_PERCENT, share_pct};

mod facts;
mod pace;
mod terms;

pub use facts::{FactError, FactSays, FactUsed, RedemptionAsset, RedemptionFacts};
pub use pace::Pace;
pub use terms::{MAX_TERMS_BYTES, PacedTerms, RedemptionTermsRead, TermsError};

/// The name and version of these rules.
pub const REDEMPTION: &str = "redemption/1";

/// The seconds in a year, for yearly rates.
pub const YEAR_S: u64 = 31_536_000;

const DAY_S: u64 = 86_400;

/// The terms of a redemption.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedemptionTerms {
    /// When it pays.
    pub pays: Pays,
    /// The fee in millionths of a percent; at most 100 %.
    pub fee_e8: u32,
    /// The minimum amount.
    pub minimum: UsdMicros,
    /// The maximum amount; unlimited if absent.
    pub capacity: Option<UsdMicros>,
    /// The payout for a dollar of the token; one dollar if absent.
    pub worth: Option<Worth>,
}

/// The redemption payout per dollar of a token at the oracle price, as a fraction above zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Worth {
    above: U1024,
    below: U1024,
}

impl Worth {
    /// The payout ratio of a token: a whole token pays `pays` smallest units of an asset, each worth `micros`
    /// micro-dollars (a fraction), and costs `price` at the oracle. `None` if the payout is zero.
    fn from_payout(pays: U256, micros: (U1024, U1024), price: UsdPrice) -> Option<Self> {
        let above = U1024::from(pays) * micros.0 * power_of_ten(price.decimals());
        let below = micros.1 * power_of_ten(6) * U1024::from(price.numerator());
        (!above.is_zero()).then_some(Self { above, below })
    }

    /// The payout for an amount, rounded down.
    fn paid(&self, micros: u64) -> u64 {
        (U1024::from(micros) * self.above / self.below).saturating_to_u64()
    }

    /// The amount whose payout is `micros`, rounded down.
    fn undone(&self, micros: U1024) -> U1024 {
        micros.min(U1024::from(u64::MAX)) * self.below / self.above
    }

    /// The payout for a whole token at this oracle price, rounded down and capped.
    pub fn of_token(&self, price: UsdPrice) -> UsdMicros {
        let micros = U1024::from(price.numerator()) * power_of_ten(6) * self.above;
        let below = power_of_ten(price.decimals()) * self.below;
        UsdMicros((micros / below).saturating_to_u64())
    }
}

/// When a redemption pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pays {
    /// It pays in the same transaction.
    AtOnce,
    /// It pays at the close of a trading day. An order before the cut-off counts for that day, a later one for the
    /// next.
    OnDays {
        /// The calendar that defines the trading days.
        calendar: Calendar,
        /// How long before a day's close the cut-off is.
        cutoff_before_close_s: u32,
        /// Trading days from then to the payment: minimum and maximum.
        settlement_days: [u8; 2],
    },
    /// It pays in the order of a queue.
    InTurn {
        /// The amount that is ahead in the queue.
        ahead: UsdMicros,
        /// The amount paid per day: minimum, median and maximum.
        per_day: [UsdMicros; 3],
    },
}

/// A redemption compared with a sale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redemption {
    /// The proceeds of selling the whole size now, or why it cannot be sold.
    pub now: Result<Sold, Refusal>,
    /// The amount redeemed: the size, or the capacity if that is lower.
    pub redeemed: UsdMicros,
    /// The rest that is sold now, and its proceeds; absent if the whole size is redeemed.
    pub beside: Option<(UsdMicros, Result<Sold, Refusal>)>,
    /// The redemption and the sale of the rest together; `None` if the rest cannot be sold.
    pub later: Option<UsdMicros>,
    /// The shortest and the longest wait, in seconds; `None` if the queue is never paid.
    pub wait_s: [Option<u64>; 2],
    /// For a queue, the wait at the median pace.
    pub wait_middle_s: Option<u64>,
    /// `100 × (later − now) ÷ now`; `None` if either is missing, or if `now` is zero.
    pub advantage: Option<Percent>,
    /// The advantage as a simple yearly rate over the shortest and the longest wait; `None` if that wait is zero or
    /// never ends.
    pub break_even: [Option<Percent>; 2],
}

/// A sale and its proceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sold {
    /// `exit_gap_pct`.
    pub gap: Percent,
    /// `size × (1 − gap)`, rounded down.
    pub receives: UsdMicros,
}

/// Why the model has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RedemptionError {
    /// The amount is below the minimum of the terms.
    #[error("the minimum redemption is {minimum} USD")]
    BelowMinimum {
        /// The minimum.
        minimum: UsdMicros,
    },
    /// The calendar's table does not cover the required days.
    #[error(
        "the calendar {exchange}@{version} does not cover the trading days that this redemption needs"
    )]
    UnknownDays {
        /// The exchange.
        exchange: &'static str,
        /// The version of the table.
        version: u32,
    },
}

/// Compares selling `size` now with redeeming it at `at_s`, seconds UTC.
pub fn redemption(
    exit: &Exit,
    size: SizeUsd,
    terms: &RedemptionTerms,
    at_s: u64,
) -> Result<Redemption, RedemptionError> {
    let whole = size.micros();
    let redeemed = terms.capacity.map_or(whole, |most| most.0.min(whole));
    if redeemed < terms.minimum.0 || redeemed == 0 {
        return Err(RedemptionError::BelowMinimum { minimum: terms.minimum });
    }
    let rest = UsdMicros(whole - redeemed);
    let beside = SizeUsd::from_micros(rest.0).ok().map(|rest| sold(exit, rest));
    let worth = terms.worth.as_ref().map_or(redeemed, |worth| worth.paid(redeemed));
    let paid = kept(worth, ONE_HUNDRED_PERCENT - u64::from(terms.fee_e8).min(ONE_HUNDRED_PERCENT));
    let later = match &beside {
        None => Some(UsdMicros(paid)),
        Some(sold) => {
            sold.as_ref().ok().map(|sold| UsdMicros(sold.receives.0.saturating_add(paid)))
        }
    };
    let (wait_s, wait_middle_s) = terms.pays.waits(redeemed, at_s)?;
    let now = sold(exit, size);
    let receives = now.as_ref().ok().map(|now| now.receives.0);
    let advantage = receives
        .zip(later)
        .and_then(|(now, later)| share_pct(i128::from(later.0) - i128::from(now), now));
    let break_even = wait_s.map(|wait| yearly(advantage?, wait?));
    let beside = beside.map(|sold| (rest, sold));
    Ok(Redemption {
        now,
        redeemed: UsdMicros(redeemed),
        beside,
        later,
        wait_s,
        wait_middle_s,
        advantage,
        break_even,
    })
}

fn sold(exit: &Exit, size: SizeUsd) -> Result<Sold, Refusal> {
    Ok(Sold::from_gap(size, exit.estimate(size)?.gap))
}

impl Sold {
    /// A sale of a size at a gap.
    pub fn from_gap(size: SizeUsd, gap: Percent) -> Self {
        let left = i128::from(ONE_HUNDRED_PERCENT) - gap.0;
        let left = u64::try_from(left.max(0)).unwrap_or(u64::MAX);
        Self { gap, receives: UsdMicros(kept(size.micros(), left)) }
    }
}

/// An amount times a share in millionths of a percent, rounded down and capped.
fn kept(micros: u64, share_e8: u64) -> u64 {
    let scaled = u128::from(micros) * u128::from(share_e8) / u128::from(ONE_HUNDRED_PERCENT);
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

/// Converts a rate over `wait_s` seconds to a yearly rate, rounded half-even; `None` if the wait is zero.
fn yearly(rate: Percent, wait_s: u64) -> Option<Percent> {
    if wait_s == 0 {
        return None;
    }
    let scaled = U1024::from(rate.0.unsigned_abs()) * U1024::from(YEAR_S);
    let magnitude = i128::try_from(narrow(round_half_even(scaled, U1024::from(wait_s)))?).ok()?;
    Some(Percent(if rate.0 < 0 { -magnitude } else { magnitude }))
}

/// The shortest and the longest wait, and the one at the median pace.
type Waits = ([Option<u64>; 2], Option<u64>);

impl Pays {
    fn waits(&self, redeemed: u64, at_s: u64) -> Result<Waits, RedemptionError> {
        match self {
            Self::AtOnce => Ok(([Some(0); 2], None)),
            Self::OnDays { calendar, cutoff_before_close_s, settlement_days } => {
                let table = calendar.table();
                let (exchange, version) = (table.calendar(), table.version());
                let unknown = RedemptionError::UnknownDays { exchange, version };
                let is_before = table.days().next().is_none_or(|first| at_s < first.overnight_open);
                if is_before {
                    return Err(unknown);
                }
                let cutoff = u64::from(*cutoff_before_close_s);
                let mut days =
                    table.days().skip_while(|day| day.close.saturating_sub(cutoff) < at_s);
                let [least, most] = settlement_days.map(usize::from);
                let first = days.nth(least).ok_or_else(|| unknown.clone())?;
                let last = match most.checked_sub(least) {
                    Some(more) if more > 0 => days.nth(more - 1).ok_or(unknown)?,
                    _ => first,
                };
                Ok(([first, last].map(|day| Some(day.close.saturating_sub(at_s))), None))
            }
            Self::InTurn { ahead, per_day } => {
                let all = u128::from(ahead.0) + u128::from(redeemed);
                let [slow, middle, fast] = per_day.map(|pace| {
                    let seconds = (all * u128::from(DAY_S))
                        .checked_add(u128::from(pace.0).saturating_sub(1))?;
                    u64::try_from(seconds.checked_div(u128::from(pace.0))?).ok()
                });
                Ok(([fast, slow], middle))
            }
        }
    }
}

#[cfg(test)]
mod tests;
