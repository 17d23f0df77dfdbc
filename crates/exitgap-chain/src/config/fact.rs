//! `[[fact]]`: calls to contracts other than pools, whose answers are recorded unchanged.

use std::collections::BTreeMap;

use exitgap_core::ids::{Address, ChainSlug, Code};
use exitgap_core::snapshot::Fact;
use serde::Deserialize;

use super::plan::{at_most, known_slugs};
use super::{ChainPlan, Config, ConfigError, text};

/// One `[[fact]]`: a call whose answer is recorded in the snapshots of all pools of a token.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactConfig {
    /// Slug of its chain.
    pub chain: ChainSlug,
    /// The token it is about.
    #[serde(deserialize_with = "text::address")]
    pub token: Address,
    /// The name used in files of terms; unique per token.
    pub name: String,
    /// The contract to call.
    #[serde(deserialize_with = "text::address")]
    pub contract: Address,
    /// The call's data: `0x`, the selector's 4 bytes, and its arguments.
    pub call: String,
}

/// A validated fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactPlan {
    /// Its name.
    pub name: Code,
    /// The contract to call.
    pub contract: Address,
    /// The call's data, in lower case.
    pub call: String,
}

/// The facts of a chain's tokens.
pub type Facts = BTreeMap<Address, Vec<FactPlan>>;

/// Gives each chain the facts of its tokens.
pub(super) fn plan_facts(config: &Config, chains: &mut [ChainPlan]) -> Result<(), ConfigError> {
    at_most("fact", config.fact.len(), Config::MAX_FACTS)?;
    for fact in &config.fact {
        let FactConfig { chain: slug, token, name, contract, call } = fact;
        let known = known_slugs(chains);
        let Some(chain) = chains.iter_mut().find(|chain| chain.slug() == slug) else {
            let key = format!("fact {name:?}: chain");
            return Err(ConfigError::UnknownChain { key, slug: slug.clone(), known });
        };
        let plan = plan_fact(*token, name, *contract, call)?;
        let of_token = chain.facts_mut().entry(*token).or_default();
        if of_token.iter().any(|other| other.name == plan.name) {
            return Err(ConfigError::FactTwice { token: *token, name: plan.name });
        }
        of_token.push(plan);
        at_most(&format!("fact (token {token})"), of_token.len(), Config::MAX_FACTS_OF_TOKEN)?;
    }
    Ok(())
}

fn plan_fact(
    token: Address,
    name: &str,
    contract: Address,
    call: &str,
) -> Result<FactPlan, ConfigError> {
    let wrong = |key, found: &str, remedy| {
        let found = found.chars().filter(|c| !c.is_control()).take(80).collect();
        ConfigError::Fact { token, key, found, remedy }
    };
    let code: Code = name.parse().map_err(|_| {
        wrong(
            "name",
            name,
            "write 1 to 40 characters from a-z, 0-9 and _, starting with a letter, such as \"paused\"",
        )
    })?;
    if Fact::is_reserved(name) {
        return Err(wrong(
            "name",
            name,
            "this name is reserved for facts that exitgap records itself; write another name",
        ));
    }
    let data = call.to_ascii_lowercase();
    if !Fact::is_call(&data) {
        let remedy = "write 0x, the selector's 4 bytes and at most 4 words of arguments in \
                      hexadecimal digits, such as \"0x5c975abb\" for paused()";
        return Err(wrong("call", call, remedy));
    }
    Ok(FactPlan { name: code, contract, call: data })
}
