//! Parameters of sales over several venues, after a fall or without liquidity.

use super::{Bound, Parameter};
use crate::operations::Kind;

/// Where it is sold.
pub const VENUE: Parameter = Parameter::new_required(
    "venue",
    Kind::Venues,
    "A pool to sell in, `<pool>` or `<pool>/<base>` with a base as elsewhere. Repeat for each pool, up to 12 times. All pools must be on one chain and sell one token, and no contract may appear twice.",
)
.hint("venue=<pool> or <pool>/<base>, repeated for each pool, up to 12 times");

/// Where it is sold, for a file: with the token sold by its place, so that the file has one address.
pub const VENUE_BY_PLACE: Parameter = Parameter::new_required(
    "venue",
    Kind::Venues,
    "A pool to sell in, `<pool>` or `<pool>/<base>` with `token0` or `token1` as the base. Repeat for each pool, up to 12 times. All pools must be on one chain and sell one token, and no contract may appear twice.",
)
.within(Bound::BaseByPlace)
.hint("venue=<pool>, <pool>/token0 or <pool>/token1, repeated for each pool, up to 12 times");

/// What a liquidation sells.
pub const CASCADE: Parameter = Parameter::new_required(
    "cascade_usd",
    Kind::Size,
    "The liquidation size, USD at the oracle price after the drop: 0.01 to 1000000000.",
)
.hint("cascade_usd is a plain number from 0.01 to 1000000000 with at most six decimals");

/// What the liquidator gets.
pub const BONUS: Parameter = Parameter::optional(
    "bonus_pct",
    Kind::Share,
    "The liquidation bonus, percent from 0 to 100. Default: 5.",
)
.or("5")
.hint("bonus_pct is a plain percentage from 0 to 100 with at most six decimals");

/// What the protocol takes of that.
pub const PROTOCOL_FEE: Parameter = Parameter::optional(
    "protocol_fee_pct",
    Kind::Share,
    "The protocol's share of the bonus, percent from 0 to 100. Default: 0.",
)
.or("0")
.hint("protocol_fee_pct is a plain percentage from 0 to 100 with at most six decimals");

/// How far the price has fallen.
pub const FALL: Parameter = Parameter::optional(
    "fall_pct",
    Kind::Share,
    "The price drop of the token sold, applied in every slot to the pools and the oracle together, percent from 0 to 99. Default: 20.",
)
.or("20")
.within(Bound::UpTo99)
.hint("fall_pct is a plain percentage from 0 to 99 with at most six decimals");

/// How much liquidity has gone.
pub const HAIRCUT: Parameter = Parameter::optional(
    "haircut_pct",
    Kind::Share,
    "The share of all liquidity that is withdrawn, applied in every slot, percent from 0 to 99. Default: 0.",
)
.or("0")
.within(Bound::UpTo99)
.hint("haircut_pct is a plain percentage from 0 to 99 with at most six decimals");

/// How far the price has fallen, if at all.
pub const SHOCK_FALL: Parameter = Parameter::optional(
    "fall_pct",
    Kind::Share,
    "The price drop of the token sold, applied in every slot to the pools and the oracle together, percent from 0 to 99. Default: 0.",
)
.or("0")
.within(Bound::UpTo99)
.hint("fall_pct is a plain percentage from 0 to 99 with at most six decimals");

/// What is sold over several venues.
pub const SOLD: Parameter = Parameter::new_required(
    "size_usd",
    Kind::Size,
    "The size sold, USD at the oracle price after the drop: 0.01 to 1000000000.",
)
.hint("size_usd is a plain number from 0.01 to 1000000000 with at most six decimals");

/// A gap that slots are held against.
pub const ABOVE: Parameter = Parameter::optional(
    "limit_pct",
    Kind::Gap,
    "A gap in percent. `above` shows in how many slots the gap of the size was wider, and for how many consecutive slots.",
)
.hint("limit_pct is a plain percentage from -100 to 100 with at most six decimals");

/// Slots after a move alone.
pub const AFTER_MOVE: Parameter = Parameter::optional(
    "after_move_pct",
    Kind::Share,
    "Only slots in which the mid price of a venue has moved by at least this much, up or down, within the last `within_slots` slots: percent, above 0 and at most 100. Default: every slot.",
)
.within(Bound::AboveZero)
.hint("after_move_pct is a plain percentage above 0 and at most 100 with at most six decimals");

/// Since when it must have moved.
pub const AFTER_WITHIN: Parameter = Parameter::optional(
    "within_slots",
    Kind::Whole(1, 48),
    "Only together with `after_move_pct`, and refused without it: the number of slots to look back, 1 to 48. Default: 3 (15 minutes).",
)
.hint("a whole number of slots, from 1 to 48, together with after_move_pct");
