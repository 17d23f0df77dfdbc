//! Parameters of sales that end in cash.

use super::{Bound, Parameter};
use crate::operations::Kind;

/// The size of a sale whose amount is not given.
pub const SIZE_OR_AMOUNT: Parameter = Parameter::optional(
    "size_usd",
    Kind::Size,
    "The size in USD at the oracle price: a plain number from 0.01 to 1000000000 with at most six decimals. Give this or `amount`.",
)
.hint("give size_usd, such as 250000, or amount, such as 0.125, and not both");

/// The amount of a sale whose size is not given.
pub const AMOUNT: Parameter = Parameter::optional(
    "amount",
    Kind::Amount,
    "The amount sold in whole tokens, as a plain decimal such as `0.125`; never raw units. Give this or `size_usd`.",
)
.hint("amount is a plain decimal of whole tokens, such as 0.125, with at most as many decimals as the token has");

/// The amount that a file is for.
pub const AMOUNT_IN: Parameter =
    Parameter::new_required("amount_in", Kind::Units, "The amount sold in raw units of the token.")
        .hint("amount_in is a positive number of raw units in decimal digits");

/// The amounts that a portfolio's file is for.
pub const SOLD_AMOUNTS: Parameter = Parameter::new_required(
    "sold",
    Kind::Sold,
    "A token that is sold and its amount in raw units, `<address>:<units>`. Repeat for each token, up to 24 times.",
)
.hint("sold=<address>:<units>, repeated for each token, up to 24 times");

/// The tokens that a sale must end in.
pub const INTO: Parameter = Parameter::optional(
    "into",
    Kind::Into,
    "The tokens that the sale must end in: `cash`, the name of another group that the operator configured, one to eight token addresses separated by commas, or `any`: every token that a pool pays for the token sold, at most eight, those of the deepest pools. Default: the chain's cash tokens, or any if none are configured.",
)
.or("cash")
.hint("into is cash, any, the name of a configured group, or one to eight token addresses separated by commas");

/// The same for a file, whose address names every token.
pub const INTO_TOKENS: Parameter = Parameter::new_required(
    "into",
    Kind::Into,
    "The tokens that the sale must end in: one to eight token addresses separated by commas.",
)
.within(Bound::TokensByAddress)
.hint("into is one to eight token addresses separated by commas");

/// The pools that count for a plan and its bound.
pub const CASH_POOL: Parameter = Parameter::new_required(
    "pool",
    Kind::Pools,
    "A pool that counts for the plan and its bound, `<chain>:<address>`. Repeat for each pool, up to 24 times.",
)
.hint("pool=<chain>:<address>, repeated for each pool, up to 24 times");

/// How much less than stated the reader accepts.
pub const TOLERANCE: Parameter = Parameter::optional(
    "tolerance_pct",
    Kind::Share,
    "How much less than the stated amounts you accept, percent from 0 to 100. It determines `amount_out_min_raw`. Default: 0.5.",
)
.or("0.5")
.hint("tolerance_pct is a plain percentage from 0 to 100 with at most six decimals");

/// The reader's assumption of the fees of the transaction.
pub const GAS: Parameter = Parameter::optional(
    "gas_usd",
    Kind::Cost,
    "Your assumption of the gas for the whole sale, USD. It is stated on its own and does not change the gap. Default: not counted.",
)
.hint("gas_usd is a plain number from 0 to 1000000 with at most six decimals");
