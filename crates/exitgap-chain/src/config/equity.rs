//! `[[equity]]`: tokens that represent stocks, and the recorded facts that show their state.

use std::collections::BTreeMap;

use exitgap_core::analytics::equity::{EquityFactNames, EquityKind, EquityToken};
use exitgap_core::ids::{Address, ChainSlug, Code};
use serde::Deserialize;

use super::plan::{at_most, known_slugs};
use super::{ChainPlan, Config, ConfigError, text};

/// One `[[equity]]`: a token that represents a stock.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EquityConfig {
    /// Slug of its chain.
    pub chain: ChainSlug,
    /// The token's address.
    #[serde(deserialize_with = "text::address")]
    pub token: Address,
    /// `scaled_ui`, `total_return`, `rebasing` or `split_rebase`.
    pub kind: String,
    /// What its feed prices: the `raw` unit, which balances count if they stay constant, or the `ui` unit, which
    /// wallets show.
    pub feed_prices: String,
    /// The token's `[[fact]]` with its multiplier.
    #[serde(default)]
    pub multiplier_fact: Option<String>,
    /// The fact with the pending multiplier.
    #[serde(default)]
    pub pending_multiplier_fact: Option<String>,
    /// The fact with the time at which it takes effect, seconds UTC.
    #[serde(default)]
    pub effective_at_fact: Option<String>,
    /// The fact that shows whether the token or its feed is paused.
    #[serde(default)]
    pub paused_fact: Option<String>,
    /// The decimals of the multiplier. Default: 18.
    #[serde(default = "eighteen")]
    pub multiplier_decimals: u8,
}

fn eighteen() -> u8 {
    18
}

/// The tokenized stocks among a chain's tokens.
pub type Equities = BTreeMap<Address, EquityToken>;

/// Gives each chain its tokenized stocks. Their calendars and facts are already in the chain's plan.
pub(super) fn plan_equities(config: &Config, chains: &mut [ChainPlan]) -> Result<(), ConfigError> {
    at_most("equity", config.equity.len(), Config::MAX_EQUITIES)?;
    for equity in &config.equity {
        let (token, known) = (equity.token, known_slugs(chains));
        let Some(chain) = chains.iter_mut().find(|chain| *chain.slug() == equity.chain) else {
            let (key, slug) = (format!("equity {token}: chain"), equity.chain.clone());
            return Err(ConfigError::UnknownChain { key, slug, known });
        };
        let plan = plan_equity(equity, chain)?;
        if chain.equities_mut().insert(token, plan).is_some() {
            let (key, found) = ("token", token.to_string());
            let remedy = "it has two [[equity]] tables; remove one";
            return Err(ConfigError::Equity { token, key, found, remedy });
        }
    }
    Ok(())
}

fn plan_equity(equity: &EquityConfig, chain: &ChainPlan) -> Result<EquityToken, ConfigError> {
    let token = equity.token;
    let wrong = |key, found: &str, remedy| {
        let found = found.chars().filter(|c| !c.is_control()).take(80).collect();
        ConfigError::Equity { token, key, found, remedy }
    };
    let kind = EquityKind::from_code(&equity.kind).ok_or_else(|| {
        wrong("kind", &equity.kind, "write scaled_ui, total_return, rebasing or split_rebase")
    })?;
    match (equity.feed_prices.as_str(), kind.rebases()) {
        ("raw", false) | ("ui", true) => {}
        ("ui", false) => {
            let remedy = "pools of this kind trade the raw unit, so every gap would be wrong by the multiplier; use a feed for \
             the raw unit, or multiply this feed by a feed of the multiplier in the pools' oracles, and write \
             \"raw\"";
            return Err(wrong("feed_prices", "ui", remedy));
        }
        ("raw", true) => {
            let remedy = "balances of this kind count the ui unit, so every gap would be wrong by the multiplier; use a feed \
             for the ui unit, and write \"ui\"";
            return Err(wrong("feed_prices", "raw", remedy));
        }
        (other, _) => return Err(wrong("feed_prices", other, "write \"raw\" or \"ui\"")),
    }
    if !chain.calendars().contains_key(&token) {
        let remedy =
            "it has no calendar; add a [[token]] table with its address and calendar = \"XNYS\"";
        return Err(wrong("token", &token.to_string(), remedy));
    }
    let named = |key, name: &Option<String>| -> Result<Option<Code>, ConfigError> {
        let Some(name) = name else { return Ok(None) };
        let of_token = chain.facts().get(&token).into_iter().flatten();
        let known = of_token.map(|fact| fact.name).find(|code| code.as_str() == name);
        let remedy = "this token has no [[fact]] with this name; add one, or correct the name";
        known.map(Some).ok_or_else(|| wrong(key, name, remedy))
    };
    let facts = EquityFactNames {
        multiplier: named("multiplier_fact", &equity.multiplier_fact)?,
        pending_multiplier: named("pending_multiplier_fact", &equity.pending_multiplier_fact)?,
        effective_at: named("effective_at_fact", &equity.effective_at_fact)?,
        paused: named("paused_fact", &equity.paused_fact)?,
    };
    if kind == EquityKind::ScaledUi && facts.multiplier.is_none() {
        let remedy =
            "a scaled_ui token needs its multiplier; name the [[fact]] with the multiplier";
        return Err(wrong("multiplier_fact", "", remedy));
    }
    if let Some(pending) = facts.pending_multiplier
        && (facts.multiplier.is_none() || facts.effective_at.is_none())
    {
        let remedy = "a pending multiplier is not enough by itself; also name multiplier_fact and effective_at_fact";
        return Err(wrong("pending_multiplier_fact", pending.as_str(), remedy));
    }
    let multiplier_decimals = equity.multiplier_decimals;
    if multiplier_decimals > EquityToken::MAX_DECIMALS {
        return Err(wrong(
            "multiplier_decimals",
            &multiplier_decimals.to_string(),
            "write 0 to 36",
        ));
    }
    Ok(EquityToken { kind, facts, multiplier_decimals })
}
