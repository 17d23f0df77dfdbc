//! A pool's display name: its venue and its fee. It contains no text chosen by a contract.

use std::collections::BTreeMap;

use exitgap_core::ids::{Caip2, PoolId};
use exitgap_core::pools::PoolFee;
use exitgap_core::snapshot::{Fact, Observation};

use crate::{Number, Status, TokenLabel};

/// Curve's 3pool on Ethereum, which has a name of its own.
const CURVE_3POOL: (u64, &str) = (1, "0xbebc44782c7db0a1a60cb6fe97d0b483032ff1c7");
/// The chain of Velodrome, from whose contracts Aerodrome's descend.
const OP_MAINNET: u64 = 10;

/// A pool's display name according to a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolName {
    /// The venue; `None` if the factory is unknown, because contracts of many venues are alike.
    pub venue: Option<String>,
    /// The text used in place of an unknown venue.
    alike: &'static str,
    /// The fee of a sale in percent; `None` if it depends on the sale.
    pub fee_pct: Option<Number>,
    /// The fee as text: `0.05%`, `0.01% to 0.05%`.
    fee: String,
    /// Whether venue and fee can never change.
    pub is_lasting: bool,
}

impl PoolName {
    /// The name of an observed pool.
    pub fn from_observation(observation: &Observation) -> Self {
        let state = observation.state();
        let chain_id = observation.chain().caip2.0;
        let contract = observation.pool().contract().address();
        let mut facts = observation.facts().iter().map(|fact| fact.name.as_str());
        let of_factory = facts.find(|name| Fact::OF_FACTORY.contains(name));
        let is_3pool =
            contract.is_some_and(|address| (chain_id, address.to_string().as_str()) == CURVE_3POOL);
        let venue = if is_3pool {
            Some("Curve 3pool".to_owned())
        } else {
            venue(state.protocol(), of_factory, chain_id, state.variety())
        };
        let (fee_pct, fee) = match state.fee() {
            PoolFee::Flat(rate) => {
                (Some(Number::from_percent(rate)), format!("{}%", rate.percent()))
            }
            PoolFee::Between { least, most } => {
                (None, format!("{}% to {}%", least.percent(), most.percent()))
            }
        };
        // The fee of these pools is fixed in the contract.
        let lasting = ["uniswap_v3", "pancake_v3", "sushi_v3"];
        let is_lasting = state.protocol() == "concentrated_v4"
            || of_factory.is_some_and(|name| lasting.contains(&name));
        Self { venue, alike: alike(state.protocol()), fee_pct, fee, is_lasting }
    }

    /// Venue and fee: `Uniswap v3 0.05%`.
    pub fn name(&self) -> String {
        format!("{} {}", self.venue.as_deref().unwrap_or(self.alike), self.fee)
    }
}

/// The text for pools of a kind whose venue is unknown.
fn alike(protocol: &str) -> &'static str {
    match protocol {
        "constant_product" => "v2-type pool",
        "concentrated_liquidity" => "v3-type pool",
        _ => "pool",
    }
}

/// The venue of a pool of a kind, given its factory and its chain.
fn venue(
    protocol: &str,
    of_factory: Option<&str>,
    chain_id: u64,
    variety: Option<&str>,
) -> Option<String> {
    let with = |venue: &str| match variety {
        Some(variety) => format!("{venue} {variety}"),
        None => venue.to_owned(),
    };
    let descent = if chain_id == OP_MAINNET { "Velodrome" } else { "Aerodrome" };
    let named = match (protocol, of_factory) {
        ("constant_product", Some("uniswap_v2")) => "Uniswap v2".to_owned(),
        ("concentrated_liquidity", Some("uniswap_v3")) => "Uniswap v3".to_owned(),
        ("concentrated_liquidity", Some("pancake_v3")) => "PancakeSwap v3".to_owned(),
        ("concentrated_liquidity", Some("sushi_v3")) => "SushiSwap v3".to_owned(),
        ("concentrated_liquidity", Some("slipstream")) => format!("{descent} Slipstream"),
        ("concentrated_v4", _) => "Uniswap v4".to_owned(),
        ("concentrated_linked", _) => "Algebra Integral".to_owned(),
        ("solidly", _) => with(&format!("{descent} v2")),
        ("stableswap" | "cryptoswap", _) => with("Curve"),
        ("weighted", _) => format!("{} weighted", with("Balancer")),
        ("stable_v2" | "stable_v3", _) => format!("{} stable", with("Balancer")),
        _ => return None,
    };
    Some(named)
}

/// Labels of a pool from its snapshots, other than figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolLabels {
    /// Token 0 and token 1.
    pub tokens: [TokenLabel; 2],
    /// The chain.
    pub chain: Caip2,
    /// Live or preview.
    pub status: Status,
    /// Venue and fee.
    pub naming: PoolName,
}

impl PoolLabels {
    /// The labels of an observed pool.
    pub fn from_observation(observation: &Observation) -> Self {
        Self {
            tokens: observation.tokens().each_ref().map(TokenLabel::from),
            chain: observation.chain().caip2,
            status: observation.chain().kind.into(),
            naming: PoolName::from_observation(observation),
        }
    }
}

/// The names of these pools in one list, in order. If pools of one chain and with the same token symbols would have the
/// same name, the address is added: shortened if the short forms differ, otherwise in full.
pub fn names_apart(pools: &[(&PoolId, &PoolLabels)]) -> Vec<String> {
    let mut names: Vec<String> = pools.iter().map(|(_, labels)| labels.naming.name()).collect();
    for short in [true, false] {
        let row = |(index, name): (usize, &String)| {
            let (pool, labels) = pools[index];
            let mut symbols = labels.tokens.each_ref().map(|token| token.symbol.clone());
            symbols.sort();
            (pool.chain().clone().to_string(), symbols, name.clone())
        };
        let mut seen = BTreeMap::new();
        for one in names.iter().enumerate() {
            seen.entry(row(one)).or_insert_with(Vec::new).push(one.0);
        }
        for alike in seen.into_values().filter(|alike| alike.len() > 1) {
            for index in alike {
                let (pool, labels) = pools[index];
                names[index] = format!("{} ({})", labels.naming.name(), place(pool, short));
            }
        }
    }
    names
}

/// A pool's address on its chain: `0x1234…abcd`, or the whole address.
fn place(pool: &PoolId, short: bool) -> String {
    let id = pool.to_string();
    let place = id.split_once(':').map_or(id.as_str(), |(_, place)| place);
    let (address, pair) = place
        .split_once('.')
        .map_or((place, ""), |(address, _)| (address, &place[address.len()..]));
    if short && address.len() > 14 {
        format!("{}…{}{pair}", &address[..6], &address[address.len() - 4..])
    } else {
        place.to_owned()
    }
}

#[cfg(test)]
mod tests;
