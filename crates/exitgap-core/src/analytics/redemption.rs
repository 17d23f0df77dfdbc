//! Sell now or redeem later, `redemption/1`: **modelled**, from terms that somebody wrote down, and from the facts
//! of a snapshot that they name.
//!
//! Now is what the pool fills: `size × (1 − exit_gap_pct)`. Later is what the terms pay: `size × (1 − fee)` by the oracle's
//! price, or by what a vault's own word says a token pays, between two instants; what is beyond the capacity is sold now in both cases. `advantage_pct` is what later brings
//! more, in percent of now; divided by the time to wait, as a simple yearly rate, it is the break-even: who can do without
//! the money at less than that a year redeems.
//!
//! - `terms`: files of them
//! - `facts`: what a snapshot says in their place; `pace`: how fast a queue was paid, by its recorded lengths
//!
//! It says nothing of gates, of who may redeem, of a price that moves while one waits.

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

/// Seconds of the year that yearly rates are of.
pub const YEAR_S: u64 = 31_536_000;

const DAY_S: u64 = 86_400;

/// How a redemption pays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedemptionTerms {
    /// When it pays.
    pub pays: Pays,
    /// What is kept of it, in millionths of a percent; at most all.
    pub fee_e8: u32,
    /// The least that is redeemed.
    pub minimum: UsdMicros,
    /// The most; as much as one likes where absent.
    pub capacity: Option<UsdMicros>,
    /// What a dollar's worth of the token pays; a dollar where absent.
    pub worth: Option<Worth>,
}

/// What a dollar of a token, by the oracle, pays where it is redeemed: above nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Worth {
    above: U1024,
    below: U1024,
}

impl Worth {
    /// Of a whole token that pays so many of an asset's smallest units, each worth so many micro-dollars (a fraction), at the
    /// oracle's price of the token; `None` where that is nothing.
    fn from_payout(pays: U256, micros: (U1024, U1024), price: UsdPrice) -> Option<Self> {
        let above = U1024::from(pays) * micros.0 * power_of_ten(price.decimals());
        let below = micros.1 * power_of_ten(6) * U1024::from(price.numerator());
        (!above.is_zero()).then_some(Self { above, below })
    }

    /// What an amount pays, rounded down.
    fn paid(&self, micros: u64) -> u64 {
        (U1024::from(micros) * self.above / self.below).saturating_to_u64()
    }

    /// The amount that pays so much, rounded down.
    fn undone(&self, micros: U1024) -> U1024 {
        micros.min(U1024::from(u64::MAX)) * self.below / self.above
    }

    /// What a whole token at this price of the oracle pays, rounded down; capped.
    pub fn of_token(&self, price: UsdPrice) -> UsdMicros {
        let micros = U1024::from(price.numerator()) * power_of_ten(6) * self.above;
        let below = power_of_ten(price.decimals()) * self.below;
        UsdMicros((micros / below).saturating_to_u64())
    }
}

/// When a redemption pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pays {
    /// In the same transaction.
    AtOnce,
    /// At the close of a trading day: what is handed in up to the cut-off counts for that day, later for the next.
    OnDays {
        /// Whose trading days.
        calendar: Calendar,
        /// How long before a day's close its cut-off is.
        cutoff_before_close_s: u32,
        /// Trading days from then to the payment, at the least and at the most.
        settlement_days: [u8; 2],
    },
    /// In the order of those who came before.
    InTurn {
        /// What they wait for.
        ahead: UsdMicros,
        /// What is paid a day: at the least, in the middle, at the most.
        per_day: [UsdMicros; 3],
    },
}

/// One redemption beside one sale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redemption {
    /// What selling all of it now brings; or why it cannot be sold.
    pub now: Result<Sold, Refusal>,
    /// What is redeemed: the size, or the capacity.
    pub redeemed: UsdMicros,
    /// What is sold beside that, and what it brings; absent where all is redeemed.
    pub beside: Option<(UsdMicros, Result<Sold, Refusal>)>,
    /// What both bring; `None` where the rest cannot be sold.
    pub later: Option<UsdMicros>,
    /// How long one waits, seconds: at the least and at the most. `None`: nobody is paid.
    pub wait_s: [Option<u64>; 2],
    /// Of a queue: at the pace in the middle.
    pub wait_middle_s: Option<u64>,
    /// `100 × (later − now) ÷ now`; `None` where one of them is not, or now is nothing.
    pub advantage: Option<Percent>,
    /// The advantage as a simple yearly rate over the least and the greatest wait; `None` of no wait, or of none that ends.
    pub break_even: [Option<Percent>; 2],
}

/// A sale and what it brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sold {
    /// `exit_gap_pct`.
    pub gap: Percent,
    /// `size × (1 − gap)`, rounded down.
    pub receives: UsdMicros,
}

/// Why there is no model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RedemptionError {
    /// Less than the terms take.
    #[error("the minimum redemption is {minimum} USD")]
    BelowMinimum {
        /// The least.
        minimum: UsdMicros,
    },
    /// The calendar does not know the days that are asked about.
    #[error(
        "the calendar {exchange}@{version} does not cover the trading days that this redemption needs"
    )]
    UnknownDays {
        /// The exchange.
        exchange: &'static str,
        /// The table.
        version: u32,
    },
}

/// Compares selling `size` now with handing it in at an instant, in seconds UTC.
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

/// A share in millionths of a percent of an amount, rounded down; capped.
fn kept(micros: u64, share_e8: u64) -> u64 {
    let scaled = u128::from(micros) * u128::from(share_e8) / u128::from(ONE_HUNDRED_PERCENT);
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

/// A rate over so many seconds as one over a year, half-even; `None` of no time.
fn yearly(rate: Percent, wait_s: u64) -> Option<Percent> {
    if wait_s == 0 {
        return None;
    }
    let scaled = U1024::from(rate.0.unsigned_abs()) * U1024::from(YEAR_S);
    let magnitude = i128::try_from(narrow(round_half_even(scaled, U1024::from(wait_s)))?).ok()?;
    Some(Percent(if rate.0 < 0 { -magnitude } else { magnitude }))
}

/// The least and the greatest wait, and that in the middle.
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
