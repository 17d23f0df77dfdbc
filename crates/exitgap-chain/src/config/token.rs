//! `[[token]]`: settings of a token other than its price.

use std::collections::BTreeMap;

use exitgap_core::hours::{Calendar, Hours};
use exitgap_core::ids::{Address, ChainSlug};
use serde::Deserialize;

use super::plan::{at_most, known_slugs};
use super::{ChainPlan, Config, ConfigError, text};

/// One `[[token]]`: a token whose market is not always open.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenConfig {
    /// Slug of its chain.
    pub chain: ChainSlug,
    /// The token contract's address.
    #[serde(deserialize_with = "text::address")]
    pub address: Address,
    /// The market identifier code of the exchange whose trading days apply, e.g. `XNYS`.
    pub calendar: String,
    /// The sessions that count as open: `regular`, `extended`, `24x5` or `continuous`. Default: `regular`.
    #[serde(default = "regular")]
    pub hours: String,
}

fn regular() -> String {
    Hours::Regular.as_str().to_owned()
}

/// Gives each chain the calendars of its tokens.
pub(super) fn plan_tokens(config: &Config, chains: &mut [ChainPlan]) -> Result<(), ConfigError> {
    at_most("token", config.token.len(), Config::MAX_TOKENS)?;
    for token in &config.token {
        let (slug, address) = (token.chain.clone(), token.address);
        let known = known_slugs(chains);
        let Some(chain) = chains.iter_mut().find(|chain| *chain.slug() == slug) else {
            let key = format!("token {address}: chain");
            return Err(ConfigError::UnknownChain { key, slug, known });
        };
        let unknown = |key, found: &str| ConfigError::Calendar {
            token: address,
            key,
            found: found.to_owned(),
        };
        let hours = Hours::from_name(&token.hours).ok_or_else(|| unknown("hours", &token.hours))?;
        let calendar = Calendar::for_exchange(&token.calendar, hours)
            .ok_or_else(|| unknown("calendar", &token.calendar))?;
        if chain.calendars_mut().insert(address, calendar).is_some() {
            return Err(ConfigError::TokenTwice { chain: slug, token: address });
        }
    }
    Ok(())
}

/// The calendars of a chain's tokens.
pub type Calendars = BTreeMap<Address, Calendar>;
