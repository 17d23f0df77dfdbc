//! Prices and payments in HTTP: offers, authorizations, settlements.
//!
//! **In scope**: the formats of x402, versions 1 and 2, for the scheme `exact` on EVM chains (a signed EIP-3009
//! authorization), and of the plain `X-Payment-*` headers; parsing them with size limits, and writing them, so that
//! payer and payee use the same code.
//! **Out of scope**: whether to pay and how much (`exitgap-pay`), signatures, settling, prices.
//!
//! A 402 response contains up to three offers of the same payment, for three kinds of payers:
//!
//! | offer | where | read by |
//! |---|---|---|
//! | version 2 | [`PAYMENT_REQUIRED`]: base64 of JSON | [`Offers::v2`] |
//! | version 1 | members of the JSON body | [`Offers::v1`] |
//! | a plain transfer | [`X_PAYMENT_AMOUNT`] and three more | [`Offers::plain`] |
//!
//! Amounts are whole units of a token as decimal text, never a float or a JSON number.

mod codec;
mod facilitator;
mod offers;
mod payment;
mod settlement;
mod terms;
mod units;

#[cfg(test)]
mod tests;

pub use facilitator::Verification;
pub use offers::{BodyMembers, Offer, Offers, PlainOffer, PricedOffer};
pub use payment::{Authorization, Payment, Proof, RequestPayment};
pub use settlement::Settlement;
pub use terms::{Terms, TokenDomain, Version, network_of_v1_name, v1_name};
pub use units::Units;

/// Header of a 402: the offer of version 2.
pub const PAYMENT_REQUIRED: &str = "payment-required";
/// Header of a request: a payment of version 2.
pub const PAYMENT_SIGNATURE: &str = "payment-signature";
/// Header of an answer: the result of a payment of version 2.
pub const PAYMENT_RESPONSE: &str = "payment-response";
/// Header of a request: a payment of version 1.
pub const X_PAYMENT: &str = "x-payment";
/// Header of an answer: the result of a payment of version 1.
pub const X_PAYMENT_RESPONSE: &str = "x-payment-response";
/// Header of a request: the hash of a completed transfer's transaction.
pub const X_PAYMENT_PROOF: &str = "x-payment-proof";
/// Header of a paid answer: its receipt ([`crate::receipt`]).
pub const X_PAYMENT_RECEIPT: &str = "x-payment-receipt";
/// Header of a 402: the price in whole tokens, with decimals.
pub const X_PAYMENT_AMOUNT: &str = "x-payment-amount";
/// Header of a 402: the token's symbol.
pub const X_PAYMENT_CURRENCY: &str = "x-payment-currency";
/// Header of a 402: the chain, by its CAIP-2 id.
pub const X_PAYMENT_NETWORK: &str = "x-payment-network";
/// Header of a 402: the recipient of the payment.
pub const X_PAYMENT_RECIPIENT: &str = "x-payment-recipient";

/// The longest payment header that is parsed.
pub const MAX_HEADER_BYTES: usize = 16 << 10;

/// The largest body of a 402 that is parsed, in bytes.
pub const MAX_BODY_BYTES: usize = 64 << 10;

/// The most ways to pay in one offer.
pub const MAX_ACCEPTS: usize = 16;

/// Why an offer or a payment cannot be parsed. Texts from the input are cut to a printable length.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum X402Error {
    /// The value is too long.
    #[error("{what} has {found} bytes, of which at most {most} are read")]
    TooLong {
        /// A header's name, or `body`.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The maximum length.
        most: usize,
    },
    /// Not padded base64 with the standard alphabet.
    #[error("{what} is not padded base64")]
    NotBase64 {
        /// The header's name.
        what: &'static str,
    },
    /// Not the expected JSON.
    #[error("{what} is not the JSON expected: {why}")]
    NotJson {
        /// A header's name, or `body`.
        what: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// An unsupported version.
    #[error("{what} has x402Version {found}, where {expected} belongs")]
    Version {
        /// A header's name, or `body`.
        what: &'static str,
        /// The version found.
        found: u64,
        /// The expected version.
        expected: u64,
    },
    /// Too many ways to pay, or none.
    #[error("accepts lists {found} ways to pay; 1 to {MAX_ACCEPTS} are read")]
    Accepts {
        /// The number found.
        found: usize,
    },
    /// A way to pay that is not `exact`.
    #[error("scheme {found:?} is not paid: only \"exact\" is")]
    Scheme {
        /// The scheme found.
        found: String,
    },
    /// An unknown network: neither a CAIP-2 id of an EVM chain nor, in version 1, a known name.
    #[error("network {found:?} names no EVM chain that is known")]
    Network {
        /// The text found.
        found: String,
    },
    /// Not a whole number of units, or not a decimal number of tokens.
    #[error("{field} {found:?} is no amount: digits only, no sign, exponent or leading zero")]
    Amount {
        /// The field or header.
        field: &'static str,
        /// The text found.
        found: String,
    },
    /// Not a valid number of seconds.
    #[error("{field} {found:?} is no time in whole seconds")]
    Seconds {
        /// The field.
        field: &'static str,
        /// The text found.
        found: String,
    },
    /// Not `0x` followed by the expected number of hex digits.
    #[error("{field} {found:?} is not 0x and {digits} hex digits")]
    Hex {
        /// The field or header.
        field: &'static str,
        /// The expected number of digits.
        digits: &'static str,
        /// The text found.
        found: String,
    },
    /// An offer without the token's EIP-712 name and version, which are needed for signing.
    #[error("extra has no name and version of the token, each of 1 to 64 characters")]
    Domain,
    /// A required part of an offer is missing.
    #[error("{field} is missing")]
    Missing {
        /// The header.
        field: &'static str,
    },
    /// An idempotency key that does not have the form required by its extension.
    #[error("the payment identifier {found:?} is not 16 to 128 of A-Z, a-z, 0-9, - and _")]
    Identifier {
        /// The text found.
        found: String,
    },
    /// Two payments in one request.
    #[error("both {first} and {second} carry a payment; send one")]
    Twice {
        /// The first header.
        first: &'static str,
        /// The second header.
        second: &'static str,
    },
}

/// The first characters of an invalid value.
fn shown(text: &str) -> String {
    text.chars().take(80).collect()
}
