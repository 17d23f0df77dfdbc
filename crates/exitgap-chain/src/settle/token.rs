//! The token's own data, read once at the start.

use std::borrow::Cow;

use alloy::primitives::U256;
use alloy::sol_types::{Eip712Domain, SolCall};
use exitgap_core::ids::{Address, Caip2, Word};
use tokio::time::Instant;

use super::abi::FiatToken::{DOMAIN_SEPARATORCall, decimalsCall, nameCall, versionCall};
use super::{SettleError, TokenNode};
use crate::abi::wire;

/// A token according to its own contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Its contract.
    pub address: Address,
    /// Its chain.
    pub network: Caip2,
    /// Its EIP-712 name, such as `USD Coin`.
    pub name: String,
    /// Its EIP-712 version, such as `2`.
    pub version: String,
    /// Its decimals.
    pub decimals: u8,
    /// The domain separator that its authorizations are signed for, recomputed from the fields above.
    pub domain_separator: Word,
}

/// The longest name or version that is accepted.
const MAX_TEXT: usize = 64;

impl TokenNode {
    /// Reads the contract's data, and requires that it has `decimals` decimals and the domain separator that follows
    /// from chain id, address, name and version. Authorizations signed for these are then valid for this token.
    pub async fn describe(&self, decimals: u8, deadline: Instant) -> Result<Token, SettleError> {
        let found: u8 = self.answer(&decimalsCall {}, "decimals", deadline).await?;
        if found != decimals {
            let (expected, found) = (decimals.to_string(), found.to_string());
            return Err(SettleError::Token { what: "decimals", expected, found });
        }
        let name = text("name", self.answer(&nameCall {}, "name", deadline).await?)?;
        let version = text("version", self.answer(&versionCall {}, "version", deadline).await?)?;
        let found = self.answer(&DOMAIN_SEPARATORCall {}, "DOMAIN_SEPARATOR", deadline).await?;
        let domain = Eip712Domain {
            name: Some(Cow::Owned(name.clone())),
            version: Some(Cow::Owned(version.clone())),
            chain_id: Some(U256::from(self.network().0)),
            verifying_contract: Some(wire(self.asset())),
            salt: None,
        };
        let expected = domain.separator();
        if expected != found {
            let (expected, found) = (expected.to_string(), found.to_string());
            return Err(SettleError::Token { what: "DOMAIN_SEPARATOR", expected, found });
        }
        let (address, network) = (self.asset(), self.network());
        let domain_separator = Word(expected.0);
        Ok(Token { address, network, name, version, decimals, domain_separator })
    }

    /// A constant of the contract.
    async fn answer<C: SolCall>(
        &self,
        call: &C,
        what: &'static str,
        deadline: Instant,
    ) -> Result<C::Return, SettleError> {
        let answered = self.call(call.abi_encode().into(), None, deadline).await?;
        let of_another_kind = |found: String| SettleError::Token {
            what,
            expected: format!("a response of {}", C::SIGNATURE),
            found,
        };
        let bytes =
            answered.map_err(|reverted| of_another_kind(format!("a revert: {reverted}")))?;
        C::abi_decode_returns_validate(&bytes)
            .map_err(|_| of_another_kind(format!("{} bytes of an unexpected shape", bytes.len())))
    }
}

fn text(what: &'static str, found: String) -> Result<String, SettleError> {
    if (1..=MAX_TEXT).contains(&found.len()) && !found.chars().any(char::is_control) {
        return Ok(found);
    }
    let expected = format!("1 to {MAX_TEXT} printable characters");
    Err(SettleError::Token { what, expected, found: found.chars().take(MAX_TEXT).collect() })
}
