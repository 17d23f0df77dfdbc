//! What a payment is to be, for those who ask before they pay.

use exitgap_api::x402::Units;
use exitgap_core::ids::{Address, Caip2};
use serde::Serialize;

use super::{CURRENCY, DECIMALS, Till};

/// The document of `GET /v1/payments`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PaymentsDocument {
    /// What is priced.
    pub priced: [&'static str; 1],
    /// The price, in whole tokens.
    pub price: String,
    /// The same in units of the token.
    pub price_units: Units,
    /// The token's symbol.
    pub currency: &'static str,
    /// The chain.
    pub network: Caip2,
    /// The token.
    pub asset: Address,
    /// Who is paid.
    pub pay_to: Address,
    /// What the price buys, in words.
    pub buys: &'static str,
}

impl Till {
    /// The document.
    pub fn document(&self) -> PaymentsDocument {
        let terms = self.terms();
        PaymentsDocument {
            priced: ["/v1/exit/{pool}"],
            price: terms.amount.in_tokens(DECIMALS),
            price_units: terms.amount,
            currency: CURRENCY,
            network: terms.network,
            asset: terms.asset,
            pay_to: terms.pay_to,
            buys: "an answer without computing it; snapshots, evidence and portfolios answer the same \
                   questions free of charge",
        }
    }
}
