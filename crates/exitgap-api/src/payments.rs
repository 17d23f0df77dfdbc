//! What a payment is to be, for those who ask before they pay.

use exitgap_core::ids::{Address, Caip2};
use serde::{Deserialize, Serialize};

use crate::receipt::ReceiptJwk;
use crate::x402::Units;

/// `GET /v1/payments`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Payments {
    /// What is priced.
    pub priced: Vec<String>,
    /// The price, in whole tokens.
    pub price: String,
    /// The same in units of the token.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub price_units: Units,
    /// The token's symbol.
    pub currency: String,
    /// The chain, by its CAIP-2 id.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub network: Caip2,
    /// The token.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub asset: Address,
    /// Who is paid.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub pay_to: Address,
    /// The key that signs receipts, and nothing else.
    pub receipt_key: ReceiptJwk,
    /// How many estimates a client has free of charge on a day of UTC, by the tools for agents and as positions of
    /// portfolios.
    pub free_estimates_per_day: u32,
    /// What the price buys, in words.
    pub buys: String,
}
