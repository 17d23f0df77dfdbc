//! The payment terms, for callers who ask before they pay.

use exitgap_core::ids::{Address, Caip2};
use serde::{Deserialize, Serialize};

use crate::receipt::ReceiptJwk;
use crate::x402::Units;

/// `GET /v1/payments`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Payments {
    /// What is charged for.
    pub priced: Vec<String>,
    /// The price, in whole tokens.
    pub price: String,
    /// The price in raw units of the token.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub price_units: Units,
    /// The token's symbol.
    pub currency: String,
    /// The chain's CAIP-2 id.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub network: Caip2,
    /// The token's address.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub asset: Address,
    /// The recipient.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub pay_to: Address,
    /// The key that signs receipts. It has no other use.
    pub receipt_key: ReceiptJwk,
    /// The number of free estimates per client and UTC day, through the agent tools and as
    /// portfolio positions.
    pub free_estimates_per_day: u32,
    /// A description of what the price buys.
    pub buys: String,
}
