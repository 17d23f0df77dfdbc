//! Sales that end in cash, over at most three of the recorded pools in a row.
//!
//! - `network`: the pools of a slot on a path to cash; `paths`: which pools these are
//! - `search`: the plan, and its figure

mod network;
mod paths;
mod search;

use exitgap_api::operations::parameters::{INTO, TOKEN_IN_PATH};
use exitgap_api::operations::{CashAsked, FigureAddress, Into};
use exitgap_api::{
    CashExit, CashPlan, DepthSourceKind, Problem, ProblemCode, SeriesMethod, SeriesSource,
    find_token,
};
use exitgap_core::analytics::route::RouteTerms;
use exitgap_core::exit::MAX_CASH_TOKENS;
use exitgap_core::ids::{Address, Caip2, ChainSlug};
use exitgap_core::pools::Direction;

use super::legs::Legs;
use super::{FoundSnapshot, Service};
use network::no_path;
pub use network::{CashNetwork, NetworkAsked, NoNetwork, too_many_tokens};
pub use search::FoundPlan;

/// What the answer says where the sale is for cash and none is configured.
pub const NOT_CONFIGURED: &str = "not_configured";

/// What no plan counts; the last is stated where the reader gives it.
pub const NOT_COUNTED: [&str; 3] = ["venues that are not recorded", "private quotes", "gas"];

impl Service {
    /// One sale that ends in cash, with a bound on every other plan over the recorded pools.
    pub async fn cash(&self, asked: &CashAsked) -> Result<CashExit, Problem> {
        self.current().require_chain(&asked.chain)?;
        let sold = [asked.token];
        let (cash, is_configured) = self.cash_tokens(&asked.chain, &sold, &asked.into)?;
        let (chain, at) = (&asked.chain, asked.at);
        let network = NetworkAsked { chain, sold: &sold, cash: &cash, at, reserved: &[] };
        let found = self.cash_network(&network).await?;
        found.check_guards(asked.guards)?;
        let (search, wanted) = (found.search(), asked.clone());
        let run = move || search.answer(&wanted);
        let (plan, terms) = self.searches.run(run).await??;
        found.keep(self);
        let legs = found.legs(&plan);
        for (pool, _) in &legs {
            asked.guards.check(&pool.guard_inputs())?;
        }
        let answer = self.publish_cash(asked, &found, &legs, plan, &terms)?;
        let cash = (!is_configured).then(|| NOT_CONFIGURED.to_owned());
        Ok(CashExit { cash, ..answer })
    }

    fn publish_cash(
        &self,
        asked: &CashAsked,
        found: &CashNetwork,
        legs: &[(&FoundSnapshot, Direction)],
        plan: CashPlan,
        terms: &RouteTerms,
    ) -> Result<CashExit, Problem> {
        let fault = |what: &str| Problem::new(ProblemCode::InternalError, what);
        let Legs {
            oracle_state, market_open, session_note, days_observed, window, exactness, ..
        } = Legs::new(legs)?;
        let observations = found.observations();
        let (observation, index, token) =
            find_token(&observations, asked.token).ok_or_else(|| fault("no pool has the token"))?;
        let file = terms.address();
        Ok(CashExit {
            chain: asked.chain.to_string(),
            token: token.into(),
            into: asked.into.to_string(),
            cash: None,
            slot: terms.slot.number(),
            slot_time: terms.slot.to_string(),
            snapshot_age_s: self.age_s(terms.slot),
            oracle_price_usd: observation.prices()[index].to_decimal().into(),
            oracle_state,
            exactness,
            market_open,
            session_note,
            left_out: found.left_out.clone(),
            not_counted: NOT_COUNTED
                .iter()
                .take(if asked.gas.is_some() { 2 } else { 3 })
                .map(|one| (*one).to_owned())
                .collect(),
            evidence_url: [self.urls.web.as_str(), file.as_str()].concat(),
            days_observed,
            amount_in_raw: terms.amount_in.to_string(),
            method: SeriesMethod {
                assumed_size_usd: Some(plan.size_usd.clone()),
                window,
                depth_source: SeriesSource {
                    kind: DepthSourceKind::RecordedSnapshot,
                    chain: Some(asked.chain.to_string()),
                },
            },
            plan,
        })
    }

    /// The tokens that a request must end in, ascending and without the tokens sold; and whether they are those that it
    /// names. Where no cash is configured, any token is cash in which a pool pays for a token sold.
    pub(crate) fn cash_tokens(
        &self,
        chain: &ChainSlug,
        sold: &[Address],
        into: &Into,
    ) -> Result<(Vec<Address>, bool), Problem> {
        let (mut tokens, is_configured) = self.named_tokens(chain, sold, into)?;
        tokens.retain(|token| !sold.contains(token));
        if (1..=MAX_CASH_TOKENS).contains(&tokens.len()) {
            return Ok((tokens, is_configured));
        }
        let names: Vec<String> = sold.iter().map(ToString::to_string).collect();
        let names = names.join(", ");
        let is_any = matches!(into, Into::Group(name) if name == Into::ANY) || !is_configured;
        match (tokens.len(), into) {
            (0, _) if is_any && sold.len() > 1 => Err(no_path(chain, sold, None)),
            (0, _) if is_any => Err(not_traded(chain, sold[0])),
            (0, Into::Group(group)) => Err(refused_into(
                format!(
                    "into: no token of {group} on {chain} is left besides what is sold: {names}"
                ),
                "name other tokens that the sale must end in, or into=any",
            )),
            (found, _) => Err(refused_into(
                format!(
                    "into: {found} tokens besides those sold; a plan has 1 to {MAX_CASH_TOKENS}"
                ),
                "give one to eight token addresses, separated by commas",
            )),
        }
    }

    /// The tokens that a request names, ascending, and whether it names them.
    pub(crate) fn named_tokens(
        &self,
        chain: &ChainSlug,
        sold: &[Address],
        into: &Into,
    ) -> Result<(Vec<Address>, bool), Problem> {
        Ok(match into {
            Into::Tokens(tokens) => (tokens.clone(), true),
            Into::Group(name) if name == Into::ANY => (self.bought_for(chain, sold), true),
            Into::Group(name) => match self.group_tokens(chain, name) {
                Some(tokens) => (tokens, true),
                None if name == Into::CASH => (self.bought_for(chain, sold), false),
                None => {
                    let names: Vec<&str> =
                        self.groups_of(chain).map(|group| group.name.as_str()).collect();
                    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                    return Err(refused_into(
                        format!("into: no group {name} is configured for {chain}"),
                        &format!("give one to eight token addresses; groups of the chain: {names}"),
                    ));
                }
            },
        })
    }

    /// The tokens in which pools pay for tokens that are sold, at most as many as a plan ends in, ascending: of each token
    /// sold in turn, that of its deepest pool first.
    fn bought_for(&self, chain: &ChainSlug, sold: &[Address]) -> Vec<Address> {
        let current = self.current();
        let bought = |token: &Address| {
            let pools = current.pools_selling(chain, *token).into_iter();
            let bought = pools.filter_map(|pool| pool.quote.parse::<Address>().ok());
            bought.filter(|bought| !sold.contains(bought)).collect::<Vec<_>>()
        };
        let by_token: Vec<Vec<Address>> = sold.iter().map(bought).collect();
        let most = by_token.iter().map(Vec::len).max().unwrap_or_default();
        let mut tokens: Vec<Address> = Vec::new();
        for token in (0..most).flat_map(|rank| by_token.iter().filter_map(move |all| all.get(rank)))
        {
            if tokens.len() < MAX_CASH_TOKENS && !tokens.contains(token) {
                tokens.push(*token);
            }
        }
        tokens.sort_unstable();
        tokens
    }

    /// The tokens of a configured group, ascending, or of `cash` on a known network if the operator configured none.
    fn group_tokens(&self, chain: &ChainSlug, name: &str) -> Option<Vec<Address>> {
        if let Some(group) = self.groups_of(chain).find(|group| group.name == name) {
            return Some(group.tokens.iter().copied().collect());
        }
        let current = self.current();
        let mut of_chain = current.pools.iter().filter(|(id, _)| id.chain() == chain);
        let known = of_chain.find_map(|(_, now)| Some(now.labels.as_ref()?.chain))?;
        (name == Into::CASH).then(|| default_cash(known))?
    }
}

/// The dollar tokens that count as cash on the known networks, unless the operator configures others.
const KNOWN_CASH: [(u64, &[&str]); 4] = [
    (
        1,
        &[
            "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", // USDC
            "0xdac17f958d2ee523a2206206994597c13d831ec7", // USDT
            "0x6b175474e89094c44da98b954eedeac495271d0f", // DAI
        ],
    ),
    (
        10,
        &[
            "0x0b2c639c533813f4aa9d7837caf62653d097ff85", // USDC
            "0x94b008aa00579c1307b0ef2c499ad98a8ce58e58", // USDT
        ],
    ),
    (8_453, &["0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"]), // USDC
    (
        42_161,
        &[
            "0xaf88d065e77c8cc2239327c5edb3a432268e5831", // USDC
            "0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9", // USDT
        ],
    ),
];

/// The cash tokens of a known network, ascending.
fn default_cash(network: Caip2) -> Option<Vec<Address>> {
    let (_, tokens) = KNOWN_CASH.iter().find(|(id, _)| *id == network.0)?;
    let mut tokens: Vec<Address> = tokens.iter().filter_map(|token| token.parse().ok()).collect();
    tokens.sort_unstable();
    Some(tokens)
}

fn refused_into(detail: String, hint: &str) -> Problem {
    Problem::new(ProblemCode::InvalidParameter, detail).field(INTO.name).hint(hint)
}

fn not_traded(chain: &ChainSlug, token: Address) -> Problem {
    let detail = format!("no monitored pool of {chain} trades {token}");
    let hint = format!("GET /v1/pools?chain={chain} lists the pools with their tokens");
    Problem::new(ProblemCode::UnknownToken, detail).field(TOKEN_IN_PATH.name).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_network_has_cash() {
        for (id, tokens) in KNOWN_CASH {
            assert!(exitgap_core::snapshot::known_genesis(Caip2(id)).is_some(), "{id}");
            assert_eq!(default_cash(Caip2(id)).unwrap().len(), tokens.len());
        }
        assert_eq!(default_cash(Caip2(31_337)), None);
    }
}
