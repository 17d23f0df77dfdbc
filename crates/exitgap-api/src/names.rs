//! What a pool is called: its venue and its fee. Nothing of it is text that a contract chose.

use std::collections::BTreeMap;

use exitgap_core::ids::PoolId;
use exitgap_core::pools::PoolFee;
use exitgap_core::snapshot::{Fact, Observation};

use crate::{Number, Status, TokenLabel};

/// Curve's 3pool on Ethereum, which has a name of its own.
const CURVE_3POOL: (u64, &str) = (1, "0xbebc44782c7db0a1a60cb6fe97d0b483032ff1c7");
/// The chain on which Velodrome is, from whose contracts Aerodrome's descend.
const OP_MAINNET: u64 = 10;

/// What a snapshot says a pool is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolName {
    /// The venue; `None` where its factory is not known: contracts of many venues are alike.
    pub venue: Option<String>,
    /// What stands for the venue there.
    alike: &'static str,
    /// What a sale pays, in percent; `None` where that depends on the sale.
    pub fee_pct: Option<Number>,
    /// The same in words: `0.05%`, `0.01% to 0.05%`.
    fee: String,
    /// Whether neither can ever change.
    pub is_lasting: bool,
}

impl PoolName {
    /// Of a pool as it was observed.
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
        // Their fee is the contract's own and set for ever.
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

/// What contracts of a kind are called whose venue is not known.
fn alike(protocol: &str) -> &'static str {
    match protocol {
        "constant_product" => "v2-type pool",
        "concentrated_liquidity" => "v3-type pool",
        _ => "pool",
    }
}

/// The venue of a pool of a kind, whose factory is this one's, on a chain.
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

/// What a pool's snapshots say about the pool, apart from their figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolLabels {
    /// Token 0 and token 1.
    pub tokens: [TokenLabel; 2],
    /// Live or preview.
    pub status: Status,
    /// Venue and fee.
    pub naming: PoolName,
}

impl PoolLabels {
    /// Of a pool as it was observed.
    pub fn from_observation(observation: &Observation) -> Self {
        Self {
            tokens: observation.tokens().each_ref().map(TokenLabel::from),
            status: observation.chain().kind.into(),
            naming: PoolName::from_observation(observation),
        }
    }
}

/// The names of these pools in one list, in their order: where pools of one chain and of tokens of
/// the same symbols would have one name, the address is added, shortened if the short forms differ.
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

/// Where a pool is on its chain: `0x1234…abcd`, or the whole address.
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
